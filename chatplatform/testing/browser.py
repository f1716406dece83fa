"""Browser tests: the Chromium of the system, on a real web process of the platform."""

import os
import shutil
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

from chatplatform.testing.web_process import free_port, wait_until_idle, web

PHONE: ViewportSize = {"width": 390, "height": 844}
# Milliseconds that a page has to show what a test waits for.
_PATIENCE = 15_000
expect.set_options(timeout=_PATIENCE)
# The page itself picks them: what holds is long, and would travel through three processes.
_VIOLATIONS = """axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))"""


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is. A person may do without these tests, continuous integration may not."""
    # Of the same engine: without a browser's windows it takes two thirds of the processor time.
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        message = "Browser tests need Chromium: install the package `chromium-headless-shell`."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def outside_port() -> int:
    """Where a test may serve what the platform calls, such as a customer's web site."""
    return free_port()


@pytest.fixture(scope="session")
def site_origin(chromium_path: str, outside_port: int, django_db_setup: None) -> Iterator[str]:
    """The address of a web process that serves all browser tests."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    with web(
        port=port,
        DJANGO_SETTINGS_MODULE="chatplatform.tests.cached_site",
        PUBLIC_URL=origin,
        EGRESS_ALLOW=f"127.0.0.1:{outside_port}",
    ):
        yield origin


def pytest_itemcollected(item: pytest.Item) -> None:
    """A browser test that is no journey runs with `make check` alone."""
    if _needs_browser(item) and not item.get_closest_marker("journey"):
        item.add_marker("full")


def _needs_browser(item: pytest.Item) -> bool:
    return "chromium_path" in getattr(item, "fixturenames", ())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: from the first on, the browser's driver keeps an event loop in this
    thread, and other tests start their own. The longest begins before the others, so that no
    process is still at it when all others are done."""

    def turn(item: pytest.Item) -> int:
        if not _needs_browser(item):
            return 0
        return 1 if item.get_closest_marker("long") else 2

    items.sort(key=turn)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One for all tests; each has a context of its own."""
    # Django refuses the ORM where a loop runs; this loop only waits for the browser.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        # Containers forbid Chromium's own sandbox; it opens no address but ours. Without a GPU
        # process that imitates one, pages are drawn with less work.
        started = driver.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()
        # Django keeps another connection while this thread has a loop; none may outlive the tables.
        connections.close_all()


@pytest.fixture
def problems() -> list[str]:
    """What went wrong in the browser. A test that provokes something looks at it and clears it."""
    return []


@pytest.fixture
def screen(
    browser: Browser, site_origin: str, problems: list[str], transactional_db: TransactionTestCase
) -> Iterator[Page]:
    """A page of a new visitor. The test fails on an error in the console, a request that fails, an
    answer from 400 on, and a request to anywhere else."""
    context = browser.new_context(base_url=site_origin)
    context.set_default_timeout(_PATIENCE)
    _collect(context, site_origin, problems)
    yield context.new_page()
    context.close()
    wait_until_idle(urlsplit(site_origin).port or 0)
    assert problems == [], problems


def _collect(context: BrowserContext, origin: str, problems: list[str]) -> None:
    def answered(response: Response) -> None:
        if response.status >= 400:
            problems.append(f"{response.status} {response.request.method} {response.url}")

    def failed(request: Request) -> None:
        # Who leaves a page gives up what it still loads: that is no fault.
        if request.failure != "net::ERR_ABORTED":
            problems.append(f"{request.failure} {request.url}")

    context.on("response", answered)
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
    """What axe-core finds on the page that shuts people out: each rule with the elements that
    break it, minor ones included."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_VIOLATIONS)
    return found
