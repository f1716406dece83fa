"""A conversation's transcript on its page: messages, steps and dates, one part at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject
from django.utils import timezone
from django.utils.translation import gettext

from bots.models import FunctionCall
from chatplatform.templatetags.codes import humanize_code
from chatplatform.templatetags.dates import short_day
from chats.models import Conversation, Message, SenderType
from chats.pages import names
from chats.schemas.content_kinds import kind_of
from chats.schemas.message import Message as MessageSchema
from chats.services.desk import inbox

# The maximum number of messages in a part.
SHOWN = 50


@dataclass(frozen=True)
class Line:
    """A line of a transcript: a date, a message, or a step such as an assignment."""

    kind: Literal["day", "message", "step"]
    at: datetime
    text: str = ""
    row: Any = None
    message: Any = None
    name: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a transcript, with up to `SHOWN` messages. `before` is the `seq` for the link to
    earlier messages; None if there are no earlier messages."""

    lines: list[Line]
    before: int | None
    is_newest: bool


def part_of(chat: Conversation, *, before: int | None = None) -> Part:
    """The part with a conversation's newest messages or, if `before` is given, with the newest
    messages that have a lower `seq`."""
    rows = with_calls(inbox.transcript(chat))
    if before is not None:
        rows = rows.filter(seq__lt=before)
    found = list(rows.order_by("-seq")[: SHOWN + 1])
    is_cut, shown = len(found) > SHOWN, found[:SHOWN][::-1]
    since = shown[0].created_at if is_cut else None
    until = shown[-1].created_at if before is not None and shown else None
    lines = [_message(chat, row) for row in shown]
    lines += [
        step
        for step in _steps(chat)
        if (since is None or step.at > since) and (until is None or step.at <= until)
    ]
    lines.sort(key=lambda line: line.at)
    return Part([*_with_days(lines)], shown[0].seq if is_cut else None, before is None)


def with_calls(rows: QuerySet[Message]) -> QuerySet[Any]:
    """The messages, each annotated as `calls` with the function calls that the bot requested to
    answer it."""
    calls = FunctionCall.objects.filter(
        conversation_id=OuterRef("conversation_id"), message_id=OuterRef("pk")
    ).order_by("id")
    shown = JSONObject(function_name="function_name", status="status", error="error")
    return rows.annotate(calls=ArraySubquery(calls.values(call=shown)))


def _message(chat: Conversation, row: Message) -> Line:
    name = row.sender_name
    if row.sender_type == SenderType.CUSTOMER:
        name = name or names.chat_customer_name(chat)
    name = name or {"bot": chat.bot.bot_name, "system": gettext("Automatic message")}.get(
        row.sender_type, gettext("Agent")
    )
    message = MessageSchema.from_row(row)
    for part in message["content"]:
        part["label"] = kind_of(part).label(part)
    return Line("message", row.created_at, row=row, message=message, name=name)


def _steps(chat: Conversation) -> Iterator[Line]:
    for event in inbox.steps(chat):
        yield Line("step", event.created_at, text=_step_text(event.type, event.data))


def _step_text(kind: str, data: Any) -> str:
    """The text that says what happened to a conversation."""
    state, by = data.get("conversation") or {}, (data.get("by") or {}).get("name") or ""
    name = (state.get("assignee") or {}).get("name") or gettext("an agent")
    match kind:
        case "conversation.handed_off":
            text = gettext("Handed over: %(reason)s") % {
                "reason": humanize_code(data.get("reason"))
            }
        case "conversation.assigned" if by and by != name:
            text = gettext("%(by)s assigned this to %(name)s") % {"by": by, "name": name}
        case "conversation.assigned":
            text = gettext("Assigned to %(name)s") % {"name": name}
        case "conversation.unassigned" if state.get("assign_type") == "bot":
            text = gettext("Returned to the bot")
        case "conversation.unassigned" if data.get("reason") and not by:
            text = gettext("Returned to the queue: %(reason)s") % {
                "reason": humanize_code(data["reason"])
            }
        case "conversation.unassigned":
            text = gettext("Returned to the queue")
        case "conversation.prioritized":
            text = gettext("Priority: %(name)s") % {
                "name": gettext(names.PRIORITIES[state["priority"]])
            }
        case "conversation.snoozed":
            text = gettext("Snoozed")
        case "conversation.ended":
            ender = by or names.ENDINGS.get(state.get("ended_by") or "", "")
            text = gettext("Ended by %(name)s") % {"name": gettext(ender) if ender else "–"}
        case _:
            text = gettext("Reopened")
    return text


def _with_days(lines: list[Line]) -> Iterator[Line]:
    """The lines, with a date before the first line of each day."""
    day: date | None = None
    for line in lines:
        here = timezone.localtime(line.at).date()
        if here != day:
            day = here
            yield Line("day", line.at, text=_day(here))
        yield line


def _day(day: date) -> str:
    today = timezone.localdate()
    if day == today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    return short_day(day)
