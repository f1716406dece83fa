"""`manage.py erase_client CODE`: everything that is stored of a client is deleted, for good."""

from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections, transaction

from chatplatform.management import client_rows
from chatplatform.management.commands.migrate import migrating
from identity.models import AuditEvent, Client


class Command(BaseCommand):
    help = (
        "Delete a disabled client with all its rows and files; an empty, disabled client stays,"
        " with one row of the audit log. Runs as the owner of the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, code: str, yes: bool, **options: Any) -> None:
        client = Client.objects.get(code=code)
        if not client.is_disabled:
            raise CommandError("Disable the client first, so that nobody works on it meanwhile.")
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


def _erase(client: Client, alias: str) -> int:
    """Delete the rows, of whatever order: foreign keys are checked at the commit."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'on'")
        callbacks, items = client_rows.callbacks(client)
        callbacks.using(alias).update(body=b"")
        items.using(alias).delete()
        found = [rows.using(alias) for _, rows in client_rows.of_client(client)]
        # Rows of people are found by them, so the people go last.
        found.sort(key=lambda rows: rows.model._meta.label == "identity.User")
        erased = sum(rows._raw_delete(alias) for rows in found)
        cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'off'")
    Client.objects.using(alias).filter(pk=client.pk).update(
        name=f"Erased client {client.pk}", code=f"erased-{client.pk}", languages=[]
    )
    AuditEvent.objects.using(alias).create(
        client_id=client.pk, action="client.erased", subject=f"client:{client.pk}",
        changes={"rows": erased},
    )  # fmt: skip
    return erased
