"""Browser tests: they run the system's Chromium against a real web process of the platform."""

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.db import connections
from django.test import TransactionTestCase
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Frame,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
    sync_playwright,
)

from chatplatform.testing.web_process import wait_until_idle
from local.chromium import find_chromium

PHONE: ViewportSize = {"width": 390, "height": 844}
# A page must show what a test waits for within this many milliseconds.
_TIMEOUT_MILLISECONDS = 15_000
expect.set_options(timeout=_TIMEOUT_MILLISECONDS)
# Filtered in the page: the full result is long and would pass through three processes.
_VIOLATIONS = """axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))"""


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of Chromium. Without Chromium, browser tests are skipped; under CI they fail."""
    path = find_chromium()
    if path is None:
        message = "Browser tests need Chromium: install the package `chromium-headless-shell`."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def outside_port(outside_ports: list[int]) -> int:
    """A port on which a test may serve what the platform calls, such as a client's website."""
    return outside_ports.pop()


@pytest.fixture(scope="session")
def site_origin(chromium_path: str, site_port: int) -> str:
    """The origin of the web process that serves all browser tests."""
    return f"http://127.0.0.1:{site_port}"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark browser tests that are not journeys as `full`: only `make check` runs them."""
    if _needs_browser(item) and not item.get_closest_marker("journey"):
        item.add_marker("full")


def _needs_browser(item: pytest.Item) -> bool:
    return "chromium_path" in getattr(item, "fixturenames", ())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests last: from the first browser test on, the driver keeps an event loop in
    this thread, but other tests start their own. The long browser tests run first among them, so
    that no process is still busy when all others are done."""

    def rank(item: pytest.Item) -> int:
        if not _needs_browser(item):
            return 0
        return 1 if item.get_closest_marker("long") else 2

    items.sort(key=rank)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """The browser for all tests; each test has its own context."""
    # Django refuses the ORM in a thread with an event loop; this loop only waits for the browser.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        # Containers forbid Chromium's sandbox, and it opens only our pages. Without a process that
        # emulates a GPU, drawing pages takes less work.
        started = driver.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()
        # While the loop runs, Django uses other connections; none may outlive the database.
        connections.close_all()


@pytest.fixture
def problems() -> list[str]:
    """What went wrong in the browser. A test that provokes problems checks and clears the list."""
    return []


@pytest.fixture
def screen(
    browser: Browser, site_origin: str, problems: list[str], transactional_db: TransactionTestCase
) -> Iterator[Page]:
    """A browser page of a new visitor. The test fails on an error in the console, a failed request,
    a status of 400 or above, or a request to another origin."""
    context = browser.new_context(base_url=site_origin)
    context.set_default_timeout(_TIMEOUT_MILLISECONDS)
    _collect(context, site_origin, problems)
    yield context.new_page()
    context.close()
    wait_until_idle(urlsplit(site_origin).port or 0)
    assert problems == [], problems


def _collect(context: BrowserContext, origin: str, problems: list[str]) -> None:
    def check_status(response: Response) -> None:
        if response.status >= 400:
            problems.append(f"{response.status} {response.request.method} {response.url}")

    def failed(request: Request) -> None:
        # Leaving a page aborts what it still loads, which is not an error.
        if request.failure != "net::ERR_ABORTED":
            problems.append(f"{request.failure} {request.url}")

    context.on("response", check_status)
    context.on("requestfailed", failed)
    context.on("weberror", lambda error: problems.append(f"script: {error.error}"))
    context.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((origin, "data:", "blob:"))
            else problems.append(f"elsewhere: {request.url}")
        ),
    )
    context.on(
        "console",
        lambda message: (
            problems.append(f"console: {message.text}") if message.type == "error" else None
        ),
    )


def violations(page: Page | Frame) -> list[str]:
    """The accessibility violations that axe-core finds on the page, including minor violations,
    each as a rule and an element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_VIOLATIONS)
    return found


def save(page: Page, part: str) -> None:
    """Save a form of the site, with the page's shared button or its own, and wait for success."""
    form = page.locator(f"#{part}-form")
    group = page.locator("[data-together]").filter(has=form)
    button = group.locator("[data-save-all]") if group.count() else None
    (button or form.locator("button[type=submit]")).click()
    expect(page.locator(f"#{part}").get_by_role("status")).to_be_visible()
