"""Plans, ledger and configs in the admin site."""

import json

import pytest
from django.apps import apps
from django.urls import reverse
from django.utils import timezone

from identity.admin import SubscriptionAdmin
from identity.models import AuditEvent, Subscription, User
from identity.services import credits


@pytest.mark.parametrize("name", ["subscription", "creditentry", "clientconfig"])
def test_lists_and_rows_open(staff, client_a, name):
    row = apps.get_model("identity", name)._default_manager.get()
    listed = staff.get(reverse(f"admin:identity_{name}_changelist"), {"q": "e"})
    assert listed.status_code == 200
    shown = staff.get(reverse(f"admin:identity_{name}_change", args=[row.pk]))
    assert shown.status_code == 200
    assert staff.get(reverse(f"admin:identity_{name}_delete", args=[row.pk])).status_code == 403


def test_the_balance_chart_has_a_point_a_day(staff, client_a):
    account = Subscription.objects.get()
    credits.top_up(client_a.pk, amount=234, reference="t", by=None)
    page = reverse("admin:identity_subscription_change", args=[account.pk])
    shown = staff.get(page)
    assert b'data-type="line"' in shown.content
    assert "1234]" in shown.context["balance_chart"]
    User.objects.update(language="vi")
    labels = json.loads(staff.get(page).context["balance_chart"])["labels"]
    today = timezone.localdate()
    assert labels[-1] == f"{today.day}/{today.month}"


def form(account, **changes):
    fields = {
        "plan": account.plan,
        "is_active": "on",
        "credits_included": account.credits_included,
        "period_start_0": "2026-11-01",
        "period_start_1": "00:00:00",
        "period_end_0": "2126-12-01",
        "period_end_1": "00:00:00",
    }
    return fields | changes


def test_changing_the_plan_keeps_a_concurrent_change_of_the_balance(staff, client_a, monkeypatch):
    account = Subscription.objects.get()
    path = reverse("admin:identity_subscription_change", args=[account.pk])

    save_form = SubscriptionAdmin.save_form

    def use_then_save(*args, **kwargs):
        credits.reserve(client_a.pk, cost=5, reference="r")
        return save_form(*args, **kwargs)

    monkeypatch.setattr(SubscriptionAdmin, "save_form", use_then_save)
    data = form(account, plan="standard", period_end_0="", period_end_1="", credits_left=9)
    assert staff.post(path, data).status_code == 302
    account.refresh_from_db()
    assert (account.plan, account.credits_left) == ("standard", 995)
    event = AuditEvent.objects.get(action="subscription.updated")
    assert event.user == User.objects.get(is_superuser=True)
    assert "plan" in event.changes["fields"]


def test_a_period_that_ends_before_it_starts_is_refused(staff, client_a):
    account = Subscription.objects.get()
    path = reverse("admin:identity_subscription_change", args=[account.pk])
    reply = staff.post(path, form(account, period_end_0="2020-01-01"))
    assert reply.status_code == 200
    assert b"must end after it starts" in reply.content
    assert Subscription.objects.get().period_end is None
