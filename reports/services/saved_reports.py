"""Questions of ad-hoc reports that a client saved under a name."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from identity.models import Client, User
from identity.services import audit, saved_views
from reports.models import SavedReport

MOST = 50


def of(client: Client) -> QuerySet[SavedReport]:
    """A client's saved questions, by name."""
    return SavedReport.objects.for_client(client).order_by("name", "pk")


def save(client: Client, name: str, question: dict[str, list[str]], *, by: User) -> bool:
    """Save a question, replacing one of the same name; False if the client has `MOST` already."""
    rows = SavedReport.objects.for_client(client)
    if not rows.filter(name=name).exists() and rows.count() >= MOST:
        return False
    values = {"question": question, "created_by": by}
    with transaction.atomic():
        row, _ = rows.update_or_create(client=client, name=name, defaults=values)
        _record(row, "saved", by=by)
    return True


def delete(client: Client, pk: int, *, by: User) -> None:
    """Delete a saved question of the client."""
    with transaction.atomic():
        row = SavedReport.objects.for_client(client).select_for_update().filter(pk=pk).first()
        if row is not None:
            _record(row, "deleted", by=by)
            row.delete()


def forget(client_id: int, identifiers: Sequence[str]) -> None:
    """Delete questions that mention an erased customer in their name or search words."""
    for row in SavedReport.objects.filter(client_id=client_id):
        if saved_views.mentions(row.name, [str(row.question.get("q", ""))], identifiers):
            row.delete()


def _record(row: SavedReport, what: str, *, by: User) -> None:
    """Record without name and question, which may contain a customer's data."""
    audit.record(row.client_id, f"saved_report.{what}", by=by, subject=f"saved_report:{row.pk}")
