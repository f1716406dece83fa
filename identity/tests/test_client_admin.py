"""Clients in the admin site: shown and changed, but created only by registration."""

import pytest

from identity.models import AuditEvent, Client
from identity.testing import signed_in

SITE = "/admin/identity/client/"


def form(client, **changes):
    names = ("name", "code", "default_language", "timezone", "rate_limit_factor")
    return {name: getattr(client, name) for name in names} | changes


def test_clients_cannot_be_added(staff, client_a):
    """It would have no owner, no config and no plan."""
    body = form(client_a, name="Halfway", code="halfway")
    assert staff.get(f"{SITE}add/").status_code == 403
    assert staff.post(f"{SITE}add/", body).status_code == 403
    assert list(Client.objects.all()) == [client_a]
    assert f'href="{SITE}add/'.encode() not in staff.get(SITE).content


def test_a_client_can_be_changed(staff, client_a):
    body = form(client_a, name="Acme and sons")
    reply = staff.post(f"{SITE}{client_a.pk}/change/", body)
    assert reply.status_code == 302, reply.content
    assert Client.objects.get().name == "Acme and sons"


def changed(browser, client, **changes):
    return browser.post(f"{SITE}{client.pk}/change/", form(client, **changes))


def test_disabling_a_client_is_audited(staff, client_a, ann):
    assert changed(staff, client_a, is_disabled="on", name="Acme and sons").status_code == 302
    recorded = AuditEvent.objects.order_by("pk").values_list("action", "user__email", "changes")
    assert list(recorded) == [
        ("client.disabled", "staff@example.com", {}),
        ("client.updated", "staff@example.com", {"fields": ["name"]}),
    ]
    assert ann.get("/identity/users/me").status_code == 401
    assert changed(staff, client_a, name="Acme and sons").status_code == 302
    assert AuditEvent.objects.order_by("-pk")[0].action == "client.enabled"
    assert ann.get("/identity/users/me").status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [("timezone", "Mars/Olympus"), ("default_language", "zz-nonsense-x"), ("name", " ")],
)
def test_nonsense_is_refused_beside_its_field(staff, client_a, field, value):
    reply = changed(staff, client_a, **{field: value})
    assert reply.status_code == 200
    assert reply.context["errors"]
    assert getattr(Client.objects.get(), field) == getattr(client_a, field)
    assert not AuditEvent.objects.exists()


def test_a_client_does_not_change_itself(client_a, ann):
    browser = signed_in(ann.user)
    assert changed(browser, client_a, name="Mine").status_code == 403
    assert Client.objects.get().name == client_a.name


def test_staff_raise_the_limits_of_a_client(staff, client_a):
    assert changed(staff, client_a, rate_limit_factor="2.5").status_code == 302
    assert changed(staff, client_a, rate_limit_factor="0").status_code == 200
    assert Client.objects.get().rate_limit_factor == 2.5
