"""`manage.py import_conversations DIR`: import conversations and messages, and notify nobody.

DIR contains `conversations*.json` and `messages*.json` (or `.jsonl`): pages or rows of this
platform's export or, with --format chatwoot, responses of Chatwoot's API. If the command is run
again after a crash, it continues.
"""

import csv
import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, transaction
from pydantic import ValidationError

from bots.models import Bot
from chatplatform import locks
from chats.schemas.data_exchange import ConversationEntity, MessageEntity
from chats.services.data_exchange import chatwoot, importing
from chats.services.data_exchange.importing import ImportResult
from identity.models import Client

# The number of rows that are imported in one transaction.
BATCH = 200
KINDS = ("conversations", "messages")
RETRY_HINT = "correct the file and run the command again"


@dataclass
class Source:
    """Rows of one kind, and the share of these rows that has been read, from 0 to 1."""

    rows: Iterable[Any]
    share: Callable[[], float]


class Command(BaseCommand):
    help = "Import conversations and messages; nothing is announced, sent or answered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--client", required=True, help="the client's code")
        parser.add_argument("--bot", type=int, required=True, help="the bot that gets the chats")
        parser.add_argument("--format", choices=["portable", "chatwoot"], default="portable")
        parser.add_argument("--dry-run", action="store_true", help="import, then roll back")
        parser.add_argument(
            "--id-map",
            type=Path,
            help="write a CSV with the kind, source id and new id of each row",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except (OperationalError, InterfaceError) as exc:
            raise CommandError(
                f"The database failed ({_first_line(exc)}): run the command again, which continues"
                " after the rows that it has imported."
            ) from exc

    def _run(self, options: dict[str, Any]) -> None:
        client = Client.objects.filter(code=options["client"]).first()
        if client is None:
            raise CommandError(f"There is no client with the code {options['client']!r}.")
        bot = Bot.objects.for_client(client).filter(pk=options["bot"]).first()
        if bot is None:
            raise CommandError(f"This client has no bot {options['bot']}.")
        id_map: Path | None = options["id_map"]
        if id_map and not id_map.absolute().parent.is_dir():
            raise CommandError(f"There is no folder {id_map.parent} for the id map.")
        with (
            locks.try_lock(f"import:{client.pk}") as is_held,
            transaction.atomic() if options["dry_run"] else nullcontext(),
        ):
            if not is_held:
                raise CommandError(
                    "Another import of this client is running. Wait until it has ended."
                )
            result = self._import(client, bot, options["folder"], options["format"])
            if options["dry_run"]:
                transaction.set_rollback(True)
        if id_map:
            with id_map.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("kind", "source_id", "new_id"), *result.ids])
        self._report(result, is_dry_run=options["dry_run"])

    def _import(self, client: Client, bot: Bot, folder: Path, file_format: str) -> ImportResult:
        result = ImportResult()
        chats, messages = (_chatwoot if file_format == "chatwoot" else _portable)(folder, bot)
        for page in _pages(ConversationEntity, chats.rows):
            with _database_errors_reported(page):
                importing.import_conversations(client, page, bot=bot, result=result)
            self._show_progress("conversations", result, chats)
        for page in _pages(MessageEntity, messages.rows):
            with _database_errors_reported(page):
                importing.import_messages(client, page, result=result)
            self._show_progress("messages", result, messages)
        for chat_ids in _batches(result.chat_ids):
            importing.close_gaps(client, chat_ids, result=result)
        return result

    def _show_progress(self, kind: str, result: ImportResult, source: Source) -> None:
        created, existing = result.created[kind], result.existing[kind]
        line = f"{kind}: {source.share():.0%} read, {created} made, {existing} known"
        self.stdout.write(line.ljust(70), ending="\r")

    def _report(self, result: ImportResult, *, is_dry_run: bool) -> None:
        for warning in result.warnings:
            self.stderr.write(warning)
        verb = "would be made" if is_dry_run else "made"
        for kind in KINDS:
            self.stdout.write(
                f"{kind}: {result.created[kind]} {verb}, {result.existing[kind]} were there"
                f" already, {result.refused[kind]} refused"
            )


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(rows)
    return iter(lambda: list(islice(remaining, BATCH)), [])


def _pages(schema: type[Any], rows: Iterable[Any]) -> Iterator[list[Any]]:
    """The rows as schemas, in batches; an invalid row ends the import."""
    return _batches(_validated(schema, row) for row in rows)


@contextmanager
def _database_errors_reported(page: list[Any]) -> Iterator[None]:
    """Report in one line why the database refuses a row of the page, such as a value that is too
    long or a duplicate id."""
    try:
        yield
    except (DataError, IntegrityError, UnicodeEncodeError) as exc:
        raise CommandError(
            f"{type(page[0]).__name__} {page[0].id} to {page[-1].id}: {_first_line(exc)}."
            f" None of these rows was imported; all earlier rows were; {RETRY_HINT}."
        ) from exc


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0]


def _validated(schema: type[Any], row: Any) -> Any:
    try:
        return schema.model_validate(row)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(map(str, first["loc"]))
        row_id = row.get("id") if isinstance(row, dict) else repr(row)[:60]
        raise CommandError(
            f"{schema.__name__} {row_id}: {where}: {first['msg']}. All earlier batches of"
            f" {BATCH} rows were imported; {RETRY_HINT}."
        ) from exc


def _portable(folder: Path, bot: Bot) -> tuple[Source, Source]:
    """The conversations and the messages of an export of this platform."""
    files = {kind: _Files(folder, kind) for kind in KINDS}

    def rows(kind: str) -> Iterator[Any]:
        for document in files[kind].documents():
            items = document.get("items", document) if isinstance(document, dict) else document
            yield from items if isinstance(items, list) else [items]

    chats, messages = (Source(rows(kind), files[kind].share) for kind in KINDS)
    return chats, messages


def _chatwoot(folder: Path, bot: Bot) -> tuple[Source, Source]:
    """The conversations and the messages of Chatwoot's API. All rows are read first, because a
    conversation is imported with the number of its messages."""
    files = [_Files(folder, kind) for kind in KINDS]
    with _chatwoot_errors_reported():
        chats, messages = (_chatwoot_rows(kind_files) for kind_files in files)
    language = bot.default_language
    translated = chatwoot.conversations(chats, messages, bot_id=bot.pk, language=language)
    return (
        _counted(translated, len(chats)),
        _counted(chatwoot.messages(messages, chats), len(messages)),
    )


def _chatwoot_rows(files: "_Files") -> list[Any]:
    """The rows of all files without duplicates: pages overlap if conversations changed during the
    export."""
    return list(
        {row["id"]: row for page in files.documents() for row in chatwoot.rows(page)}.values()
    )


def _counted(rows: Iterator[Any], total: int) -> Source:
    """The rows, with the share of `total` that has been read."""
    done = 0

    def counting() -> Iterator[Any]:
        nonlocal done
        with _chatwoot_errors_reported():
            for row in rows:
                done += 1
                yield row

    return Source(counting(), lambda: done / total)


@contextmanager
def _chatwoot_errors_reported() -> Iterator[None]:
    """Report in one line that a row doesn't have the format of Chatwoot's API."""
    try:
        yield
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as exc:
        raise CommandError(
            f"A row doesn't have the format of Chatwoot's API: {type(exc).__name__}: {exc};"
            f" {RETRY_HINT}."
        ) from exc


class _Files:
    """The JSON files whose names begin with `kind`, sorted by name, `.json` before `.jsonl`."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._paths = sorted(folder.glob(f"{kind}*.json")) + sorted(folder.glob(f"{kind}*.jsonl"))
        if not self._paths:
            raise CommandError(f"There is no {kind}*.json or {kind}*.jsonl in {folder}.")
        self._size = sum(path.stat().st_size for path in self._paths)
        self._read = 0

    def share(self) -> float:
        return self._read / self._size if self._size else 1

    def documents(self) -> Iterator[Any]:
        for path in self._paths:
            try:
                with path.open("rb") as file:
                    by_line = path.suffix == ".jsonl"
                    for number, text in enumerate(file if by_line else [file.read()], 1):
                        self._read += len(text)
                        if text.strip() or not by_line:
                            yield _parsed(text, path.name, number)
            except OSError as exc:
                raise CommandError(f"{path.name}: cannot be read: {exc.strerror}.") from exc


def _parsed(text: bytes, name: str, number: int) -> Any:
    """The JSON value of a text, which may have a byte order mark. `number` is the line of the file
    in which the text begins."""
    try:
        return json.loads(text.decode("utf-8-sig").rstrip())
    except UnicodeDecodeError as exc:
        wrong, line = f"not UTF-8: {exc.reason}", number + text.count(b"\n", 0, exc.start)
    except json.JSONDecodeError as exc:
        wrong, line = f"not JSON: {exc.msg} at character {exc.colno}", number + exc.lineno - 1
    except RecursionError:
        wrong, line = "JSON that is nested too deeply", number
    except ValueError as exc:  # A number with thousands of digits.
        wrong, line = f"JSON that cannot be read: {exc}", number
    raise CommandError(f"{name}, line {line}: {wrong}; {RETRY_HINT}.")
