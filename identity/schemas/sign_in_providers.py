"""Schemas of a client's own OpenID provider."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field

from chatplatform.api.schemas import InRequest, Moment, Schema, Text, Uri, example, read_only
from identity.models import SignInProvider

Domain = Annotated[
    Text,
    Field(max_length=253, pattern=r"^([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+$", examples=["acme.example"]),
    AfterValidator(str.lower),
]


class SignInProviderDto(Schema):
    """The OpenID provider with which your company's people sign in to the site."""

    keeps_values = True
    model_config = example(
        issuer="https://login.acme.example",
        application_id="chat-platform",
        application_secret="6b1f0c7d",
        email_domains=["acme.example"],
    )

    issuer: Annotated[Text, InRequest("422 unless it is https at a public host.")] = Field(
        max_length=500,
        pattern=r"^https?://[^\s?#]+$",
        description="The provider's issuer, exactly as in its tokens. The platform reads"
        " `/.well-known/openid-configuration` under this URL.",
    )
    application_id: Text = Field(
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="What the provider calls `client_id`.",
    )
    application_secret: Text | None = Field(
        None,
        exclude=True,
        min_length=1,
        max_length=500,
        pattern=r"^[\x21-\x7e]+$",
        description="What the provider calls `client_secret`; stored encrypted and never shown. If"
        " left out, the stored secret is kept, but a new issuer needs a secret (422).",
        json_schema_extra={"writeOnly": True},
    )
    email_domains: list[Domain] = Field(
        min_length=1,
        max_length=50,
        description="1..50 domains. For the first sign-in at the provider, a person needs a"
        " verified email address in one of them.",
        examples=[["acme.example"]],
    )
    is_required: bool = Field(
        False,
        description="Whether people can sign in only at the provider; current sign-ins do not end."
        " Owners can always use their password, so that a failing provider does not lock the"
        " company out.",
    )
    creates_agents: bool = Field(
        False,
        description="Whether people without an account are added as agents when they sign in.",
    )
    admits_owners: bool = read_only(
        "Whether owners can sign in at the provider: true if an owner made the latest change."
    )
    sign_in_url: Uri = read_only("The link for your company's people to sign in.")
    redirect_url: Uri = read_only("The redirect URL to enter at the provider.")
    updated_at: Moment = read_only("When the provider's settings were last changed.")

    @classmethod
    def from_row(cls, row: SignInProvider, *, sign_in_url: str, redirect_url: str) -> Self:
        return cls.copy_from(row, sign_in_url=sign_in_url, redirect_url=redirect_url)
