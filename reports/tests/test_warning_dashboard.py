"""Getwarningdashboardrouter: what needs somebody now, and what soon will."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from bots.models import Document
from channels_app.models import ChannelConnection
from chats.models import Feedback, Message
from chats.testing import make_chat
from identity.models import AuditEvent, ClientConfig, CreditEntry, Subscription
from identity.testing import signed_in
from webhooks.models import WebhookConfig

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/report/warning-dashboard"


def ago(**time: float) -> Any:
    return timezone.now() - timedelta(**time)


def read(person) -> dict[str, Any]:
    reply = person.get(PATH)
    assert reply.status_code == 200, reply.content
    return {row["code"]: row for row in reply.json()["warnings"]}


def waiting(bot, minutes: float, **fields):
    values = {"assign_type": "queue", "waiting_since": ago(minutes=minutes)} | fields
    return make_chat(bot, **values)


def connect(bot, channel: str, **fields):
    own = {"client": bot.client, "bot": bot, "channel": channel, "account_name": channel}
    return ChannelConnection.objects.create(**own, account_id=channel, **fields)


def test_where_all_is_well_nothing_is_said(ann, bot):
    waiting(bot, 1)
    waiting(bot, 60, is_preview=True)
    waiting(bot, 60, status="ended")
    make_chat(bot, sentiment="positive")
    connect(bot, "photoapp", status="connected", token_expires_at=ago(days=-9))
    connect(bot, "chatapp", status="disconnected")
    WebhookConfig.objects.create(
        client=bot.client, url="https://x.example/", is_active=False, disabled_reason="by_hand"
    )
    assert read(ann) == {}


def test_a_chat_is_told_before_the_target_is_missed_and_after(ann, bot):
    ClientConfig.objects.filter(client=bot.client).update(first_response_target_seconds=600)
    late, soon = waiting(bot, 11), waiting(bot, 6)
    waiting(bot, 4)
    found = read(ann)
    assert list(found) == ["chats_unanswered", "chats_unanswered_soon"]
    for chat, code in ((late, "chats_unanswered"), (soon, "chats_unanswered_soon")):
        row = found[code]
        assert row["count"] == 1
        assert row["samples"] == [{"id": str(chat.pk), "label": chat.chat_code}]
    assert found["chats_unanswered"]["severity"] == "critical"
    since = found["chats_unanswered"]["since"]
    assert since[:19] == late.waiting_since.isoformat()[:19]


def test_time_outside_of_business_hours_does_not_count(ann, bot):
    bot.business_hours = [{"weekday": (timezone.now().weekday() + 3) % 7,
                           "opens": "09:00", "closes": "10:00"}]  # fmt: skip
    bot.save()
    waiting(bot, 50)
    assert read(ann) == {}


def test_a_queue_grows_if_more_come_than_are_taken(ann, ben, bot):
    for _ in range(6):
        waiting(bot, 1, handed_off_at=ago(minutes=1))
    assert read(ann)["queue_growing"]["count"] == 6
    taken = {"assign_type": "agent", "assignee": ben.user, "assigned_at": ago(minutes=5)}
    for _ in range(6):
        make_chat(bot, handed_off_at=ago(hours=2), **taken)
    assert "queue_growing" not in read(ann)


def test_dissatisfied_customers_are_told_while_it_is_new(ann, bot):
    make_chat(bot, sentiment="negative", status="ended")
    chat = make_chat(bot, sentiment="negative")
    own = {"client": bot.client, "conversation": chat}
    Feedback.objects.create(**own, rating=2)
    Message.objects.create(**own, seq=2, sender_type="bot", content=[], created_at=ago(days=9))
    old = Feedback.objects.create(client=bot.client, conversation=make_chat(bot), rating=1)
    Feedback.objects.filter(pk=old.pk).update(created_at=ago(days=2))
    Message.objects.create(**own, seq=1, sender_type="bot", content=[],
                           receipt={"engine_error": "timed out"})  # fmt: skip
    found = read(ann)
    counts = {code: row["count"] for code, row in found.items()}
    assert counts == {"model_errors": 1, "negative_sentiment": 1, "low_ratings": 1}
    assert found["model_errors"]["since"][:13] == timezone.now().isoformat()[:13]
    assert found["low_ratings"]["samples"][0]["label"] == chat.chat_code


def test_a_token_is_told_if_nobody_renews_it_in_time(ann, bot):
    connect(bot, "socialnet", status="connected", token_expires_at=ago(days=-6))
    connect(bot, "photoapp", status="connected", token_expires_at=ago(days=-6))
    connect(bot, "localapp", status="connected", token_expires_at=ago(hours=-2))
    connect(bot, "chatapp", status="expired")
    found = read(ann)
    labels = [row["label"] for row in found["channel_token_expiring"]["samples"]]
    assert labels == ["localapp", "socialnet"]
    assert found["channel_token_expiring"]["due_at"]
    assert found["channel_broken"]["samples"][0]["label"] == "chatapp"


def spend(client, credits: int) -> None:
    CreditEntry.objects.create(client=client, kind="reserve", amount=-credits, balance_after=0,
                               reference="reply:x", created_at=ago(hours=1))  # fmt: skip


def test_credits_are_told_before_they_end(ann, client_a):
    rows = Subscription.objects.filter(client=client_a)
    rows.update(credits_left=400, period_end=ago(days=-30))
    assert read(ann) == {}
    spend(client_a, 10)
    assert read(ann) == {}
    CreditEntry.objects.filter(reference="reply:x").delete()
    spend(client_a, 100)
    row = read(ann)["credits_end_soon"]
    assert row["count"] == 400
    assert row["due_at"][:13] == (timezone.now() + timedelta(days=28)).isoformat()[:13]
    rows.update(period_end=ago(days=-3))
    assert read(ann) == {}
    rows.update(credits_left=0)
    assert read(ann)["credits_used_up"]["severity"] == "critical"
    rows.update(plan="unlimited")
    assert read(ann) == {}
    rows.update(credits_left=100, plan="standard", period_end=None)
    CreditEntry.objects.filter(reference="reply:x").delete()
    assert list(read(ann)) == ["credits_low"]


@pytest.mark.full
def test_all_pages_tell_the_same_end_of_the_credits(ann, bot, client_a):
    make_chat(bot)
    rows = Subscription.objects.filter(client=client_a)
    rows.update(
        credits_left=10_400, credits_used=600, credits_included=1000, plan="standard",
        period_end=ago(days=-900),
    )  # fmt: skip
    spend(client_a, 100)
    site = signed_in(ann.user)
    day = date_format(
        timezone.localdate(timezone.now() + timedelta(days=728), ZoneInfo(client_a.timezone)),
        "j M Y",
    )
    assert day in read(ann)["credits_end_soon"]["title"]
    assert day in site.get(reverse("admin:index")).context["figures"][-1].note
    plan = site.get(reverse("admin:settings_plan"))
    assert date_format(plan.context["ends_at"], "j M Y") == day
    assert "data-more" in plan.content.decode()
    assert plan.context["more"] == "10,000"
    rows.update(credits_left=400)
    assert "data-more" not in site.get(reverse("admin:settings_plan")).content.decode()


def failures(bot) -> None:
    Document.objects.create(client=bot.client, bot=bot, file_name="a.pdf", mime_type="x",
                            size_bytes=1, sha256="0" * 64, status="failed")  # fmt: skip
    WebhookConfig.objects.create(
        client=bot.client, url="https://x.example/", failing_since=ago(hours=3)
    )


def test_only_admins_see_endpoints(ann, ben, bot):
    failures(bot)
    assert set(read(ann)) == {"webhook_failing", "training_failed"}
    assert set(read(ben)) == {"training_failed"}


@pytest.mark.full
def test_every_link_opens_its_rows(ann, bot):
    failures(bot)
    waiting(bot, 60, sentiment="negative")
    waiting(bot, 4)
    chat = make_chat(bot)
    Feedback.objects.create(client=bot.client, conversation=chat, rating=1)
    Message.objects.create(client=bot.client, conversation=chat, seq=1, sender_type="bot",
                           content=[], receipt={"engine_error": "timed out"})  # fmt: skip
    connect(bot, "chatapp", status="error")
    found = read(ann)
    assert len(found) == 8
    browser = signed_in(ann.user)
    for row in found.values():
        page = browser.get(row["link"])
        assert page.status_code == 200, row
        shown = {str(pk) for pk in page.context["cl"].queryset.values_list("pk", flat=True)}
        assert {sample["id"] for sample in row["samples"]} <= shown, row


def test_another_clients_troubles_are_not_told(cara, bot):
    failures(bot)
    waiting(bot, 60, sentiment="negative")
    assert read(cara) == {}


def mute(person, code: str, until: Any):
    body = {"code": code, "until": until.isoformat() if until else None}
    return person.put(f"{PATH}/mute", body)


@pytest.mark.full
def test_a_muted_warning_is_listed_and_not_shown_on_the_home(ann, ben, cara, bot, time_machine):
    failures(bot)
    make_chat(bot, sentiment="negative")
    until = ago(minutes=-10)
    for owner in (ann, cara):
        assert mute(owner, "negative_sentiment", until).status_code == 200
    found = read(ben)
    assert list(found) == ["training_failed", "negative_sentiment"]
    row = found["negative_sentiment"]
    assert (row["count"], row["muted_by"]) == (1, "Ann")
    assert row["muted_until"][:19] == until.isoformat()[:19]
    assert found["training_failed"]["muted_until"] is None
    browser = signed_in(ann.user)
    words = [hint.text for hint in browser.get("/admin/").context["warnings"]]
    assert words == ["1 webhook is failing or off", "1 document couldn't be read"]
    assert AuditEvent.objects.filter(client=ann.client, action="warning.muted").count() == 1
    time_machine.move_to(until + timedelta(minutes=1))
    assert read(ben)["negative_sentiment"]["muted_until"] is None


def test_a_mute_is_ended_and_refused(ann, ben, bot):
    failures(bot)
    assert mute(ann, "training_failed", ago(days=-2)).status_code == 200
    assert mute(ann, "training_failed", None).status_code == 200
    assert read(ann)["training_failed"]["muted_until"] is None
    for until in (ago(minutes=1), ago(days=-31)):
        assert mute(ann, "training_failed", until).status_code == 422
    assert mute(ann, "joy", ago(days=-1)).status_code == 422
    assert mute(ben, "training_failed", ago(days=-1)).status_code == 403
    assert read(ann)["training_failed"]["muted_until"] is None
