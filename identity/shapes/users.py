"""Shapes of a client's people: sign-ins, passwords and roles."""

from typing import Annotated, Literal, Self

from django.conf import settings
from pydantic import ConfigDict, Field, field_validator

from chatplatform.api.pagination import ListPage
from chatplatform.api.shapes import Language, Moment, Shape, Text, example, read_only
from identity import models
from identity.shapes.fields import PASSWORD_RULE, Email, Name, NewPassword, PictureUrl

RoleName = Literal["owner", "admin", "agent", "viewer"]
ResetToken = Annotated[Text, Field(min_length=1, max_length=200)]


class UserDto(Shape):
    """A person of your company."""

    id: int | None = read_only("The user's id.")
    client_id: int | None = read_only("The id of the person's company.")
    email: Email = Field(
        description="The sign-in name; unique on the platform, stored in lower case, at most 254"
        " characters.",
        examples=["ben@acme.example"],
    )
    full_name: Name = Field(
        description="Shown to colleagues and customers, 1..200 characters.",
        examples=["Ben Reed"],
    )
    role: RoleName = Field(
        "agent",
        description="The person's rights. `owner` and `admin`: everything, but only owners can"
        " change owners; `agent`: work on chats; `viewer`: read only.",
        examples=["agent"],
    )
    can_train: bool = Field(
        False,
        description="Whether the person may train bots regardless of role. Owners and admins always"
        " may.",
    )
    is_disabled: bool | None = read_only("Whether the person's account is disabled.")
    is_away: bool | None = read_only("Whether the person is away and takes no new conversations.")
    language: Language = Field(
        "en", description="The language of the person's pages and mails, as a BCP 47 code."
    )
    avatar_url: str | None = read_only("The person's picture, shown to customers; null: none.")
    last_login_at: Moment | None = read_only("When the person last signed in; null: never.")
    is_invited: bool | None = read_only(
        "Whether the person has an open invitation. Until they accept it, no conversation can be"
        " assigned to them."
    )
    created_at: Moment | None = read_only("When the person was added.")
    password: Text | None = Field(
        None,
        description=f"{PASSWORD_RULE} If left out, the person is mailed a link to choose one.",
        min_length=settings.MIN_PASSWORD,
        max_length=128,
        exclude=True,
        json_schema_extra={"writeOnly": True},
        examples=["correct-horse-battery"],
    )

    @classmethod
    def from_row(cls, row: models.User) -> Self:
        return cls.copy_from(row, avatar_url=row.picture_url or None, last_login_at=row.last_login)


class UsersResponse(ListPage[UserDto]):
    """A page of your company's people, including disabled ones, in the order they were added."""


class UserDisableFlag(Shape):
    """Whether a person is disabled."""

    is_disabled: bool = Field(
        description="true: the person is signed out everywhere and cannot sign in; false: the"
        " person can sign in again.",
        examples=[True],
    )


class UserPassword(Shape):
    """A password that an owner or an admin sets for a person."""

    password: NewPassword


class OwnUser(Shape):
    """A person's own account. Fields that are left out or null keep their value."""

    full_name: Name | None = Field(
        None,
        description="Shown to colleagues and customers, 1..200 characters.",
        examples=["Ben Reed"],
    )
    language: Language | None = Field(
        None, description="The language of your pages and mails, as a BCP 47 code."
    )
    avatar_url: PictureUrl | None = Field(
        None,
        description="URL (http or https) of your picture, shown to customers; empty: none.",
        examples=["https://acme.example/ben.jpg"],
    )
    is_away: bool | None = Field(
        None,
        description="Whether you are away. If true, no conversation is assigned to you"
        " automatically, you are not notified of waiting ones, and `agents_online` does not count"
        " you. Your conversations stay yours, and you are still notified of their messages and of"
        " mentions.",
        examples=[False],
    )
    id: int | None = read_only("Your id.")
    client_id: int | None = read_only("The id of your company.")
    email: str | None = read_only("Your sign-in name.")
    role: str | None = read_only("Your role.")
    can_train: bool | None = read_only("Whether you may train bots regardless of role.")
    is_disabled: bool | None = read_only("Whether your account is disabled.")
    last_login_at: Moment | None = read_only("When you last signed in.")
    created_at: Moment | None = read_only("When you were added.")


class OwnPassword(Shape):
    """A change of your own password."""

    current_password: Text = Field(
        description="The current password; at most 128 characters.",
        max_length=128,
        examples=["correct-horse-battery"],
    )
    new_password: NewPassword


class UserRole(Shape):
    """A person's new role, and whether they may also train bots."""

    role: RoleName = Field(
        description="The person's rights. `owner` and `admin`: everything, but only owners can add"
        " or change owners; `agent`: work on chats; `viewer`: read only.",
        examples=["agent"],
    )
    can_train: bool | None = Field(
        None, description="Whether the person may also train bots; null: unchanged."
    )


class RevokeTokenRequest(Shape):
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


class Body_login_for_access_token2_identity_token2_post(Shape):  # noqa: N801 - the document's name
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
        description="The token from the previous response; required if `grant_type` is"
        " `refresh_token`.",
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


class TokenResponse(Shape):
    """An access token, and a refresh token for the next one."""

    access_token: str = Field(description="Send it as `Authorization: Bearer …`.")
    token_type: Literal["bearer"] = Field(description="Always `bearer`.")
    expires_in: int = Field(description="Seconds until the access token expires.")
    refresh_token: str = Field(
        description="Can be exchanged once for the next pair; a second use ends the whole sign-in."
    )
    scope: str = Field(
        description="The person's role, and `mcp:write` if the access token has that scope."
    )


class ForgotPasswordRequest(Shape):
    """The account with the forgotten password."""

    email: Email = Field(
        description="The person's email address; at most 254 characters.",
        examples=["ben@acme.example"],
    )


class VerifyResetTokenRequest(Shape):
    """The token of a reset link, to check before a form is shown."""

    model_config = example(token="J2cXWmS0sD6mVqA3bqS1gk2Qw8x9mZt4yFhPzRvLuEo")

    token: ResetToken = Field(description="The text after `#token=` in the mailed link.")


class ResetPasswordRequest(Shape):
    """The token of a reset link, and the new password."""

    token: ResetToken = Field(
        description="The text after `#token=` in the mailed link. Works once, within an hour (three"
        " days for an invitation)."
    )
    new_password: NewPassword
