"""What has failed stands on one page of the site, in words, and is tried again there."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from bots.models import Document, WebUrl
from bots.testing import make_bot
from channels_app.models import ChannelConnection, InboundCallback, InboundItem, OutboundSend
from chatplatform.jobs import enqueue
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message
from chats.testing import make_chat, put_message
from identity.testing import make_person, signed_in
from reports.services import failed_work
from webhooks.models import Delivery, DeliveryAttempt, WebhookConfig
from webhooks.services import announce

PATH = reverse("failures")


def words(page):
    return re.sub(r"\s+", " ", page.content.decode())


def groups(browser):
    return {name: found for name, _, _, found in browser.get(PATH).context["found"]}


def bell(page):
    """The number in the top bar, which leads to the page of failures."""
    (found,) = re.findall(
        rf'href="{PATH}" class="bell" aria-label="Failures(?:: (\d+))?"', words(page)
    )
    return int(found or 0)


def try_again(browser, kind, group):
    return browser.post(PATH, {"kind": kind, "value": group.values}, follow=True)


def failed_document(bot, name, error="The file is empty."):
    return Document.objects.create(
        client=bot.client, bot=bot, file_name=name, mime_type="text/plain", size_bytes=1,
        sha256=name * 64, status="failed", error_code="empty", error_message=error,
    )  # fmt: skip


@pytest.fixture
def failed(bot, endpoint):
    for name in "ab":
        failed_document(bot, name)
    own = {"client": bot.client}
    WebUrl.objects.create(**own, bot=bot, url="http://x.example/", status="failed",
                          error_code="robots")  # fmt: skip
    ChannelConnection.objects.create(
        **own, bot=bot, channel="socialnet", account_name="Shop page", status="expired"
    )
    announce(bot.client_id, "message.created", {"a": 1})
    Delivery.objects.update(state="gave_up", due_at=None)
    Job.objects.create(
        name="bots.train_document", client_id=bot.client_id, state="dead", last_error="Disk full"
    )


def test_failures_stand_in_words_and_grouped_by_cause(failed, ann, staff):
    browser = signed_in(ann.user)
    page = words(browser.get(PATH))
    assert "2 ×" in page
    for part in (
        "The file is empty.",
        "Robots",
        "Shop page: the provider no longer gives us access",
    ):
        assert part in page
    assert "https://receiver.example/hook" in page
    assert "Disk full" not in page
    page = words(staff.get(PATH))
    assert f"{failed_work.job_label('bots.train_document')}: Disk full" in page
    assert f"({ann.client})" in page


@pytest.mark.full
def test_a_group_is_tried_again_and_the_others_stay(failed, bot, ann):
    other = failed_document(bot, "c", error="The file is too long.")
    browser = signed_in(ann.user)
    before = Job.objects.count()
    documents = groups(browser)["documents"]
    assert [group.count for group in documents] == [2, 1]
    page = words(try_again(browser, "documents", documents[0]))
    assert "2 in progress" in page
    assert 'hx-trigger="every 2s"' in page
    assert Document.objects.filter(status="queued").count() == 2
    other.refresh_from_db()
    assert other.status == "failed"
    assert Job.objects.count() == before + 2
    try_again(browser, "addresses", groups(browser)["addresses"][0])
    assert WebUrl.objects.get().status == "queued"
    try_again(browser, "deliveries", groups(browser)["deliveries"][0])
    assert Delivery.objects.get().state == "pending"
    assert set(groups(browser)) == {"documents", "channels"}


def test_dead_jobs_are_requeued_by_staff_alone(failed, ann, staff):
    group = groups(staff)["jobs"][0]
    assert try_again(signed_in(ann.user), "jobs", group).status_code == 404
    assert Job.objects.filter(state="dead").count() == 1
    assert "1 in progress" in words(try_again(staff, "jobs", group))
    assert not Job.objects.filter(state="dead").exists()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_dead_job_is_understood_mended_and_requeued(ben, settings, staff):
    ben.user.set_unusable_password()
    ben.user.save()
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    with transaction.atomic():
        enqueue("identity.send_invitation", client_id=ben.client.pk, user_id=ben.user.pk)
    run_jobs()
    page = words(staff.get(PATH))
    assert (
        f"{failed_work.job_label('identity.send_invitation')}: No mail is sent: EMAIL_URL" in page
    )
    (group,) = groups(staff)["jobs"]
    row = Job.objects.get()
    assert reverse("admin:chatplatform_job_change", args=[row.pk]) in words(staff.get(group.link))
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert "1 in progress" in words(try_again(staff, "jobs", group))
    run_jobs()
    assert "1 done" in words(staff.get(PATH))
    assert [sent.to for sent in mail.outbox] == [[ben.user.email]]
    assert "No failures." in words(staff.get(PATH))


def test_agents_and_viewers_read_what_they_may_and_try_nothing(failed, ann):
    for role in ("agent", "viewer"):
        browser = signed_in(make_person(ann.client, role, "Tim").user)
        found = groups(browser)
        assert set(found) == {"documents", "addresses", "channels"}
        assert "Try again" not in words(browser.get(PATH))
        assert try_again(browser, "documents", found["documents"][0]).status_code == 404
    assert Document.objects.filter(status="failed").count() == 2


def test_another_clients_failures_are_not_seen_and_not_tried(failed, ann, cara):
    failed_document(make_bot(cara.client), "d", error="The file is empty.")
    mine, theirs = signed_in(ann.user), signed_in(cara.user)
    group = groups(mine)["documents"][0]
    assert group.count == 2
    try_again(theirs, "documents", group)
    assert Document.objects.filter(status="queued").count() == 0
    assert set(groups(theirs)) == {"documents"}
    assert mine.post(PATH, {"kind": "documents", "value": ["x"]}).status_code == 404
    assert mine.post(PATH, {"kind": "channels"}).status_code == 404


@pytest.mark.full
def test_what_waits_of_a_channel_is_shown_to_its_client_alone(bot, ann, cara):
    page = ChannelConnection.objects.create(
        client=bot.client, bot=bot, channel="socialnet", account_name="Shop page",
        status="connected",
    )  # fmt: skip
    callback = InboundCallback.objects.create(channel="socialnet", body=b"")
    for position in range(3):
        InboundItem.objects.create(
            callback=callback, position=position, channel="socialnet", account_id="1",
            key=str(position), outcome="waiting" if position else "processed",
            connection_id=page.pk,
        )  # fmt: skip
    assert "inbound" not in groups(signed_in(ann.user)), "what came just now is no failure"
    InboundCallback.objects.update(received_at="2026-11-01T10:20:00Z")
    make_chat(bot)
    assert "1 × Channels with unprocessed messages" in words(
        signed_in(ann.user).get(reverse("admin:index"))
    )
    page = words(signed_in(ann.user).get(PATH))
    assert "Shop page: 2 messages and other events" in page
    assert "2026-11-01T" in page.split("Shop page")[1]
    assert "inbound" not in groups(signed_in(cara.user))


@pytest.mark.full
def test_a_send_in_doubt_stands_there_once_its_message_counts_as_failed(bot, ann):
    account = ChannelConnection.objects.create(
        client=bot.client, bot=bot, channel="socialnet", account_name="Shop page",
        status="connected",
    )  # fmt: skip
    message = put_message(make_chat(bot, channel="socialnet"), "agent", status="pending")
    send = OutboundSend.objects.create(
        client=bot.client, message=message, connection=account, part=0, is_last=True,
        recipient_id="1", state="uncertain", error="Timeout",
    )  # fmt: skip
    browser = signed_in(ann.user)
    assert not groups(browser), "its echo may come yet"
    Message.objects.update(status="failed")
    (group,) = groups(browser)["sends"]
    assert "may not have arrived" in group.text
    assert bell(browser.get(PATH)) == 1
    assert str(send.pk) in words(browser.get(group.link))
    OutboundSend.objects.update(state="sent")
    assert not groups(browser)


def test_nothing_has_failed(ann):
    assert "No failures." in words(signed_in(ann.user).get(PATH))


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "result", "told"),
    [
        ("documents", {"status": "trained"}, "2 done"),
        ("documents", {"status": "failed", "error_message": "Still empty."},
         "2 failed again: Still empty."),
        ("addresses", {"status": "failed", "error_code": "timeout"}, "1 failed again: Timeout"),
        ("deliveries", {"state": "succeeded"}, "1 done"),
        ("deliveries", {"state": "gave_up"}, "1 failed again: Bad status (500)"),
        ("deliveries", {"state": "failed"},
         "1 failed again: Bad status (500); will be retried automatically"),
        ("jobs", {"state": "done"}, "1 done"),
        ("jobs", {"state": "dead", "last_error": "Still full"}, "1 failed again: Still full"),
        ("jobs", {"state": "queued", "attempts": 2}, "1 in progress: so far: Disk full"),
    ],
)  # fmt: skip
def test_what_came_of_a_try_is_told(failed, kind, result, told, staff):
    group = groups(staff)[kind][0]
    assert "in progress" in words(try_again(staff, kind, group))
    failed_work.KINDS[kind].model._base_manager.update(**result)
    for delivery in Delivery.objects.all():
        DeliveryAttempt.objects.create(
            client_id=delivery.client_id, delivery=delivery, number=1, error="bad_status",
            http_status=500,
        )  # fmt: skip
    page = words(staff.get(PATH))
    assert told in page
    assert ("every 2s" in page) == ("in progress" in told)
    assert "No failures." not in page
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert "Retried" not in words(staff.get(PATH))


@pytest.mark.full
def test_the_bell_is_counted_to_a_hundred_in_one_statement_and_not_on_every_page(bot, ann):
    Document.objects.bulk_create(
        Document(
            client=bot.client, bot=bot, file_name="a", mime_type="text/plain", size_bytes=1,
            sha256=f"{number:064}", status="failed",
        )
        for number in range(120)
    )  # fmt: skip
    browser, path = signed_in(ann.user), reverse("admin:bots_document_changelist")
    with CaptureQueriesContext(connection) as seen:
        page = words(browser.get(path))
    assert 'aria-label="Failures: 99+"' in page
    (counted,) = (query["sql"] for query in seen if "webhooks_delivery" in query["sql"])
    assert "COUNT(" not in counted
    kinds = len(failed_work.KINDS) - 1  # all but those of staff
    assert counted.count("LIMIT 100") == kinds + 1
    with CaptureQueriesContext(connection) as seen:
        assert 'aria-label="Failures: 99+"' in words(browser.get(path))
    assert not [query for query in seen if "webhooks_delivery" in query["sql"]]
    Document.objects.all().delete()
    assert bell(browser.get(PATH)) == bell(browser.get(path)) == 0


@pytest.mark.full
def test_home_and_the_failures_agree(failed, bot, endpoint, ann):
    """Whatever has failed is on both, also an endpoint that fails and has given up nothing yet."""
    browser, home = signed_in(ann.user), reverse("admin:index")
    rows: dict[str, Any] = {
        "documents": Document.objects.all(), "addresses": WebUrl.objects.all(),
        "deliveries": Delivery.objects.all(), "channels": ChannelConnection.objects.all(),
    }  # fmt: skip
    assert set(groups(browser)) == set(rows)
    shown = sum(group.count for found in groups(browser).values() for group in found)
    assert bell(browser.get(home)) == bell(browser.get(PATH)) == shown
    make_chat(bot)
    for kind, found in rows.items():
        shown = words(browser.get(home))
        assert "home-calm" not in shown, kind
        found.delete()
    address = WebUrl.objects.create(client=bot.client, bot=bot, url="http://y.example/")
    Document.objects.filter(pk=failed_document(bot, "p").pk).update(web_url=address)
    assert set(groups(browser)) == {"documents"}, "a page that could not be read"
    Document.objects.all().delete()
    for is_active in (True, False):
        WebhookConfig.objects.update(
            failing_since=timezone.now(), is_active=is_active, disabled_reason="failing"
        )
        assert set(groups(browser)) == {"endpoints"}
        assert "1 webhook is failing or off" in words(browser.get(home))
    WebhookConfig.objects.update(disabled_reason="by_hand")
    assert "No failures." in words(browser.get(PATH))
    assert "home-calm" in words(browser.get(home))
    assert bell(browser.get(home)) == 0
