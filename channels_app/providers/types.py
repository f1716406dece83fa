"""Values that providers take and return: plain, no rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import IO, Any, Literal

Signal = Literal["seen", "typing_on", "typing_off"]


@dataclass(frozen=True)
class Tokens:
    """What a consent or a refresh gives. `expires_in` None: it does not expire."""

    access_token: str
    expires_in: timedelta | None = None
    refresh_token: str = ""
    user_id: str = ""


@dataclass(frozen=True)
class Account:
    """An account in whose name a call is made."""

    id: str
    token: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Connected:
    """An account that now sends its events to us, with its own token."""

    id: str
    name: str
    tokens: Tokens
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ListedAccount:
    """An account that a person may connect."""

    id: str
    name: str
    picture_url: str | None = None


@dataclass(frozen=True)
class AccountsPage:
    items: Sequence[ListedAccount]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Profile:
    """What the provider tells of a customer."""

    name: str = ""
    avatar_url: str = ""
    phone: str = ""


@dataclass(frozen=True)
class OutgoingFile:
    """A file by its public address, or (`open` given) of our store, to be uploaded."""

    kind: Literal["image", "audio", "video", "file"]
    url: str = ""
    file_name: str = ""
    mime_type: str = ""
    # Known of files in our store alone.
    size_bytes: int = 0
    open: Callable[[], IO[bytes]] | None = None


@dataclass(frozen=True)
class Choice:
    """An answer that the customer may tap."""

    title: str
    payload: str


@dataclass(frozen=True)
class Place:
    """A place on the map, in degrees."""

    latitude: float
    longitude: float
    name: str = ""


@dataclass(frozen=True)
class OutgoingTemplate:
    """An approved template, and its values in the provider's own form."""

    name: str
    language: str
    components: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Part:
    """What one call sends: a text, perhaps with answers to choose from; a file; a place; or (where
    the provider has them) a template.

    A place has a link to a map as its text, for channels that show none.
    """

    text: str = ""
    place: Place | None = None
    choices: Sequence[Choice] = ()
    file: OutgoingFile | None = None
    template: OutgoingTemplate | None = None


@dataclass(frozen=True)
class Envelope:
    """What every part of a message has in common."""

    recipient_id: str
    # Our id of this send, for providers that give it back.
    send_id: str
    reply_to: str | None = None
    # The provider's own word for what may be sent outside of the reply window.
    tag: str | None = None


@dataclass(frozen=True)
class Sent:
    """The provider has taken a message. `pause`: it asks for rest on this account."""

    message_id: str
    pause: timedelta | None = None


@dataclass(frozen=True)
class SurveyRequest:
    recipient_id: str
    question_id: str
    title: str
    subtitle: str
    button: str
    privacy_url: str
