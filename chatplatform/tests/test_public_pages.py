"""The start page, and errors as people read them."""

import json
from datetime import datetime, timedelta

import pytest
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from identity.models import User
from identity.testing import enter_site, make_person, sign_in

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def demo(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "keys").mkdir()
    login = {"role": "Owner", "email": "owner@demo.example", "password": "demo-word"}
    (tmp_path / "keys" / "demo_logins").write_text(json.dumps([login]))


def test_the_start_page_leads_to_what_is_there(nobody, db, settings, tmp_path):
    settings.DATA_DIR = tmp_path  # without a demo, whatever other tests have made
    page = nobody.get("/").content.decode()
    for path in ("/admin/", "/docs"):
        assert f'href="{path}"' in page
        assert nobody.get(path).status_code in {200, 302}
    assert "/demo" not in page


@pytest.mark.parametrize(
    ("contact", "named"),
    [("security@chat.example", "mailto:security@chat.example"),
     ("https://chat.example/report", "https://chat.example/report")],
)  # fmt: skip
def test_who_is_told_of_weaknesses(nobody, db, settings, contact, named):
    path = "/.well-known/security.txt"
    assert nobody.get(path).status_code == 404
    settings.SECURITY_CONTACT, settings.PUBLIC_URL = contact, "https://chat.example"
    page = nobody.get(path)
    assert page["Content-Type"].startswith("text/plain")
    lines = dict(line.split(": ", 1) for line in page.content.decode().splitlines())
    assert lines["Contact"] == named
    assert datetime.fromisoformat(lines["Expires"]) > timezone.now() + timedelta(days=90)
    assert lines["Canonical"] == f"https://chat.example{path}"


@pytest.mark.parametrize("is_development", [True, False])
def test_the_demos_logins_are_shown_in_development_alone(nobody, settings, demo, is_development):
    settings.DEVELOPMENT = is_development
    page = nobody.get("/", Host="localhost").content
    assert (b"owner@demo.example" in page) == is_development
    assert (b"demo-word" in page) == is_development


@pytest.mark.full
@pytest.mark.parametrize("is_development", [True, False])
def test_the_simulator_is_named_in_development_alone(nobody, ann, settings, demo, is_development):
    settings.DEVELOPMENT, settings.SIMULATOR_URL = is_development, "http://127.0.0.1:9200"
    start = nobody.get("/", Host="localhost").content.decode()
    assert ('href="http://127.0.0.1:9200/server/"' in start) == is_development
    browser = Browser()
    browser.force_login(ann.user)
    for name in ("bots_function_new_function", "webhooks_webhookconfig_new_endpoint"):
        page = browser.get(reverse(f"admin:{name}")).content.decode()
        assert ("data-simulator" in page) == is_development
    assert ("data-simulator" in browser.get(reverse("channels")).content.decode()) == is_development


@pytest.mark.parametrize(
    ("sent", "is_shown"),
    [
        (("127.0.0.1", "localhost:8000", {}), True),
        (("::1", "[::1]:8000", {}), True),
        (("::ffff:127.0.0.1", "127.0.0.1", {}), True),
        (("192.0.2.9", "localhost:8000", {}), False),
        (("127.0.0.1", "rebound.example:8000", {}), False),
        (("127.0.0.1", "127.0.0.1.rebound.example", {}), False),
        (("127.0.0.1", "192.0.2.1:8000", {}), False),
        (("", "localhost", {}), False),
        (("127.0.0.1", "localhost", {"X-Forwarded-For": "127.0.0.1"}), False),
        (("127.0.0.1", "localhost", {"Forwarded": "for=192.0.2.9"}), False),
        (("127.0.0.1", "localhost", {"Via": "1.1 proxy"}), False),
    ],
)
def test_the_demos_logins_are_for_this_machine_alone(nobody, settings, demo, sent, is_shown):
    peer, host, more = sent
    settings.DEVELOPMENT, settings.ALLOWED_HOSTS = True, ["*"]
    page = nobody.browser.get("/", REMOTE_ADDR=peer, HTTP_HOST=host, headers=more)
    assert page.status_code == 200
    assert (b"demo-word" in page.content) == is_shown


def test_the_start_page_loads_its_own_files_alone(nobody):
    assert "default-src 'none'" in nobody.get("/")["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "leads_to"), [("/admin", "/admin/"), ("/favicon.ico", "/static/chatplatform/icon.svg")]
)
def test_addresses_that_browsers_try_lead_on(nobody, path, leads_to):
    reply = nobody.get(path)
    assert (reply.status_code, reply["Location"]) == (302, leads_to)


def test_a_person_reads_an_error_as_a_page(nobody):
    reply = nobody.get("/no/such/path", **HTML)
    assert reply.status_code == 404
    assert reply["Content-Type"].startswith("text/html")
    assert reply["X-Request-ID"] in reply.content.decode()
    assert 'href="/"' in reply.content.decode()
    assert "Accept" in reply["Vary"]


@pytest.mark.parametrize("accepts", ["application/json", "*/*", "application/json, text/html", ""])
def test_a_program_reads_an_error_as_json(nobody, accepts):
    assert nobody.get("/no/such/path", Accept=accepts).json()["code"] == "not_found"


def test_an_operation_answers_in_json_whoever_asks(nobody, ann):
    assert nobody.get("/ai/bot", **HTML).json()["code"] == "not_authenticated"
    assert ann.get("/ai/bot/9999999", **HTML).json()["code"] == "not_found"


def test_the_sites_refusals_are_pages(ann):
    browser = Browser(raise_request_exception=False, enforce_csrf_checks=True)
    browser.force_login(ann.user)
    forbidden = browser.get("/admin/chatplatform/job/", headers=HTML)
    missing = browser.get("/admin/bots/bot/999999/change/", headers=HTML)
    stale = browser.post("/admin/logout/", headers=HTML)
    for reply, status, word in (
        (forbidden, 403, "permission to do this."),
        (missing, 404, "Not found"),
        (stale, 403, "This page has expired"),
    ):
        assert reply.status_code == status
        assert word in reply.content.decode()
        assert reply["X-Request-ID"] in reply.content.decode()
    assert browser.post("/admin/logout/").json()["code"] == "csrf_failed"


def test_a_fault_of_the_site_is_a_page_that_hides_its_cause(ann, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr("chatplatform.admin_base.TenantAdmin.get_queryset", broken)
    browser = Browser(raise_request_exception=False)
    browser.force_login(ann.user)
    reply = browser.get("/admin/bots/bot/", headers=HTML)
    assert reply.status_code == 500
    assert b"Something went wrong" in reply.content
    assert b"inside" not in reply.content


def test_a_newcomer_finds_the_way_in(screen, ann):
    screen.goto("/")
    screen.get_by_role("link", name="Sign in").click()
    screen.get_by_label("Email").wait_for()
    sign_in(screen, ann.user)
    screen.locator('a[href="/admin/bots/bot/"]').first.click()
    screen.wait_for_url("**/admin/bots/bot/")
    assert screen.get_by_role("link", name="Bots").first.is_visible()


def test_a_lost_reader_finds_the_way_back(screen, problems):
    screen.goto("/no/such/path")
    screen.get_by_role("heading", name="Not found").wait_for()
    screen.get_by_role("link", name="Start page").click()
    screen.get_by_role("link", name="API documentation").wait_for()
    assert all("404" in problem for problem in problems)
    problems.clear()


@pytest.mark.drill
def test_staff_read_every_page_of_the_list(screen, client_a):
    """Each page of the site opens without an error in the browser."""
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    make_person(client_a)
    enter_site(screen, staff)
    links = screen.locator("#nav-sidebar a, nav a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    paths = sorted({link for link in links if link and link.count("/") == 4})
    assert len(paths) > 20
    for path in paths:
        screen.goto(path)
        assert screen.locator("h1").count()
