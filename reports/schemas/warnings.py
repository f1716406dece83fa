"""The schemas of warnings about what needs attention now or soon."""

from typing import Literal

from pydantic import Field

from chatplatform.api.schemas import Moment, Schema, example

WarningCode = Literal[
    "chats_unanswered", "chats_unanswered_soon", "queue_growing", "negative_sentiment",
    "low_ratings", "channel_broken", "channel_notices", "channel_token_expiring",
    "webhook_failing",
    "training_failed", "documents_held", "functions_without_model", "credits_used_up",
    "credits_low", "credits_end_soon", "model_errors",
]  # fmt: skip


class WarningSample(Schema):
    """One of the items that a warning is about, such as a conversation, document or endpoint."""

    id: str = Field(description="The item's id.")
    label: str = Field(
        description="The item's name, such as a conversation's code or a file's name.",
    )


class Warning(Schema):
    """Something that needs attention."""

    code: WarningCode = Field(
        description="The kind of warning. `chats_unanswered`, `chats_unanswered_soon`: customers"
        " have waited longer than the target, or than half of it. `queue_growing`: more"
        " conversations enter the queue than agents take. `negative_sentiment`: open conversations"
        " with dissatisfied customers. `low_ratings`: 1 or 2 stars since yesterday."
        " `channel_broken`: a channel does not work. `channel_notices`: a provider reported a"
        " problem with a channel. `channel_token_expiring`: a channel must be connected again soon."
        " `webhook_failing`: a webhook endpoint is failing or off. `training_failed`: documents"
        " could not be read. `documents_held`: documents are not published because golden questions"
        " failed. `functions_without_model`: functions are never called, because their bot has no"
        " model. `model_errors`: the model has failed since yesterday. `credits_used_up`,"
        " `credits_low`, `credits_end_soon`: credits are used up, low, or will not last."
    )
    severity: Literal["critical", "warning"] = Field(
        description="`critical`: customers already get late answers or none; `warning`: they may"
        " soon."
    )
    title: str = Field(description="The warning in English.")
    what_to_do: str = Field(description="What you can do about the warning, in English.")
    count: int = Field(
        description="The number of items; for warnings about credits, the number of credits left."
    )
    since: Moment | None = Field(
        None, description="Since when the oldest item has had the problem; null if unknown."
    )
    due_at: Moment | None = Field(
        None, description="When the problem is expected to begin; null if unknown."
    )
    samples: list[WarningSample] = Field(description="At most five of the items, oldest first.")
    link: str = Field(
        description="The path of the site's page that lists the items (for `model_errors`, the"
        " samples) or, for warnings about credits, shows the plan."
    )
    muted_until: Moment | None = Field(
        None,
        description="Until when the warning is muted, and not shown on the site's home page. Null:"
        " not muted.",
    )
    muted_by: str | None = Field(
        None, description="Who muted the warning; null if it is not muted."
    )


class WarningDashboard(Schema):
    """All current warnings."""

    warnings: list[Warning] = Field(
        description="The warnings: critical ones first, muted ones last."
    )


class MuteWarningDto(Schema):
    """A warning to mute or unmute for your company."""

    model_config = example(code="low_ratings", until="2026-11-24T09:00:00Z")

    code: WarningCode = Field(
        description="The kind of warning: the `code` of a warning of *Getwarningdashboardrouter*,"
        " which explains each."
    )
    until: Moment | None = Field(
        description="Mute the warning until this time, at most 30 days ahead; null unmutes it.",
    )
