"""The shapes of warnings about things that need attention now or soon."""

from typing import Literal

from pydantic import Field

from chatplatform.api.shapes import Moment, Shape, example

WarningCode = Literal[
    "chats_unanswered", "chats_unanswered_soon", "queue_growing", "negative_sentiment",
    "low_ratings", "channel_broken", "channel_notices", "channel_token_expiring",
    "webhook_failing",
    "training_failed", "documents_held", "functions_without_model", "credits_used_up",
    "credits_low", "credits_end_soon", "model_errors",
]  # fmt: skip


class WarningSample(Shape):
    """One of the items that a warning is about."""

    id: str = Field(
        description="The id of the conversation, document, endpoint or other item that the warning"
        " is about."
    )
    label: str = Field(
        description="The item's name, such as a conversation's code or a file's name.",
    )


class Warning(Shape):
    """Something that needs attention."""

    code: WarningCode = Field(description="The kind of warning.")
    severity: Literal["critical", "warning"] = Field(
        description="`critical`: customers now get late answers or none; `warning`: they may."
    )
    title: str = Field(description="The warning in English.")
    what_to_do: str = Field(description="What you can do about the warning, in English.")
    count: int = Field(
        description="How many items the warning is about; for warnings about credits, how many"
        " credits are left."
    )
    since: Moment | None = Field(
        None, description="Since when the oldest item has the problem; null if unknown."
    )
    due_at: Moment | None = Field(
        None, description="When the problem is expected; null if it is there already."
    )
    samples: list[WarningSample] = Field(description="At most five of the items, oldest first.")
    link: str = Field(
        description="The page of the site that lists the items; for `model_errors`, the samples."
    )
    muted_until: Moment | None = Field(
        None, description="Until when the warning is hidden; null if it is not."
    )
    muted_by: str | None = Field(None, description="Who hid the warning.")


class WarningDashboard(Shape):
    """All current warnings."""

    warnings: list[Warning] = Field(
        description="The warnings, critical ones first, muted ones last."
    )


class MuteWarningDto(Shape):
    """Mutes a warning for your client."""

    model_config = example(code="low_ratings", until="2026-11-24T09:00:00Z")

    code: WarningCode = Field(description="The kind of warning.")
    until: Moment | None = Field(
        description="Hide the warning until this time, at most 30 days ahead; null shows it again.",
    )
