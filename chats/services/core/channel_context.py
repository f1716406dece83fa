"""What a channel reports about a customer's message besides its text: `lines` in its metadata.

A line has a `kind`, a `text` and perhaps a `url`. If the customer wrote no text, the lines become
the message's text, and its metadata has `no_words`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

Kind = Literal[
    "quote", "product", "post", "advertisement", "link", "story_reply", "story_mention",
    "answer", "order", "contact", "call", "missed_call", "call_allowed", "call_refused",
    "tapped", "unsupported",
]  # fmt: skip


class Line(TypedDict, total=False):
    """A line as it is stored."""

    kind: Required[Kind]
    text: str
    url: str


_TEXTS: dict[str, str] = {
    "quote": "Replying to: {text}",
    "product": "About: {text}",
    "post": "Shared a post: {text}",
    "advertisement": "Came from an ad: {text}",
    "link": "Came from a link: {text}",
    "story_reply": "Replied to your story",
    "story_mention": "Mentioned you in their story",
    "answer": "{text}",
    "order": "Order: {text}",
    "contact": "Contact: {text}",
    "call": "Called you",
    "missed_call": "Missed call",
    "call_allowed": "Allowed calls from you",
    "call_refused": "Declined calls from you",
    "tapped": "Tapped a button: {text}",
    "unsupported": "Sent something that can't be shown here: {text}",
}
# Lines that say what a question is about; the bot gets them with the question.
_ABOUT = {"quote", "product", "post"}
# Nobody expects an answer to these.
_QUIET = {
    "story_mention", "call", "missed_call", "call_allowed", "call_refused", "advertisement", "link",
}  # fmt: skip
# Only a person can deal with these, whatever the text says.
_FOR_PEOPLE = {"answer", "order", "contact"}


def to_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """The lines as English text."""
    return "\n".join(
        _TEXTS[line["kind"]].replace("{text}", line.get("text") or "").removesuffix(": ")
        for line in lines
    )


def about(metadata: Mapping[str, Any]) -> list[str]:
    """The texts of the lines that say what a message is about."""
    told = [line.get("text") for line in _read(metadata) if line["kind"] in _ABOUT]
    return [text for text in told if isinstance(text, str) and text]


def is_quiet(metadata: Mapping[str, Any]) -> bool:
    """Whether nobody expects an answer to a message without words."""
    lines = _read(metadata)
    return bool(lines) and all(line["kind"] in _QUIET for line in lines)


def is_for_people(metadata: Mapping[str, Any]) -> bool:
    """Whether only a person can deal with a message."""
    return any(line["kind"] in _FOR_PEOPLE for line in _read(metadata))


def _read(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The lines; metadata of an import or an API call may hold anything."""
    lines = metadata.get("lines")
    found = [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    return [line for line in found if isinstance(line.get("kind"), str) and line["kind"] in _TEXTS]
