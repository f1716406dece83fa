"""The newest log entries about a row, for its page: `{% activity_of page row as activity %}`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from django import template
from django.http import HttpRequest

register = template.Library()
# The maximum number of entries that a row's page shows; the logs contain all entries.
MAX_ENTRIES = 10


@dataclass(frozen=True)
class Entry:
    """A log entry: when it happened, what happened, and who did it, if known."""

    at: datetime
    text: str
    by: str = ""
    details: str = ""


@runtime_checkable
class LogPage(Protocol):
    """A list page of a log, whose rows record what happened to other rows."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool: ...

    def about(self, subject: str, row: Any) -> Iterable[Entry]:
        """The newest entries about a row, at most `MAX_ENTRIES`."""

    def link_to(self, subject: str, row: Any) -> tuple[str, str] | None:
        """The text and URL of a link to all entries about a row; None if there is no such list."""


@dataclass(frozen=True)
class Activity:
    entries: list[Entry]
    links: list[tuple[str, str]]


@register.simple_tag(takes_context=True)
def activity_of(context: Any, page: Any, row: Any) -> Activity | None:
    """The entries about a row in the logs that the viewer may read; None if they may read none, or
    if the row belongs to a log itself."""
    request, pages = context["request"], page.admin_site._registry.values()
    logs = [
        item for item in pages if isinstance(item, LogPage) and item.has_view_permission(request)
    ]
    if not logs or isinstance(page, LogPage):
        return None
    subject = page.audit_subject(row)
    entries = [entry for log in logs for entry in log.about(subject, row)]
    entries.sort(key=lambda entry: entry.at, reverse=True)
    links = [link for log in logs if (link := log.link_to(subject, row))]
    return Activity(entries[:MAX_ENTRIES], links)


def client_id_of(row: Any) -> int | None:
    """The id of the row's client, or of the row if it is a client; None for the platform's rows."""
    own_id = row.pk if row._meta.label == "identity.Client" else None
    client_id: int | None = getattr(row, "client_id", own_id)
    return client_id
