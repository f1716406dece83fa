"""A model of a client's or a bot's own: set, listed, tried, removed, and what it writes."""

import pytest
from django.db import connection
from django.urls import reverse

from bots.models import LanguageModel
from bots.testing import make_bot, trained
from chatplatform.testing import run_jobs, stub_model
from chats.models import Message
from identity.models import AuditEvent, CreditEntry, Role, User
from identity.testing import make_key, make_person

pytestmark = pytest.mark.django_db(transaction=True)
PATH, KEY = "/ai/model", "sk-very-secret"
WRITTEN = "Guests get their money back [1]."


@pytest.fixture
def own(settings):
    """A client's model server, which the operator allows although it is private."""
    with stub_model.running(f"say:{WRITTEN}") as server:
        settings.EGRESS_ALLOW = [
            f"{host}:{server.server_port}" for host in ("127.0.0.1", "localhost")
        ]
        settings.LLM_BASE_URL = ""
        yield server


@pytest.fixture
def body(own):
    return {"base_url": own.base_url, "model": "ours", "api_key": KEY}


def answer_to(bot, question="Do guests get their money back?"):
    """What the bot answers, and the reply's receipt."""
    server = make_key(bot.client, "secret", bot.pk)
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": question, "reply": "async"})
    run_jobs()
    return Message.objects.get(conversation_id=chat, sender_type="bot")


def test_a_model_of_its_own_writes_and_its_key_is_never_shown(ann, bot, own, body):
    trained(bot, "Guests get their money back within seven days.")
    reply = ann.put(PATH, body | {"credits_per_1000_tokens": 3})
    assert reply.status_code == 200, reply.content
    listed = ann.get(PATH).json()["items"]
    assert listed == [reply.json()]
    assert (listed[0]["bot_id"], listed[0]["has_api_key"], listed[0]["model"]) == (
        None, True, "ours",
    )  # fmt: skip
    message = answer_to(bot)
    assert message.text == WRITTEN
    assert (own.requests[-1]["model"], message.receipt["engine"]) == ("ours", "openai_compatible")
    paid = CreditEntry.objects.filter(client=bot.client, reference__startswith="reply:")
    assert -sum(paid.values_list("amount", flat=True)) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT row::text FROM bots_languagemodel row")
        assert KEY not in cursor.fetchone()[0]
    event = AuditEvent.objects.get(action="language_model.set")
    assert event.user == ann.user
    assert event.changes["key_replaced"] is True
    assert KEY not in str([reply.content, listed, event.changes])


def test_a_bot_that_the_body_alone_names_does_not_set_the_whole_clients_model(ann, bot, body):
    other = make_bot(bot.client)
    for where, named in ((PATH, bot.pk), (f"{PATH}?bot_id={other.pk}", bot.pk)):
        reply = ann.put(where, body | {"bot_id": named})
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", "bot_id"]
    assert not LanguageModel.objects.exists()
    set_up = ann.put(f"{PATH}?bot_id={bot.pk}", body | {"credits_per_1000_tokens": 3}).json()
    assert ann.put(f"{PATH}?bot_id={bot.pk}", set_up).status_code == 200
    again = ann.put(f"{PATH}?bot_id={bot.pk}", body).json()
    assert (again["bot_id"], again["credits_per_1000_tokens"]) == (bot.pk, 3)


def test_a_bot_prefers_its_own_model_and_no_other_bot_or_client_gets_it(ann, cara, bot, own, body):
    other, theirs = make_bot(ann.client), make_bot(cara.client)
    for item in (bot, other, theirs):
        trained(item, "Guests get their money back within seven days.")
    assert ann.put(f"{PATH}?bot_id={bot.pk}", body | {"model": "bots"}).status_code == 200
    assert [answer_to(item).receipt["engine"] for item in (other, theirs)] == ["extractive"] * 2
    assert not own.requests
    ann.put(PATH, body)
    answer_to(bot)
    answer_to(other)
    answer_to(theirs)
    assert [request["model"] for request in own.requests] == ["bots", "ours"]
    assert ann.delete(f"{PATH}?bot_id={bot.pk}").status_code == 204
    assert ann.delete(f"{PATH}?bot_id={bot.pk}").status_code == 204
    answer_to(bot)
    assert own.requests[-1]["model"] == "ours"
    assert AuditEvent.objects.filter(action="language_model.removed").count() == 1


def test_a_model_that_fails_gives_way_to_the_quotation(ann, bot, own, body):
    trained(bot, "Guests get their money back within seven days.")
    ann.put(PATH, body)
    own.play("500")
    message = answer_to(bot)
    assert "seven days" in message.text
    assert message.receipt["engine_error"] == "The model server answered 500."


def test_the_test_says_what_came_of_it_and_costs_nothing(ann, own, body):
    assert ann.post(f"{PATH}/test").status_code == 404
    ann.put(PATH, body)
    own.json_answer = {"text": "Xin chào", "source_language": "en"}
    own.play("json")
    works = ann.post(f"{PATH}/test").json()
    assert (works["is_working"], works["error"], works["answered_by"]) == (True, None, "stub")
    assert works["tokens"] > 0
    own.play("500")
    fails = ann.post(f"{PATH}/test").json()
    assert (fails["is_working"], fails["error"]) == (False, "The model server answered 500.")
    assert not CreditEntry.objects.filter(kind="reserve").exists()


def test_a_private_address_is_refused_when_set_and_when_called(ann, bot, settings, own, body):
    private = ["http://127.0.0.1:9/v1", "http://169.254.169.254/v1", "https://10.0.0.7/v1"]
    for address in private:
        reply = ann.put(PATH, body | {"base_url": address})
        assert reply.status_code == 422, address
        assert reply.json()["detail"][0]["loc"] == ["body", "base_url"]
    assert not LanguageModel.objects.exists()
    ann.put(PATH, body)
    # The operator's own model may be private: that lets nobody else's in.
    settings.EGRESS_ALLOW, settings.LLM_BASE_URL = [], own.base_url
    trained(bot, "Guests get their money back within seven days.")
    assert answer_to(bot).receipt["engine"] == "extractive"
    assert ann.post(f"{PATH}/test").json()["is_working"] is False
    assert not own.requests


def test_a_key_stays_with_its_host_and_goes_over_https_only(ann, settings, own, body):
    ann.put(PATH, body)
    changed = {"base_url": own.base_url, "model": "other"}
    assert ann.put(PATH, changed).json()["has_api_key"] is True
    assert LanguageModel.objects.get().api_key == KEY
    moved = changed | {"base_url": "https://93.184.215.14/v1"}
    assert ann.put(PATH, moved).json()["detail"][0]["loc"] == ["body", "api_key"]
    in_clear = moved | {"base_url": "http://93.184.215.14/v1", "api_key": "k"}
    assert ann.put(PATH, in_clear).json()["detail"][0]["loc"] == ["body", "api_key"]
    assert ann.put(PATH, changed | {"credits_per_1000_tokens": 0}).status_code == 422
    assert LanguageModel.objects.get().model == "other"
    assert ann.put(PATH, changed | {"api_key": ""}).json()["has_api_key"] is False


def test_only_who_administers_the_client(ann, ben, cara, bot, body):
    trainer = make_person(ann.client, Role.AGENT, "Tom")
    User.objects.filter(full_name="Tom").update(can_train=True)
    for person in (ben, trainer):
        assert person.put(PATH, body).status_code == 403
        assert person.get(PATH).status_code == 403
    path = f"{PATH}?bot_id={bot.pk}"
    assert cara.put(path, body).status_code == 404
    assert cara.delete(path).status_code == 404
    assert cara.post(f"{PATH}/test?bot_id={bot.pk}").status_code == 404
    assert not LanguageModel.objects.exists()
    ann.put(path, body)
    assert cara.get(PATH).json()["items"] == []


def test_in_the_site_it_is_set_tested_and_removed(ann, bot, own, body):
    ann.browser.force_login(ann.user)
    own.json_answer = {"text": "Xin chào"}
    own.play("json")
    form = body | {"bot": bot.pk, "credits_per_1000_tokens": 1}
    refused = ann.browser.post(
        reverse("admin:bots_languagemodel_set_model"), form | {"base_url": "x"}
    )
    assert "Check the format of this field" in refused.content.decode()
    page = ann.browser.post(reverse("admin:bots_languagemodel_set_model"), form, follow=True)
    shown = page.content.decode()
    assert "ours works" in shown
    row = LanguageModel.objects.get()
    assert (row.bot, row.api_key) == (bot, KEY)
    path = reverse("admin:bots_languagemodel_edit", args=[row.pk])
    edit = ann.browser.get(path).content.decode()
    assert "Stored encrypted" in edit
    assert KEY not in shown + edit
    own.play("500")
    changed = form | {"model": "newer", "api_key": ""}
    page = ann.browser.post(path, changed, follow=True)
    assert "newer didn&#x27;t return a usable answer" in page.content.decode()
    row.refresh_from_db()
    assert (row.model, row.api_key) == ("newer", KEY)
    remove = {"action": "remove", "_selected_action": [row.pk], "confirmed": "yes"}
    ann.browser.post("/admin/bots/languagemodel/", remove)
    assert not LanguageModel.objects.exists()


def test_the_sites_form_says_whether_a_key_is_stored_and_removes_it(ann, own, body):
    ann.put(PATH, body)
    ann.browser.force_login(ann.user)
    row = LanguageModel.objects.get()
    path = reverse("admin:bots_languagemodel_edit", args=[row.pk])
    assert "A key is saved. Leave empty to keep it." in ann.browser.get(path).content.decode()
    moved = own.base_url.replace("127.0.0.1", "localhost")
    form = body | {"base_url": moved, "api_key": "", "credits_per_1000_tokens": 1}
    refused = ann.browser.post(path, form).content.decode()
    assert "Enter the key again, or remove it" in refused
    both = ann.browser.post(path, form | {"api_key": "sk-new", "removes_key": "on"})
    assert "Enter a key or remove the saved one, not both." in both.content.decode()
    row.refresh_from_db()
    assert row.api_key == KEY
    saved = ann.browser.post(path, form | {"removes_key": "on"})
    row.refresh_from_db()
    assert (saved.status_code, row.base_url, row.api_key) == (302, moved, "")
    assert "No key saved." in ann.browser.get(path).content.decode()
    assert ann.get(PATH).json()["items"][0]["has_api_key"] is False
