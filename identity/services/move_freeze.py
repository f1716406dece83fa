"""Freezes a client while it is moved to another cell: its requests are refused, and its jobs
wait."""

from datetime import datetime
from typing import ClassVar

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform.api.errors import ApiError
from identity.models import Client, User
from identity.services import audit


class ClientFrozen(ApiError):
    """The client is frozen. The request was not carried out and can be sent again later."""

    code, status = "client_frozen", 503
    detail = gettext_noop("This company is being moved. Try again in a moment.")
    headers: ClassVar[dict[str, str]] = {"Retry-After": "2"}


def ensure_not_frozen(client: Client | None) -> None:
    """Raise a 503 `client_frozen` if the client is being moved."""
    if client and client.frozen_at:
        raise ClientFrozen


def freeze(client: Client, *, by: User | None) -> bool:
    """Refuse the client's requests and hold its jobs; False if it was frozen already.
    `manage.py freeze_client` also waits for requests and jobs that have begun."""
    return _set_frozen(client, timezone.now(), by=by)


def unfreeze(client: Client, *, by: User | None) -> bool:
    """Accept the client's requests and run its jobs again; False if it was not frozen."""
    return _set_frozen(client, None, by=by)


def frozen_ids() -> list[int]:
    """The ids of frozen clients, whose rows periodic tasks must not change."""
    return list(Client.objects.filter(frozen_at__isnull=False).values_list("pk", flat=True))


def _set_frozen(client: Client, frozen_at: datetime | None, *, by: User | None) -> bool:
    action = "client.frozen" if frozen_at else "client.unfrozen"
    with transaction.atomic():
        rows = Client.objects.filter(pk=client.pk, frozen_at__isnull=frozen_at is not None)
        is_changed = bool(rows.update(frozen_at=frozen_at))
        if is_changed:
            audit.record(client.pk, action, by=by, subject=f"client:{client.pk}")
    return is_changed
