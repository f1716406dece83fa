"""What a message is about, at the bot and in the API; and customers who want no more messages."""

import time
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from channels_app.models import ChannelConnection, OutboundSend
from channels_app.tests.chatapp import AN, NUMBER, WABA, message, of_chatapp, status
from channels_app.tests.helpers import PAGE, event, post_signed
from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer, Message
from chats.services.core import channel_context, conversations, messages
from chats.services.core.channel_context import Line
from identity.models import ClientConfig
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
OPTIONS = [{"label": "Returns", "value": "returns"}, {"label": "Delivery", "value": "delivery"}]


def now():
    return str(int(time.time()))


def came(nobody, path, body):
    assert post_signed(nobody, path, body).status_code == 200
    run_jobs()
    return Message.objects.filter(sender_type="customer").order_by("-pk").first()


def test_the_api_and_webhooks_have_the_lines(nobody, number, ann):
    context = {"referred_product": {"product_retailer_id": "SKU-7"}}
    text = {"body": "Is this still available?"}
    stored = came(nobody, "/chatapp/webhook", of_chatapp(messages=[
        message(text=text, context=context)
    ]))  # fmt: skip
    lines = [{"kind": "product", "text": "SKU-7"}]
    (shown,) = [
        row
        for row in ann.get(f"/ai/chat/{stored.conversation_id}/history").json()["items"]
        if row["sender"]["type"] == "customer"
    ]
    assert (shown["metadata"]["lines"], shown["content"][0]["text"]) == (lines, text["body"])
    told = Event.objects.filter(type="message.created").earliest("sequence")
    assert told.data["message"]["metadata"]["lines"] == lines


@pytest.mark.parametrize("answer", ["2", " 2. ", "2)"])
def test_a_number_chooses_from_a_numbered_list(nobody, quiet, answer):
    stored = came(nobody, "/chatapp/webhook", of_chatapp(messages=[message()]))
    offer(stored.conversation)
    body = of_chatapp(messages=[message(id="wamid.2", text={"body": answer})])
    chosen = came(nobody, "/chatapp/webhook", body)
    assert (chosen.text, chosen.metadata["payload"]) == ("Delivery", "delivery")


@pytest.mark.full
@pytest.mark.parametrize("answer", ["3", "0", "22", "2 of them"])
def test_another_number_is_no_choice(nobody, quiet, answer):
    stored = came(nobody, "/chatapp/webhook", of_chatapp(messages=[message()]))
    offer(stored.conversation)
    body = of_chatapp(messages=[message(id="wamid.2", text={"body": answer})])
    assert came(nobody, "/chatapp/webhook", body).text == answer


def test_a_number_after_another_message_is_no_choice(nobody, quiet):
    stored = came(nobody, "/chatapp/webhook", of_chatapp(messages=[message()]))
    offer(stored.conversation)
    say(stored.conversation, [{"type": "text", "text": "How many do you want?"}])
    body = of_chatapp(messages=[message(id="wamid.2", text={"body": "2"})])
    assert came(nobody, "/chatapp/webhook", body).text == "2"


def test_a_yes_by_a_button_of_a_campaign_is_for_an_agent(nobody, number):
    button = {"payload": "CONFIRM-7", "text": "Confirm"}
    body = of_chatapp(messages=[message(type="button", button=button, text=None)])
    chat = came(nobody, "/chatapp/webhook", body).conversation
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "unreadable")


def test_a_button_of_ours_may_be_tapped_after_another_message(nobody, number):
    hello = of_chatapp(messages=[message(text={"body": "Hello"})])
    chat = came(nobody, "/chatapp/webhook", hello).conversation
    yes = {"label": "Yes", "value": "yes"}
    say(chat, [{"type": "text", "text": "Is it about an order?", "options": [yes]}])
    say(chat, [{"type": "text", "text": "Our shop is closed on Sunday."}])
    tapped = {"type": "button_reply", "button_reply": {"id": "yes", "title": "Yes"}}
    body = of_chatapp(messages=[message(id="wamid.2", type="interactive", interactive=tapped,
                                        text=None)])  # fmt: skip
    assert came(nobody, "/chatapp/webhook", body).metadata["payload"] == "yes"
    chat.refresh_from_db()
    assert chat.assign_type == "bot"


def offer(chat):
    say(chat, [{"type": "text", "text": "What is it about?", "options": OPTIONS}])


def say(chat, content):
    with transaction.atomic():
        locked = conversations.lock(chat)
        messages.append(locked, author=messages.Author.bot_of(locked), content=content)
    run_jobs()


def test_nothing_is_an_empty_message(nobody, quiet):
    body = of_chatapp(messages=[message(type="interactive", text=None)])
    stored = came(nobody, "/chatapp/webhook", body)
    assert stored.text
    assert stored.metadata == {"lines": [Line(kind="tapped")], "no_words": True}


@pytest.mark.parametrize("duration", [62, None])
def test_a_call_is_one_message_whatever_order_its_ends_arrive_in(nobody, number, duration):
    call = {
        "id": "wacid.1", "from": "84905550007", "direction": "USER_INITIATED", "timestamp": now(),
    }  # fmt: skip
    end = call | {"event": "terminate", "status": "COMPLETED", "duration": duration}
    for number_of_call, bodies in enumerate([(call | {"event": "connect"}, end), (end, call)]):
        for body in bodies:
            call_id = f"wacid.{number_of_call}"
            change = {"event": "connect"} | body | {"id": call_id}
            of_call = of_chatapp(calls=[change])
            of_call["entry"][0]["changes"][0]["field"] = "calls"
            came(nobody, "/chatapp/webhook", of_call)
    calls = Message.objects.filter(sender_type="customer")
    ends = [
        Line(kind="answered_call", text="1 min 2 s") if duration else Line(kind="answered_call")
    ]
    assert [row.metadata["lines"] for row in calls] == [ends, ends]
    assert {row.text for row in calls} == {
        "Call from the customer, answered" + (", 1 min 2 s" if duration else "")
    }
    assert all(row.edited_at is None for row in calls)


@pytest.mark.full
def test_a_customer_who_wrote_stop_gets_no_template_until_they_write_again(nobody, number, ben):
    stop = of_chatapp(messages=[message(text={"body": "STOP"})])
    stored = came(nobody, "/chatapp/webhook", stop)
    assert Message.objects.filter(conversation=stored.conversation).count() == 1
    customer = Customer.objects.get()
    assert ben.get(f"/ai/customers/{customer.pk}").json()["opt_out"] == "all"
    path = f"/chatapp/{ben.client.pk}/templates/{number.bot_id}"
    template = {
        "conversation_id": str(stored.conversation_id), "name": "hello_world", "language": "en_US",
        "values": ["An"],
    }  # fmt: skip
    reply = ben.post(path, template)
    assert (reply.status_code, reply.json()["code"]) == (409, "customer_opted_out")
    came(nobody, "/chatapp/webhook", of_chatapp(messages=[message(id="wamid.2")]))
    customer.refresh_from_db()
    assert customer.opt_out == "none"
    note = Message.objects.get(is_note=True)
    assert note.metadata == {"lines": [Line(kind="messages_resumed")], "no_words": True}
    assert ben.post(path, template).status_code == 201


def of_kind(body):
    """A chatapp callback with this text or, without one, with a missed call."""
    if body:
        row = message(id=f"wamid.{body}", text={"body": body}, timestamp=now())
        return of_chatapp(messages=[row])
    callback = of_chatapp(calls=[{
        "id": "wacid.1", "from": AN, "direction": "USER_INITIATED", "timestamp": now(),
        "event": "terminate", "status": "COMPLETED", "duration": 0,
    }])  # fmt: skip
    callback["entry"][0]["changes"][0]["field"] = "calls"
    return callback


@pytest.mark.parametrize(("body", "waits"), [("STOP", False), ("", False), ("Stop at once?", True)])
@pytest.mark.parametrize("owner", ["queue", "agent"])
def test_who_needs_no_reply_does_not_wait(nobody, quiet, ben, body, owner, waits):
    first = came(nobody, "/chatapp/webhook", of_kind("hello"))
    path = f"/ai/chat/{first.conversation_id}"
    assert ben.post(f"{path}/assign", {"assign_type": "agent"}).status_code == 200
    assert ben.post(f"{path}/manual", {"text": "Yes?"}).status_code == 201
    if owner == "queue":
        Conversation.objects.update(assign_type="queue", assignee=None)
    came(nobody, "/chatapp/webhook", of_kind(body))
    assert bool(ben.get(path).json()["waiting_since"]) == waits
    assert ben.get("/ai/chats", {"is_waiting": True}).json()["items"] == [] or waits
    if owner == "queue":
        ben.post(f"{path}/assign", {"assign_type": "agent"})
        assert bool(ben.get(path).json()["waiting_since"]) == waits
    if body == "STOP":
        came(nobody, "/chatapp/webhook", of_kind("START"))
        assert not ben.get(path).json()["waiting_since"]
    came(nobody, "/chatapp/webhook", of_kind("Hello?"))
    assert ben.get(path).json()["waiting_since"]


def test_a_chat_that_begins_with_stop_does_not_wait(nobody, quiet, ben):
    stored = came(nobody, "/chatapp/webhook", of_kind("STOP"))
    path = f"/ai/chat/{stored.conversation_id}"
    shown = ben.get(path).json()
    assert (shown["assign_type"], shown["waiting_since"]) == ("queue", None)
    earlier = came(nobody, "/chatapp/webhook", of_kind("Are you open?")).created_at
    came(nobody, "/chatapp/webhook", of_kind("STOP!"))
    stored.conversation.refresh_from_db()
    assert stored.conversation.waiting_since == earlier


def test_who_opts_out_is_not_told_that_it_is_closed(nobody, quiet, ben):
    # Open on the day before yesterday only.
    weekday = (timezone.now() - timedelta(days=2)).weekday()
    hours = [{"weekday": weekday, "opens": "00:00", "closes": "24:00"}]
    texts = {"en": "We are back tomorrow."}
    ClientConfig.objects.update(business_hours=hours, out_of_hours_message=texts)
    stored = came(nobody, "/chatapp/webhook", of_kind("STOP"))
    told = Message.objects.filter(conversation=stored.conversation, sender_type="system")
    assert not told.exists()
    came(nobody, "/chatapp/webhook", of_kind("Are you open?"))
    assert told.filter(is_note=False).count() == 1


def test_a_picture_from_an_advertisement_waits_for_an_answer():
    lines = [Line(kind="advertisement", text="Tea for two")]
    for text, has_files, silent in (("", False, True), ("", True, False), ("Hi", False, False)):
        found = channel_context.needs_no_reply(lines, text=text, has_files=has_files)
        assert found == silent


def test_what_led_the_customer_here_is_said_once(nobody, quiet):
    tea, shoes = ({"source_type": "ad", "headline": name} for name in ("Tea", "Shoes"))
    said = []
    for number, referral in enumerate([tea, tea, None, tea, shoes, shoes, tea]):
        body = of_chatapp(messages=[message(id=f"wamid.{number}", referral=referral)])
        stored = came(nobody, "/chatapp/webhook", body)
        assert stored.metadata.get("referral") == referral
        said += [line["text"] for line in stored.metadata.get("lines", [])]
    assert said == ["Tea", "Shoes", "Tea"]
    stored.conversation.refresh_from_db()
    assert stored.conversation.metadata["referral"] == tea


@pytest.fixture
def chat(nobody, page, bot):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    body = event({"message": {"mid": "m_1", "text": "Hi"}}, timestamp=f"{now()}000")
    return came(nobody, "/socialnet/webhook", body).conversation


def test_a_message_may_name_the_conversation(socialnet, chat, ben):
    path = socialnet.bot_path("messages")
    reply = ben.post(path, {"conversation_id": str(chat.pk), "text": "Hello"})
    assert (reply.status_code, reply.json()["conversation_id"]) == (201, str(chat.pk))
    both = {"conversation_id": str(chat.pk), "recipient_id": "6120000000000001", "text": "Hello"}
    assert ben.post(path, both).status_code == 422
    assert ben.post(path, {"text": "Hello"}).status_code == 422
    elsewhere = {"conversation_id": str(chat.pk), "text": "Hello"}
    other = f"/photoapp/{ben.client.pk}/messages/{chat.bot_id}"
    assert ben.post(other, elsewhere).status_code == 404


@pytest.mark.full
@pytest.mark.parametrize("state", ["disconnected", "expired"])
def test_an_account_that_cannot_send_takes_no_message(socialnet, page, chat, ben, server, state):
    if state == "disconnected":
        assert socialnet.ann.put(socialnet.bot_path("disconnect_page"), "").status_code == 200
    else:
        ChannelConnection.objects.filter(pk=page.pk).update(status=state)
        Conversation.objects.update(is_reachable=False)
    before = Message.objects.count()
    body = {"recipient_id": "6120000000000001", "text": "Hello"}
    for person, path, sent in (
        (ben, socialnet.bot_path("messages"), body),
        (ben, socialnet.bot_path("messages"), {**body, "tag": "HUMAN_AGENT"}),
        (ben, f"/ai/chat/{chat.pk}/manual", {"text": "Hello"}),
        (server, f"/ai/client/chat/assistant/{chat.pk}", {"text": "Hello"}),
    ):
        reply = person.post(path, sent)
        assert (reply.status_code, reply.json()["code"]) == (409, "channel_not_connected"), path
    assert Message.objects.count() == before


def test_giving_up_and_coming_back_need_no_body(socialnet, page, ann):
    reply = ann.put(socialnet.bot_path("disconnect_page"), "")
    assert (reply.status_code, reply.json()["status"]) == (200, "disconnected")
    reply = ann.put(socialnet.bot_path("reconnect_page"), "")
    assert (reply.status_code, reply.json()["account_id"]) == (200, PAGE)
    assert ann.post(socialnet.bot_path("connect_page"), {}).status_code == 422


def test_an_account_is_connected_again_by_the_id_of_its_page(photoapp, account, ann):
    reply = ann.post(photoapp.bot_path("connect_page"), {"page_id": PAGE})
    assert (reply.status_code, reply.json()["account_id"]) == (200, account.account_id)


def test_trouble_that_names_the_business_account_inside_is_its_own(nobody, number):
    body = {"object": "whatsapp_business_account", "entry": [{"id": "2949", "changes": [{
        "field": "account_update",
        "value": {"event": "PARTNER_REMOVED", "waba_info": {"waba_id": WABA}},
    }]}]}  # fmt: skip
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    number.refresh_from_db()
    assert (number.status, number.account_id) == ("error", NUMBER)
    assert number.last_error


def test_what_the_provider_charges_for_is_told(chatapp, number, quiet, nobody, ben):
    chatapp.write("Hi")
    run_jobs()
    chat = Conversation.objects.get()
    answer = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello"}).json()
    run_jobs()
    send = OutboundSend.objects.get(message=answer["id"])
    pricing = {"billable": True, "pricing_model": "PMP", "category": "service", "type": "regular"}
    assert send.provider_message_id
    statuses = [
        status(send.provider_message_id, name, pricing=pricing) for name in ("sent", "delivered")
    ]
    body = of_chatapp(statuses=statuses)
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    told = Event.objects.get(type="message.delivered").data["message"]
    assert told["metadata"]["pricing"] == {"category": "service", "charged": 1}
    send.refresh_from_db()
    assert send.is_charged
