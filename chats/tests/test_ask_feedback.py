"""The customer of a chat that has ended is asked how it was."""

import pytest

from chatplatform.jobs import enqueue
from chatplatform.testing import run_jobs
from chats.models import Message
from chats.testing import make_chat
from identity.models import ClientConfig
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def answered(chat, add_message):
    add_message(chat, "customer", "Where is my parcel?")
    add_message(chat, "bot", "In the post.")
    return chat


def asked():
    return Message.objects.filter(content__0__type="feedback")


def end(caller, chat):
    assert caller.post(f"/ai/chat/{chat.pk}/end").status_code == 200
    run_jobs()


def test_the_question_comes_after_the_end(server, answered):
    end(server, answered)
    message = asked().get()
    shown = server.get(f"/ai/client/chat/history/{answered.pk}").json()["items"][-1]
    assert (shown["id"], shown["seq"]) == (str(message.pk), 3)
    assert (shown["sender"]["type"], shown["status"]) == ("system", "sent")
    (part,) = shown["content"]
    assert part["text"] == "How did we do?"
    assert [option["value"] for option in part["options"]] == ["5", "4", "3", "2", "1"]
    types = list(Event.objects.order_by("id").values_list("type", flat=True))
    assert types[-2:] == ["conversation.ended", "message.created"]
    answered.refresh_from_db()
    assert (answered.status, answered.unread_count) == ("ended", 1)


def test_it_is_asked_in_the_chats_language(server, answered):
    type(answered).objects.update(language="vi")
    end(server, answered)
    assert "Bạn" in asked().get().text


def test_it_is_asked_once(server, answered):
    end(server, answered)
    server.post(f"/ai/client/chat/{answered.pk}", {"text": "One more thing", "reply": "none"})
    end(server, answered)
    enqueue("chats.run_after_end", client_id=answered.client_id, conversation_id=str(answered.pk))
    run_jobs()
    assert asked().count() == 1


def test_who_has_rated_is_not_asked(server, answered):
    server.post(f"/ai/chat/{answered.pk}/feedback", {"rating": 5})
    end(server, answered)
    assert asked().count() == 0


def test_nobody_is_asked_whom_nobody_answered(server, chat, add_message):
    add_message(chat, "customer", "Hello?")
    end(server, chat)
    assert asked().count() == 0


def test_the_client_may_not_want_it(server, answered):
    ClientConfig.objects.update(ask_feedback=False)
    end(server, answered)
    assert asked().count() == 0


def test_a_chat_that_is_open_again_is_not_asked(server, answered):
    server.post(f"/ai/chat/{answered.pk}/end")
    server.post(f"/ai/client/chat/{answered.pk}", {"text": "One more thing", "reply": "none"})
    run_jobs()
    assert asked().count() == 0


def test_previews_and_channels_are_not_asked(ben, bot, add_message):
    for fields in ({"is_preview": True}, {"channel": "chatapp"}):
        chat = make_chat(bot, **fields)
        add_message(chat, "bot", "Hello")
        ben.post(f"/ai/chat/{chat.pk}/agent-end")
        enqueue("chats.run_after_end", client_id=chat.client_id, conversation_id=str(chat.pk))
    run_jobs()
    assert asked().count() == 0
