"""Home of the platform's staff: what needs them, over all clients."""

from datetime import timedelta

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from chatplatform.models import Job, JobState
from chatplatform.web import health
from identity.models import Client, CreditOrder, OrderStatus
from reports.services import failures
from reports.services.home import Figure, Hint

_WEEK = timedelta(days=7)


def figures() -> list[Figure]:
    """Clients, what waits for the staff, what has failed, and whether every part works."""
    clients = Client.objects.aggregate(
        all=Count("pk"),
        disabled=Count("pk", filter=Q(is_disabled=True)),
        new=Count("pk", filter=Q(created_at__gte=timezone.now() - _WEEK)),
    )
    orders = CreditOrder.objects.filter(status=OrderStatus.PENDING).count()
    dead = Job.objects.filter(state=JobState.DEAD).count()
    parts = health.check_all()
    failed = [part for part in parts if part.status == "failed"]
    note = f"{clients['new']} new this week, {clients['disabled']} disabled"
    return [
        Figure("Clients", f"{clients['all']:,}", note, _list("identity_client")),
        Figure(
            "Credit orders to decide", f"{orders:,}", "paid or not",
            f"{_list('identity_creditorder')}?status__exact={OrderStatus.PENDING}",
        ),
        Figure("Work that failed at every try", f"{dead:,}", "jobs", reverse("failures")),
        Figure(
            "Health", "All is well" if not failed else f"{len(failed)} of {len(parts)} failed",
            "; ".join(f"{part.name}: {part.detail}" for part in failed) or "every part works",
            "/health",
        ),
    ]  # fmt: skip


def warnings() -> list[Hint]:
    """Each kind of failure that there is, over all clients."""
    found = [
        (kind, sum(group.count for group in failures.of_kind(kind, None)))
        for kind in failures.KINDS.values()
    ]
    return [
        Hint(f"{count:,} × {kind.title}", reverse("failures"), kind.model)
        for kind, count in found
        if count
    ]


def _list(page: str) -> str:
    return reverse(f"admin:{page}_changelist")
