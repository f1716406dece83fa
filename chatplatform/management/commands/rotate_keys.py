"""`manage.py rotate_keys`: encrypts every stored secret with the newest key of FIELD_KEYS."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections, models, transaction

from chatplatform import crypto
from chatplatform.crypto import EncryptedTextField
from chatplatform.management.commands.migrate import APPEND_ONLY, migrating

_ROWS_AT_ONCE = 500
Fields = list[EncryptedTextField]


class Command(BaseCommand):
    help = (
        "Encrypt every stored secret with the first key of FIELD_KEYS. It may be stopped at any"
        " time and goes on where it was; the platform may run meanwhile. Runs as the owner of the"
        " tables."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        alias, self._unreadable = migrating(), 0
        for model, fields in encrypted_columns():
            rows = self._rotate(model, fields, alias)
            names = ", ".join(field.attname for field in fields)
            self._say(f"{model._meta.db_table} ({names}): {rows:,} rows were encrypted anew.")
        used, newest = _keys_in_use(alias), settings.FIELD_KEYS[0][0]
        if self._unreadable or used.keys() - {newest}:
            counts = ", ".join(f"{key} {count:,}" for key, count in sorted(used.items()))
            raise CommandError(
                f"Keep every key of FIELD_KEYS: {self._unreadable:,} values could not be decrypted."
                f" Values by key: {counts}. Mend what is named above, and run this again."
            )
        old = ", ".join(key for key, _ in settings.FIELD_KEYS[1:])
        self._say(f"All {used[newest]:,} values are encrypted with {newest}.")
        if old:
            self._say(f"You may remove from FIELD_KEYS: {old}, if all processes have {newest}.")

    def _rotate(self, model: type[models.Model], fields: Fields, alias: str) -> int:
        """Encrypt a table's values anew, some rows in each transaction; return how many rows."""
        old = _not_current(model, fields, alias)
        total, changed, last = old.count(), 0, None
        while rows := list((old if last is None else old.filter(pk__gt=last))[:_ROWS_AT_ONCE]):
            last = rows[-1].pk
            with transaction.atomic(using=alias):
                changed += sum(self._rotate_row(row, fields, alias) for row in rows)
            self._say(f"  {model._meta.db_table}: {changed:,} of {total:,} rows")
        return changed

    def _rotate_row(self, row: models.Model, fields: Fields, alias: str) -> bool:
        was_changed = False
        for field in fields:
            stored = str(row.__dict__[field.attname])
            try:
                if not crypto.is_current(stored):
                    new = crypto.encrypt(getattr(row, field.attname), context=field.context_of(row))
                    was_changed |= _replace(row, field, stored, new, alias)
            except crypto.CryptoError as exc:
                self._unreadable += 1
                table = field.model._meta.db_table
                self.stderr.write(f"{table}.{field.attname}, row {row.pk}: {exc}")
        return was_changed

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def encrypted_columns() -> Iterator[tuple[type[models.Model], Fields]]:
    """Every model with encrypted fields, and these: a test holds that nothing else encrypts."""
    for model in apps.get_models():
        fields = [f for f in model._meta.local_concrete_fields if isinstance(f, EncryptedTextField)]
        if fields:
            yield model, fields


def _not_current(
    model: type[models.Model], fields: Fields, alias: str
) -> models.QuerySet[models.Model]:
    """Rows with a value of another key than the newest, in their order."""
    quote, newest = connections[alias].ops.quote_name, settings.FIELD_KEYS[0][0]
    columns = [f"split_part({quote(field.attname)}, ':', 2) <> %s" for field in fields]
    rows = model._base_manager.using(alias).order_by("pk")
    return rows.extra(where=[" OR ".join(columns)], params=[newest] * len(columns))


def _replace(
    row: models.Model, field: EncryptedTextField, stored: str, new: str, alias: str
) -> bool:
    """Write the value if it is still the one that was read: somebody may have saved the row."""
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


def _keys_in_use(alias: str) -> Counter[str]:
    """How many values each key has encrypted, by what the values themselves say."""
    quote, used = connections[alias].ops.quote_name, Counter[str]()
    with connections[alias].cursor() as cursor:
        for model, fields in encrypted_columns():
            for column in (quote(field.attname) for field in fields):
                table = quote(model._meta.db_table)
                cursor.execute(
                    f"SELECT split_part({column}, ':', 2), count(*) FROM {table} GROUP BY 1"
                )
                used.update({key or "(not encrypted)": count for key, count in cursor.fetchall()})
    return used
