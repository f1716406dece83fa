"""Update and Get Client Customer Welcome Message Route."""

import pytest

from bots.models import Bot
from bots.testing import make_bot


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


def test_a_code_is_returned_in_its_usual_spelling(ann, bot):
    messages = ann.put(path(bot), {"messages": {"en_us": "Hi", "EN": "Hello"}}).json()["messages"]
    assert messages == {"en-US": "Hi", "en": "Hello"}


@pytest.mark.parametrize(
    "wrong", [{"en": "x" * 2_001}, {"de": "Hallo"}, {"?": "x"}, {"en": None}, None, "Hello"]
)
def test_a_wrong_body(ann, wrong):
    bot = make_bot(ann.client, languages=["en", "vi"], welcome_message={"en": "Kept"})
    assert ann.put(path(bot), {"messages": wrong}).status_code == 422
    assert Bot.objects.get().welcome_message == {"en": "Kept"}
