"""Security of a running platform: sign-in timing, hostile connections, response headers."""

import re
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from drills.platform import OWNER, Platform

pytestmark = pytest.mark.timeout(900)
TRIES, SLOW = 200, 200
PAGES = ("/", "/admin/login/", "/identity/languages", "/docs", "/no-such-page", "/admin/")


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(
        tmp_path_factory.mktemp("security"), TRUSTED_PROXIES="127.0.0.1/32",
        ALLOWED_HOSTS="127.0.0.1", HSTS_SECONDS="31536000",
    ) as running:  # fmt: skip
        yield running


def test_a_wrong_sign_in_takes_as_long_for_an_unknown_address(platform: Platform) -> None:
    taken: dict[str, list[float]] = {OWNER: [], "nobody@demo.example": []}
    for number in range(TRIES):
        # Only eight tries of each from one address, so that none is locked.
        headers = {"X-Forwarded-For": f"198.51.100.{number // 8}"}
        for email, times in taken.items():
            form = {"username": email, "password": "wrong-horse-battery"}
            began = time.perf_counter()
            reply = platform.client.post("/identity/token2", data=form, headers=headers)
            times.append(1000 * (time.perf_counter() - began))
            assert (reply.status_code, reply.json()["code"]) == (401, "invalid_grant")
    known, unknown = (statistics.median(times) for times in taken.values())
    print(f"\n{TRIES} wrong sign-ins each: known address {known:.1f} ms, unknown {unknown:.1f} ms")
    assert abs(known - unknown) <= 0.1 * max(known, unknown)


def exchange(platform: Platform, head: bytes) -> str:
    """The first line of the answer to raw bytes; empty if the connection is closed."""
    with closing(socket.create_connection(("127.0.0.1", platform.port), 30)) as connection:
        connection.sendall(head)
        return connection.makefile("rb").readline().decode().strip()


def test_hostile_heads_are_refused(platform: Platform) -> None:
    host = f"Host: 127.0.0.1:{platform.port}\r\n".encode()
    post = b"POST /ai/bot HTTP/1.1\r\n" + host + b"Connection: close\r\n"
    get = b"GET /health/live HTTP/1.1\r\nConnection: close\r\n"
    answers = {
        "a strange host": exchange(
            platform, b"GET /ai/bot HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        ),
        "two lengths": exchange(
            platform, post + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc"
        ),
        "length and chunks": exchange(
            platform, post + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        "64 KB of headers": exchange(
            platform, get + host + b"X-Long: " + b"a" * 65_536 + b"\r\n\r\n"
        ),
    }
    print(f"\n{answers}")
    assert " 400 " in answers["a strange host"]
    assert " 400 " in answers["two lengths"]
    assert " 431 " in answers["64 KB of headers"]
    assert " 2" not in answers["length and chunks"]


def test_slow_senders_keep_nobody_waiting(platform: Platform) -> None:
    senders = [socket.create_connection(("127.0.0.1", platform.port), 30) for _ in range(SLOW)]
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(1):
            for sender in senders:
                try:
                    sender.sendall(b"a")
                except OSError:
                    continue  # it was cut

    for sender in senders:
        sender.sendall(b"POST /ai/bot HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000\r\n\r\n")
    dripping = threading.Thread(target=drip)
    dripping.start()
    times = []
    try:
        for _ in range(100):
            began = time.perf_counter()
            assert platform.client.get("/identity/languages").status_code == 401
            times.append(1000 * (time.perf_counter() - began))
            time.sleep(0.1)
    finally:
        stop.set()
        dripping.join()
        for sender in senders:
            sender.close()
    p95 = statistics.quantiles(times, n=20)[-1]
    print(f"\nbeside {SLOW} connections that send a byte in a second: p95 {p95:.0f} ms")
    assert p95 < 500


@pytest.mark.parametrize("path", PAGES)
def test_every_page_tells_the_browser_what_it_may(platform: Platform, path: str) -> None:
    headers = platform.client.get(path, headers={"Accept": "text/html"}).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    secure = platform.client.get(path, headers={"X-Forwarded-Proto": "https"}).headers
    assert secure["Strict-Transport-Security"].startswith("max-age=31536000")
    for cookie in headers.get_list("set-cookie"):
        assert re.search("samesite=(lax|strict)", cookie, re.IGNORECASE)
