"""Create, update and delete endpoints, and rotate their secrets."""

import uuid
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy, gettext_noop

from chatplatform import egress, signatures
from chatplatform.api.errors import ApiError, Invalid, NotFound, require_address, require_fields
from identity.models import ApiKey, Client, User
from identity.services import audit
from webhooks.models import DisabledReason, WebhookConfig
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import deliveries

MAX_ENDPOINTS = 10
SECRET_OVERLAP = timedelta(hours=24)
_SETTINGS = frozenset({"url", "event_types", "description", "is_active"})


class TooManyEndpoints(ApiError):
    code, status = "too_many_endpoints", 409
    detail = format_lazy(
        gettext_lazy("You can have up to {count} webhooks. Delete one first."),
        count=MAX_ENDPOINTS,
    )


def list_for_client(client: Client) -> QuerySet[WebhookConfig]:
    """The client's endpoints that are not deleted."""
    return WebhookConfig.objects.for_client(client).filter(deleted_at=None)


def failing() -> QuerySet[WebhookConfig]:
    """All clients' endpoints that are failing, or were switched off because they failed."""
    off = Q(is_active=False) & ~Q(disabled_reason=DisabledReason.BY_HAND)
    rows = WebhookConfig.objects.filter(deleted_at=None)
    return rows.filter(off | Q(is_active=True, failing_since__isnull=False))


def get(client: Client, config_id: uuid.UUID | None = None) -> WebhookConfig:
    """The client's endpoint with this id, or the oldest if no id is given; 404 if there is none."""
    rows = list_for_client(client)
    if config_id:
        rows = rows.filter(pk=config_id)
    config = rows.order_by("id").first()
    if config is None:
        raise NotFound(field="config_id") if config_id else NotFound
    return config


def create(
    client: Client, body: webhook_schemas.WebhookConfigRequest, *, by: User
) -> WebhookConfig:
    """Create an endpoint; 409 if the client already has ten."""
    require_fields(body, "url")
    _check_url(body.url)
    with transaction.atomic():
        # The lock keeps concurrent requests from exceeding the limit.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        if list_for_client(client).count() >= MAX_ENDPOINTS:
            raise TooManyEndpoints
        config = WebhookConfig.objects.create(
            client=client,
            secret=signatures.new_secret(),
            **_columns(body, _SETTINGS) | _switch_columns(is_on=body.is_active),
        )
        audit.record(
            client.pk, "webhook.created", by=by, subject=_subject(config),
            changes={"url": _without_query(body.url)},
        )  # fmt: skip
    config.refresh_from_db(fields=["created_at"])
    return config


def update(
    config: WebhookConfig, body: webhook_schemas.WebhookConfigRequest, *, by: User
) -> WebhookConfig:
    """Change the settings given in the request; switching the endpoint on resets its health."""
    if "url" in body.model_fields_set and body.url != config.url:
        _check_url(body.url)
    columns = _columns(body, body.model_fields_set)
    with transaction.atomic():
        before = _lock(config)
        # If the endpoint is already off, keep the reason and the time.
        if columns.get("is_active", before.is_active) != before.is_active:
            columns |= _switch_columns(is_on=body.is_active)
        WebhookConfig.objects.filter(pk=config.pk).update(**columns)
        if before.is_active and not columns.get("is_active", True):
            deliveries.enqueue_give_up(config)
        changes = {
            name: [getattr(before, name), columns[name]]
            for name in body.model_fields_set & columns.keys()
            if getattr(before, name) != columns[name]
        }
        if "url" in changes:
            changes["url"] = [_without_query(url) for url in changes["url"]]
        audit.record(
            config.client_id, "webhook.updated", by=by, subject=_subject(config), changes=changes
        )
    return get(before.client, config.pk)


def switch_on(config: WebhookConfig, *, by: User) -> bool:
    """Switch an endpoint on, with its settings unchanged; False if it was already on."""
    row = get(config.client, config.pk)
    if row.is_active:
        return False
    update(row, webhook_schemas.WebhookConfig(is_active=True), by=by)
    return True


def reenable_and_replay(config: WebhookConfig, *, by: User) -> None:
    """Switch an endpoint on, and replay what it missed since it began to fail or was switched off.

    Does nothing if it is already on.
    """
    row = get(config.client, config.pk)
    with transaction.atomic():
        if not switch_on(row, by=by):
            return
        missed = missed_replays(row)
        for body in missed:
            deliveries.enqueue_replay(get(row.client, row.pk), body)


def missed_replays(config: WebhookConfig) -> list[webhook_schemas.EventReplayRequest]:
    """The replays of what an endpoint missed in the last 30 days while it was failing or off."""
    since = config.failing_since or config.disabled_at or timezone.now()
    start = max(since, timezone.now() - deliveries.RETENTION + timedelta(hours=1))
    return [
        webhook_schemas.EventReplayRequest(created_from=start, state="gave_up"),
        webhook_schemas.EventReplayRequest(created_from=start, state="missing"),
    ]


def delete(config: WebhookConfig, *, by: User | ApiKey) -> None:
    """Delete an endpoint. Its deliveries stay until the month of their events is dropped: 30 days
    after the end of the month or, if that is later, 30 days after the last replay."""
    with transaction.atomic():
        _lock(config)
        WebhookConfig.objects.filter(pk=config.pk).update(
            is_active=False, deleted_at=timezone.now()
        )
        deliveries.enqueue_give_up(config)
        audit.record(config.client_id, "webhook.deleted", by=by, subject=_subject(config))


def rotate_secret(config: WebhookConfig, *, by: User) -> WebhookConfig:
    """Create a new secret. For 24 hours, deliveries are also signed with the old one."""
    with transaction.atomic():
        row = _lock(config)
        row.previous_secret, row.secret = row.secret, signatures.new_secret()
        row.previous_secret_until = timezone.now() + SECRET_OVERLAP
        row.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
        audit.record(row.client_id, "webhook.secret_rotated", by=by, subject=_subject(row))
    return row


def _lock(config: WebhookConfig) -> WebhookConfig:
    rows = WebhookConfig.objects.select_for_update(no_key=True, of=("self",))
    row = rows.select_related("client").filter(pk=config.pk, deleted_at=None).first()
    if row is None:
        raise NotFound
    return row


def _columns(body: webhook_schemas.WebhookConfigRequest, names: AbstractSet[str]) -> dict[str, Any]:
    columns = {name: getattr(body, name) for name in names}
    if "event_types" in names:
        columns["event_types"] = list(dict.fromkeys(body.event_types))
    return columns


def _switch_columns(*, is_on: bool) -> dict[str, Any]:
    if is_on:
        return {"disabled_reason": None, "disabled_at": None, **deliveries.HEALTHY}
    return {"disabled_reason": DisabledReason.BY_HAND, "disabled_at": timezone.now()}


def _subject(config: WebhookConfig) -> str:
    return f"webhook:{config.pk}"


def _without_query(url: str) -> str:
    """The URL without its query, which may contain the receiver's token."""
    return url.partition("?")[0]


def _check_url(url: str) -> None:
    require_address(url, "url", purpose="webhook")
    if not egress.keeps_secrets(url, purpose="webhook"):
        raise Invalid.field("body", "url", msg=gettext_noop("Use an https URL."), type="insecure")
