"""photoapp: accounts listed and connected, messages in and out by this channel's own rules."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings as platform
from django.utils import timezone

from bots.testing import make_bot, trained
from channels_app.models import ChannelConnection, InboundCallback, InboundItem, Outcome
from channels_app.services import connections, token_refresh
from channels_app.tests.helpers import (
    ACCOUNT,
    OTHER_ACCOUNT,
    PAGE,
    of_photoapp,
    post_signed,
)
from chatplatform.testing import in_thread, run_before, run_jobs
from chats.models import Conversation, Message
from identity.models import ChannelAccessToken

pytestmark = pytest.mark.django_db(transaction=True)
HOME = "https://app.shop.example/channels/done"


@pytest.fixture
def agents_chat(account, photoapp, bot):
    """A chat that waits for an agent."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    photoapp.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()


def connect(photoapp, page_id=ACCOUNT, bot=None):
    path = photoapp.path(f"connect_page/{(bot or photoapp.bot).pk}")
    return photoapp.ann.post(path, {"page_id": page_id})


# --- connected ----------------------------------------------------------------------------------


def test_a_person_consents_lists_accounts_and_connects_one(photoapp, ann, bot):
    pending = ann.post(photoapp.bot_path("connect"), {"redirect_uri": HOME}).json()
    url = photoapp.sim.consent(pending["consent_url"], accounts=[PAGE])
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    body = {"redirect_uri": HOME, "code": query["code"], "state": query["state"]}
    assert ann.post(photoapp.bot_path("connect"), body).json()["status"] == "pending"
    assert ChannelAccessToken.objects.get().channel == "photoapp"
    accounts = ann.get(photoapp.bot_path("accounts")).json()["items"]
    assert ACCOUNT in {account["id"] for account in accounts}
    assert PAGE not in {account["id"] for account in accounts}
    connected = connect(photoapp).json()
    assert (connected["status"], connected["account_id"]) == ("connected", ACCOUNT)
    assert (connected["account_name"], connected["bot_id"]) == ("Blue Shop", bot.pk)
    assert ann.get(photoapp.path("connection")).json() == [connected]


def test_a_consent_that_ends_late_leaves_the_account_as_it_is(photoapp, ann):
    """A page's token does not end, and is never sent to the host of the direct login."""

    def agree():
        pending = ann.post(photoapp.bot_path("connect"), {"redirect_uri": HOME}).json()
        url = photoapp.sim.consent(pending["consent_url"], accounts=[PAGE])
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        return {"redirect_uri": HOME, "code": query["code"], "state": query["state"]}

    first, second = agree(), agree()
    assert ann.post(photoapp.bot_path("connect"), first).status_code == 200
    connected = connect(photoapp).json()
    assert ann.post(photoapp.bot_path("connect"), second).json() == connected
    assert connected["token_expires_at"] is None
    ChannelConnection.objects.update(token_expires_at=timezone.now())
    token_refresh.enqueue_due()
    run_jobs()
    assert not photoapp.sim.calls(base="direct")
    assert ann.get(photoapp.path("connection")).json()[0]["status"] == "connected"


def test_the_id_of_the_page_names_its_account_too(photoapp, photoapp_token):
    assert connect(photoapp, PAGE).json()["account_id"] == ACCOUNT
    assert connect(photoapp, ACCOUNT).status_code == 200
    assert ChannelConnection.objects.count() == 1


def test_who_connects_by_the_page_waits_for_the_end_of_the_accounts_subscription(
    photoapp, account, ann, cara, monkeypatch
):
    monkeypatch.setattr(connections, "_SUBSCRIBING_SECONDS", 0.2)
    token = {"access_token": photoapp.sim.token("photoapp")}
    assert cara.post(f"/photoapp/{cara.client.pk}/user-token", token).status_code == 200
    path = f"/photoapp/{cara.client.pk}/connect_page/{make_bot(cara.client).pk}"

    def connect_theirs():
        thread, replies = in_thread(lambda: cara.post(path, {"page_id": PAGE}))
        thread.join(30)
        assert (replies[0].status_code, replies[0].json()["code"]) == (409, "account_taken")

    with run_before("channels_app.providers.graph.pages.unsubscribe", connect_theirs):
        assert ann.put(photoapp.bot_path("disconnect")).json()["status"] == "disconnected"
    assert not ChannelConnection.objects.filter(client=cara.client, status="connected").exists()
    assert cara.post(path, {"page_id": PAGE}).json()["account_id"] == ACCOUNT


def test_a_page_without_an_account_is_refused(photoapp, photoapp_token):
    reply = connect(photoapp, "1048576000003")
    assert (reply.status_code, reply.json()["code"]) == (502, "provider_refused")
    assert not ChannelConnection.objects.exists()


def test_an_account_belongs_to_one_bot_and_one_client(photoapp, account, ann, cara):
    assert connect(photoapp, bot=make_bot(ann.client)).json()["code"] == "account_taken"
    assert connect(photoapp, OTHER_ACCOUNT).json()["code"] == "bot_has_account"
    theirs = make_bot(cara.client)
    assert cara.get(photoapp.path("connection")).status_code == 404
    assert cara.get(f"/photoapp/{cara.client.pk}/connection").json() == []
    assert cara.put(photoapp.path(f"disconnect/{theirs.pk}")).status_code == 404
    account.refresh_from_db()
    assert account.status == "connected"


def test_giving_up_leaves_the_pages_subscription_to_socialnet(photoapp, account, ann, bot):
    page_token = photoapp.sim.token("socialnet")
    ann.post(f"/socialnet/{ann.client.pk}/user-token", {"access_token": page_token})
    path = f"/socialnet/{ann.client.pk}/connect_page/{bot.pk}"
    assert ann.post(path, {"page_id": PAGE}).status_code == 200
    before = len(photoapp.sim.calls())
    reply = ann.put(photoapp.bot_path("disconnect"))
    assert (reply.status_code, reply.json()["status"]) == (200, "disconnected")
    assert len(photoapp.sim.calls()) == before, "the page still sends for socialnet"
    assert ann.put(photoapp.bot_path("disconnect")).json() == reply.json()


def test_giving_up_ends_the_subscription(photoapp, account, ann):
    assert ann.put(photoapp.bot_path("disconnect")).json()["status"] == "disconnected"
    last = photoapp.sim.calls()[-1]
    assert (last["method"], last["path"].endswith(f"/{PAGE}/subscribed_apps")) == ("DELETE", True)


# --- messages -----------------------------------------------------------------------------------


def test_a_question_is_answered_once_and_read(photoapp, account, bot):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    photoapp.write("When do parcels arrive?")
    photoapp.settle()
    chat = Conversation.objects.get()
    assert (chat.channel, chat.bot_id) == ("photoapp", bot.pk)
    question, answer = Message.objects.filter(conversation=chat).order_by("seq")
    assert question.sender_type == "customer"
    assert photoapp.replies() == [answer.text]
    assert "three days" in answer.text
    assert answer.status == "read"
    assert not InboundItem.objects.exclude(outcome=Outcome.PROCESSED).exists()


@pytest.mark.full
def test_a_long_text_is_cut_by_bytes(photoapp, agents_chat, ben):
    words = " ".join(["Đặt hàng"] * 200)
    sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": words})
    photoapp.settle()
    pieces = photoapp.replies()
    assert len(pieces) > 2
    assert " ".join(pieces) == words
    assert max(len(piece.encode()) for piece in pieces) <= 1000
    assert Message.objects.get(pk=sent.json()["id"]).status == "read"
    assert Message.objects.filter(sender_type="agent").count() == 1, "echoes are no new messages"


def test_a_picture_of_a_customer_is_stored(photoapp, account, ann):
    photoapp.act("attachment", type="image")
    photoapp.settle()
    message = Message.objects.get(sender_type="customer")
    assert message.content[0]["type"] == "image"
    assert message.content[0]["attachment_id"]


def test_what_is_unsent_loses_its_content(photoapp, agents_chat):
    message = Message.objects.get(sender_type="customer")
    photoapp.act("unsend", message=message.provider_message_id)
    run_jobs()
    message.refresh_from_db()
    assert message.deleted_at
    assert "anybody" not in message.text


def test_after_the_window_only_a_tag_goes_out(photoapp, agents_chat, ann):
    Conversation.objects.update(reply_window_expires_at="2020-01-01T00:00:00Z")
    user = agents_chat.channel_chat.identity.provider_user_id
    body = {"recipient_id": user, "text": "Still there?"}
    reply = ann.post(photoapp.bot_path("messages"), body)
    assert (reply.status_code, reply.json()["code"]) == (409, "reply_window_closed")
    tagged = ann.post(photoapp.bot_path("messages"), body | {"tag": "HUMAN_AGENT"})
    assert tagged.status_code == 201
    photoapp.settle()
    assert photoapp.replies() == ["Still there?"]
    listed = ann.get(photoapp.bot_path("messages")).json()["items"]
    assert listed[0]["id"] == tagged.json()["id"]


@pytest.mark.parametrize(
    ("refusal", "status", "then"),
    [((10, 2534022), "connected", "reply_window_closed"), ((200, 2534041), "error", None),
     ((190, 463), "expired", "channel_not_connected"), ((100, 2534014), "connected", None),
     ((10, 1893063), "error", None)],
)  # fmt: skip
def test_a_refusal_has_its_consequence(photoapp, agents_chat, ben, refusal, status, then):
    code, subcode = refusal
    photoapp.sim.fault("code", what="sends", code=code, subcode=subcode, message="No")
    sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    photoapp.settle()
    message = Message.objects.get(pk=sent.json()["id"])
    assert (message.status, message.error is not None) == ("failed", True)
    assert ChannelConnection.objects.get().status == status
    assert photoapp.replies() == []
    again = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Again"})
    assert (again.status_code, again.json().get("code")) == (409 if then else 201, then)


# --- callbacks ----------------------------------------------------------------------------------


def test_only_what_an_app_has_signed_is_stored(photoapp, account, settings):
    body = of_photoapp({"message": {"mid": "aWdf1", "text": "hi"}})
    assert post_signed(photoapp.ann, "/photoapp/webhook", body).status_code == 200
    none = {"X-Hub-Signature-256": "sha256=0"}
    refused = post_signed(photoapp.ann, "/photoapp/webhook", body, **none)
    assert (refused.status_code, refused.json()["code"]) == (401, "bad_signature")
    assert InboundCallback.objects.count() == 1
    settings.PHOTOAPP_APP_SECRET = settings.PHOTOAPP_DIRECT_APP_SECRET = ""
    unset = post_signed(photoapp.ann, "/photoapp/webhook", body)
    assert (unset.status_code, unset.json()["setting"]) == (503, "PHOTOAPP_APP_SECRET")


def test_the_handshake(photoapp):
    assert photoapp.sim.handshake("photoapp")["is_accepted"]
    query = {"hub.mode": "subscribe", "hub.verify_token": "wrong", "hub.challenge": "1"}
    assert photoapp.ann.browser.get("/photoapp/webhook", query).status_code == 403
    assert platform.PHOTOAPP_VERIFY_TOKEN


def test_a_callback_that_comes_twice_counts_once(photoapp, account):
    body = of_photoapp({"message": {"mid": "aWdf1", "text": "hi"}})
    for _ in range(3):
        assert post_signed(photoapp.ann, "/photoapp/webhook", body).status_code == 200
    run_jobs()
    assert Message.objects.filter(sender_type="customer").count() == 1
    outcomes = sorted(InboundItem.objects.values_list("outcome", flat=True))
    assert outcomes == [Outcome.DUPLICATE, Outcome.DUPLICATE, Outcome.PROCESSED]
