"""Get Config By Api Key With Auth: the public configuration of a bot."""

from datetime import timedelta

import pytest
from django.utils import timezone

from bots.language import phrasebook
from bots.models import Bot
from bots.testing import make_bot
from identity.models import ClientConfig
from identity.testing import make_key

PATH = "/ai/bot/config"
ALLOWED = {
    "id", "bot_name", "bot_icon", "primary_color", "secondary_color", "style", "language",
    "default_language", "languages", "welcome_message", "terms", "banner", "sample_questions",
    "attach_enabled", "auto_pop_up", "is_fullscreen", "is_visible", "customer_info_fields",
    "bot_question", "engaging_message", "is_open", "opens_at", "timezone", "business_hours",
    "holidays", "out_of_hours_message", "agents_online", "upload_limits", "export_enabled",
    "usual_wait_minutes", "answers_by_mail", "engaging_seconds", "engaging_pages",
    "engaging_visitors", "person_button",
}  # fmt: skip
FIELD = {
    "name": "city", "label": {"en": "City", "vi": "Thành phố"}, "type": "select",
    "required": True, "ask_before_chat": True,
    "options": [{"label": "Hanoi", "value": "hn"}],
}  # fmt: skip


@pytest.fixture
def widget(ann):
    bot = make_bot(
        ann.client,
        allowed_domain="good.com",
        languages=["en", "vi"],
        welcome_message={"en": "Hello", "vi": "Xin chào"},
        terms={"en": "Be fair."},
        customer_info_fields=[FIELD],
    )
    return make_key(ann.client, "public", bot.pk)


def test_only_the_allowed_fields_are_shown(widget):
    shown = widget.get(PATH).json()
    assert set(shown) == ALLOWED
    assert set(shown["style"]) == {"position", "width", "height", "font", "radius", "dark_mode"}
    assert set(shown["customer_info_fields"][0]) == {
        "name", "label", "type", "required", "options", "ask_before_chat",
        "ask_before_person",
    }  # fmt: skip
    assert (shown["banner"], shown["sample_questions"]) == (None, [])


def test_one_language(widget):
    english = widget.get(PATH).json()
    assert (english["language"], english["welcome_message"]) == ("en", "Hello")
    assert english["customer_info_fields"][0]["label"] == "City"
    for code in ("vi", "vi-VN"):
        shown = widget.get(PATH, {"language": code}).json()
        assert (shown["language"], shown["welcome_message"]) == (code, "Xin chào")
        assert shown["terms"] == "Be fair.", "a missing text is shown in the default language"
        assert shown["person_button"] == phrasebook.all_books()["vi"].says["person_button"]
        assert shown["customer_info_fields"][0]["label"] == "Thành phố"
    assert widget.get(PATH, {"language": "de"}).json()["welcome_message"] == "Hello"
    ClientConfig.objects.update(handoff_on_request=False)
    assert widget.get(PATH).json()["person_button"] is None
    assert widget.get(PATH, {"language": "?"}).status_code == 422


def test_contact_fields_have_our_labels_where_the_client_has_none(ann, page, bot):
    own = {"en": "Your name"}
    fields = [{"name": name, "label": own, "type": "text"} for name in ("name", "phone", "pet")]
    assert ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": fields}).status_code == 200

    def labels(language):
        fields = page.get(PATH, {"language": language}).json()["customer_info_fields"]
        return [field["label"] for field in fields]

    assert labels("en") == ["Your name"] * 3
    assert labels("vi") == ["Tên", "Số điện thoại", "Your name"]
    assert labels("pt-BR")[1] == "Número de telefone"
    assert labels("sv") == ["Your name"] * 3


def test_missing_texts_are_null(page):
    shown = page.get(PATH).json()
    assert (shown["welcome_message"], shown["terms"], shown["bot_icon"]) == (None, None, None)


def test_etag_and_cache_control(widget):
    first = widget.get(PATH)
    tag = first["ETag"]
    assert first["Cache-Control"] == "private, max-age=60"
    assert {"API-KEY", "Origin"} <= {part.strip() for part in first["Vary"].split(",")}
    for tags in (tag, f'"other", W/{tag}', "*"):
        unchanged = widget.get(PATH, **{"If-None-Match": tags})
        assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", tag)
    assert widget.get(PATH, **{"If-None-Match": '"other"'}).status_code == 200
    Bot.objects.update(bot_name="Other")
    changed = widget.get(PATH, **{"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed["ETag"] != tag


def test_a_disabled_or_invisible_bot_has_a_configuration(widget):
    Bot.objects.update(is_disabled=True, is_visible=False)
    reply = widget.get(PATH)
    assert reply.status_code == 200
    assert reply.json()["is_visible"] is False


def test_the_bot_of_a_key(ann, cara):
    first, second = make_bot(ann.client), make_bot(ann.client)
    of_all = make_key(ann.client)
    assert of_all.get(PATH).json()["detail"][0]["loc"] == ["query", "bot_id"]
    assert of_all.get(PATH, {"bot_id": second.pk}).json()["id"] == second.pk
    of_first = make_key(ann.client, "public", first.pk)
    assert of_first.get(PATH).json()["id"] == first.pk
    assert of_first.get(PATH, {"bot_id": second.pk}).status_code == 404
    stranger = make_key(cara.client)
    assert stranger.get(PATH).status_code == 404
    assert stranger.get(PATH, {"bot_id": first.pk}).status_code == 404


def test_a_page_that_is_not_allowed(widget):
    reply = widget.get(PATH, Origin="https://evil.com")
    assert reply.status_code == 403
    assert "Access-Control-Allow-Origin" not in reply
    allowed = widget.get(PATH, Origin="https://good.com")
    assert allowed["Access-Control-Allow-Origin"] == "https://good.com"


def test_only_keys_are_accepted(ann, nobody):
    assert ann.get(PATH).status_code == 401
    assert nobody.get(PATH).status_code == 401


def test_the_question_and_the_engaging_message(widget):
    empty = widget.get(PATH).json()
    assert (empty["bot_question"], empty["engaging_message"]) == (None, None)
    Bot.objects.update(bot_question="What now?", engaging_message={"en": "Hi", "vi": "Chào"})
    shown = widget.get(PATH, {"language": "vi"}).json()
    assert (shown["bot_question"], shown["engaging_message"]) == ("What now?", "Chào")


def test_what_may_be_attached(widget, ann, settings):
    limits = widget.get(PATH).json()["upload_limits"]
    assert limits == {
        "max_files": 10,
        "max_file_bytes": settings.MAX_UPLOAD_BYTES,
        "max_request_bytes": settings.MAX_REQUEST_BYTES,
    }


def close(**more):
    """Open on the weekday of the day before yesterday only."""
    weekday = (timezone.now() - timedelta(days=2)).weekday()
    entry = {"weekday": weekday, "opens": "09:00", "closes": "17:00"}
    return {"business_hours": [entry]} | more


def test_open_or_closed(widget, ann):
    opened = widget.get(PATH)
    assert opened.json()["is_open"] is True
    assert (opened.json()["opens_at"], opened.json()["business_hours"]) == (None, [])
    day = (timezone.now() + timedelta(days=2)).date()
    body = close(
        timezone="UTC",
        holidays=[{"date": "2001-12-25"}, {"date": str(day), "name": "Fair"}],
        out_of_hours_message={"en": "Back soon.", "vi": "Hẹn gặp lại."},
    )
    ann.post(f"/config/{ann.client.pk}/chat", body)
    closed = widget.get(PATH, {"language": "vi"}, **{"If-None-Match": opened["ETag"]}).json()
    assert closed["is_open"] is False
    assert closed["opens_at"].endswith("T09:00:00.000Z")
    assert closed["opens_at"] > timezone.now().isoformat()
    assert (closed["timezone"], closed["business_hours"]) == ("UTC", body["business_hours"])
    assert [entry["name"] for entry in closed["holidays"]] == ["Fair"], "past ones are left out"
    assert closed["out_of_hours_message"] == "Hẹn gặp lại."


def test_a_bots_own_hours_are_shown(widget, ann):
    ann.post(f"/config/{ann.client.pk}/chat", close())
    assert widget.get(PATH).json()["is_open"] is False
    ann.put(f"/ai/bot/{widget.key.bot_id}/update-bot", {"business_hours": []})
    shown = widget.get(PATH).json()
    assert (shown["is_open"], shown["business_hours"]) == (True, [])
