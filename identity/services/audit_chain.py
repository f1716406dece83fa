"""Checks the hash chains of the audit logs: one for each client and one for the platform."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.db import connections

from chatplatform.crypto import CryptoError
from identity.models import AuditAnchor
from identity.services.audit import PLATFORM

_BROKEN = """
SELECT link.client_id, link.event_id, event.id IS NULL, link.previous IS NULL
FROM (
    SELECT *, lag(hash) OVER (PARTITION BY client_id ORDER BY id) AS previous
    FROM identity_auditlink
) link
LEFT JOIN identity_auditevent event ON event.id = link.event_id
LEFT JOIN (
    SELECT DISTINCT ON (client_id) client_id, hash FROM identity_auditanchor
    ORDER BY client_id, id DESC
) anchor ON anchor.client_id = link.client_id
WHERE (event.id IS NULL
    OR link.hash <> identity_audit_hash(COALESCE(link.previous, anchor.hash, ''), event))
    AND link.client_id = COALESCE(%(client)s, link.client_id)
ORDER BY link.id
"""
_UNLINKED = """
SELECT event.client_id, event.id FROM identity_auditevent event
WHERE NOT EXISTS (SELECT 1 FROM identity_auditlink WHERE event_id = event.id)
    AND event.client_id = COALESCE(%(client)s, event.client_id)
ORDER BY event.id
"""
_ROLE_MAY_CHANGE_LOG = Warning(
    "The application's database role may change the audit log.",
    hint="Set DATABASE_OWNER_URL for `migrate`, and give the application a role of its own.",
    id="identity.W001",
)


def faults(client_id: int | None = None, *, using: str = "default") -> Iterator[str]:
    """Yield a sentence for each event that the hash chain shows to be changed, deleted or inserted,
    and for each anchor that differs from its seal. Checks one client's chain, or all chains if
    `client_id` is None. Call this in a transaction."""
    with connections[using].cursor() as cursor:
        # Checking millions of rows may take longer than the statement timeout.
        cursor.execute("SET LOCAL statement_timeout = 0")
        yield from _anchor_faults(client_id, using)
        cursor.execute(_BROKEN, {"client": client_id})
        for owner_id, event_id, is_gone, is_first in cursor.fetchall():
            other_cause = "an anchor before it is missing" if is_first else "the link before it"
            fault = "is gone" if is_gone else f"was changed, or {other_cause}"
            yield f"Audit row {event_id} of {_owner(owner_id)} {fault}."
        cursor.execute(_UNLINKED, {"client": client_id})
        for owner_id, event_id in cursor.fetchall():
            yield f"Audit row {event_id} of {_owner(owner_id)} is not in the chain."


def _owner(client_id: int) -> str:
    return f"client {client_id}" if client_id != PLATFORM else "the platform"


def _anchor_faults(client_id: int | None, using: str) -> Iterator[str]:
    """Yield a sentence for each anchor that differs from its seal, or whose seal cannot be read."""
    anchors = AuditAnchor.objects.using(using).order_by("client_id", "id")
    if client_id is not None:
        anchors = anchors.filter(client_id=client_id)
    previous: AuditAnchor | None = None
    for anchor in anchors.iterator():
        is_first = previous is None or previous.client_id != anchor.client_id
        previous_hash = "" if is_first or not previous else previous.hash
        try:
            is_genuine = anchor.seal == anchor.statement(previous_hash)
        except CryptoError:
            is_genuine = False
        if not is_genuine:
            month = f"{anchor.month:%Y-%m} of {_owner(anchor.client_id)}"
            yield f"The anchor of {month} was changed, or the one before it is missing."
        previous = anchor


def check_role(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """A system check that warns if the application's database role may change the audit log. It
    runs only in commands that check the database `default`, such as `check --database default`."""
    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT has_table_privilege(to_regclass('identity_auditevent'), 'UPDATE')")
        row = cursor.fetchone()
    return [_ROLE_MAY_CHANGE_LOG] if row and row[0] else []
