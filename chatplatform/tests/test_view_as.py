"""The platform's staff look at a client's site as one of its people sees it, and change nothing."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.models import Bot
from chatplatform.models import Job
from chatplatform.tests.test_guard_site import world
from chats.models import Customer
from identity.models import AuditEvent, Client, Impersonation, Role, SavedView, SiteSession, User
from identity.services import site_sessions, users
from identity.testing import PASSWORD, enter_site, make_person
from identity.tests.test_site_sign_in import HOME, LOGIN, enter

LEAVE, LOGOUT = "/admin/view/leave/", "/admin/logout/"
BANNER = b"You can't make changes."


def way_in(person):
    return reverse("admin:identity_user_view_as", args=[person.pk])


def views():
    """What the audit log says of views: the action, who, and of whom."""
    rows = AuditEvent.objects.filter(action__startswith="user.view_").order_by("pk")
    found: Any = rows.select_related("user")
    return [(row.action, row.user.email, row.subject) for row in found]


def row_of(action, person):
    return (f"user.view_{action}", "staff@example.com", f"user:{person.pk}")


@pytest.fixture
def staff(db):
    return User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")


@pytest.fixture
def viewing(staff, ann):
    """A browser in which the staff look as Ann."""
    browser, _ = enter(staff)
    assert browser.post(way_in(ann.user))["Location"] == HOME
    return browser


def test_staff_see_what_the_person_sees_and_leave(staff, ann, cara):
    browser, _ = enter(staff)
    asked = browser.get(way_in(ann.user))
    assert ann.user.email.encode() in asked.content
    assert views() == []
    browser.post(way_in(ann.user))
    assert views() == [row_of("started", ann.user)]
    assert AuditEvent.objects.latest("pk").client_id == ann.client.pk
    page = browser.get(HOME)
    assert page.content.count(BANNER) == 1
    assert ann.user.email.encode() in page.content
    assert page.context["title"] == ann.client.name
    assert cara.client.name.encode() not in browser.get("/admin/identity/client/").content
    assert browser.get("/admin/chatplatform/job/").status_code == 403
    left = browser.post(LEAVE)
    assert left["Location"] == reverse("client", args=[ann.client.pk])
    page = browser.get(HOME)
    assert BANNER not in page.content
    assert page.context["title"] == "Platform"
    assert views() == [row_of("started", ann.user), row_of("ended", ann.user)]
    assert browser.post(LEAVE)["Location"] == HOME
    assert len(views()) == 2


def test_an_agents_chats_are_read_without_the_desk_which_would_make_the_agent_present(staff, ben):
    browser, _ = enter(staff)
    browser.post(way_in(ben.user))
    page = browser.get(HOME, follow=True)
    assert page.request["PATH_INFO"] == reverse("admin:chats_conversation_changelist")
    assert BANNER in page.content
    reply = browser.post("/admin/desk/token/")
    assert reply.status_code == 403
    assert b"access_token" not in reply.content


def test_no_change_is_made_while_viewing(staff):
    rows = world("ourownword")
    person: Any = make_person(rows[Client], Role.OWNER, "Olga").user
    browser, _ = enter(staff)
    browser.post(way_in(person))
    bot, before = rows[Bot], AuditEvent.objects.latest("pk").pk
    forms = {
        reverse("admin:bots_bot_changelist"): {
            "action": "disable", "_selected_action": [bot.pk], "confirmed": "yes",
        },
        reverse("admin:identity_user_change", args=[person.pk]): {"form": "sign_out"},
        reverse("admin:identity_user_invite"): {
            "email": "x@x.example", "full_name": "X", "role": "owner", "language": "en",
        },
        reverse("admin:identity_apikey_new_key"): {"name": "x", "scope": "secret", "days": ""},
        reverse("admin:bots_bot_behaviour", args=[bot.pk]): {"form": "instructions"},
        reverse("failures"): {"kind": "documents", "value": ["", "", ""]},
        reverse("reports_warnings"): {"code": "x"},
        "/admin/password_change/": {"old_password": PASSWORD},
        "/admin/sign-ins/": {"end": "x"},
        LOGIN: {"username": person.email, "password": PASSWORD},
        way_in(person): {},
    }  # fmt: skip
    for path, form in forms.items():
        reply = browser.post(path, form)
        assert reply.status_code == 403, path
        assert b"make changes while viewing" in reply.content, path
    for method in (browser.put, browser.patch, browser.delete):
        assert method(reverse("admin:bots_bot_change", args=[bot.pk])).status_code == 403
    own = ("profile", "password_change", "second-factor", "sign-ins")
    for path in (f"/admin/{name}/" for name in own):
        assert browser.get(path).status_code == 403, path
    assert not AuditEvent.objects.filter(pk__gt=before).exists()
    assert not Bot.objects.filter(is_disabled=True).exists()
    assert not Job.objects.exists()
    assert User.objects.count() == 3


def test_a_page_that_would_write_is_refused_by_the_database(staff):
    """An export is read by GET, and recorded."""
    rows = world("ourownword")
    person: Any = make_person(rows[Client], Role.OWNER, "Olga").user
    path = reverse("admin:chats_customer_export", args=[rows[Customer].pk])
    browser, _ = enter(staff)
    browser.post(way_in(person))
    before = AuditEvent.objects.count()

    reply = browser.get(path, headers={"Accept": "text/html"})
    assert reply.status_code == 403
    assert reply.content.count(b">Stop viewing as ") == 1
    assert AuditEvent.objects.count() == before
    browser.post(LEAVE)
    assert b"".join(browser.get(path).streaming_content)
    assert AuditEvent.objects.filter(action="customer.exported").count() == 1


def test_nobody_views_within_a_view_nor_as_the_staff_nor_as_the_disabled(viewing, staff, ann, ben):
    assert viewing.post(way_in(ben.user)).status_code == 403
    assert Impersonation.objects.get().user == ann.user
    viewing.post(LEAVE)
    other = User.objects.create_superuser("other@example.com", full_name="Other")
    users.set_disabled(ann.client, user_id=ben.user.pk, is_disabled=True, by=ann.user)
    for person in (other, staff, ben.user):
        assert viewing.post(way_in(person)).status_code == 403, person
        page = viewing.get(reverse("admin:identity_user_change", args=[person.pk]))
        assert b"view-as" not in page.content
    assert not Impersonation.objects.exists()
    assert len(views()) == 2


def test_only_the_platforms_staff_view_as_somebody(ann, ben, cara):
    browser, _ = enter(ann.user)
    assert browser.post(way_in(ben.user)).status_code == 403
    assert browser.post(way_in(cara.user)).status_code in {403, 404}
    assert b"view-as" not in browser.get(f"/admin/identity/user/{ben.user.pk}/change/").content
    assert browser.post(LEAVE)["Location"] == HOME
    assert not Impersonation.objects.exists()
    assert views() == []


def sign_out(browser, staff, clock):
    assert browser.post(LOGOUT)["Location"] == LOGIN


def change_password(browser, staff, clock):
    users.set_own_password(staff, "another-horse-battery")


def stay_away(browser, staff, clock):
    clock.shift(timedelta(hours=8, seconds=1))
    site_sessions.purge_expired()


def end_from_elsewhere(browser, staff, clock):
    current = browser.session.session_key
    (sign_in,) = [
        item for item in site_sessions.list_own(staff, current=current) if item.is_current
    ]
    assert site_sessions.end_own(staff, sign_in.id)


@pytest.mark.parametrize("how", [sign_out, change_password, stay_away, end_from_elsewhere])
def test_a_view_ends_with_the_session_however_that_ends(viewing, staff, ann, how):
    stale = Browser()
    stale.cookies["sessionid"] = viewing.cookies["sessionid"].value
    with time_machine.travel(timezone.now(), tick=False) as clock:
        how(viewing, staff, clock)
        assert viewing.get(HOME).status_code == 302
        assert stale.get(HOME).status_code == 302
    assert views() == [row_of("started", ann.user), row_of("ended", ann.user)]
    assert not SiteSession.objects.exists()
    again, _ = enter(User.objects.get(pk=staff.pk), PASSWORD, browser=viewing)
    assert BANNER not in again.get(HOME, follow=True).content


def test_a_view_ends_when_the_person_may_sign_in_no_more(viewing, ann):
    Client.objects.update(is_disabled=True)
    page = viewing.get(HOME)
    assert page.context["title"] == "Platform"
    assert views()[-1] == row_of("ended", ann.user)


def test_who_is_no_longer_staff_sees_nothing(viewing, staff):
    User.objects.filter(pk=staff.pk).update(is_disabled=True)
    assert viewing.get(HOME).status_code == 302


def test_another_browser_of_the_staff_shows_their_own_site(viewing, staff):
    browser, _ = enter(staff)
    assert BANNER not in browser.get(HOME).content
    assert BANNER in viewing.get(HOME).content


@pytest.mark.long
def test_staff_view_and_leave_in_a_browser(screen, staff, ann):
    enter_site(screen, staff)
    screen.goto(f"/admin/identity/user/{ann.user.pk}/change/")
    screen.get_by_role("link", name="View as").click()
    screen.get_by_role("button", name="View as this person").click()
    screen.get_by_role("heading", name=ann.client.name).first.wait_for()
    screen.get_by_text("You're viewing the site as").wait_for()
    screen.goto("/admin/reports/")
    screen.get_by_role("button", name="Stop viewing as").click()
    screen.get_by_role("heading", name=ann.client.name).first.wait_for()
    assert screen.get_by_text("You're viewing the site as").count() == 0


@pytest.mark.full
def test_what_a_view_refuses_is_not_offered(staff):
    """What records or stores something: files of rows, and saved views."""
    rows = world("ourownword")
    owner = make_person(rows[Client], Role.OWNER, "Olga")
    assert owner.user is not None
    SavedView.objects.create(user=owner.user, list_name="chats.customer", name="Mine", query="q=a")
    listed = reverse("admin:chats_customer_changelist")
    row = reverse("admin:chats_customer_change", args=[rows[Customer].pk])
    own, looking = Browser(), enter(staff)[0]
    own.force_login(owner.user)
    looking.post(way_in(owner.user))
    for browser, is_offered in ((own, True), (looking, False)):
        page = browser.get(listed).content.decode()
        assert ">Mine</a>" in page
        for words in ("Export as CSV", "/views/save/", "/views/delete/"):
            assert (words in page) == is_offered, words
        link = reverse("admin:chats_customer_export", args=[rows[Customer].pk])
        assert (link in browser.get(row).content.decode()) == is_offered
    refused = looking.get(f"{listed}export-list/", headers={"Accept": "text/html"})
    assert refused.status_code == 403
