"""Shapes of sign-ins, and of access tokens at messaging channels."""

from typing import Literal

from pydantic import Field, field_validator

from chatplatform.api.shapes import Shape, Text


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
        description="The person's e-mail address; required for `password`.",
        max_length=254,
        examples=["ann@acme.example"],
    )
    password: Text | None = Field(
        None,
        description="Required for `password`; at most 128 characters.",
        max_length=128,
        examples=["correct-horse-battery"],
    )
    refresh_token: Text | None = Field(
        None, description="From the last reply; required for `refresh_token`.", max_length=200
    )
    scope: Text | None = Field(
        None, description="Accepted and ignored: the role decides.", max_length=200
    )
    client_id: Text | None = Field(None, description="Accepted and ignored.", max_length=200)
    client_secret: Text | None = Field(None, description="Accepted and ignored.", max_length=200)

    @field_validator("grant_type")
    @classmethod
    def _left_empty(cls, value: str) -> str:
        return value or "password"


class TokenResponse(Shape):
    """An access token, and a refresh token for the next one."""

    access_token: str = Field(description="Send it as `Authorization: Bearer …`.")
    token_type: Literal["bearer"] = Field(description="How to send the access token.")
    expires_in: int = Field(description="Seconds until the access token expires.")
    refresh_token: str = Field(
        description="Exchanged for the next pair, once; a second use ends the whole sign-in."
    )
    scope: str = Field(description="The person's role.")


class OAuthError(Shape):
    """A refused sign-in, with the fields of RFC 6749 and of this API."""

    error: str = Field(description="`invalid_grant` or `unsupported_grant_type`.")
    error_description: str = Field(description="The same sentence as `detail`.")
    detail: str = Field(description="A sentence for people that says what to do.")
    code: str = Field(description="Stable, machine-readable code; the same as `error`.")
    request_id: str = Field(
        description="Identifies this request in our logs; also in X-Request-ID."
    )


class SocialnetAccessToken(Shape):
    """A client's own access token at socialnet. It is stored encrypted and never returned."""

    access_token: Text = Field(
        description="The token as issued by socialnet, 1..4,000 characters.",
        min_length=1,
        max_length=4000,
        json_schema_extra={"writeOnly": True},
    )
    expires_in: int | None = Field(
        None,
        description="Seconds until the token expires, at most ten years; null: it does not.",
        ge=1,
        le=315_360_000,
        examples=[5_184_000],
    )
    user_external_id: Text = Field(
        "",
        description="Id of the token's user at socialnet, at most 200 characters.",
        max_length=200,
        examples=["10158"],
    )
