"""chatapp: numbers listed and connected, callbacks, and what customers do there."""

import json
import threading
import time

import pytest
from django.db import connection
from django.utils import timezone

from bots.testing import make_bot, trained
from channels_app.models import (
    ChannelConnection,
    CustomerIdentity,
    InboundCallback,
    InboundItem,
    Outcome,
)
from channels_app.services import inbound
from channels_app.tests.chatapp import (
    AN,
    NUMBER,
    OTHER_NUMBER,
    THIRD_NUMBER,
    WABA,
    connect,
    message,
    of_chatapp,
    status,
)
from channels_app.tests.helpers import post_signed
from channels_app.tests.test_retried_callbacks import run_one
from chatplatform.testing import run_jobs
from chats.models import Attachment, Conversation, Customer, Message
from identity.models import ChannelAccessToken
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/chatapp/webhook"
SIGNUP = "{}/www/v26.0/dialog/oauth?client_id=900000004&config_id=1"


@pytest.fixture
def token(chatapp):
    """Ann's own token at the provider, stored."""
    token = chatapp.sim.token("chatapp")
    assert chatapp.ann.post(chatapp.path("user-token"), {"access_token": token}).status_code == 200


def came(chatapp, kind, **values):
    """The message that a customer's deed became."""
    chatapp.act(kind, **values)
    run_jobs()
    return Message.objects.filter(sender_type="customer").order_by("-id").first()


def is_subscribed(chatapp):
    rows = chatapp.sim.state()["accounts"]
    return next(row["is_subscribed"] for row in rows if row["id"] == NUMBER)


# --- connected ----------------------------------------------------------------------------------


def test_a_signup_stores_the_token_registers_and_connects(chatapp, ann):
    chatapp.sim.change_account(NUMBER, is_registered=False)
    page = chatapp.sim.consent(SIGNUP.format(chatapp.sim.origin), accounts=[NUMBER])
    code = page.split('"code"')[1].split('"')[1]
    body = {"code": code, "business_account_id": WABA, "phone": {"phone_number_id": NUMBER}}
    missing = ann.post(chatapp.bot_path("connect"), body)
    assert (missing.status_code, missing.json()["code"]) == (409, "pin_missing")
    # The code is used up; its token is stored.
    body = {"phone": {"phone_number_id": NUMBER, "pin": "123456"}}
    reply = ann.post(chatapp.bot_path("connect"), body)
    assert reply.status_code == 200, reply.content
    connected = reply.json()
    assert (connected["status"], connected["account_id"]) == ("connected", NUMBER)
    assert connected["account_name"] == "Blue Shop +842855550001"
    assert connected["token_expires_at"] is None
    assert ann.get(chatapp.bot_path("connection")).json() == connected
    assert any("/register" in call["path"] for call in chatapp.sim.calls())
    assert is_subscribed(chatapp)


def test_a_wrong_code_stores_nothing(chatapp, ann):
    body = {"code": "wrong", "phone": {"phone_number_id": NUMBER}}
    reply = ann.post(chatapp.bot_path("connect"), body)
    assert (reply.status_code, reply.json()["code"]) == (502, "provider_refused")
    assert not ChannelAccessToken.objects.exists()
    assert not ChannelConnection.objects.exists()


def test_a_wrong_pin_is_the_providers_refusal(chatapp, token):
    chatapp.sim.change_account(NUMBER, is_registered=False, pin="654321")
    reply = connect(chatapp, pin="123456")
    assert (reply.status_code, reply.json()["provider_code"]) == (502, "133005")
    assert not ChannelConnection.objects.exists()


def test_the_list_goes_through_all_business_accounts(chatapp, token, number, ann, bot):
    seen, cursor = dict[str, int | None](), None
    for _ in range(10):
        query = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        answer = ann.get(chatapp.bot_path("accounts"), query).json()
        assert len(answer["items"]) <= 1
        seen |= {item["id"]: item["bot_id"] for item in answer["items"]}
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert seen == {NUMBER: bot.pk, OTHER_NUMBER: None, THIRD_NUMBER: None}
    assert ann.get(chatapp.bot_path("accounts"), {"cursor": "9:x"}).json()["items"] == []


def test_lists_and_connects_need_a_token(chatapp, ann):
    for reply in (ann.get(chatapp.bot_path("accounts")), connect(chatapp)):
        assert (reply.status_code, reply.json()["code"]) == (409, "token_missing")


def test_a_number_belongs_to_one_bot_and_a_bot_has_one(chatapp, number, ann):
    other = make_bot(ann.client)
    assert connect(chatapp, bot=other).json()["code"] == "account_taken"
    assert connect(chatapp, OTHER_NUMBER).json()["code"] == "bot_has_account"
    assert connect(chatapp).status_code == 200


def test_an_unknown_number_is_refused(chatapp, token):
    reply = connect(chatapp, "999")
    assert (reply.status_code, reply.json()["kind"]) == (502, "request")
    assert not ChannelConnection.objects.exists()


def test_the_business_accounts_subscription_ends_with_its_last_number(chatapp, number, ann):
    other = make_bot(ann.client)
    assert connect(chatapp, OTHER_NUMBER, bot=other).status_code == 200
    first = ann.put(chatapp.bot_path("disconnect"))
    assert (first.status_code, first.json()["status"]) == (200, "disconnected")
    assert is_subscribed(chatapp), "the other number needs it"
    assert ann.put(chatapp.path(f"disconnect/{other.pk}")).status_code == 200
    assert not is_subscribed(chatapp)
    assert ann.put(chatapp.bot_path("disconnect")).json() == first.json()
    again = connect(chatapp)
    assert (again.json()["status"], again.json()["id"]) == ("connected", str(number.pk))


# --- callbacks ----------------------------------------------------------------------------------


def test_the_handshake_answers_the_challenge(nobody, settings):
    query = {
        "hub.mode": "subscribe", "hub.challenge": "1158201444",
        "hub.verify_token": settings.CHATAPP_VERIFY_TOKEN,
    }  # fmt: skip
    reply = nobody.get(PATH, query)
    assert (reply.status_code, reply.content) == (200, b"1158201444")
    assert nobody.get(PATH, query | {"hub.verify_token": "wrong"}).status_code == 403


def test_only_what_the_apps_secret_signed_is_taken(nobody, settings):
    raw = json.dumps(of_chatapp(messages=[message()])).encode()
    headers = {"X-Hub-Signature-256": "sha256=" + "0" * 64}
    reply = nobody.browser.post(PATH, raw, content_type="application/json", headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (401, "bad_signature")
    settings.CHATAPP_APP_SECRET = ""
    reply = post_signed(nobody, PATH, raw)
    assert reply.json()["setting"] == "CHATAPP_APP_SECRET"


def test_everything_in_a_callback_is_counted_and_nothing_stops_the_rest(nobody, quiet):
    body = of_chatapp(
        messages=[message(id="wamid.1"), 5, {"id": 7}, message(id="wamid.2", type="poll"),
                  message(id="wamid.3", group_id="g1"), message(id="wamid.4")],
        statuses=[None, status("wamid.9", "warped")], errors=[{"code": 1}],
    )  # fmt: skip
    body["entry"][0]["changes"] += [{"field": "new_field", "value": {"a": 1}}, 5]
    assert post_signed(nobody, PATH, body).status_code == 200
    run_jobs()
    assert Message.objects.filter(sender_type="customer").count() == 3
    kinds = InboundItem.objects.exclude(kind="").order_by("position")
    assert list(kinds.values_list("kind", flat=True)) == [
        "malformed", "malformed", "group", "malformed", "status.warped", "errors",
        "changes.new_field", "malformed",
    ]  # fmt: skip
    assert InboundItem.objects.count() == InboundCallback.objects.get().item_count == 11


def test_a_number_that_nobody_has_is_counted_and_dropped(nobody, quiet):
    post_signed(nobody, PATH, of_chatapp(OTHER_NUMBER, messages=[message()]))
    run_jobs()
    assert InboundItem.objects.get().outcome == Outcome.UNKNOWN_ACCOUNT
    assert not Message.objects.exists()


# --- what customers do --------------------------------------------------------------------------


@pytest.mark.full
def test_a_question_is_answered_on_the_channel_once(chatapp, number, bot):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    chatapp.write("When do parcels arrive?")
    chatapp.settle()
    chat = Conversation.objects.get()
    assert (chat.channel, chat.customer.name) == ("chatapp", "An Tran")
    assert chat.customer.phone == f"+{AN}"
    (reply,) = chatapp.replies()
    assert "three days" in reply
    answer = Message.objects.get(sender_type="bot")
    assert (answer.status, answer.delivered_at is not None) == ("read", True)
    calls = [call["body"] for call in chatapp.sim.calls() if "typing_indicator" in str(call)]
    question = Message.objects.get(sender_type="customer")
    assert calls[0]["message_id"] == question.provider_message_id


@pytest.mark.parametrize("kind", ["image", "document", "video", "audio", "sticker"])
def test_a_file_is_copied_to_our_store(chatapp, quiet, kind):
    sent = {"text": "This one"} if kind in {"image", "document"} else {}
    stored = came(chatapp, kind, **sent)
    attachment = Attachment.objects.get()
    assert attachment.message == stored
    assert ("This one" in stored.text) == bool(sent)


def test_a_file_goes_with_the_token_to_the_files_host_alone(chatapp, quiet, settings):
    settings.CHATAPP_MEDIA_HOSTS = ["files.example"]
    stored = came(chatapp, "image")
    assert stored.content[0]["error"]
    assert not Attachment.objects.exists()


@pytest.mark.parametrize(
    ("kind", "values", "text", "metadata"),
    [
        ("template_button", {"title": "Yes", "payload": "P1"}, "Yes", {"payload": "P1"}),
        ("contacts", {"name": "Lan Pham"}, "Contact: Lan Pham, +84 90 999 9999", None),
        ("order", {}, "Order: 3 × p1, 30 VND each", None),
        ("text", {"text": "Look", "forwarded": True}, "Look",
         {"forwarded": True, "lines": [{"kind": "forwarded"}]}),
    ],
)  # fmt: skip
def test_what_is_no_plain_text_becomes_words(chatapp, quiet, kind, values, text, metadata):
    stored = came(chatapp, kind, **values)
    assert stored.text == text
    assert metadata is None or stored.metadata == metadata


def test_a_place_is_a_place(chatapp, quiet):
    (part,) = came(chatapp, "location", lat=10.5, long=106.25, name="Shop").content
    assert (part["location"]["latitude"], part["text"]) == (10.5, "Shop, 1 Main Street")


def test_what_cannot_be_shown_leaves_a_mark(chatapp, quiet):
    stored = came(chatapp, "unsupported")
    assert (stored.metadata["lines"][0]["kind"], bool(stored.text)) == ("unsupported", True)


@pytest.mark.full
def test_taps_replies_reactions_edits_and_unsends(chatapp, quiet, ben):
    first = came(chatapp, "text", text="Tea, plese")
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Which?"})
    chatapp.settle()
    answer = Message.objects.get(sender_type="agent")
    tapped = came(
        chatapp, "button", title="Green", payload="G", message_id=answer.provider_message_id
    )
    assert (tapped.text, tapped.metadata, tapped.in_reply_to) == ("Green", {"payload": "G"}, answer)
    chosen = came(chatapp, "list", title="Row", payload="R1", message_id=answer.provider_message_id)
    assert (chosen.text, chosen.metadata["payload"]) == ("Row", "R1")
    sent = came(chatapp, "form", message_id=answer.provider_message_id)
    assert json.loads(sent.metadata["form"]) == {"size": "M"}
    chatapp.act("reaction", message_id=answer.provider_message_id, emoji="😮")
    run_jobs()
    answer.refresh_from_db()
    assert answer.customer_reaction == "😮"
    chatapp.act("unreact", message_id=answer.provider_message_id)
    chatapp.act("edit", message_id=first.provider_message_id, text="Tea, please")
    chatapp.act("unsend", message_id=sent.provider_message_id)
    run_jobs()
    for row in (answer, first, sent):
        row.refresh_from_db()
    assert (answer.customer_reaction, first.text, sent.text) == ("", "Tea, please", "")
    assert (first.edited_at is not None, sent.deleted_at is not None) == (True, True)


def test_an_advertisement_is_noted(chatapp, quiet):
    stored = came(chatapp, "text", text="Hello", ad_id="6045")
    assert stored.metadata["referral"]["source_id"] == "6045"
    assert stored.conversation.metadata["referral"]["source_id"] == "6045"


@pytest.mark.full
def test_what_was_written_in_the_telephones_app_is_heard_and_the_bot_steps_back(chatapp, number):
    came(chatapp, "text", text="Hello")
    Conversation.objects.update(status="open", assign_type="bot")
    chatapp.act("agent_wrote", text="I answer here")
    run_jobs()
    assert Message.objects.get(text="I answer here").sender_type == "agent"
    assert Conversation.objects.get().handoff_reason == "answered_elsewhere"


def test_whom_the_telephones_app_wrote_to_first_has_a_name_after_writing(nobody, quiet, ben):
    first = message(to=AN, **{"from": "842855550001"})
    echo = of_chatapp(message_echoes=[first])
    echo["entry"][0]["changes"][0]["field"] = "smb_message_echoes"
    post_signed(nobody, PATH, echo)
    contact = {"profile": {"name": "An Tran"}, "wa_id": AN}
    post_signed(nobody, PATH, of_chatapp(contacts=[contact], messages=[message(id="wamid.2")]))
    run_jobs()
    chat = Conversation.objects.get()
    assert chat.message_count == 2
    assert ben.get(f"/ai/chat/{chat.pk}").json()["customer"]["name"] == "An Tran"


@pytest.mark.parametrize(
    ("event", "word"), [("ACCOUNT_RESTRICTION", "restricted"), ("DISABLED_UPDATE", "disabled")]
)
def test_trouble_of_the_business_account_marks_its_numbers(chatapp, quiet, number, event, word):
    chatapp.act("account_update", event=event)
    run_jobs()
    number.refresh_from_db()
    assert (number.status, word in number.last_error) == ("error", True)
    assert not InboundItem.objects.exclude(outcome=Outcome.PROCESSED).exists()


def test_good_news_of_the_account_change_nothing(chatapp, quiet, number):
    chatapp.act("account_update", event="VERIFIED_ACCOUNT")
    run_jobs()
    number.refresh_from_db()
    assert number.status == "connected"
    assert InboundItem.objects.get().outcome == Outcome.UNSUPPORTED


# --- two ids of one customer --------------------------------------------------------------------


def write(nobody, text, **ids):
    body = of_chatapp(messages=[message(id=f"wamid.{text}", text={"body": text}, **ids)])
    assert post_signed(nobody, PATH, body).status_code == 200
    run_jobs()


@pytest.mark.parametrize(
    "order",
    [
        [{"from": AN}, {"from": AN, "from_user_id": "VN.1"}, {"from_user_id": "VN.1"}],
        [{"from_user_id": "VN.1"}, {"from": AN, "from_user_id": "VN.1"}, {"from": AN}],
        [{"from": AN, "from_user_id": "VN.1"}, {"from": AN}, {"from_user_id": "VN.1"}],
    ],
)
def test_a_customer_is_known_by_either_id(nobody, quiet, order):
    for number, ids in enumerate(order):
        write(nobody, f"m{number}", **{"from": None, **ids})
    identity = CustomerIdentity.objects.get()
    assert (identity.provider_user_id, identity.alternate_user_id) == ("VN.1", AN)
    assert Conversation.objects.count() == 1
    assert Message.objects.filter(sender_type="customer").count() == 3


def test_two_who_turn_out_to_be_one_go_on_as_one(nobody, quiet):
    write(nobody, "a", **{"from": AN})
    write(nobody, "b", **{"from": None, "from_user_id": "VN.1"})
    assert CustomerIdentity.objects.count() == 2
    write(nobody, "c", **{"from": AN, "from_user_id": "VN.1"})
    assert CustomerIdentity.objects.count() == 1
    assert Message.objects.get(text="c").conversation == Message.objects.get(text="b").conversation


def test_a_customer_who_is_blocked_under_one_id_is_blocked_under_both(nobody, quiet, ben):
    write(nobody, "a", **{"from": AN})
    blocked = {"blocked_until": "9999-01-01T00:00:00Z"}
    assert ben.put(f"/ai/customers/{Customer.objects.get().pk}", blocked).status_code == 200
    write(nobody, "b", **{"from": None, "from_user_id": "VN.1"})
    write(nobody, "c", **{"from": AN, "from_user_id": "VN.1"})
    assert CustomerIdentity.objects.count() == Customer.objects.count() == 1
    assert not Message.objects.filter(text="c").exists()
    assert InboundItem.objects.order_by("-id")[0].kind == "customer_blocked"


def test_a_blocked_customer_is_known_by_the_other_id_of_what_was_left_aside(nobody, quiet, ben):
    write(nobody, "a", **{"from": AN})
    blocked = {"blocked_until": "9999-01-01T00:00:00Z"}
    assert ben.put(f"/ai/customers/{Customer.objects.get().pk}", blocked).status_code == 200
    write(nobody, "b", **{"from": AN, "from_user_id": "VN.1"})
    write(nobody, "c", **{"from": None, "from_user_id": "VN.1"})
    assert CustomerIdentity.objects.count() == Customer.objects.count() == 1
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert [row.kind for row in InboundItem.objects.order_by("id")][1:] == ["customer_blocked"] * 2


@pytest.mark.full
def test_messages_at_once_that_name_a_customer_differently_are_of_one(nobody, quiet, monkeypatch):

    store = inbound._store_message

    def store_slowly(*args, **named):
        time.sleep(0.5)
        return store(*args, **named)

    monkeypatch.setattr(inbound, "_store_message", store_slowly)
    for text, ids in (("a", {"from": AN}), ("b", {"from": AN, "from_user_id": "VN.1"})):
        body = of_chatapp(messages=[message(id=f"wamid.{text}", text={"body": text}, **ids)])
        assert post_signed(nobody, PATH, body).status_code == 200

    def work():
        run_one()
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    run_jobs()
    assert CustomerIdentity.objects.count() == Customer.objects.count() == 1
    assert Message.objects.filter(sender_type="customer").count() == 2


def test_a_number_that_goes_to_another_customer_does_not_take_the_chat_along(nobody, quiet):
    write(nobody, "a", **{"from": AN, "from_user_id": "VN.1"})
    write(nobody, "b", **{"from": AN, "from_user_id": "VN.2"})
    assert Conversation.objects.count() == 2
    assert CustomerIdentity.objects.get(provider_user_id="VN.1").alternate_user_id == ""


def test_a_changed_number_is_where_answers_go(chatapp, quiet, ben):
    came(chatapp, "text", text="Hello")
    chatapp.act("system", wa_id="84909999998")
    run_jobs()
    assert CustomerIdentity.objects.get().address == "84909999998"
    assert Message.objects.filter(sender_type="customer").count() == 1


NEW = "84900000002"
CHANGES: list[tuple[dict[str, str], dict[str, str], dict[str, str]]] = [
    ({"from": AN}, {"type": "user_changed_number", "wa_id": NEW}, {"from": NEW}),
    ({"from": AN}, {"type": "user_changed_number", "new_wa_id": NEW}, {"from": NEW}),
    ({"from": AN}, {"type": "customer_changed_number", "wa_id": NEW, "customer": AN},
     {"from": NEW}),
    ({"from": AN, "from_user_id": "VN.1"},
     {"type": "user_changed_number", "wa_id": NEW, "user_id": "VN.2",
      "previous_user_id": "VN.1"},
     {"from": NEW, "from_user_id": "VN.2"}),
    ({"from": AN, "from_user_id": "VN.1"},
     {"type": "user_changed_user_id", "wa_id": NEW, "user_id": "VN.2",
      "previous_user_id": "VN.1"},
     {"from_user_id": "VN.2"}),
    ({"from": AN},
     {"type": "user_changed_number", "wa_id": NEW, "user_id": "VN.2"},
     {"from": NEW, "from_user_id": "VN.2"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "system", "after", "comes_late"),
    [*((*change, False) for change in CHANGES), (*CHANGES[3], True)],
)
def test_a_changed_number_or_id_is_the_same_customer(
    nobody, quiet, before, system, after, comes_late
):
    write(nobody, "before", **{"from": None, **before})
    changed = message(id="wamid.s", type="system", system=system, text=None, **before)
    steps = [
        lambda: post_signed(nobody, PATH, of_chatapp(messages=[changed])),
        lambda: write(nobody, "after", **{"from": None, **after}),
    ]
    for step in reversed(steps) if comes_late else steps:
        step()
        run_jobs()
    customer = Customer.objects.get()
    assert customer.phone == f"+{NEW}"
    assert CustomerIdentity.objects.get().address == NEW
    chats = Message.objects.filter(sender_type="customer").values_list("conversation__customer")
    assert [pk for (pk,) in chats] == [customer.pk] * 2


def test_a_number_that_another_customer_had_before_is_no_longer_theirs(nobody, quiet):
    former = {"from": AN, "from_user_id": "VN.1"}
    write(nobody, "new id", **{"from": None, "from_user_id": "VN.2"})
    write(nobody, "other", **{"from": NEW})
    write(nobody, "before", **former)
    at = str(int(timezone.now().timestamp()) + 5)
    system = {"type": "user_changed_number", "wa_id": NEW, "user_id": "VN.2"}
    changed = message(id="wamid.s", type="system", system=system, text=None, timestamp=at, **former)
    post_signed(nobody, PATH, of_chatapp(messages=[changed]))
    run_jobs()
    assert Customer.objects.count() == CustomerIdentity.objects.count() == 2
    other = Message.objects.get(text="other").conversation.channel_chat.identity
    assert other.address == ""
    for text in ("before", "new id"):
        chat = Message.objects.get(text=text).conversation
        assert chat.channel_chat.identity.address == NEW
        assert chat.customer != other.customer


def test_a_customer_who_hides_the_number_gets_answers(chatapp, quiet, ben):
    chatapp.act("text", user="hidden", text="Hello")
    run_jobs()
    chat = Conversation.objects.get()
    assert chat.customer.phone == ""
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hi"})
    chatapp.settle()
    assert chatapp.replies("hidden") == ["Hi"]
    assert Message.objects.get(text="Hi").status == "read"


def test_messages_are_listed_and_sent_by_either_id(chatapp, quiet, ann):
    came(chatapp, "text", text="Hello")
    identity = CustomerIdentity.objects.get()
    for recipient in (identity.provider_user_id, AN):
        body = {"recipient_id": recipient, "text": f"To {recipient}"}
        assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
        query = {"recipient_id": recipient}
        assert ann.get(chatapp.bot_path("messages"), query).json()["items"]
    run_jobs()
    assert len(chatapp.replies()) == 2
    Conversation.objects.update(reply_window_expires_at=timezone.now())
    late = ann.post(chatapp.bot_path("messages"), {"recipient_id": AN, "text": "Late"})
    assert (late.status_code, late.json()["code"]) == (409, "reply_window_closed")
    tagged = {"recipient_id": AN, "text": "Late", "tag": "HUMAN_AGENT"}
    assert ann.post(chatapp.bot_path("messages"), tagged).status_code == 422
    assert Event.objects.filter(type="message.created").exists()
