"""`manage.py rotate_keys`: encrypts every stored secret with the newest key of FIELD_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections, models, transaction

from chatplatform import crypto
from chatplatform.crypto import EncryptedTextField
from chatplatform.encryption_key_check import Fields, encrypted_columns
from chatplatform.models import EncryptionKey
from commands.management.commands.migrate import APPEND_ONLY, migrating

_BATCH_SIZE = 500


class Command(BaseCommand):
    help = (
        "Open every stored secret, and encrypt it with the first key of FIELD_KEYS if that does not"
        " open it. It may be stopped at any time and run again; the platform may run meanwhile."
        " Runs as the owner of the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--keys-are-lost", action="store_true",
            help="go on without keys that nobody has any more. What only they open stays as it is,"
            " and has to be entered again.",
        )  # fmt: skip

    def handle(self, *args: Any, keys_are_lost: bool, **options: Any) -> None:
        alias, self._is_quiet = migrating(), False
        for model, fields in encrypted_columns():
            rows, _ = self._rotate(model, fields, alias)
            names = ", ".join(field.attname for field in fields)
            self._say(f"{model._meta.db_table} ({names}): {rows:,} rows were encrypted anew.")
        written_meanwhile, unreadable = self._rotate_again(alias)
        if written_meanwhile:
            raise CommandError(
                "Keep every key of FIELD_KEYS: secrets were stored with an older one meanwhile."
                " Restart all processes with these FIELD_KEYS, and run this again."
            )
        if unreadable and not keys_are_lost:
            raise CommandError(
                f"Keep every key of FIELD_KEYS: {unreadable:,} values could not be opened. They"
                " stay as they are. Put back the key that is missing, and run this again; if nobody"
                " has it any more, run this with --keys-are-lost."
            )
        self._retire_older_keys(alias)

    def _rotate_again(self, alias: str) -> tuple[int, int]:
        """Rotate once more and count the changed rows and the unreadable values.

        A process whose first key is an older one may have written rows meanwhile.
        """
        self._is_quiet = True
        found = [self._rotate(model, fields, alias) for model, fields in encrypted_columns()]
        self._is_quiet = False
        return sum(rows for rows, _ in found), sum(values for _, values in found)

    def _retire_older_keys(self, alias: str) -> None:
        newest, *older = crypto.fingerprints()
        with transaction.atomic(using=alias):
            EncryptionKey.objects.using(alias).get_or_create(pk=newest)
            EncryptionKey.objects.using(alias).exclude(pk=newest).delete()
        self._say(f"All values that can be opened are encrypted with {newest}, the first key.")
        if older:
            keys = ", ".join(older)
            self._say(f"You may remove from FIELD_KEYS: {keys}, if {newest} is first everywhere.")

    def _rotate(self, model: type[models.Model], fields: Fields, alias: str) -> tuple[int, int]:
        """Encrypt a table's values again, in transactions of 500 rows.

        Returns how many rows were changed, and how many values could not be decrypted.
        """
        rows = model._base_manager.using(alias).order_by("pk")
        total, seen, changed, unreadable, last = rows.count(), 0, 0, 0, None
        while batch := list((rows if last is None else rows.filter(pk__gt=last))[:_BATCH_SIZE]):
            last = batch[-1].pk
            with transaction.atomic(using=alias):
                for row in batch:
                    faults = [self._rotate_value(row, field, alias) for field in fields]
                    changed += True in faults
                    unreadable += faults.count(None)
            seen += len(batch)
            self._say(f"  {model._meta.db_table}: {seen:,} of {total:,} rows")
        return changed, unreadable

    def _rotate_value(
        self, row: models.Model, field: EncryptedTextField, alias: str
    ) -> bool | None:
        """Whether a value was encrypted again; None if it could not be decrypted."""
        stored, context = str(row.__dict__[field.attname]), field.context_of(row)
        try:
            if crypto.is_current(stored, context=context):
                return False
            new = crypto.encrypt(crypto.decrypt(stored, context=context), context=context)
        except crypto.CryptoError as exc:
            if not self._is_quiet:
                place = f"{field.model._meta.db_table}.{field.attname}"
                self.stderr.write(f"{place}, row {row.pk}: {exc}")
            return None
        return _replace(row, field, stored, new, alias)

    def _say(self, line: str) -> None:
        if not self._is_quiet:
            self.stdout.write(line)
            self.stdout.flush()


def _replace(
    row: models.Model, field: EncryptedTextField, stored: str, new: str, alias: str
) -> bool:
    """Write the new value, unless somebody has saved another one since it was read."""
    quote, meta = connections[alias].ops.quote_name, field.model._meta
    column, pk = quote(field.attname), quote(meta.pk.attname)
    with connections[alias].cursor() as cursor:
        if meta.db_table in APPEND_ONLY:
            cursor.execute("SET LOCAL chatplatform.changes_audit_log = 'on'")
        cursor.execute(
            f"UPDATE {quote(meta.db_table)} SET {column} = %s WHERE {pk} = %s AND {column} = %s",
            [new, row.pk, stored],
        )
        return bool(cursor.rowcount)
