"""Shapes of API keys."""

from typing import Literal, Self

from pydantic import Field

from chatplatform.api.shapes import MAX_ID, Moment, Shape
from identity import models
from identity.shapes.fields import Name

ScopeName = Literal["secret", "public"]


class ApiKeyRequest(Shape):
    """A key to be created."""

    name: Name = Field(
        description="Says what the key is for, 1..100 characters.",
        min_length=1,
        max_length=100,
        examples=["Shop backend"],
    )
    scope: ScopeName = Field(
        "secret",
        description="`secret`: for a server, all API-KEY operations. `public`: for a web page,"
        " one bot's widget operations, only from the bot's allowed_domain.",
        examples=["secret"],
    )
    bot_id: int | None = Field(
        None,
        description="The bot that the key is for. Required for `public`; a `secret` key without"
        " one serves every bot.",
        ge=1,
        le=MAX_ID,
        examples=[None],
    )
    expires_at: Moment | None = Field(
        None,
        description="When the key expires; in the future. Null: never.",
        examples=["2030-01-01T00:00:00Z"],
    )


class ApiKeyDto(Shape):
    """A key; its secret is shown once, when it is created."""

    id: int = Field(description="The key's id.")
    name: str = Field(description="What the key is for.")
    scope: ScopeName = Field(description="`secret`: for a server. `public`: for a web page.")
    bot_id: int | None = Field(description="The bot that the key is for; null: every bot.")
    prefix: str = Field(description="The key's first 12 characters, which identify it.")
    created_at: Moment = Field(description="When the key was created.")
    last_used_at: Moment | None = Field(
        description="When the key was last used, to the minute; null: never."
    )
    expires_at: Moment | None = Field(description="When the key expires; null: never.")
    revoked_at: Moment | None = Field(description="When the key was revoked; null: it was not.")
    key: str | None = Field(
        description="`prefix.secret` in the reply that creates the key, else null."
    )

    @classmethod
    def from_row(cls, row: models.ApiKey, key: str | None = None) -> Self:
        return cls.copy_from(row, key=key)


class ApiKeysResponse(Shape):
    """A page of keys, newest first, including revoked ones."""

    items: list[ApiKeyDto] = Field(description="The keys.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last.")
