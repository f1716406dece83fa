"""Questions of ad-hoc reports that a client has saved under a name."""

from django.db.models import QuerySet

from identity.models import Client, User
from reports.models import SavedReport

MOST = 50


def of(client: Client) -> QuerySet[SavedReport]:
    """A client's saved questions, by name."""
    return SavedReport.objects.for_client(client).order_by("name", "pk")


def save(client: Client, name: str, question: dict[str, list[str]], *, by: User) -> bool:
    """Save a question; one of the same name is replaced. False if there is no room for another."""
    rows = SavedReport.objects.for_client(client)
    if not rows.filter(name=name).exists() and rows.count() >= MOST:
        return False
    told = {"question": question, "created_by": by}
    rows.update_or_create(client=client, name=name, defaults=told)
    return True


def delete(client: Client, pk: int) -> None:
    """Delete a saved question of the client."""
    SavedReport.objects.for_client(client).filter(pk=pk).delete()
