"""How many pages a reader of the site gets in a minute, and what they read beyond that."""

import http.client
from collections import deque
from contextlib import closing
from unittest import mock

import pytest
import redis
import time_machine
from django.test import Client as Browser
from django.utils import timezone

from chatplatform.api import rate_limits
from chatplatform.live import valkey
from chatplatform.testing.web_process import web
from chatplatform.tests.test_bodies import exchange
from chatplatform.tests.test_page_bodies import LONG, request_of
from chatplatform.tests.test_rate_limits import left, read
from chats.testing import visit
from identity.models import Client, SiteSession, User
from identity.services import impersonation
from identity.testing import make_person, signed_in

# Its answer asks Valkey for nothing of its own.
OWN, LOGIN = "/admin/sign-ins/", "/admin/login/"
PAGE = {"Accept": "text/html", "Accept-Language": "en"}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_limited"), pytest.mark.full]


@pytest.fixture
def _limited(settings):
    """A hundredth of the limits: 6 pages for a person, 12 for an address."""
    settings.RATE_LIMIT_SCALE = 0.01
    for key in valkey.shared().scan_iter("LIMITS*"):
        valkey.shared().delete(key)


def ask(browser, path=OWN, address="192.0.2.1", **headers):
    return browser.get(path, headers={**PAGE, **headers}, REMOTE_ADDR=address)


def is_refused(page):
    assert page.status_code == 429
    assert 1 <= int(page["Retry-After"]) <= rate_limits.WINDOW_SECONDS
    assert left(page) == {"pages": 0}
    assert "Content-Security-Policy" in page
    assert "no-store" in page["Cache-Control"]
    return page.content.decode()


def test_a_person_reads_so_many_pages_in_a_minute(ann, ben):
    browser = signed_in(ann.user)
    assert [left(ask(browser)) for _ in range(6)] == [{"pages": 5 - item} for item in range(6)]
    told = is_refused(ask(browser))
    assert "<html" in told
    assert "Too many requests. Wait a moment and try again." in told
    # Wherever they have signed in and from wherever they come, and whatever the page.
    assert is_refused(ask(signed_in(ann.user), "/admin/", "192.0.2.9"))
    assert is_refused(browser.post("/admin/desk/token/", headers=PAGE))
    # Nobody else, neither at their address nor at their company, and not their programs.
    assert ask(signed_in(ben.user)).status_code == 200
    assert ask(Browser(), LOGIN).status_code == 200
    assert read(ann).status_code == 200


def test_a_refused_page_is_in_the_readers_language_and_writes_nothing(ann):
    User.objects.filter(pk=ann.user.pk).update(language="vi")
    Client.objects.update(rate_limit_factor=0.2)
    browser = signed_in(ann.user)
    assert ask(browser).status_code == 200
    before = SiteSession.objects.values().get()
    assert "Quá nhiều yêu cầu; hãy chờ rồi thử lại." in is_refused(ask(browser))
    assert SiteSession.objects.values().get() == before


def test_a_program_reads_json(ann):
    Client.objects.update(rate_limit_factor=0.2)
    browser = signed_in(ann.user)
    ask(browser)
    refused = ask(browser, "/admin/desk/token/", Accept="application/json")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")


def test_strangers_at_an_address_read_so_many_pages_in_a_minute(ann, nobody):
    paths = ["/", LOGIN, "/docs", "/openapi.json", "/reset-password", "/nowhere", "/favicon.ico"]
    for path in (paths * 2)[:12]:
        assert ask(Browser(), path).status_code in {200, 302, 404}
    for path in paths:
        assert is_refused(ask(Browser(), path))
    # A cookie that is nobody's session is no person.
    assert is_refused(ask(Browser(), LOGIN, Cookie="sessionid=" + "x" * 32))
    form = {"username": "ann@example.com", "password": "x"}
    assert is_refused(Browser().post(LOGIN, form, headers=PAGE, REMOTE_ADDR="192.0.2.1"))
    assert ask(Browser(), LOGIN, "192.0.2.2").status_code == 200
    assert ask(signed_in(ann.user)).status_code == 200
    assert ask(Browser(), "/health/live").status_code == 200
    assert read(nobody).status_code == 401


def test_who_looks_as_somebody_else_uses_up_nothing_of_theirs(ann):
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    browser = signed_in(staff)
    ask(browser)
    impersonation.begin(browser.session.session_key or "", ann.user, by=staff)
    page = ask(browser, "/admin/")
    assert b"You can't make changes." in page.content
    assert left(page) == {"pages": 4}
    assert left(ask(signed_in(ann.user))) == {"pages": 5}


@pytest.mark.django_db(transaction=True)
def test_static_files_health_checks_and_large_bodies_of_refused_callers(page):
    static, health, picture = "/static/chatplatform/plain.css", "/health/live", "/media/banners/x"
    upload = request_of(*visit(page))
    with web(RATE_LIMIT_SCALE="0.001") as port:
        statuses = [
            status_of(port, path)
            for path in (LOGIN, LOGIN, static, static, health, health, picture, picture, LOGIN)
        ]
        # The body of a refused caller is not waited for.
        status = 408  # had the process forgotten the refusal by then, as it does after seconds
        while status == 408:
            small = [exchange(port, *upload, "Content-Length: 2", body=b"{}") for _ in range(4)]
            assert small[-1] == (429, "too_many_requests")
            status, _ = exchange(port, *upload, LONG)
    # What counts for no limit is answered.
    assert statuses == [200, 429, 200, 200, 200, 200, 404, 404, 429]
    assert status == 429


def status_of(port, path):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as caller:
        caller.request("GET", path, headers=PAGE)
        return caller.getresponse().status


def test_a_page_costs_one_round_trip(ann):
    browser, trips = signed_in(ann.user), []
    ask(browser)
    real = redis.connection.Connection.send_packed_command

    def send(self, command, *args, **kwargs):
        trips.append(command)
        return real(self, command, *args, **kwargs)

    with mock.patch.object(redis.connection.Connection, "send_packed_command", send):
        assert ask(browser).status_code == 200
    assert len(trips) == 1


def test_a_process_counts_pages_alone_while_valkey_is_away(ann, monkeypatch):
    away = redis.Redis(port=1, socket_connect_timeout=1)
    monkeypatch.setattr(valkey, "shared", lambda: away)
    monkeypatch.setattr(valkey, "_idle", deque())
    monkeypatch.setattr(rate_limits, "_in_valkey", valkey.BestEffort("away"))
    rate_limits._local_limiter.cache_clear()
    dora = signed_in(make_person(ann.client, "agent", "Dora").user)
    # Its minutes are those of the clock: none ends meanwhile.
    with time_machine.travel(timezone.now(), tick=False):
        assert [ask(dora).status_code for _ in range(7)] == [200] * 6 + [429]
        assert ask(signed_in(ann.user)).status_code == 200
