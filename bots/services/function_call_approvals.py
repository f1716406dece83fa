"""Approval, expiry and queries of logged function calls. `function_runner` makes the calls."""

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from bots.models import Approval, Bot, CallStatus, Function, FunctionCall
from bots.schemas.function_calling import FunctionCallingEventsQuery
from chatplatform import jobs
from chatplatform.api.errors import ApiError, NotFound
from chatplatform.sql import column_names
from identity.models import User
from identity.services import audit

EXPIRES_AFTER = timedelta(hours=24)
_MAX_ARGUMENT_CHARS = 200
_MAX_LABEL_CHARS = 40
_FOR_CUSTOMER = f"""
SELECT {column_names(FunctionCall)} FROM bots_functioncall
WHERE conversation_id = %(conversation)s AND requires_approval = 'customer' AND (
    message_id = %(message)s AND decided_at IS NOT NULL
    OR status = 'waiting' AND decided_at IS NULL AND created_at > %(since)s
)
"""


class AlreadyDecided(ApiError):
    code, status = "already_decided", 409
    detail = gettext_noop("This call is no longer waiting for approval.")


@dataclass(frozen=True)
class ProposedCall:
    """A call that waits for the approval of an agent or the customer."""

    id: str
    # The function and its arguments as text; long arguments are cut.
    description: str
    requires_approval: Approval

    @classmethod
    def from_row(cls, row: FunctionCall) -> Self:
        rows = Function.objects.filter(bot=row.bot_id, name=row.function_name)
        parameters = rows.values_list("parameters", flat=True).first() or {}
        properties = parameters.get("properties", {})
        shown = ", ".join(
            f"{_label(name, properties.get(name))}: {_shown(value)}"
            for name, value in sorted(row.arguments.items())
            if value is not None
        )
        action = row.function_name.replace("_", " ").replace("-", " ")
        description = f"{action} ({shown})" if shown else action
        return cls(str(row.pk), description, Approval(row.requires_approval))


def _label(name: str, schema: Any) -> str:
    """A parameter in plain words: its title, else its name. Its description is for the bot."""
    title = schema.get("title") if isinstance(schema, dict) else None
    if isinstance(title, str) and 0 < len(title.strip()) <= _MAX_LABEL_CHARS:
        return title.strip().rstrip(".:")
    return name.replace("_", " ").replace("-", " ")


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:_MAX_ARGUMENT_CHARS]


def ordering_key(conversation_id: uuid.UUID | None) -> str:
    """The ordering key of a conversation's reply jobs, which run one after the other."""
    return f"chat:{conversation_id}"


def decide(bot: Bot, call_id: uuid.UUID, *, approve: bool, by: User) -> FunctionCall:
    """Store an agent's decision on a call and continue the reply; 409 `already_decided` if the call
    no longer waits for approval."""
    rows = FunctionCall.objects.filter(bot=bot, pk=call_id, requires_approval=Approval.AGENT)
    if not rows.exists():
        raise NotFound
    with transaction.atomic():
        if not _decide(rows, approve=approve, by=by):
            raise AlreadyDecided
        audit.record(
            bot.client_id,
            "function_call.approved" if approve else "function_call.rejected",
            by=by,
            subject=f"function_call:{call_id}",
        )
        row: FunctionCall = rows.get()
        jobs.enqueue(
            "chats.continue_after_approval",
            client_id=bot.client_id,
            ordering_key=ordering_key(row.conversation_id),
            call_id=str(call_id),
        )
    return row


def decide_as_customer(row: FunctionCall, *, approve: bool, message_id: uuid.UUID) -> bool:
    """Store the customer's decision, and assign the call to the message with the decision.

    False if the call was already decided or has expired.
    """
    rows = FunctionCall.objects.filter(pk=row.pk, requires_approval=Approval.CUSTOMER)
    with jobs.commit():
        decided = _decide(rows, approve=approve, message_id=message_id)
    row.refresh_from_db()
    return decided


def withdraw(row: FunctionCall) -> None:
    """Reject a call because the customer answered neither yes nor no."""
    _decide(FunctionCall.objects.filter(pk=row.pk), approve=False, error="not confirmed")


def _decide(
    rows: QuerySet[FunctionCall], *, approve: bool, by: User | None = None, **more: Any
) -> bool:
    if not approve:
        more |= {"status": CallStatus.REJECTED}
    undecided = rows.filter(
        status=CallStatus.WAITING, decided_at=None, created_at__gt=datetime.now(UTC) - EXPIRES_AFTER
    )
    return bool(undecided.update(decided_by=by, decided_at=Now(), **more))


def expire() -> int:
    """Reject calls that nobody decided in time; returns their number."""
    return FunctionCall.objects.filter(
        status=CallStatus.WAITING,
        decided_at=None,
        created_at__lte=datetime.now(UTC) - EXPIRES_AFTER,
    ).update(status=CallStatus.REJECTED, error="expired")


def delete_for_conversation(conversation_id: uuid.UUID) -> None:
    """Delete a conversation's calls, in the transaction that deletes the conversation."""
    FunctionCall.objects.filter(conversation_id=conversation_id).delete()


def pending_for_customer(conversation_id: uuid.UUID, message_id: uuid.UUID) -> list[FunctionCall]:
    """The calls that the customer can still decide on, and the calls that this message decided."""
    since = datetime.now(UTC) - EXPIRES_AFTER
    values = {"conversation": conversation_id, "message": message_id, "since": since}
    return list(FunctionCall.objects.raw(_FOR_CUSTOMER, values))


def list_for_bot(bot: Bot, query: FunctionCallingEventsQuery) -> QuerySet[FunctionCall]:
    """The bot's calls that match the query, unordered and without paging."""
    rows = FunctionCall.objects.filter(bot=bot)
    if query.function is not None:
        rows = rows.filter(function_name=query.function)
    if query.status is not None:
        rows = rows.filter(status=query.status)
    if query.chat_id is not None:
        rows = rows.filter(conversation_id=query.chat_id)
    return rows
