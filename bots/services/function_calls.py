"""The log of function calls: approvals, expiry, and queries. `function_runner` makes the calls."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from bots.models import Approval, Bot, CallStatus, FunctionCall
from bots.shapes.function_calling import FunctionCallingEventsQuery
from chatplatform import jobs
from chatplatform.api.errors import ApiError, NotFound
from identity.models import User
from identity.services import audit

EXPIRES_AFTER = timedelta(hours=24)


class AlreadyDecided(ApiError):
    code, status = "already_decided", 409
    detail = "This call does not wait for a decision any more."


def ordering_key(conversation_id: uuid.UUID | None) -> str:
    """The key of all jobs that reply in a conversation: they run one after the other."""
    return f"chat:{conversation_id}"


def decide(bot: Bot, call_id: uuid.UUID, *, approve: bool, by: User) -> FunctionCall:
    """An agent's decision on a call that waits for one; the first decision counts."""
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
    """The customer's decision, made in `message_id`, to which the call belongs from now on."""
    rows = FunctionCall.objects.filter(pk=row.pk, requires_approval=Approval.CUSTOMER)
    with jobs.commit():
        decided = _decide(rows, approve=approve, message_id=message_id)
    row.refresh_from_db()
    return decided


def withdraw(row: FunctionCall) -> None:
    """The customer answered neither yes nor no: the call is rejected."""
    _decide(FunctionCall.objects.filter(pk=row.pk), approve=False, error="not confirmed")


def _decide(
    rows: QuerySet[FunctionCall], *, approve: bool, by: User | None = None, **more: Any
) -> bool:
    if not approve:
        more |= {"status": CallStatus.REJECTED}
    return bool(_undecided(rows).update(decided_by=by, decided_at=Now(), **more))


def _undecided(rows: QuerySet[FunctionCall]) -> QuerySet[FunctionCall]:
    """The calls that may still be decided on."""
    return rows.filter(
        status=CallStatus.WAITING, decided_at=None, created_at__gt=datetime.now(UTC) - EXPIRES_AFTER
    )


def expire() -> int:
    """Reject calls that nobody decided on in time; returns how many."""
    return FunctionCall.objects.filter(
        status=CallStatus.WAITING,
        decided_at=None,
        created_at__lte=datetime.now(UTC) - EXPIRES_AFTER,
    ).update(status=CallStatus.REJECTED, error="expired")


def delete_for_conversation(conversation_id: uuid.UUID) -> None:
    """Delete a conversation's calls, in the transaction that deletes the conversation."""
    FunctionCall.objects.filter(conversation_id=conversation_id).delete()


def waiting_for_customer(call_id: str) -> FunctionCall | None:
    """A call that the customer has yet to decide on; None if there is none or it is too late."""
    rows = FunctionCall.objects.filter(pk=call_id, requires_approval=Approval.CUSTOMER)
    return _undecided(rows).first()


def decided_by_message(message_id: uuid.UUID) -> FunctionCall | None:
    """The call that this message of the customer has decided on already."""
    return FunctionCall.objects.filter(
        message_id=message_id, requires_approval=Approval.CUSTOMER, decided_at__isnull=False
    ).first()


def list_for_bot(bot: Bot, query: FunctionCallingEventsQuery) -> QuerySet[FunctionCall]:
    """The bot's calls; order and page are the caller's."""
    rows = FunctionCall.objects.filter(bot=bot)
    if query.function is not None:
        rows = rows.filter(function_name=query.function)
    if query.status is not None:
        rows = rows.filter(status=query.status)
    if query.chat_id is not None:
        rows = rows.filter(conversation_id=query.chat_id)
    return rows
