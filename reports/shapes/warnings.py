"""The shapes of the warnings: what needs somebody, or soon will."""

from typing import Literal

from pydantic import Field

from chatplatform.api.shapes import Moment, Shape, example

WarningCode = Literal[
    "chats_unanswered", "chats_unanswered_soon", "queue_growing", "negative_sentiment",
    "low_ratings", "channel_broken", "channel_token_expiring", "webhook_failing",
    "training_failed", "documents_held", "credits_used_up", "credits_low", "credits_end_soon",
    "model_errors",
]  # fmt: skip


class WarningSample(Shape):
    """One of the rows that a warning is about."""

    id: str = Field(description="Its id.")
    label: str = Field(description="How people know it: a chat's code, a file's name.")


class Warning(Shape):
    """Something that needs somebody."""

    code: WarningCode = Field(description="What it is.")
    severity: Literal["critical", "warning"] = Field(
        description="`critical`: customers get no answer, or a late one, now; `warning`: they may."
    )
    title: str = Field(description="What it is, in an English sentence.")
    what_to_do: str = Field(description="What helps, in English.")
    count: int = Field(description="How many rows it is about; of credits: how many are left.")
    since: Moment | None = Field(None, description="Since when, for the oldest; null: not known.")
    due_at: Moment | None = Field(
        None, description="When it is foreseen to happen; null: it happens already."
    )
    samples: list[WarningSample] = Field(description="Five of the rows at most, the oldest first.")
    link: str = Field(
        description="The page of the site with its rows; of `model_errors`: the samples."
    )
    muted_until: Moment | None = Field(
        None, description="Until when nobody needs to be told; null: it is not muted."
    )
    muted_by: str | None = Field(None, description="Who has muted it.")


class WarningDashboard(Shape):
    """All that needs somebody now."""

    warnings: list[Warning] = Field(
        description="The critical ones first, the muted ones last; empty: all is well."
    )


class MuteWarningDto(Shape):
    """Which warning is muted for your client, and until when."""

    model_config = example(code="low_ratings", until="2026-11-24T09:00:00Z")

    code: WarningCode = Field(description="Which one.")
    until: Moment | None = Field(
        description="Within the next 30 days; null: it is muted no longer."
    )
