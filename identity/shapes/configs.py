"""Shapes of a client's settings."""

import itertools
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from chatplatform.api.shapes import MAX_ID, Language, Shape, Text
from identity import models
from identity.shapes.fields import Email, TimeZone

ClockTime = Annotated[
    str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["09:00"], max_length=5)
]
ClosingTime = Annotated[
    str, Field(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", examples=["17:30"], max_length=5)
]
Notice = Annotated[Text, Field(max_length=2_000)]


class BusinessHours(Shape):
    """Opening hours of a weekday. A day may have several entries; without any it is closed."""

    weekday: int = Field(ge=0, le=6, description="0 for Monday to 6 for Sunday.", examples=[0])
    opens: ClockTime = Field(description="HH:MM in the client's time zone, 00:00..23:59.")
    closes: ClosingTime = Field(
        description="HH:MM, after `opens`; closed from this minute on. 24:00 is the end of the"
        " day: hours over midnight are two entries."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.opens >= self.closes:
            raise ValueError("must open before it closes; hours over midnight are two entries")
        return self


class ClientConfigDto(Shape):
    """The settings of a client's chats."""

    client_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="The client. An update may repeat it; if it differs from the path: 422.",
    )
    timezone: TimeZone = Field(
        "UTC",
        description="IANA time zone of business hours and reports.",
        examples=["Europe/Berlin"],
    )
    business_hours: list[BusinessHours] = Field(
        default_factory=list,
        max_length=70,
        description="When agents are available, replaced as a whole; hours of one day must not"
        " overlap. Empty: always.",
    )
    out_of_hours_message: dict[Language, Notice] = Field(
        default_factory=dict,
        max_length=50,
        description="Text for customers outside business hours, by language; at most 2,000"
        " characters each, replaced as a whole.",
        examples=[{"en": "We are back at nine."}],
    )
    assign_strategy: Literal["manual", "round_robin", "least_busy"] = Field(
        "manual",
        description="Who gets a waiting chat. `manual`: the agent who takes it; `round_robin`: each"
        " agent in turn; `least_busy`: the agent with the fewest open chats.",
    )
    agent_capacity: int = Field(
        5, ge=1, le=1000, description="Open chats assigned to an agent at most, 1..1,000."
    )
    handoff_on_request: bool = Field(
        True, description="Whether a chat is handed over if the customer asks for a person."
    )
    handoff_on_no_answer: bool = Field(
        True, description="Whether a chat is handed over if the bot has no answer."
    )
    handoff_message: dict[Language, Notice] = Field(
        default_factory=dict,
        max_length=50,
        description="Text for customers at a handover, by language; at most 2,000 characters each,"
        " replaced as a whole. Languages without an entry get the platform's own text.",
        examples=[{"en": "A colleague will write to you here."}],
    )
    answer_threshold: float = Field(
        0.77,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Probability, 0..1, from which the bot answers; below it the bot hands over.",
    )
    burst_wait_ms: int = Field(
        0,
        ge=0,
        le=60_000,
        description="Customer messages within this time get one reply; milliseconds, 0..60,000."
        " 0: a reply each.",
    )
    inactivity_end_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="Minutes without a message after which an open chat ends, 0..525,600."
        " 0: never.",
    )
    reopen_window_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="Minutes after its end in which a customer's message reopens the chat,"
        " 0..525,600. 0: each starts a new chat.",
    )
    first_response_target_seconds: int = Field(
        300,
        ge=1,
        le=604_800,
        description="Seconds within which a waiting customer should get an answer, 1..604,800.",
    )
    auto_summary: bool = Field(
        False, description="Whether ended chats are summarised automatically."
    )
    auto_tag: bool = Field(False, description="Whether chats are tagged by topic automatically.")
    auto_sentiment: bool = Field(False, description="Whether customers' sentiment is estimated.")
    auto_translate: bool = Field(False, description="Whether messages are translated for agents.")
    mask_personal_data: bool = Field(
        False, description="Whether personal data is masked before a model reads it."
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days for which ended chats are kept, 1..36,500. Null: forever.",
    )
    version: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="Grows with every change. An update with an older version is a 409"
        " `stale_version`; left out or null, it is not compared.",
        examples=[None],
    )

    @field_validator("business_hours")
    @classmethod
    def _apart(cls, hours: list[BusinessHours]) -> list[BusinessHours]:
        hours = sorted(hours, key=lambda entry: (entry.weekday, entry.opens))
        for earlier, later in itertools.pairwise(hours):
            if earlier.weekday == later.weekday and later.opens < earlier.closes:
                raise ValueError(f"hours of weekday {later.weekday} overlap at {later.opens}")
        return hours

    @classmethod
    def from_row(cls, row: models.ClientConfig) -> Self:
        hours = [BusinessHours.model_construct(**entry) for entry in row.business_hours]
        return cls.copy_from(row, business_hours=hours, timezone=row.client.timezone)


# The fields of a request that are columns of ClientConfig.
CONFIG_FIELDS = frozenset(ClientConfigDto.model_fields) - {"client_id", "timezone", "version"}


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


class EmailNotificationRequest(Shape):
    """Who gets which notifications by mail. Fields that a request leaves out keep their value."""

    recipients: Annotated[list[Email], Field(max_length=20), AfterValidator(_unique)] = Field(
        default_factory=list,
        description="E-mail addresses that get the mails, at most 20; empty: none are sent.",
        examples=[["desk@acme.example"]],
    )
    on_assigned: bool = Field(False, description="Mail when a chat is assigned to an agent.")
    on_unanswered: bool = Field(
        False, description="Mail when a customer waits longer than unanswered_after_minutes."
    )
    on_handoff: bool = Field(False, description="Mail when the bot hands a chat over.")
    on_channel_error: bool = Field(False, description="Mail when a channel stops working.")
    on_low_credit: bool = Field(False, description="Mail when credits run low.")
    unanswered_after_minutes: int = Field(
        15, ge=1, le=10_080, description="Minutes that a customer may wait, 1..10,080 (a week)."
    )

    @classmethod
    def from_row(cls, row: models.EmailNotification) -> Self:
        return cls.copy_from(row)
