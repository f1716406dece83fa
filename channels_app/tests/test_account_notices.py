"""What a provider reports about numbers and templates: stored, announced, mailed and shown."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.testing import make_bot
from channels_app.models import AccountNotice, ChannelConnection, InboundItem, Outcome
from channels_app.services import account_notices
from channels_app.tests.chatapp import NUMBER, OTHER_NUMBER, WABA, connect, of_chatapp, status
from channels_app.tests.helpers import post_signed
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from identity.models import Client, EmailNotification
from identity.testing import make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
FIXTURES = Path(__file__).parents[1] / "fixtures" / "chatapp"
# By fixture: kind, template, value, value before, reason, and whether it is bad.
TOLD = {
    "template-approved": ("template_status", "order_ready", "approved", "", "", False),
    "template-rejected": (
        "template_status", "order_ready", "rejected", "",
        "A variable stands at the end. Put words behind it.", True,
    ),
    "template-paused": (
        "template_status", "order_ready", "paused", "",
        "Customers rated it poorly. It is paused for 3 hours.", True,
    ),
    "template-disabled": ("template_status", "order_ready", "disabled", "", "", True),
    "template-quality": ("template_quality", "order_ready", "yellow", "green", "", False),
    "template-category": ("template_category", "order_ready", "marketing", "utility", "", True),
    "template-category-announced": (
        "template_category", "order_ready", "marketing", "utility", "announced", True,
    ),
    "number-limit": ("sending_limit", "", "10000", "2000", "upgrade", False),
    "number-flagged": ("quality", "", "red", "green", "", True),
    "number-name": (
        "name", "", "rejected", "", "Blue Shop Deals: name_employee_issue", True,
    ),
    "account-review": ("review", "", "approved", "", "", False),
    "account-alert": (
        "alert", "", "increased_capabilities_eligibility_failed", "", "The limit stays as it is.",
        True,
    ),
}  # fmt: skip


def report(person, name, later=0):
    body = json.loads((FIXTURES / f"{name}.json").read_text())["body"]
    body["entry"][0]["time"] += later
    assert post_signed(person, "/chatapp/webhook", body).status_code == 200
    run_jobs()


@pytest.mark.parametrize("name", sorted(TOLD))
def test_notices_are_stored_announced_and_mailed_if_bad(chatapp, number, nobody, ben, name):
    EmailNotification.objects.create(
        client=number.client, recipients=["a@b.example"], on_channel_error=True
    )
    report(nobody, name)
    kind, template, value, previous, reason, is_bad = TOLD[name]
    shown = ben.get(chatapp.bot_path("connection")).json()
    (notice,) = shown["notices"]
    assert {key: notice[key] for key in notice.keys() - {"id", "at"}} == {
        "kind": kind, "template": template, "language": "vi" if template else "", "value": value,
        "previous": previous, "reason": reason, "is_bad": is_bad,
    }  # fmt: skip
    event = Event.objects.get(type="channel.notified")
    assert event.data["notice"] == notice
    assert event.data["connection"]["account_id"] == NUMBER
    assert Job.objects.filter(name="identity.send_mail").count() == is_bad
    number.refresh_from_db()
    assert number.status == "connected"


def test_bad_notices_are_mailed_in_the_clients_language(chatapp, number, nobody):
    EmailNotification.objects.create(
        client=number.client, recipients=["a@b.example"], on_channel_error=True
    )
    Client.objects.filter(pk=number.client_id).update(default_language="vi")
    report(nobody, "number-flagged")
    mail = Job.objects.get(name="identity.send_mail").args
    assert mail["language"] == "vi"
    assert mail["context"]["notice"].startswith("Chất lượng của tài khoản: Đỏ")


def test_the_same_notice_twice_is_one(chatapp, number, nobody):
    for _ in range(2):
        report(nobody, "template-paused")
    assert AccountNotice.objects.count() == 1


def test_what_is_known_is_no_notice(chatapp, number, nobody, ben):
    shown = ben.get(chatapp.bot_path("connection")).json()
    assert (shown["quality"], shown["sending_limit"], shown["notices"]) == ("green", "2000", [])
    report(nobody, "account-capability")
    assert not AccountNotice.objects.exists()
    report(nobody, "number-limit")
    report(nobody, "number-flagged")
    shown = ben.get(chatapp.bot_path("connection")).json()
    assert (shown["quality"], shown["sending_limit"]) == ("red", "10000")
    report(nobody, "account-capability", later=60)
    notice = AccountNotice.objects.latest("pk")
    assert (notice.previous, notice.value, notice.is_bad) == ("10000", "2000", True)


def test_notices_of_a_number_are_its_own_and_those_of_templates_all_numbers(
    chatapp, number, nobody, ann
):
    other = make_bot(ann.client)
    assert connect(chatapp, OTHER_NUMBER, other).status_code == 200
    report(nobody, "number-flagged")
    assert [row.connection.account_id for row in AccountNotice.objects.all()] == [NUMBER]
    report(nobody, "template-paused")
    accounts = AccountNotice.objects.filter(kind="template_status")
    assert {row.connection.account_id for row in accounts} == {NUMBER, OTHER_NUMBER}


def test_notices_of_a_number_that_is_not_connected_are_ignored(chatapp, number, nobody):
    ChannelConnection.objects.filter(pk=number.pk).update(account_name="Blue Shop 842855559999")
    report(nobody, "number-flagged")
    report(nobody, "number-name")
    assert not AccountNotice.objects.exists()
    report(nobody, "number-limit")
    assert AccountNotice.objects.get().kind == "sending_limit"


@pytest.mark.parametrize("limit", ["9" * 301, 10**30, "many", -5])
def test_a_limit_that_is_none_is_no_notice(chatapp, number, nobody, limit):
    value = {"max_daily_conversations_per_business": limit}
    change = {"field": "business_capability_update", "value": value}
    body = {"entry": [{"id": WABA, "time": 1795226400, "changes": [change]}]}
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    assert not AccountNotice.objects.exists()
    assert InboundItem.objects.get().outcome == Outcome.UNSUPPORTED


def test_another_clients_account_hears_nothing(chatapp, number, nobody, cara):
    ChannelConnection.objects.filter(pk=number.pk).update(
        details={"business_account_id": "102290129340399"}
    )
    report(nobody, "template-paused")
    assert not AccountNotice.objects.exists()


def test_the_page_and_the_home_show_bad_notices(chatapp, number, nobody, ann, bot, client):
    report(nobody, "template-paused")
    report(nobody, "number-limit")
    AccountNotice.objects.update(at=timezone.now())
    client.force_login(ann.user)
    page = client.get(reverse("channel_account", args=["chatapp", bot.pk])).content.decode()
    assert 'data-kind="template_status" data-bad="yes"' in page
    assert 'data-kind="sending_limit" data-bad="no"' in page
    assert 'data-quality="green"' in page
    (warning,) = [
        row for row in ann.get("/report/warning-dashboard").json()["warnings"]
        if row["code"] == "channel_notices"
    ]  # fmt: skip
    assert warning["count"] == 1
    AccountNotice.objects.update(at=timezone.now() - timedelta(days=8))
    codes = {row["code"] for row in ann.get("/report/warning-dashboard").json()["warnings"]}
    assert "channel_notices" not in codes


def test_old_notices_are_deleted(chatapp, number, nobody):
    report(nobody, "template-paused")
    report(nobody, "number-flagged")
    old = AccountNotice.objects.filter(kind="quality")
    old.update(at=timezone.now() - timedelta(days=366))
    account_notices.delete_old()
    assert AccountNotice.objects.get().kind == "template_status"


def test_the_simulator_reports_notices(chatapp, number):
    chatapp.act("template_status", name="hello_world", status="PAUSED")
    value = {"display_phone_number": "842855550001", "event": "FLAGGED"}
    chatapp.act("account_notice", field="phone_number_quality_update", value=value)
    run_jobs()
    assert set(AccountNotice.objects.values_list("kind", "value")) == {
        ("template_status", "paused"), ("quality", "red"),
    }  # fmt: skip


# --- permissions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channel", "missing"),
    [
        ("socialnet", "pages_messaging"), ("photoapp", "instagram_manage_messages"),
        ("chatapp", "whatsapp_business_messaging"),
    ],
)  # fmt: skip
def test_what_the_person_did_not_allow_is_said(request, sim, bot, settings, channel, missing):
    settings.DEVELOPMENT = True  # elsewhere providers send people back to https alone
    client = Browser(SERVER_NAME="localhost")
    at = request.getfixturevalue(channel)
    token = sim.simulator.world.tokens[at.store_token()]
    token.scopes = token.scopes - {missing}
    if channel == "chatapp":
        reply = connect(at)
    else:
        reply = at.ann.post(at.bot_path("connect_page"), {"page_id": at.account})
    assert reply.status_code == 200, reply.content
    assert reply.json()["missing_permissions"] == [missing]
    own = reverse("channel_account", args=[channel, bot.pk])
    client.force_login(at.ann.user)
    page = client.get(own).content.decode()
    assert 'id="missing"' in page
    assert missing in page
    left = client.post(own, {"form": "again"})["Location"]
    assert "/dialog/oauth" in left, "a new consent, since the stored one lacks it"


def test_a_whole_consent_lacks_nothing(chatapp, number, ann, bot, client):
    assert number.missing_permissions == []
    client.force_login(ann.user)
    page = client.get(reverse("channel_account", args=["chatapp", bot.pk])).content.decode()
    assert 'id="missing"' not in page


# --- costs and the platform's sentences ---------------------------------------------------------


def test_an_owner_says_what_a_message_costs(chatapp, number, ann, ben, bot, client):
    own = reverse("channel_account", args=["chatapp", bot.pk])
    client.force_login(ann.user)
    assert 'name="marketing"' in client.get(own).content.decode()
    body = {"form": "costs", "are_sentences_sent": "on", "service": "0.0035", "marketing": "0.07"}
    assert client.post(own, body).status_code == 302
    config = f"/config/{ann.client.pk}/chat"
    shown = ann.get(config).json()
    assert shown["message_prices"] == {"service": 0.0035, "marketing": 0.07}
    assert shown["silent_channels"] == []
    assert client.post(own, {"form": "costs", "service": "-1"}).status_code == 200
    assert client.post(own, {"form": "costs", "service": "0.0035"}).status_code == 302
    shown = ann.get(config).json()
    assert (shown["message_prices"], shown["silent_channels"]) == (
        {"service": 0.0035}, ["chatapp"],
    )  # fmt: skip
    client.force_login(make_person(ann.client, "agent", "Bea").user)
    assert 'name="marketing"' not in client.get(own).content.decode()
    assert client.post(own, body).status_code == 403


def test_a_status_with_a_price_is_in_the_webhook_and_in_the_report(
    chatapp, number, quiet, nobody, ann, ben
):
    config = f"/config/{ann.client.pk}/chat"
    assert ann.post(config, {"message_prices": {"service": 0.0035}}).status_code == 200
    chatapp.write("Hi")
    run_jobs()
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    sent = Message.objects.get(sender_type="agent").provider_message_id or ""
    pricing = {"pricing_model": "PMP", "category": "service", "type": "regular"}
    told = of_chatapp(statuses=[status(sent, "delivered", pricing=pricing)])
    assert post_signed(nobody, "/chatapp/webhook", told).status_code == 200
    run_jobs()
    event = Event.objects.get(type="message.delivered")
    assert event.data["message"]["metadata"]["pricing"] == {
        "category": "service",
        "charged": 1,
        "cost": 0.0035,
    }
    body = {"metrics": ["charged_messages", "message_cost"], "group_by": ["price_category"]}
    (row,) = ann.post("/report/adhoc/search", body).json()["rows"]
    assert list(row.values()) == ["service", 1, 0.0035]


def test_the_platforms_sentences_stay_with_the_team(chatapp, number, bot, ann):
    body = {"silent_channels": ["chatapp"]}
    assert ann.post(f"/config/{ann.client.pk}/chat", body).status_code == 200
    chatapp.write("I want to talk to a person")
    run_jobs()
    chat = ann.get("/ai/chats").json()["items"][0]
    assert chat["assign_type"] == "queue"
    history = ann.get(f"/ai/chat/{chat['id']}/history").json()["items"]
    assert [(row["sender"]["type"], row["is_note"]) for row in history] == [
        ("customer", False), ("system", True),
    ]  # fmt: skip
    assert chatapp.replies() == []
