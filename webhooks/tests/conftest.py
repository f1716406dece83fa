"""Fixtures for webhooks: receivers on real sockets, and a dispatcher."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.db import connection
from standardwebhooks import Webhook

from webhooks.models import Delivery, WebhookConfig


class Receiver(ThreadingHTTPServer):
    """A client's server on a real socket: `script` sets its answers; `got` holds requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = "fine"
        self.got = []
        self.landed = 0
        self.release = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()

    @property
    def host_port(self):
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self):
        return f"http://{self.host_port}/hook"

    def handle_error(self, request, client_address):
        """Senders disconnect on purpose in these tests."""

    def verify(self, secret):
        """The received bodies, verified by the official library."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.got]

    @property
    def ids(self):
        return [headers["webhook-id"] for headers, _ in self.got]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def log_message(self, format, *args):
        pass

    def do_GET(self):
        self.server.landed += 1
        self.answer(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append((headers, body))
        script, _, rest = self.server.script.partition(":")
        getattr(self, f"do_{script}")(rest)

    def answer(self, status, body=b"ok", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_fine(self, rest):
        self.answer(200, rest.encode() or b"ok")

    def do_status(self, rest):
        self.answer(int(rest), b"no")

    def do_hang(self, rest):
        self.server.release.wait(60)
        self.close_connection = True

    def do_late(self, rest):
        self.server.release.wait(60)
        self.answer(200)

    def do_drip(self, rest):
        self.send_response(200)
        self.end_headers()
        while not self.server.release.wait(0.05):
            self.wfile.write(b".")
        self.close_connection = True  # else the sender waits for more until its time is over

    def do_redirect(self, rest):
        self.answer(301, Location=f"http://{self.server.host_port}/landed")

    def do_close(self, rest):
        self.close_connection = True

    def do_busy(self, rest):
        self.answer(429, Retry_After=rest)

    def do_flap(self, rest):
        self.answer(500 if len(self.server.got) % 2 else 200)

    def do_long(self, rest):
        self.answer(200, b"x" * 5_000_000)


@pytest.fixture
def make_receiver(settings):
    receivers = []

    def make(script="fine"):
        receiver = Receiver()
        receiver.script = script
        settings.EGRESS_ALLOW = [*settings.EGRESS_ALLOW, receiver.host_port]
        receivers.append(receiver)
        return receiver

    yield make
    for receiver in receivers:
        receiver.release.set()
        receiver.shutdown()
        receiver.server_close()


@pytest.fixture
def receiver(make_receiver):
    return make_receiver()


@pytest.fixture
def listening(client_a, make_endpoint, receiver):
    """Client A's endpoint at `receiver`."""
    return make_endpoint(client_a, url=receiver.url)


@pytest.fixture
def make_due(db):
    """Makes waiting deliveries due now and closes every circuit breaker."""

    def move(**filters):
        WebhookConfig.objects.update(paused_until=None)
        with connection.cursor() as cursor:
            cursor.execute("SELECT statement_timestamp()")
            (now,) = cursor.fetchone()
        return Delivery.objects.filter(due_at__isnull=False, **filters).update(due_at=now)

    return move
