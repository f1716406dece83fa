"""Large bodies with a page's public key, which everybody can read."""

import asyncio
import select
import socket
from contextlib import ExitStack, closing
from types import SimpleNamespace

import pytest

from chatplatform.api.errors import BodyTimeout, TooLarge, TooManyRequests
from chatplatform.testing.web_process import web
from chatplatform.tests.test_bodies import FORM, exchange
from chatplatform.web import bodies
from chatplatform.web.bodies import BodyLimit
from chats.testing import make_chat, visit

pytestmark = pytest.mark.full

LONG = "Content-Length: 90000000"
HALF = b"a" * 1_200_000
PARTS = b"".join(
    b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n' % name + data + b"\r\n"
    for name, data in ((b"reply", b"none"), (b'files"; filename="a.txt', HALF))
)
WHOLE = PARTS + b"--x--\r\n"
FROM_ELSEWHERE = "X-Forwarded-For: 192.0.2.9"


@pytest.fixture
def visitor(page):
    """The lines of a visitor's request to send files."""
    visitor, chat = visit(page)
    return request_of(visitor, chat)


def request_of(caller, chat):
    headers = [f"{name}: {value}" for name, value in caller.headers.items()]
    return [f"POST /ai/client/chat/files/{chat.pk}/", FORM, *headers]


def begin(port, lines):
    """A connection on which a large body has begun."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = "\r\n".join([f"{lines[0]} HTTP/1.1", "Host: localhost", *lines[1:], LONG, "", ""])
    connection.sendall(head.encode() + HALF)
    return connection


def send_whole(port, lines, *more):
    return exchange(port, *lines, *more, f"Content-Length: {len(WHOLE)}", body=WHOLE)


@pytest.mark.django_db(transaction=True)
def test_a_large_body_needs_a_visitor_and_a_slot(server, bot, visitor, tmp_path):
    nobodys = [line for line in visitor if not line.startswith("Visitor-Token")]
    with web(DATA_DIR=str(tmp_path), TRUSTED_PROXIES="127.0.0.1/32") as port, ExitStack() as held:
        # Nobody waits for the rest of what they may not send.
        assert exchange(port, *nobodys, LONG, body=HALF) == (401, "not_authenticated")
        forged = exchange(port, *nobodys, "Visitor-Token: forged", LONG, body=HALF)
        assert forged == (401, "invalid_visitor_token")
        begun = [
            held.enter_context(closing(begin(port, visitor)))
            for _ in range(bodies.ADDRESS_UPLOADS + 1)
        ]
        first, *others = select.select(begun, [], [], 60)[0]
        assert not others, "one is refused, and the others are waited for"
        answer = first.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 429")
        assert b"retry-after: 10\r\n" in answer.lower()
        assert b"connection: close\r\n" in answer.lower()
        # Meanwhile others have slots, and the client's server needs none.
        assert send_whole(port, visitor, FROM_ELSEWHERE) == (200, None)
        assert send_whole(port, request_of(server, make_chat(bot))) == (200, None)
        for connection in begun:
            connection.close()
        # A slot is free again when its body has broken off.
        while (status := send_whole(port, visitor)[0]) == 429:
            pass
        assert status == 200


def limit(key, address, *, size=90_000_000):
    caps = {key: bodies.PUBLIC_KEY_UPLOADS, f"{key} {address}": bodies.ADDRESS_UPLOADS}
    return BodyLimit(size, bodies.PUBLIC_KEY_SECONDS, caps)


def read(limit, sizes, now):
    """Read a body that comes in pieces of these sizes, nine seconds after each other."""
    left = list(sizes)

    async def receive():
        now[0] += 9
        return {"type": "http.request", "body": bytes(left.pop()), "more_body": bool(left)}

    async def largest():
        return limit

    scope = {"http_version": "1.1", "headers": [(b"content-length", b"%d" % sum(sizes))]}
    return asyncio.run(bodies.read(scope, receive, largest))


def test_a_large_body_of_a_page_comes_within_minutes(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(bodies, "time", SimpleNamespace(monotonic=lambda: now[0]))
    pages = limit("key", "192.0.2.1")
    pieces = [200_000] * 33
    with read(pages, pieces, now) as body:
        assert body.size == sum(pieces)
    with pytest.raises(BodyTimeout):
        read(pages, [*pieces, 200_000], now)
    with read(BodyLimit(90_000_000), [*pieces, 200_000], now) as body:
        assert body.size > sum(pieces)


def test_a_slot_is_held_until_the_body_is_closed():
    for _ in range(2):
        with ExitStack() as held:
            for number in range(bodies.PUBLIC_KEY_UPLOADS):
                address = f"192.0.2.{number // bodies.ADDRESS_UPLOADS}"
                held.enter_context(read(limit("key", address), [len(HALF)], [0.0]))
            with pytest.raises(TooManyRequests):
                read(limit("key", "192.0.2.99"), [len(HALF)], [0.0])
            read(limit("other", "192.0.2.99"), [len(HALF)], [0.0]).close()
    # A body that is refused gives its slot back as well.
    for _ in range(2 * bodies.ADDRESS_UPLOADS):
        with pytest.raises(TooLarge):
            read(limit("key", "192.0.2.1", size=1_500_000), [len(HALF)] * 2, [0.0])
