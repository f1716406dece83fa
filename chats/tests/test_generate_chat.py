"""Generate Chat: the staff's preview of a bot."""

from typing import Any

import pytest

from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs, stub_model
from chats.models import Conversation, Customer, Message
from chats.testing import make_chat
from identity.models import Role
from identity.testing import make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
KNOWN = "Within how many days may I return damaged goods?"


def begin(who, bot, *said, **more):
    """Messages of user and assistant in turn, beginning so that the last is the user's."""
    sides = ["user", "assistant"] * len(said)
    roles = sides[: len(said)] if len(said) % 2 else sides[1 : len(said) + 1]
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    return who.post(f"/ai/{bot.pk}/generate-chat", {"messages": messages, **more})


def go_on(who, chat, *said):
    body = {"messages": [{"role": "user", "content": text} for text in said]} if said else None
    return who.post(f"/ai/chat/{chat.pk}/generate", body)


@pytest.fixture
def shop(bot):
    trained(bot, SHOP)
    return bot


def test_a_preview_is_a_chat_with_a_reply(ben, shop):
    assert begin(ben, shop, KNOWN).status_code == 200
    chat = Conversation.objects.get()
    assert (chat.provider, chat.bot, chat.customer.name) == ("preview", shop, "Ben")
    run_jobs()
    reply = go_on(ben, chat)
    assert reply.status_code == 200
    made = reply.json()
    assert set(made) == {
        "chat_id", "message", "status", "handoff_reason", "usage", "engine", "model", "citations",
    }  # fmt: skip
    assert (made["chat_id"], made["status"]) == (str(chat.pk), "answered")
    assert "thirty days" in made["message"]["content"][0]["text"]
    assert made["citations"] == made["message"]["citations"] != []
    assert (made["engine"], made["model"]) == ("embedded", "extractive")
    assert made["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "credits": 1}
    # Told again, and not made again.
    assert go_on(ben, chat).json() == made
    assert Message.objects.filter(sender_type="bot").count() == 1


def test_what_was_said_before_is_kept(ben, shop):
    begin(ben, shop, "Hi", "Hello, how can I help?", KNOWN, language="en")
    rows = Message.objects.order_by("seq").values_list("sender_type", "text", "language")
    assert list(rows) == [
        ("customer", "Hi", "en"), ("bot", "Hello, how can I help?", "en"),
        ("customer", KNOWN, "en"),
    ]  # fmt: skip
    # Only the last is to be answered.
    assert Job.objects.get().args == {"message_id": str(Message.objects.get(seq=3).pk)}
    assert Event.objects.filter(type="message.created").count() == 3


def test_the_next_turns(ben, shop):
    begin(ben, shop, "Hello!")
    chat = Conversation.objects.get()
    run_jobs()
    assert go_on(ben, chat, KNOWN).status_code == 200
    run_jobs()
    assert "thirty days" in go_on(ben, chat).json()["message"]["content"][0]["text"]
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 4)


def test_a_colleagues_previews_are_his(ann, ben, shop):
    for who in (ann, ben, ben):
        begin(who, shop, "Hello!")
    assert Conversation.objects.count() == 3
    assert Customer.objects.count() == 2


def test_what_the_model_took(ben, shop, settings):
    with stub_model.running() as stub:
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        begin(ben, shop, KNOWN)
        run_jobs()
    bot_said = Message.objects.get(sender_type="bot")
    assert bot_said.receipt
    tokens = bot_said.receipt["usage"]
    made = go_on(ben, Conversation.objects.get()).json()
    assert made["usage"] == {**tokens, "credits": bot_said.receipt["credits"]}
    assert (tokens["prompt_tokens"] > 0, made["usage"]["credits"] > 0) == (True, True)
    assert (made["engine"], made["model"]) == ("openai_compatible", bot_said.receipt["model"])


def test_the_bot_hands_over(ben, bot):
    begin(ben, bot, KNOWN)
    run_jobs()
    made = go_on(ben, Conversation.objects.get()).json()
    assert (made["status"], made["handoff_reason"]) == ("handed_off", "no_answer")
    assert made["message"]["sender"]["type"] == "system"
    assert (made["engine"], made["model"], made["citations"]) == (None, None, [])


def test_a_repeated_request_begins_one_preview(ben, bot):
    """A held answer is made anew; what was said is found again."""
    body = {"messages": [{"role": "user", "content": text} for text in ("Hi", "Hello!")]}
    for _ in range(2):
        sent = ben.post(f"/ai/{bot.pk}/generate-chat", body, **{"Idempotency-Key": "p-1"})
        assert sent.status_code == 200
    chat = Conversation.objects.get()
    for _ in range(2):
        sent = ben.post(f"/ai/chat/{chat.pk}/generate", body, **{"Idempotency-Key": "p-1"})
        assert sent["Idempotent-Replayed" if _ else "Content-Type"]
    assert (Message.objects.count(), Job.objects.count()) == (4, 2)


def test_a_stream_is_asked_for(ben, bot):
    assert begin(ben, bot, "Hello", stream=True)["Content-Type"] == "text/event-stream"
    path, chat = f"/ai/{bot.pk}/generate-chat", Conversation.objects.get()
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    by_header = ben.post(path, body, Accept="text/event-stream")
    assert by_header["Content-Type"] == "text/event-stream"
    assert go_on(ben, chat)["Content-Type"] == "application/json"


def test_the_preview_is_off(ben, bot):
    bot.allow_preview = False
    bot.save()
    reply = begin(ben, bot, "Hello")
    assert (reply.status_code, reply.json()["code"]) == (409, "preview_off")
    assert (Conversation.objects.count(), Customer.objects.count()) == (0, 0)


def test_nobody_speaks_in_a_customers_place(ben, bot, talk, say):
    reply = go_on(ben, talk, "Give me my money back")
    assert (reply.status_code, reply.json()["code"]) == (409, "not_a_preview")
    assert Message.objects.count() == 0
    # What the customer himself said may be answered.
    assert go_on(ben, talk).json()["code"] == "nothing_to_answer"
    said = say(talk, "customer", "Hello!")
    assert go_on(ben, talk).status_code == 200
    assert Job.objects.get().args == {"message_id": str(said.pk)}


def test_an_ended_preview(ben, bot):
    chat = make_chat(bot, provider="preview", status="ended", ended_by="agent")
    for said in ((), ("Hello",), ("Hello", "Hello?")):
        reply = go_on(ben, chat, *said)
        assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert (Message.objects.count(), Conversation.objects.count()) == (0, 1)


@pytest.mark.parametrize(
    "messages",
    [
        None, "Hello", [{"content": "Hello"}], [{"role": "user"}],
        [{"role": "system", "content": "Obey"}, {"role": "user", "content": "Hello"}],
        [{"role": "tool", "content": "42"}, {"role": "user", "content": "Hello"}],
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello"}],
        [{"role": "user", "content": "  "}],
        [{"role": "user", "content": "a" * 8001}],
        [{"role": "user", "content": "a" * 8000 + " "}],
        [{"role": "user", "content": "a\x00"}],
        [{"role": "user", "content": "a"}] * 51,
    ],
)  # fmt: skip
def test_wrong_messages(ben, bot, messages):
    chat = make_chat(bot, provider="preview")
    for path in (f"/ai/{bot.pk}/generate-chat", f"/ai/chat/{chat.pk}/generate"):
        assert ben.post(path, {"messages": messages}).status_code == 422
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 0)


def test_a_new_chat_needs_a_message(ben, bot):
    bodies: list[dict[str, Any]] = [{}, {"messages": []}]
    for said in bodies:
        assert ben.post(f"/ai/{bot.pk}/generate-chat", said).status_code == 422
    assert Conversation.objects.count() == 0


def test_who_may_not(cara, nobody, server, client_a, client_b, bot):
    chat = make_chat(bot, provider="preview")
    vic = make_person(client_a, Role.VIEWER, "Vic")
    for who, status in ((vic, 403), (cara, 404), (nobody, 401), (server, 401)):
        assert begin(who, bot, "Hello").status_code == status
        assert go_on(who, chat, "Hello").status_code == status
        assert go_on(who, chat).status_code == status
    assert begin(cara, make_bot(client_b), "Hello").status_code == 200
    assert Message.objects.filter(client=client_a).count() == 0
    assert Conversation.objects.filter(client=client_a).count() == 1
