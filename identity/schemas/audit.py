"""Schemas of the audit log."""

from typing import Any, Literal, Self

from pydantic import Field

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import MAX_ID, Moment, Schema, Text
from chatplatform.templatetags.action_words import AUDITED
from identity import models


class AuditFilter(Schema):
    """Filters for the audit log; a row must match every filter that is given."""

    action: Text | None = Field(
        None,
        max_length=60,
        description="Only this action, such as `user.role_changed`; the field `action` of the"
        " response lists all actions.",
    )
    subject: Text | None = Field(
        None, max_length=100, description="Only actions on this object, such as `user:12`."
    )
    user_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="Only actions of the person with this id, from *Get My Company Users*.",
    )
    api_key_id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="Only actions with the API key with this id, from *List Api Keys*.",
    )
    created_from: Moment | None = Field(None, description="Only from this time on.")
    created_to: Moment | None = Field(None, description="Only before this time.")


class AuditQuery(Page, AuditFilter):
    """A page of the audit log."""


class AuditExportQuery(AuditFilter):
    """Filters and format of an export of the audit log."""

    format: Literal["jsonl", "csv"] = Field(
        "jsonl", description="`jsonl`: one JSON object per line; `csv`: a table."
    )


class AuditEvent(Schema):
    """A row of the audit log: who did what to which object. It contains no secrets."""

    id: int = Field(description="The event's id; later events have larger ids.")
    action: str = Field(
        description=f"What was done, one of: {', '.join(f'`{name}`' for name in AUDITED)}; or, if"
        " another list was exported on the site, the name of its rows and `.exported`.",
        examples=["user.role_changed"],
    )
    subject: str = Field(description="The object of the action, such as `user:12`; may be empty.")
    changes: dict[str, Any] = Field(
        description="Details that depend on the action: changed fields with their old and new"
        " values, or only the names of the fields (`fields`) if the values are secret or a"
        " customer's data; numbers of rows."
    )
    user_id: int | None = Field(
        description="The id of the person who acted, as in *Get My Company Users*; null if no"
        " person did."
    )
    api_key_id: int | None = Field(
        description="The id of the API key that was used, as in *List Api Keys*; null if none was."
    )
    address: str = Field(
        description="The caller's IP address; empty for the platform itself and for public keys."
    )
    request_id: str = Field(description="The `X-Request-ID` of the request.")
    created_at: Moment = Field(description="When the action happened.")
    hash: str | None = Field(
        description="SHA-256, in hexadecimal, of the previous row's hash and this row; null if the"
        " row is not in the chain of hashes. Keep your exports: if a later export has another hash"
        " for the same row, the log was rewritten."
    )

    @classmethod
    def from_row(cls, row: models.AuditEvent) -> Self:
        link = getattr(row, "link", None)
        return cls.copy_from(row, hash=link and link.hash)


class AuditEventsResponse(ListPage[AuditEvent]):
    """A page of the audit log, newest first."""
