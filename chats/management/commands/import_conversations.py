"""`manage.py import_conversations DIR`: take conversations and messages in, without side effects.

DIR holds `conversations*.json` and `messages*.json` (or `.jsonl`): pages or rows of our own export,
or, with --format chatwoot, answers of Chatwoot's API. Run again after a crash, it goes on.
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
from django.db import (
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    transaction,
)
from pydantic import ValidationError

from bots.models import Bot
from chatplatform import locks
from chats.services.exchange import chatwoot, transfer
from chats.services.exchange.transfer import Tally
from chats.shapes.portable import ConversationEntity, MessageEntity
from identity.models import Client

BATCH = 200
KINDS = ("conversations", "messages")
CORRECT_IT = "correct the file and run the command again"


@dataclass
class Source:
    """Rows of one kind, and how much of them has been read: 0..1."""

    rows: Iterable[Any]
    share: Callable[[], float]


class Command(BaseCommand):
    help = "Import conversations and messages; nothing is announced, sent or answered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--client", required=True, help="the client's code")
        parser.add_argument("--bot", type=int, required=True, help="the bot that gets the chats")
        parser.add_argument("--format", choices=["portable", "chatwoot"], default="portable")
        parser.add_argument("--dry-run", action="store_true", help="do it all and take it back")
        parser.add_argument("--id-map", type=Path, help="a CSV file to write: kind, there, here")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except (OperationalError, InterfaceError) as exc:
            raise CommandError(
                f"The database failed ({_first_line(exc)}): run the command again, and it"
                " goes on after what it has imported."
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
        with _alone(client), transaction.atomic() if options["dry_run"] else nullcontext():
            tally = self._import(client, bot, options["folder"], options["format"])
            if options["dry_run"]:
                transaction.set_rollback(True)
        if id_map:
            _write_map(id_map, tally)
        self._say(tally, dry=options["dry_run"])

    def _import(self, client: Client, bot: Bot, folder: Path, form: str) -> Tally:
        tally = Tally()
        chats, said = (_chatwoot if form == "chatwoot" else _portable)(folder, bot)
        for page in _pages(ConversationEntity, chats.rows):
            with _named(page):
                transfer.import_conversations(client, page, bot=bot, tally=tally)
            self._progress("conversations", tally, chats)
        for page in _pages(MessageEntity, said.rows):
            with _named(page):
                transfer.import_messages(client, page, tally=tally)
            self._progress("messages", tally, said)
        for some in _batches(tally.chats):
            transfer.put_in_order(client, some, tally=tally)
        return tally

    def _progress(self, kind: str, tally: Tally, source: Source) -> None:
        made, known = tally.made[kind], tally.known[kind]
        line = f"{kind}: {source.share():.0%} read, {made} made, {known} known"
        self.stdout.write(line.ljust(70), ending="\r")

    def _say(self, tally: Tally, *, dry: bool) -> None:
        for remark in tally.remarks:
            self.stderr.write(remark)
        verb = "would be made" if dry else "made"
        for kind in KINDS:
            self.stdout.write(
                f"{kind}: {tally.made[kind]} {verb}, {tally.known[kind]} were there already,"
                f" {tally.refused[kind]} refused"
            )


@contextmanager
def _alone(client: Client) -> Iterator[None]:
    """Be the only import of the client."""
    with locks.held(f"import:{client.pk}") as has_it:
        if not has_it:
            raise CommandError("Another import of this client is running: wait for its end.")
        yield


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(rows)
    return iter(lambda: list(islice(remaining, BATCH)), [])


def _pages(shape: type[Any], rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows as checked shapes, a batch at a time; ends at the first that is not one."""
    return _batches(_checked(shape, row) for row in rows)


@contextmanager
def _named(page: list[Any]) -> Iterator[None]:
    """What the database refuses is said in one line: a value too long, an id or number twice."""
    try:
        yield
    except (DataError, IntegrityError, UnicodeEncodeError) as exc:
        raise CommandError(
            f"{type(page[0]).__name__} {page[0].id} to {page[-1].id}: {_first_line(exc)}."
            f" None of these is imported, what was read before them is; {CORRECT_IT}."
        ) from exc


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0]


def _checked(shape: type[Any], row: Any) -> Any:
    try:
        return shape.model_validate(row)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(map(str, first["loc"]))
        named = row.get("id") if isinstance(row, dict) else repr(row)[:60]
        raise CommandError(
            f"{shape.__name__} {named}: {where}: {first['msg']}. What was read before it"
            f" is imported; {CORRECT_IT}."
        ) from exc


def _portable(folder: Path, bot: Bot) -> tuple[Source, Source]:
    files = {kind: _Files(folder, kind) for kind in KINDS}

    def rows(kind: str) -> Iterator[Any]:
        for document in files[kind].documents():
            items = document.get("items", document) if isinstance(document, dict) else document
            yield from items if isinstance(items, list) else [items]

    chats, said = (Source(rows(kind), files[kind].share) for kind in KINDS)
    return chats, said


def _chatwoot(folder: Path, bot: Bot) -> tuple[Source, Source]:
    """All is read first: the chats are told how many messages they have."""
    files = [_Files(folder, kind) for kind in KINDS]
    with _as_chatwoot_answers():
        # Pages overlap where the source went on being used while it was read.
        chats, said = (
            list({row["id"]: row for doc in one.documents() for row in chatwoot.rows(doc)}.values())
            for one in files
        )
    translated = chatwoot.conversations(chats, said, bot_id=bot.pk, language=bot.default_language)
    return _counted(translated, len(chats)), _counted(chatwoot.messages(said, chats), len(said))


def _counted(rows: Iterator[Any], total: int) -> Source:
    done = 0

    def counting() -> Iterator[Any]:
        nonlocal done
        with _as_chatwoot_answers():
            for row in rows:
                done += 1
                yield row

    return Source(counting(), lambda: done / total)


@contextmanager
def _as_chatwoot_answers() -> Iterator[None]:
    """A row that lacks what Chatwoot always answers is said in one line."""
    try:
        yield
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as exc:
        raise CommandError(
            f"A row is not as Chatwoot's API answers: {type(exc).__name__}: {exc}; {CORRECT_IT}."
        ) from exc


class _Files:
    """The files whose names begin with `kind`: JSON documents, in the names' order."""

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
    """The JSON of a text that begins in that line; a byte order mark may stand before it."""
    try:
        return json.loads(text.decode("utf-8-sig").rstrip())
    except UnicodeDecodeError as exc:
        wrong, line = f"not UTF-8: {exc.reason}", number + text.count(b"\n", 0, exc.start)
    except json.JSONDecodeError as exc:
        wrong, line = f"not JSON: {exc.msg} at character {exc.colno}", number + exc.lineno - 1
    except RecursionError:
        wrong, line = "JSON nested too deep to be read", number
    except ValueError as exc:  # a number of thousands of digits
        wrong, line = f"not JSON that can be read: {exc}", number
    raise CommandError(f"{name}, line {line}: {wrong}; {CORRECT_IT}.")


def _write_map(path: Path, tally: Tally) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "there", "here"])
        writer.writerows(tally.ids)
