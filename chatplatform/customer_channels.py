"""The channels through which customers write."""

from typing import Literal, get_args

# Customers read on a page or a server of the client's.
OwnChannel = Literal["web", "api"]
# Customers read at a messaging provider: a message is sent once the provider has it.
MessagingChannel = Literal["socialnet", "photoapp", "chatapp", "localapp"]
ChannelName = Literal[OwnChannel, MessagingChannel]

MESSAGING_CHANNELS: frozenset[str] = frozenset(get_args(MessagingChannel))
CHANNEL_CHOICES = [(name, name.title()) for name in get_args(ChannelName)]
