"""Reads, locks and changes a client's chat settings."""

from typing import Any

from django.db import transaction
from django.db.models import F

from chatplatform import jobs
from chatplatform.api.errors import StaleVersion, first_or_404
from identity.models import Client, ClientConfig, User
from identity.schemas.configs import CONFIG_FIELDS, ClientConfigDto
from identity.services import audit, bot_hooks

# The settings that the bots' texts about the business hours depend on.
_HOURS = frozenset({"business_hours", "holidays", "timezone"})


def get(client: Client, client_id: int) -> ClientConfig:
    """The client's chat settings; 404 if `client_id` is another client's id."""
    rows = ClientConfig.objects.for_client(client).filter(client_id=client_id)
    return first_or_404(rows.select_related("client"))


def update(config: ClientConfig, body: ClientConfigDto, *, by: User | None) -> ClientConfig:
    """Change the fields that are set in `body`; 409 if its `version` is outdated."""
    with transaction.atomic():
        before = lock(config)
        if body.version not in {None, before.version}:
            raise StaleVersion(version=before.version)
        _write(before, _changes(before, body), "config.updated", by=by)
    return get(before.client, before.client_id)


def replace_messages(
    config: ClientConfig, columns: dict[str, dict[str, Any]], *, by: User
) -> ClientConfig:
    """Set the given columns, which hold the client's own texts for automatic messages."""
    with transaction.atomic():
        before = lock(config)
        changes = {name: value for name, value in columns.items() if value != getattr(before, name)}
        _write(before, changes, "words.replaced", by=by)
    return get(before.client, before.client_id)


def lock(config: ClientConfig) -> ClientConfig:
    """Read and lock the stored settings until the transaction ends."""
    rows = ClientConfig.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("client").get(pk=config.pk)


def _changes(before: ClientConfig, body: ClientConfigDto) -> dict[str, Any]:
    """The fields that are set in `body` and differ from the stored values."""
    names = (CONFIG_FIELDS | {"timezone"}) & body.model_fields_set
    current = ClientConfigDto.from_row(before).model_dump()
    return {
        name: value
        for name, value in body.model_dump(include=set(names)).items()
        if value != current[name]
    }


def _write(config: ClientConfig, changes: dict[str, Any], action: str, *, by: User | None) -> None:
    if not changes:
        return
    columns = {name: value for name, value in changes.items() if name != "timezone"}
    kept = {}
    if changes.get("business_hours") == [] and config.business_hours:
        kept["custom_hours"] = config.business_hours
    rows = ClientConfig.objects.filter(pk=config.pk)
    rows.update(**columns, **kept, version=F("version") + 1)
    if "timezone" in changes:
        Client.objects.filter(pk=config.client_id).update(timezone=changes["timezone"])
        bot_hooks.bots().keep_days(config.client_id, config.client.timezone, changes["timezone"])
    before = {name: getattr(config, name) for name in columns}
    values = audit.changed_values(before | {"timezone": config.client.timezone}, changes)
    if not _HOURS.isdisjoint(changes):
        jobs.enqueue("bots.update_hours_texts", client_id=config.client_id, of=config.client_id)
    subject = f"client:{config.client_id}"
    audit.record(config.client_id, action, by=by, subject=subject, changes=values)
