"""Request and response schemas of the language models and encoders that clients connect."""

from typing import Annotated, Literal

from pydantic import Field

from bots.models import LanguageModel, ModelPurpose
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import (
    MAX_ID,
    NOT_BLANK,
    InRequest,
    Moment,
    Schema,
    Text,
    example,
    read_only,
)

Purpose = Literal["chat", "embeddings"]


class LanguageModelQuery(Schema):
    """Query parameters that select a model."""

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID,
        description="Selects this bot's own model. If left out, the default model for all bots, or"
        " the encoder.",
    )  # fmt: skip
    purpose: Purpose = Field(
        "chat",
        description="`chat`: a model that writes answers. `embeddings`: an encoder for the search"
        " of all bots.",
    )


class LanguageModelDto(Schema):
    """A language model that your company has connected for one or all bots, or an encoder."""

    keeps_values = True
    model_config = example(
        base_url="https://api.openai.com/v1", model="gpt-4.1-mini", api_key="sk-7d1f0c"
    )

    bot_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="The id of the bot that uses this model; null: it is the default model for all"
        " bots, or an encoder.",
    )
    purpose: Purpose = Field(
        "chat",
        description="What the model is for: it writes answers (`chat`), or is an encoder for the"
        " search (`embeddings`).",
    )
    base_url: Annotated[
        Text,
        InRequest("422 if the host does not exist or is not public."),
    ] = Field(
        max_length=500,
        pattern=r"^https?://[^\s?#]+$",
        description="Public URL of a server that implements OpenAI's chat completions API or, for"
        " an encoder, its embeddings API, without the final `/chat/completions` or `/embeddings`.",
    )
    model: Text = Field(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="The model's name on that server.",
    )
    api_key: Text | None = Field(
        None,
        exclude=True,
        max_length=500,
        pattern=r"^[\x21-\x7e]*$",
        description="The API key for that server, stored encrypted, never shown, and sent only over"
        " https. If left out, the stored key is kept; 422 if there is one and the scheme, host or"
        " port of the URL changes. An empty string removes it.",
        json_schema_extra={"writeOnly": True},
    )
    has_api_key: bool = read_only("Whether a key is stored.")
    reads_pictures: bool = Field(
        False, description="Whether the model can read pictures (`image_url`). If so, it gets those"
        " that customers send."
    )  # fmt: skip
    transcription_model: Text = Field(
        "",
        max_length=100,
        description="The name of the model on that server that transcribes customers' voice notes"
        " (`/audio/transcriptions`); empty: they are not transcribed.",
    )
    credits_per_1000_tokens: int = Field(
        1,
        ge=0,
        le=100,
        description="The price in credits for each started 1,000 tokens, 0..100. Only the"
        " platform's staff can set 0. An encoder's work is free.",
    )
    indexed_percent: int | None = read_only(
        "For an encoder: the percentage of your passages that it has encoded. The search uses the"
        " encoder once this is 100. Null for a language model."
    )
    updated_at: Moment = read_only("When the model was last changed.")

    @classmethod
    def from_row(cls, row: LanguageModel) -> "LanguageModelDto":
        is_encoder = row.purpose == ModelPurpose.EMBEDDINGS
        return cls.copy_from(
            row,
            has_api_key=bool(row.api_key),
            indexed_percent=row.indexed_percent if is_encoder else None,
        )


class LanguageModelsResponse(ListPage[LanguageModelDto]):
    """One page of the list of models, newest first."""


class LanguageModelTest(Schema):
    """The result of a test: the model translates one word, an encoder encodes two."""

    is_working: bool = Field(description="Whether the model gave a usable answer.")
    error: str | None = Field(
        description="Why the model gave no usable answer; null if it gave one."
    )
    answered_by: str | None = Field(
        description="The model's name as the server reports it; null if it gave no usable answer."
    )
    tokens: int = Field(
        description="The number of tokens of prompt and answer; they cost no credits."
    )
    duration_ms: int = Field(description="How long the test took, in milliseconds.")
