"""The dataclasses that providers take and return."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import IO, Any, Literal, get_args

Signal = Literal["seen", "typing_on", "typing_off"]
SIGNALS: frozenset[Signal] = frozenset(get_args(Signal))


@dataclass(frozen=True)
class Tokens:
    """The tokens from a consent or a refresh. `expires_in` is None if they do not expire."""

    access_token: str
    expires_in: timedelta | None = None
    refresh_token: str = ""
    user_id: str = ""


@dataclass(frozen=True)
class Account:
    """An account and the token for its calls."""

    id: str
    token: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Connected:
    """An account that a person connects, with the tokens for its calls."""

    id: str
    name: str
    tokens: Tokens
    details: Mapping[str, Any] = field(default_factory=dict)
    # The permissions for sending or receiving that the person did not grant.
    missing_permissions: Sequence[str] = ()
    # The provider's rating of the account, and the number of customers whom the account may message
    # first per day, or `unlimited`; each is empty if unknown.
    quality: str = ""
    sending_limit: str = ""
    # Authenticates the account's callbacks, if the provider uses a secret per account.
    secret: str = ""


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
    """A customer's profile at the provider."""

    name: str = ""
    avatar_url: str = ""
    phone: str = ""


@dataclass(frozen=True)
class OutgoingFile:
    """A file with a public URL (`url`), or a file from our store to upload (`open`)."""

    kind: Literal["image", "audio", "video", "file"]
    url: str = ""
    file_name: str = ""
    mime_type: str = ""
    # 0 unless the file is in our store.
    size_bytes: int = 0
    open: Callable[[], IO[bytes]] | None = None


@dataclass(frozen=True)
class Choice:
    """An option that the customer can tap."""

    title: str
    payload: str


@dataclass(frozen=True)
class Place:
    """A place on the map, by its coordinates in degrees."""

    latitude: float
    longitude: float
    name: str = ""


@dataclass(frozen=True)
class OutgoingTemplate:
    """An approved template, and its values in the provider's format."""

    name: str
    language: str
    components: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Part:
    """The content of one call: a text, perhaps with choices; a file; a place; or a template, if
    the provider has templates.

    A place has a link to a map as its text, for channels that cannot show places. The file of a
    template belongs in the template's header.
    """

    text: str = ""
    place: Place | None = None
    choices: Sequence[Choice] = ()
    file: OutgoingFile | None = None
    template: OutgoingTemplate | None = None


@dataclass(frozen=True)
class Envelope:
    """The parameters of a send, besides the account and the part."""

    recipient_id: str
    # The id of our send, for providers that return it.
    send_id: str
    reply_to: str | None = None
    # The provider's tag that allows a message outside the reply window.
    tag: str | None = None


@dataclass(frozen=True)
class Sent:
    """A message that the provider accepted. `pause`: how long to make no further calls for the
    account."""

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
