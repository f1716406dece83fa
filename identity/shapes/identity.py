"""Shapes of clients, people, tokens and keys."""

import itertools
import zoneinfo
from typing import Annotated, Literal, Self

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, Field, field_validator, model_validator

from chatplatform.api.shapes import MAX_ID, Language, Moment, Shape, Text, example, read_only
from identity import models


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError as exc:
        raise ValueError("must be an e-mail address") from exc
    return text.lower()


def _timezone(name: str) -> str:
    if name not in zoneinfo.available_timezones():
        raise ValueError("must be a time zone of the IANA database")
    return name


def _not_blank(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError("must not be blank")
    return text


def _once(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


Email = Annotated[Text, Field(max_length=254), AfterValidator(_email)]
TimeZone = Annotated[str, Field(max_length=64), AfterValidator(_timezone)]
Name = Annotated[Text, AfterValidator(_not_blank)]
NewPassword = Annotated[
    Text, Field(min_length=10, max_length=128, examples=["correct-horse-battery"])
]
RoleName = Literal["owner", "admin", "agent", "viewer"]
ScopeName = Literal["secret", "public"]


class SubscriptionDto(Shape):
    """What a client's plan includes and what is left of it."""

    plan: Literal["trial", "standard", "unlimited"] = Field(description="The plan's kind.")
    credits_included: int = Field(description="Credits that the plan grants in each period.")
    credits_left: int = Field(
        description="Credits that may be used now, 0 or more: grants and top-ups, less what was"
        " used and what running AI calls hold. On the plan `unlimited` nothing is refused."
    )
    credits_used: int = Field(
        description="Credits used in this period, with what running AI calls hold; 0 or more."
    )
    period_start: Moment = Field(description="When the period began.")
    period_end: Moment | None = Field(description="When the period ends; null where it does not.")
    is_active: bool = Field(description="Whether credits may be used; false when a trial is over.")

    @classmethod
    def from_row(cls, row: models.Subscription) -> Self:
        return cls(
            plan=models.Plan(row.plan).value,
            credits_included=row.credits_included,
            credits_left=row.credits_left,
            credits_used=row.credits_used,
            period_start=row.period_start,
            period_end=row.period_end,
            is_active=row.is_active,
        )


class ClientDto(Shape):
    """A company on the platform."""

    id: int = Field(description="The client's id.")
    name: str = Field(description="The company's name, 1..200 characters.")
    code: str = Field(description="The name as a slug, unique on the platform.")
    default_language: Language = Field(description="BCP 47 language of what names no other.")
    timezone: str = Field(description="IANA time zone of its days and business hours.")
    is_disabled: bool = Field(description="Whether its people and keys are locked out.")
    subscription: SubscriptionDto = Field(description="Its plan and credits.")
    created_at: Moment = Field(description="When it was registered.")

    @classmethod
    def from_row(cls, row: models.Client) -> Self:
        return cls(
            id=row.pk,
            name=row.name,
            code=row.code,
            default_language=row.default_language,
            timezone=row.timezone,
            is_disabled=row.is_disabled,
            subscription=SubscriptionDto.from_row(row.subscription),
            created_at=row.created_at,
        )


class UserDto(Shape):
    """One of a client's people."""

    id: int | None = read_only("The user's id.")
    client_id: int | None = read_only("The client he belongs to.")
    email: Email = Field(
        description="Signs in with it; unique on the platform, stored in lower case, at most 254"
        " characters.",
        examples=["ben@acme.example"],
    )
    full_name: Name = Field(
        description="Shown to colleagues and customers, 1..200 characters.",
        min_length=1,
        max_length=200,
        examples=["Ben Reed"],
    )
    role: RoleName = Field(
        "agent",
        description="What he may: `owner` and `admin` everything, `agent` chats, `viewer` read.",
        examples=["agent"],
    )
    is_disabled: bool | None = read_only("Whether he is locked out.")
    language: Language = Field("en", description="BCP 47 language of his screens and mails.")
    last_login_at: Moment | None = read_only("When he last signed in; null for never.")
    created_at: Moment | None = read_only("When he was added.")
    password: Text | None = Field(
        None,
        description="10..128 characters, not a common one. In a request only, never in a reply."
        " Left out: he is mailed a link to choose his own.",
        min_length=10,
        max_length=128,
        exclude=True,
        json_schema_extra={"writeOnly": True},
        examples=["correct-horse-battery"],
    )

    @classmethod
    def from_row(cls, row: models.User) -> Self:
        return cls(
            id=row.pk,
            client_id=row.client_id,
            email=row.email,
            full_name=row.full_name,
            role=models.Role(row.role).value,
            is_disabled=row.is_disabled,
            language=row.language,
            last_login_at=row.last_login,
            created_at=row.created_at,
        )


class UsersResponse(Shape):
    """A page of a client's people, in the order in which they were added."""

    items: list[UserDto] = Field(description="The people, also those who are locked out.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class UserDisableFlag(Shape):
    """Whether a person is locked out."""

    is_disabled: bool = Field(
        description="True ends all his tokens at once; false lets him sign in again.",
        examples=[True],
    )


class UserPassword(Shape):
    """A password that an admin sets for somebody."""

    password: NewPassword = Field(
        description="10..128 characters, not a common one and not only digits."
    )


class UserRole(Shape):
    """What a person may do from now on."""

    role: RoleName = Field(
        description="What he may: `owner` and `admin` everything, `agent` chats, `viewer` read."
        " Only an owner makes or changes owners.",
        examples=["agent"],
    )


class RegisterTrialDto(Shape):
    """A company that wants to try the platform, and its first person."""

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
        description="The owner signs in with it; at most 254 characters.",
        examples=["ann@acme.example"],
    )
    password: NewPassword = Field(
        description="10..128 characters, not a common one and not only digits."
    )
    language: Language = Field("en", description="BCP 47 language of the client and its owner.")
    timezone: TimeZone = Field(
        "UTC", description="IANA time zone of the client.", examples=["Europe/Berlin"]
    )


class Body_login_for_access_token2_identity_token2_post(Shape):  # noqa: N801 - the document's name
    """A sign-in, or the exchange of a refresh token."""

    grant_type: Text = Field(
        "password",
        description="`password` or `refresh_token`; any other is a 400 `unsupported_grant_type`.",
        max_length=60,
        examples=["password"],
    )
    username: Text | None = Field(
        None,
        description="The person's e-mail address; needed for `password`.",
        max_length=254,
        examples=["ann@acme.example"],
    )
    password: Text | None = Field(
        None,
        description="Needed for `password`; at most 128 characters.",
        max_length=128,
        examples=["correct-horse-battery"],
    )
    refresh_token: Text | None = Field(
        None, description="From the last reply; needed for `refresh_token`.", max_length=200
    )
    scope: Text | None = Field(
        None, description="Accepted and not used: the role decides.", max_length=200
    )
    client_id: Text | None = Field(
        None, description="Accepted and not used: there is one kind of client.", max_length=200
    )
    client_secret: Text | None = Field(None, description="Accepted and not used.", max_length=200)

    @field_validator("grant_type")
    @classmethod
    def _left_empty(cls, value: str) -> str:
        return value or "password"


class TokenResponse(Shape):
    """Access for a while, and the means to go on."""

    access_token: str = Field(description="Send it as `Authorization: Bearer …`.")
    token_type: Literal["bearer"] = Field(description="How to send it.")
    expires_in: int = Field(description="Seconds until the access token expires.")
    refresh_token: str = Field(
        description="Buys the next pair, once; a second use ends the whole sign-in."
    )
    scope: str = Field(description="The person's role.")


ResetToken = Annotated[Text, Field(min_length=1, max_length=200)]


class ForgotPasswordRequest(Shape):
    """Whose password is forgotten."""

    email: Email = Field(
        description="The person's e-mail address; at most 254 characters.",
        examples=["ben@acme.example"],
    )


class VerifyResetTokenRequest(Shape):
    """A reset link to be checked before a form is shown."""

    model_config = example(token="J2cXWmS0sD6mVqA3bqS1gk2Qw8x9mZt4yFhPzRvLuEo")

    token: ResetToken = Field(description="What follows `#token=` in the mailed link.")


class ResetPasswordRequest(Shape):
    """A reset link and the password that it sets."""

    token: ResetToken = Field(
        description="What follows `#token=` in the mailed link. Works once, for an hour (three"
        " days in an invitation)."
    )
    new_password: NewPassword = Field(
        description="10..128 characters, not a common one and not only digits."
    )


class SocialnetAccessToken(Shape):
    """A client's own access token at socialnet. It is stored encrypted and never shown again."""

    access_token: Text = Field(
        description="The token as socialnet gave it, 1..4,000 characters.",
        min_length=1,
        max_length=4000,
        json_schema_extra={"writeOnly": True},
    )
    expires_in: int | None = Field(
        None,
        description="Seconds until it ends, at most ten years; null: it does not.",
        ge=1,
        le=315_360_000,
        examples=[5_184_000],
    )
    user_external_id: Text = Field(
        "",
        description="Id of its holder at socialnet, at most 200 characters.",
        max_length=200,
        examples=["10158"],
    )


class EmailNotificationRequest(Shape):
    """Who of a client is told what by mail. What a request leaves out keeps its value."""

    recipients: Annotated[list[Email], Field(max_length=20), AfterValidator(_once)] = Field(
        default_factory=list,
        description="E-mail addresses that are told, at most 20; none: nobody is.",
        examples=[["desk@acme.example"]],
    )
    on_assigned: bool = Field(False, description="When a chat is given to an agent.")
    on_unanswered: bool = Field(
        False, description="When a customer waits longer than unanswered_after_minutes."
    )
    on_handoff: bool = Field(False, description="When the bot hands a chat over to people.")
    on_channel_error: bool = Field(False, description="When a channel stops working.")
    on_low_credit: bool = Field(False, description="When credits run low.")
    unanswered_after_minutes: int = Field(
        15, ge=1, le=10_080, description="Minutes that a customer may wait, 1..10080 (a week)."
    )

    @classmethod
    def from_row(cls, row: models.EmailNotification) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class OAuthError(Shape):
    """A sign-in that was refused, in the words of RFC 6749 and of this API."""

    error: str = Field(description="`invalid_grant` or `unsupported_grant_type`.")
    error_description: str = Field(description="The same sentence as `detail`.")
    detail: str = Field(description="A sentence that says what to do.")
    code: str = Field(description="Stable, machine-readable kind; the same as `error`.")
    request_id: str = Field(description="Names this request in our logs; also X-Request-ID.")


class ApiKeyRequest(Shape):
    """A key to be made."""

    name: Name = Field(
        description="Says what the key is for, 1..100 characters.",
        min_length=1,
        max_length=100,
        examples=["Shop backend"],
    )
    scope: ScopeName = Field(
        "secret",
        description="`secret`: a server's key, all API-KEY operations. `public`: for a web page,"
        " one bot's widget operations, only from the bot's allowed_domain.",
        examples=["secret"],
    )
    bot_id: int | None = Field(
        None,
        description="The bot that the key speaks for. Needed for `public`; a `secret` key without"
        " one serves every bot.",
        ge=1,
        le=MAX_ID,
        examples=[None],
    )
    expires_at: Moment | None = Field(
        None,
        description="When the key ends; in the future. Null: only when revoked.",
        examples=["2030-01-01T00:00:00Z"],
    )


class ApiKeyDto(Shape):
    """A key; what it opens with is shown once, when it is made."""

    id: int = Field(description="The key's id.")
    name: str = Field(description="What the key is for.")
    scope: ScopeName = Field(description="`secret`: a server's key. `public`: a web page's.")
    bot_id: int | None = Field(description="The bot that it speaks for; null for every bot.")
    prefix: str = Field(description="The key's first 12 characters, by which it is known.")
    created_at: Moment = Field(description="When it was made.")
    last_used_at: Moment | None = Field(
        description="When it was last used, to a minute; null for never."
    )
    expires_at: Moment | None = Field(description="When it ends; null: only when revoked.")
    revoked_at: Moment | None = Field(description="When it was revoked; null while it works.")
    key: str | None = Field(description="`prefix.secret` in full when just made, else null.")

    @classmethod
    def from_row(cls, row: models.ApiKey, key: str | None = None) -> Self:
        return cls(
            id=row.pk,
            name=row.name,
            scope=models.KeyScope(row.scope).value,
            bot_id=row.bot_id,
            prefix=row.prefix,
            created_at=row.created_at,
            last_used_at=row.last_used_at,
            expires_at=row.expires_at,
            revoked_at=row.revoked_at,
            key=key,
        )


class ApiKeysResponse(Shape):
    """A page of keys, newest first, revoked ones too."""

    items: list[ApiKeyDto] = Field(description="The keys.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


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


ClockTime = Annotated[
    str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["09:00"], max_length=5)
]
ClosingTime = Annotated[
    str,
    Field(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", examples=["17:30"], max_length=5),
]
Notice = Annotated[Text, Field(max_length=2_000)]


class BusinessHours(Shape):
    """Hours of one weekday; a day may have several, a day without any is closed."""

    weekday: int = Field(ge=0, le=6, description="0 for Monday to 6 for Sunday.", examples=[0])
    opens: ClockTime = Field(description="HH:MM in the client's time zone, 00:00..23:59.")
    closes: ClosingTime = Field(
        description="HH:MM, after `opens`; from this minute on it is closed. 24:00 is the day's"
        " end: hours over midnight are two entries."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.opens >= self.closes:
            raise ValueError("must open before it closes; hours over midnight are two entries")
        return self


class ClientConfigDto(Shape):
    """How a client's chats behave."""

    client_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="The client. An update may repeat it: another than the path's is a 422.",
    )
    timezone: TimeZone = Field(
        "UTC",
        description="IANA time zone of business hours and reports.",
        examples=["Europe/Berlin"],
    )
    business_hours: list[BusinessHours] = Field(
        default_factory=list,
        max_length=70,
        description="When agents are there, replaced as a whole; hours of one day must not"
        " overlap. Empty: always.",
    )
    out_of_hours_message: dict[Language, Notice] = Field(
        default_factory=dict,
        max_length=50,
        description="Language to what customers are told outside business hours, at most 2,000"
        " characters each; replaced as a whole.",
        examples=[{"en": "We are back at nine."}],
    )
    assign_strategy: Literal["manual", "round_robin", "least_busy"] = Field(
        "manual",
        description="Who gets a chat that waits: `manual`: whoever takes it; `round_robin`: each"
        " agent in turn; `least_busy`: the agent with the fewest open chats.",
    )
    agent_capacity: int = Field(
        5, ge=1, le=1000, description="Open chats that an agent is given at most, 1..1,000."
    )
    handoff_on_request: bool = Field(
        True, description="Whether a customer who asks for a person gets one."
    )
    handoff_on_no_answer: bool = Field(
        True, description="Whether a person answers what the bot does not know."
    )
    handoff_message: dict[Language, Notice] = Field(
        default_factory=dict,
        max_length=50,
        description="Language to what customers are told at a handover, at most 2,000 characters"
        " each; replaced as a whole. Where a language is missing the platform's own words.",
        examples=[{"en": "A colleague will write to you here."}],
    )
    answer_threshold: float = Field(
        0.77,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Probability, 0..1, from which the bot answers; below it hands over.",
    )
    burst_wait_ms: int = Field(
        0,
        ge=0,
        le=60_000,
        description="Customer messages that come this close together get one reply; milliseconds,"
        " 0..60,000. 0: each its own.",
    )
    inactivity_end_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="Minutes without a message after which an open chat is ended, 0..525,600."
        " 0: never.",
    )
    reopen_window_minutes: int = Field(
        1440,
        ge=0,
        le=525_600,
        description="A customer who writes within so many minutes of the end goes on in the same"
        " chat, 0..525,600. 0: always a new one.",
    )
    first_response_target_seconds: int = Field(
        300,
        ge=1,
        le=604_800,
        description="Seconds in which a waiting customer should have an answer, 1..604,800.",
    )
    auto_summary: bool = Field(False, description="Whether ended chats are summarised.")
    auto_tag: bool = Field(False, description="Whether chats are tagged by their topics.")
    auto_sentiment: bool = Field(False, description="Whether customers' mood is estimated.")
    auto_translate: bool = Field(
        False, description="Whether messages are translated for the agents."
    )
    mask_personal_data: bool = Field(
        False, description="Whether personal data is masked before a model reads it."
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days that ended chats are kept, 1..36,500. Null: for ever.",
    )
    version: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="Grows with every change. An update that names an older one is a 409"
        " `stale_version`; left out or null, it is not compared.",
        examples=[None],
    )

    @field_validator("business_hours")
    @classmethod
    def _apart(cls, hours: list[BusinessHours]) -> list[BusinessHours]:
        hours = sorted(hours, key=lambda one: (one.weekday, one.opens))
        for earlier, later in itertools.pairwise(hours):
            if earlier.weekday == later.weekday and later.opens < earlier.closes:
                raise ValueError(f"hours of weekday {later.weekday} overlap at {later.opens}")
        return hours

    @classmethod
    def from_row(cls, row: models.ClientConfig) -> "ClientConfigDto":
        # Not validated: what an older version stored must stay readable.
        fields = {name: getattr(row, name) for name in CONFIG_FIELDS}
        hours = [BusinessHours.model_construct(**one) for one in row.business_hours]
        return cls.model_construct(
            **fields | {"business_hours": hours},
            client_id=row.client_id,
            timezone=row.client.timezone,
            version=row.version,
        )


# What a request may set in a ClientConfig's own row.
CONFIG_FIELDS = frozenset(ClientConfigDto.model_fields) - {"client_id", "timezone", "version"}
