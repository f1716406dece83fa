"""The schemas of customers and agents, and of their location."""

import uuid
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import FreeObject, Moment, Schema, Text, example, read_only
from chats import models
from identity.models import User
from identity.schemas.fields import time_zones

# An id in the caller's own system.
OwnId = Annotated[Text, Field(min_length=1, max_length=200)]


class Identity(Schema):
    """A person, with an id from the system that they come from."""

    external_id: OwnId = Field(
        description="The person's id in that system; for your team, their id in *Get My Company"
        " Users*, as a text.",
        examples=["1"],
    )
    name: Text = Field("", description="The person's name.", max_length=200)

    @classmethod
    def from_row(cls, user: User) -> "Identity":
        """A person of the client's team."""
        return cls.model_construct(external_id=str(user.pk), name=user.full_name)


def _country(text: str) -> str:
    name = " ".join(text.split())
    return name.upper() if len(name) == 2 and name.isascii() and name.isalpha() else name


def _known_zone(name: str) -> str | None:
    """None for a zone that only the browser knows: its visitor is not refused."""
    return name if name in time_zones() else None


class Location(Schema):
    """The known location of a person. Unknown fields are null or, in a message, left out."""

    # Messages are stored without the fields that are null, and shown as they are stored.
    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    country: Annotated[Text, AfterValidator(_country)] | None = Field(
        None,
        max_length=100,
        description="A country: its name in your spelling, or its two-letter code (ISO 3166-1),"
        " which is stored in capitals.",
        examples=["DE"],
    )
    region: Text | None = Field(
        None, description="The region or state; null if unknown.", max_length=100
    )
    city: Text | None = Field(None, description="The city's name; null if unknown.", max_length=100)
    timezone: Annotated[Text, Field(max_length=64), AfterValidator(_known_zone)] | None = Field(
        None,
        description="The IANA time zone, in which the platform's messages tell the time; a name"
        " that the platform does not know is left out.",
        examples=["Europe/Berlin"],
    )
    latitude: float | None = Field(
        None, ge=-90, le=90, description="Degrees north, WGS 84; only with `longitude`."
    )
    longitude: float | None = Field(
        None, ge=-180, le=180, description="Degrees east, WGS 84; only with `latitude`."
    )

    @model_validator(mode="after")
    def _has_both_or_no_degrees(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("give both latitude and longitude, or neither")
        return self

    @classmethod
    def from_stored(cls, stored: dict[str, Any] | None) -> "Location | None":
        return cls.model_construct(**stored) if stored else None


IdentitySignature = Annotated[
    Text | None,
    Field(
        max_length=64,
        description="Proves the customer's `external_id`; needed with a public key, not with a"
        " secret key. HMAC-SHA256 of the id with the bot's identity secret, in hexadecimal digits."
        " *Replace Bot Identity Secret* creates the secret; sign on your server.",
    ),
]


class CustomerInfo(Schema):
    """What is known about a customer."""

    model_config = example(
        external_id="customer-17",
        name="Cara Diaz",
        email="cara@example.com",
        attributes={"plan": "gold"},
    )

    external_id: OwnId | None = Field(
        None,
        description="The customer's id in your own system; null if there is none.",
    )
    name: Text | None = Field(
        None,
        description="The customer's name as your team sees it; null if unknown.",
        max_length=200,
    )
    email: Text | None = Field(
        None,
        description="The customer's email address; null if unknown.",
        max_length=254,
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        examples=["zoe@shop.example"],
    )
    phone: Text | None = Field(
        None, description="The phone number, stored as given; null if unknown.", max_length=40
    )
    avatar_url: Text | None = Field(
        None,
        description="The http(s) URL of the customer's picture; null if there is none.",
        max_length=500,
        pattern=r"^https?://[^\s]+$",
        examples=["https://shop.example/zoe.jpg"],
    )
    attributes: FreeObject = Field(
        default_factory=dict,
        description="Anything else that is known, as your own keys and values: at most 200 keys and"
        " 16,384 bytes of JSON in all. Send numbers above 9007199254740991 as strings.",
    )

    @classmethod
    def from_row(cls, row: models.Customer) -> Self:
        texts = ("name", "email", "phone", "avatar_url")
        return cls.copy_from(row, **{name: getattr(row, name) or None for name in texts})


class ConversationCustomer(CustomerInfo):
    """A conversation's customer."""

    email: Text | None = Field(None, description="The customer's email address; null if unknown.")
    avatar_url: Text | None = Field(
        None, description="The http(s) URL of the customer's picture; null if there is none."
    )
    provider_user_id: str | None = Field(
        None,
        description="The customer's id at the messaging channel's provider: the `recipient_id` of"
        " *Post Chatapp Messages* and similar operations. Null on other channels, and if the id"
        " belongs to someone else now.",
    )

    @classmethod
    def of_chat(cls, chat: models.Conversation) -> "ConversationCustomer":
        known = dict(CustomerInfo.from_row(chat.customer))
        return cls.model_construct(**known, provider_user_id=chat.provider_user_id or None)


class ChatCustomer(CustomerInfo):
    """Data of a conversation's customer; with a public key, an `external_id` must be signed."""

    identity_signature: IdentitySignature = None


class CustomerDto(CustomerInfo):
    """A customer of your company.

    In a request, null clears a field; fields left out keep their values.
    """

    id: int = read_only("The customer's id on the platform.", path="customer_id")
    blocked_until: Moment | None = Field(
        None,
        description="Until this time, what the customer sends (messages, ratings, data about"
        " themselves) is refused with `customer_blocked` on the website and in the API, and ignored"
        " on messaging channels. Null or a time in the past: not blocked. To block indefinitely,"
        " send `9999-01-01T00:00:00Z`.",
    )
    block_reason: Text | None = Field(
        None,
        max_length=300,
        description="Why the customer is blocked, for your team; the customer never sees it. It is"
        " removed together with the block. Null if none was given.",
    )
    opt_out: Literal["none", "offers", "all"] = read_only(
        "What the customer has opted out of. `none`: nothing. `offers`: offers, in their messaging"
        " app; no marketing template is sent to them. `all`: all messages, by writing STOP; no"
        " template is sent to them, and the bot is silent until they write again."
    )
    created_at: Moment = read_only("When the customer was created.")


class CustomersQuery(Page):
    """Filters of customers."""

    q: Text | None = Field(
        None,
        description="A part of the name, email address, phone number or external id. Without"
        " three letters or digits in a row, it matches only the beginning of one of these.",
        min_length=1,
        max_length=200,
    )
    external_id: OwnId | None = Field(None, description="Only the customer with this external id.")


class CustomersResponse(ListPage[CustomerDto]):
    """A page of customers."""


class CustomerErasure(Schema):
    """The erasure of a customer, with its progress."""

    id: uuid.UUID = Field(description="The erasure's id, a UUIDv7.")
    customer_id: int = Field(description="The customer's id on the platform.")
    status: Literal["queued", "running", "done", "failed"] = Field(
        description="`queued`: not begun. `running`: in progress. `done`: everything is erased."
        " `failed`: stopped early after erasing a part; request the erasure again."
    )
    chats_total: int = Field(
        description="How many conversations the customer had when the erasure was requested."
    )
    chats_erased: int = Field(description="How many conversations have been erased so far.")
    created_at: Moment = Field(description="When the erasure was requested.")
    finished_at: Moment | None = Field(description="When the erasure ended; null until then.")
