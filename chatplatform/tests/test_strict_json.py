"""Booleans and numbers of JSON bodies are JSON's own; texts of forms and queries are read."""

import pytest

from bots.testing import *  # noqa: F403


@pytest.mark.parametrize("wrong", ["yes", "true", 1, 0])
def test_a_boolean_is_true_or_false(ann, bot, wrong):
    reply = ann.put(f"/ai/bot/{bot.pk}/toggle-disable", {"is_disabled": wrong})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "is_disabled"]
    bot.refresh_from_db()
    assert bot.is_disabled is False


@pytest.mark.parametrize("wrong", ["7", True, 7.0, "x"])
def test_a_number_is_a_number(ann, wrong):
    reply = ann.post("/identity/api-keys", {"name": "x", "requests_per_minute": wrong})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "requests_per_minute"]


def test_numbers_deep_in_a_body_are_strict_too(ann, bot):
    body = {"functions": [], "is_enabled": True, "max_calls_per_reply": "3"}
    reply = ann.post(f"/function-calling/{bot.pk}", body)
    assert reply.json()["detail"][0]["loc"] == ["body", "max_calls_per_reply"]
    place = {"latitude": "10.5", "longitude": 106.7}
    part = {"type": "location", "location": place}
    body = {"messages": [{"role": "user", "content": "Hello"}], "stream": "no"}
    assert ann.post(f"/ai/{bot.pk}/generate-chat", body).status_code == 422
    assert ann.post("/ai/client/chat", {"attachments": [part]}).status_code in {401, 422}


def test_a_query_is_read_leniently(ann, bot):
    assert ann.get("/ai/chats", {"limit": "7"}).status_code == 200
