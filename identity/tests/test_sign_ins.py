"""A person sees where they are signed in, and ends each sign-in."""

import pytest
from django.test import Client as Browser

from identity.models import AuditEvent, RefreshToken, SiteSession, User
from identity.testing import PASSWORD, sign_in

PATH = "/admin/sign-ins/"


def entered(user, agent="Firefox"):
    browser = Browser(headers={"User-Agent": agent})
    browser.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    return browser


def listed(browser):
    return browser.get(PATH).context["sign_ins"]


def end(browser, one):
    return browser.post(PATH, {"end": one.id}, follow=True)


def test_browsers_and_programs_are_listed(ann, cara):
    entered(cara.user)
    here, _ = entered(ann.user), entered(ann.user, "Phone")
    shown = listed(here)
    assert {(item.browser, item.is_current, item.is_program) for item in shown} == {
        ("Firefox", True, False), ("Phone", False, False), ("", False, True),
    }  # fmt: skip
    page = here.get(PATH).content.decode()
    assert "Phone" in page
    for key in SiteSession.objects.values_list("session_key", flat=True):
        assert key not in page


def test_what_a_browser_holds_is_not_stored(ann):
    here = entered(ann.user)
    (stored,) = SiteSession.objects.values_list("pk", flat=True)
    assert stored != here.cookies["sessionid"].value
    thief = Browser()
    thief.cookies["sessionid"] = stored
    assert thief.get(PATH).status_code == 302
    assert here.get(PATH).status_code == 200


def test_a_browser_is_signed_out(ann):
    here, phone = entered(ann.user), entered(ann.user, "Phone")
    (other,) = [item for item in listed(here) if item.browser == "Phone"]
    assert b"Signed out." in end(here, other).content
    assert phone.get(PATH).status_code == 302
    assert here.get(PATH).status_code == 200
    assert ann.get("/identity/users/me").status_code == 200
    assert AuditEvent.objects.order_by("-pk")[0].action == "user.signed_out"


def test_a_program_is_signed_out(ann):
    here = entered(ann.user)
    (program,) = [item for item in listed(here) if item.is_program]
    end(here, program)
    assert ann.get("/identity/users/me").status_code == 401
    assert here.get(PATH).status_code == 200


def test_nobody_ends_anothers_sign_in(ann, cara):
    here, theirs = entered(ann.user), entered(cara.user)
    for item in listed(theirs):
        end(here, item)
    here.post(PATH, {"end": "nonsense"})
    here.post(PATH)
    assert theirs.get(PATH).status_code == 200
    assert not RefreshToken.objects.exclude(revoked_at=None).exists()


@pytest.mark.django_db
def test_the_platforms_staff_have_the_list_too():
    staff = User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")
    here, phone = entered(staff), entered(staff, "Phone")
    (other,) = [item for item in listed(here) if not item.is_current]
    end(here, other)
    assert phone.get(PATH).status_code == 302


def test_a_sign_in_is_ended_in_a_browser(screen, ann):
    sign_in(screen, ann.user)
    screen.goto(PATH)
    screen.get_by_text("This browser").wait_for()
    screen.get_by_role("button", name="Sign out").click()
    screen.get_by_text("Signed out.").wait_for()
    assert ann.get("/identity/users/me").status_code == 401
