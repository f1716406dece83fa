"""`lines` in a message's metadata: what a channel reports about the message besides its text.

A line has a `kind`, and may have a `text` and a `url`. If the customer wrote no text, the lines
become the message's text, and its metadata has `no_words`. The metadata of a message to which
nobody expects an answer has `needs_no_reply`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from chatplatform.templatetags.channel_lines import TEXTS

Kind = Literal[
    "quote", "missing_quote", "product", "post", "reel", "story", "forwarded", "forwarded_from",
    "forwarded_often", "advertisement", "link", "post_link", "story_reply", "story_mention",
    "answer", "form", "order", "contact", "own_number", "poll", "call", "answered_call",
    "missed_call", "call_allowed", "call_refused", "opted_out", "opted_in", "tapped",
    "unsupported", "sticker", "live_location", "live_photo", "video_message", "shared_link",
    "started",
    # Of the platform's notes:
    "messages_resumed", "offers_refused", "offers_wanted", "blocked", "unblocked", "thread_taken",
    "thread_returned",
]  # fmt: skip


class Line(TypedDict, total=False):
    """A line as stored in a message's metadata."""

    kind: Required[Kind]
    text: str
    url: str


# Kinds of lines that say what a question is about. The bot gets them with the question.
_ABOUT = {"quote", "product", "post", "reel", "story", "shared_link"}
# Kinds of lines beside which a product counts as shared, and not as what a question is about.
_WITH_PRODUCT = {"product", "forwarded", "forwarded_from", "forwarded_often"}
# Kinds of lines to which no customer expects an answer.
_NO_REPLY_NEEDED = {
    "story_mention", "call", "answered_call", "missed_call", "call_allowed", "call_refused",
    "advertisement", "link", "post_link",
}  # fmt: skip
# Kinds of lines of a message that does nothing but opt out or in.
_OPTS = {"opted_out", "opted_in"}
# Kinds of lines that only a person can deal with, whatever the message's text says.
_NEEDS_PERSON = {"answer", "form", "order", "contact", "own_number"}


def to_text(lines: Sequence[Mapping[str, Any]], *, is_alone: bool = True) -> str:
    """The lines as English text. `is_alone`: whether the message contains nothing else."""
    is_only_product = is_alone and all(line["kind"] in _WITH_PRODUCT for line in lines)
    return "\n".join(_line_text(line, is_only_product=is_only_product) for line in lines)


def _line_text(line: Mapping[str, Any], *, is_only_product: bool) -> str:
    kind, text = line["kind"], line.get("text") or ""
    if kind == "product" and is_only_product:
        kind = "only_product"
    elif kind == "advertisement" and text.isdecimal():
        kind = "advertisement_number"
    elif kind == "shared_link":
        text = " ".join(filter(None, (text, line.get("url"))))
    template = TEXTS[kind]
    shown = template if text else template.partition("{text}")[0].rstrip(":, ")
    return shown.replace("{text}", text)


def about(metadata: Mapping[str, Any]) -> list[str]:
    """The texts of the lines that say what a message is about."""
    texts = [line.get("text") for line in _read(metadata) if line["kind"] in _ABOUT]
    return [text for text in texts if isinstance(text, str) and text]


def needs_no_reply(lines: Sequence[Mapping[str, Any]], *, text: str, has_files: bool) -> bool:
    """Whether nobody expects an answer to a message with these lines and the customer's text.
    `has_files`: whether it has files or a place."""
    kinds = {line["kind"] for line in lines}
    # The file of a mention is the story's picture.
    is_alone = not text and (not has_files or "story_mention" in kinds)
    return bool(kinds & _OPTS) or (bool(kinds) and is_alone and kinds <= _NO_REPLY_NEEDED)


def needs_person(metadata: Mapping[str, Any]) -> bool:
    """Whether a message has a line that only a person can deal with."""
    return any(line["kind"] in _NEEDS_PERSON for line in _read(metadata))


def _read(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The valid lines in a message's metadata, in which imports and API calls can store
    anything."""
    lines = metadata.get("lines")
    found = [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    return [line for line in found if isinstance(line.get("kind"), str) and line["kind"] in TEXTS]
