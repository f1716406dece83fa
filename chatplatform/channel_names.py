"""The channels through which customers write."""

from typing import Literal, get_args

# Customers write and read on the client's website (`web`) or through its server (`api`).
OwnChannel = Literal["web", "api"]
# Customers write and read at a messaging provider. A message is sent once the provider has it.
MessagingChannel = Literal["socialnet", "photoapp", "chatapp", "localapp"]
ChannelName = Literal[OwnChannel, MessagingChannel]

MESSAGING_CHANNELS: frozenset[str] = frozenset(get_args(MessagingChannel))
CHANNEL_CHOICES = [(name, name.title()) for name in get_args(ChannelName)]
