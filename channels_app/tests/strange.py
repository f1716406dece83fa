"""Signed callbacks with anything in them, and what must be true of them; of any channel."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from channels_app.models import InboundCallback, InboundItem
from channels_app.tests.chatapp import AN, WABA, message, of_chatapp, status
from channels_app.tests.helpers import (
    EVENT_TIME,
    PATHS,
    event,
    of_localapp,
    of_photoapp,
    post_signed,
)
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.testing import Person

PARTS: list[dict[str, Any]] = [
    {"message": {"mid": "m_1", "text": "hello", "reply_to": {"mid": "m_0"},
                 "quick_reply": {"payload": "Y"}, "referral": {"ref": "r", "ad_id": "1"}}},
    {"message": {"mid": "m_2", "attachments": [
        {"type": "location", "payload": {"coordinates": {"lat": 1.5, "long": 2}}},
        {"type": "fallback", "payload": None}, {"type": "share", "payload": {"url": "https://x/"}}]}},
    {"message": {"mid": "m_3", "is_echo": True, "app_id": 26390203743090, "text": "elsewhere"}},
    {"message": {"mid": "m_1", "is_deleted": True}},
    {"postback": {"title": "Start", "payload": "GO", "referral": {"ref": "r"}}},
    {"reaction": {"mid": "m_1", "action": "react", "reaction": "love", "emoji": "❤️"}},
    {"message_edit": {"mid": "m_1", "text": "new", "num_edit": "1"}},
    {"delivery": {"mids": ["m_1"], "watermark": 1795226399980}},
    {"read": {"watermark": 1795226399980}},
    {"referral": {"ref": "r1", "source": "SHORTLINK", "type": "OPEN_THREAD"}},
    {"response_feedback": {"feedback": "Good response", "mid": "m_1"}},
    {"messaging_feedback": {"feedback_screens": [{"screen_id": 0, "questions": {
        "chat_01H9": {"type": "csat", "payload": "5", "follow_up": {"payload": "good"}}}}]}},
]  # fmt: skip
OF_CHATAPP: list[dict[str, Any]] = [
    {"type": "text", "text": {"body": "hello"}, "context": {"id": "wamid.0", "forwarded": True},
     "from_user_id": "VN.1", "referral": {"source_id": "1"}},
    {"type": "image", "image": {"id": "9", "mime_type": "image/jpeg", "caption": "c"}},
    {"type": "location", "location": {"latitude": 1.5, "longitude": 2, "name": "n"}},
    {"type": "contacts", "contacts": [{"name": {"formatted_name": "A"}, "phones": [{}, 5]}]},
    {"type": "interactive", "interactive": {"type": "button_reply", "button_reply": {
        "id": "Y", "title": "Yes"}}},
    {"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {
        "body": "Sent", "response_json": "{}"}}},
    {"type": "button", "button": {"payload": "P1", "text": "Yes"}},
    {"type": "reaction", "reaction": {"message_id": "wamid.1", "emoji": "x"}},
    {"type": "edit", "edit": {"original_message_id": "wamid.1", "message": {
        "type": "text", "text": {"body": "new"}}}},
    {"type": "revoke", "revoke": {"original_message_id": "wamid.1"}},
    {"type": "order", "order": {"text": "", "product_items": [{"quantity": 3, "item_price": 30}]}},
    {"type": "system", "system": {"type": "user_changed_number", "wa_id": "84909999999"}},
    {"type": "unsupported", "errors": [{"code": 131051}]},
]  # fmt: skip
CHATAPP = [
    *(of_chatapp(messages=[message(id=f"wamid.{number}", **part)], contacts=[
        {"profile": {"name": "An"}, "wa_id": AN, "user_id": "VN.1"}])
      for number, part in enumerate(OF_CHATAPP)),
    of_chatapp(statuses=[status("wamid.9", name, errors=[{"code": 131047, "title": "t"}])
                         for name in ("sent", "delivered", "read", "failed")]),
    of_chatapp(message_echoes=[message(to=AN)]),
    of_chatapp(errors=[{"code": 1}]),
    {"entry": [{"id": WABA, "time": 1795226400, "changes": [
        {"field": "account_update", "value": {"event": "ACCOUNT_VIOLATION"}}]}]},
]  # fmt: skip
OF_PHOTOAPP: list[dict[str, Any]] = [
    *PARTS,
    {"message": {"mid": "m_4", "is_unsupported": True}},
    {"message": {"mid": "m_5", "text": "nice", "reply_to": {"story": {"id": "1", "url": "u"}}}},
    {"message": {"mid": "m_6", "attachments": [
        {"type": "ig_story", "payload": {"story_media_url": "https://x/"}},
        {"type": "like_heart"}]}},
    {"read": {"mid": "m_3"}},
]  # fmt: skip
FILE = {"type": "file", "payload": {"name": "a.pdf", "size": "5", "checksum": "x"}}
PLACE = {"type": "location", "payload": {"coordinates": {"latitude": "1.5", "longitude": "2"}}}
OF_LOCALAPP: list[tuple[str, Any]] = [
    ("user_send_text", {"msg_id": "m1", "text": "hello", "quote_msg_id": "m0"}),
    ("user_send_file", {"msg_id": "m2", "attachments": [FILE]}),
    ("user_send_location", {"msg_id": "m3", "attachments": [PLACE, FILE]}),
    ("oa_send_text", {"msg_id": "m4", "text": "elsewhere"}),
    ("user_received_message", {"msg_id": "m4"}),
    ("user_seen_message", {"msg_ids": ["m4", "m5"]}),
    ("user_reacted_message", {"msg_id": "m1", "react_icon": "/-heart"}),
]
FIXTURES = Path(__file__).parents[1] / "fixtures"


def of_fixtures(channel: str) -> list[dict[str, Any]]:
    """The callbacks that stand in a channel's fixtures."""
    files = sorted((FIXTURES / channel).glob("*.json"))
    return [json.loads(file.read_text())["body"] for file in files]


# By the channel, a callback of each kind of event.
ORIGINALS: dict[str, list[dict[str, Any]]] = {
    "socialnet": [event(part) for part in PARTS],
    "photoapp": [of_photoapp(part) for part in OF_PHOTOAPP],
    "chatapp": CHATAPP,
    "localapp": [of_localapp(name, message) for name, message in OF_LOCALAPP],
    "telegram": of_fixtures("telegram"),
}
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, -(2**63), "", "x" * 5000, "9" * 301, "\x00", "\ud800", "😀", [],
    {}, [[]], {"a": {"b": []}}, "1e999", "٣", ["a", 1, None], "2026-11-22", 1795226399, "../..",
    "' OR 1=1",
]  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a tree."""
    found = [path] if path else []
    if isinstance(node, dict):
        children = list(node.items())
    else:
        children = list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        found += places(child, (*path, key))
    return found


def mutate(body: Any, chance: random.Random) -> Any:
    """The body with a few values replaced, removed or doubled."""
    body = copy.deepcopy(body)
    for _ in range(chance.randint(1, 4)):
        path = chance.choice(places(body) or [()])
        parent = body
        for key in path[:-1]:
            parent = parent[key]
        if not path:
            continue
        what = chance.random()
        if what < 0.7:
            parent[path[-1]] = copy.deepcopy(chance.choice(ODD))
        elif what < 0.85:
            del parent[path[-1]]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[path[-1]]))
        else:
            parent[str(chance.choice(ODD))] = copy.deepcopy(parent[path[-1]])
    return body


def bodies(channel: str, seed: int, count: int) -> Iterator[bytes]:
    """So many callbacks of a channel, each changed by chance."""
    chance = random.Random(seed)
    for _ in range(count):
        body = mutate(chance.choice(ORIGINALS[channel]), chance)
        if channel == "localapp":
            # What these say would be refused as not signed.
            fixed = {"app_id": settings.LOCALAPP_APP_ID, "timestamp": EVENT_TIME}
            yield json.dumps(body | fixed).encode()
            continue
        raw = json.dumps(body).encode()
        if chance.random() < 0.1:
            place = chance.randrange(len(raw))
            raw = raw[:place] + bytes([chance.randrange(256)]) + raw[place + 1 :]
        yield raw


def run(person: Person, channel: str, count: int, *, seed: int = 20261122) -> None:
    """Send strange callbacks: each is accepted, each item is counted, and no job fails."""
    for number, raw in enumerate(bodies(channel, seed, count)):
        assert post_signed(person, PATHS[channel], raw).status_code == 200, raw
        if number % 100 == 0:
            run_jobs()
    waiting = Job.objects.filter(name__startswith="channels_app.process_", state="queued")
    while run_jobs() or waiting.update(due_at=Now()):
        pass
    failed = Job.objects.filter(name__startswith="channels_app.process_").exclude(state="done")
    assert [job.last_error for job in failed] == []
    assert InboundCallback.objects.count() == count
    promised = sum(InboundCallback.objects.values_list("item_count", flat=True))
    assert InboundItem.objects.count() == promised > count / 2
