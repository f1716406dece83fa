"""The demo lives: it is made by the services, its ledger adds up, and customers write to it."""

import io
import json
import re
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.db import connection
from django.db.models import F, Sum
from django.test import Client
from django.utils import timezone

from bots.models import Bot, Document
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import AssignType, Conversation, Message, SavedReply
from chats.services.reply import replays
from identity.auth import Argon2
from identity.models import CreditEntry, Subscription, User
from local import demo_traffic
from local.os_processes import ServerError
from webhooks.models import Event, WebhookConfig

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
DAY = timedelta(days=1)


@pytest.fixture
def demo(settings, tmp_path, monkeypatch):
    settings.DEVELOPMENT = True
    # A folder of its own: tests that run at the same time would overwrite each other's keys.
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr("chatplatform.settings.DATA_DIR", tmp_path)
    # Nobody listens there, at the providers' address: deliveries fail. The first one is another's.
    settings.EGRESS_ALLOW = ["127.0.0.1:10", "127.0.0.1:9"]
    seed()
    return tmp_path


def seed():
    call_command("seed", stdout=io.StringIO())


def todays_rows_are_made_by_the_services():
    waiting = Event.objects.filter(type="conversation.created").count()
    assert waiting == 8
    assert Job.objects.filter(name="chats.generate_reply", state="queued").count() == 8
    run_jobs()
    assert Conversation.objects.filter(assign_type=AssignType.QUEUE).count() >= 5 + 1
    assert Document.objects.get(file_name="price-list.pdf").status == "failed"
    assert set(
        Document.objects.exclude(file_name="price-list.pdf").values_list("status", flat=True)
    ) == {"trained"}
    (endpoint,) = WebhookConfig.objects.all()
    assert endpoint.url == "http://127.0.0.1:9/the-shops-old-server"


def the_bot_was_quick_all_month():
    answered = Conversation.objects.filter(assignee=None, ended_by="customer")
    waits = [
        chat.first_response_at - chat.created_at for chat in answered if chat.first_response_at
    ]
    assert len(waits) > 30
    assert max(waits).total_seconds() < 3


def a_replay_gains_what_was_answered_today_and_loses_nothing():
    """The month says what the bot says: a newcomer sees no loss that nobody caused."""
    cards = Message.objects.filter(text="Can I use a gift card more than once?")
    # Today has as few chats as hours.
    asked = [card.created_at.date() for card in cards if card.created_at < timezone.now() - DAY]
    bot, owner = Bot.objects.get(), User.objects.get(email="owner@demo.example")
    replay = replays.start(bot, day=max(sorted(set(asked)), key=asked.count), by=owner)
    run_jobs()
    replay.refresh_from_db()
    assert (replay.status, replay.lost) == ("done", 0)
    assert replay.answered > 3
    gained = replays.replies_of(replay, change="gained")
    assert gained.exists()
    for item in gained:
        assert re.search("gift cards are valid|Thẻ quà tặng có giá trị", item.text, re.IGNORECASE)
        assert "three years" in item.text or "ba năm" in item.text


def whoever_the_bot_cannot_help_waits_for_an_agent():
    by_agents = Conversation.objects.filter(ended_by="agent")
    assert set(by_agents.values_list("handoff_reason", flat=True)) == {
        "no_answer",
        "customer_asked",
    }
    handed_over = Conversation.objects.exclude(handed_off_at=None)
    assert handed_over.count() == Conversation.objects.exclude(handoff_reason=None).count() > 50
    assert not by_agents.filter(handed_off_at__gt=F("assigned_at")).exists()
    replies = Message.objects.filter(receipt__decision="answered")
    assert not replies.filter(citations=[]).exists()
    assert not replies.filter(receipt__knowledge_version=None).exists()


def agents_find_saved_replies():
    replies = SavedReply.objects.filter(owner=None)
    assert {reply.shortcut for reply in replies} == {"hello", "late", "bye"}
    assert all(set(reply.texts) == {"en", "vi"} for reply in replies)


def the_shops_own_question_is_answered_rightly(demo):
    """The demo's page says: ask how long you have to return an order."""
    server = Client(headers={"API-KEY": (demo / "keys" / "demo_api_key").read_text()})
    question = {"message": "How long do I have to return an order?"}
    reply = server.post("/ai/client/chat", question, content_type="application/json")
    assert reply.status_code == 201, reply.content
    run_jobs()
    rows = server.get(f"/ai/client/chat/history/{reply.json()['id']}").json()["items"]
    (answer,) = [row for row in rows if row["sender"]["type"] == "bot" and not row["is_welcome"]]
    assert "within 30 days of delivery" in answer["content"][0]["text"]


def the_ledger_adds_up_to_the_balance():
    account = Subscription.objects.get()
    assert CreditEntry.objects.aggregate(sum=Sum("amount"))["sum"] == account.credits_left
    assert CreditEntry.objects.order_by("-pk")[0].balance_after == account.credits_left
    paid = Message.objects.filter(receipt__credits=1).count()
    assert account.credits_used == paid > 200
    assert CreditEntry.objects.dates("created_at", "day").count() > 20
    assert not CreditEntry.objects.filter(balance_after__lt=0).exists()


def it_is_made_once():
    before = [model.objects.count() for model in (Conversation, Event, CreditEntry, User, Job)]
    seed()
    assert [
        model.objects.count() for model in (Conversation, Event, CreditEntry, User, Job)
    ] == before


def messages_stand_in_their_order():
    month = Conversation.objects.filter(created_at__lt=timezone.now() - DAY)
    for chat in month.prefetch_related("messages"):
        messages = sorted(chat.messages.all(), key=lambda row: row.seq)
        assert [row.seq for row in messages] == list(range(1, chat.last_seq + 1))
        assert [row.created_at for row in messages] == sorted(row.created_at for row in messages)
        counted = [row for row in messages if not row.is_note]
        assert chat.message_count == len(counted)
        assert chat.last_message_id == (counted[-1].pk if counted else None)


def test_the_month_agrees_with_itself_and_with_today_and_is_made_once(demo):
    messages_stand_in_their_order()
    the_bot_was_quick_all_month()
    whoever_the_bot_cannot_help_waits_for_an_agent()
    agents_find_saved_replies()
    the_ledger_adds_up_to_the_balance()
    it_is_made_once()
    # The start of the platform has trained the documents before any worker runs.
    assert not Document.objects.filter(status__in=["queued", "training"]).exists()
    todays_rows_are_made_by_the_services()
    a_replay_gains_what_was_answered_today_and_loses_nothing()
    the_shops_own_question_is_answered_rightly(demo)


def test_there_is_no_demo_on_a_real_site(settings, tmp_path):
    settings.DEVELOPMENT = False
    seed()
    assert not User.objects.exists()
    with pytest.raises(ServerError, match="There is no demo"):
        demo_traffic.read_shop({"DATA_DIR": str(tmp_path)})


@pytest.fixture
def shop(demo, web_port):
    """The demo's shop, with a worker beside it."""
    run_jobs()
    for login in json.loads((demo / "keys" / "demo_logins").read_text()):
        # As the web process hashes passwords.
        encoded = make_password(login["password"], hasher=Argon2())
        User.objects.filter(email=login["email"]).update(password=encoded)
    is_over = threading.Event()

    def work():
        while not is_over.wait(0.05):
            run_jobs()
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    made = demo_traffic.read_shop({"DATA_DIR": str(demo), "PORT": str(web_port)})
    made.pace = 1000
    yield made
    is_over.set()
    worker.join(10)


def test_a_customer_is_answered_and_another_is_handed_over_to_an_agent(shop, capsys, monkeypatch):
    # What a customer writes and whether an agent comes is left to chance; not here.
    lines = demo_traffic.SCRIPT["lines"]
    monkeypatch.setitem(lines, "unknown", lines["person"])
    monkeypatch.setattr(shop.chance, "random", lambda: 1.0)
    for number in (0, 2):
        demo_traffic.visit(shop, number)
    output = capsys.readouterr().out
    assert "the bot" in output
    assert "waits for a person" in output
    assert "takes the chat of" in output
    assert Conversation.objects.filter(channel="web", status="ended", ended_by="agent").exists()
    assert Event.objects.filter(type="conversation.ended").count() == 1
