"""What an agent reads about a message that a provider refused: what to do, then the provider's own
words."""

from pathlib import Path

import pytest
from django.utils.translation import override

from channels_app.providers import PROVIDERS
from channels_app.providers.errors import ADVICE, CHANGE_MESSAGE, SEND_TEMPLATE, Kind
from channels_app.tests.helpers import CONNECTED
from chatplatform.templatetags.codes import stored_text
from chatplatform.testing import run_jobs
from chats.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)
LABELS = Path("chats/static/desk/labels.js")
WINDOW, RECIPIENT = {"kind": "window_closed"}, {"kind": "recipient_gone"}
# By the channel: a fault, and the kind it has there.
FAULTS = [
    ("socialnet", WINDOW, Kind.WINDOW), ("photoapp", WINDOW, Kind.WINDOW),
    ("chatapp", WINDOW, Kind.WINDOW), ("localapp", WINDOW, Kind.WINDOW),
    ("socialnet", RECIPIENT, Kind.RECIPIENT), ("photoapp", RECIPIENT, Kind.RECIPIENT),
    ("chatapp", RECIPIENT, Kind.RECIPIENT), ("localapp", RECIPIENT, Kind.RECIPIENT),
    ("telegram", RECIPIENT, Kind.RECIPIENT),
    ("socialnet", {"kind": "code", "code": 190}, Kind.TOKEN),
    ("telegram", {"kind": "code", "code": 401}, Kind.TOKEN),
    ("photoapp", {"kind": "code", "code": 200}, Kind.PERMISSION),
    ("chatapp", {"kind": "code", "code": 131042}, Kind.BLOCKED),
    ("localapp", {"kind": "code", "code": -211}, Kind.QUOTA),
    ("socialnet", {"kind": "code", "code": 100}, Kind.REQUEST),
    ("telegram", {"kind": "code", "code": 400}, Kind.REQUEST),
    ("chatapp", {"kind": "fails_later", "code": 131026}, Kind.RECIPIENT),
    ("chatapp", {"kind": "fails_later", "code": 131047}, Kind.WINDOW),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fault", "kind"), FAULTS, ids=str)
def test_a_refusal_begins_with_what_one_can_do(request, bot, ben, name, fault, kind):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    channel, _ = request.getfixturevalue(name), request.getfixturevalue(CONNECTED[name])
    channel.write("Hello?")
    run_jobs()
    channel.sim.fault(what="sends", account=channel.account, times=0, **fault)
    chat = Conversation.objects.get()
    sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Good morning"})
    channel.settle()
    history = ben.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    (message,) = [row for row in history if row["id"] == sent.json()["id"]]
    assert message["status"] == "failed"
    advice = {**ADVICE, Kind.REQUEST: CHANGE_MESSAGE, Kind.WINDOW: PROVIDERS[name].window_advice}
    expected, error = advice[kind], message["error"]
    assert error.startswith(f"{expected} (")
    assert error.endswith(")")
    assert "(#" not in error
    with override("de"):
        assert not stored_text(error).startswith(expected)


def test_each_channel_says_how_long_its_window_is():
    for provider in PROVIDERS.values():
        if window := provider.reply_window:
            expected = "7 days" if window.days == 7 else "24 hours"
            assert expected in provider.window_advice
    assert [name for name, one in PROVIDERS.items() if one.window_advice == SEND_TEMPLATE] == [
        "chatapp"
    ]


def test_the_inbox_can_translate_each_advice():
    windows = {provider.window_advice for provider in PROVIDERS.values()}
    script = LABELS.read_text()
    for text in [*ADVICE.values(), CHANGE_MESSAGE, *windows]:
        assert f'msg("{text}")' in script
