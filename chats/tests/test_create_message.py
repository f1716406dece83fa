"""messaging / Create Message: another system sends a message of any sender."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chatplatform.models import Job
from chats.models import Attachment, Conversation, Message, Notification
from chats.testing import make_chat
from identity.models import Client, Role, User
from identity.testing import make_person
from webhooks.models import Event

CUSTOMER = {"type": "customer"}
AN_HOUR_AGO = (timezone.now() - timedelta(hours=1)).isoformat()


def path_of(chat):
    return f"/mesaging/conversations/{chat.pk}/messages"


def send(caller, chat, side, text="Hello", **more):
    sender = side if isinstance(side, dict) else {"type": side}
    return caller.post(path_of(chat), {"sender": sender, "text": text, **more})


def state(chat):
    chat.refresh_from_db()
    return chat.status, chat.assign_type, chat.assignee, chat.version


def event_types():
    return list(Event.objects.order_by("id").values_list("type", flat=True))[1:]


# --- the customer -------------------------------------------------------------------------------


def test_a_customers_message(server, chat):
    reply = send(server, chat, {"type": "customer", "id": "shop-7", "name": "Z."},
                 metadata={"order": 7}, client_message_id="m-1")  # fmt: skip
    assert reply.status_code == 201
    message = reply.json()
    assert message["sender"] == {"type": "customer", "id": "shop-7", "name": "Z."}
    assert message["recipient"] == {"type": "bot", "id": str(chat.bot_id), "name": "Helper"}
    assert (message["seq"], message["language"], message["metadata"]) == (1, "en", {"order": 7})
    assert (message["client_message_id"], message["sent_at"], message["feedback"]) == (
        "m-1",
        None,
        None,
    )
    assert message["conversation_id"] == str(chat.pk)
    chat.refresh_from_db()
    assert (chat.unread_count, chat.message_count) == (1, 1)
    assert event_types() == ["message.created"]
    # No reply was requested.
    assert Job.objects.count() == 0


def test_a_sender_without_a_name_gets_the_name_that_is_stored(server, chat):
    senders = [send(server, chat, side).json()["sender"] for side in ("customer", "bot", "system")]
    assert senders == [
        {"type": "customer", "id": str(chat.customer_id), "name": "Zoe"},
        {"type": "bot", "id": str(chat.bot_id), "name": "Helper"},
        {"type": "system", "id": None, "name": ""},
    ]


def test_a_reply_is_requested(server, chat):
    earlier = send(server, chat, "bot").json()["id"]
    message = send(server, chat, "customer", generate_reply=True, in_reply_to=earlier,
                metadata={"a": 1}).json()  # fmt: skip
    assert Job.objects.get().args == {"message_id": message["id"]}
    assert (message["in_reply_to"], message["metadata"]) == (earlier, {"a": 1})


def test_no_reply_is_requested_if_an_agent_has_the_chat(server, ben, chat):
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    assert send(server, chat, "customer", generate_reply=True).status_code == 201
    chat.refresh_from_db()
    assert (Job.objects.count(), chat.waiting_since is None) == (0, False)


@pytest.mark.parametrize("generate", [True, False])
def test_a_repeated_message_is_stored_once(server, chat, generate):
    more = {"client_message_id": "m-1", "generate_reply": generate}
    first = send(server, chat, "customer", **more, metadata={"try": 1}).json()
    again = send(server, chat, "customer", **more, metadata={"try": 2})
    assert (again.status_code, again.json()) == (201, first)
    assert (Message.objects.count(), Job.objects.count()) == (1, int(generate))
    other = send(server, chat, "agent", client_message_id="m-1")
    assert (other.status_code, other.json()["code"]) == (409, "client_message_id_taken")
    assert state(chat)[1] == "bot"


@pytest.mark.parametrize("generate", [True, False])
def test_a_customers_message_opens_a_snoozed_or_ended_chat(server, ben, chat, generate):
    now = timezone.now()
    Conversation.objects.update(
        status="ended", ended_by="agent", ended_at=now, assign_type="agent", assignee=ben.user
    )
    message = send(server, chat, "customer", generate_reply=generate).json()
    assert message["conversation_id"] == str(chat.pk)
    assert state(chat)[:2] == ("open", "bot")
    Conversation.objects.update(status="snoozed")
    send(server, chat, "customer", generate_reply=generate)
    assert state(chat)[:2] == ("open", "bot")
    assert event_types().count("conversation.reopened") == 2


def test_long_after_the_end_a_new_conversation_begins(server, chat):
    Conversation.objects.update(status="ended", ended_at=timezone.now() - timedelta(days=365))
    message = send(server, chat, "customer", client_message_id="m-1").json()
    following = Conversation.objects.get(pk=message["conversation_id"])
    assert (following.previous_chat, following.status) == (chat, "open")
    assert send(server, chat, "customer", client_message_id="m-1").json() == message
    assert state(chat)[0] == "ended"


@pytest.mark.parametrize(("more", "jobs"), [({}, 1), ({"sent_at": AN_HOUR_AGO}, 0)])
def test_a_customers_message_is_translated(server, chat, client_a, settings, more, jobs):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    client_a.config.auto_translate = True
    client_a.config.save()
    Client.objects.update(default_language="vi")
    send(server, chat, "customer", "It came broken", **more)
    assert Job.objects.filter(name="chats.translate_message").count() == jobs


# --- an agent -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["id", "email", "EMAIL"])
def test_an_agent_of_the_client_is_assigned(server, ben, chat, reference):
    names = {"id": str(ben.user.pk), "email": ben.user.email, "EMAIL": ben.user.email.upper()}
    message = send(server, chat, {"type": "agent", "id": names[reference], "name": "B."}).json()
    assert message["sender"] == {"type": "agent", "id": str(ben.user.pk), "name": "Ben"}
    assert state(chat) == ("open", "agent", ben.user, 2)
    assert event_types() == ["conversation.assigned", "notification.created", "message.created"]
    notification = Notification.objects.get()
    assert (notification.user, notification.assigned_by) == (ben.user, None)


def test_any_other_agent_is_stored_as_a_name(server, cara, chat, client_a):
    make_person(client_a, Role.VIEWER, "Vic")
    make_person(client_a, Role.AGENT, "Gus")
    User.objects.filter(full_name="Gus").update(is_disabled=True)
    strangers = User.objects.filter(full_name__in=["Vic", "Gus", "Cara"])
    names = [None, "desk-5", "9" * 60, "²", *strangers.values_list("email", flat=True)]
    names += [str(pk) for pk in strangers.values_list("pk", flat=True)]
    assert len(names) == 10
    for name in names:
        message = send(server, chat, {"type": "agent", "id": name, "name": "Sam"}).json()
        assert message["sender"] == {"type": "agent", "id": name, "name": "Sam"}
    assert state(chat) == ("open", "bot", None, 1)
    assert set(event_types()) == {"message.created"}


def test_another_agents_chat_stays_with_its_agent(server, ann, ben, chat):
    Conversation.objects.update(assign_type="agent", assignee=ann.user)
    assert send(server, chat, {"type": "agent", "id": ben.user.email}).status_code == 201
    assert state(chat) == ("open", "agent", ann.user, 1)


def test_an_agents_message_opens_a_snoozed_chat(server, ben, chat):
    Conversation.objects.update(status="snoozed")
    send(server, chat, {"type": "agent", "id": "desk-5"})
    assert state(chat)[:2] == ("open", "bot")


# --- the bot, the system ------------------------------------------------------------------------


def test_no_message_of_a_bot_if_an_agent_has_the_chat(server, ben, chat):
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    reply = send(server, chat, "bot")
    assert (reply.status_code, reply.json()["code"]) == (409, "agent_has_chat")
    assert Message.objects.count() == 0
    assert send(server, chat, "system", "The order was sent.").status_code == 201
    assert state(chat) == ("open", "agent", ben.user, 1)


def test_a_message_in_a_messaging_channel_is_delivered_by_a_job(server, chat):
    Conversation.objects.update(channel="chatapp")
    message = send(server, chat, "system").json()
    assert (message["status"], Job.objects.get().args) == ("pending", {"message_id": message["id"]})


@pytest.mark.parametrize("side", ["bot", "agent", "system"])
def test_only_the_customer_writes_after_the_end(server, ben, chat, side):
    Conversation.objects.update(status="ended", ended_by="agent")
    reply = send(server, chat, {"type": side, "id": str(ben.user.pk)})
    assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert Message.objects.count() == 0


# --- history ------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["customer", "bot", "agent", "system"])
@pytest.mark.parametrize("status", ["open", "snoozed", "ended"])
def test_history_has_no_effects(server, ben, chat, side, status):
    Conversation.objects.update(
        status=status, channel="chatapp", unread_count=2, last_message_at=None
    )
    message = send(server, chat, {"type": side, "id": str(ben.user.pk)}, sent_at=AN_HOUR_AGO).json()
    assert message["sent_at"] < message["created_at"]
    assert (message["seq"], message["status"]) == (1, "sent")
    assert state(chat) == (status, "bot", None, 1)
    assert (chat.message_count, chat.last_seq, chat.unread_count) == (1, 1, 2)
    assert (chat.last_message_at, chat.waiting_since, chat.first_response_at) == (None, None, None)
    assert str(chat.last_message_id) == message["id"]
    assert (event_types(), Job.objects.count(), Notification.objects.count()) == ([], 0, 0)


def test_history_does_not_change_waiting_since(server, ben, chat):
    long_ago = timezone.now() - timedelta(hours=2)
    Conversation.objects.update(assign_type="agent", assignee=ben.user, waiting_since=long_ago)
    send(server, chat, {"type": "agent", "id": str(ben.user.pk)}, sent_at=AN_HOUR_AGO)
    send(server, chat, "bot", sent_at=AN_HOUR_AGO)
    chat.refresh_from_db()
    assert chat.waiting_since == long_ago
    # The next event has the next number.
    send(server, chat, "customer")
    numbers = Event.objects.order_by("sequence").values_list("sequence", flat=True)
    assert list(numbers) == [1, 2]


def test_waiting_since_ignores_history(server, ben, chat):
    send(server, chat, "customer", sent_at=AN_HOUR_AGO)
    claimed = ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).json()
    assert claimed["waiting_since"] is None


def test_waiting_since_is_the_customers_last_new_message(server, ben, chat):
    message = send(server, chat, "customer").json()
    send(server, chat, "bot", sent_at=AN_HOUR_AGO)
    claimed = ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).json()
    assert claimed["waiting_since"] == message["created_at"]


# --- content ------------------------------------------------------------------------------------


def test_content_parts(server, chat):
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "Here it is"},
        {"type": "image", "url": "https://files.example/a.png", "file_name": "a.png"},
        {"type": "location", "location": {"city": "Hanoi", "latitude": 21.0, "longitude": 105.8}},
        {"type": "template", "options": [{"label": "Yes", "value": "yes"}]},
    ]
    recipient = {"type": "agent", "id": "desk-5", "name": "Sam"}
    body = {"sender": CUSTOMER, "recipient": recipient, "content": parts}
    message = server.post(path_of(chat), body).json()
    assert message["recipient"] == recipient
    assert [part["type"] for part in message["content"]] == [sent["type"] for sent in parts]
    assert message["content"][1]["url"] == "https://files.example/a.png"
    assert message["content"][2]["location"]["city"] == "Hanoi"
    assert Message.objects.get().text == "Here it is"
    # A link is passed on: its file is neither fetched nor stored.
    assert (Attachment.objects.count(), Job.objects.count()) == (0, 0)


def test_a_file_of_another_conversation(server, bot, chat):
    theirs = Attachment.objects.create(
        client=chat.client, conversation=make_chat(bot), file="x", file_name="x",
        mime_type="text/plain", size_bytes=1,
    )  # fmt: skip
    for url in (Attachment.signed_url(str(theirs.pk)), "/ai/attachment/x", "//files.example/a.png"):
        content = [{"type": "file", "url": url}]
        reply = server.post(path_of(chat), {"sender": CUSTOMER, "content": content})
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", "content", 0, "url"]
    assert Message.objects.count() == 0


def test_in_reply_to(server, bot, chat, add_message):
    question = str(add_message(chat, "customer", "Hello").pk)
    elsewhere = str(add_message(make_chat(bot), "customer", "Hello").pk)
    message = send(server, chat, "agent", in_reply_to=question).json()
    assert message["in_reply_to"] == question
    for wrong in (elsewhere, str(uuid.uuid4())):
        for more in ({}, {"generate_reply": True}, {"sent_at": AN_HOUR_AGO}):
            reply = send(server, chat, "customer", in_reply_to=wrong, **more)
            assert (reply.status_code, reply.json()["field"]) == (404, "in_reply_to")
    assert Message.objects.filter(conversation=chat).count() == 2


@pytest.mark.parametrize("side", ["bot", "system"])
def test_a_message_gets_one_automatic_reply(server, chat, add_message, side):
    question = str(add_message(chat, "customer", "Hello").pk)
    assert send(server, chat, "bot", in_reply_to=question).status_code == 201
    reply = send(server, chat, side, in_reply_to=question)
    assert (reply.status_code, reply.json()["code"]) == (409, "already_answered")
    assert send(server, chat, side).status_code == 201
    assert Message.objects.count() == 3


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "Hello"},
        {"sender": CUSTOMER},
        {"sender": CUSTOMER, "text": " \n"},
        {"sender": CUSTOMER, "text": "x" * 8001},
        {"sender": CUSTOMER, "text": "a", "content": [{"type": "text", "text": "a"}]},
        {"sender": CUSTOMER, "content": [{"type": "text", "text": "a"}] * 21},
        {"sender": CUSTOMER, "content": [{"type": "text", "text": " "}]},
        {"sender": CUSTOMER, "content": [{"type": "image"}]},
        {"sender": CUSTOMER, "content": [{"type": "location", "location": {"longitude": 0}}]},
        {"sender": CUSTOMER, "content": [{"type": "image", "url": "javascript:alert(1)"}]},
        {"sender": CUSTOMER, "content": [{"type": "image", "url": "data:text/html,x"}]},
        {"sender": CUSTOMER, "content": [{"type": "text", "text": "a", "attachment_id": "1"}]},
        {"sender": {"type": "owner"}, "text": "a"},
        {"sender": {"type": "agent", "id": "a\x00"}, "text": "a"},
        {"sender": {"type": "agent", "id": "x" * 61}, "text": "a"},
        {"sender": {"type": "agent", "name": "x" * 201}, "text": "a"},
        {"sender": CUSTOMER, "recipient": {"type": "agent", "name": "\ud800"}, "text": "a"},
        {"sender": CUSTOMER, "text": "a", "in_reply_to": "1"},
        {"sender": CUSTOMER, "text": "a", "sent_at": "2020-01-01T00:00:00"},
        {"sender": CUSTOMER, "text": "a", "sent_at": "2999-01-01T00:00:00Z"},
        {"sender": CUSTOMER, "text": "a", "sent_at": AN_HOUR_AGO, "generate_reply": True},
        {"sender": {"type": "agent"}, "text": "a", "generate_reply": True},
        {"sender": CUSTOMER, "text": "a", "metadata": {"a": "\x00"}},
        {"sender": CUSTOMER, "text": "a", "is_note": True},
    ],
)
def test_a_wrong_body_is_refused(server, chat, body):
    reply = server.post(path_of(chat), body)
    assert reply.status_code == 422
    assert Message.objects.count() == 0


def test_a_message_id_belongs_to_one_agent(server, chat, ben, bea):
    for agent, status in ((ben, 201), (ben, 201), (bea, 409)):
        side = {"type": "agent", "id": agent.user.email}
        reply = send(server, chat, side, f"By {agent.user.email}", client_message_id="1")
        assert reply.status_code == status
    assert Message.objects.get().sender_id == str(ben.user.pk)
