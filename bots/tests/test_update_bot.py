"""Update Bot."""

import pytest

from bots.models import Bot


def path(bot):
    return f"/ai/bot/{bot.pk}/update-bot"


def test_only_named_fields_change(ann, bot):
    Bot.objects.filter(pk=bot.pk).update(description="kept", attach_enabled=False)
    before = Bot.objects.get(pk=bot.pk).updated_at
    reply = ann.put(path(bot), {"bot_name": "New"})
    assert reply.status_code == 200
    assert reply.json()["bot_name"] == "New"
    row = Bot.objects.get(pk=bot.pk)
    assert (row.bot_name, row.description, row.attach_enabled) == ("New", "kept", False)
    assert row.updated_at > before


def test_an_empty_body_changes_nothing(ann, bot):
    before = ann.get(f"/ai/bot/{bot.pk}").json()
    after = ann.put(path(bot), {}).json()
    assert {**after, "updated_at": None} == {**before, "updated_at": None}


def test_null_removes_the_icon(ann, bot):
    ann.put(path(bot), {"bot_icon": "https://example.com/i.png"})
    assert ann.put(path(bot), {"bot_icon": None}).json()["bot_icon"] is None


def test_an_echoed_id_and_key_are_accepted(ann, bot):
    reply = ann.put(path(bot), {"id": bot.pk, "api_key": "abc.def", "bot_name": "New"})
    assert reply.status_code == 200
    assert reply.json()["api_key"] is None


@pytest.mark.parametrize("body", [{"id": None}, {"id": 999999}])
def test_another_id_is_refused(ann, bot, body):
    reply = ann.put(path(bot), {**body, "bot_name": "New"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "id"]
    assert Bot.objects.get().bot_name == "Helper"


def test_languages_and_their_default_fit_together(ann, bot):
    assert ann.put(path(bot), {"languages": ["vi"]}).status_code == 422
    assert Bot.objects.get().languages == []
    assert ann.put(path(bot), {"languages": ["vi"], "default_language": "vi"}).status_code == 200
    assert ann.put(path(bot), {"default_language": "en"}).status_code == 422
    assert Bot.objects.get().default_language == "vi"


def test_derived_flags_are_refused(ann, bot):
    for name in ("chatbot_setup", "prompt_setup", "file_setup", "url_setup"):
        assert ann.put(path(bot), {name: True}).status_code == 422


def test_an_agent_may_not(ben, bot):
    assert ben.put(path(bot), {"bot_name": "New"}).status_code == 403
    assert Bot.objects.get().bot_name == "Helper"


def test_another_client_may_not(cara, bot):
    assert cara.put(path(bot), {"bot_name": "New"}).status_code == 404
    assert Bot.objects.get().bot_name == "Helper"


def test_a_missing_bot(ann):
    assert ann.put("/ai/bot/999999/update-bot", {"bot_name": "New"}).status_code == 404
