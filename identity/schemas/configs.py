"""Schemas of a client's settings."""

import itertools
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal, Self

from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext
from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from chatplatform.api.schemas import InRequest, Language, Schema, Text, read_only, without_default
from chatplatform.channel_names import MessagingChannel
from identity import models
from identity.schemas.fields import Email, TimeZone

ClockTime = Annotated[
    str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["09:00"], max_length=5)
]
ClosingTime = Annotated[
    str, Field(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", examples=["17:30"], max_length=5)
]
PriceCategory = Annotated[str, Field(pattern=r"^[a-z_]{1,60}$", max_length=60)]
MessagePrice = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Notice = Annotated[Text, Field(max_length=2_000)]
Notices = Annotated[
    dict[Language, Notice], InRequest("A request replaces the texts of all languages.")
]


class DayHours(Schema):
    """A span of opening hours on one day."""

    opens: ClockTime = Field(description="HH:MM in your company's time zone, 00:00..23:59.")
    closes: ClosingTime = Field(
        description="HH:MM, after `opens`; closed from this minute on. 24:00 is the end of the day."
        " Hours across midnight need two entries."
    )

    @model_validator(mode="after")
    def _opens_before_it_closes(self) -> Self:
        if self.opens >= self.closes:
            raise ValueError(
                gettext(
                    "the opening time must be before the closing time; enter hours that pass"
                    " midnight as two entries"
                )
            )
        return self


class BusinessHours(DayHours):
    """A span of opening hours on a weekday. A day may have several; a day without any is closed."""

    weekday: int = Field(
        ge=0,
        le=6,
        description="0 for Monday to 6 for Sunday; the `weekday` of reports is 1 to 7.",
        examples=[0],
    )


def _sorted_day(hours: list[DayHours]) -> list[DayHours]:
    hours = sorted(hours, key=lambda entry: entry.opens)
    _check_no_overlap(gettext("that day"), hours)
    return hours


def _sorted_week(hours: list[BusinessHours]) -> list[BusinessHours]:
    hours = sorted(hours, key=lambda entry: (entry.weekday, entry.opens))
    for weekday, entries in itertools.groupby(hours, key=lambda entry: entry.weekday):
        _check_no_overlap(WEEKDAYS[weekday], list(entries))
    return hours


def _check_no_overlap(day: object, hours: Sequence[DayHours]) -> None:
    for earlier, later in itertools.pairwise(hours):
        if later.opens < earlier.closes:
            text = gettext("hours on %(day)s overlap at %(time)s")
            raise ValueError(text % {"day": day, "time": later.opens})


def _iso_date(text: str) -> str:
    # `fromisoformat` also accepts 20261225.
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("must be a date such as 2026-12-25")
    return text


class Holiday(Schema):
    """A date with other hours than its weekday, or closed all day."""

    date: Annotated[
        str, AfterValidator(_iso_date), WithJsonSchema({"type": "string", "format": "date"})
    ] = Field(
        max_length=10, description="The day in your company's time zone.", examples=["2026-12-25"]
    )
    name: Text = Field("", max_length=100, description="The holiday's name, for display.")
    hours: Annotated[list[DayHours], AfterValidator(_sorted_day)] = Field(
        default_factory=list,
        max_length=10,
        description="Opening hours on that day instead of the weekday's, each with `opens` and"
        " `closes` as HH:MM; empty: closed all day.",
    )


def _sorted_holidays(holidays: list[Holiday]) -> list[Holiday]:
    holidays = sorted(holidays, key=lambda holiday: holiday.date)
    for earlier, later in itertools.pairwise(holidays):
        if earlier.date == later.date:
            raise ValueError(gettext("must not contain %(date)s twice") % {"date": later.date})
    return holidays


WeekHours = Annotated[list[BusinessHours], Field(max_length=70), AfterValidator(_sorted_week)]
Holidays = Annotated[list[Holiday], Field(max_length=400), AfterValidator(_sorted_holidays)]


def stored_hours(entries: Sequence[dict[str, Any]]) -> list[BusinessHours]:
    """The schemas of stored business hours."""
    return [BusinessHours.model_construct(**entry) for entry in entries]


def stored_holidays(entries: Sequence[dict[str, Any]]) -> list[Holiday]:
    """The schemas of stored holidays."""
    return [
        Holiday.model_construct(
            **entry | {"hours": [DayHours.model_construct(**hours) for hours in entry["hours"]]}
        )
        for entry in entries
    ]


class ClientConfigDto(Schema):
    """The settings for your company's conversations."""

    keeps_values = True
    client_id: int = read_only("Your company's id.", path="client_id")
    timezone: TimeZone = Field(
        "UTC",
        description="IANA time zone of business hours and reports.",
        examples=["Europe/Berlin"],
    )
    business_hours: Annotated[WeekHours, InRequest("A request replaces the whole list.")] = Field(
        default_factory=list,
        description="When agents are available; hours of a day must not overlap. Empty: always."
        " Outside these hours, no conversation is assigned automatically, and no customer counts"
        " as waiting too long. A bot may have other hours.",
    )
    holidays: Annotated[Holidays, InRequest("A request replaces the whole list.")] = Field(
        default_factory=list,
        description="Dates with hours other than the weekday's: at most 400, each date once.",
        examples=[[{"date": "2026-12-25", "name": "Christmas", "hours": []}]],
    )
    out_of_hours_message: Notices = Field(
        default_factory=dict,
        max_length=50,
        description="Text, by language, for customers who wait for a person outside business hours;"
        " sent once while you are closed; at most 2,000 characters each. `{opens}` is replaced with"
        " the time when you next open, such as `Monday, 09:00`, in the customer's time zone or, if"
        " it is unknown, in yours; if theirs has another time, yours is added: `Monday, 15:00"
        " (09:00 Central European Time)`. Languages without an entry get the platform's text; if no"
        " language has an entry, that text is sent only at a handover.",
        examples=[{"en": "We are back on {opens}."}],
    )
    assign_strategy: Literal["manual", "round_robin", "least_busy"] = Field(
        "manual",
        description="Who gets a waiting conversation. `manual`: the agent who takes it;"
        " `round_robin`: agents in turn; `least_busy`: the agent with the fewest open"
        " conversations.",
    )
    agent_capacity: int = Field(
        5,
        ge=1,
        le=1000,
        description="Conversations are assigned automatically only to agents with fewer open"
        " conversations than this, 1..1,000. An agent may take more.",
    )
    handoff_on_request: bool = Field(
        True, description="Whether a conversation is handed over if the customer asks for a person."
    )
    handoff_on_no_answer: bool = Field(
        True, description="Whether a conversation is handed over if the bot has no answer."
    )
    ask_again_before_handoff: bool | None = Field(
        None,
        description="Whether the bot, the first time that it cannot answer in a conversation, asks"
        " the customer to rephrase, and offers a person and the closest headings of its documents;"
        " the second time, it hands over. true: in all conversations; false: in none; null: in"
        " conversations of the widget (`web`) and of messaging channels, but not of the channel"
        " `api`.",
        examples=[None],
    )
    answer_while_waiting: bool = Field(
        True,
        description="Whether the bot keeps answering from its documents while a conversation waits"
        " in the queue, until an agent takes it or sends a message.",
    )
    handoff_message: Notices = Field(
        default_factory=dict,
        max_length=50,
        description="Text, by language, for customers at a handover; at most 2,000 characters each."
        " Languages without an entry get the platform's text.",
        examples=[{"en": "A colleague will write to you here."}],
    )
    answer_threshold: float = Field(
        0.77,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="The bot quotes its documents if they answer the question with at least this"
        " probability, 0..1. Below it, a bot without a language model has no answer; a bot with one"
        " asks the model, down to 0.15 (0.4 for documents in a language other than the question's),"
        " and answers if the model finds an answer.",
    )
    fallback_to_extractive: bool = Field(
        True,
        description="What the bot does if the model fails. true: it quotes its documents if they"
        " contain the answer; false: it hands the conversation over.",
    )
    confirm_answers: bool = Field(
        True,
        description="Whether the model checks each of its answers, statement by statement, against"
        " its passages. Only confirmed answers are sent; any other counts as a failure of the"
        " model. The check costs a second request for each answer, and a streamed answer arrives in"
        " one piece. If false, the model checks only answers that have no citation, claim an"
        " action that was not done, or contain a link, an address or a figure without a source;"
        " other inventions reach the customer.",
    )
    read_attachments: bool = Field(
        True,
        description="Whether customers' pictures and voice notes go to the bot's model, if it can"
        " read pictures or transcribe (`reads_pictures` and `transcription_model` in *Set Language"
        " Model*). If false, none leaves the platform, and conversations with them go to people.",
    )
    burst_wait_ms: int = Field(
        0,
        ge=0,
        le=60_000,
        description="How long the bot waits for further messages before it replies to all of them"
        " at once, in milliseconds, 0..60,000. Each message restarts the wait, up to five times"
        " this value in total. 0: one reply for each message.",
    )
    inactivity_end_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="An open conversation ends after this many minutes without a message,"
        " 0..525,600. 0: never.",
    )
    reopen_window_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="A customer's message reopens a conversation that ended at most this many"
        " minutes ago, 0..525,600. 0: a message after the end starts a new conversation.",
    )
    reuse_open: bool = Field(
        False,
        description="Whether a customer with an `external_id` has at most one open conversation"
        " with a bot: opening another returns the open one.",
    )
    ask_feedback: bool = Field(
        True,
        description="Whether the customer is asked for a rating after a conversation in which"
        " somebody answered: by a message of type `feedback` or, on messaging channels that have"
        " one, by the provider's survey.",
    )
    feedback_edit_minutes: int = Field(
        60,
        ge=0,
        le=525_600,
        description="Minutes after a rating in which the customer may change it, 0..525,600. 0:"
        " never.",
    )
    first_response_target_seconds: int = Field(
        300,
        ge=1,
        le=604_800,
        description="The target for answering a customer who waits for a person, in seconds within"
        " business hours, 1..604,800. Warnings and conversation lists compare waits with it. Your"
        " team is notified after this time or, if `on_unanswered` emails are on, after"
        " `unanswered_after_minutes` (*Get Email Notification*).",
    )
    auto_summary: bool = Field(
        False,
        description="Whether ended conversations are summarized automatically. A summary costs 1"
        " credit or, with a language model, the model's tokens.",
    )
    auto_tag: bool = Field(
        False,
        description="Whether ended conversations are tagged by topic automatically; charged like"
        " summaries.",
    )
    auto_sentiment: bool = Field(
        False,
        description="Whether customers' sentiment in ended conversations is estimated; charged"
        " like summaries.",
    )
    auto_translate: bool = Field(
        False,
        description="Whether a model translates customers' messages into your company's default"
        " language, and agents' messages into the customer's. Its tokens are charged; without a"
        " model, nothing is translated.",
    )
    mask_personal_data: bool = Field(
        False,
        description="Whether personal data is masked before a model reads it for summaries, tags,"
        " sentiment, suggestions, rewritten replies and translations. Answers to customers use"
        " the unmasked text.",
    )
    silent_channels: Annotated[
        list[MessagingChannel], InRequest("A request replaces the whole list.")
    ] = Field(
        default_factory=list,
        max_length=20,
        description="Messaging channels on which customers get no automatic messages, such as those"
        " about a handover or closed hours; your team sees them as notes instead. Providers may"
        " charge for every message.",
    )
    message_prices: Annotated[
        dict[PriceCategory, MessagePrice],
        InRequest("A request replaces all prices; the costs of earlier messages do not change."),
    ] = Field(
        default_factory=dict,
        max_length=20,
        description="What messaging providers charge you for a message: a number for each category"
        " that they report (`service`, `utility`, `marketing`, `authentication`), in the currency"
        " of your account there; one price for all providers. They report what they charge for,"
        " but not how much.",
        examples=[{"service": 0.0035, "marketing": 0.0732}],
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days for which ended conversations are kept, 1..36,500. Null: forever.",
    )
    version: Annotated[
        int | None,
        InRequest(
            "A request with another version is a 409 `stale_version`; null or left out: versions"
            " are not compared."
        ),
    ] = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="The version of the settings, which increases with every change. Never null in"
        " a response.",
        examples=[None],
    )

    @classmethod
    def from_row(cls, row: models.ClientConfig) -> Self:
        return cls.copy_from(
            row,
            business_hours=stored_hours(row.business_hours),
            holidays=stored_holidays(row.holidays),
            timezone=row.client.timezone,
        )


# The fields of the schema that are columns of ClientConfig.
CONFIG_FIELDS = frozenset(ClientConfigDto.model_fields) - {"client_id", "timezone", "version"}


class EmailNotificationRequest(Schema):
    """Which notifications are mailed, and who gets them."""

    recipients: Annotated[
        list[Email],
        Field(max_length=20),
        AfterValidator(lambda addresses: list(dict.fromkeys(addresses))),
    ] = Field(
        default_factory=list,
        description="The email addresses that get the notifications, at most 20; a request"
        " replaces them all. Empty: only the agents of conversations get email, see `to_assignee`.",
        examples=[["desk@acme.example"]],
    )
    on_assigned: bool = Field(
        False,
        json_schema_extra=without_default,
        description="Email when a conversation is assigned to an agent.",
    )
    on_unanswered: bool = Field(
        False,
        json_schema_extra=without_default,
        description="Email when a customer waits longer than `unanswered_after_minutes`.",
    )
    on_handoff: bool = Field(
        False,
        json_schema_extra=without_default,
        description="Email when the bot hands a conversation over.",
    )
    on_channel_error: bool = Field(
        False,
        json_schema_extra=without_default,
        description="Email when a channel stops working, or its provider reports a problem with the"
        " account: a paused template, a low quality rating, a lower sending limit.",
    )
    on_low_credit: bool = Field(
        False,
        json_schema_extra=without_default,
        description="Email when fewer than 20 % of the plan's credits are left, and when none are.",
    )
    to_assignee: bool = Field(
        True,
        json_schema_extra=without_default,
        description="Whether the agent of a conversation also gets the emails about it"
        " (`on_assigned`, `on_unanswered`), in the agent's language.",
    )
    unanswered_after_minutes: int = Field(
        15,
        ge=1,
        le=10_080,
        json_schema_extra=without_default,
        description="Minutes within business hours that a customer may wait, 1..10,080.",
        examples=[15],
    )


class TestedRecipients(Schema):
    """The recipients of a test email."""

    recipients: list[str] = Field(description="The addresses to which the test was mailed.")
