"""`manage.py export_client CODE FILE`: writes all that is stored about a client to a file."""

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from commands import client_pending_work, client_rows
from commands.client_archive import Manifest, Writer
from identity.models import AuditLink, Client
from identity.services import audit, audit_chain


class Command(BaseCommand):
    help = (
        "Write a client's rows, as JSON lines for each table, and its files into a new ZIP: without"
        " its secrets. With --move the archive is for `import_client` in another cell; with"
        " TRANSFER_KEY in the environment it holds the secrets too, sealed under this passphrase."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code")
        parser.add_argument("file", type=Path)
        parser.add_argument("--move", action="store_true", help="for another cell")

    def handle(self, *args: Any, code: str, file: Path, move: bool, **options: Any) -> None:
        client = client_rows.client_by_code(code)
        passphrase = os.environ.get("TRANSFER_KEY", "") if move else ""
        if move:
            _ensure_quiet(client)
            # Recorded before the rows are read, so that the archive includes this event.
            audit.record_export(client.pk, "client", by=None)
        with file.open("xb") as opened:
            writer = Writer(opened, Manifest(code=code, is_for_move=move), passphrase)
            try:
                count = _write(writer, client)
            except BaseException:
                file.unlink()
                raise
        if not move:
            audit.record_export(client.pk, "client", by=None, rows=count)
        elif not passphrase:
            self.stdout.write("It has no secrets: TRANSFER_KEY is not set.")
        self.stdout.write(f"{file} was written: {count:,} rows.")


def _ensure_quiet(client: Client) -> None:
    if not client.frozen_at:
        raise CommandError(f"Freeze it first: manage.py freeze_client {client.code}")
    if left := list(client_pending_work.under_way(client)):
        raise CommandError(f"Something is under way: {', '.join(left)}.")


def _write(writer: Writer, client: Client) -> int:
    """Write all tables as of one moment, and the files that they name."""
    is_for_move, count = writer.manifest.is_for_move, 0
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SET LOCAL statement_timeout = 0")
        if is_for_move and (faults := list(audit_chain.faults(client.pk))):
            raise CommandError(f"The audit log does not fit its chain. {faults[0]}")
        links = AuditLink.objects.for_client(client).order_by("-id").values_list("hash", flat=True)
        writer.manifest.audit_hash = links.first() or ""
        found = client_rows.carried(client) if is_for_move else client_rows.whole(client)
        for _, rows in found:
            count += writer.add_rows(rows)
            for name in client_rows.file_names(rows):
                writer.add_file(name)
        writer.finish()
    return count
