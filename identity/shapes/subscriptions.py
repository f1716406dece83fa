"""Shapes of plans and credits."""

from typing import Literal, Self

from pydantic import Field

from chatplatform.api.shapes import Moment, Shape
from identity import models
from identity.shapes.fields import Name


class SubscriptionDto(Shape):
    """A client's plan and its credits."""

    plan: Literal["trial", "standard", "unlimited"] = Field(description="The kind of plan.")
    credits_included: int = Field(description="Credits that the plan grants in each period.")
    credits_left: int = Field(
        description="Credits that can be used now, 0 or more: grants and top-ups, minus credits"
        " used and credits reserved by running AI calls. The plan `unlimited` refuses nothing."
    )
    credits_used: int = Field(
        description="Credits used in this period, including reservations of running AI calls;"
        " 0 or more."
    )
    period_start: Moment = Field(description="When the period began.")
    period_end: Moment | None = Field(description="When the period ends; null if it does not.")
    is_active: bool = Field(description="Whether credits may be used; false after a trial.")

    @classmethod
    def from_row(cls, row: models.Subscription) -> Self:
        return cls.copy_from(row)


class TopUpAmount(Shape):
    """Credits that were bought."""

    amount: int = Field(
        description="Credits to add, 1..1,000,000.",
        strict=True,
        ge=1,
        le=1_000_000,
        examples=[5000],
    )
    reference: Name = Field(
        description="Names the purchase, such as the invoice's number; 1..200 characters. The same"
        " one again adds nothing.",
        min_length=1,
        max_length=200,
        examples=["INV-2031"],
    )
