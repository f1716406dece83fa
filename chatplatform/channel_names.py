"""The channels through which customers send messages."""

from typing import Literal, get_args

# Customers write and read on the client's website (`web`) or through its server (`api`).
OwnChannel = Literal["web", "api"]
# Customers write and read in a provider's app. A message counts as sent once the provider has
# accepted it.
MessagingChannel = Literal["socialnet", "photoapp", "chatapp", "localapp", "telegram"]
ChannelName = Literal[OwnChannel, MessagingChannel]

MESSAGING_CHANNELS: frozenset[str] = frozenset(get_args(MessagingChannel))


def channel_choices() -> list[tuple[str, str]]:
    """The choices for columns. Migrations refer to this function, so a new channel needs no
    migration."""
    return [(name, name.title()) for name in get_args(ChannelName)]


def messaging_choices() -> list[tuple[str, str]]:
    """The choices for columns that contain only messaging channels."""
    return [(name, name.title()) for name in sorted(MESSAGING_CHANNELS)]
