"""The home page of platform staff: figures and failures of all clients together."""

from datetime import timedelta

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from chatplatform.models import Job, JobState
from chatplatform.web import health
from identity.models import Client, CreditOrder, OrderStatus
from reports.services import failed_work, formatting
from reports.services.home import Hint, failure_hints
from reports.services.kpi_cards import KpiCard

_WEEK = timedelta(days=7)


def figures() -> list[KpiCard]:
    """The cards of the page: clients, pending credit orders, failed jobs, and the platform's
    health."""
    clients = Client.objects.aggregate(
        all=Count("pk"),
        disabled=Count("pk", filter=Q(is_disabled=True)),
        new=Count("pk", filter=Q(created_at__gte=timezone.now() - _WEEK)),
    )
    orders = CreditOrder.objects.filter(status=OrderStatus.PENDING).count()
    dead = Job.objects.filter(state=JobState.DEAD).count()
    parts = health.check_all()
    failed = [part for part in parts if part.status == "failed"]
    note = gettext("{new} new this week, {disabled} disabled").format(**clients)
    return [
        KpiCard(
            gettext("Companies"), formatting.number(clients["all"]), note,
            failed_work.list_path("identity_client"),
        ),
        KpiCard(
            gettext("Pending credit orders"), formatting.number(orders), gettext("to review"),
            failed_work.list_path("identity_creditorder", status__exact=OrderStatus.PENDING),
        ),
        KpiCard(gettext("Failed jobs"), formatting.number(dead), gettext(
            "after all retries"
        ),
               reverse("failures")),
        KpiCard(
            gettext("Health"),
            gettext("{count} of {all} checks failing").format(count=len(failed), all=len(parts))
            if failed
            else gettext("All good"),
            "; ".join(gettext(health.LABELS.get(part.name, part.name)) for part in failed)
            or gettext("everything works"),
            f"{reverse('failures')}#parts",
        ),
    ]  # fmt: skip


def warnings() -> list[Hint]:
    """An item for each kind of failure that occurred, for all clients together."""
    return failure_hints(None, failed_work.KINDS)
