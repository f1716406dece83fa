"""`manage.py erase_client CODE`: permanently deletes everything that is stored about a client."""

import os
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections, transaction

from commands import client_rows
from commands.client_archive import Reader, digest_of, read_rows, split
from commands.management.commands.migrate import migrating
from identity.models import AuditEvent, Client


class Command(BaseCommand):
    help = (
        "Delete a disabled client with all its rows and files; an empty, disabled client stays,"
        " with one row of the audit log. Runs as the owner of the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument(
            "--moved", type=Path, metavar="FILE",
            help="the archive that it was moved by: nothing is erased that this does not hold",
        )  # fmt: skip

    def handle(self, *args: Any, code: str, yes: bool, moved: Path | None, **options: Any) -> None:
        client = client_rows.client_by_code(code)
        if not (client.is_disabled or client.frozen_at):
            raise CommandError("Disable the client first, so that nobody works on it meanwhile.")
        if moved:
            _ensure_moved(client, moved)
        if not yes and input(f"Type {code} to erase {client.name} for good: ") != code:
            raise CommandError("Nothing was erased.")
        names = [
            name
            for _, rows in client_rows.of_client(client)
            for name in client_rows.file_names(rows)
        ]
        alias = migrating()
        with transaction.atomic(using=alias):
            erased = _erase(client, alias)
        for name in names:
            default_storage.delete(name)
        self.stdout.write(f"{erased:,} rows and {len(names):,} files of {code} were erased.")


def _ensure_moved(client: Client, file: Path) -> None:
    """Refuse if a row was added or changed after the archive was written."""
    archive = Reader(file, os.environ.get("TRANSFER_KEY", ""))
    if archive.manifest.code != client.code:
        raise CommandError(f"{file} is the archive of {archive.manifest.code}.")
    with transaction.atomic():
        for model, rows in client_rows.carried(client):
            known = archive.row_digests(model)
            rows_now = (split(model, row)[0] for row in read_rows(rows))
            if new := sum(digest_of(row) not in known for row in rows_now):
                table = model._meta.db_table
                raise CommandError(f"{new:,} rows of {table} are not in {file}: nothing is erased.")


def _erase(client: Client, alias: str) -> int:
    """Delete the rows. Their order does not matter: foreign keys are checked at commit."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'on'")
        callbacks, items = client_rows.callbacks(client)
        callbacks.using(alias).update(body=b"")
        items.using(alias).delete()
        # Deleted first, since they are found through the accounts and people.
        client_rows.jobs_without_client(client).using(alias).delete()
        found = [rows.using(alias) for _, rows in client_rows.of_client(client)]
        erased = sum(rows._raw_delete(alias) for rows in found)
        cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'off'")
    Client.objects.using(alias).filter(pk=client.pk).update(
        name=f"Erased client {client.pk}", code=f"erased-{client.pk}", languages=[],
        is_disabled=True, frozen_at=None,
    )  # fmt: skip
    AuditEvent.objects.using(alias).create(
        client_id=client.pk, action="client.erased", subject=f"client:{client.pk}",
        changes={"rows": erased},
    )  # fmt: skip
    return erased
