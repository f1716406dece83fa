"""Schemas of a client's people: their profiles, passwords and roles."""

from typing import Literal, Self

from django.conf import settings
from pydantic import Field

from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import Language, Moment, Schema, Text, read_only
from identity import models
from identity.schemas.fields import PASSWORD_RULE, Email, Name, NewPassword, PictureUrl

RoleName = Literal["owner", "admin", "agent", "viewer"]


class UserDto(Schema):
    """A person of your company."""

    id: int = read_only("The person's id, for `user_id` in paths and requests.")
    client_id: int = read_only("The id of the person's company.")
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
        " change owners; `agent`: work on conversations; `viewer`: read only.",
        examples=["agent"],
    )
    can_train: bool = Field(
        False,
        description="Whether the person may train bots regardless of role. Owners and admins always"
        " may.",
    )
    is_disabled: bool = read_only("Whether the person's account is disabled.")
    is_away: bool = read_only("Whether the person is away and takes no new conversations.")
    language: Language = Field(
        "en", description="The language of the person's pages and emails, as a BCP 47 code."
    )
    avatar_url: str | None = read_only("The person's picture, shown to customers; null: none.")
    last_login_at: Moment | None = read_only("When the person last signed in; null: never.")
    is_invited: bool = read_only(
        "Whether the person has an open invitation. Until they accept it, no conversation can be"
        " assigned to them."
    )
    created_at: Moment = read_only("When the person was added.")
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


class UserDisableFlag(Schema):
    """Whether a person is disabled."""

    is_disabled: bool = Field(
        description="true: the person is signed out everywhere and cannot sign in; false: the"
        " person can sign in again.",
        examples=[True],
    )


class UserPassword(Schema):
    """A password that an owner or an admin sets for a person."""

    password: NewPassword


class OwnUser(Schema):
    """A person's own account. Fields that are left out or null keep their value."""

    full_name: Name | None = Field(
        None,
        description="Shown to colleagues and customers, 1..200 characters.",
        examples=["Ben Reed"],
    )
    language: Language | None = Field(
        None, description="The language of your pages and emails, as a BCP 47 code."
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
    id: int = read_only("Your id.")
    client_id: int = read_only("The id of your company.")
    email: str = read_only("Your sign-in name.")
    role: str = read_only("Your role.")
    can_train: bool = read_only("Whether you may train bots regardless of role.")
    is_disabled: bool = read_only("Whether your account is disabled.")
    last_login_at: Moment = read_only("When you last signed in.")
    created_at: Moment = read_only("When you were added.")


class OwnPassword(Schema):
    """A change of your own password."""

    current_password: Text = Field(
        description="The current password; at most 128 characters.",
        max_length=128,
        examples=["correct-horse-battery"],
    )
    new_password: NewPassword


class UserRole(Schema):
    """A person's new role, and whether they may also train bots."""

    role: RoleName = Field(
        description="The person's rights. `owner` and `admin`: everything, but only owners can add"
        " or change owners; `agent`: work on conversations; `viewer`: read only.",
        examples=["agent"],
    )
    can_train: bool | None = Field(
        None, description="Whether the person may also train bots; null: unchanged."
    )
