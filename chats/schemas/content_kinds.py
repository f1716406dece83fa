"""The table of the kinds of message content, `KINDS`: what is special about the parts of a type."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from chatplatform.templatetags.codes import humanize_code, location_text
from chats.models import Message

ContentType = Literal["text", "image", "file", "audio", "video", "location", "template", "feedback"]
# The types that the document offers to callers; the others have operations of their own.
SentType = Literal["text", "image", "file", "audio", "video", "location"]
FILE_TYPES = ("image", "file", "audio", "video")
# A stored part of a message's content, with some of the keys of `MessageContent`.
Part = Mapping[str, Any]


class Kind(NamedTuple):
    """A kind of content; by default it is like a text."""

    needs: tuple[str, ...] = ()  # the keys of which a part must have one
    # What a part says besides its texts, in one line: for mails, transcripts and lists, and for
    # channels that cannot show it.
    label: Callable[[Part], str] = lambda part: ""
    # The texts that are searched, translated and summarized.
    texts: Callable[[Part], Iterable[Any]] = lambda part: map(part.get, ("text", "transcript"))
    is_question: bool = True  # whether the sender wrote the text, so that the bot answers it
    is_translated: bool = True  # for the customer, if an agent sends it


_FILE = Kind(("url", "error"), lambda part: part.get("file_name") or humanize_code(part["type"]))
KINDS: dict[str, Kind] = {
    "text": Kind(("text",)),
    **dict.fromkeys(FILE_TYPES, _FILE),
    "location": Kind(
        ("location",), lambda part: location_text(part.get("location") or {}), is_question=False
    ),
    # The provider has the template's text; the file is the one in its header.
    "template": Kind(label=lambda part: part.get("file_name") or "", is_translated=False),
    "feedback": Kind(),
}


def kind_of(part: Part) -> Kind:
    """The kind of a part. After a rollback, one of a newer release is read like a text."""
    return KINDS.get(part["type"], Kind())


def text_of(content: Iterable[Part]) -> str:
    """All text in a message's content, including transcripts, for the bot and for searches."""
    return "\n".join(text for part in content for text in kind_of(part).texts(part) if text)


def labels_of(content: Iterable[Part]) -> list[str]:
    """What a message contains besides its text, such as the names of its files."""
    return [label for part in content if (label := kind_of(part).label(part))]


def preview(message: Message) -> str:
    """A message for a list: its text, or else its first label."""
    return message.text or next(iter(labels_of(message.content)), "")
