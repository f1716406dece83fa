"""Clients in the admin site: shown and changed, but created only by registration."""

import pytest
from django.test import Client as Browser

from identity.models import Client, User

SITE = "/admin/identity/client/"


@pytest.fixture
def staff(db):
    browser = Browser()
    browser.force_login(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    return browser


def form(client, **changes):
    names = ("name", "code", "default_language", "timezone")
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
