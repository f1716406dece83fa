"""A shop's page on another origin than the platform's, with the widget on it."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import FrameLocator, Page, expect

from bots.models import Bot
from bots.testing import trained
from identity.testing import Person

ANSWERED = "You may return an order within thirty days, with its receipt."
# A page that lets nothing in but the widget, and whose styles and scripts would break it.
PAGE = """<!doctype html><title>Shop</title>
<style>* { all: unset !important } iframe { display: none !important; width: 1px }</style>
<script nonce="x">Array.prototype.shop = 1; window.onmessage = () => true;</script>
<script src="ORIGIN/widget/v1/loader.js" data-key="KEY" ATTRIBUTES></script>
<h1>Shop</h1>"""


class Shop:
    """A shop's page on another origin than the platform's, with the widget on it."""

    def __init__(self, origin: str, key: str) -> None:
        self.attributes = {"data-language": "en"}
        shop = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = PAGE.replace("ORIGIN", origin).replace("KEY", key)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header(
                    "Content-Security-Policy",
                    f"default-src 'none'; style-src 'unsafe-inline'; frame-src {origin};"
                    f" script-src 'nonce-x' {origin}; img-src data:",
                )
                self.end_headers()
                given = " ".join(f'{name}="{value}"' for name, value in shop.attributes.items())
                self.wfile.write(body.replace("ATTRIBUTES", given).encode())

            def log_message(self, *_: object) -> None:
                """Not on the screen of the tests."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, args=(0.005,), daemon=True).start()

    def open(self, screen: Page) -> FrameLocator:
        screen.goto(self.url)
        return screen.frame_locator("iframe")


def running(
    origin: str, page: Person, bot: Bot, screen: Page, problems: list[str]
) -> Iterator[Shop]:
    """The shop, whose bot knows something, while a test runs."""
    bot.allowed_domain = "localhost"
    bot.save()
    trained(bot, f"Returns. {ANSWERED}")
    shop = Shop(origin, page.headers["API-KEY"])
    yield shop
    # Its last requests end before the test's rows are removed.
    screen.goto("about:blank")
    screen.wait_for_timeout(300)
    shop.server.shutdown()
    shop.server.server_close()
    # The shop itself is elsewhere, and has no icon: that is no fault of the widget.
    problems[:] = [problem for problem in problems if shop.url not in problem]


def write(widget: FrameLocator, text: str) -> None:
    field = widget.locator(".composer textarea")
    field.fill(text)
    field.press("Enter")
    expect(widget.locator(".message.customer .text", has_text=text)).to_be_visible()
    expect(widget.locator(".waiting")).to_have_count(0)


def news(screen: Page) -> None:
    """The widget looks every ten seconds, and at once when the network is back."""
    screen.frames[1].evaluate("dispatchEvent(new Event('online'))")


def statuses(problems: list[str]) -> set[str]:
    """Of the answers that were refusals, as the test wants them; then they are no problem."""
    found = {problem[:3] for problem in problems if problem[0].isdigit()}
    problems.clear()
    return found
