"""`manage.py export_client CODE FILE`: all that is stored of a client, without its secrets."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandParser
from django.db import models

from chatplatform.admin import SECRETS
from chatplatform.api.shapes import as_json
from chatplatform.crypto import EncryptedTextField
from chatplatform.management import client_rows
from identity.models import Client
from identity.services import audit

_READ_AT_ONCE = 1_000


class Command(BaseCommand):
    help = "Write a client's rows, as JSON lines for each table, and its files into a new ZIP."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, code: str, file: Path, **options: Any) -> None:
        client = Client.objects.get(code=code)
        with file.open("xb") as opened, zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED) as made:
            count = _add_rows(made, Client.objects.filter(pk=client.pk))
            for _, rows in client_rows.of_client(client):
                count += _add_rows(made, rows)
                for name in client_rows.file_names(rows):
                    _add_file(made, name)
        audit.record_export(client.pk, "client", by=None, rows=count)
        self.stdout.write(f"{file} was written.")


def _add_file(archive: zipfile.ZipFile, name: str) -> None:
    with default_storage.open(name) as file, archive.open(f"files/{name}", "w") as entry:
        shutil.copyfileobj(file, entry)


def _add_rows(archive: zipfile.ZipFile, rows: models.QuerySet[Any]) -> int:
    count = 0
    columns = [field.attname for field in rows.model._meta.concrete_fields if _is_shown(field)]
    with archive.open(f"{rows.model._meta.db_table}.jsonl", "w") as entry:
        for row in rows.order_by("pk").values(*columns).iterator(_READ_AT_ONCE):
            entry.write(as_json(row) + b"\n")
            count += 1
    return count


def _is_shown(field: Any) -> bool:
    """No secret, no hash of one, and no bytes that a model computed."""
    is_hidden = isinstance(field, EncryptedTextField | models.BinaryField)
    return not is_hidden and field.attname not in SECRETS
