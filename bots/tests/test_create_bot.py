"""Create Bot."""

from unittest import mock

import pytest

from bots.models import Bot
from chatplatform.testing import run_before

PATH = "/ai/bot"


def test_it_works(ann):
    reply = ann.post(PATH, {"bot_name": "Helper", "welcome_message": {"en": "Hello"}})
    assert reply.status_code == 201
    body = reply.json()
    bot = Bot.objects.get()
    assert body["id"] == bot.pk
    assert body["client_id"] == ann.client.pk
    assert body["bot_name"] == "Helper"
    assert body["default_language"] == "en"
    assert body["style"] == {
        "position": "bottom-right", "width": 380, "height": 600, "font": "", "radius": 12,
        "dark_mode": False,
    }  # fmt: skip
    assert body["chatbot_setup"] is True
    assert not any(body[name] for name in ("prompt_setup", "file_setup", "url_setup"))
    assert body["api_key"] is None
    assert body["bot_icon"] is None
    assert body["is_disabled"] is False
    assert body["created_at"] <= body["updated_at"]
    assert body["created_at"].endswith("Z")


def test_all_fields_are_stored(ann):
    fields = {
        "bot_name": "Shop", "description": "Answers", "bot_icon": "https://example.com/i.png",
        "primary_color": "#ABCDEF", "secondary_color": "#000000",
        "allowed_domain": "example.com,*.example.org", "languages": ["vi", "en"],
        "default_language": "vi",
        "style": {
            "position": "top-left", "width": 400, "height": 500, "font": "Inter, sans-serif",
            "radius": 4, "dark_mode": True,
        },
        "welcome_message": {"vi": "Chào bạn"}, "terms": {"vi": "Điều khoản"},
        "bot_question": "Bạn cần gì?", "engaging_message": {"vi": "Chào", "en": "Hi"},
        "business_hours": [{"weekday": 6, "opens": "10:00", "closes": "14:00"}],
        "holidays": [{"date": "2026-12-25", "name": "Christmas", "hours": []}],
        "export_enabled": True, "mail_answers": False, "attach_enabled": False,
        "auto_pop_up": True, "is_fullscreen": True, "is_visible": False,
        "allow_preview": False, "agent_reply": True, "delete_available": False,
    }  # fmt: skip
    body = ann.post(PATH, fields).json()
    assert {name: body[name] for name in fields} == fields
    assert (body["terms_default"], body["engaging_message_default"]) == ("Điều khoản", "Chào")


def test_what_only_the_server_sets_is_ignored(ann, cara):
    sent = {"bot_name": "B", "id": 7, "client_id": cara.client.pk, "is_disabled": True,
            "created_at": "2001-01-01T00:00:00Z", "api_key": "abc.****"}  # fmt: skip
    body = ann.post(PATH, sent).json()
    assert body["id"] == Bot.objects.get().pk
    assert (body["client_id"], body["is_disabled"], body["api_key"]) == (
        ann.client.pk, False, None,
    )  # fmt: skip
    assert body["created_at"] > "2026"


def test_without_languages_it_is_offered_in_the_clients(ann):
    ann.put("/identity/languages", {"default_language": "vi",
                                    "languages": [{"code": "en"}, {"code": "vi"}]})  # fmt: skip
    body = ann.post(PATH, {"bot_name": "B"}).json()
    assert (body["languages"], body["default_language"]) == (["en", "vi"], "vi")
    body = ann.post(PATH, {"bot_name": "B", "languages": []}).json()
    assert (body["languages"], body["default_language"]) == ([], "vi")
    body = ann.post(PATH, {"bot_name": "B", "languages": ["de"]}).json()
    assert (body["languages"], body["default_language"]) == (["de"], "de")


def test_domains_are_normalized(ann):
    domains = " Example.com, *.bücher.de,example.com"
    reply = ann.post(PATH, {"bot_name": "B", "allowed_domain": domains})
    assert reply.json()["allowed_domain"] == "example.com,*.xn--bcher-kva.de"


def test_the_default_language_follows_the_languages(ann):
    reply = ann.post(PATH, {"bot_name": "B", "languages": ["vi", "fr"]})
    assert reply.json()["default_language"] == "vi"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "bot_name"),
        ({"bot_name": ""}, "bot_name"),
        ({"bot_name": "  "}, "bot_name"),
        ({"bot_name": None}, "bot_name"),
        ({"bot_name": "x" * 101}, "bot_name"),
        ({"bot_name": "a\x00b"}, "bot_name"),
        ({"bot_name": "B", "bot_question": "x" * 301}, "bot_question"),
        ({"bot_name": "B", "terms_default": None}, "terms_default"),
        ({"bot_name": "B", "terms_default": "A", "terms": {"en": "B"}}, "terms_default"),
        ({"bot_name": "B", "engaging_message": {"en": "x" * 301}}, "engaging_message"),
        ({"bot_name": "B", "export_enabled": "perhaps"}, "export_enabled"),
        ({"bot_name": "B", "business_hours": [{"weekday": 1}]}, "business_hours"),
        ({"bot_name": "B", "holidays": [{"date": "Christmas"}]}, "holidays"),
        ({"bot_name": "B", "chatbot_setup": "done"}, "chatbot_setup"),
        ({"bot_name": "B", "bot_icon": "javascript:alert(1)"}, "bot_icon"),
        ({"bot_name": "B", "primary_color": "red"}, "primary_color"),
        ({"bot_name": "B", "allowed_domain": "https://example.com"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "example.com:8000"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "example.com/shop"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "a.com,,b.com"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "*.com"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "a.*.com"}, "allowed_domain"),
        ({"bot_name": "B", "allowed_domain": "*"}, "allowed_domain"),
        ({"bot_name": "B", "languages": ["english!"]}, "languages"),
        ({"bot_name": "B", "languages": ["en", "en"]}, "languages"),
        ({"bot_name": "B", "languages": ["vi"], "default_language": "en"}, "default_language"),
        ({"bot_name": "B", "style": {"width": 1}}, "style"),
        ({"bot_name": "B", "style": {"colour": "red"}}, "style"),
        ({"bot_name": "B", "style": {"font": "x;} body{display:none"}}, "style"),
        ({"bot_name": "B", "welcome_message": {"not a code": "x"}}, "welcome_message"),
        ({"bot_name": "B", "welcome_message": "x" * 2001}, "welcome_message"),
        ({"bot_name": "B", "welcome_message": 7}, "welcome_message"),
        ({"bot_name": "B", "surprise": 1}, "surprise"),
    ],
)
def test_a_wrong_body(ann, wrong, field):
    reply = ann.post(PATH, wrong)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][:2] == ["body", field]
    assert not Bot.objects.exists()


def test_an_agent_may_not(ben):
    assert ben.post(PATH, {"bot_name": "B"}).status_code == 403
    assert not Bot.objects.exists()


def test_nobody_may_not(db, nobody):
    assert nobody.post(PATH, {"bot_name": "B"}).status_code == 401
    assert not Bot.objects.exists()


def test_the_limit_holds(ann):
    with mock.patch("bots.services.bots.MAX_BOTS", 1):
        assert ann.post(PATH, {"bot_name": "First"}).status_code == 201
        reply = ann.post(PATH, {"bot_name": "Second"})
    assert reply.status_code == 409
    assert reply.json()["code"] == "bot_limit"
    assert Bot.objects.count() == 1


def test_the_limit_counts_only_the_clients_own_bots(ann, cara):
    with mock.patch("bots.services.bots.MAX_BOTS", 1):
        assert ann.post(PATH, {"bot_name": "First"}).status_code == 201
        assert cara.post(PATH, {"bot_name": "Hers"}).status_code == 201


def test_concurrent_requests_stay_within_the_limit(ann):
    def other():
        ann.post(PATH, {"bot_name": "Other"})

    with (
        mock.patch("bots.services.bots.MAX_BOTS", 1),
        run_before("bots.services.bots.check_supported_languages", other),
    ):
        late = {"bot_name": "Late", "welcome_message": {"en": "Welcome"}}
        assert ann.post(PATH, late).status_code == 409
    assert Bot.objects.get().bot_name == "Other"
