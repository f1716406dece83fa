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


@pytest.mark.parametrize("id", [999999, "x", True, [1]])
def test_another_id_is_refused(ann, bot, id):
    reply = ann.put(path(bot), {"id": id, "bot_name": "New"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "id"]
    assert Bot.objects.get().bot_name == "Helper"


def test_languages_and_their_default_fit_together(ann, bot):
    assert ann.put(path(bot), {"languages": ["vi"]}).status_code == 422
    assert Bot.objects.get().languages == []
    assert ann.put(path(bot), {"languages": ["vi"], "default_language": "vi"}).status_code == 200
    assert ann.put(path(bot), {"default_language": "en"}).status_code == 422
    assert Bot.objects.get().default_language == "vi"


SPECIFICATION = {
    "bot_icon": "", "bot_name": "Shop", "welcome_message": "Hello!", "bot_question": "What now?",
    "terms_default": "Be kind.", "engaging_message_default": "Psst!", "export_enabled": True,
    "attach_enabled": False, "auto_pop_up": True, "is_fullscreen": True, "is_visible": False,
    "chatbot_setup": False, "prompt_setup": True, "file_setup": True, "url_setup": False,
    "api_key": "abc.****", "primary_color": "#112233", "secondary_color": "#445566",
    "allowed_domain": "shop.example", "style": {"dark_mode": True}, "languages": ["en"],
    "allow_preview": False, "agent_reply": True, "delete_available": False,
}  # fmt: skip


@pytest.mark.parametrize("creates", [False, True])
def test_the_specifications_own_body(ann, bot, creates):
    reply = ann.post("/ai/bot", SPECIFICATION) if creates else ann.put(path(bot), SPECIFICATION)
    assert reply.status_code == (201 if creates else 200)
    shown = reply.json()
    different = {
        "bot_icon": None, "api_key": None, "welcome_message": {"en": "Hello!"},
        "style": shown["style"],
    }  # fmt: skip
    assert {name: shown[name] for name in SPECIFICATION} == SPECIFICATION | different
    assert shown["style"]["dark_mode"] is True
    assert (shown["terms"], shown["engaging_message"]) == ({"en": "Be kind."}, {"en": "Psst!"})


def test_a_text_without_a_language_is_the_default_languages(ann, bot):
    texts = {"en": "Hello", "vi": "Xin chào"}
    ann.put(path(bot), {"welcome_message": texts, "terms": texts, "default_language": "vi"})
    shown = ann.put(path(bot), {"welcome_message": "Chào", "terms_default": "Chào"}).json()
    assert shown["welcome_message"] == shown["terms"] == {"en": "Hello", "vi": "Chào"}
    assert shown["terms_default"] == "Chào"
    removed = ann.put(path(bot), {"welcome_message": "", "terms_default": ""}).json()
    assert removed["welcome_message"] == removed["terms"] == {"en": "Hello"}
    assert removed["terms_default"] == ""


def test_a_welcome_in_a_language_that_the_bot_lacks_is_refused_here_too(ann, bot):
    path = f"/ai/bot/{bot.pk}/update-bot"
    offered = {"languages": ["en", "fr"], "welcome_message": {"en": "Hello", "fr": "Bonjour"}}
    assert ann.put(path, offered).status_code == 200
    for body in (
        {"welcome_message": {"en": "Hello", "de": "Hallo"}},
        {"languages": ["en"], "welcome_message": {"fr": "Salut"}},
    ):
        reply = ann.put(path, body)
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"][:2] == ["body", "welcome_message"]
    fewer = ann.put(path, {"languages": ["en"]}).json()
    assert ann.put(path, fewer).status_code == 200
    new = {"bot_name": "New", "languages": ["en"], "welcome_message": {"fr": "Bonjour"}}
    assert ann.post("/ai/bot", new).status_code == 422


def test_of_two_fields_for_one_text_the_changed_one_counts(ann, bot):
    ann.put(path(bot), {"terms": {"en": "Old", "vi": "Cũ"}})
    read = ann.get(f"/ai/bot/{bot.pk}").json()
    shown = ann.put(path(bot), read | {"terms": {"en": "New", "vi": "Cũ"}}).json()
    assert (shown["terms"], shown["terms_default"]) == ({"en": "New", "vi": "Cũ"}, "New")
    shown = ann.put(path(bot), shown | {"terms_default": "Newer"}).json()
    assert shown["terms"] == {"en": "Newer", "vi": "Cũ"}
    shown = ann.put(path(bot), shown | {"default_language": "vi"}).json()
    assert (shown["terms"], shown["terms_default"]) == ({"en": "Newer", "vi": "Cũ"}, "Cũ")
    reply = ann.put(path(bot), {"terms": {"vi": "A"}, "terms_default": "B"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "terms_default"]
    assert Bot.objects.get().terms == {"en": "Newer", "vi": "Cũ"}


def setup_of(person, bot):
    shown = person.get(f"/ai/bot/{bot.pk}").json()
    return [name for name in shown if name.endswith("_setup") and shown[name]]


def test_the_set_up_steps_are_the_clients_own_checklist(ann, bot):
    ann.put(path(bot), {"url_setup": True, "prompt_setup": False})
    assert setup_of(ann, bot) == ["url_setup"]
    # A step that came back as it was goes on to follow what happens.
    ann.put(path(bot), ann.get(f"/ai/bot/{bot.pk}").json())
    ann.post(f"/ai/{bot.pk}/train/prompt", {"content": "Be kind."})
    assert setup_of(ann, bot) == ["prompt_setup", "url_setup"]
    ann.put(path(bot), {"prompt_setup": False, "url_setup": None})
    assert setup_of(ann, bot) == []
    ann.put(path(bot), {"prompt_setup": None, "welcome_message": "Hello"})
    assert setup_of(ann, bot) == ["chatbot_setup", "prompt_setup"]


def test_null_gives_the_clients_hours_back(ann, bot):
    own = {"business_hours": [], "holidays": [{"date": "2026-12-25"}]}
    shown = ann.put(path(bot), own).json()
    assert (shown["business_hours"], shown["holidays"][0]["hours"]) == ([], [])
    shown = ann.put(path(bot), {"business_hours": None, "holidays": None}).json()
    assert (shown["business_hours"], shown["holidays"]) == (None, None)


def test_an_agent_may_not(ben, bot):
    assert ben.put(path(bot), {"bot_name": "New"}).status_code == 403
    assert Bot.objects.get().bot_name == "Helper"


def test_a_missing_bot(ann):
    assert ann.put("/ai/bot/999999/update-bot", {"bot_name": "New"}).status_code == 404
