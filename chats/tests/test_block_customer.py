"""What a blocked customer does is refused until the block ends (Update Customer)."""

from datetime import timedelta
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import in_thread, run_before
from chats.models import Attachment, Conversation, Customer, Feedback, Message
from chats.testing import make_chat, put_message, visit
from chats.tests.test_visitors import signature
from identity.models import AuditEvent
from identity.testing import signed_in
from webhooks.models import Event

FOREVER = "9999-01-01T00:00:00Z"


def in_days(days):
    return (timezone.now() + timedelta(days=days)).isoformat()


def block(person, customer_id, until):
    return person.put(f"/ai/customers/{customer_id}", {"blocked_until": until})


def is_refused(reply):
    return (reply.status_code, reply.json().get("code")) == (403, "customer_blocked")


@pytest.mark.parametrize("body", [{"text": "Hello"}, {"text": "Hello", "reply": "async"}])
def test_the_visitors_messages_are_refused_until_the_block_ends(page, ben, body):
    visitor, chat = visit(page)
    shown = block(ben, chat.customer_id, in_days(7)).json()
    assert shown["blocked_until"][:10] == in_days(7)[:10]
    before = Job.objects.count()
    assert is_refused(visitor.post(f"/ai/client/chat/{chat.pk}", body))
    assert is_refused(visitor.post("/ai/client/chat", {"message": "Hello"}))
    assert not Message.objects.filter(sender_type="customer").exists()
    assert not Event.objects.filter(type="message.created").exists()
    assert (Job.objects.count(), Conversation.objects.count()) == (before, 1)
    with mock.patch("chatplatform.live.pubsub.publish") as published:
        assert visitor.post(f"/ai/chat/{chat.pk}/typing", {"is_typing": True}).status_code == 204
    assert not published.called
    # They still see their conversation.
    assert visitor.get(f"/ai/client/chat/{chat.pk}").json()["is_blocked"] is True
    Customer.objects.update(blocked_until=timezone.now())
    assert visitor.get(f"/ai/client/chat/{chat.pk}").json()["is_blocked"] is False
    assert visitor.post(f"/ai/client/chat/{chat.pk}", body).status_code < 300


def test_a_blocked_visitor_changes_nothing_and_still_reads(page, ben):
    visitor, chat = visit(page, customer={"name": "Zoe"})
    put_message(chat, "customer", text="Where is my order?")
    answer = put_message(chat, "agent", text="On its way.")
    block(ben, chat.customer_id, FOREVER)
    before = stored()
    for path, body in (
        (f"/ai/client/chat/customer/{chat.pk}", {"name": "You!", "email": "you@example.com"}),
        ("/ai/client/chat", {"customer": {"name": "You!"}}),
        (f"/ai/chat/{chat.pk}/feedback", {"rating": 1, "comment": "You!"}),
        (f"/ai/chat/{chat.pk}/feedback", {"thumb": "down", "message_id": str(answer.pk)}),
        (f"/ai/chat/{chat.pk}/end", None),
        (f"/ai/client/chat/auto-response/{chat.pk}", None),
    ):
        assert is_refused(visitor.post(path, body)), path
        assert stored() == before, path
    assert visitor.get(f"/ai/client/chat/history/{chat.pk}").status_code == 200
    # The team and the company's server go on.
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Goodbye"}).status_code == 201
    assert ben.put(f"/ai/customers/{chat.customer_id}", {"name": "Zoe Z."}).status_code == 200
    assert ben.post(f"/ai/chat/{chat.pk}/end").status_code == 200


def stored():
    return [
        list(rows.order_by("pk").values())
        for rows in (Customer.objects, Feedback.objects, Conversation.objects, Event.objects)
    ]


@pytest.mark.parametrize("is_begun", [False, True])
def test_nobody_signs_in_as_a_blocked_customer(page, server, ann, ben, bot, is_begun):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    known = server.post("/ai/client/chat", {"customer": {"external_id": "c-1"}}).json()
    visitor, chat = visit(page)
    block(ben, known["customer_id"], FOREVER)
    before = stored()
    proof = {"identity_signature": signature(secret)}
    if is_begun:
        reply = visitor.post(f"/ai/client/chat/customer/{chat.pk}", {"external_id": "c-1", **proof})
    else:
        reply = page.post("/ai/client/chat", {"customer": {"external_id": "c-1"}, **proof})
    assert is_refused(reply)
    assert stored() == before


def test_a_blocked_visitor_does_not_become_somebody_else(page, server, ann, ben, bot):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    server.post("/ai/client/chat", {"customer": {"external_id": "c-1"}})
    visitor, chat = visit(page)
    block(ben, chat.customer_id, FOREVER)
    before = stored()
    for external_id in ("c-1", "c-new"):
        proof = {
            "external_id": external_id, "identity_signature": signature(secret, external_id),
        }  # fmt: skip
        assert is_refused(visitor.post(f"/ai/client/chat/customer/{chat.pk}", proof))
        assert stored() == before


def test_another_signed_customer_at_the_same_browser_is_not_blocked(page, ann, ben, bot):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]

    def opening(external_id):
        return {
            "customer": {"external_id": external_id},
            "identity_signature": signature(secret, external_id), "message": "Hello",
        }  # fmt: skip

    visitor, chat = visit(page, **opening("c-1"))
    block(ben, chat.customer_id, FOREVER)
    assert is_refused(visitor.post("/ai/client/chat", opening("c-1")))
    assert visitor.post("/ai/client/chat", opening("c-2")).status_code == 201


def test_a_blocked_customers_open_chat_is_not_reused(server, ben, client_a):
    client_a.config.reuse_open = True
    client_a.config.save()
    opening = {"customer": {"external_id": "c-1", "name": "Zoe"}}
    chat = server.post("/ai/client/chat", opening).json()
    block(ben, chat["customer_id"], FOREVER)
    before = stored()
    opening["customer"]["name"] = "You!"
    assert is_refused(server.post("/ai/client/chat", opening))
    assert stored() == before


def test_a_servers_messages_and_files_of_the_customer_are_refused(server, ben):
    opening = {"customer": {"external_id": "c-1"}}
    chat = server.post("/ai/client/chat", opening).json()
    first = {"text": "Hi", "client_message_id": "m1", "reply": "async"}
    said = server.post(f"/ai/client/chat/{chat['id']}", first)
    block(ben, chat["customer_id"], FOREVER)
    file = SimpleUploadedFile("a.txt", b"Hello", "text/plain")
    with mock.patch("chatplatform.media.store") as stored_file:
        for reply in (
            server.post("/ai/client/chat", opening),
            server.post(f"/ai/client/chat/{chat['id']}", {"text": "Hello"}),
            server.upload(f"/ai/client/chat/files/{chat['id']}/", message="Hello", files=[file]),
        ):
            assert is_refused(reply), reply.content
    assert not stored_file.called
    # What was stored before is still told.
    again = server.post(f"/ai/client/chat/{chat['id']}", first)
    assert again.json()["message"]["id"] == said.json()["message"]["id"]
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert not Attachment.objects.exists()


def test_the_messaging_api_refuses_the_customers_messages_and_keeps_history(server, ben):
    chat = server.post("/ai/client/chat", {"customer": {"external_id": "c-1"}}).json()
    assert block(ben, chat["customer_id"], FOREVER).status_code == 200
    path = f"/mesaging/conversations/{chat['id']}/messages"
    said = {"sender": {"type": "customer"}, "content": [{"type": "text", "text": "Hello"}]}
    assert is_refused(server.post(path, said))
    assert not Message.objects.filter(sender_type="customer").exists()
    assert server.post(path, said | {"sent_at": "2026-01-01T00:00:00Z"}).status_code == 201


def test_the_messaging_api_knows_a_blocked_customer_by_any_of_their_ids(server, ben):
    """In a chat of a group, a message may be of another customer than the chat's."""
    path = "/mesaging/conversations"
    other = server.post(path, {"requester": {"external_id": "c-1"}}).json()
    chat = server.post(path, {"requester": {"external_id": "c-2"}}).json()
    blocked = Customer.objects.get(external_id="c-1")
    block(ben, blocked.pk, FOREVER)
    before = stored()
    assert is_refused(server.post(path, {"requester": {"external_id": "c-1", "name": "You!"}}))
    said = {"content": [{"type": "text", "text": "You!"}]}
    for conversation, sender_id in (
        (other, None), (other, "c-3"), (chat, "c-1"), (chat, str(blocked.pk)),
    ):  # fmt: skip
        body = said | {"sender": {"type": "customer", "id": sender_id}}
        assert is_refused(server.post(f"{path}/{conversation['id']}/messages", body)), sender_id
    assert stored() == before
    Customer.objects.create(client=blocked.client, external_id=str(blocked.pk))
    for sender_id in ("c-2", "c-3", "9" * 30, str(blocked.pk)):
        body = said | {"sender": {"type": "customer", "id": sender_id}}
        assert server.post(f"{path}/{chat['id']}/messages", body).status_code == 201, sender_id


def test_the_customers_page_opens_whatever_they_said_of_themselves(page, ann, ben):
    visitor, chat = visit(page)
    own = {"attributes": {"items": 5}}
    assert visitor.post(f"/ai/client/chat/customer/{chat.pk}", own).status_code == 200
    ann.client.timezone = "Asia/Ho_Chi_Minh"
    ann.client.save()
    shown = block(ben, chat.customer_id, "9999-12-31T23:59:59Z").json()
    assert shown["blocked_until"][:10] == FOREVER[:10]
    site = signed_in(ann.user)
    path = reverse("admin:chats_customer_change", args=[chat.customer_id])
    assert "<dt>items</dt><dd>5</dd>" in site.get(path).content.decode()


def test_a_block_is_announced_audited_and_lifted(ann, ben, bot):
    customer_id = make_chat(bot).customer_id
    until = block(ben, customer_id, in_days(1)).json()["blocked_until"]
    assert block(ann, customer_id, None).json()["blocked_until"] is None
    rows = AuditEvent.objects.filter(subject=f"customer:{customer_id}").order_by("pk")
    assert [(row.action, row.user_id, row.changes) for row in rows] == [
        ("customer.blocked", ben.user.pk, {"until": until}),
        ("customer.unblocked", ann.user.pk, {}),
    ]
    told = Event.objects.filter(type="customer.updated").order_by("pk")
    assert [row.data["customer"]["blocked_until"] for row in told] == [until, None]


def test_a_customer_who_is_merged_stays_blocked(ben, bot):
    kept, gone = (make_chat(bot).customer_id for _ in range(2))
    block(ben, gone, FOREVER)
    shown = ben.post(f"/ai/customers/{kept}/merge/{gone}").json()
    assert shown["blocked_until"].startswith("9999")


def test_only_the_companys_people_block(page, cara, server, bot):
    visitor, chat = visit(page)
    assert block(cara, chat.customer_id, FOREVER).status_code == 404
    assert block(visitor, chat.customer_id, FOREVER).status_code == 403
    own = visitor.post(f"/ai/client/chat/customer/{chat.pk}", {"blocked_until": None})
    assert own.status_code == 422
    assert not Customer.objects.get().is_blocked
    assert block(server, chat.customer_id, FOREVER).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_block_that_lands_before_the_message_is_stored_holds(page, ben):
    visitor, chat = visit(page)

    def block_meanwhile():
        thread, _ = in_thread(lambda: block(ben, chat.customer_id, FOREVER))
        thread.join(30)

    with run_before("chats.services.core.fast_sql.receive_message", block_meanwhile):
        reply = visitor.post(f"/ai/client/chat/{chat.pk}", {"text": "Hello"})
    assert is_refused(reply)
    assert not Message.objects.filter(sender_type="customer").exists()


@pytest.mark.parametrize("has_agent", [False, True])
def test_a_blocks_conversations_with_the_team_end(ben, bot, client_a, has_agent):
    client_a.config.ask_feedback = True
    client_a.config.save()
    to = {"assign_type": "agent", "assignee": ben.user} if has_agent else {"assign_type": "queue"}
    now = timezone.now()
    chat = make_chat(bot, waiting_since=now, first_response_at=now, **to)
    with_bot = make_chat(bot)
    Conversation.objects.filter(pk=with_bot.pk).update(customer_id=chat.customer_id)
    assert block(ben, chat.customer_id, in_days(-1)).status_code == 200
    chat.refresh_from_db()
    assert chat.status == "open"
    assert block(ben, chat.customer_id, FOREVER).status_code == 200
    chat.refresh_from_db()
    with_bot.refresh_from_db()
    assert (chat.status, chat.ended_by, chat.waiting_since) == ("ended", "agent", None)
    assert with_bot.status == "open"
    told = Event.objects.filter(type="conversation.ended")
    assert [row.conversation_id for row in told] == [chat.pk]
    assert not Job.objects.filter(name="chats.run_after_end").exists()


def test_the_page_that_blocks_can_be_left(ann, bot):
    customer_id = make_chat(bot, assign_type="queue", waiting_since=timezone.now()).customer_id
    site = signed_in(ann.user)
    page = reverse("admin:chats_customer_block", args=[customer_id])
    away = reverse("admin:chats_customer_change", args=[customer_id])
    assert f'href="{away}"' in site.get(page).content.decode().split("<form", 1)[-1]
    assert site.post(page, {"days": 7}).status_code == 302
    assert Customer.objects.get(pk=customer_id).is_blocked
    assert Conversation.objects.get().status == "ended"
