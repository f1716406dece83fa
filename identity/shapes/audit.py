"""Shapes of the audit log."""

from typing import Any, Literal, Self

from pydantic import Field

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import MAX_ID, Moment, Shape, Text
from identity import models


class AuditFilter(Shape):
    """Which rows of the audit log; all that are given must match."""

    action: Text | None = Field(
        None, max_length=60, description="Only this action, such as `user.role_changed`."
    )
    subject: Text | None = Field(
        None, max_length=100, description="Only what was done to this, such as `user:12`."
    )
    user_id: int | None = Field(None, ge=1, le=MAX_ID, description="Only what this person did.")
    api_key_id: int | None = Field(
        None, ge=1, le=MAX_ID, description="Only what was done with this key."
    )
    created_from: Moment | None = Field(None, description="Only from this time on.")
    created_to: Moment | None = Field(None, description="Only before this time.")


class AuditQuery(Page, AuditFilter):
    """A page of the audit log."""


class AuditExportQuery(AuditFilter):
    """The audit log as a file."""

    format: Literal["jsonl", "csv"] = Field(
        "jsonl", description="A JSON object on each line, or a table."
    )


class AuditEvent(Shape):
    """A row of the audit log: who did what, to what. It holds no secret."""

    id: int = Field(description="Grows with time.")
    action: str = Field(description="What was done, such as `user.role_changed`.")
    subject: str = Field(description="To what, such as `user:12`; empty for none.")
    changes: dict[str, Any] = Field(
        description="More of it: names of changed fields, new roles, counts."
    )
    user_id: int | None = Field(description="The person who did it; null for others.")
    api_key_id: int | None = Field(description="The key it was done with; null for others.")
    address: str = Field(description="The network address it came from; empty for the platform.")
    request_id: str = Field(description="The `X-Request-ID` of the request.")
    created_at: Moment = Field(description="When it was done.")
    hash: str | None = Field(
        description="The row's link in your chain: SHA-256, in hexadecimal, of the hash before and"
        " this row. Keep exports: a later one with another hash of the same row shows that the log"
        " was rewritten."
    )

    @classmethod
    def from_row(cls, row: models.AuditEvent) -> Self:
        link = getattr(row, "link", None)
        return cls.copy_from(row, hash=link and link.hash)


class AuditEventsResponse(Shape):
    """A page of the audit log, newest first."""

    items: list[AuditEvent] = Field(description="The rows of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")
