"""Removes old months of the audit log. A sealed anchor replaces each month, so that the chain
continues.

Only the role that owns the tables may do this (docs/decisions/0019-audit-anchors.md).
"""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

from chatplatform.partitions import month_after, month_of
from identity.models import AuditAnchor, AuditEvent, AuditLink
from identity.services import audit_chain


class BrokenChain(Exception):
    """The chain is broken, so nothing is removed. Otherwise an anchor would vouch for changed
    events."""


def clients_with_old_rows(*, using: str) -> list[int]:
    """The ids of the clients whose log has a month that is no longer kept; `audit.PLATFORM` is the
    id in the platform's own log."""
    old = AuditEvent.objects.using(using).filter(created_at__lt=retention_start())
    return list(old.order_by("client_id").values_list("client_id", flat=True).distinct())


def purge_expired(client_id: int, *, using: str) -> Iterator[AuditAnchor]:
    """Remove each month of a client's log that is no longer kept, oldest first. Yields the anchor
    of each month. Raises BrokenChain if the log was changed."""
    with transaction.atomic(using=using):
        faults = list(audit_chain.faults(client_id, using=using))
    if faults:
        raise BrokenChain(faults[0])
    while anchor := _purge_month(client_id, using=using):
        yield anchor


def retention_start() -> datetime:
    """The start of the oldest month that is kept, which is AUDIT_RETENTION_MONTHS before this
    month."""
    return month_after(month_of(timezone.now()), -settings.AUDIT_RETENTION_MONTHS)


def _purge_month(client_id: int, *, using: str) -> AuditAnchor | None:
    """Replace the oldest month of a chain with an anchor, and return the anchor; None if no month
    is old enough."""
    links = AuditLink.objects.using(using).filter(client_id=client_id).order_by("id")
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Transactions that write new links wait for this lock, so that they find either the last
        # link or the anchor.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('audit', %s))", [client_id])
        oldest = links.select_related("event").first()
        if oldest is None or oldest.event.created_at >= retention_start():
            return None
        month = month_of(oldest.event.created_at)
        # Remove links only from the start of the chain. An event of this month that was linked
        # after an event of the next month is removed together with the next month.
        first_later = links.filter(event__created_at__gte=month_after(month)).first()
        if first_later:
            links = links.filter(id__lt=first_later.pk)
        anchor = _create_anchor(list(links), month, using=using)
        cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'on'")
        AuditEvent.objects.using(using).filter(id__in=links.values("event_id"))._raw_delete(using)
        links.order_by()._raw_delete(using)
    return anchor


def _create_anchor(removed: list[AuditLink], month: datetime, *, using: str) -> AuditAnchor:
    anchors = AuditAnchor.objects.using(using).filter(client_id=removed[0].client_id)
    previous = anchors.order_by("-id").first()
    anchor = AuditAnchor(
        client_id=removed[0].client_id, month=month.date(), rows=len(removed), hash=removed[-1].hash
    )
    anchor.seal = anchor.statement(previous.hash if previous else "")
    anchor.save(using=using)
    return anchor
