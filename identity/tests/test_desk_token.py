"""The desk's token: a session of the site is exchanged for one of the API."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client as Browser
from django.utils import timezone

from identity.models import SiteSession, User
from identity.services import users
from identity.testing import PASSWORD, Person

LOGIN, TOKEN, ME = "/admin/login/", "/admin/desk/token/", "/identity/users/me"


def enter(user) -> Browser:
    browser = Browser()
    browser.post(LOGIN, {"username": user.email, "password": PASSWORD})
    return browser


def exchange(browser) -> Person:
    reply = browser.post(TOKEN)
    assert reply.status_code == 200, reply.content
    body = reply.json()
    assert 0 < body["expires_in"] <= 1800
    return Person({"Authorization": f"Bearer {body['access_token']}"})


def test_the_token_is_its_persons_and_has_their_rights(ben):
    caller = exchange(enter(ben.user))
    assert caller.get(ME).json()["id"] == ben.user.pk
    assert caller.get("/identity/api-keys").status_code == 403


@pytest.mark.parametrize("how", ["logged out", "signed out by the API", "disabled", "new password"])
def test_it_ends_with_its_session(ann, ben, how):
    browser = enter(ben.user)
    caller, other = exchange(browser), exchange(enter(ben.user))
    if how == "logged out":
        browser.post("/admin/logout/")
    elif how == "signed out by the API":
        assert caller.post("/identity/revoke", {}).status_code in {200, 204}
    elif how == "disabled":
        users.set_disabled(ann.client, user_id=ben.user.pk, is_disabled=True, by=ann.user)
    else:
        users.set_own_password(ben.user, "another-horse-battery")
    assert caller.get(ME).status_code == 401
    assert browser.post(TOKEN).status_code == 302
    is_every_sign_in = how in {"disabled", "new password"}
    assert other.get(ME).status_code == (401 if is_every_sign_in else 200)


def test_a_desk_that_nobody_touches_does_not_keep_its_sign_in(ben):
    browser = enter(ben.user)
    ends_at = timezone.now() + timedelta(minutes=5)
    SiteSession.objects.update(expire_date=ends_at)
    assert browser.post(TOKEN, headers={"Unattended": "yes"}).status_code == 200
    assert SiteSession.objects.get().expire_date == ends_at
    exchange(browser)
    assert SiteSession.objects.get().expire_date > ends_at + timedelta(hours=1)


def test_there_is_none_without_a_session_without_the_csrf_token_or_by_get(ben):
    assert Browser().post(TOKEN).status_code == 302
    strict = Browser(enforce_csrf_checks=True)
    strict.cookies = enter(ben.user).cookies
    assert strict.post(TOKEN).status_code == 403
    assert enter(ben.user).get(TOKEN).status_code == 405


def test_staff_of_the_platform_have_no_desk(db):
    browser = enter(User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff"))
    assert browser.post(TOKEN).status_code == 403
    assert b"No inbox for platform staff" in browser.get("/admin/desk/").content


def test_the_page_runs_its_own_scripts_alone(ben):
    page = enter(ben.user).get("/admin/desk/")
    policy = page["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert b"<script>" not in page.content


def test_every_module_of_the_page_is_fetched_at_once(ben):
    page = enter(ben.user).get("/admin/desk/").content.decode()
    modules = {path.name for path in (settings.BASE_DIR / "chats/static/desk").glob("*.js")}
    assert len(modules) > 20
    assert {name for name in modules if f"/desk/{name}" not in page} == set()
