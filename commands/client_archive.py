"""The archive of a client: a ZIP with JSON lines for each table, its files, and a manifest.

An archive for another cell also holds the secrets, sealed row by row with the passphrase in
TRANSFER_KEY, which both cells must have; without a passphrase they are left out. The manifest holds
the checksum of every entry, and is signed with the passphrase if there is one.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management.base import CommandError
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from chatplatform import crypto
from chatplatform.admin_base import SECRETS
from chatplatform.crypto import EncryptedTextField

FORMAT = 1
MANIFEST, SEALED = "manifest.json", "sealed"
_FETCH_SIZE = 1_000
_NONCE_BYTES = 12
_MIN_PASSPHRASE = 16
_CHUNK = 1 << 20
Row = dict[str, Any]
# Raw bytes that may mention other clients' customers. Nothing needs them: a client is moved only
# after all its callbacks have been processed.
_HIDDEN = {"channels_app.InboundCallback.body"}


@dataclass
class Manifest:
    """Describes an archive and the checksums of its entries."""

    code: str
    # Whether another cell may import it; if not, it is a copy for the client.
    is_for_move: bool
    format: int = FORMAT
    # The latest migration of each app.
    release: dict[str, str] = field(default_factory=dict)
    has_secrets: bool = False
    salt: str = field(default_factory=lambda: secrets.token_hex(16))
    # The cell that wrote it.
    cell: str = ""
    # A digest that shows whether both cells have the same SECRET_KEY, without revealing it.
    secret_key: str = ""
    # Rows and checksum of each table's entry; checksum of each file.
    tables: dict[str, tuple[int, str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    # The last hash of the client's audit log.
    audit_hash: str = ""
    signature: str = ""

    def signed_bytes(self) -> bytes:
        return orjson.dumps({**vars(self), "signature": ""}, option=orjson.OPT_SORT_KEYS)


class Sealer:
    """Seals the secrets of rows under a passphrase, bound to the archive and to their row."""

    def __init__(self, passphrase: str, salt: str) -> None:
        if len(passphrase) < _MIN_PASSPHRASE:
            raise CommandError(f"TRANSFER_KEY has at least {_MIN_PASSPHRASE} characters.")
        keys = hashlib.scrypt(
            passphrase.encode(), salt=salt.encode(), n=2**15, r=8, p=1, maxmem=2**26, dklen=64
        )
        self._cipher, self._signing = AESGCM(keys[:32]), keys[32:]

    def seal(self, values: Row, place: str) -> str:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, orjson.dumps(values), place.encode())
        return base64.b64encode(nonce + sealed).decode()

    def open(self, value: str, place: str) -> Row:
        try:
            sealed = base64.b64decode(value, validate=True)
            opened = self._cipher.decrypt(
                sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode()
            )
        except (InvalidTag, ValueError, binascii.Error) as exc:
            raise CommandError(f"The secrets of {place} do not open: is it damaged?") from exc
        values: Row = orjson.loads(opened)
        return values

    def signature(self, manifest: Manifest) -> str:
        return hmac.digest(self._signing, manifest.signed_bytes(), "sha256").hex()


def release() -> dict[str, str]:
    """The latest migration of each app, which determines the columns of all tables."""
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    return dict(applied)


def secret_key_check(salt: str) -> str:
    """A digest of SECRET_KEY. Only a cell with the same key can check API keys and cursors."""
    return hmac.digest(settings.SECRET_KEY.encode(), f"archive:{salt}".encode(), "sha256").hex()


def secret_columns(model: type[models.Model]) -> set[str]:
    """The columns with secrets, or with hashes of secrets, which no archive holds in plain text."""
    return {
        item.attname
        for item in model._meta.concrete_fields
        if isinstance(item, EncryptedTextField) or item.attname in SECRETS
    }


# --- writing --------------------------------------------------------------------------------------


class Writer:
    """Writes an archive; the caller holds the transaction in which all tables are read."""

    def __init__(self, opened: IO[bytes], manifest: Manifest, passphrase: str) -> None:
        self._zip = zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.manifest = manifest
        self._sealer = Sealer(passphrase, manifest.salt) if passphrase else None
        manifest.has_secrets = bool(passphrase)
        manifest.release, manifest.secret_key = release(), secret_key_check(manifest.salt)
        manifest.cell = settings.INSTANCE_ID

    def add_rows(self, rows: models.QuerySet[Any]) -> int:
        """Write a table's rows; returns how many."""
        name, count, digest = rows.model._meta.db_table, 0, hashlib.sha256()
        with self._zip.open(f"{name}.jsonl", "w") as entry:
            for row in read_rows(rows):
                line = json.dumps(self._shown(rows.model, row), separators=(",", ":")).encode()
                digest.update(line + b"\n")
                entry.write(line + b"\n")
                count += 1
        self.manifest.tables[name] = (count, digest.hexdigest())
        return count

    def _shown(self, model: type[models.Model], row: Row) -> Row:
        shown, hidden = split(model, row)
        if self._sealer and hidden:
            place = place_of(model, row)
            shown[SEALED] = self._sealer.seal(_opened(model, row, hidden), place)
        return shown

    def add_file(self, name: str) -> None:
        digest = hashlib.sha256()
        with default_storage.open(name) as file, self._zip.open(f"files/{name}", "w") as entry:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                entry.write(chunk)
        self.manifest.files[name] = digest.hexdigest()

    def finish(self) -> None:
        if self._sealer:
            self.manifest.signature = self._sealer.signature(self.manifest)
        self._zip.writestr(MANIFEST, orjson.dumps(vars(self.manifest)))
        self._zip.close()


def read_rows(rows: models.QuerySet[Any]) -> Iterator[Row]:
    """The rows as PostgreSQL converts them to JSON, which keeps values of every type exact."""
    meta = rows.model._meta
    columns = [item.attname for item in meta.concrete_fields if not item.generated]
    statement, values = rows.order_by("pk").values(*columns).query.sql_with_params()
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT to_jsonb(r)::text FROM ({statement}) r", values)
        while lines := cursor.fetchmany(_FETCH_SIZE):
            for (line,) in lines:
                yield json.loads(line)


def split(model: type[models.Model], row: Row) -> tuple[Row, Row]:
    """The readable part of a row, and its secrets."""
    secret = secret_columns(model)
    shown = {
        name: value
        for name, value in row.items()
        if name not in secret and f"{model._meta.label}.{name}" not in _HIDDEN
    }
    return shown, {name: row[name] for name in sorted(secret)}


def place_of(model: type[models.Model], row: Row) -> str:
    """The place (table and key) that the sealed secrets of a row are bound to."""
    assert model._meta.pk
    return f"{model._meta.db_table}:{row[model._meta.pk.attname]}"


def _opened(model: type[models.Model], row: Row, hidden: Row) -> Row:
    """The secrets, decrypted with this cell's keys."""
    values = {}
    for name, value in hidden.items():
        one: Any = model._meta.get_field(name)
        if isinstance(one, EncryptedTextField):
            value = crypto.decrypt(value, context=context_of(one, row))
        values[name] = value
    return values


def context_of(encrypted: EncryptedTextField, row: Row) -> str:
    """The context that an encrypted value of the row is bound to in its own cell."""
    meta = encrypted.model._meta
    assert meta.pk
    names = {meta.pk.attname, encrypted.tenant_attribute} & row.keys()
    return encrypted.context_of(encrypted.model(**{name: row[name] for name in names}))


# --- reading --------------------------------------------------------------------------------------


class Reader:
    """Reads an archive that moves a client. `check_entries` checks its rows and files."""

    def __init__(self, file: Path, passphrase: str) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
            fields = orjson.loads(self._zip.read(MANIFEST))
            self.manifest = Manifest(**fields)
        except (zipfile.BadZipFile, KeyError, TypeError, orjson.JSONDecodeError) as exc:
            raise CommandError(f"{file} is not a whole archive of a client.") from exc
        self._check_manifest()
        self._sealer = None
        if self.manifest.has_secrets:
            self._sealer = Sealer(passphrase, self.manifest.salt)
            if not hmac.compare_digest(
                self._sealer.signature(self.manifest), self.manifest.signature
            ):
                raise CommandError("TRANSFER_KEY is another one than that of the export.")

    def _check_manifest(self) -> None:
        found = self.manifest
        if found.format != FORMAT or not found.is_for_move:
            raise CommandError("This archive was not made by `export_client --move` of today.")
        own = release()
        if found.release != own:
            apps = found.release.keys() | own.keys()
            other = sorted(app for app in apps if found.release.get(app) != own.get(app))
            raise CommandError(f"The archive is of another release: {', '.join(other)} differ.")

    def check_entries(self) -> None:
        """Read everything once; a CommandError if something is missing or was changed."""
        try:
            for table, (count, digest) in self.manifest.tables.items():
                lines = _Counted(self._zip.open(f"{table}.jsonl"))
                if lines.digest() != digest or lines.count != count:
                    raise CommandError(f"{table} is not what the archive says it holds.")
            for name, digest in self.manifest.files.items():
                if _Counted(self._zip.open(f"files/{name}")).digest() != digest:
                    raise CommandError(f"The file {name} is not what the archive says it holds.")
        except (zipfile.BadZipFile, KeyError, EOFError) as exc:
            raise CommandError(f"The archive is damaged: {exc}") from exc

    def rows(self, model: type[models.Model]) -> Iterator[Row]:
        """A table's rows as they were exported; `sealed` holds the secrets if there are any."""
        with self._zip.open(f"{model._meta.db_table}.jsonl") as entry:
            for line in entry:
                yield json.loads(line)

    def secrets_of(self, model: type[models.Model], row: Row) -> Row | None:
        """Take the secrets out of a row and open them; None if the archive has none."""
        sealed = row.pop(SEALED, None)
        if sealed is None or self._sealer is None:
            return None
        return self._sealer.open(sealed, place_of(model, row))

    def store_file(self, name: str) -> None:
        """Save a file to this cell's storage under its old name, which is random."""
        with self._zip.open(f"files/{name}") as entry:
            stored = default_storage.save(name, File(entry, name))
        if stored != name:
            default_storage.delete(stored)
            raise CommandError(f"The file {name} is in this cell's store already.")

    def row_digests(self, model: type[models.Model]) -> set[bytes]:
        """A digest of each row of a table, without its secrets."""
        return {digest_of(row) for row in self.rows(model)}


class _Counted:
    """Reads a whole entry, counts its lines and computes its checksum."""

    def __init__(self, entry: IO[bytes]) -> None:
        self.count, self._digest = 0, hashlib.sha256()
        with entry:
            while chunk := entry.read(_CHUNK):
                self.count += chunk.count(b"\n")
                self._digest.update(chunk)

    def digest(self) -> str:
        return self._digest.hexdigest()


def digest_of(row: Row) -> bytes:
    """A digest of the readable part of a row."""
    shown = {name: value for name, value in row.items() if name != SEALED}
    return hashlib.blake2b(json.dumps(shown, sort_keys=True).encode(), digest_size=16).digest()
