"""`manage.py import_conversations DIR`: take conversations and messages in, without side effects.

DIR holds `conversations*.json` and `messages*.json` (or `.jsonl`): pages or rows of our own export,
or, with --format chatwoot, answers of Chatwoot's API. Run again after a crash, it goes on.
"""

import csv
import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DataError, IntegrityError, transaction
from pydantic import ValidationError

from bots.models import Bot
from chats.serializers.portable import ConversationEntity, MessageEntity
from chats.services import chatwoot, transfer
from chats.services.transfer import Tally
from identity.models import Client

BATCH = 200


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
        client = Client.objects.filter(code=options["client"]).first()
        if client is None:
            raise CommandError(f"There is no client with the code {options['client']!r}.")
        bot = Bot.objects.of(client).filter(pk=options["bot"]).first()
        if bot is None:
            raise CommandError(f"This client has no bot {options['bot']}.")
        folder: Path = options["folder"]
        read = _chatwoot if options["format"] == "chatwoot" else _portable
        with transaction.atomic() if options["dry_run"] else nullcontext():
            tally = self._import(client, bot, *read(folder, bot))
            if options["dry_run"]:
                transaction.set_rollback(True)
        if options["id_map"]:
            _write_map(options["id_map"], tally)
        self._say(tally, dry=options["dry_run"])

    def _import(self, client: Client, bot: Bot, chats: Iterable[Any], said: Iterable[Any]) -> Tally:
        tally = Tally()
        for page in _pages(ConversationEntity, chats):
            with _named(page):
                transfer.import_conversations(client, page, bot=bot, tally=tally)
            self._progress("conversations", tally)
        for page in _pages(MessageEntity, said):
            with _named(page):
                transfer.import_messages(client, page, tally=tally)
            self._progress("messages", tally)
        return tally

    def _progress(self, kind: str, tally: Tally) -> None:
        made, known = tally.made[kind], tally.known[kind]
        self.stdout.write(f"{kind}: {made} made, {known} known", ending="\r")

    def _say(self, tally: Tally, *, dry: bool) -> None:
        for remark in tally.remarks:
            self.stderr.write(remark)
        verb = "would be made" if dry else "made"
        for kind in tally.made:
            self.stdout.write(
                f"{kind}: {tally.made[kind]} {verb}, {tally.known[kind]} were there already"
            )


def _pages(shape: type[Any], rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows as checked shapes, a batch at a time; ends at the first that is not one."""
    checked = (_checked(shape, row) for row in rows)
    return iter(lambda: list(islice(checked, BATCH)), [])


@contextmanager
def _named(page: list[Any]) -> Iterator[None]:
    """What the database refuses is said in one line: a value too long, an id or number twice."""
    try:
        yield
    except (DataError, IntegrityError) as exc:
        raise CommandError(
            f"{type(page[0]).__name__} {page[0].id} to {page[-1].id}: {str(exc).splitlines()[0]}."
            " None of these is imported, what was read before them is; correct the file and run"
            " the command again."
        ) from exc


def _checked(shape: type[Any], row: Any) -> Any:
    try:
        return shape.model_validate(row)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(map(str, first["loc"]))
        named = row.get("id") if isinstance(row, dict) else repr(row)[:60]
        raise CommandError(
            f"{shape.__name__} {named}: {where}: {first['msg']}. What was read before it"
            " is imported; correct the file and run the command again."
        ) from exc


def _portable(folder: Path, bot: Bot) -> tuple[Iterable[Any], Iterable[Any]]:
    def rows(kind: str) -> Iterator[Any]:
        for document in _documents(folder, kind):
            items = document.get("items", document) if isinstance(document, dict) else document
            yield from items if isinstance(items, list) else [items]

    return rows("conversations"), rows("messages")


def _chatwoot(folder: Path, bot: Bot) -> tuple[Iterable[Any], Iterable[Any]]:
    found = {
        kind: [row for document in _documents(folder, kind) for row in chatwoot.rows(document)]
        for kind in ("conversations", "messages")
    }
    # Pages overlap where the source went on being used while it was read.
    chats = list({row["id"]: row for row in found["conversations"]}.values())
    said = list({row["id"]: row for row in found["messages"]}.values())
    translated = chatwoot.conversations(chats, said, bot_id=bot.pk, language=bot.default_language)
    return translated, chatwoot.messages(said, chats)


def _documents(folder: Path, kind: str) -> Iterator[Any]:
    """Every JSON document of the files whose names begin with `kind`, in the names' order."""
    paths = sorted(folder.glob(f"{kind}*.json")) + sorted(folder.glob(f"{kind}*.jsonl"))
    if not paths:
        raise CommandError(f"There is no {kind}*.json or {kind}*.jsonl in {folder}.")
    for path in paths:
        with path.open(encoding="utf-8") as file:
            texts = file if path.suffix == ".jsonl" else [file.read()]
            for number, text in enumerate(texts, 1):
                try:
                    yield json.loads(text)
                except json.JSONDecodeError as exc:
                    raise CommandError(f"{path.name}, line {number}: not JSON: {exc}") from exc


def _write_map(path: Path, tally: Tally) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "there", "here"])
        writer.writerows(tally.ids)
