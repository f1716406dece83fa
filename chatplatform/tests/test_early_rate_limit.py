"""A flood with one key: the process that refuses it does so without a thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from bots.testing import make_bot
from chatplatform.api import rate_limits
from chatplatform.live import valkey
from chatplatform.web import early_rate_limit
from chatplatform.web.asgi_application import Application
from chats.testing import visit
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)
CHAT, LANGUAGES = "/ai/client/chat", "/identity/languages/by-api-key"
VARYING = {"x-request-id", "retry-after", "ratelimit"}


@pytest.fixture
def served(settings, monkeypatch):
    """Serves requests; `served.by_threads` names the paths that a thread served."""
    settings.RATE_LIMIT_SCALE = 0.1
    # What is used up stays so for a minute, however long the test takes.
    monkeypatch.setattr(rate_limits, "VISITORS_BURST", 1_000)
    settings.TRUSTED_PROXIES = []
    monkeypatch.setattr(early_rate_limit, "CACHE_SECONDS", 3_600)
    for key in valkey.shared().scan_iter("LIMITS*"):
        valkey.shared().delete(key)
    served = Served()
    yield served
    served.application.threads.submit(connections.close_all)
    served.application.threads.shutdown()


class Counted(Application):
    """An application that serves with one thread, and names what it served."""

    def __init__(self):
        super().__init__()
        self.threads.shutdown()
        self.threads = ThreadPoolExecutor(1)
        self.by_threads = list[str]()

    def respond(self, scope, body):
        self.by_threads.append(scope["path"])
        return super().respond(scope, body)


class Served:
    """An application in this process, asked as the server asks it."""

    def __init__(self):
        self.application = Counted()
        self.by_threads = self.application.by_threads

    def ask(self, caller, path, method="GET", body=b"", address="192.0.2.1", **headers):
        """The status, the headers and the body of an answer."""
        headers = caller.headers | {"Host": "testserver"} | headers
        if body:
            headers["Content-Length"] = str(len(body))
        scope = {
            "type": "http", "method": method, "path": path, "query_string": b"",
            "http_version": "1.1", "scheme": "http", "client": (address, 1),
            "headers": [(n.lower().encode(), v.encode()) for n, v in headers.items()],
        }  # fmt: skip
        sent = []

        async def receive():
            assert body is not None, "it is refused ahead of its body"
            return {"type": "http.request", "body": body}

        async def send(message):
            sent.append(message)

        asyncio.run(self.application.serve(scope, receive, send))
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], found, sent[1]["body"]


@pytest.fixture
def page(ann):
    return make_key(ann.client, "public", make_bot(ann.client).pk)


def write(served, visitor, chat, **headers):
    body = b'{"text":"Hello","reply":"none"}'
    return served.ask(visitor, f"{CHAT}/{chat.pk}", "POST", body, **headers)


def test_a_flood_that_is_refused_takes_no_thread(served, page):
    visitor, chat = visit(page)
    assert [write(served, visitor, chat)[0] for _ in range(3)] == [200, 200, 429]
    first, taken = write(served, visitor, chat), len(served.by_threads)
    for number in range(20):
        status, headers, body = write(served, visitor, chat, **{"X-Request-ID": f"r{number}"})
        assert (status, headers["x-request-id"]) == (429, f"r{number}")
        assert f'"request_id":"r{number}"'.encode() in body
        assert b'"code":"too_many_requests"' in body
        assert 1 <= int(headers["retry-after"]) <= 60
        assert headers["ratelimit"].startswith('"replies";r=0;t=')
        assert {*headers} == {*first[1]}
        same = {name for name in headers if headers[name] == first[1][name]}
        assert {*headers} - same <= VARYING
    assert len(served.by_threads) == taken == 3
    assert chat.messages.count() == 2


@pytest.mark.parametrize(
    "framing", [("Content-Length", "90000000"), ("Transfer-Encoding", "chunked")]
)
def test_the_body_of_whoever_is_refused_is_not_read(served, page, framing):
    visitor, chat = visit(page)
    for _ in range(3):
        write(served, visitor, chat)
    name, value = framing
    path = f"{CHAT}/{chat.pk}"
    status, headers, body = served.ask(visitor, path, "POST", None, **{name: value})
    assert (status, headers["connection"]) == (429, "close")
    assert b'"code":"too_many_requests"' in body
    # A small one is: its connection goes on.
    assert "connection" not in write(served, visitor, chat, **{"Content-Length": "31"})[1]


def test_nobody_else_is_refused_with_the_flood(served, page):
    visitor, chat = visit(page)
    other, others_chat = visit(page)
    for _ in range(5):
        write(served, visitor, chat)
    assert write(served, other, others_chat)[0] == 200, "another visitor"
    assert served.ask(visitor, f"{CHAT}/{chat.pk}")[0] == 200, "another operation"
    assert write(served, visitor, others_chat)[0] == 429, "the visitor's limit, not the chat's"
    assert served.ask(make_key(page.client), LANGUAGES)[0] == 200, "another key"


def test_a_flood_of_a_page_is_refused_by_its_address(served, page):
    answers = [served.ask(page, LANGUAGES)[0] for _ in range(40)]
    assert answers == [200] * 30 + [429] * 10
    assert len(served.by_threads) == 31
    assert served.ask(page, LANGUAGES, address="192.0.2.2")[0] == 200


def test_a_page_of_another_site_is_refused_as_ever(served, page):
    for _ in range(31):
        served.ask(page, LANGUAGES)
    status, headers, _ = served.ask(page, LANGUAGES, Origin="https://elsewhere.example")
    assert (status, "access-control-allow-origin" in headers) == (403, False)


def test_a_limit_that_was_raised_counts_soon(served, page, monkeypatch, settings):
    for _ in range(32):
        served.ask(page, LANGUAGES)
    settings.RATE_LIMIT_SCALE = 1
    assert served.ask(page, LANGUAGES)[0] == 429
    monkeypatch.setattr(early_rate_limit, "CACHE_SECONDS", 0)
    assert served.ask(page, LANGUAGES)[0] == 200
