"""The schemas of what helps agents: suggested replies, rewriting, translations, summaries."""

from typing import Literal

from pydantic import Field, model_validator

from chatplatform.api.schemas import Language, Schema, Text, example
from chats.schemas.message import Citation, MessageText

MAX_TRANSLATED_CHARS = 10_000
MAX_SUMMARIZED_CHARS = 50_000


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

    role: Literal["system", "user", "assistant", "tool"] = Field(
        description="Who wrote the message, as in OpenAI's chat API: `user` (the customer),"
        " `assistant` (the bot or an agent), `system` (instructions) or `tool` (a function's"
        " result)."
    )
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
