"""The parts of a message's content: their shapes, and the table of their kinds, `KINDS`.

A stored part is a dict: the fields of `MessageContent` that it has, and what only the platform
reads: `attachment_id` for `url`, and a template's `components` and `header_file`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, model_validator

from chatplatform.api.shapes import MAX_ID, MAX_NUMBER, Shape, Text, read_only
from chatplatform.templatetags.codes import location_text
from chats import models
from chats.shapes.people import Location

Part = Mapping[str, Any]


class Citation(Shape):
    """A passage that supports an answer."""

    document_id: int = Field(
        ge=0,
        le=MAX_ID,
        description="The id of the document that contains the passage.",
    )
    title: Text = Field(description="The document's title.", max_length=500)
    url: Text | None = Field(
        None, description="The document's URL; null if it has none.", max_length=2000
    )
    page: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="The page in the document, from 1; null if it has no pages.",
    )
    quote: Text = Field(description="The quoted words that support the answer.", max_length=8000)
    section: Text | None = Field(
        None, description="The heading above the passage; null if there is none.", max_length=1000
    )
    number: int | None = Field(
        None,
        ge=1,
        le=9999,
        description="The number with which the answer's text cites it, such as `[2]`; null if the"
        " text cites nothing.",
    )


class MessageOption(Shape):
    """A choice that a message offers."""

    label: Text = Field(description="The label that the customer sees.", max_length=200)
    value: Text = Field(
        description="The text that is sent as the customer's message if they choose this option.",
        max_length=500,
    )


class SentTemplate(Shape):
    """An approved template of a channel, with the values it was sent with."""

    name: str = Field(description="The template's name at the provider.")
    language: str = Field(description="The template's language code at the provider.")
    values: list[str] = Field(description="The values of the template's variables, in order.")


def _map_link(part: Part) -> str:
    place = part["location"]
    latitude, longitude = place.get("latitude"), place.get("longitude")
    if latitude is None or longitude is None:
        return ""
    return f"https://maps.google.com/?q={latitude},{longitude}"


@dataclass(frozen=True)
class Kind:
    """What the platform does with the parts of a type."""

    # A part must have at least one of these keys.
    needs: tuple[str, ...] = ()
    # The texts that are searched, translated and summarized, and that the bot reads.
    texts: Callable[[Part], Iterable[str | None]] = lambda part: (part.get("text"),)
    # What the part contains besides its texts, in one line: for mails, transcripts and lists.
    label: Callable[[Part], str] = lambda part: ""
    # What the site writes before the label.
    name: str = ""
    # What a channel that cannot show the part gets instead of the label.
    link: Callable[[Part], str] = lambda part: ""
    is_file: bool = False
    # Whether the text is what the sender wrote. The bot does not answer other texts.
    has_own_words: bool = True
    # Whether an agent's message with such a part is translated for the customer.
    is_translated: bool = True
    # Whether transcripts list the options.
    has_choices: bool = True


_FILE = Kind(
    needs=("url", "error"),
    texts=lambda part: (part.get("text"), part.get("transcript")),
    label=lambda part: part.get("file_name") or part["type"],
    is_file=True,
)
ContentType = Literal["text", "image", "file", "audio", "video", "location", "template", "feedback"]
KINDS: dict[ContentType, Kind] = {
    "text": Kind(needs=("text",)),
    "image": _FILE,
    "file": _FILE,
    "audio": _FILE,
    "video": _FILE,
    "location": Kind(
        needs=("location",),
        label=lambda part: location_text(part["location"]),
        name=gettext_noop("Location"),
        link=_map_link,
        has_own_words=False,
    ),
    # The provider has the template's text.
    "template": Kind(is_translated=False),
    # Its options are stars.
    "feedback": Kind(has_choices=False),
}
FILE_TYPES = {name for name, kind in KINDS.items() if kind.is_file}


class MessageContent(Shape):
    """One part of a message."""

    type: ContentType = Field(
        description="The kind of part, which decides where its content is. `text`: in `text`."
        " `image`, `file`, `audio`, `video`: in `url`. `location`: in `location`. `template`: an"
        " approved template of the channel, in `template`. `feedback`: the platform's request for"
        " a rating, in `text` and `options`.",
        examples=["text"],
    )
    text: Text | None = Field(None, description="The plain text.", max_length=8000)
    url: Text | None = Field(
        None,
        max_length=2000,
        pattern=r"^(https?://|/)[^\s]+$",
        description="The file's URL. For a file that the platform stores, a signed link on this"
        " host, valid for a day; read the message again for a new one. A link from the sender is"
        " passed on unchanged, and the platform never fetches it.",
    )
    file_name: Text | None = Field(
        None, description="The file's name, as the sender called it.", max_length=255
    )
    mime_type: Text | None = Field(
        None,
        description="The media type; for a file that the platform stores, detected from its bytes.",
        max_length=120,
    )
    size_bytes: int | None = Field(None, description="Size in bytes.", ge=0, le=MAX_NUMBER)
    error: Text | None = Field(
        None,
        description="Why a file from a messaging channel could not be stored; null otherwise.",
        max_length=300,
    )
    location: Location | None = Field(None, description="The location, if `type` is `location`.")
    options: list[MessageOption] | None = Field(
        None, description="Choices for the customer, at most 20.", max_length=20
    )
    citations: list[Citation] | None = Field(
        None, description="The passages that support this part, at most 20.", max_length=20
    )
    template: SentTemplate | None = read_only("The approved template; `text` contains its text.")
    transcript: Text | None = read_only(
        "The text of a customer's voice note, if a model has transcribed it. It may come later,"
        " with the event `message.updated`.",
        max_length=8000,
    )

    @model_validator(mode="after")
    def _has_content_of_its_type(self) -> "MessageContent":
        kind = KINDS[self.type]
        if kind.needs and all(getattr(self, name) is None for name in kind.needs):
            noun = "file" if kind.is_file else self.type
            raise ValueError(f"a {noun} needs its {kind.needs[0]}")
        return self


def kind_of(part: Part) -> Kind:
    """The kind of a stored part."""
    return KINDS[part["type"]]


def text_of(content: Iterable[Part]) -> str:
    """All text in a message's content, including transcripts, for the bot and for searches."""
    return "\n".join(text for part in content for text in kind_of(part).texts(part) if text)


def labels_of(content: Iterable[Part]) -> list[str]:
    """What a message contains besides its text, a line for each such part."""
    return [label for part in content if (label := kind_of(part).label(part))]


def preview(message: models.Message) -> str:
    """A message in one line, for lists: its text, or else its first label."""
    return message.text or next(iter(labels_of(message.content)), "")


def with_name(part: Part) -> str:
    """The label of a part with the name of its kind, for the site; empty if it has no name."""
    kind = kind_of(part)
    return f"{gettext(kind.name)}: {kind.label(part)}" if kind.name else ""


def channel_text(part: Part) -> str:
    """The text of a part for a channel; if the channel cannot show the part, all that it gets."""
    kind = kind_of(part)
    shown = "" if kind.is_file else kind.link(part) or kind.label(part)
    return "\n".join(filter(None, [part.get("text"), shown]))


_SHOWN_KEYS = tuple(MessageContent.model_fields)


def as_shown(stored: Part) -> dict[str, Any]:
    """A stored part with every key of `MessageContent`, and with a new link to a stored file."""
    part = {name: stored.get(name) for name in _SHOWN_KEYS}
    if attachment_id := stored.get("attachment_id"):
        part["url"] = models.Attachment.signed_url(attachment_id)
    return part
