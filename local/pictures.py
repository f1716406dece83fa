"""`make pictures`: takes screenshots of a demo shop for the README and the docs.

It starts the platform with a port and data of its own, so that each run begins with the same demo.
"""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from local.chromium import find_chromium
from local.os_processes import ServerError, die_with_parent, free_port, wait_until
from local.parts import ROOT

IMAGES = ROOT / "docs" / "images"
WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
START_SECS = 600


@dataclass(frozen=True)
class Picture:
    """A screenshot of a page, as a person with this role sees it. `before` prepares the page."""

    name: str
    path: str
    role: str = ""
    before: Callable[[Page], None] = lambda page: None
    is_dark: bool = False
    on_phone: bool = False


def ask(page: Page) -> None:
    """Ask the bot in the widget a question that the shop's documents answer."""
    widget = page.frame_locator("iframe")
    widget.get_by_role("button", name="Open the chat").click()
    field = widget.get_by_label("Write a message")
    field.fill("How long do I have to return an order?")
    field.press("Enter")
    widget.locator(".message.bot .thumbs").first.wait_for()


def ask_on_test(page: Page) -> None:
    field = page.locator("input[name=question]:visible, textarea[name=question]:visible")
    field.fill("How much is shipping to Germany?")
    field.press("Enter")
    page.locator("[data-confidence]").first.wait_for()


def open_first_chat(page: Page) -> None:
    page.get_by_role("button", name="Unassigned").click()
    page.locator("button.chat").first.click()
    page.locator(".message").first.wait_for()


def open_first_row(page: Page) -> None:
    page.locator("#result_list tbody a").first.click()
    page.wait_for_load_state()


PICTURES = (
    Picture("desk", "/admin/desk/", "Agent", open_first_chat),
    Picture("desk-dark", "/admin/desk/", "Agent", open_first_chat, is_dark=True),
    Picture("desk-phone", "/admin/desk/", "Agent", open_first_chat, on_phone=True),
    Picture("widget", "/demo", before=ask),
    Picture("widget-phone", "/demo", before=ask, on_phone=True),
    Picture("home", "/admin/", "Owner"),
    Picture("home-staff-dark", "/admin/", "Platform staff", is_dark=True),
    Picture("register", "/admin/register/"),
    Picture("bot-look", "/admin/bots/bot/1/look/", "Owner"),
    Picture("bot-test", "/admin/chats/conversation/try/1/", "Owner", ask_on_test),
    Picture("unanswered", "/admin/chats/questiongroup/", "Owner"),
    Picture("webhook", "/admin/webhooks/webhookconfig/", "Owner", open_first_row),
    Picture("failures", "/admin/failures/", "Owner"),
    Picture("reports", "/admin/reports/", "Owner"),
    Picture("reports-phone", "/admin/reports/", "Owner", on_phone=True),
    Picture("reports-explore", "/admin/reports/adhoc/", "Owner"),
)


class Studio:
    """Takes screenshots of a running demo, whose data is in `folder`."""

    def __init__(self, origin: str, folder: Path, browser: Browser) -> None:
        self.origin, self.browser = origin, browser
        logins = json.loads((folder / "keys" / "demo_logins").read_text())
        self.logins = {login["role"]: login for login in reversed(logins)}

    def take(self, picture: Picture) -> None:
        context = self.browser.new_context(
            base_url=self.origin,
            viewport=PHONE if picture.on_phone else WIDE,
            color_scheme="dark" if picture.is_dark else "light",
            device_scale_factor=1.5 if picture.on_phone else 1,
            has_touch=picture.on_phone,
        )
        page = context.new_page()
        if picture.role:
            self._sign_in(page, picture.role)
        page.goto(picture.path)
        picture.before(page)
        page.wait_for_timeout(1000)  # for animations and late updates
        file = io.BytesIO(page.screenshot())
        Image.open(file).save(IMAGES / f"{picture.name}.webp", quality=80, method=6)
        context.close()

    def _sign_in(self, page: Page, role: str) -> None:
        page.goto("/admin/login/")
        page.locator("[name=username]").fill(self.logins[role]["email"])
        page.locator("[name=password]").fill(self.logins[role]["password"])
        page.locator("button[type=submit]").first.click()
        page.wait_for_url(lambda url: "/login/" not in url)


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """Run the platform with data in `folder`; yield its origin when the demo's jobs are done."""
    port = free_port()
    env = os.environ | {"PORT": str(port), "DATA_DIR": str(folder), "DEBUG": "true"}
    with (folder.parent / "run.log").open("w") as log:
        platform = subprocess.Popen(
            [sys.executable, "-m", "local.launcher"], cwd=ROOT, env=env, stdout=log, stderr=log,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )  # fmt: skip
        try:
            origin = f"http://127.0.0.1:{port}"
            if not wait_until(lambda: _is_idle(origin), secs=START_SECS):
                raise ServerError(f"The platform was not ready after {START_SECS} s.")
            yield origin
        finally:
            platform.terminate()
            platform.wait(60)


def _is_idle(origin: str) -> bool:
    """Whether the platform is running and no job is waiting."""
    try:
        with urllib.request.urlopen(f"{origin}/health", timeout=30) as reply:  # noqa: S310
            parts: list[dict[str, Any]] = json.load(reply)["parts"]
    except OSError:
        return False
    return any(part["detail"] == "0 jobs waiting" for part in parts)


def main() -> None:
    chromium = find_chromium()
    if chromium is None:
        raise ServerError("Install the package `chromium-headless-shell`.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        data = Path(folder) / "data"
        with demo(data) as origin:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            studio = Studio(origin, data, browser)
            for picture in PICTURES:
                studio.take(picture)
                sys.stdout.write(f"{picture.name}\n")
            browser.close()


if __name__ == "__main__":
    main()
