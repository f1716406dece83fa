"""Customers and agents read each other in their own languages (auto_translate)."""

import pytest

from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message
from identity.models import Client, ClientConfig
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

GERMAN = "Guten Tag, wo ist meine Bestellung geblieben?"


@pytest.fixture
def translating(client_a):
    ClientConfig.objects.update(auto_translate=True)
    Client.objects.update(default_language="en")


@pytest.fixture
def german_chat(server, translating):
    """A chat with a German customer, which has no translation yet; nobody answers it."""
    chat_id = server.post("/ai/client/chat", {"language": "de"}).json()["id"]
    Conversation.objects.update(assign_type="queue")
    return Conversation.objects.get(pk=chat_id)


def write(ben, chat, text, **fields):
    sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": text, **fields})
    assert sent.status_code == 201, sent.content
    run_jobs()
    return Message.objects.get(pk=sent.json()["id"])


def ask(server, chat, text):
    body = {"text": text, "reply": "none"}
    sent = server.post(f"/ai/client/chat/{chat.pk}", body)
    assert sent.status_code == 200, sent.content
    run_jobs()
    return Message.objects.get(pk=sent.json()["message"]["id"])


def updates():
    rows = Event.objects.filter(type="message.updated").order_by("sequence")
    return [row.data["message"] for row in rows]


def test_an_agents_words_reach_the_customer_in_their_language(
    server, ben, model, german_chat, credits_spent
):
    model.json_answer = {"text": "Ihr Paket kommt morgen an.", "source_language": "en"}
    message = write(ben, german_chat, "Your parcel will arrive tomorrow.")
    assert (message.language, message.text) == ("en", "Your parcel will arrive tomorrow.")
    assert message.translations == {"de": "Ihr Paket kommt morgen an."}
    shown = server.get(f"/ai/client/chat/history/{german_chat.pk}").json()["items"][-1]
    assert shown["content"][0]["text"] == "Your parcel will arrive tomorrow."
    assert shown["translations"] == {"de": "Ihr Paket kommt morgen an."}
    assert updates() == [shown]
    assert "code de" in model.requests[0]["messages"][0]["content"]
    assert credits_spent(ben.client) == 1


def test_what_was_read_before_its_translation_came_is_unread_until_that_is_read(
    server, ben, model, german_chat
):
    model.json_answer = {"text": "Ihr Paket kommt morgen an."}
    path = f"/ai/client/chat/{german_chat.pk}"
    sent = ben.post(f"/ai/chat/{german_chat.pk}/manual", {"text": "Your parcel arrives tomorrow."})

    def status():
        return Message.objects.values_list("status", flat=True).get(pk=sent.json()["id"])

    server.post(f"{path}/read", {})
    assert status() == "read"
    run_jobs()
    assert (status(), updates()[-1]["status"]) == ("delivered", "delivered")
    server.post(f"{path}/read", {})
    assert status() == "read"


def test_a_customers_words_reach_the_agents_in_the_clients_language(
    server, ben, model, german_chat
):
    model.json_answer = {"text": "Where is my order?"}
    message = ask(server, german_chat, GERMAN)
    assert (message.text, message.translations) == (GERMAN, {"en": "Where is my order?"})
    assert [update["translations"] for update in updates()] == [{"en": "Where is my order?"}]
    seen = ben.get(f"/ai/chat/{german_chat.pk}/history").json()["items"][-1]
    assert seen["translations"] == {"en": "Where is my order?"}


def test_the_language_in_which_the_customer_writes_counts(server, ben, model, german_chat):
    model.json_answer = {"text": "traduction"}
    ask(server, german_chat, "Bonjour, où est ma commande ?")
    assert write(ben, german_chat, "Tomorrow it will be there.").translations == {
        "fr": "traduction"
    }


def test_short_words_of_an_agent_are_the_clients_language(ben, model, german_chat):
    model.json_answer = {"text": "Gern!"}
    message = write(ben, german_chat, "Sure!")
    assert (message.language, message.translations) == ("en", {"de": "Gern!"})


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Ihr Paket kommt morgen an.", {}),
        ("Ask the warehouse first, please.", {"is_note": True}),
    ],
)
def test_what_the_customer_reads_anyway_or_never_is_not_translated(
    ben, model, german_chat, text, fields
):
    assert write(ben, german_chat, text, **fields).translations == {}
    assert not Job.objects.filter(name="chats.translate_message").exists()
    assert model.requests == []


def test_nothing_is_translated_without_the_setting_or_a_model(ben, model, german_chat, settings):
    ClientConfig.objects.update(auto_translate=False)
    message = write(ben, german_chat, "Your parcel will arrive tomorrow.")
    assert (message.language, message.translations) == ("en", {})
    # Without translations, short words are taken for the language of the chat.
    assert write(ben, german_chat, "ok").language == "de"
    ClientConfig.objects.update(auto_translate=True)
    settings.LLM_BASE_URL = ""
    assert write(ben, german_chat, "Your parcel will arrive tomorrow.").translations == {}
    assert model.requests == []


def test_an_agent_of_another_system_is_translated_too(server, model, german_chat):
    model.json_answer = {"text": "Ihr Paket kommt morgen an."}
    body = {"sender": {"type": "agent", "name": "Bob"}, "text": "Your parcel will arrive tomorrow."}
    path = f"/mesaging/conversations/{german_chat.pk}/messages"
    assert server.post(path, body).status_code == 201
    run_jobs()
    assert Message.objects.get().translations == {"de": "Ihr Paket kommt morgen an."}
    past = body | {"sent_at": "2026-01-01T00:00:00Z", "client_message_id": "m-2"}
    assert server.post(path, past).status_code == 201
    run_jobs()
    assert len(model.requests) == 1


def test_a_message_that_changed_meanwhile_gets_no_translation_of_its_old_words(
    server, model, german_chat
):
    model.json_answer = {"text": "Where is my order?"}

    def change():
        Message.objects.update(text="Danke, sie ist da.")

    with run_before("bots.engine.text_tasks.translate", change):
        message = ask(server, german_chat, GERMAN)
    assert (message.text, message.translations) == ("Danke, sie ist da.", {})
    assert updates() == []


def test_without_credits_the_words_stay_as_they_are(ben, model, german_chat):
    german_chat.client.subscription.credits_left = 0
    german_chat.client.subscription.save()
    message = write(ben, german_chat, "Your parcel will arrive tomorrow.")
    assert message.translations == {}
    assert Job.objects.get(name="chats.translate_message").state == "dead"
    assert model.requests == []
