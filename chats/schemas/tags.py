"""The schemas of tags: of a conversation, and of the list of a client."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal
from unicodedata import category

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from bots.engine.tagging import TagSuggestion
from bots.language.normalization import normalize
from chatplatform.api.schemas import MAX_NUMBER, InRequest, RowId, Schema, Text, example, read_only
from chats import models

# The maximum number of tags per conversation.
MAX_TAGS = 20
MAX_TAG_CHARS = 60


def key_of(name: str) -> str:
    """The key that all spellings of a tag share."""
    return normalize("NFC", name).casefold()


def distinct(names: Iterable[str]) -> list[str]:
    """The names in Unicode's form NFC, with single spaces and without duplicates. Of names that
    differ only in case, the first is kept."""
    by_key: dict[str, str] = {}
    for name in names:
        trimmed = normalize("NFC", " ".join(name.split()))
        by_key.setdefault(key_of(trimmed), trimmed)
    return list(by_key.values())


def is_visible(name: str) -> bool:
    """Whether a name has a visible character: a letter, a digit, punctuation or a symbol."""
    return any(category(char)[0] in "LNPS" for char in name)


def _tag_names(values: Iterable[str]) -> list[str]:
    names = distinct(values)
    if any(not 1 <= len(name) <= MAX_TAG_CHARS for name in names):
        raise ValueError(f"each tag must have 1 to {MAX_TAG_CHARS} characters")
    if not all(map(is_visible, names)):
        raise ValueError("each tag must have a visible character")
    return names


# The tags of a new conversation.
TagNames = Annotated[list[Text], Field(max_length=MAX_TAGS), AfterValidator(_tag_names)]


class Tag(Schema):
    """A tag of a conversation, or of your list of tags. A request needs only the name."""

    id: RowId | None = Field(
        None, description="The tag's id in your list; null in the tags of a conversation."
    )
    name: Text = Field(
        description="The tag's name, 1 to 60 characters.", min_length=1, max_length=MAX_TAG_CHARS
    )
    source: Literal["agent", "ai", "customer"] | None = Field(
        None,
        description="Who added the tag to the conversation: someone on your team or your server"
        " (`agent`), `ai`, or the `customer` (only in imported conversations); null in your list of"
        " tags.",
    )
    confidence: float | None = Field(
        None,
        description="If AI added the tag: how well it fits, 0..1, which is not a probability. It is"
        " the similarity to the tag's examples or, with a language model, the model's own rating."
        " Otherwise null.",
    )
    count: int | None = Field(
        None,
        ge=0,
        le=MAX_NUMBER,
        description="How many of your conversations have the tag; null in the tags of a"
        " conversation.",
    )
    colour: Text | None = Field(
        None,
        max_length=7,
        description="`#rrggbb`; null if none is set, and in the tags of a conversation.",
    )

    @classmethod
    def from_tagging(cls, row: models.Tagging | TagSuggestion, **fields: Any) -> "Tag":
        """A conversation's tag, without the fields of the client's list."""
        return cls.copy_from(row, id=None, count=None, colour=None, **fields)


def _as_tag(value: Any) -> Any:
    """Turn a plain name into a tag; return a tag unchanged. Any other value raises a single error,
    where pydantic would raise one for each alternative."""
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, (dict, Tag)):
        raise ValueError("give a name, or a tag as an object")
    return value


class Tags(Schema):
    """Tags of a conversation."""

    model_config = example(tags=["refund"])

    tags: Annotated[
        list[Annotated[Tag, BeforeValidator(_as_tag, json_schema_input_type=Tag | Text)]],
        InRequest(
            "A request may contain names instead of objects: up to 100 items with at most"
            f" {MAX_TAGS} different names. Of names that differ only in case, the first is kept."
        ),
    ] = Field(
        description=f"The tags; a conversation has at most {MAX_TAGS}.",
        max_length=100,
    )

    @field_validator("tags")
    @classmethod
    def _check_names(cls, tags: list[Tag]) -> list[Tag]:
        names = _tag_names(tag.name for tag in tags)
        if len(names) > MAX_TAGS:
            raise ValueError(f"a conversation has at most {MAX_TAGS} tags")
        return tags

    @property
    def names(self) -> list[str]:
        return distinct(tag.name for tag in self.tags)

    @classmethod
    def from_rows(cls, rows: Iterable[models.Tagging]) -> "Tags":
        return cls.model_construct(tags=[Tag.from_tagging(row) for row in rows])

    @classmethod
    def from_suggested(cls, suggested: Iterable[TagSuggestion]) -> "Tags":
        return cls.model_construct(tags=[Tag.from_tagging(tag, source="ai") for tag in suggested])


class ClientTags(Schema):
    """The tags of your list."""

    tags: list[Tag] = Field(description="Your 1,000 most used tags, the most used first.")


TagName = Annotated[Text, AfterValidator(lambda name: _tag_names([name])[0])]


class ClientTagRequest(Schema):
    """A tag of your list. Fields left out of an update keep their values."""

    model_config = example(name="refund", colour="#d73a4a")

    name: TagName | None = Field(
        None,
        description="The tag's name, 1 to 60 characters. Required to create a tag; in an update, a"
        " new name renames the tag.",
    )
    colour: Text | None = Field(
        None, pattern="^#[0-9a-fA-F]{6}$", description="The tag's colour, `#rrggbb`; null: none."
    )
    id: int = read_only("The tag's id.", path="tag_id")
    source: str | None = read_only("Only tags of conversations have it; null in your list of tags.")
    confidence: float | None = read_only(
        "Only tags of conversations have it; null in your list of tags."
    )
    count: int = read_only("How many conversations have the tag.")


class TagMerge(Schema):
    """The tag to merge into."""

    model_config = example(into="refund")

    into: TagName = Field(description="The name of the tag that remains.")
