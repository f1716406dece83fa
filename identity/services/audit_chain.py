"""The chain of hashes over each client's audit log, and what breaks it."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.db import connections

_BROKEN = """
SELECT link.client_id, link.event_id, event.id IS NULL
FROM (
    SELECT *, COALESCE(lag(hash) OVER (PARTITION BY client_id ORDER BY id), '') AS previous
    FROM identity_auditlink
) link
LEFT JOIN identity_auditevent event ON event.id = link.event_id
WHERE event.id IS NULL OR link.hash <> identity_audit_hash(link.previous, event)
ORDER BY link.id
"""
_UNLINKED = """
SELECT event.client_id, event.id FROM identity_auditevent event
WHERE NOT EXISTS (SELECT 1 FROM identity_auditlink WHERE event_id = event.id)
ORDER BY event.id
"""
_ONE_ROLE = Warning(
    "The application's database role may change the audit log.",
    hint="Set DATABASE_OWNER_URL for `migrate`, and give the application a role of its own.",
    id="identity.W001",
)


def faults() -> Iterator[str]:
    """A sentence for each row that was changed, deleted or slipped in, by the chains' hashes."""
    with connections["default"].cursor() as cursor:
        # Millions of rows may take longer than a request may.
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_BROKEN)
        for client_id, event_id, is_gone in cursor.fetchall():
            what = "is gone" if is_gone else "was changed, or the link before it"
            yield f"Audit row {event_id} of client {client_id} {what}."
        cursor.execute(_UNLINKED)
        for client_id, event_id in cursor.fetchall():
            yield f"Audit row {event_id} of client {client_id} is not in the chain."


def role(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Whether the application could change the audit log; asked with `check --database default`."""
    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT has_table_privilege('identity_auditevent', 'UPDATE')")
        row = cursor.fetchone()
    return [_ONE_ROLE] if row and row[0] else []
