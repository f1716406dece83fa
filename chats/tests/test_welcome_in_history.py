"""The bot's welcome stands at the top of a new chat's history, and counts nowhere."""

import pytest

from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.testing import make_chat
from identity.testing import make_key
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

WELCOME = {"en": "Welcome to the shop!", "vi": "Chào mừng bạn!"}


@pytest.fixture
def shop(client_a):
    bot = make_bot(client_a, welcome_message=WELCOME, languages=["en", "vi"])
    return make_key(client_a, "secret", bot.pk)


def open_chat(caller, **body):
    reply = caller.post("/ai/client/chat", body)
    assert reply.status_code == 201, reply.content
    return reply.json()


def history(caller, chat):
    return caller.get(f"/ai/client/chat/history/{chat['id']}").json()["items"]


def test_a_new_chat_begins_with_it(shop, ben):
    chat = open_chat(shop)
    (welcome,) = history(shop, chat)
    assert welcome["content"][0]["text"] == "Welcome to the shop!"
    assert (welcome["sender"]["type"], welcome["seq"], welcome["is_welcome"]) == ("bot", 1, True)
    assert welcome["recipient"]["type"] == "customer"
    assert ben.get(f"/ai/chat/{chat['id']}/history").json()["items"] == [welcome]


def test_it_counts_nowhere(shop, ben):
    chat = ben.get(f"/ai/chat/{open_chat(shop)['id']}").json()
    assert (chat["message_count"], chat["unread_count"]) == (0, 0)
    assert (chat["last_message"], chat["last_message_at"], chat["first_response_at"]) == (
        None, None, None,
    )  # fmt: skip
    assert list(Event.objects.values_list("type", flat=True)) == ["conversation.created"]
    assert ben.get("/ai/chats?q=welcome").json()["items"] == []


def test_numbers_have_no_gap(shop):
    chat = open_chat(shop, message="Hello?", language="en")
    shop.post(f"/ai/client/chat/{chat['id']}", {"text": "Anybody?", "reply": "none"})
    assert [item["seq"] for item in history(shop, chat)] == [1, 2, 3]
    events = Event.objects.exclude(sequence=None).order_by("sequence")
    assert list(events.values_list("type", "sequence")) == [
        ("conversation.created", 1), ("message.created", 2), ("message.created", 3),
    ]  # fmt: skip
    row = Conversation.objects.get()
    assert (row.message_count, row.last_seq, row.unread_count) == (2, 3, 2)
    assert (row.last_message and row.last_message.text, row.first_response_at) == ("Anybody?", None)


def test_an_answer_is_still_the_first_response(shop):
    chat = open_chat(shop, message="Hello!")
    run_jobs()
    row = Conversation.objects.get()
    reply = Message.objects.get(sender_type="bot", is_welcome=False)
    assert row.first_response_at == reply.created_at
    assert row.message_count == 2
    assert [item["seq"] for item in history(shop, chat)] == [1, 2, 3]


def test_it_is_in_the_chats_language_or_the_bots(shop):
    for language, text in (("vi", WELCOME["vi"]), ("vi-VN", WELCOME["vi"]), ("de", WELCOME["en"])):
        (welcome,) = history(shop, open_chat(shop, language=language))
        assert welcome["content"][0]["text"] == text


def test_there_is_none_without_words_from_a_disabled_bot_or_elsewhere(server, client_a, shop):
    chats = [open_chat(server)]
    off = make_bot(client_a, welcome_message=WELCOME, is_disabled=True)
    chats.append(open_chat(make_key(client_a, "secret", off.pk)))
    body = {"requester": {"external_id": "c-1"}}
    chats.append(shop.post("/mesaging/conversations", body).json())
    assert [history(make_key(client_a), chat) for chat in chats] == [[], [], []]


def test_a_summary_leaves_it_out(shop, ann, client_a):
    chat = open_chat(shop, message="Where is my parcel?")
    made = ann.post(f"/ai/chat/{chat['id']}/summarize").json()
    assert (made["message_count"], "Welcome" in made["summary"]) == (1, False)


def test_an_imported_chat_keeps_it(shop, bot, client_a):
    chat = make_chat(bot)
    for seq, is_welcome in ((1, True), (2, False)):
        Message.objects.create(
            client=client_a, conversation=chat, seq=seq, sender_type="bot", content=[],
            is_welcome=is_welcome,
        )  # fmt: skip
    (entity,) = [
        item
        for item in make_key(client_a)
        .get(f"/mesaging/conversations/{chat.pk}/messages")
        .json()["items"]
        if item["seq"] == 1
    ]
    assert entity["is_welcome"] is True
