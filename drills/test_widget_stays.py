"""The widget on shops' pages that Turbo and htmx change without loading the page again."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect, sync_playwright

from drills.platform import OWNER, Platform, wait_until

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is missing: install Node.js"),
]
PACKAGES = ("@hotwired/turbo@8.0.23", "htmx.org@2.0.11", "htmx-4@npm:htmx.org@4.0.1")
# The script of each library, and what the body needs for links to be followed by it.
LIBRARIES = {
    "turbo": ("@hotwired/turbo/dist/turbo.es2017-umd.js", ""),
    "htmx": ("htmx.org/dist/htmx.min.js", 'hx-boost="true"'),
    "htmx-4": ("htmx-4/dist/htmx.min.js", 'hx-boost:inherited="true"'),
}
PAGE = """<!doctype html>
<html lang="en"><head><title>{title}</title><script src="/node_modules/{script}"></script></head>
<body {attributes}><h1>{title}</h1><a href="/{library}-{other}.html">{other}</a>
<script src="{origin}/widget/v1/loader.js" data-key="{key}" async></script></body></html>
"""
PATIENCE = 60_000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a shop's pages, two for each library, with the demo bot's widget."""
    folder = tmp_path_factory.mktemp("shop")
    subprocess.run(("npm", "install", "--no-audit", "--no-fund", *PACKAGES), cwd=folder, check=True)
    with Platform(tmp_path_factory.mktemp("platform")) as platform:
        owner = platform.login(OWNER, platform.secret("demo_password"))

        def is_trained() -> bool:
            documents = platform.call("GET", "/ai/1/train/document", owner)["items"]
            return {document["status"] for document in documents} == {"trained", "failed"}

        wait_until(is_trained, what="training")
        body = {"name": "Shop", "scope": "public", "bot_id": 1}
        key = platform.call("POST", "/identity/api-keys", owner, json=body)["key"]
        write_pages(folder, f"http://127.0.0.1:{platform.port}", key)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        server.server_close()


def write_pages(folder: Path, origin: str, key: str) -> None:
    for library, (script, attributes) in LIBRARIES.items():
        for title, other in (("Home", "Offers"), ("Offers", "Home")):
            page = PAGE.format(
                title=title, other=other, library=library, script=script, attributes=attributes,
                origin=origin, key=key,
            )  # fmt: skip
            (folder / f"{library}-{title}.html").write_text(page)


@pytest.fixture
def screen(chromium_path: str) -> Iterator[Page]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def ask(widget: FrameLocator, text: str, *, number: int) -> None:
    """Write a message; the answer is the conversation's answer of this number."""
    field = widget.get_by_label("Write a message")
    field.fill(text)
    field.press("Enter")
    answers = widget.locator(".message.bot:not(.draft)", has=widget.locator(".thumbs"))
    expect(answers).to_have_count(number, timeout=PATIENCE)
    expect(answers.last).to_contain_text("30 days")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_conversation_goes_on_while_the_pages_change(shop: str, screen: Page, library: str):
    faults: list[str] = []
    screen.on("pageerror", lambda error: faults.append(str(error)))
    screen.goto(f"{shop}/{library}-Home.html")
    screen.evaluate("window.isSamePage = true")
    widget = screen.frame_locator("iframe")
    widget.get_by_role("button", name="Open the chat").click()
    ask(widget, "How many days do I have to return an item?", number=1)
    widget.get_by_label("Write a message").fill("Half a thou")
    for title in ("Offers", "Home"):
        screen.get_by_role("link", name=title).click()
        expect(screen.get_by_role("heading", level=1)).to_have_text(title)
    screen.go_back()
    expect(screen.get_by_role("heading", level=1)).to_have_text("Offers")
    assert screen.evaluate("window.isSamePage"), f"{library} loaded the page again"
    expect(screen.locator("iframe")).to_have_count(1)
    expect(widget.get_by_label("Write a message")).to_have_value("Half a thou")
    ask(widget, "Within how many days can I return an item?", number=2)
    expect(widget.locator(".message.customer")).to_have_count(2)
    assert faults == []
