"""Behind a proxy: who calls is whom a trusted proxy names, and the site works under https."""

import json
import os
import re
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.test import Client as Browser

from identity.models import Attempt
from identity.testing import PASSWORD

TOKEN, LOGIN = "/identity/token2", "/admin/login/"
PROXY, OTHER_PROXY = "10.0.0.7", "10.0.3.1"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def proxies(settings):
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/16")]


def sign_in(person, username, password, **environ):
    form = {"username": username, "password": password}
    return person.browser.post(TOKEN, form, **environ)


def address_of(nobody, peer, forwarded):
    """The address under which a failed sign-in is counted."""
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert sign_in(nobody, "ann@example.com", "x", REMOTE_ADDR=peer, **headers).status_code == 401
    return Attempt.objects.get().address


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.9", "198.51.100.1", "192.0.2.9"),
        (PROXY, "", PROXY),
        (PROXY, "198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.7", "198.51.100.1", "198.51.100.1"),
        (PROXY, f"198.51.100.1, {OTHER_PROXY}", "198.51.100.1"),
        (PROXY, "203.0.113.66, 198.51.100.1", "198.51.100.1"),
        (PROXY, f"203.0.113.66, unknown, {OTHER_PROXY}", OTHER_PROXY),
        (PROXY, "2001:db8::7", "2001:db8::/64"),
        ("", "198.51.100.1", ""),
    ],
)
def test_the_caller_is_whom_the_last_trusted_proxy_saw(
    nobody, db, proxies, peer, forwarded, address
):
    assert address_of(nobody, peer, forwarded) == address


def test_without_the_setting_a_proxy_is_a_caller_like_any_other(nobody, db):
    assert address_of(nobody, PROXY, "198.51.100.1") == PROXY


@pytest.mark.full
def test_a_hundred_bad_sign_ins_of_one_address_lock_nobody_else_out(ann, nobody, proxies):
    bad = {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": "198.51.100.1"}
    for number in range(100):
        reply = sign_in(nobody, f"nobody-{number}@example.com", "x", **bad)
        assert reply.status_code == 401
    assert sign_in(nobody, ann.user.email, PASSWORD, **bad).status_code == 429
    good = bad | {"HTTP_X_FORWARDED_FOR": "198.51.100.2"}
    assert sign_in(nobody, ann.user.email, PASSWORD, **good).status_code == 200


HTTPS = {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "chat.example"}


@pytest.mark.parametrize(
    "site",
    [
        # The proxy says under which address the form was shown, whatever host it asked for.
        (PROXY, None, "web:8000", 302),
        # A proxy that is not trusted passes the host on; the scheme is known by PUBLIC_URL.
        ("192.0.2.9", "https://chat.example", "chat.example", 302),
        ("192.0.2.9", None, "chat.example", 403),
    ],
)
def test_people_sign_in_to_the_site_under_https(ann, settings, site):
    peer, origin, host, status = site
    settings.CSRF_TRUSTED_ORIGINS = [origin] if origin else []
    settings.ALLOWED_HOSTS = ["chat.example"]
    settings.TRUSTED_PROXIES = [ip_network(PROXY)]
    browser = Browser(enforce_csrf_checks=True)
    sent = {"REMOTE_ADDR": peer, "HTTP_HOST": host, **HTTPS}
    page = browser.get(LOGIN, **sent)
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())
    assert found, page.content
    form = {"username": ann.user.email, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
    reply = browser.post(LOGIN, form, HTTP_ORIGIN="https://chat.example", **sent)
    assert reply.status_code == status


def test_browsers_are_told_to_stay_with_tls_where_it_was_used(nobody, settings, proxies):
    settings.SECURE_HSTS_SECONDS = 60
    plain = nobody.browser.get("/health/live", REMOTE_ADDR=PROXY)
    over_tls = nobody.browser.get("/health/live", REMOTE_ADDR=PROXY, **HTTPS)
    assert "Strict-Transport-Security" not in plain
    assert over_tls["Strict-Transport-Security"] == "max-age=60"


READ = """
import json
from chatplatform import settings
print(json.dumps([
    settings.DEVELOPMENT, settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS,
    settings.SECURE_HSTS_SECONDS, settings.SESSION_COOKIE_SECURE,
    [str(each) for each in settings.TRUSTED_PROXIES], str(settings.STATIC_ROOT),
]))
"""


def read_settings(folder, **environ):
    """The settings of a process of its own; or the last line of why there are none."""
    environ = {"PATH": os.environ["PATH"], "DATA_DIR": str(folder), **environ}
    command = [sys.executable, "-c", READ]
    done = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.stdout else done.stderr.splitlines()[-1]


@pytest.mark.full
def test_what_a_real_site_gets_from_its_address(tmp_path):
    assert read_settings(tmp_path).startswith("SECRET_KEY: it must be set.")
    site = {"SECRET_KEY": "x" * 50, "PUBLIC_URL": "https://chat.example/"}
    year = 365 * 86400
    assert read_settings(tmp_path, **site, TRUSTED_PROXIES="10.0.0.7, fd00::/8") == [
        False, [], ["https://chat.example"], year, True, ["10.0.0.7/32", "fd00::/8"],
        # Of this release, and not among the data, which outlive it.
        str(Path(__file__).resolve().parents[2] / "staticfiles"),
    ]  # fmt: skip
    assert "TRUSTED_PROXIES" in read_settings(tmp_path, **site, TRUSTED_PROXIES="proxy")
    own, local = ["localhost", "127.0.0.1", "[::1]"], ["http://127.0.0.1:8000"]
    assert read_settings(tmp_path, DEBUG="true") == [True, own, local, 0, False, [], "None"]
