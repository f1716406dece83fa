"""The list of conversations says what each customer in the queue wants."""

import pytest
from django.utils import timezone

from chats.models import Conversation, Feedback
from chats.testing import make_chat, put_message

PATH = "/ai/chats"
BUTTON = "Talk to a person"


def write(chat, *texts, **fields):
    return [put_message(chat, "customer", text=text, **fields) for text in texts]


def handed_over(chat, request=None, reason="customer_asked"):
    put_message(
        chat, "system", text="A colleague will answer.", receipt={"handoff_reason": reason},
        in_reply_to=request,
    )  # fmt: skip


def details(person, **query):
    [shown] = person.get(PATH, query).json()["items"]
    return shown["queue_details"]


def texts(found):
    return [message["text"] for message in found["messages"]]


@pytest.fixture
def chat(bot):
    return make_chat(bot, assign_type="queue", waiting_since=timezone.now())


def test_the_words_before_and_after_a_handover(ben, chat):
    write(chat, "one", "two", "three", "four", BUTTON)
    [request] = write(chat, "I need a person")
    handed_over(chat, request)
    write(chat, "b", "c", "d", "e", "f")
    found = details(ben)
    assert texts(found) == ["two", "three", "four", "I need a person", "b", "c", "d", "f"]
    assert [message["is_earlier"] for message in found["messages"]] == [True] * 3 + [False] * 5
    assert [message["text"] for message in found["messages"] if message["is_request"]] == [
        "I need a person"
    ]
    assert (found["note"], found["returned"], found["previous_rating"]) == (None, None, None)


def test_a_question_without_an_answer_is_no_request(ben, chat):
    [question] = write(chat, "Is it vegan?")
    handed_over(chat, question, "no_answer")
    [message] = details(ben)["messages"]
    assert (message["is_request"], message["is_earlier"]) == (False, False)


def test_a_handover_by_the_team_and_none_at_all(ben, bot, chat):
    write(chat, "Is it vegan?")
    handed_over(chat, reason="staff_request")
    [message] = details(ben)["messages"]
    assert message["is_earlier"] is True
    chat.delete()
    write(make_chat(bot, assign_type="queue"), "Hello", "Is it vegan?")
    assert texts(found := details(ben)) == ["Hello", "Is it vegan?"]
    assert not any(message["is_earlier"] for message in found["messages"])


def test_files_translations_and_long_texts(ben, chat):
    part = {"type": "image", "url": "https://a.example/1.png", "file_name": "IMG_2231.png"}
    write(chat, "x" * 500, translations={"en": "y" * 500})
    write(chat, "", content=[{"type": "text", "text": ""}, part])
    long, picture = details(ben)["messages"]
    assert (long["text"], long["translations"]) == ("x" * 300, {"en": "y" * 300})
    assert picture["files"] == [{"type": "image", "file_name": "IMG_2231.png", "line": None}]


@pytest.mark.parametrize(
    "lines", [[{"kind": "quote"}, {"kind": "sticker", "text": "👍"}], "x", [1]]
)
def test_a_sticker_is_named(ben, chat, lines):
    part = {"type": "image", "url": "https://a.example/1.webp", "file_name": "sticker"}
    write(chat, "", content=[part], metadata={"lines": lines})
    [message] = details(ben)["messages"]
    named = lines[1] if len(lines) == 2 else None
    assert [file["line"] for file in message["files"]] == [named]


def test_what_was_deleted_or_is_old_is_left_out(ben, chat):
    write(chat, "gone", deleted_at=timezone.now())
    write(chat, "before the reopening")
    Conversation.objects.filter(pk=chat.pk).update(read_from_seq=chat.last_seq)
    write(chat, "new")
    assert texts(details(ben)) == ["new"]
    for number in range(40):
        put_message(chat, "bot", text=f"{number}")
    assert texts(details(ben)) == []


def test_who_returned_it_and_why(ann, ben, bot):
    chat = make_chat(bot, assign_type="queue", waiting_since=timezone.now())
    path = f"/ai/chat/{chat.pk}"
    write(chat, "The invoice is wrong")
    ben.post(f"{path}/assign", {"assign_type": "agent", "user_id": ben.user.pk})
    assert details(ann) is None, "an agent has it"
    ben.post(f"{path}/manual", {"text": "needs it before Friday", "is_note": True})
    assert ben.post(f"{path}/assign", {"assign_type": "queue"}).status_code == 200
    found = details(ann)
    assert found["returned"] == {"name": "Ben", "reason": "staff_request"}
    assert found["note"] == {"name": "Ben", "text": "needs it before Friday"}


def test_the_rating_of_the_conversation_before(ben, bot, chat):
    before = make_chat(bot, status="ended")
    Conversation.objects.filter(pk=before.pk).update(customer=chat.customer_id)
    Feedback.objects.create(client=bot.client, conversation=before, rating=1)
    later = make_chat(bot, assign_type="queue", waiting_since=timezone.now())
    Conversation.objects.filter(pk=later.pk).update(customer=chat.customer_id)
    chat.delete()
    assert details(ben, assign_type="queue")["previous_rating"] == 1
    assert details(ben, status="ended") is None
