"""Replaces the ids of a client that moves to another cell, where its numbers may be taken.

UUIDs stay. Foreign keys show which columns hold numbers; the tables below name the other columns.
A test checks that they cover each JSON column and each column whose name says that it is an id.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import orjson
from django.apps import apps
from django.db import connections, models

Row = dict[str, Any]
Model = type[models.Model]

# Columns without a foreign key: a number, or an array of them.
NUMBERS = {
    "chatplatform.Job.client_id": "identity.Client",
    "identity.ApiKey.bot_id": "bots.Bot",
    "identity.CreditEntry.job_id": "chatplatform.Job",
    "bots.GoldenRun.document_ids": "bots.Document",
    "chats.Conversation.visitor_id": "chats.Customer",
    "chats.CustomerErasure.customer_id": "chats.Customer",
}
# JSON of our own, which holds ids under the names in KEYS.
TREES = {
    "chatplatform.Job.args",
    "chats.Conversation.responsible",
    "chats.Message.citations",
    "chats.Message.content",
    "chats.Message.recipient",
    "chats.Message.receipt",
    "identity.AuditEvent.changes",
    "reports.Export.param",
    "webhooks.Event.data",
}
KEYS = {
    "agent": "identity.User",
    "agent_id": "identity.User",
    "api_key_id": "identity.ApiKey",
    "assignee_id": "identity.User",
    "assignee_ids": "identity.User",
    "bot": "bots.Bot",
    "bot_id": "bots.Bot",
    "bot_ids": "bots.Bot",
    "client_id": "identity.Client",
    "customer_id": "chats.Customer",
    "document_id": "bots.Document",
    "document_ids": "bots.Document",
    "merged_id": "chats.Customer",
    "user_id": "identity.User",
    "web_url_id": "bots.WebUrl",
}
_KEYS_OF_JOBS = KEYS | {
    "callback_id": "channels_app.InboundCallback",
    "client": "identity.Client",
    "group_id": "chats.QuestionGroup",
    "subscription_id": "identity.Subscription",
    "up_to": "chats.Tagging",
}
# Objects, or lists of objects, whose `id` is the number of a row.
_ROWS = {
    "chunks": "bots.Chunk",
    "customer": "chats.Customer",
    "document": "bots.Document",
    "feedback": "chats.Feedback",
}
# The types of a message's sender and recipient, whose `id` is text.
_TYPES = {"agent": "identity.User", "bot": "bots.Bot", "customer": "chats.Customer"}
# The client's people, whose number is the text `external_id`.
_PEOPLE = {"assigned_by", "assignee", "by"}
# Data of the client's own systems, which stays as it is.
_FREE = {"arguments", "attributes", "location", "metadata", "translations"}
# Nouns of `noun:number`, in the audit log and in the keys of jobs, that are not a model's name.
_NOUNS = {
    "ask-again": "chats.QuestionGroup",
    "assign": "identity.Client",
    "credits": "identity.Client",
    "encode": "bots.Document",
    "group-questions": "bots.Bot",
    "tag": "chats.ClientTag",
    "tags": "identity.Client",
}
_NUMBERED = re.compile(r"([a-z_-]+):([0-9]+)(?=:|$)")
_SAVED_FILTER = re.compile(
    r"\b(agent|assignee|assignee_ids|bot|bot_ids|customer|document|user)(__[a-z_]+)?=([0-9]+)"
)
_FILTERED = KEYS | {"assignee": "identity.User", "customer": "chats.Customer",
                    "document": "bots.Document", "user": "identity.User"}  # fmt: skip


class DanglingReference(Exception):
    """A row has a required reference to a row that the archive does not hold."""


def is_counted(model: Model) -> bool:
    """Whether the rows of a model are numbered, with one sequence for all clients."""
    return isinstance(model._meta.pk, models.AutoField)


class NewIds:
    """The new number of each row of an archive, taken from this database's sequences."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._new: dict[str, dict[int, int]] = {}
        nouns = {_noun(model): model._meta.label for model in apps.get_models()}
        self._nouns = nouns | _NOUNS

    def add(self, model: Model, old: Iterable[int]) -> None:
        """Give new numbers to rows, in the order of their old numbers."""
        ordered = sorted(old)
        self._new[model._meta.label] = dict(
            zip(ordered, self._take(model, len(ordered)), strict=True)
        )

    def known(self, label: str, old: int) -> int | None:
        """The new number of a row of the archive; None for any other."""
        return self._new.get(label, {}).get(old)

    def of(self, label: str, old: int) -> int:
        """The new number of a row; for a deleted row, a number that no row will ever have.

        Its old number could belong to another client's row here.
        """
        numbers = self._new.setdefault(label, {})
        if old not in numbers:
            (numbers[old],) = self._take(apps.get_model(label), 1)
        return numbers[old]

    def _take(self, model: Model, count: int) -> list[int]:
        meta = model._meta
        assert meta.pk
        with connections[self._using].cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [f'"{meta.db_table}"', meta.pk.column, count],
            )
            return [row[0] for row in cursor.fetchall()]

    # --- rows ---------------------------------------------------------------------------------

    def translate(self, model: Model, row: Row) -> Row:
        """Replace the ids in a row with those of this cell."""
        label, pk = model._meta.label, model._meta.pk
        for field in model._meta.concrete_fields:
            name, value = field.attname, row.get(field.attname)
            if value is None:
                continue
            place = f"{label}.{name}"
            if field is pk and is_counted(model):
                row[name] = self.of(label, value)
            elif field.related_model and is_counted(field.related_model):
                row[name] = self._related(field, value)
            elif place in NUMBERS:
                row[name] = self._number(NUMBERS[place], value)
            elif place in TREES:
                keys = _KEYS_OF_JOBS if label == "chatplatform.Job" else KEYS
                row[name] = self.tree(value, keys)
            elif place in OWN_FORMS:
                row[name] = OWN_FORMS[place](self, row, value)
        return row

    def _related(self, field: Any, value: int) -> int | None:
        label = field.related_model._meta.label
        if not field.db_constraint:
            return self.of(label, value)
        new = self.known(label, value)
        if new is None and not field.null:
            raise DanglingReference(f"{field.model._meta.label}.{field.attname} names {value}.")
        return new

    def _number(self, label: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._number(label, item) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            return self.of(label, value)
        return self._text(label, value) if isinstance(value, str) else value

    def _text(self, label: str, value: str) -> str:
        """A number as text. An unknown one stays: it may be an id of the client's own."""
        new = self.known(label, int(value)) if value.isascii() and value.isdigit() else None
        return value if new is None else str(new)

    def tree(self, value: Any, keys: dict[str, str] = KEYS) -> Any:
        """JSON of our own, with the new ids."""
        if isinstance(value, list):
            return [self.tree(item, keys) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() >= {"type", "id"} and value["type"] in _TYPES:
            value = self._side(value)
        return {name: self._branch(name, item, keys) for name, item in value.items()}

    def _branch(self, name: str, value: Any, keys: dict[str, str]) -> Any:
        if name in _FREE:
            return value
        if name in keys and not isinstance(value, dict):
            return self._number(keys[name], value)
        if name in _PEOPLE and isinstance(value, dict):
            own_id = value.get("external_id")
            own = {"external_id": self._text("identity.User", own_id)} if own_id else {}
            return {**value, **own}
        value = self.tree(value, keys)
        if name in _ROWS:
            rows = value if isinstance(value, list) else [value]
            for row in rows:
                if isinstance(row, dict) and isinstance(row.get("id"), int):
                    row["id"] = self.of(_ROWS[name], row["id"])
        return value

    def _side(self, side: Row) -> Row:
        own_id = side["id"]
        return {**side, "id": self._text(_TYPES[side["type"]], own_id)} if own_id else side

    def _sender(self, row: Row, value: str) -> str:
        label = _TYPES.get(row["sender_type"])
        return self._text(label, value) if label else value

    def _nouns_of(self, _: Row, value: str) -> str:
        """Replace the number in a text such as `user:12` or `encode:7:0`."""

        def new(found: re.Match[str]) -> str:
            label = self._nouns.get(found[1])
            return f"{found[1]}:{self.of(label, int(found[2]))}" if label else found[0]

        return _NUMBERED.sub(new, value)

    def _key_of_job(self, row: Row, value: str) -> str:
        if value.isdigit():  # of a job that each client has once
            return self._text("identity.Client", value)
        return self._nouns_of(row, value)

    def _saved_query(self, _: Row, value: str) -> str:
        def new(found: re.Match[str]) -> str:
            of = self._text(_FILTERED[found[1]], found[3])
            return f"{found[1]}{found[2] or ''}={of}"

        return _SAVED_FILTER.sub(new, value)

    def _golden(self, _: Row, value: list[Any]) -> list[Any]:
        """The golden questions of a run, each with its new number."""
        label = "bots.GoldenQuestion"
        return [
            {**item, "id": self._number(label, item["id"])} if "id" in item else item
            for item in value
        ]

    def _reference(self, _: Row, value: str) -> str:
        """The reference of a golden question's charge, which a retried job must find again."""
        parts = value.split(":")
        if parts[0] == "golden" and len(parts) == 4:
            parts[2] = self._text("bots.GoldenQuestion", parts[2])
        return ":".join(parts)

    def _body(self, _: Row, value: str) -> str:
        """The JSON body that is sent for an event, as hexadecimal digits."""
        body = self.tree(orjson.loads(bytes.fromhex(value.removeprefix("\\x"))))
        return "\\x" + orjson.dumps(body).hex()


def _noun(model: Model) -> str:
    """The audit log's noun for rows of the model."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower() if is_counted(model) else ""


# Columns whose values have a format of their own.
OWN_FORMS: dict[str, Callable[[NewIds, Row, Any], Any]] = {
    "bots.GoldenRun.questions": NewIds._golden,
    "bots.GoldenRun.results": NewIds._golden,
    "chatplatform.Job.dedupe_key": NewIds._key_of_job,
    "chatplatform.Job.ordering_key": NewIds._key_of_job,
    "chats.Message.sender_id": NewIds._sender,
    "identity.AuditEvent.subject": NewIds._nouns_of,
    "identity.CreditEntry.reference": NewIds._reference,
    "identity.SavedView.query": NewIds._saved_query,
    "webhooks.Payload.body": NewIds._body,
}
