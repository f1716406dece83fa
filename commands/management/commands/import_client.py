"""`manage.py import_client FILE`: imports a client from another cell's archive."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, connections, transaction

from chatplatform import encryption_key_check
from commands import client_import
from commands.client_archive import Reader, secret_key_check
from commands.client_ids import DanglingReference
from commands.management.commands.migrate import migrating
from identity.models import Client


class Command(BaseCommand):
    help = (
        "Read an archive that `export_client --move` wrote in another cell: rows, files and, with"
        " its TRANSFER_KEY, secrets. All of it or nothing is stored. The client arrives frozen:"
        " `freeze_client CODE --undo` lets it work. Runs as the owner of the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        archive = Reader(file, os.environ.get("TRANSFER_KEY", ""))
        _ensure_welcome(archive)
        archive.check_entries()
        alias, stored = migrating(), list[str]()
        encryption_key_check.check(alias)
        try:
            with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = 0")
                missing = client_import.store(archive, using=alias)
                for name in archive.manifest.files:
                    archive.store_file(name)
                    stored.append(name)
        except BaseException as exc:
            for name in stored:
                default_storage.delete(name)
            if isinstance(exc, IntegrityError):
                raise CommandError(f"Something of it is in this cell already: {exc}") from exc
            if isinstance(exc, DanglingReference):
                raise CommandError(f"The archive is not whole: {exc}") from exc
            raise
        self._report(archive, missing)

    def _report(self, archive: Reader, missing: Counter[str]) -> None:
        found = archive.manifest
        rows = sum(count for count, _ in found.tables.values())
        self.stdout.write(f"{found.code}: {rows:,} rows and {len(found.files):,} files came.")
        self.stdout.write("Its audit log is chained anew; `client.imported` has the old hash.")
        for place, count in sorted(missing.items()):
            self.stdout.write(f"To be entered again: {place}, {count:,} rows.")
        self.stdout.write(f"Now it is frozen: manage.py freeze_client {found.code} --undo")


def _ensure_welcome(archive: Reader) -> None:
    found = archive.manifest
    if Client.objects.filter(code=found.code).exists():
        raise CommandError(f"There is a client {found.code} in this cell already.")
    if not settings.INSTANCE_ID or found.cell == settings.INSTANCE_ID:
        raise CommandError(
            "Give each cell a name of its own (INSTANCE_ID): a visitor's token of one would open"
            " another visitor's chats in the other."
        )
    if found.secret_key != secret_key_check(found.salt):
        raise CommandError(
            "The cells have different SECRET_KEYs: no API key and no cursor would be valid here."
        )
