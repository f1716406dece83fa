"""Stores the rows of an archive in this cell, in the caller's transaction."""

import json
import secrets
from collections import Counter
from datetime import date
from typing import Any

from django.apps import apps
from django.db import connections, models
from django.utils import timezone

from chatplatform import crypto
from chatplatform.crypto import EncryptedTextField
from chatplatform.signatures import new_secret
from commands import client_archive
from commands.client_archive import Reader, Row
from commands.client_ids import NewIds, is_counted
from identity.models import AuditAnchor, AuditEvent, Client
from webhooks.models import DisabledReason, FeedEntry, WebhookConfig

# The most that one statement inserts.
_ROWS, _BYTES = 1_000, 4_000_000
# Margin for the numbers that other processes draw while the sequence is set.
_AHEAD = 100_000
Model = type[models.Model]


def store(archive: Reader, *, using: str) -> Counter[str]:
    """Store all rows with new ids; returns the number of secrets to enter again, by column."""
    found = {model._meta.db_table: model for model in apps.get_models()}
    tables = [found[name] for name in archive.manifest.tables]
    job = _Import(archive, using)
    for model in tables:
        job.number(model)
    for model in tables:
        job.store_table(model)
    _pass_feed(using=using)
    client = Client.objects.using(using).get(code=archive.manifest.code)
    AuditEvent.objects.using(using).create(
        client_id=client.pk,
        action="client.imported",
        subject=f"client:{client.pk}",
        changes={"chain": archive.manifest.audit_hash},
    )
    return job.missing


class _Import:
    """The import of one archive."""

    def __init__(self, archive: Reader, using: str) -> None:
        self._archive, self._using = archive, using
        self._ids = NewIds(using)
        # The number of secrets that must be entered again, by column.
        self.missing = Counter[str]()
        self._anchor_hash = ""

    def number(self, model: Model) -> None:
        """Give the rows of a table their new numbers, before other rows refer to them."""
        if is_counted(model):
            assert model._meta.pk
            pk = model._meta.pk.attname
            self._ids.add(model, (row[pk] for row in self._archive.rows(model)))

    def store_table(self, model: Model) -> None:
        batch, size = list[str](), 0
        for row in self._archive.rows(model):
            known = self._archive.secrets_of(model, row)
            new = _as_new(model, self._ids.translate(model, row))
            new |= self._secrets(model, new, known)
            batch.append(json.dumps(new, separators=(",", ":")))
            size += len(batch[-1])
            if len(batch) >= _ROWS or size >= _BYTES:
                _insert(model, batch, using=self._using)
                batch, size = [], 0
        if batch:
            _insert(model, batch, using=self._using)

    def _secrets(self, model: Model, row: Row, known: Row | None) -> Row:
        """The secret columns of a row, as this cell stores them."""
        stored = Row()
        for name in client_archive.secret_columns(model):
            one: Any = model._meta.get_field(name)
            place = f"{model._meta.db_table}.{name}"
            if place == "identity_auditanchor.seal":
                value: Any = self._statement(row)
            elif name == "recovery_hashes":
                # The hashes include the person's number, which is a different one here.
                value = []
                self.missing[place] += len(known[name]) if known else 1
            elif known is None:
                value = _without(model, name, row)
                self.missing[place] += 1
            else:
                value = known[name]
            if isinstance(one, EncryptedTextField):
                value = crypto.encrypt(value, context=client_archive.context_of(one, row))
            stored[name] = value
        return stored

    def _statement(self, row: Row) -> str:
        """The text for a new seal of an anchor; the export has checked the old seal."""
        anchor = AuditAnchor(client_id=row["client_id"], rows=row["rows"], hash=row["hash"])
        anchor.month = date.fromisoformat(row["month"])
        statement, self._anchor_hash = anchor.statement(self._anchor_hash), row["hash"]
        return statement


def _insert(model: Model, rows: list[str], *, using: str) -> None:
    """Insert rows that `to_jsonb` wrote; PostgreSQL converts each value to its column's type."""
    quote = connections[using].ops.quote_name
    names = [field.column for field in model._meta.concrete_fields if not field.generated]
    columns, table = ", ".join(quote(str(name)) for name in names), quote(model._meta.db_table)
    with connections[using].cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns})"
            f" SELECT {columns} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)",
            [f"[{','.join(rows)}]"],
        )


def _as_new(model: Model, row: Row) -> Row:
    """Reset the columns, besides ids, that depend on the cell."""
    match model._meta.label:
        case "chatplatform.Job":
            # No worker of this cell is running it.
            row["state"] = "queued" if row["state"] == "running" else row["state"]
            row |= {"lease_until": None, "lease_token": None, "lease_holder": None}
            row["dispatched_at"] = None
            row["dispatches"] = 0
        case "webhooks.Delivery":
            row["lease_token"] = None
        case "channels_app.InboundCallback":
            row["body"] = "\\x"
        case "identity.Client":
            row["frozen_at"] = row["frozen_at"] or timezone.now().isoformat()
    return row


def _without(model: Model, name: str, row: Row) -> str:
    """A value in place of a secret that the archive does not hold; nothing matches it."""
    if model is WebhookConfig and name == "secret":
        # The receiver cannot verify signatures made with a new secret.
        row |= {"is_active": False, "disabled_reason": DisabledReason.BY_HAND}
        return new_secret()
    unusable = {"password": "!", "secret_hash": ""}
    return unusable[name] + secrets.token_hex(20) if name in unusable else ""


def _pass_feed(*, using: str) -> None:
    """Continue the feed's numbers after the client's, which must stay: readers have stored them."""
    places = FeedEntry.objects.using(using)
    latest = places.aggregate(latest=models.Max("position"))["latest"] or 0
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT last_value FROM webhooks_feed_position")
        (given,) = cursor.fetchone()
        if latest > given - _AHEAD:
            last = max(latest, given) + _AHEAD
            cursor.execute("SELECT setval('webhooks_feed_position', %s)", [last])
