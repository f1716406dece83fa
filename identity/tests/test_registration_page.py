"""A company registers on a page of the site, or the platform's staff add it."""

import pytest
from django.test import Client as Browser
from django.urls import reverse

from chatplatform.models import Job
from identity.models import AuditEvent, Client, ClientConfig, SiteSession, Subscription, User
from identity.testing import make_person, signed_in

REGISTER, LOGIN, HOME = "/admin/register/", "/admin/login/", "/admin/"
NEW = reverse("admin:identity_client_new_company")
COMPANY = {
    "company_name": "Delta & Sons", "full_name": "Dora", "email": "Dora@delta.example",
    "language": "vi",
}  # fmt: skip
GIVEN = COMPANY | {"password": "correct-horse-battery", "timezone": "Asia/Ho_Chi_Minh"}


def test_whoever_registers_is_signed_in_as_the_owner(db):
    browser = Browser()
    assert REGISTER in browser.get(LOGIN).content.decode()
    assert REGISTER in browser.get("/").content.decode()
    reply = browser.post(REGISTER, GIVEN)
    assert (reply.status_code, reply["Location"]) == (302, HOME)
    assert b"Delta &amp; Sons" in browser.get(HOME).content
    owner, client = User.objects.get(), Client.objects.get()
    assert (owner.email, owner.role, owner.client) == ("dora@delta.example", "owner", client)
    assert (client.timezone, client.default_language) == ("Asia/Ho_Chi_Minh", "vi")
    assert browser.get(REGISTER)["Location"] == HOME


@pytest.mark.parametrize("zone", ["", "Mars/Olympus"])
def test_a_zone_that_is_not_known_here_keeps_nobody_out(db, zone):
    assert Browser().post(REGISTER, GIVEN | {"timezone": zone}).status_code == 302
    assert Client.objects.get().timezone == "UTC"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"password": "password12"}, "too common"),
        ({"company_name": " "}, "This field is required"),
        ({"email": "nobody"}, "Enter a valid email address"),
        ({"email": "ANN@acme.example"}, "already uses this email address"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(client_a, change, words):
    User.objects.create_user("ann@acme.example", client=client_a)
    browser = Browser()
    assert words in browser.post(REGISTER, GIVEN | change).content.decode()
    assert Client.objects.get() == client_a
    assert not SiteSession.objects.filter(user__isnull=False).exists()


def test_where_nobody_registers_by_themselves(db, settings, nobody):
    settings.REGISTRATION_OPEN = False
    browser = Browser()
    for path in (LOGIN, "/"):
        assert REGISTER not in browser.get(path).content.decode()
    assert browser.get(REGISTER).status_code == browser.post(REGISTER, GIVEN).status_code == 404
    reply = nobody.post("/identity/register-trial", GIVEN)
    assert (reply.status_code, reply.json()["code"]) == (403, "registration_closed")
    assert not Client.objects.exists()


def test_staff_add_a_company_and_its_owner_is_invited(db, settings):
    settings.REGISTRATION_OPEN = False
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    browser = signed_in(staff)
    assert NEW in browser.get(reverse("admin:identity_client_changelist")).content.decode()
    page = browser.post(NEW, COMPANY, follow=True)
    assert b"sent to dora@delta.example" in page.content.lower()
    owner = User.objects.get(client__name="Delta & Sons")
    assert (owner.role, owner.language, owner.has_usable_password()) == ("owner", "vi", False)
    assert Job.objects.get(name="identity.send_invitation").args == {
        "user_id": owner.pk, "by_id": staff.pk,
    }  # fmt: skip
    assert ClientConfig.objects.count() == Subscription.objects.count() == 1
    assert AuditEvent.objects.get(action="client.registered").user == staff
    assert b"already has an account" in browser.post(NEW, COMPANY).content
    assert Client.objects.count() == 1


def test_others_add_no_company(ann):
    for role in ("owner", "viewer"):
        browser = Browser()
        browser.force_login(make_person(ann.client, role, role).user)  # type: ignore[arg-type]
        assert browser.get(NEW).status_code == browser.post(NEW, COMPANY).status_code == 403
    assert Client.objects.get() == ann.client
