"""A web process whose connections are held: by one person's feeds, by strangers who say nothing."""

import resource
import socket
import time
from contextlib import ExitStack, closing, contextmanager

import pytest
import redis

from chatplatform.live import valkey
from chatplatform.testing.web_process import web
from chats.services.desk import feed_limits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
MANY = 1_100
WHOLE = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def hasty_port(django_db_setup):
    with web(GRANIAN_HTTP1_HEADER_READ_TIMEOUT="1000") as port:
        yield port


@pytest.fixture(autouse=True)
def room_for_files():
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before, min(most, 4 * MANY)), most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


@contextmanager
def held(port, count, text=b""):
    """So many connections on which the text was sent, and no answer is read."""
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            opened.append(stack.enter_context(closing(connection)))
            connection.sendall(text)
        yield opened


def asks(path, person):
    token = person.headers["Authorization"]
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\r\n".encode()


def status_of(connection):
    return connection.recv(12).decode().removeprefix("HTTP/1.1 ")


def test_a_request_beside_a_thousand_feeds_and_as_many_silent_connections(ann, ben, bot):
    feed = asks("/ai/chat/events", ben)
    with web() as port, held(port, MANY), held(port, MANY, feed) as feeds:
        with held(port, 1, asks("/ai/bot", ann)) as [connection]:
            assert status_of(connection) == "200"
        answers = [status_of(feed) for feed in feeds]
        # One that ends makes room for another.
        feeds[answers.index("200")].close()
        assert "200" in (taken_again(port, feed) for _ in range(100))
    assert (answers.count("200"), answers.count("429")) == (10, MANY - 10)


def taken_again(port, text):
    time.sleep(0.1)
    with held(port, 1, text) as [connection]:
        return status_of(connection)


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", WHOLE])
def test_a_connection_without_a_whole_request_is_cut(hasty_port, said):
    with held(hasty_port, 1, said) as [connection]:
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200" if said == WHOLE else b"")


def test_a_client_has_as_many_feeds_as_it_may(hasty_port, ann, ben, cara):
    ann.client.rate_limit_factor = 0.003
    ann.client.save()
    with ExitStack() as stack:
        answers = []
        for person in (ann, ann, ben, ben, cara):
            text = asks("/ai/chat/events", person)
            [connection] = stack.enter_context(held(hasty_port, 1, text))
            answers.append(status_of(connection))
    assert answers == ["200", "200", "200", "429", "200"]


def test_the_place_of_a_process_that_died_is_free_again(ann, settings, monkeypatch):
    places = [feed_limits.Place(ann.user) for _ in range(feed_limits.OF_PERSON + 1)]
    for place in places[:-1]:
        place.take()
    refused = ann.get("/ai/chat/events")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_feeds")
    assert refused["Retry-After"]
    monkeypatch.setattr(feed_limits, "_SPARE_SECONDS", 1)
    settings.SSE_REAUTH_SECONDS = 0
    for place in places[:-1]:
        assert place.keep()
    time.sleep(1.1)
    assert places[-1].keep()


def test_without_valkey_nobody_is_counted(ann, monkeypatch):
    def away():
        raise redis.ConnectionError("away")

    monkeypatch.setattr(valkey, "shared", away)
    for _ in range(feed_limits.OF_PERSON + 1):
        feed_limits.Place(ann.user).take()
