"""What happened to a row: the entries about it in the site's logs, on the page of the row."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from django.http import HttpRequest

# Entries on a page; the logs have all of them.
MOST_SHOWN = 10


@dataclass(frozen=True)
class Entry:
    """Something that happened: when, what, and who did it, as far as that is known."""

    at: datetime
    words: str
    by: str = ""
    details: str = ""


@runtime_checkable
class LogPage(Protocol):
    """A page whose rows say what happened to the rows of other pages."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool: ...

    def about(self, subject: str, row: Any) -> Iterable[Entry]:
        """The newest entries about a row, at most `MOST_SHOWN`."""

    def link_to(self, subject: str, row: Any) -> tuple[str, str] | None:
        """The words and the address of all entries about a row; None if there is no such list."""


@dataclass(frozen=True)
class Activity:
    entries: list[Entry]
    links: list[tuple[str, str]]


def of_row(request: HttpRequest, page: Any, row: Any) -> Activity | None:
    """What the logs that the viewer may read say of a row; None for whoever may read none of them,
    and for the rows of the logs themselves."""
    pages = page.admin_site._registry.values()
    logs = [
        item for item in pages if isinstance(item, LogPage) and item.has_view_permission(request)
    ]
    if not logs or isinstance(page, LogPage):
        return None
    subject = page.audit_subject(row)
    entries = [entry for log in logs for entry in log.about(subject, row)]
    entries.sort(key=lambda entry: entry.at, reverse=True)
    links = [link for log in logs if (link := log.link_to(subject, row))]
    return Activity(entries[:MOST_SHOWN], links)


def client_id_of(row: Any) -> int | None:
    """Whose row it is: a client is its own; None: the platform's."""
    own = row.pk if row._meta.label == "identity.Client" else None
    client_id: int | None = getattr(row, "client_id", own)
    return client_id
