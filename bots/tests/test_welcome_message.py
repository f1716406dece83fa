"""Update and Get Client Customer Welcome Message Route."""

import pytest

from bots.models import Bot
from bots.testing import make_bot
from identity.models import Role
from identity.testing import make_person


def path(bot):
    return f"/ai/{bot.pk}/welcome-message"


def test_write_and_read(ann, bot):
    assert ann.get(path(bot)).json() == {"messages": {}}
    body = {"messages": {"en": "Hello", "vi": "Xin chào"}}
    reply = ann.put(path(bot), body)
    assert (reply.status_code, reply.json()) == (200, body)
    assert ann.get(path(bot)).json() == body
    shown = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (shown["welcome_message"], shown["chatbot_setup"]) == (body["messages"], True)
    assert ann.put(path(bot), {"messages": {}}).json() == {"messages": {}}


@pytest.mark.parametrize(
    "wrong", [{"en": "x" * 2_001}, {"de": "Hallo"}, {"?": "x"}, {"en": None}, None, "Hello"]
)
def test_a_wrong_body(ann, wrong):
    bot = make_bot(ann.client, languages=["en", "vi"], welcome_message={"en": "Kept"})
    assert ann.put(path(bot), {"messages": wrong}).status_code == 422
    assert Bot.objects.get().welcome_message == {"en": "Kept"}


def test_who_may(ann, cara, bot):
    viewer = make_person(ann.client, Role.VIEWER)
    assert viewer.get(path(bot)).status_code == 200
    assert viewer.put(path(bot), {"messages": {}}).status_code == 403
    assert cara.get(path(bot)).status_code == 404
    assert cara.put(path(bot), {"messages": {"en": "Mine"}}).status_code == 404
    assert Bot.objects.get().welcome_message == {}
    assert ann.get("/ai/999999/welcome-message").status_code == 404
