"""Shapes of clients."""

from typing import Self

from pydantic import Field

from chatplatform.api.shapes import Language, Moment, Shape
from identity import models
from identity.shapes.fields import Email, Name, NewPassword, TimeZone
from identity.shapes.subscriptions import SubscriptionDto


class ClientDto(Shape):
    """A company on the platform."""

    id: int = Field(description="The client's id.")
    name: str = Field(description="The company's name, 1..200 characters.")
    code: str = Field(description="The name as a slug, unique on the platform.")
    default_language: Language = Field(description="BCP 47 language used if no other is given.")
    timezone: str = Field(description="IANA time zone of its reports and business hours.")
    is_disabled: bool = Field(description="Whether its people and keys are refused.")
    subscription: SubscriptionDto = Field(description="Its plan and credits.")
    created_at: Moment = Field(description="When it was registered.")

    @classmethod
    def from_row(cls, row: models.Client) -> Self:
        return cls.copy_from(row, subscription=SubscriptionDto.from_row(row.subscription))


class RegisterTrialDto(Shape):
    """A company that registers for a trial, and its owner."""

    company_name: Name = Field(
        description="The company's name, 1..200 characters.",
        min_length=1,
        max_length=200,
        examples=["Acme"],
    )
    full_name: Name = Field(
        description="Name of the owner, 1..200 characters.",
        min_length=1,
        max_length=200,
        examples=["Ann Lee"],
    )
    email: Email = Field(
        description="The owner's sign-in name; at most 254 characters.",
        examples=["ann@acme.example"],
    )
    password: NewPassword = Field(
        description="10..128 characters, not a common password and not only digits."
    )
    language: Language = Field("en", description="BCP 47 language of the client and its owner.")
    timezone: TimeZone = Field(
        "UTC", description="IANA time zone of the client.", examples=["Europe/Berlin"]
    )
