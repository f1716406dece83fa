"""Signed callbacks with anything in them: accepted, counted, and no job fails."""

import copy
import json
import random
from typing import Any

import pytest

from channels_app.models import InboundCallback, InboundItem
from channels_app.tests.chatapp import AN, WABA, message, of_chatapp, status
from channels_app.tests.helpers import event, post_signed
from chatplatform.models import Job
from chatplatform.testing import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)
BODIES = 150
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
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, -(2**63), "", "x" * 5000, "\x00", "\ud800", "😀", [], {}, [[]],
    {"a": {"b": []}}, "1e999", "٣", ["a", 1, None], "2026-11-22", 1795226399, "../..", "' OR 1=1",
]  # fmt: skip


def places(node, path=()):
    """The path of every value in a tree."""
    found = [path] if path else []
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(
        node, list) else ()  # fmt: skip
    for key, child in children:
        found += places(child, (*path, key))
    return found


def mutate(body, chance):
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


def bodies(seed, count, originals):
    chance = random.Random(seed)
    for _ in range(count):
        raw = json.dumps(mutate(chance.choice(originals), chance)).encode()
        if chance.random() < 0.1:
            place = chance.randrange(len(raw))
            raw = raw[:place] + bytes([chance.randrange(256)]) + raw[place + 1 :]
        yield raw


@pytest.mark.parametrize(
    ("channel", "account", "originals"),
    [("socialnet", "page", [event(part) for part in PARTS]), ("chatapp", "number", CHATAPP)],
)
def test_mutated_bodies_are_accepted_and_counted(request, bot, ann, channel, account, originals):
    request.getfixturevalue(account)
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    for raw in bodies(20261122, BODIES, originals):
        assert post_signed(ann, f"/{channel}/webhook", raw).status_code == 200, raw
    while run_jobs():
        pass
    failed = Job.objects.filter(name="channels_app.process_callback").exclude(state="done")
    assert [job.last_error for job in failed] == []
    assert InboundCallback.objects.count() == BODIES
    promised = sum(InboundCallback.objects.values_list("item_count", flat=True))
    assert InboundItem.objects.count() == promised > BODIES / 2
