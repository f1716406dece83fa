"""Schemas of clients: their plans, API keys and tokens at messaging channels."""

import uuid
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import (
    MAX_ID,
    Language,
    Moment,
    Schema,
    Text,
    example,
    read_only,
    without_default,
)
from identity import models
from identity.schemas.fields import Email, KeyName, Name, NewPassword, TimeZone

ScopeName = Literal["secret", "public"]


class SubscriptionDto(Schema):
    """A company's plan and its credits."""

    plan: Literal["trial", "standard", "unlimited"] = Field(
        description="`trial`: ends with its period. `standard`: gets `credits_included` in each"
        " period. `unlimited`: calls are counted, and never refused for lack of credits."
    )
    credits_included: int = Field(description="Credits that the plan grants in each period.")
    credits_left: int = Field(
        description="Credits that can be used now, 0 or more: grants and top-ups, minus credits"
        " used and credits reserved by running AI calls. On the plan `unlimited`, this is what is"
        " left of earlier grants and top-ups: it falls to 0 and stays there, and calls go on."
    )
    credits_used: int = Field(
        description="Credits used in this period, including those reserved by running AI calls; 0"
        " or more."
    )
    period_start: Moment = Field(description="When the period began.")
    period_end: Moment | None = Field(description="When the period ends; null if it has no end.")
    is_active: bool = Field(
        description="Whether credits can be used; false once a trial or the plan has ended."
    )


Amount = Annotated[int, Field(strict=True, ge=1, le=1_000_000, examples=[5000])]
Reference = Annotated[Name, Field(examples=["INV-2031"])]


class TopUpAmount(Schema):
    """An order for credits."""

    amount: Amount = Field(description="How many credits to buy, 1..1,000,000.")
    reference: Reference = Field(
        description="Your reference for the purchase, such as an invoice number; 1..200 characters."
        " Repeating it returns the existing order."
    )


class CreditOrder(Schema):
    """An order for credits, which can be used once the order is paid."""

    id: uuid.UUID = Field(description="The order's id.")
    amount: int = Field(description="How many credits were ordered.")
    reference: str = Field(description="Your reference for the purchase.")
    status: Literal["pending", "paid", "refused"] = Field(
        description="`pending`: not paid yet; `paid`: the credits were added; `refused`: the order"
        " was rejected and adds no credits."
    )
    created_at: Moment = Field(description="When the credits were ordered.")


class CreditOrdersResponse(ListPage[CreditOrder]):
    """A page of your company's orders, newest first."""


class CreditPayment(Schema):
    """A payment provider's report about an order."""

    model_config = example(
        order_id="019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e",
        amount=5000,
        reference="INV-2031",
        status="paid",
    )

    order_id: uuid.UUID = Field(description="The order's id; 404 if there is none.")
    amount: Amount = Field(
        description="The order's amount in credits, not money; 409 `payment_differs` if it differs."
    )
    reference: Reference = Field(
        description="The order's reference; 409 `payment_differs` if it differs."
    )
    status: Literal["paid", "refused"] = Field(
        description="`paid`: the credits are added, once; `refused`: the order is closed without"
        " adding credits."
    )


class ClientDto(Schema):
    """A company on the platform."""

    id: int = Field(description="The company's id, for paths with `client_id`.")
    name: str = Field(description="The company's name, 1..200 characters.", examples=["Delta"])
    code: str = Field(description="The name as a slug, unique on the platform.", examples=["delta"])
    default_language: Language = Field(
        description="The language that is used if no other is given, as a BCP 47 code."
    )
    timezone: str = Field(
        description="The company's IANA time zone: reports and business hours use it.",
        examples=["Asia/Ho_Chi_Minh"],
    )
    is_disabled: bool = Field(
        description="Whether the company is disabled: its people and keys are refused.",
    )
    subscription: SubscriptionDto = Field(description="The company's plan and credits.")
    created_at: Moment = Field(description="When the company was registered.")

    @classmethod
    def from_row(cls, row: models.Client) -> Self:
        return cls.copy_from(row, subscription=SubscriptionDto.copy_from(row.subscription))


class ClientChange(Schema):
    """What the platform's staff may change about a company."""

    name: Name = Field(description="The company's name.")
    code: str = Field(
        description="The name as a slug, unique on the platform.",
        pattern="^[-a-zA-Z0-9_]+$",
        max_length=60,
    )
    default_language: Language = Field(
        description="The language that is used if no other is given, as a BCP 47 code."
    )
    timezone: TimeZone = Field(
        description="The company's IANA time zone: reports and business hours use it.",
        examples=["Asia/Ho_Chi_Minh"],
    )
    is_disabled: bool = Field(
        description="Whether the company is disabled: its people and keys are refused.",
    )
    rate_limit_factor: float = Field(
        1,
        description="Multiplies the rate limits of its people and keys.",
        ge=0.01,
        le=100,
    )


class CompanyName(Schema):
    """What a company's own people may change about it besides its settings."""

    name: Name = Field(description="The company's name.")


class CompanyDto(Schema):
    """A new company, and its owner."""

    company_name: Name = Field(
        description="The company's name, 1..200 characters.",
        examples=["Acme"],
    )
    full_name: Name = Field(
        description="Name of the owner, 1..200 characters.",
        examples=["Ann Lee"],
    )
    email: Email = Field(
        description="The owner's sign-in name; at most 254 characters.",
        examples=["ann@acme.example"],
    )
    language: Language = Field(
        "en",
        description="The language of the company and its owner, as a BCP 47 code.",
    )
    timezone: TimeZone = Field(
        "UTC", description="IANA time zone of the company.", examples=["Europe/Berlin"]
    )


class RegisterTrialDto(CompanyDto):
    """A company that registers for a trial, and its owner."""

    password: NewPassword


class RegistrationPending(Schema):
    """A registration to confirm by email. The response is the same for every address."""

    status: Literal["unconfirmed"] = Field(
        "unconfirmed", description="Always `unconfirmed`: the company does not exist yet."
    )


class ConfirmRegistrationRequest(Schema):
    """Proves that the person who registered can read the mailbox."""

    token: Text = Field(
        description="The token in the mailed link.",
        min_length=1,
        max_length=200,
        examples=["x" * 43],
    )
    password: Text = Field(
        description="The password given at the registration.",
        min_length=1,
        max_length=128,
        examples=["correct-horse-battery"],
    )


class ResendRegistrationRequest(Schema):
    """The registration for which a new link is mailed."""

    email: Email = Field(
        description="The email address given at the registration.",
        examples=["ann@acme.example"],
    )


RequestsPerMinute = Annotated[int, Field(ge=1, le=1_000_000)]
MAX_DAILY_CREDITS = 1_000_000_000
DailyCredits = Annotated[int, Field(ge=0, le=MAX_DAILY_CREDITS)]
LOWER_LIMIT: Any = Field(
    None,
    description="The maximum number of requests per minute with the key, if lower than the usual"
    " limit of its scope, which the header `RateLimit-Policy` of responses shows; a higher number"
    " changes nothing. Null: the usual limit.",
    examples=[600],
)
DAILY_CAP: Any = Field(
    None,
    description="Only for a `public` key, otherwise 422: how many credits conversations started"
    " with it may use in a day (UTC), for replies and for automatic translations, summaries, tags"
    " and sentiment. Once they are used up, the bot hands over and the automatic tasks are"
    " skipped. Null: no cap.",
    examples=[None],
)


MCP_WRITE: Any = Field(
    False,
    description="Only for a `secret` key, otherwise 422 for true: whether MCP clients may also"
    " message customers with it.",
    examples=[False],
)


class ApiKeyRequest(Schema):
    """The key to create."""

    name: KeyName = Field(
        description="What the key is for, 1..100 characters.",
        examples=["Shop backend"],
    )
    scope: ScopeName = Field(
        "secret",
        description="`secret`: for a server, which may call all operations that take an API key."
        " `public`: for a website, which may call the widget's operations for one bot, in browsers"
        " only on the bot's `allowed_domain`.",
        examples=["secret"],
    )
    bot_id: int | None = Field(
        None,
        description="The id of the bot that the key is for, from *Get All Bot*. Required for"
        " `public`; a `secret` key without one works for every bot.",
        ge=1,
        le=MAX_ID,
        examples=[None],
    )
    expires_at: Moment | None = Field(
        None,
        description="When the key expires; in the future. Null: never.",
        examples=["2030-01-01T00:00:00Z"],
    )
    requests_per_minute: RequestsPerMinute | None = LOWER_LIMIT
    daily_credits: DailyCredits | None = DAILY_CAP
    mcp_write: bool = MCP_WRITE


class ApiKeyDto(Schema):
    """An API key."""

    keeps_values = True
    id: int = read_only("The key's id.", path="api_key_id")
    name: KeyName = Field(
        "",
        description="What the key is for, 1..100 characters.",
        examples=["Shop backend"],
        json_schema_extra=without_default,
    )
    scope: ScopeName = read_only("`secret`: for a server. `public`: for a website.")
    bot_id: int | None = read_only("The id of the bot that the key is for; null: every bot.")
    prefix: str = read_only("The key's first 12 characters, which identify it.")
    created_at: Moment = read_only("When the key was created.")
    last_used_at: Moment | None = read_only(
        "When the key was last used, to the minute; null: never."
    )
    expires_at: Moment | None = read_only("When the key expires; null: never.")
    revoked_at: Moment | None = read_only("When the key was revoked; null: it is not revoked.")
    requests_per_minute: RequestsPerMinute | None = LOWER_LIMIT
    daily_credits: DailyCredits | None = DAILY_CAP
    mcp_write: bool = MCP_WRITE
    key: str | None = read_only(
        "The whole key, `prefix.secret`, in the response that creates it; otherwise null."
    )

    @classmethod
    def from_row(cls, row: models.ApiKey, key: str | None = None) -> Self:
        return cls.copy_from(row, key=key)


class ApiKeysResponse(ListPage[ApiKeyDto]):
    """A page of keys, newest first, including revoked ones."""


class SocialnetAccessToken(Schema):
    """A person's access token from socialnet's login, through which photoapp and chatapp accounts
    are connected too. It is stored encrypted and never returned."""

    access_token: Text = Field(
        description="The user access token that a person got by socialnet's login with the"
        " platform's app (also for photoapp and chatapp): 1..4,000 visible ASCII characters. It is"
        " not checked until it is used. *Store User Token* says where it comes from, and names the"
        " permissions that it needs.",
        min_length=1,
        max_length=4000,
        pattern=r"^[\x21-\x7e]+$",
        json_schema_extra={"writeOnly": True},
    )
    expires_in: int | None = Field(
        None,
        description="Seconds until the token expires, at most ten years; null: it does not expire.",
        ge=1,
        le=315_360_000,
        examples=[5_184_000],
    )
    user_external_id: Text = Field(
        "",
        description="The id of the token's user at socialnet, at most 200 characters; only stored.",
        max_length=200,
        examples=["10158"],
    )
