"""Generate Chat: the staff's preview of a bot."""

from typing import Any

import pytest

from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import documented, run_jobs, stub_model
from chats.models import Conversation, Customer, Message
from chats.testing import make_chat, make_preview
from identity.models import Role, Subscription
from identity.testing import make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
QUESTION = "Within how many days may I return damaged goods?"


def open_preview(caller, bot, *texts, **more):
    """Open a preview with these texts, by user and assistant in turn; the last is the user's."""
    sides = ["user", "assistant"] * len(texts)
    roles = sides[: len(texts)] if len(texts) % 2 else sides[1 : len(texts) + 1]
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    return caller.post(f"/ai/{bot.pk}/generate-chat", {"messages": messages, **more})


def continue_chat(caller, chat, *texts):
    body = {"messages": [{"role": "user", "content": text} for text in texts]} if texts else None
    return caller.post(f"/ai/chat/{chat.pk}/generate", body)


@pytest.fixture
def shop(bot):
    trained(bot, SHOP)
    return bot


def test_a_preview_is_a_chat_with_a_reply(ben, shop):
    assert open_preview(ben, shop, QUESTION).status_code == 200
    chat = Conversation.objects.get()
    assert (chat.is_preview, chat.bot, chat.customer.name) == (True, shop, "Ben")
    run_jobs()
    reply = continue_chat(ben, chat)
    assert reply.status_code == 200
    generated = reply.json()
    assert set(generated) == {
        "chat_id", "message", "status", "handoff_reason", "usage", "engine", "model", "citations",
    }  # fmt: skip
    assert (generated["chat_id"], generated["status"]) == (str(chat.pk), "answered")
    assert "thirty days" in generated["message"]["content"][0]["text"]
    assert generated["citations"] == generated["message"]["citations"] != []
    assert (generated["engine"], generated["model"]) == ("extractive", "extractive")
    assert generated["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "credits": 1}
    # A repeated request returns the same reply.
    assert continue_chat(ben, chat).json() == generated
    assert Message.objects.filter(sender_type="bot").count() == 1


def test_earlier_messages_are_stored(ben, shop):
    open_preview(ben, shop, "Hi", "Hello, how can I help?", QUESTION, language="en")
    rows = Message.objects.order_by("seq").values_list("sender_type", "text", "language")
    assert list(rows) == [
        ("customer", "Hi", "en"), ("bot", "Hello, how can I help?", "en"),
        ("customer", QUESTION, "en"),
    ]  # fmt: skip
    # Only the last message gets a reply.
    assert Job.objects.get().args == {"message_id": str(Message.objects.get(seq=3).pk)}
    assert Event.objects.count() == 0


def test_further_turns(ben, shop):
    open_preview(ben, shop, "Hello!")
    chat = Conversation.objects.get()
    run_jobs()
    assert continue_chat(ben, chat, QUESTION).status_code == 200
    run_jobs()
    assert "thirty days" in continue_chat(ben, chat).json()["message"]["content"][0]["text"]
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 4)


def test_each_user_previews_as_a_customer_of_their_own(ann, ben, shop):
    for who in (ann, ben, ben):
        open_preview(who, shop, "Hello!")
    assert Conversation.objects.count() == 3
    assert Customer.objects.count() == 2
    listed = [len(who.get("/ai/chats?previews=true").json()["items"]) for who in (ann, ben)]
    assert listed == [3, 2]


def test_the_usage_of_a_model(ben, shop, settings):
    with stub_model.running() as stub:
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        open_preview(ben, shop, QUESTION)
        run_jobs()
    reply = Message.objects.get(sender_type="bot")
    assert reply.receipt
    tokens = reply.receipt["usage"]
    generated = continue_chat(ben, Conversation.objects.get()).json()
    assert generated["usage"] == {**tokens, "credits": reply.receipt["credits"]}
    assert (tokens["prompt_tokens"] > 0, generated["usage"]["credits"] > 0) == (True, True)
    assert (generated["engine"], generated["model"]) == (
        "openai_compatible",
        reply.receipt["model"],
    )


def test_the_bot_hands_over(ben, bot):
    open_preview(ben, bot, QUESTION)
    run_jobs()
    chat = Conversation.objects.get()
    assert continue_chat(ben, chat).json()["status"] == "asked_again", "as in the widget"
    continue_chat(ben, chat, "And who was Napoleon?")
    run_jobs()
    generated = continue_chat(ben, chat).json()
    assert (generated["status"], generated["handoff_reason"]) == ("handed_off", "no_answer")
    assert generated["message"]["sender"]["type"] == "system"
    assert (generated["engine"], generated["model"], generated["citations"]) == (None, None, [])


def test_a_repeated_request_opens_one_preview(ben, bot):
    """The response is created again; the stored messages are found."""
    body = {"messages": [{"role": "user", "content": text} for text in ("Hi", "Hello!")]}
    for _ in range(2):
        sent = ben.post(f"/ai/{bot.pk}/generate-chat", body, **{"Idempotency-Key": "p-1"})
        assert sent.status_code == 200
    chat = Conversation.objects.get()
    for attempt in range(2):
        sent = ben.post(f"/ai/chat/{chat.pk}/generate", body, **{"Idempotency-Key": "p-1"})
        assert sent["Idempotent-Replayed" if attempt else "Content-Type"]
    assert (Message.objects.count(), Job.objects.count()) == (4, 2)


def test_a_stream_is_requested(ben, bot):
    assert open_preview(ben, bot, "Hello", stream=True)["Content-Type"] == "text/event-stream"
    path, chat = f"/ai/{bot.pk}/generate-chat", Conversation.objects.get()
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    by_header = ben.post(path, body, Accept="text/event-stream")
    assert by_header["Content-Type"] == "text/event-stream"
    assert continue_chat(ben, chat)["Content-Type"] == "application/json"


def test_the_preview_is_off(ben, bot):
    bot.allow_preview = False
    bot.save()
    reply = open_preview(ben, bot, "Hello")
    assert (reply.status_code, reply.json()["code"]) == (409, "preview_off")
    assert (Conversation.objects.count(), Customer.objects.count()) == (0, 0)


def test_no_message_is_added_to_a_customers_chat(ben, bot, chat, add_message):
    reply = continue_chat(ben, chat, "Give me my money back")
    assert (reply.status_code, reply.json()["code"]) == (409, "not_a_preview")
    assert Message.objects.count() == 0
    # The customer's own message may be answered.
    assert continue_chat(ben, chat).json()["code"] == "nothing_to_answer"
    message = add_message(chat, "customer", "Hello!")
    assert continue_chat(ben, chat).status_code == 200
    assert Job.objects.get().args == {"message_id": str(message.pk)}


def test_an_ended_preview(ben, bot):
    chat = make_preview(bot, ben, status="ended", ended_by="agent")
    for texts in ((), ("Hello",), ("Hello", "Hello?")):
        reply = continue_chat(ben, chat, *texts)
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
    chat = make_preview(bot, ben)
    for path in (f"/ai/{bot.pk}/generate-chat", f"/ai/chat/{chat.pk}/generate"):
        assert ben.post(path, {"messages": messages}).status_code == 422
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 0)


def test_a_text_that_is_too_long_is_named_and_its_limit_documented(ben, bot):
    messages = [{"role": "user", "content": text} for text in ("Hi", "a" * 8001)]
    reply = ben.post(f"/ai/{bot.pk}/generate-chat", {"messages": messages})
    (fault,) = reply.json()["detail"]
    assert fault["loc"] == ["body", "messages", 1, "content"]
    shape = documented.document()["components"]["schemas"]["PreviewMessage"]
    assert shape["properties"]["content"]["maxLength"] == 8000


def test_a_new_chat_needs_a_message(ben, bot):
    bodies: list[dict[str, Any]] = [{}, {"messages": []}]
    for body in bodies:
        assert ben.post(f"/ai/{bot.pk}/generate-chat", body).status_code == 422
    assert Conversation.objects.count() == 0


def test_access_is_refused(cara, nobody, server, client_a, client_b, bot):
    chat = make_chat(bot, is_preview=True)
    vic = make_person(client_a, Role.VIEWER, "Vic")
    for who, status in ((vic, 403), (cara, 404), (nobody, 401), (server, 401)):
        assert open_preview(who, bot, "Hello").status_code == status
        assert continue_chat(who, chat, "Hello").status_code == status
        assert continue_chat(who, chat).status_code == status
    assert open_preview(cara, make_bot(client_b), "Hello").status_code == 200
    assert Message.objects.filter(client=client_a).count() == 0
    assert Conversation.objects.filter(client=client_a).count() == 1


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"credits_left": 0}, "insufficient_credits"),
        ({"is_active": False}, "subscription_inactive"),
    ],
)
def test_without_credits_nothing_is_generated(ben, shop, state, code):
    Subscription.objects.update(**state)
    refused = open_preview(ben, shop, QUESTION)
    assert (refused.status_code, refused.json()["code"]) == (402, code)
    assert {"balance", "required"} <= set(refused.json())
    assert not Conversation.objects.exists()
    chat = make_preview(shop, ben)
    assert continue_chat(ben, chat, QUESTION).json()["code"] == code
    assert not Message.objects.exists()


def test_the_first_piece_of_an_answer_has_its_citations(ben, shop):
    open_preview(ben, shop, QUESTION)
    run_jobs()
    message = continue_chat(ben, Conversation.objects.get()).json()["message"]
    assert message["content"][0]["citations"] == message["citations"] != []
