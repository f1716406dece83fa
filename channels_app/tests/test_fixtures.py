"""What providers send, a file each in `channels_app/fixtures`, and what an agent reads of it.

`source` and `date`: where the payload's form stands, and the date of that page; of a page without
one, when it was looked at. `before`: bodies that come earlier. `reads`: the messages, as an agent
reads them; "us" are those that the client's own people sent elsewhere. `counted`: the kind of an
item that no chat shows. `bot`: whether it is silent, or why it hands over.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from channels_app.models import ChannelConnection, InboundItem, Outcome
from channels_app.providers import PROVIDERS
from channels_app.services import sending, typing_and_receipts
from channels_app.tests.helpers import CONNECTED, PATHS, post_signed
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.services.core import channel_context
from simulator.sample_files import sample

pytestmark = pytest.mark.django_db(transaction=True)
FOLDER = Path(__file__).parents[1] / "fixtures"


def shown(message: Message) -> str:
    """A message as the desk shows it, on one line."""
    if message.deleted_at:
        parts = ["[deleted]"]
    else:
        lines = message.metadata.get("lines") or []
        is_alone = bool(message.metadata.get("no_words"))
        parts = channel_context.to_text(lines, is_alone=is_alone).split("\n") if lines else []
        parts += [_part(part) for part in message.content if not _is_said(message, part)]
    words = " | ".join(parts)
    by = "note: " if message.is_note else "us: " if message.sender_type == "agent" else ""
    reaction = f" ({message.customer_reaction})" if message.customer_reaction else ""
    return f"{by}{words}{reaction}"


def _is_said(message: Message, part: dict[str, Any]) -> bool:
    return bool(message.metadata.get("no_words")) and part["type"] == "text"


def _part(part: dict[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    name = "place" if part["type"] == "location" else part["type"]
    missing = "missing " if part.get("error") else ""
    caption = f" {part['text']}" if part.get("text") else ""
    return f"[{missing}{name}]{caption}"


def problems_of(fixture: dict[str, Any], connection: ChannelConnection, person: Any) -> list[str]:
    """What differs from the fixture after its bodies came."""
    last = Message.objects.order_by("-pk").values_list("pk", flat=True).first()
    for body in [*fixture.get("before", []), fixture["body"]]:
        reply = post_signed(person, PATHS[connection.channel], body)
        assert reply.status_code == 200, reply.content
        run_jobs()
    rows = Message.objects.select_related("conversation__customer").order_by("pk")
    came = list(rows.filter(pk__gt=last) if last else rows)
    by_people = [row for row in came if row.sender_type in {"customer", "agent"} or row.is_note]
    found: dict[str, Any] = {"reads": [shown(row) for row in by_people]}
    chats = {row.conversation_id: row.conversation for row in came}
    chat = next(iter(chats.values()), None)
    item = InboundItem.objects.latest("pk")
    connection.refresh_from_db()
    found |= {
        "counted": item.kind if item.outcome == Outcome.UNSUPPORTED else None,
        "lost": item.outcome == Outcome.UNKNOWN_ACCOUNT,
        "state": connection.status,
        "customers": len({row.customer_id for row in chats.values()}),
    }
    if chat:
        is_silent = len(by_people) == len(came) and not chat.handoff_reason
        found |= {
            "bot": "silent" if is_silent else chat.handoff_reason, "assigned": chat.assign_type,
            "phone": chat.customer.phone, "opt_out": chat.customer.opt_out,
            "window": "open" if _can_write(chat) else "closed",
        }  # fmt: skip
    wanted = {"counted": None, "lost": False} | fixture
    return [
        f"{name}: {found.get(name)!r} instead of {wanted[name]!r}"
        for name in wanted.keys() - {"source", "date", "body", "before"}
        if found.get(name) != wanted[name]
    ]


def _can_write(chat: Conversation) -> bool:
    ends_at = chat.reply_window_expires_at
    return ends_at is None or ends_at > chat.created_at


@pytest.mark.full
@pytest.mark.parametrize("channel", sorted(PATHS))
def test_an_agent_reads_what_providers_send(channel, request, nobody, monkeypatch):
    connection = request.getfixturevalue(CONNECTED[channel])
    provider = type(PROVIDERS[channel])
    monkeypatch.setattr(provider, "fetch", lambda _self, _account, file: sample(file.kind)[0])
    # What goes out is the matter of other tests, and half of the jobs.
    monkeypatch.setattr(sending, "deliver", lambda _message_id: None)
    monkeypatch.setattr(typing_and_receipts, "send_signal", lambda _chat_id, _signal: None)
    wrong = {}
    files = sorted((FOLDER / channel).glob("*.json"))
    assert len(files) > 30, "the fixtures are missing"
    for file in files:
        fixture = json.loads(file.read_text())
        assert fixture["source"], file
        assert fixture["date"], file
        ChannelConnection.objects.filter(pk=connection.pk).update(status="connected", last_error="")
        if problems := problems_of(fixture, connection, nobody):
            wrong[file.stem] = problems
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())
