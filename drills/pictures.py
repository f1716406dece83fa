"""`make pictures`: takes the pictures of README and docs from a running demo shop.

Starts the platform with its own port and data, so that each run begins with the same demo.
"""

import io
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from drills.platform import ROOT, Platform, wait_until

IMAGES = ROOT / "docs" / "images"
WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Picture:
    """A picture of a page as somebody sees it; `before` brings the page into its state."""

    name: str
    path: str
    role: str = ""
    before: Callable[[Page], None] = lambda page: None
    is_dark: bool = False
    on_phone: bool = False


def ask(page: Page) -> None:
    """Ask the widget something that the shop's documents answer."""
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
    page.wait_for_load_state("networkidle")


PICTURES = (
    Picture("desk", "/admin/desk/", "Agent", open_first_chat),
    Picture("desk-dark", "/admin/desk/", "Agent", open_first_chat, is_dark=True),
    Picture("desk-phone", "/admin/desk/", "Agent", open_first_chat, on_phone=True),
    Picture("widget", "/demo", before=ask),
    Picture("widget-phone", "/demo", before=ask, on_phone=True),
    Picture("home", "/admin/", "Owner"),
    Picture("home-phone", "/admin/", "Owner", on_phone=True),
    Picture("home-staff-dark", "/admin/", "Platform staff", is_dark=True),
    Picture("register", "/admin/register/"),
    Picture("bot-content", "/admin/bots/bot/1/content/", "Owner"),
    Picture("bot-look", "/admin/bots/bot/1/look/", "Owner"),
    Picture("bot-test", "/admin/chats/conversation/try/1/", "Owner", ask_on_test),
    Picture("unanswered", "/admin/chats/questiongroup/", "Owner"),
    Picture("conversation", "/admin/chats/conversation/", "Owner", open_first_row),
    Picture("channels", "/admin/channels/", "Owner"),
    Picture("webhook", "/admin/webhooks/webhookconfig/", "Owner", open_first_row),
    Picture("failures", "/admin/failures/", "Owner"),
    Picture("reports", "/admin/reports/", "Owner"),
    Picture("reports-phone", "/admin/reports/", "Owner", on_phone=True),
    Picture("reports-explore", "/admin/reports/adhoc/", "Owner"),
    Picture("settings-hours", "/admin/settings/hours/", "Owner"),
)


class Studio:
    """Takes pictures of a running platform."""

    def __init__(self, platform: Platform, browser: Browser) -> None:
        self.browser = browser
        self.origin = f"http://127.0.0.1:{platform.port}"
        logins = json.loads((platform.data / "keys" / "demo_logins").read_text())
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
        page.goto(picture.path, wait_until="networkidle")
        picture.before(page)
        page.wait_for_timeout(500)  # for what moves
        file = io.BytesIO(page.screenshot())
        Image.open(file).save(IMAGES / f"{picture.name}.webp", quality=80, method=6)
        context.close()

    def _sign_in(self, page: Page, role: str) -> None:
        page.goto("/admin/login/")
        page.locator("[name=username]").fill(self.logins[role]["email"])
        page.locator("[name=password]").fill(self.logins[role]["password"])
        page.locator("button[type=submit]").first.click()
        page.wait_for_url(lambda url: "/login/" not in url)


def has_rested(platform: Platform) -> bool:
    """Whether no job waits any more."""
    parts = platform.client.get("/health").json()["parts"]
    return any(part["detail"] == "0 jobs wait" for part in parts)


def main() -> None:
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert chromium, "install the package `chromium-headless-shell`"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        platform = Platform(Path(folder), DEBUG="true")
        try:
            wait_until(lambda: has_rested(platform), what="the demo's jobs are done")
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            studio = Studio(platform, browser)
            for picture in PICTURES:
                studio.take(picture)
                print(picture.name, flush=True)
            browser.close()
        finally:
            platform.stop()


if __name__ == "__main__":
    main()
