"""The shapes of people, customers and agents, and of their location."""

import uuid
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import FreeObject, Moment, Shape, Text, example, read_only
from chats import models
from identity.models import User


class Identity(Shape):
    """A person, by the id that its own system uses."""

    external_id: Text = Field(
        description="The id in the system it comes from.", min_length=1, max_length=200
    )
    name: Text = Field("", description="What to call the person.", max_length=200)

    @classmethod
    def from_row(cls, user: User) -> "Identity":
        """One of a client's people."""
        return cls.model_construct(external_id=str(user.pk), name=user.full_name)


def _country(text: str) -> str:
    name = " ".join(text.split())
    return name.upper() if len(name) == 2 and name.isascii() and name.isalpha() else name


class Location(Shape):
    """Where a person is, as far as it is known."""

    country: Annotated[Text, AfterValidator(_country)] | None = Field(
        None,
        max_length=100,
        description="A country, in your own words or by its two-letter code (ISO 3166-1), which is"
        " stored in capitals.",
        examples=["DE"],
    )
    region: Text | None = Field(None, description="Region or state.", max_length=100)
    city: Text | None = Field(None, description="City.", max_length=100)
    latitude: float | None = Field(None, ge=-90, le=90, description="Degrees north, WGS 84.")
    longitude: float | None = Field(None, ge=-180, le=180, description="Degrees east, WGS 84.")


IdentitySignature = Annotated[
    Text | None,
    Field(
        max_length=64,
        description="From a page: proves the customer's `external_id`. HMAC-SHA256 of the id, by"
        " the bot's identity secret, in hexadecimal digits. Not needed with a secret key.",
    ),
]


class CustomerInfo(Shape):
    """A customer, as far as the caller knows."""

    model_config = example(
        external_id="customer-17",
        name="Cara Diaz",
        email="cara@example.com",
        attributes={"plan": "gold"},
    )

    external_id: Text | None = Field(
        None,
        description="The customer's id in your own system. A known id joins the same customer. From"
        " a page only together with the `identity_signature`: nothing else proves who its visitor"
        " is.",
        min_length=1,
        max_length=200,
    )
    name: Text | None = Field(None, description="Name.", max_length=200)
    email: Text | None = Field(
        None, description="E-mail address.", max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
    )
    phone: Text | None = Field(None, description="Phone number as given.", max_length=40)
    avatar_url: Text | None = Field(
        None, description="Picture, an http(s) URL.", max_length=500, pattern=r"^https?://[^\s]+$"
    )
    attributes: FreeObject = Field(
        default_factory=dict,
        description="Anything else you know: free keys and values, at most 200 and 16,384 bytes of"
        " JSON in all; numbers up to 9007199254740991 (others as strings).",
    )

    @classmethod
    def from_row(cls, row: models.Customer) -> "CustomerInfo":
        return cls.model_construct(
            external_id=row.external_id,
            name=row.name or None,
            email=row.email or None,
            phone=row.phone or None,
            avatar_url=row.avatar_url or None,
            attributes=row.attributes,
        )


class ChatCustomer(CustomerInfo):
    """A chat's customer, as far as the caller knows."""

    identity_signature: IdentitySignature = None


class CustomerDto(CustomerInfo):
    """A customer of the client. In a request, fields left out keep their value; null clears one."""

    id: int | None = read_only("The customer's number.", path="customer_id")
    created_at: Moment | None = read_only("When the customer first came.")

    @classmethod
    def from_row(cls, row: models.Customer) -> "CustomerDto":
        known = dict(CustomerInfo.from_row(row))
        return cls.model_construct(**known, id=row.pk, created_at=row.created_at)


class CustomersQuery(Page):
    """Which customers."""

    q: Text | None = Field(
        None,
        description="A part of the name, the e-mail address, the phone number or the external id;"
        " if no three letters or digits stand together in it, the beginning of one.",
        min_length=1,
        max_length=200,
    )
    external_id: Text | None = Field(
        None, description="With exactly this id of your own system.", min_length=1, max_length=200
    )


class CustomersResponse(Shape):
    """A page of customers."""

    items: list[CustomerDto] = Field(description="The customers, the newest first.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class CustomerErasure(Shape):
    """An erasure of a customer, and how far it is."""

    id: uuid.UUID = Field(description="UUIDv7.")
    customer_id: int = Field(description="The customer's number.")
    status: Literal["queued", "running", "done", "failed"] = Field(
        description="`failed`: stopped early, with part of it done; ask again."
    )
    chats_total: int = Field(description="The customer's chats when it was asked for.")
    chats_erased: int = Field(description="Chats erased so far.")
    created_at: Moment = Field(description="When it was asked for.")
    finished_at: Moment | None = Field(description="When it ended; null before.")

    @classmethod
    def from_row(cls, row: models.CustomerErasure) -> Self:
        return cls.copy_from(row)
