"""Everybody signs in to the site on one page, and lands where they work."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client as Browser
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import run_before
from identity.models import AuditEvent, Role, SiteSession, User
from identity.services import site_sessions, users
from identity.services.site_sessions import SessionStore
from identity.testing import PASSWORD, make_person, sign_in, sign_out

LOGIN, HOME, DESK = "/admin/login/", "/admin/", "/admin/desk/"
OWN_PASSWORD, FORGOTTEN = "/admin/password_change/", "/admin/forgot-password/"
NEW = "another-horse-battery"


def enter(user, password=PASSWORD, browser=None, path=LOGIN):
    browser = browser or Browser()
    reply = browser.post(path, {"username": user.email, "password": password})
    return browser, reply


def lands(browser):
    reply = browser.get(HOME, follow=True)
    return reply.request["PATH_INFO"], reply.status_code


@pytest.fixture
def staff(db):
    return User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")


@pytest.mark.parametrize(
    ("role", "path"),
    [(Role.OWNER, HOME), (Role.ADMIN, HOME), (Role.VIEWER, HOME), (Role.AGENT, DESK)],
)
def test_each_role_lands_where_it_works(client_a, role, path):
    person: Any = make_person(client_a, role).user
    browser, reply = enter(person)
    assert (reply.status_code, reply["Location"]) == (302, HOME)
    assert lands(browser) == (path, 200)
    assert list(AuditEvent.objects.values_list("action", "user")) == [("user.signed_in", person.pk)]


def test_the_platforms_staff_land_at_the_platforms_home(staff):
    browser, reply = enter(staff)
    assert reply.status_code == 302
    page = browser.get(HOME)
    assert b"Platform" in page.content
    assert User.objects.get().last_login


def test_the_home_names_the_client(ann):
    browser, _ = enter(ann.user)
    assert ann.client.name.encode() in browser.get(HOME).content


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_nobody_is_sent_elsewhere(ann, address):
    browser, reply = enter(ann.user, path=f"{LOGIN}?next={address}")
    assert reply["Location"] == HOME


def test_a_wrong_password_signs_nobody_in(ann):
    browser, reply = enter(ann.user, "wrong-horse-battery")
    assert reply.status_code == 200
    assert browser.get(HOME).status_code == 302
    assert not SiteSession.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_password_that_changes_during_the_sign_in_signs_nobody_in(ann, ben):
    def change():
        users.reset_password(ann.client, user_id=ben.user.pk, password=NEW, by=ann.user)

    with run_before("identity.services.logins.record_sign_in", change):
        _, reply = enter(ben.user)
    assert reply.status_code == 200
    assert b"Incorrect email or password." in reply.content
    assert not SiteSession.objects.exists()
    assert not AuditEvent.objects.filter(action="user.signed_in").exists()


def test_failures_at_the_api_and_at_the_site_count_together(ann, nobody):
    form = {"username": ann.user.email, "password": "wrong-horse-battery"}
    for _ in range(5):
        assert nobody.upload("/identity/token2", **form).status_code == 401
        enter(ann.user, "wrong-horse-battery")
    browser, reply = enter(ann.user)
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= 900
    assert b"Too many attempts" in reply.content
    assert browser.get(HOME).status_code == 302
    assert nobody.upload("/identity/token2", **form).status_code == 429
    assert AuditEvent.objects.get().action == "user.locked"


@pytest.mark.parametrize("whose", ["person", "client"])
def test_the_disabled_cannot_enter_and_are_out_at_once(ann, ben, whose):
    browser, _ = enter(ben.user)
    if whose == "person":
        users.set_disabled(ann.client, user_id=ben.user.pk, is_disabled=True, by=ann.user)
    else:
        ann.client.is_disabled = True
        ann.client.save()
    assert browser.get(DESK).status_code == 302
    assert enter(ben.user)[1].status_code == 200


def test_enabling_revives_no_session(ann, ben):
    browser, _ = enter(ben.user)
    for is_disabled in (True, False):
        users.set_disabled(ann.client, user_id=ben.user.pk, is_disabled=is_disabled, by=ann.user)
    assert browser.get(DESK).status_code == 302
    assert enter(ben.user)[1].status_code == 302


def test_logging_out_ends_the_session_and_is_audited(ann):
    browser, _ = enter(ann.user)
    assert browser.get("/admin/logout/").status_code == 405
    assert browser.post("/admin/logout/")["Location"] == LOGIN
    assert browser.get(HOME).status_code == 302
    assert not SiteSession.objects.exists()
    assert AuditEvent.objects.order_by("-pk")[0].action == "user.signed_out"


def test_logging_out_needs_a_token_of_the_page(ann):
    browser, _ = enter(ann.user, browser=Browser(enforce_csrf_checks=False))
    browser.handler.enforce_csrf_checks = True
    assert browser.post("/admin/logout/").status_code == 403
    assert browser.get(HOME).status_code == 200


def test_a_session_is_not_the_one_from_before_and_not_for_other_sites(ann):
    strict = Browser(enforce_csrf_checks=True)
    form = {"username": ann.user.email, "password": PASSWORD}
    assert strict.post(LOGIN, form).status_code == 403, "without a token of the page"
    browser, _ = enter(ann.user)
    page = browser.get("/admin/second-factor/")
    cookie = browser.cookies["sessionid"]
    first = cookie.value
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert page["X-Frame-Options"] == "DENY"
    browser.post("/admin/logout/")
    stale = Browser()
    stale.cookies["sessionid"] = first
    assert stale.get(HOME).status_code == 302
    planted = SessionStore()
    planted["visits"] = 1
    planted.save()
    browser.cookies["sessionid"] = planted.session_key
    enter(ann.user, browser=browser)
    assert browser.get(HOME).status_code == 200
    assert browser.cookies["sessionid"].value != planted.session_key


def test_a_session_ends_after_hours_without_a_request(ann):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        browser, _ = enter(ann.user)
        for _ in range(3):
            clock.shift(timedelta(hours=7))
            assert browser.get(HOME).status_code == 200
        clock.shift(timedelta(hours=8, seconds=1))
        assert browser.get(HOME).status_code == 302
        site_sessions.purge_expired()
    assert not SiteSession.objects.exists()


def change_password(browser, old=PASSWORD, new=NEW, again=NEW):
    form = {"old_password": old, "new_password1": new, "new_password2": again}
    return browser.post(OWN_PASSWORD, form)


def test_ones_own_password_ends_all_other_sign_ins(ann):
    here, _ = enter(ann.user)
    elsewhere, _ = enter(ann.user)
    assert change_password(here).status_code == 302
    assert here.get(HOME).status_code == 200
    assert elsewhere.get(HOME).status_code == 302
    assert ann.get("/identity/users/me").status_code == 401
    assert enter(ann.user)[1].status_code == 200
    assert enter(ann.user, NEW)[1].status_code == 302
    assert AuditEvent.objects.filter(action="user.password_set").count() == 1


def test_the_platforms_staff_change_their_password_too(staff):
    here, _ = enter(staff)
    elsewhere, _ = enter(staff)
    assert change_password(here).status_code == 302
    assert (here.get(HOME).status_code, elsewhere.get(HOME).status_code) == (200, 302)
    assert enter(staff, NEW)[1].status_code == 302


@pytest.mark.parametrize(
    "change", [{"old": "wrong-horse-battery"}, {"again": "x" * 12}, {"new": "1", "again": "1"}]
)
def test_a_refused_password_changes_nothing(ann, change):
    browser, _ = enter(ann.user)
    assert change_password(browser, **change).status_code == 200
    assert enter(ann.user)[1].status_code == 302
    assert not AuditEvent.objects.filter(action="user.password_set").exists()


@pytest.mark.full
def test_an_open_session_does_not_serve_to_guess_the_password(ann):
    browser, _ = enter(ann.user)
    for _ in range(10):
        change_password(browser, old="wrong-horse-battery")
    assert b"Too many attempts" in change_password(browser).content
    assert not AuditEvent.objects.filter(action="user.password_set").exists()


def test_a_forgotten_password_is_asked_for_alike_for_all(ann):
    for email in (ann.user.email.upper(), "nobody@example.com"):
        reply = Browser().post(FORGOTTEN, {"email": email})
        assert reply.status_code == 200
        assert b"If an account uses this address" in reply.content
    jobs = Job.objects.filter(name="identity.send_reset_link").order_by("pk")
    assert [job.args["email"] for job in jobs] == [ann.user.email, "nobody@example.com"]


def test_forgotten_passwords_have_the_limit_of_the_api(ann):
    for _ in range(5):
        Browser().post(FORGOTTEN, {"email": ann.user.email})
    reply = Browser().post(FORGOTTEN, {"email": ann.user.email})
    assert reply.status_code == 429
    assert Job.objects.count() == 5
    assert Browser().post(FORGOTTEN, {"email": "no address"}).status_code == 200
    assert Job.objects.count() == 5


@pytest.mark.journey
def test_an_owner_signs_in_and_out_in_a_browser(screen, ann):
    screen.goto(HOME)
    screen.get_by_role("link", name="Forgot your password?").click()
    screen.get_by_label("Email address").fill(ann.user.email)
    screen.get_by_role("button", name="Send link").click()
    screen.get_by_text("If an account uses this address").wait_for()
    sign_in(screen, ann.user)
    screen.get_by_role("heading", name=ann.client.name).wait_for()
    sign_out(screen)
    screen.get_by_role("button", name="Sign in").wait_for()


def test_an_agent_lands_at_the_desk_in_a_browser(screen, ben):
    sign_in(screen, ben.user)
    screen.wait_for_url("**/admin/desk/")
    screen.get_by_text("No conversations assigned to you.").wait_for()
