"""Request and response schemas of a bot's instructions."""

from pydantic import Field

from bots.models import Prompt
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import NOT_BLANK, Language, Moment, Schema, Text, example, read_only


class PromptDto(Schema):
    """One version of a bot's instructions."""

    model_config = example(content="You help the customers of a shop. Be brief.", tone="friendly")

    id: int = read_only("The version's id.")
    version: int = read_only("Number of the version, from 1.")
    content: Text = Field(
        min_length=1,
        max_length=20_000,
        pattern=NOT_BLANK,
        description="The instructions, at most 20,000 characters.",
    )
    tone: Text | None = Field(
        None,
        max_length=50,
        description="The tone of the bot's replies, such as `friendly` or `formal`. Passed to the"
        " language model; null: no tone is requested.",
    )
    language: Language | None = Field(
        None,
        description="The language that the instructions are written in, as a BCP 47 code. Passed to"
        " the language model; null: unknown. Replies are in the customer's language.",
    )
    model: Text | None = Field(
        None,
        max_length=100,
        description="The language model to use, by its name on the model's server; null: the"
        " configured one.",
    )
    temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        description="The model's randomness, 0..2; null: 0 or, with OpenAI's server, the model's"
        " default.",
    )
    is_current: bool = read_only("Whether the bot uses this version.")
    created_by: int | None = read_only(
        "The id of the person who saved this version; null: the person was deleted.",
    )
    created_at: Moment = read_only("When this version was saved.")

    @classmethod
    def from_row(cls, prompt: Prompt) -> "PromptDto":
        return cls.copy_from(
            prompt,
            tone=prompt.tone or None,
            language=prompt.language or None,
            model=prompt.model or None,
            created_by=prompt.created_by_id,
        )


class PromptVersion(Schema):
    """Query parameter that selects a version of the instructions."""

    version: int | None = Field(
        None, ge=1, le=2_147_483_647,
        description="The number of the version to return; the current one if left out.",
    )  # fmt: skip


class PromptVersionsResponse(ListPage[PromptDto]):
    """One page of the list of versions, newest first."""
