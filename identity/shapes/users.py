"""Shapes of a client's people."""

from typing import Literal, Self

from pydantic import Field

from chatplatform.api.shapes import Language, Moment, Shape, Text, read_only
from identity import models
from identity.shapes.fields import Email, Name, NewPassword

RoleName = Literal["owner", "admin", "agent", "viewer"]


class UserDto(Shape):
    """One of a client's people."""

    id: int | None = read_only("The user's id.")
    client_id: int | None = read_only("The client that the person belongs to.")
    email: Email = Field(
        description="The sign-in name; unique on the platform, stored in lower case, at most 254"
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
        description="The person's rights: `owner` and `admin`: everything; `agent`: chats;"
        " `viewer`: reading.",
        examples=["agent"],
    )
    is_disabled: bool | None = read_only("Whether the person is refused.")
    language: Language = Field(
        "en", description="BCP 47 language of the person's screens and mails."
    )
    last_login_at: Moment | None = read_only("When the person last signed in; null: never.")
    created_at: Moment | None = read_only("When the person was added.")
    password: Text | None = Field(
        None,
        description="10..128 characters, not a common password. In a request only, never in a"
        " reply. Left out: the person is mailed a link to choose one.",
        min_length=10,
        max_length=128,
        exclude=True,
        json_schema_extra={"writeOnly": True},
        examples=["correct-horse-battery"],
    )

    @classmethod
    def from_row(cls, row: models.User) -> Self:
        return cls.copy_from(row, last_login_at=row.last_login)


class UsersResponse(Shape):
    """A page of a client's people, in the order in which they were added."""

    items: list[UserDto] = Field(description="The people, including disabled ones.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last.")


class UserDisableFlag(Shape):
    """Whether a person is disabled."""

    is_disabled: bool = Field(
        description="True ends all the person's tokens at once; false allows signing in again.",
        examples=[True],
    )


class UserPassword(Shape):
    """A password that an admin sets for a person."""

    password: NewPassword = Field(
        description="10..128 characters, not a common password and not only digits."
    )


class UserRole(Shape):
    """A person's new role."""

    role: RoleName = Field(
        description="The person's rights: `owner` and `admin`: everything; `agent`: chats;"
        " `viewer`: reading. Only an owner makes or changes owners.",
        examples=["agent"],
    )
