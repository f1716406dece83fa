"""Bodies are read before anybody serves them: broken, slow and unasked ones are refused early."""

import asyncio
import json
import re
import socket
from types import SimpleNamespace

import pytest

from chatplatform.api.errors import BodyTimeout
from chatplatform.web import bodies
from chatplatform.web.asgi_application import Application
from identity.testing import make_key, signed_in

NAMED = "X-Request-ID: look-for-me-1"
FORM = "Content-Type: multipart/form-data; boundary=x"


def exchange(port, *lines, body=b""):
    """Send a request, then read: the status of the answer, and its code if it is a refusal."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        head = "\r\n".join([f"{lines[0]} HTTP/1.1", "Host: localhost", NAMED, *lines[1:], "", ""])
        connection.sendall(head.encode() + body)
        answer = b""
        while b"}" not in answer:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece
    status, found = int(answer.split()[1]), re.search(rb'"code":"(\w+)"', answer)
    if found:
        assert b"x-request-id: look-for-me-1\r\n" in answer.lower(), answer
        assert b'"request_id":"look-for-me-1"' in answer, answer
    return status, found[1].decode() if found else None


@pytest.mark.django_db(transaction=True)
def test_what_no_operation_should_see_is_refused_before_it(web_port, ann, bot):
    key = next(iter(make_key(ann.client).headers.items()))
    upload = f"POST /ai/{bot.pk}/train/document"
    long, half = "Content-Length: 90000000", b"a" * 1_200_000
    chunked = "Transfer-Encoding: chunked"
    assert exchange(web_port, "POST /ai/bot", chunked, body=b"ZZ\r\n{}\r\n") == (400, "bad_request")
    large = exchange(web_port, "GET /ai/bot", "X-Large: " + "a" * 17_000)
    assert large == (431, "headers_too_large")
    # Nobody waits for the rest of what they may not send.
    assert exchange(web_port, upload, FORM, long, body=half) == (401, "not_authenticated")
    refused = exchange(web_port, upload, FORM, long, ": ".join(key), body=half)
    assert refused == (401, "not_authenticated"), "people train, keys do not"
    owner = f"Authorization: {ann.headers['Authorization']}"
    assert exchange(web_port, "POST /ai/bot", owner, long, body=half) == (413, "too_large")
    parts = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    whole = parts + half + b"\r\n--x--\r\n"
    sent = f"Content-Length: {len(whole)}"
    assert exchange(web_port, upload, FORM, sent, owner, body=whole) == (202, None)


@pytest.mark.django_db(transaction=True)
def test_who_is_signed_in_to_the_site_sends_it_files(web_port, ann, settings):
    page, token = "POST /admin/profile/", "a" * 32
    named = 'Content-Disposition: form-data; name="{}"'.format
    fields = {"form": "profile", "csrfmiddlewaretoken": token, "full_name": "A", "language": "en"}
    parts = [f"--x\r\n{named(name)}\r\n\r\n{value}\r\n" for name, value in fields.items()]
    parts += [f'--x\r\n{named("file")}; filename="no-picture.png"\r\n\r\n']
    whole = "".join(parts).encode() + b"a" * 1_200_000 + b"\r\n--x--\r\n"
    sent, cookies = f"Content-Length: {len(whole)}", f"Cookie: csrftoken={token}"
    assert exchange(web_port, page, FORM, sent, cookies, body=whole) == (413, "too_large")
    session = signed_in(ann.user).cookies[settings.SESSION_COOKIE_NAME].value
    cookies += f"; {settings.SESSION_COOKIE_NAME}={session}"
    # The page says beside the field that the file is no picture.
    assert exchange(web_port, page, FORM, sent, cookies, body=whole) == (200, None)


CHUNKED = {"http_version": "1.1", "headers": [(b"transfer-encoding", b"chunked")]}


@pytest.mark.parametrize("pieces", [0, 1, 1_000])
def test_a_slow_body_is_cut(monkeypatch, pieces):
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 0.2)
    left, sent = [pieces], []
    scope = {"type": "http", "method": "POST", "path": "/ai/bot", **CHUNKED}

    async def receive():
        await asyncio.sleep(0.01 if left[0] else 60)
        left[0] -= 1
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message):
        sent.append(message)

    application = Application()
    asyncio.run(asyncio.wait_for(application.serve(scope, receive, send), 30))
    body = json.loads(sent[1]["body"])
    assert (sent[0]["status"], body["code"]) == (408, "too_slow")
    assert (b"x-request-id", body["request_id"].encode()) in sent[0]["headers"]


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_nobody_waits_for_a_body_that_is_not_announced(version):
    async def receive():
        return {"type": "http.request", "body": b"unannounced"}

    async def never():
        raise AssertionError("nobody is asked about a small body")

    scope = {"http_version": version, "headers": [(b"content-length", b"0")]}
    with asyncio.run(bodies.read(scope, receive, never)) as body:
        assert body.read() == (b"" if version == "1.1" else b"unannounced")


@pytest.mark.parametrize(("size", "is_cut"), [(7_000, False), (3_000, True)])
def test_a_body_may_pause_if_it_comes_fast_enough(monkeypatch, size, is_cut):
    now, pieces = [0.0], [b"a" * size] * 5
    monkeypatch.setattr(bodies, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def receive():
        now[0] += 6
        piece = pieces.pop()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def never():
        raise AssertionError("nobody is asked about a small body")

    if is_cut:
        with pytest.raises(BodyTimeout):
            asyncio.run(bodies.read(CHUNKED, receive, never))
    else:
        with asyncio.run(bodies.read(CHUNKED, receive, never)) as body:
            assert body.size == 5 * size
