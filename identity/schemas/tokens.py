"""Schemas of sign-ins and their tokens."""

from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from chatplatform.api.schemas import Schema, Text


class RevokeTokenRequest(Schema):
    """The token to revoke, as a form of RFC 7009."""

    token: Text = Field(
        "", description="The access or refresh token; left out: the one in `Authorization`.",
        max_length=2000,
    )  # fmt: skip
    token_type_hint: Literal["access_token", "refresh_token"] | None = Field(
        None,
        description="The kind of `token`; ignored, since the platform recognizes both.",
    )
    client_id: Text | None = Field(
        None, max_length=200, description="Ignored; OAuth clients send it."
    )


class Body_login_for_access_token2_identity_token2_post(Schema):  # noqa: N801 - the document's name
    """A sign-in, or the exchange of a refresh token. Unknown parameters are ignored (RFC 6749)."""

    model_config = ConfigDict(extra="ignore")

    grant_type: Text = Field(
        "password",
        description="`password` or `refresh_token`; any other is a 400 `unsupported_grant_type`.",
        max_length=60,
        examples=["password"],
    )
    username: Text | None = Field(
        None,
        description="The person's email address; required if `grant_type` is `password`.",
        max_length=254,
        examples=["ann@acme.example"],
    )
    password: Text | None = Field(
        None,
        description="Required if `grant_type` is `password`; at most 128 characters.",
        max_length=128,
        examples=["correct-horse-battery"],
    )
    otp: Text | None = Field(
        None,
        description="A code of the person's second factor, or a recovery code. Required with a"
        " password if the person has a second factor; otherwise 401 `otp_required`.",
        max_length=40,
        examples=["492039"],
    )
    refresh_token: Text | None = Field(
        None,
        description="The `refresh_token` of the previous response, valid once and for 14 days;"
        " required if `grant_type` is `refresh_token`.",
        max_length=200,
    )
    scope: Text | None = Field(
        None,
        description="At a sign-in: `mcp:write` to let MCP clients message customers with the access"
        " tokens. At a refresh: left out, the scope of the sign-in is kept; it cannot be extended."
        " Other scopes are ignored, since rights follow from the role.",
        max_length=200,
    )
    client_id: Text | None = Field(
        None, description="Ignored; OAuth clients send it.", max_length=200
    )
    client_secret: Text | None = Field(
        None, description="Ignored; OAuth clients send it.", max_length=200
    )

    @field_validator("grant_type")
    @classmethod
    def _default_if_empty(cls, value: str) -> str:
        return value or "password"


class TokenResponse(Schema):
    """An access token, and a refresh token for the next one."""

    access_token: str = Field(
        description="Send it as `Authorization: Bearer …`.", examples=["eyJhbGciOiJIUzI1NiJ9.e30.x"]
    )
    token_type: Literal["bearer"] = Field(description="Always `bearer`.")
    expires_in: int = Field(
        description="Seconds until the access token expires, such as 1800 (half an hour)."
    )
    refresh_token: str = Field(
        description="Can be exchanged once, within 14 days, for the next pair (*Login For Access"
        " Token2*); a second use ends the whole sign-in.",
        examples=["7Zq0h3J8"],
    )
    scope: str = Field(
        description="The person's role, and `mcp:write` if the access token has that scope.",
        examples=["owner"],
    )
