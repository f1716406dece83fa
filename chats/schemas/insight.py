"""The schemas of summaries, tags, sentiment, feedback and language tasks."""

import uuid
from collections.abc import Iterable
from typing import Annotated, Any, Literal
from unicodedata import category

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from bots.engine.tagging import TagSuggestion
from bots.language.normalization import normalize
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import (
    MAX_NUMBER,
    InRequest,
    Language,
    Moment,
    RowId,
    Schema,
    Text,
    example,
    read_only,
)
from chats import models
from chats.schemas.message import Citation, MessageText, Sentiment

# The maximum number of tags per conversation.
MAX_TAGS = 20
MAX_TAG_CHARS = 60
MAX_TRANSLATED_CHARS = 10_000
MAX_SUMMARIZED_CHARS = 50_000


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
        description="Who added the tag to the conversation; null in your list of tags.",
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
    """The tags of a conversation."""

    tags: Annotated[
        list[Annotated[Tag, BeforeValidator(_as_tag, json_schema_input_type=Tag | Text)]],
        InRequest(
            "A request may contain names instead of objects: up to 100 items with at most"
            f" {MAX_TAGS} different names. Of names that differ only in case, the first is kept."
        ),
    ] = Field(
        description=f"The tags; a conversation has at most {MAX_TAGS}.",
        max_length=100,
        examples=[["refund", "vip"]],
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
        None, description="The tag's name, 1 to 60 characters; another one renames the tag."
    )
    colour: Text | None = Field(None, pattern="^#[0-9a-fA-F]{6}$", description="`#rrggbb` or null.")
    id: int | None = read_only("The tag's id.", path="tag_id")
    source: str | None = read_only("Null in your list of tags.")
    confidence: float | None = read_only("Null in your list of tags.")
    count: int | None = read_only("How many conversations have the tag.")


class TagMerge(Schema):
    """The tag to merge into."""

    model_config = example(into="refund")

    into: TagName = Field(description="The name of the tag that remains.")


class ChatSummary(Schema):
    """A summary of a conversation."""

    chat_id: uuid.UUID = Field(description="The conversation's id.")
    summary: str = Field(
        description="A model's prose; without a model, labeled lines from the conversation."
    )
    language: str = Field(
        description="The summary's language as a BCP 47 code: the conversation's or, without a"
        " model, that of the customer's messages."
    )
    key_points: list[str] = Field(
        description="The main points; without a model, the customer's open questions."
    )
    customer_intent: str = Field(
        description="What the customer wants; without a model, their first request."
    )
    resolution: str = Field(
        description="What was done or agreed, according to an agent or the bot; otherwise empty.",
    )
    message_count: int = Field(description="How many messages the summary covers.")
    engine: str = Field(
        description="What wrote the summary: `extractive` (rules, without a model) or"
        " `openai_compatible` (a language model)."
    )
    created_at: Moment = Field(description="When the summary was written.")

    @classmethod
    def from_row(cls, row: models.Summary) -> "ChatSummary":
        return cls.copy_from(row, chat_id=row.conversation_id)


class SummaryCalculateRequest(Schema):
    """Which conversations to summarize: those that match all given filters."""

    model_config = example(created_from="2026-11-01T00:00:00Z", created_to="2026-12-01T00:00:00Z")

    bot_id: RowId | None = Field(None, description="Only conversations of this bot.")
    created_from: Moment | None = Field(
        None, description="Only conversations opened at this time or later."
    )
    created_to: Moment | None = Field(
        None, description="Only conversations opened before this time."
    )
    force: bool = Field(
        False, description="Whether to summarize even conversations whose summary is up to date."
    )


class SummaryJob(Schema):
    """A run that summarizes many conversations. `GET` it by its id to see its progress."""

    id: uuid.UUID = Field(description="The run's id, a UUIDv7.")
    status: Literal["queued", "running", "done", "failed"] = Field(
        description="`done`: finished, even if some conversations failed. `failed`: stopped early,"
        " because the credits ran out or the engine failed."
    )
    total: int = Field(
        description="How many conversations to summarize; grows if more need it during the run."
    )
    done: int = Field(description="How many conversations have been summarized so far.")
    failed: int = Field(description="How many conversations could not be summarized.")
    created_at: Moment = Field(description="When the run was requested.")
    finished_at: Moment | None = Field(None, description="When the run ended; null until then.")


class ChatSentiment(Schema):
    """A customer's sentiment in a conversation."""

    chat_id: uuid.UUID = Field(description="The conversation's id.")
    sentiment: Sentiment = Field(description="The sentiment; `neutral` if unsure.")
    score: float = Field(description="From -1 (very negative) to 1 (very positive).")
    engine: str = Field(
        description="What judged it: `extractive` (without a language model) or"
        " `openai_compatible` (a language model)."
    )
    created_at: Moment = Field(description="When the sentiment was judged.")


Thumb = Literal["up", "down"]
FeedbackReason = Literal[
    "wrong_answer", "not_understood", "no_solution", "too_slow", "unfriendly", "other"
]


class ChatFeedBackDto(Schema):
    """A customer's rating of a conversation or of one message in it."""

    rating: int | None = Field(
        None,
        ge=1,
        le=5,
        description="The stars, from 1 (bad) to 5 (good); null with `thumb`.",
        examples=[5],
    )
    thumb: Thumb | None = Field(
        None,
        description="`up` or `down`, instead of `rating`, for one message.",
    )
    reason: FeedbackReason | None = Field(
        None,
        description="What was wrong; null if the customer did not say. Your website may offer these"
        " reasons.",
    )
    resolved: bool | None = Field(
        None, description="Whether the problem is solved; null if unknown."
    )
    comment: Text | None = Field(None, description="The customer's comment.", max_length=2000)
    message_id: uuid.UUID | None = Field(
        None, description="The rated answer; null for the conversation as a whole."
    )
    id: int | None = read_only("The rating's id.")
    chat_id: uuid.UUID | None = read_only("The conversation.", path="chat_id")
    created_at: Moment | None = read_only("When the customer gave the rating.")
    updated_at: Moment | None = read_only(
        "When the customer last corrected the rating; null if never.",
    )

    @model_validator(mode="after")
    def _has_one_rating(self) -> "ChatFeedBackDto":
        if (self.rating is None) == (self.thumb is None):
            raise ValueError("give either rating or thumb")
        if self.thumb and not self.message_id:
            raise ValueError("a thumb is for one message: give message_id")
        return self

    @classmethod
    def from_row(cls, row: models.Feedback) -> "ChatFeedBackDto":
        return cls.copy_from(row, chat_id=row.conversation_id, comment=row.comment or None)


class FeedbacksQuery(Page):
    """Filters of feedback."""

    bot_id: RowId | None = Field(None, description="Only feedback on this bot's conversations.")
    rating: int | None = Field(None, ge=1, le=5, description="Only feedback with this rating.")
    thumb: Thumb | None = Field(None, description="Only feedback with this thumb.")
    reason: FeedbackReason | None = Field(None, description="Only feedback with this reason.")
    chat_id: uuid.UUID | None = Field(None, description="Only feedback on this conversation.")
    customer_id: RowId | None = Field(None, description="Only feedback of this customer.")
    created_from: Moment | None = Field(None, description="Only feedback from this time or later.")
    created_to: Moment | None = Field(None, description="Only feedback from before this time.")


class FeedbacksResponse(ListPage[ChatFeedBackDto]):
    """A page of feedback, newest first."""


class SuggestionRequest(Schema):
    """How many replies to suggest, and in which tone."""

    model_config = example(count=3, tone="friendly")

    count: int = Field(3, ge=1, le=5, description="The maximum number of suggestions, 1..5.")
    tone: Text | None = Field(
        None, description="The tone, such as `formal`; only a model uses it.", max_length=60
    )


class Suggestion(Schema):
    """A reply that an agent could send."""

    text: str = Field(description="The reply's text, to edit and send with *Manual Chat*.")
    citations: list[Citation] = Field(description="The passages that support the suggestion.")


class ReplySuggestions(Schema):
    """Replies to the customer's last message, best first."""

    suggestions: list[Suggestion] = Field(
        description="The suggestions; empty if the bot's content supports none."
    )


class RewriteRequest(Schema):
    """An agent's text and how to rewrite it."""

    model_config = example(text="We send the parcle tomorow.", style="spelling")

    text: MessageText = Field(description="The text, 1 to 8,000 characters.")
    style: Literal["shorter", "friendlier", "spelling", "translated"] = Field(
        description="How to rewrite the text: `shorter`, `friendlier`, `spelling` (with correct"
        " spelling and grammar) or `translated` (in the conversation's language)."
    )


class RewrittenText(Schema):
    """A rewritten text; nothing is sent or stored."""

    text: str = Field(
        description="The rewritten text, with all figures, links and addresses of the original.",
        examples=["We will send the parcel tomorrow."],
    )


class TranslationRequest(Schema):
    """A text and the language to translate it into."""

    text: Text = Field(
        description=f"Plain text, 1 to {MAX_TRANSLATED_CHARS:,} characters.",
        min_length=1,
        max_length=MAX_TRANSLATED_CHARS,
        examples=["Where is my parcel?"],
    )
    out_lang_code: Language = Field(description="The language to translate into, BCP 47.")


class TranslationResponse(Schema):
    """A translation."""

    text: str = Field(description="The translated text.", examples=["Xin chào"])
    in_lang_code: str = Field(description="The detected language of the original.", examples=["en"])
    out_lang_code: str = Field(description="The language of the translation.")
    engine: str = Field(
        description="What translated it: always `openai_compatible`, a model.",
        examples=["openai_compatible"],
    )


class ChatGptMessage(Schema):
    """A message in the format of chat models."""

    role: Literal["system", "user", "assistant", "tool"] = Field(description="The sender's role.")
    content: Text = Field(description="The text.", max_length=MAX_SUMMARIZED_CHARS)


class SummarizeRequest(Schema):
    """The text or messages to summarize."""

    model_config = example(
        text="We open at nine. We close at six. On Sundays we are closed.", max_words=20
    )

    text: Text | None = Field(
        None,
        description=f"A text of 1 to {MAX_SUMMARIZED_CHARS:,} characters.",
        min_length=1,
        max_length=MAX_SUMMARIZED_CHARS,
    )
    messages: list[ChatGptMessage] | None = Field(
        None,
        description=f"Instead of `text`: up to 200 messages of {MAX_SUMMARIZED_CHARS:,} characters"
        " in all. Give exactly one of `text` and `messages`.",
        min_length=1,
        max_length=200,
    )
    max_words: int = Field(
        120,
        ge=10,
        le=500,
        description="The maximum length of the summary, in words. Without a model, the summary of"
        " messages may be longer.",
    )
    language: Language | None = Field(
        None,
        description="The summary's language as a BCP 47 code; if left out, the text's. Without a"
        " model, the quotes stay in their own language.",
    )

    @model_validator(mode="after")
    def _has_one_input(self) -> "SummarizeRequest":
        if (self.text is None) == (self.messages is None):
            raise ValueError("give either text or messages")
        text = self.text or "".join(message.content for message in self.messages or [])
        if not text.strip():
            raise ValueError("there is nothing to summarize")
        if len(text) > MAX_SUMMARIZED_CHARS:
            raise ValueError(f"at most {MAX_SUMMARIZED_CHARS:,} characters in all")
        return self


class SummarizeResponse(Schema):
    """A summary of a text."""

    summary: str = Field(
        description="A model's prose. Without a model: the beginning of the text; for messages,"
        " lines with their number, the first request and the last two messages."
    )
    key_points: list[str] = Field(
        description="The main points. Without a model: the beginning of each further paragraph of a"
        " text; for messages, the open questions."
    )
    engine: str = Field(
        description="What wrote the summary: `extractive` (rules, without a model) or"
        " `openai_compatible` (a language model)."
    )
