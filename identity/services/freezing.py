"""Freezes a client while it is moved: its requests are refused for a moment, its jobs wait."""

from typing import ClassVar

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import ApiError
from identity.models import Client, User
from identity.services import audit


class ClientFrozen(ApiError):
    """Nothing of the request was carried out, so the caller can send it again later."""

    code, status = "client_frozen", 503
    detail = "This company is being moved: send the same request again in a moment."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "2"}


def ensure_not_frozen(client: Client | None) -> None:
    """503 `client_frozen` for a client that is being moved."""
    if client and client.frozen_at:
        raise ClientFrozen


def freeze(client: Client, *, by: User | None) -> bool:
    """Refuse the client's requests and let its jobs wait; False if it was already frozen.

    Requests and jobs that have begun go on: `manage.py freeze_client` waits for them.
    """
    with transaction.atomic():
        rows = Client.objects.filter(pk=client.pk, frozen_at=None)
        is_changed = bool(rows.update(frozen_at=timezone.now()))
        if is_changed:
            _record(client, "client.frozen", by=by)
    return is_changed


def unfreeze(client: Client, *, by: User | None) -> bool:
    """Let the client work again; False if it was not frozen."""
    with transaction.atomic():
        rows = Client.objects.filter(pk=client.pk, frozen_at__isnull=False)
        is_changed = bool(rows.update(frozen_at=None))
        if is_changed:
            _record(client, "client.unfrozen", by=by)
    return is_changed


def frozen_ids() -> list[int]:
    """The ids of frozen clients: periodic tasks must not change their rows."""
    return list(Client.objects.filter(frozen_at__isnull=False).values_list("pk", flat=True))


def _record(client: Client, action: str, *, by: User | None) -> None:
    audit.record(client.pk, action, by=by, subject=f"client:{client.pk}")
