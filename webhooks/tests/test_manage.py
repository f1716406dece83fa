"""An endpoint is added, tested, understood, reenabled and deleted in the site."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.templatetags.action_words import ACTIONS
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from identity.models import AuditEvent
from identity.testing import enter_site, signed_in
from webhooks import catalogue, forms
from webhooks.models import Delivery, DeliveryAttempt, WebhookConfig
from webhooks.services import announce

NEW = reverse("admin:webhooks_webhookconfig_new_endpoint")
EVENTS = {"event_types": ["message.created"]}


@pytest.fixture
def path(endpoint):
    return reverse("admin:webhooks_webhookconfig_manage", args=[endpoint.pk])


def text(page):
    return re.sub(r"\s+", " ", page.content.decode())


def switched_off(url="https://8.8.8.8/hook"):
    ago = timezone.now() - timedelta(days=6)
    WebhookConfig.objects.update(
        url=url,
        is_active=False,
        disabled_reason="failing",
        disabled_at=timezone.now(),
        failing_since=ago,
    )


def test_an_endpoint_is_added_and_its_secret_is_shown_once(site):
    page = site.post(NEW, {"url": "https://8.8.8.8/hook", **EVENTS})
    row = WebhookConfig.objects.get()
    assert row.event_types == ["message.created"]
    assert row.secret in text(page)
    manage = reverse("admin:webhooks_webhookconfig_manage", args=[row.pk])
    assert manage in text(page)
    assert row.secret not in text(site.get(manage))
    assert manage in text(site.get(reverse("admin:webhooks_webhookconfig_changelist")))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://8.8.8.8/hook", "Use an https URL."),
        ("https://10.0.0.1/hook", "private network"),
        ("nonsense", "Enter a full URL"),
    ],
)
def test_a_wrong_address_is_refused_beside_its_field(site, url, words):
    page = text(site.post(NEW, {"url": url}))
    assert words in page
    assert 'class="errors' in page
    assert not WebhookConfig.objects.exists()


def test_a_test_is_sent_and_its_result_is_said_in_words(site, path):
    page = text(site.post(path, {"form": "test"}, follow=True))
    row = Delivery.objects.get()
    assert (row.is_test, row.state, row.event.type) == (True, "pending", "webhook.test")
    assert row.due_at
    assert row.due_at <= timezone.now()
    assert "Not tried yet" in page
    assert "every 2s" in page
    assert site.post(path, {"form": "test"}).status_code == 200
    assert Delivery.objects.get() == row
    Delivery.objects.update(state="gave_up", due_at=None, attempts=1)
    DeliveryAttempt.objects.create(
        client=row.client, delivery=row, number=1, error="bad_status", http_status=500,
        response_excerpt="<b>Oops</b>",
    )  # fmt: skip
    page = text(site.get(path))
    assert "Your server rejected the request (500)" in page
    assert "&lt;b&gt;Oops" in page
    assert "every 2s" not in page


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_that_was_switched_off_is_reenabled_and_gets_what_waited(
    site, listening, receiver, deliver, client_a
):
    path = reverse("admin:webhooks_webhookconfig_manage", args=[listening.pk])
    for number in range(3):
        announce(client_a.pk, "message.created", {"a": number})
    Delivery.objects.update(state="gave_up", due_at=None)
    switched_off(url=receiver.url)
    announce(client_a.pk, "message.created", {"a": 3})
    assert Delivery.objects.count() == 3
    page = text(site.get(path))
    assert 'data-state="off"' in page
    assert "4 events are waiting" in page
    deliver()
    assert receiver.got == []
    assert 'data-state="on"' in text(site.post(path, {"form": "reenable"}, follow=True))
    run_jobs()
    deliver()
    row = WebhookConfig.objects.get()
    assert (row.is_active, row.failing_since) == (True, None)
    got = receiver.verify(row.secret)
    assert sorted(event["data"]["a"] for event in got) == [0, 1, 2, 3]
    page = text(site.get(f"{path}?show=all"))
    assert page.count('data-state="succeeded"') == 4
    assert AuditEvent.objects.filter(action="webhook.updated").count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_that_fails_says_why_whatever_came_since(
    site, listening, receiver, deliver, client_a
):
    path = reverse("admin:webhooks_webhookconfig_manage", args=[listening.pk])
    assert 'id="failure"' not in text(site.get(path))
    receiver.script = "status:503"
    announce(client_a.pk, "message.created", {"a": 0})
    deliver()
    for number in range(20):
        announce(client_a.pk, "message.created", {"a": number})
    page = text(site.get(path))
    assert 'data-state="failing"' in page
    assert page.count("data-delivery=") == 1, "what failed comes first"
    assert text(site.get(f"{path}?show=all")).count("Not tried yet") == 20
    assert "Your server rejected the request (503)." in page.split('id="failure"')[1]
    assert '<pre class="whitespace-pre-wrap break-words">no</pre>' in page
    # The last failure of what is not tried again, as far as the page lists it.
    Delivery.objects.exclude(attempts=1).delete()
    Delivery.objects.update(state="gave_up", due_at=None)
    attempt = DeliveryAttempt.objects.get()
    later = {"number": 2, "error": "endpoint_disabled"}
    DeliveryAttempt.objects.create(client=client_a, delivery=attempt.delivery, **later)
    switched_off(url=receiver.url)
    assert (
        "Your server rejected the request (503)." in text(site.get(path)).split('id="failure"')[1]
    )


@pytest.mark.django_db(transaction=True)
def test_a_range_is_counted_before_it_is_sent_again(site, path, client_a):
    announce(client_a.pk, "message.created", {"a": 1})
    Delivery.objects.update(state="gave_up", due_at=None)
    form = {"state": "gave_up", "hours": "24"}
    page = text(site.post(path, {**form, "form": "count"}))
    assert 'data-count="1"' in page
    assert not Job.objects.filter(name="webhooks.replay_range").exists()
    site.post(path, {**form, "form": "replay"})
    run_jobs()
    assert Delivery.objects.get().state == "pending"


@pytest.mark.django_db(transaction=True)
def test_what_did_not_arrive_is_resent_by_default(site, path, client_a):
    for state in ("failed", "gave_up", "succeeded", "off"):
        event = announce(client_a.pk, "message.created", {"a": state})
        row = Delivery.objects.get(event_id=event.pk)
        if state == "off":
            row.delete()
        else:
            due_at = row.due_at if state == "failed" else None
            Delivery.objects.filter(pk=row.pk).update(state=state, due_at=due_at)
    form = {field.name: field.initial for field in site.get(path).context["replay"]}
    form["state"] = site.get(path).context["replay"]["state"].field.choices[0][0]
    assert 'data-count="3"' in text(site.post(path, {**form, "form": "count"}))
    assert 'data-resent="3"' in text(site.post(path, {**form, "form": "replay"}, follow=True))
    run_jobs()
    assert Delivery.objects.filter(state="pending").count() == 3
    assert Delivery.objects.filter(state="succeeded").count() == 1


def test_the_page_of_the_new_secret_sends_the_test(site):
    page = text(site.post(NEW, {"url": "https://8.8.8.8/hook", **EVENTS}))
    manage = reverse("admin:webhooks_webhookconfig_manage", args=[WebhookConfig.objects.get().pk])
    assert 'value="test"' in page.split(f'action="{manage}"')[1]
    shown = text(site.post(manage, {"form": "test"}, follow=True))
    assert f'data-delivery="{Delivery.objects.get(is_test=True).pk}"' in shown


def test_settings_are_changed_and_it_stays_off(site, path):
    switched_off()
    form = {"form": "settings", "url": "https://8.8.8.8/new", "description": "Shop", **EVENTS}
    assert "Saved." in text(site.post(path, form, follow=True))
    row = WebhookConfig.objects.get()
    assert (row.url, row.description, row.event_types) == (
        "https://8.8.8.8/new", "Shop", ["message.created"],
    )  # fmt: skip
    assert (row.is_active, row.disabled_reason) == (False, "failing")
    assert "https://10.0.0.1/" in text(site.post(path, {**form, "url": "https://10.0.0.1/"}))
    assert WebhookConfig.objects.get().url == "https://8.8.8.8/new"


def test_it_is_switched_off_and_deleted(site, path):
    WebhookConfig.objects.update(url="https://8.8.8.8/hook")
    site.post(path, {"form": "off"})
    assert WebhookConfig.objects.get().disabled_reason == "by_hand"
    assert site.post(path, {"form": "delete"}, follow=True).status_code == 200
    assert WebhookConfig.objects.get().deleted_at
    assert site.get(path).status_code == 404


@pytest.mark.parametrize(
    "form", ["test", "off", "delete", "reenable", "settings", "replay", "roll", "try"]
)
def test_others_do_nothing_to_it(ben, cara, path, form):
    for person, status in ((ben, 403), (cara, 404)):
        browser = signed_in(person.user)
        assert browser.get(path).status_code == status
        body = {"form": form, "url": "https://8.8.8.8/", "state": "all", "hours": "24"}
        assert browser.post(path, body).status_code == status
    row = WebhookConfig.objects.get()
    assert (row.is_active, row.deleted_at, row.previous_secret) == (True, None, "")
    assert not Delivery.objects.exists()
    assert not Job.objects.exists()


def test_every_event_has_words_and_a_group():
    named = [name for _, names in forms.EVENT_GROUPS for name in names]
    assert sorted(named) == sorted(catalogue.EVENTS)
    assert catalogue.EVENTS.keys() <= ACTIONS.keys()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_delivery_is_tried_again_and_the_page_tells_what_came_of_it(
    site, listening, receiver, deliver, client_a
):
    path = reverse("admin:webhooks_webhookconfig_manage", args=[listening.pk])
    announce(client_a.pk, "message.created", {"a": 1})
    Delivery.objects.update(state="gave_up", due_at=None, attempts=10)
    row = Delivery.objects.get()
    for script, outcome in (("status:500", "failed"), ("fine", "succeeded")):
        WebhookConfig.objects.update(paused_until=None)
        page = site.post(path, {"form": "try", "delivery": row.pk}, follow=True)
        assert 'data-outcome="pending"' in text(page)
        receiver.script = script
        deliver()
        assert f'data-outcome="{outcome}"' in text(site.get(f"{path}?tried={row.pk}"))
    assert len(receiver.got) == 2


def test_an_endpoint_that_is_off_tries_nothing(site, path, client_a):
    announce(client_a.pk, "message.created", {"a": 1})
    Delivery.objects.update(state="gave_up", due_at=None)
    WebhookConfig.objects.update(is_active=False)
    site.post(path, {"form": "try", "delivery": Delivery.objects.get().pk})
    assert Delivery.objects.get().state == "gave_up"


@pytest.mark.full
def test_a_failing_endpoint_is_on_home_and_among_the_failures(site, path):
    home, failures = reverse("admin:index"), reverse("failures")
    assert path not in text(site.get(failures))
    WebhookConfig.objects.update(failing_since=timezone.now())
    assert path in text(site.get(failures))
    listed = site.get(reverse("admin:webhooks_webhookconfig_changelist"))
    assert "Failing" in text(listed)
    assert "1 webhook" in text(site.get(home))


def test_in_the_browser_yesterdays_deliveries_are_found_and_sent_again(
    screen, ann, client_a, endpoint
):
    announce(client_a.pk, "message.created", {"a": 1})
    yesterday = timezone.now() - timedelta(days=1)
    Delivery.objects.update(state="gave_up", due_at=None, attempts=10, created_at=yesterday)
    row = Delivery.objects.get()
    DeliveryAttempt.objects.create(
        client=client_a, delivery=row, number=10, error="bad_status", http_status=500
    )
    WebhookConfig.objects.update(failing_since=yesterday, consecutive_failures=1)
    enter_site(screen, ann.user)
    screen.goto(reverse("admin:webhooks_webhookconfig_changelist"))
    screen.get_by_role("link", name=endpoint.url).click()
    assert violations(screen) == []
    screen.get_by_label("Message added").check()
    screen.locator("#settings").get_by_role("button", name="Save").click()
    screen.get_by_role("status").get_by_text("Saved.").wait_for()
    assert WebhookConfig.objects.get().event_types == ["message.created"]
    screen.locator(f'[data-delivery="{row.pk}"]').get_by_role("button", name="Try again").click()
    screen.locator("[data-outcome=pending]").wait_for()
    screen.locator("#state[data-state=failing]").wait_for()
    Delivery.objects.update(state="succeeded", due_at=None)
    WebhookConfig.objects.update(failing_since=None, consecutive_failures=0)
    screen.locator("[data-outcome=succeeded]").wait_for()
    # The endpoint's state follows without a reload.
    screen.locator("#state[data-state=on]").wait_for()
    assert violations(screen) == []


def test_a_day_inside_a_sentence_begins_in_lower_case(site, path):
    WebhookConfig.objects.update(failing_since=timezone.now() - timedelta(seconds=1))
    state = text(site.get(path)).split('id="state"')[1].split("</time>")[0]
    words = state.rpartition(">")[2]
    assert words
    assert words == words.lower()
