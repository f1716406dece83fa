"""Two people have the same form open: whoever saves later puts back nothing of the other's."""

from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone
from lxml import html

from bots.models import Document, Function, WebUrl
from chats.testing import make_chat
from identity.models import User
from identity.testing import make_person
from webhooks.models import WebhookConfig

PARAMETERS = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "zip": {"type": "string"}},
    "required": ["order_id"],
}


@pytest.fixture
def editors(ann):
    """Two owners of a company, and the platform's staff."""
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    people: Any = (ann.user, make_person(ann.client, "owner", "Olga").user, staff)
    browsers = []
    for person in people:
        browsers.append(Browser())
        browsers[-1].force_login(person)
    return browsers


@pytest.fixture
def rows(ann, bot):
    """A row of each kind that has a form, by its kind."""
    own = {"client": ann.client}
    WebhookConfig.objects.create(
        **own, url="https://8.8.8.8/hook", secret="x", event_types=["message.created"]
    )
    Function.objects.create(
        **own, bot=bot, name="order", description="Looks an order up", method="GET",
        url="https://8.8.8.8/{order_id}", parameters=PARAMETERS,
    )  # fmt: skip
    Document.objects.create(
        **own, bot=bot, source="text", title="Delivery", content="Two days.\nOr three.",
        file_name="Delivery", mime_type="text/plain", size_bytes=9, sha256="a" * 64,
        status="trained",
    )  # fmt: skip
    WebUrl.objects.create(**own, bot=bot, url="https://8.8.8.8/", crawl_depth=1)
    type(bot).objects.filter(pk=bot.pk).update(
        languages=["en", "vi"], description="One line.\nAnd another.",
        welcome_message={"en": "Hello\nyou", "vi": "Chào"},
    )  # fmt: skip
    return {
        "bot": bot, "customer": make_chat(bot).customer, "person": make_person(
            ann.client, "agent", "Ada"
        ).user,
        "endpoint": WebhookConfig.objects.get(), "function": Function.objects.get(),
        "document": Document.objects.get(), "website": WebUrl.objects.get(),
    }  # fmt: skip


# Of each form: its page, its id, and what the first and the second person change.
FORMS: dict[str, tuple[str, tuple[str, ...], str, dict[str, Any], dict[str, Any]]] = {
    "handover": (
        "settings_handover", (), "handover", {"agent_capacity": "7"},
        {"handoff_on_no_answer": False},
    ),
    "answers": (
        "settings_handover", (), "answers", {"answer_threshold": "0.6"}, {"burst_wait_ms": "3"},
    ),
    "hours": (
        "settings_hours", (), "hours", {"out_of_hours_message_en": "We are back\nat nine."},
        {"business_hours": "hours", "business_hours-2": True},
    ),
    "notifications": (
        "settings_notifications", (), "notifications", {"recipients": "zoe@example.com"},
        {"unanswered_after_minutes": "17"},
    ),
    "company": (
        "settings_company", (), "company", {"name": "Acme & Daughters"},
        {"timezone": "Asia/Ho_Chi_Minh"},
    ),
    "sentences": (
        "settings_messages", (), "small_talk", {"greeting": "Hello!"}, {"thanks": "Welcome!"},
    ),
    "person": (
        "identity_user_change", ("person",), "person", {"full_name": "Ada B."}, {"role": "admin"},
    ),
    "customer": (
        "chats_customer_edit", ("customer",), "service", {"name": "Zoe B."}, {"phone": "+84 90"},
    ),
    "endpoint": (
        "webhooks_webhookconfig_manage", ("endpoint",), "settings", {"description": "Ours"},
        {"event_types": {"message.created", "conversation.ended"}},
    ),
    "function": (
        "bots_function_edit", ("function",), "settings", {"description": "Finds an order"},
        {"parameter_1_about": "The postal code"},
    ),
    "look": ("bots_bot_look", ("bot",), "appearance", {"bot_name": "Hoa"}, {"font": "Georgia"}),
    "style": ("bots_bot_look", ("bot",), "window", {"width": "500"}, {"is_fullscreen": True}),
    "words": (
        "bots_bot_look", ("bot",), "welcome", {"welcome_message_en": "Good day"},
        {"welcome_message_vi": "Xin chào"},
    ),
    "languages": (
        "bots_bot_behaviour", ("bot",), "languages", {"languages": {"en", "vi", "de"}},
        {"default_language": "vi"},
    ),
    "contact": (
        "bots_bot_behaviour", ("bot",), "contact", {"name": "required"}, {"email": "optional"},
    ),
    "bot": (
        "bots_bot_behaviour", ("bot",), "answering", {"agent_reply": True},
        {"delete_available": True},
    ),
    "text": (
        "bots_bot_document", ("bot", "document"), "edit", {"title": "Delivery times"},
        {"text": "Two days.\nNever three."},
    ),
    "use": (
        "bots_bot_document", ("bot", "document"), "use", {"is_important": True},
        {"valid_from": f"{timezone.localdate()}"},
    ),
    "website": (
        "bots_bot_website", ("bot", "website"), "edit", {"crawl_depth": "3"},
        {"refresh_hours": "168"},
    ),
}  # fmt: skip


def opened(browser, path, name):
    """The form of a page as a browser holds it."""
    page = html.fromstring(browser.get(path).content.decode())
    (form,) = page.xpath(f"//form[@id='{name}-form']")
    return form


def entered(form, changes):
    for name, value in changes.items():
        form.inputs[name].value = value if not isinstance(value, bool) else ("on" if value else "")
        if isinstance(value, bool):
            form.inputs[name].checked = value


def send(browser, path, form):
    given: dict[str, list[str]] = {}
    for name, value in form.form_values():
        # As browsers send a text of several lines.
        given.setdefault(name, []).append(value.replace("\n", "\r\n"))
    reply = browser.post(path, given)
    errors = html.fromstring(reply.content.decode() or "<p>").find_class("errors")
    assert reply.status_code == 302, [" ".join(item.text_content().split()) for item in errors]


def held(form, names):
    """What a form shows of these fields."""
    found = {}
    for name in names:
        field = form.inputs[name]
        if getattr(field, "type", "") == "checkbox" and not isinstance(field, list):
            found[name] = field.checked
        else:
            value = field.value
            found[name] = {*value} if not isinstance(value, str | None) else value
    return found


@pytest.mark.parametrize("name", FORMS)
def test_the_later_save_keeps_what_the_other_has_changed(editors, rows, name):
    page, needed, form_name, first, second = FORMS[name]
    path = reverse(f"admin:{page}", args=[rows[kind].pk for kind in needed])
    one, other, _ = editors
    earlier, later = opened(one, path, form_name), opened(other, path, form_name)
    entered(earlier, first)
    send(one, path, earlier)
    entered(later, second)
    send(other, path, later)
    assert held(opened(one, path, form_name), [*first, *second]) == first | second


def test_staff_who_change_a_language_do_not_put_an_address_back(editors, rows):
    path = reverse("admin:identity_user_change", args=[rows["person"].pk])
    *_, staff = editors
    earlier, later = opened(staff, path, "person"), opened(staff, path, "person")
    entered(earlier, {"email": "new@example.com"})
    send(staff, path, earlier)
    entered(later, {"language": "vi"})
    send(staff, path, later)
    person = User.objects.get(pk=rows["person"].pk)
    assert (person.email, person.language) == ("new@example.com", "vi")


def test_of_one_field_the_later_save_counts(editors, rows):
    path = reverse("admin:chats_customer_edit", args=[rows["customer"].pk])
    one, other, _ = editors
    earlier, later = opened(one, path, "service"), opened(other, path, "service")
    for browser, form, name in ((one, earlier, "Zoe B."), (other, later, "Zoe C.")):
        entered(form, {"name": name})
        send(browser, path, form)
    assert held(opened(one, path, "service"), ["name"]) == {"name": "Zoe C."}


def test_rows_that_are_known_by_their_place_are_not_mixed(editors, rows):
    """The first value is taken away while somebody describes the second one."""
    path = reverse("admin:bots_function_edit", args=[rows["function"].pk])
    one, other, _ = editors
    earlier, later = opened(one, path, "settings"), opened(other, path, "settings")
    first, second = (later.inputs[f"parameter_{at}_name"].value for at in (0, 1))
    entered(earlier, {"parameter_0_name": ""})
    send(one, path, earlier)
    assert first not in Function.objects.get().parameters["properties"]
    entered(later, {"parameter_1_about": "The second"})
    send(other, path, later)
    values = Function.objects.get().parameters["properties"]
    described = {name: value.get("description") for name, value in values.items()}
    assert described == {first: None, second: "The second"}


def test_a_secret_goes_where_its_author_saw_it_go(editors, rows):
    path = reverse("admin:bots_function_edit", args=[rows["function"].pk])
    one, other, _ = editors
    earlier, later = opened(one, path, "settings"), opened(other, path, "settings")
    entered(earlier, {"url": "https://8.8.4.4/{order_id}"})
    send(one, path, earlier)
    entered(later, {"header_0_name": "Authorization", "header_0_value": "Bearer x"})
    send(other, path, later)
    assert Function.objects.get().url == "https://8.8.8.8/{order_id}"


def test_a_form_without_marks_says_all_that_it_holds(editors, rows):
    """As a page that was loaded from the release before."""
    path = reverse("admin:chats_customer_edit", args=[rows["customer"].pk])
    one, *_ = editors
    assert one.post(path, {"name": "Zoe", "email": "", "phone": "+84 91"}).status_code == 302
    assert one.post(path, {"name": "", "email": "", "phone": "+84 91"}).status_code == 302
    assert held(opened(one, path, "service"), ["name", "phone"]) == {
        "name": None,
        "phone": "+84 91",
    }


def test_a_mark_that_nobody_made_hides_no_change(editors, rows):
    path = reverse("admin:chats_customer_edit", args=[rows["customer"].pk])
    one, *_ = editors
    for mark in ("", "x", "=", "a=b=c", "en=1 vi=2", "\x00"[:0] + "é" * 500):
        given = {"name": f"Zoe {len(mark)}", "initial-name": mark}
        assert one.post(path, given).status_code == 302
        assert held(opened(one, path, "service"), ["name"]) == {"name": given["name"]}
