"""Get Chatapp Templates, Post Chatapp Template: what may be sent at any time."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from bots.testing import make_bot
from channels_app.models import ChannelChat, ConnectionStatus, CustomerIdentity
from channels_app.tests.chatapp import AN, NUMBER, WABA
from chatplatform.testing import run_jobs, stub_model
from chats.models import Conversation, Customer, Message
from chats.testing import make_chat
from identity.models import ClientConfig
from identity.testing import make_key, make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
HELLO = {"recipient_id": AN, "name": "hello_world", "language": "en_US", "values": ["An"]}


@pytest.fixture
def chat(number, chatapp, bot):
    """A chat of "an" that waits for an agent; its reply window is over."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    chatapp.write("Is anybody there?")
    run_jobs()
    close_window()
    chatapp.sim.advance(86_400 + 60)
    return Conversation.objects.get()


def close_window():
    Conversation.objects.update(reply_window_expires_at=timezone.now() - timedelta(hours=1))


def make_template(chatapp, name="order_ready", status="APPROVED", **more: Any):
    """A template at the provider, in Vietnamese."""
    components = more.pop("components", [{"type": "BODY", "text": "{{1}}: {{2}}"}])
    number = len(chatapp.sim.simulator.world.templates_of(WABA))
    chatapp.sim.simulator.world.templates_of(WABA).append({
        "id": str(number), "name": name, "language": "vi", "status": status,
        "category": "UTILITY", "components": components, **more,
    })  # fmt: skip


def send(chatapp, person, **changes: Any):
    body = {name: value for name, value in (HELLO | changes).items() if value is not None}
    return person.post(chatapp.bot_path("templates"), body)


def nothing_was_sent(chatapp):
    run_jobs()
    assert not Message.objects.filter(sender_type="agent").exists()
    return not chatapp.replies()


# --- listed -------------------------------------------------------------------------------------


def test_templates_are_listed_with_what_they_need(chatapp, number, ben):
    header = {"type": "HEADER", "format": "TEXT", "text": "For {{1}}"}
    body = {"type": "BODY", "text": "{{2}} and {{1}}"}
    made = [header, body, {"type": "FOOTER", "text": "Blue Shop"}]
    make_template(chatapp, components=made, quality_score={"score": "GREEN"})
    make_template(chatapp, "waiting", "PENDING")
    make_template(chatapp, "picture", components=[{"type": "HEADER", "format": "IMAGE"}, body])
    button = {"type": "URL", "text": "Open", "url": "https://shop.example/{{1}}"}
    make_template(chatapp, "link", components=[body, {"type": "BUTTONS", "buttons": [button]}])
    place = {"type": "HEADER", "format": "LOCATION"}
    make_template(chatapp, "place", components=[place, body])
    form = {"type": "BUTTONS", "buttons": [{"type": "FLOW", "text": "Book"}]}
    make_template(chatapp, "form", components=[body, form])
    items = ben.get(chatapp.bot_path("templates")).json()["items"]
    assert items[1] == {
        "name": "order_ready", "language": "vi", "status": "approved", "category": "utility",
        "quality": "green", "header_file": None, "problem": None,
        "text": "For {{1}}\n{{2}} and {{1}}\nBlue Shop", "variables": ["1", "1", "2"],
    }  # fmt: skip
    assert [(row["name"], row["problem"]) for row in items if row["problem"]] == [
        ("waiting", "Its status at the provider: pending."),
        ("place", "Its header needs a location."),
        ("form", "One of its buttons opens a form or a catalog."),
    ]
    needs = {row["name"]: (row["header_file"], row["variables"]) for row in items}
    assert needs["picture"] == ("image", ["1", "2"])
    assert needs["link"] == (None, ["1", "2", "Open"])


def test_templates_come_in_pages(chatapp, number, ben):
    for name in ("a", "b"):
        make_template(chatapp, name)
    first = ben.get(chatapp.bot_path("templates"), {"limit": 2}).json()
    assert [row["name"] for row in first["items"]] == ["hello_world", "a"]
    query = {"limit": 2, "cursor": first["next_cursor"]}
    last = ben.get(chatapp.bot_path("templates"), query).json()
    assert ([row["name"] for row in last["items"]], last["next_cursor"]) == (["b"], None)


def test_without_a_number_there_is_no_list_and_nothing_is_sent(chatapp, chat, ann, ben):
    assert ann.put(chatapp.bot_path("disconnect")).status_code == 200
    calls = len(chatapp.sim.calls())
    for reply in (ben.get(chatapp.bot_path("templates")), send(chatapp, ben)):
        assert (reply.status_code, reply.json()["code"]) == (409, "channel_not_connected")
    assert len(chatapp.sim.calls()) == calls
    assert nothing_was_sent(chatapp)


# --- sent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["recipient_id", "conversation_id"])
def test_a_template_goes_out_after_the_window_and_is_read(chatapp, chat, ben, by):
    manual = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello"})
    assert manual.json()["code"] == "reply_window_closed"
    names = {"recipient_id": None, "conversation_id": str(chat.pk)}
    reply = send(chatapp, ben, **(names if by == "conversation_id" else {}))
    assert (reply.status_code, reply.json()["status"]) == (201, "pending"), reply.content
    (part,) = reply.json()["content"]
    assert (part["type"], part["text"]) == ("template", "Welcome, An!")
    assert part["template"] == {"name": "hello_world", "language": "en_US", "values": ["An"]}
    assert "components" not in part
    chatapp.settle()
    assert chatapp.replies() == ["Welcome, An!"]
    history = ben.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    assert (history[-1]["status"], history[-1]["content"]) == ("read", [part])
    chat.refresh_from_db()
    assert (chat.assignee, chat.last_message.text) == (ben.user, "Welcome, An!")
    assert chat.reply_window_expires_at < timezone.now(), "only the customer opens it again"
    assert Event.objects.filter(type="message.read").count() == 1


def test_a_template_with_an_id_of_its_own_is_sent_once(chatapp, chat, ben):
    first, second = (send(chatapp, ben, client_message_id="t-1") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] == second.json()["id"]
    chatapp.settle()
    assert chatapp.replies() == ["Welcome, An!"]
    assert send(chatapp, ben, client_message_id="t-2").json()["id"] != first.json()["id"]


def test_values_stand_where_the_template_has_them(chatapp, chat, ben):
    header = {"type": "HEADER", "format": "TEXT", "text": "For {{1}}"}
    body = {"type": "BODY", "text": "{{2}} before {{1}}, {{ 2 }}"}
    make_template(chatapp, components=[header, body])
    named = [{"type": "BODY", "text": "Order {{order}} of {{customer}}"}]
    make_template(chatapp, "named", components=named)
    values = ["An", "one", "two"]
    assert send(chatapp, ben, name="order_ready", language="vi", values=values).status_code == 201
    values = ["A-17", "An {{1}}"]
    assert send(chatapp, ben, name="named", language="vi", values=values).status_code == 201
    run_jobs()
    assert chatapp.replies() == ["For An\ntwo before one, two", "Order A-17 of An {{1}}"]
    assert [row.text for row in Message.objects.filter(sender_type="agent").order_by("seq")] == [
        "For An\ntwo before one, two", "Order A-17 of An {{1}}",
    ]  # fmt: skip


def test_a_template_is_not_translated(chatapp, chat, ben, settings):
    ClientConfig.objects.update(auto_translate=True)
    Conversation.objects.update(language="vi")
    with stub_model.running("json") as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        model.json_answer = {"text": "Xin chao"}
        assert send(chatapp, ben).status_code == 201
        run_jobs()
    message = Message.objects.get(sender_type="agent")
    assert (message.translations, chatapp.replies()) == ({}, ["Welcome, An!"])


def test_a_repeated_request_sends_once(chatapp, chat, ben):
    for _ in range(2):
        reply = ben.post(chatapp.bot_path("templates"), HELLO, **{"Idempotency-Key": "k-1"})
        assert reply.status_code == 201
    run_jobs()
    assert chatapp.replies() == ["Welcome, An!"]


FILES = {"image": "p.jpg", "video": "v.mp4", "document": "d.pdf"}


@pytest.mark.parametrize("kind", sorted(FILES))
def test_a_file_stands_in_the_header(chatapp, chat, ben, kind):
    header = {"type": "HEADER", "format": kind.upper()}
    make_template(chatapp, components=[header, {"type": "BODY", "text": "For {{1}}"}])
    url = f"{chatapp.sim.origin}/media/sample-{kind}/{FILES[kind]}"
    part_type = "file" if kind == "document" else kind
    body = {"name": "order_ready", "language": "vi", "values": ["An"]}
    reply = send(chatapp, ben, **body, header={"type": part_type, "url": url})
    assert reply.status_code == 201, reply.content
    (part,) = reply.json()["content"]
    assert (part["type"], part["text"], part["url"]) == ("template", "For An", url)
    run_jobs()
    header, words = chatapp.sim.calls(what="sends")[-1]["body"]["template"]["components"]
    assert header["parameters"] == [{"type": kind, kind: {"link": url}}]
    assert words["parameters"] == [{"type": "text", "text": "An"}]


@pytest.mark.parametrize("origin", ["", settings.PUBLIC_URL])
def test_a_file_of_the_conversation_stands_in_the_header(chatapp, chat, ben, origin):
    make_template(chatapp, components=[{"type": "HEADER", "format": "IMAGE"}])
    chatapp.act("image")
    run_jobs()
    picture = Message.objects.filter(sender_type="customer").latest("seq").content[0]
    url = f"/ai/attachment/{picture['attachment_id']}"
    body = {"name": "order_ready", "language": "vi", "values": []}
    reply = send(chatapp, ben, **body, header={"type": "image", "url": f"{origin}{url}"})
    assert reply.status_code == 201, reply.content
    assert url in reply.json()["content"][0]["url"]
    run_jobs()
    message = Message.objects.get(pk=reply.json()["id"])
    assert message.status == "sent", message.error
    assert message.content[0]["attachment_id"] == picture["attachment_id"]
    type(chat.bot).objects.update(export_enabled=True)
    server = make_key(ben.client, "secret")
    lines = server.get(f"/ai/client/chat/{chat.pk}/transcript").json()["messages"]
    assert lines[-1]["files"] == [picture["file_name"]]
    (header,) = chatapp.sim.calls(what="sends")[-1]["body"]["template"]["components"]
    assert list(header["parameters"][0]["image"]) == ["id"], "uploaded"


def test_buttons_have_their_values(chatapp, chat, ben):
    buttons = [
        {"type": "QUICK_REPLY", "text": "Thanks"},
        {"type": "URL", "text": "Track", "url": "https://shop.example/t/{{1}}"},
        {"type": "COPY_CODE", "text": "Copy code"},
    ]
    body = {"type": "BODY", "text": "Hello {{1}}"}
    make_template(chatapp, components=[body, {"type": "BUTTONS", "buttons": buttons}])
    values = ["An", "A-17", "SALE5"]
    reply = send(chatapp, ben, name="order_ready", language="vi", values=values)
    assert (reply.status_code, reply.json()["content"][0]["text"]) == (201, "Hello An")
    run_jobs()
    assert Message.objects.get(pk=reply.json()["id"]).status == "sent"
    sent = chatapp.sim.calls(what="sends")[-1]["body"]["template"]["components"]
    assert [(row.get("sub_type"), row.get("index")) for row in sent[1:]] == [
        ("url", "1"), ("copy_code", "2"),
    ]  # fmt: skip
    wrong = send(chatapp, ben, name="order_ready", language="vi", values=values[:2])
    assert wrong.status_code == 422


def test_a_password_stands_in_the_words_and_in_the_button(chatapp, chat, ben):
    body = {"type": "BODY", "text": "*{{1}}* is your code."}
    url = "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}"
    button = {"type": "URL", "text": "Copy code", "url": url}
    made = [body, {"type": "BUTTONS", "buttons": [button]}]
    make_template(chatapp, components=made, category="AUTHENTICATION")
    reply = send(chatapp, ben, name="order_ready", language="vi", values=["314159"])
    assert reply.status_code == 201, reply.content
    run_jobs()
    assert chatapp.replies() == ["*314159* is your code."]
    sent = chatapp.sim.calls(what="sends")[-1]["body"]["template"]["components"]
    assert [row["parameters"][0]["text"] for row in sent] == ["314159", "314159"]


# --- refused ------------------------------------------------------------------------------------


WRONG: list[tuple[dict[str, Any], str | None]] = [
    ({"name": "nothing_like_it"}, "name"),
    ({"language": "vi"}, "name"),
    ({"values": []}, "values"),
    ({"values": ["An", "Binh"]}, "values"),
    ({"values": ["two\nlines"]}, "values"),
    ({"values": [""]}, "values"),
    ({"values": ["x" * 1024] * 5}, None),
    ({"recipient_id": None}, None),
    ({"conversation_id": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e"}, None),
]


def test_a_wrong_template_is_refused(chatapp, chat, ben):
    for changes, field in WRONG:
        reply = send(chatapp, ben, **changes)
        assert reply.status_code == 422, changes
        assert field is None or reply.json()["detail"][0]["loc"][1] == field, changes
    assert nothing_was_sent(chatapp)
    chat.refresh_from_db()
    assert chat.assignee is None


def test_a_wrong_file_in_the_header_is_refused(chatapp, chat, ben):
    make_template(chatapp, components=[{"type": "HEADER", "format": "IMAGE"}])
    picture = {"type": "image", "url": "https://shop.example/a.png"}
    for name, language, header in (
        ("order_ready", "vi", None),
        ("order_ready", "vi", picture | {"type": "video"}),
        ("order_ready", "vi", picture | {"url": "/ai/attachment/019aa4c1"}),
        ("hello_world", "en_US", picture),
    ):
        values = ["An"] if name == "hello_world" else []
        reply = send(chatapp, ben, name=name, language=language, values=values, header=header)
        assert reply.status_code == 422, (name, header)
        assert reply.json()["detail"][0]["loc"][1] == "header"
    assert nothing_was_sent(chatapp)


@pytest.mark.full
@pytest.mark.parametrize("status", ["PENDING", "PAUSED"])
def test_a_template_that_is_not_approved_is_refused_in_words(chatapp, chat, ben, status):
    make_template(chatapp, status=status)
    reply = send(chatapp, ben, name="order_ready", language="vi", values=["a", "b"])
    assert (reply.status_code, reply.json()["code"]) == (409, "template_not_sendable")
    assert status.lower() in reply.json()["detail"]
    assert nothing_was_sent(chatapp)


def test_a_template_that_is_paused_on_its_way_fails_and_the_number_goes_on(
    chatapp, chat, ben, number
):
    reply = send(chatapp, ben)
    chatapp.sim.act(NUMBER, "an", "template_status", name="hello_world", status="PAUSED")
    run_jobs()
    message = Message.objects.get(pk=reply.json()["id"])
    assert (message.status, "paused" in (message.error or "")) == ("failed", True)
    number.refresh_from_db()
    assert (number.status, chatapp.replies()) == (ConnectionStatus.CONNECTED, [])


def test_only_chats_of_chatapp_have_templates(chatapp, number, bot, ben, ann):
    for channel in ("web", "api", "socialnet"):
        chat = make_chat(bot, channel=channel)
        reply = send(chatapp, ben, recipient_id=None, conversation_id=str(chat.pk))
        assert (reply.status_code, reply.json()["code"]) == (409, "no_templates")
    elsewhere = make_chat(make_bot(ann.client))
    reply = send(chatapp, ben, recipient_id=None, conversation_id=str(elsewhere.pk))
    assert reply.status_code == 404
    assert send(chatapp, ben, recipient_id="84900000000").status_code == 404
    assert nothing_was_sent(chatapp)


def test_another_agents_chat_and_an_ended_one_take_no_template(chatapp, chat, ann, ben):
    assert send(chatapp, ben).status_code == 201
    bea = make_person(ben.client, "agent", "Bea")
    assert send(chatapp, bea).json()["code"] == "already_assigned"
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200
    assert send(chatapp, ben).json()["code"] == "chat_ended"
    run_jobs()
    assert chatapp.replies() == ["Welcome, An!"]


def test_the_provider_cannot_be_reached(chatapp, chat, ben):
    chatapp.sim.fault("http_503", what="templates")
    reply = send(chatapp, ben)
    assert (reply.status_code, reply.json()["code"]) == (502, "provider_refused")
    assert nothing_was_sent(chatapp)


def test_a_template_opens_a_chat_with_a_number_that_agreed(chatapp, number, ben):
    new = "84905550100"
    assert send(chatapp, ben, recipient_id=new).status_code == 404
    assert send(chatapp, ben, recipient_id="an", consent="in the shop").status_code == 404
    assert not Message.objects.exists()
    reply = send(chatapp, ben, recipient_id=f"+{new}", consent="in the shop, 3 Nov")
    assert reply.status_code == 201, reply.content
    shown = ben.get(f"/ai/chat/{reply.json()['conversation_id']}").json()
    assert (shown["metadata"], shown["can_reply"]) == ({"consent": "in the shop, 3 Nov"}, False)
    assert shown["customer"]["phone"] == f"+{new}"
    assert send(chatapp, ben, recipient_id=new).json()["conversation_id"] == shown["id"]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"blocked_until": timezone.now() + timedelta(days=1)}, (403, "customer_blocked")),
        ({"opt_out": "all"}, (409, "customer_opted_out")),
    ],
)
@pytest.mark.parametrize("where", ["here", "elsewhere", "elsewhere too"])
def test_who_is_blocked_or_said_stop_gets_none_from_any_number(
    chatapp, chat, ben, change, refusal, where
):
    if where == "elsewhere too":  # they have a chat here, and wrote that to another number
        other = Customer.objects.create(client=chat.client, **change)
        identity = CustomerIdentity.objects.get()
        identity.pk, identity.account_id, identity.customer = None, "another", other
        identity.save()
    else:
        Customer.objects.update(**change)
    if where == "elsewhere":
        CustomerIdentity.objects.update(account_id="another")
        ChannelChat.objects.all().delete()
    chats = Conversation.objects.count()
    refused = send(chatapp, ben, consent="in the shop")
    assert (refused.status_code, refused.json()["code"]) == refusal
    assert Conversation.objects.count() == chats
    assert nothing_was_sent(chatapp)
