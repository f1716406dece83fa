"""Clients, callers and browsers for tests. Ann is an owner of client A, Ben is an agent of client
A, and Cara is an owner of client B.

Cara must not see anything of client A.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.test import Client as Browser
from django.test import RequestFactory
from playwright.sync_api import Page

from identity.auth import Argon2
from identity.models import ApiKey, Client, ClientConfig, Role, User
from identity.services import api_keys, credits, site_sessions, tokens

PASSWORD = "correct-horse-battery"
JSON = "application/json"


@dataclass
class Person:
    """A caller: `.get`, `.post`, `.put`, `.delete` with its credential in the header."""

    headers: dict[str, str] = field(default_factory=dict)
    user: User | None = None
    key: ApiKey | None = None

    def __post_init__(self) -> None:
        self.browser = Browser(raise_request_exception=False)

    @property
    def client(self) -> Client:
        holder = self.user or self.key
        assert holder
        assert holder.client
        return holder.client

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> Any:
        return self.browser.get(path, query, headers={**self.headers, **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("post", path, body, headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("put", path, body, headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.browser.delete(path, headers={**self.headers, **headers})

    def upload(self, path: str, **fields: Any) -> Any:
        """Send a multipart body with file objects, lists of file objects, and plain fields."""
        return self.browser.post(path, fields, headers=self.headers)

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        send: Callable[..., Any] = getattr(self.browser, method)
        return send(path, body, content_type=JSON, headers={**self.headers, **headers})


def make_client(name: str = "Acme") -> Client:
    client = Client.objects.create(name=name, code=f"{name.lower()}-{uuid.uuid4().hex[:6]}")
    ClientConfig.objects.create(client=client)
    credits.open_account(client, included=1000)
    return client


def make_person(client: Client, role: str = Role.OWNER, name: str = "Ann") -> Person:
    """A signed-in person of `client`."""
    user = User.objects.create_user(
        f"{name.lower()}-{uuid.uuid4().hex[:6]}@example.com",
        PASSWORD,
        client=client,
        full_name=name,
        role=role,
    )
    return Person({"Authorization": f"Bearer {tokens.issue(user).access_token}"}, user=user)


def make_key(client: Client, scope: str = "secret", bot_id: int | None = None) -> Person:
    """A caller with an API key of `client`."""
    key, secret = api_keys.create(client, name="test", scope=scope, bot_id=bot_id)
    return Person({"API-KEY": secret}, key=key)


def sign_in(screen: Page, user: User) -> None:
    """Sign a person in to the site in a browser."""
    screen.goto("/admin/login/")
    fill_in_sign_in(screen, user)


def fill_in_sign_in(screen: Page, user: User) -> None:
    """Fill in and submit the sign-in form of the open page. The password is hashed as in
    production."""
    user.password = make_password(PASSWORD, hasher=Argon2())
    user.save(update_fields=["password"])
    screen.get_by_label("Email").fill(user.email)
    screen.get_by_label("Password").fill(PASSWORD)
    # Wait for the response: navigating earlier would interrupt the sign-in.
    with screen.expect_navigation(wait_until="commit"):
        screen.get_by_role("button", name="Sign in").click()


def enter_site(screen: Page, user: User) -> None:
    """Open the site as a signed-in person. This is half a second faster than `sign_in`, because it
    skips the form and hashes no passwords."""
    request = RequestFactory().get("/")
    request.session = site_sessions.SessionStore()
    site_sessions.begin(request, user)
    name, value = settings.SESSION_COOKIE_NAME, request.session.session_key or ""
    screen.context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}])
    screen.goto("/admin/")


def signed_in(user: User | None) -> Browser:
    """A Django test client in which a person is signed in to the site."""
    assert user
    browser = Browser()
    browser.force_login(user)
    return browser


def sign_out(screen: Page) -> None:
    """Sign out of the site, and wait for the next page."""
    with screen.expect_navigation(wait_until="commit"):
        screen.locator("#logout-form").evaluate("form => form.submit()")


@pytest.fixture
def client_a(db: None) -> Client:
    return make_client("Acme")


@pytest.fixture
def client_b(db: None) -> Client:
    return make_client("Bravo")


@pytest.fixture
def ann(client_a: Client) -> Person:
    return make_person(client_a, Role.OWNER, "Ann")


@pytest.fixture
def ben(client_a: Client) -> Person:
    return make_person(client_a, Role.AGENT, "Ben")


@pytest.fixture
def cara(client_b: Client) -> Person:
    return make_person(client_b, Role.OWNER, "Cara")


@pytest.fixture
def site(ann: Person) -> Browser:
    """The site as Ann sees it."""
    return signed_in(ann.user)


@pytest.fixture
def staff(db: None) -> Browser:
    """The site as the platform's staff see it."""
    return signed_in(User.objects.create_superuser("staff@example.com", full_name="Staff"))


@pytest.fixture
def nobody() -> Person:
    """A caller without a credential."""
    return Person()
