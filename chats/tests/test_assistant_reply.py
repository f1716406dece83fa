"""Send assistant reply message in chat conversation: the client's own system answers."""

import pytest

from chatplatform.models import Job
from chatplatform.testing import run_before
from chats.models import Conversation, Message
from webhooks.models import Event


def path_of(chat):
    return f"/ai/client/chat/assistant/{chat.pk}"


def test_a_reply_is_stored_in_the_bots_name(server, chat, bot, add_message):
    add_message(chat, "customer", "Hello")
    reply = server.post(path_of(chat), {"text": "How can I help?", "client_message_id": "a-1"})
    assert reply.status_code == 201
    message = reply.json()
    assert message["sender"] == {"type": "bot", "id": str(bot.pk), "name": "Helper"}
    assert message["recipient"] == {"type": "customer", "id": str(chat.customer_id), "name": "Zoe"}
    assert (message["seq"], message["status"], message["language"]) == (2, "sent", "en")
    assert Message.objects.get(pk=message["id"]).receipt == {"engine": "external"}
    chat.refresh_from_db()
    assert (chat.assign_type, chat.version, chat.unread_count) == ("bot", 1, 1)
    assert chat.first_response_at is not None
    event = Event.objects.filter(type="message.created").latest("id")
    assert event.data["message"]["id"] == message["id"]
    # Nobody else answers because of it.
    assert Job.objects.count() == 0


def test_the_language_of_the_request_is_kept(server, chat):
    body = {"text": "How can I help you with your order?", "language": "vi"}
    reply = server.post(path_of(chat), body)
    assert (reply.status_code, reply.json()["language"]) == (201, "vi")
    assert Message.objects.get().language == "vi"


def test_a_repeated_message_is_stored_once(server, chat):
    body = {"text": "Hello", "client_message_id": "a-1"}
    assert server.post(path_of(chat), body).json() == server.post(path_of(chat), body).json()
    key = {"Idempotency-Key": "k"}
    first, again = (server.post(path_of(chat), {"text": "Bye"}, **key).json() for _ in range(2))
    assert first["id"] == again["id"]
    assert Message.objects.count() == 2


def test_the_id_of_a_customers_message_is_taken(server, chat, add_message):
    add_message(chat, "customer", "Hello", client_message_id="m-1")
    reply = server.post(path_of(chat), {"text": "Hello", "client_message_id": "m-1"})
    assert (reply.status_code, reply.json()["code"]) == (409, "client_message_id_taken")
    assert Message.objects.count() == 1


def test_it_is_refused_if_an_agent_has_the_chat(server, ben, chat):
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    reply = server.post(path_of(chat), {"text": "Hello"})
    assert (reply.status_code, reply.json()["code"]) == (409, "agent_has_chat")
    assert Message.objects.count() == 0
    assert Event.objects.filter(type="message.created").count() == 0


def test_it_is_refused_if_an_agent_takes_the_chat_meanwhile(server, ben, chat):
    def take():
        Conversation.objects.update(assign_type="agent", assignee=ben.user)

    with run_before("chats.services.core.conversations.lock", take):
        assert server.post(path_of(chat), {"text": "Hello"}).status_code == 409
    assert Message.objects.count() == 0


def test_a_repeated_message_is_returned_after_an_agent_took_the_chat(server, ben, chat):
    body = {"text": "Hello", "client_message_id": "a-1"}
    first = server.post(path_of(chat), body).json()
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    again = server.post(path_of(chat), body)
    assert (again.status_code, again.json()) == (201, first)


def test_a_chat_in_the_queue_stays_there(server, chat):
    Conversation.objects.update(assign_type="queue")
    assert server.post(path_of(chat), {"text": "A moment, please."}).status_code == 201
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


def test_it_is_refused_in_an_ended_chat(server, chat):
    Conversation.objects.update(status="ended", ended_by="agent")
    reply = server.post(path_of(chat), {"text": "Hello"})
    assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert Message.objects.count() == 0


def test_it_is_delivered_to_a_messaging_channel(server, chat):
    Conversation.objects.update(channel="chatapp")
    message = server.post(path_of(chat), {"text": "Hello"}).json()
    job = Job.objects.get()
    assert (message["status"], job.name) == ("pending", "channels_app.deliver_message")
    assert job.args == {"message_id": message["id"]}


@pytest.mark.parametrize(
    "body", [{}, {"text": " "}, {"text": "x" * 8001}, {"text": "a", "sender": {"type": "agent"}}]
)
def test_a_wrong_body_is_refused(server, chat, body):
    assert server.post(path_of(chat), body).status_code == 422
    assert Message.objects.count() == 0
