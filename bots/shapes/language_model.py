"""The shapes of a model of a client's or a bot's own."""

from pydantic import Field

from bots.models import LanguageModel
from chatplatform.api.shapes import MAX_ID, NOT_BLANK, Moment, Shape, Text, example, read_only


class LanguageModelQuery(Shape):
    """Whose model it is."""

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID,
        description="The bot whose own model it is; left out: that of the whole client.",
    )  # fmt: skip


class LanguageModelDto(Shape):
    """A model that writes for a client, or for one bot, in place of the platform's."""

    model_config = example(
        base_url="https://api.openai.com/v1", model="gpt-4.1-mini", api_key="sk-7d1f0c"
    )

    bot_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="The bot whose own model it is; null: the whole client's. A request may repeat"
        " it; another `bot_id` than the query's is a 422.",
    )
    base_url: Text = Field(
        max_length=500,
        pattern=r"^https?://[^\s?#]+$",
        description="Public address of a server that speaks OpenAI's chat completions, up to and"
        " without `/chat/completions`. A host that is not there, or not public, is a 422.",
    )
    model: Text = Field(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="The model's name, as its server knows it.",
    )
    api_key: Text | None = Field(
        None,
        exclude=True,
        max_length=500,
        pattern=r"^[\x21-\x7e]*$",
        description="The server's key, stored encrypted and never shown; sent over https only."
        " Left out: the stored one stays, while scheme, host and port of the address stay; empty"
        " removes it.",
        json_schema_extra={"writeOnly": True},
    )
    has_api_key: bool | None = read_only("Whether a key is stored.")
    credits_per_1000_tokens: int = Field(
        1,
        ge=0,
        le=100,
        description="Price in credits of each started 1,000 tokens, 0..100. Less than 1 is set by"
        " the platform's staff alone.",
    )
    updated_at: Moment | None = read_only("When it was last changed.")

    @classmethod
    def from_row(cls, row: LanguageModel) -> "LanguageModelDto":
        return cls.copy_from(row, has_api_key=bool(row.api_key))


class LanguageModelsResponse(Shape):
    """A page of models, newest first."""

    items: list[LanguageModelDto] = Field(description="The models of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class LanguageModelTest(Shape):
    """What came of asking a model for one word."""

    is_working: bool = Field(description="Whether it gave a usable answer.")
    error: str | None = Field(description="Why it did not, in words; else null.")
    answered_by: str | None = Field(
        description="The model that the server says it was; null without an answer."
    )
    tokens: int = Field(description="Tokens of prompt and answer; they cost no credits.")
    duration_ms: int = Field(description="How long it took.")
