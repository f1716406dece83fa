"""Rewrite Reply."""

import pytest

from chats.models import Message
from chats.testing import make_chat

TEXT = "The parcle of order 4711 arrives on 5 May, see https://shop.example/track for it."
GERMAN = "Das Paket der Bestellung 4711 kommt am 5. Mai, siehe https://shop.example/track."


@pytest.fixture
def path(bot):
    return f"/ai/chat/{make_chat(bot, language='de').pk}/rewrite"


@pytest.mark.full
@pytest.mark.parametrize(
    ("style", "made"),
    [
        ("spelling", TEXT.replace("parcle", "parcel")),
        ("shorter", "Order 4711 arrives on 5 May: https://shop.example/track"),
        ("friendlier", f"Thank you for your patience! {TEXT}"),
        ("translated", GERMAN),
    ],
)
def test_a_reply_is_rewritten(ben, path, model, credits_spent, style, made):
    model.json_answer = {"text": made}
    reply = ben.post(path, {"text": TEXT, "style": style})
    assert (reply.status_code, reply.json()) == (200, {"text": made})
    assert credits_spent(ben.client) == 1
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("style", "made"),
    [
        ("spelling", TEXT.replace("4711", "4712")),
        ("shorter", "Your order arrives on 5 May, see https://shop.example/track for it."),
        ("shorter", "Order 4711 arrives on 5 May, see our website for the parcel's place."),
        ("friendlier", f"{TEXT} Here are 10 % off at https://gifts.example/now for you!"),
        ("friendlier", GERMAN),
        ("translated", TEXT),
        ("translated", "Das Paket kommt am 5. Mai, siehe https://shop.example/track dazu."),
        ("spelling", ""),
    ],
)
def test_another_language_or_other_facts_are_refused(ben, path, model, credits_spent, style, made):
    model.json_answer = {"text": made}
    reply = ben.post(path, {"text": TEXT, "style": style})
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert credits_spent(ben.client) == 0


def test_who_may_rewrite_and_with_what(ben, cara, nobody, server, path, credits_spent):
    body = {"text": "Hello", "style": "shorter"}
    reply = ben.post(path, body)
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_not_configured")
    for wrong in ({"text": "Hello"}, {"text": "", "style": "shorter"}, {**body, "style": "rude"}):
        assert ben.post(path, wrong).status_code == 422
    assert cara.post(path, body).status_code == 404
    assert (nobody.post(path, body).status_code, server.post(path, body).status_code) == (401, 401)
    assert credits_spent(ben.client) == 0


def test_a_bot_says_whether_a_model_is_set(ben, bot, model, settings):
    assert ben.get(f"/ai/bot/{bot.pk}").json()["has_model"] is True
    settings.LLM_BASE_URL = ""
    assert ben.get(f"/ai/bot/{bot.pk}").json()["has_model"] is False
