import datetime
import gzip
import ipaddress
import json
import logging
import re
import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings

from chatplatform import checks, egress
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.egress import guard
from chatplatform.testing.refused_urls import BLOCKED_URLS
from chatplatform.testing.servers import serving

BOMB = gzip.compress(bytes(50_000_000))


class Receiver(ThreadingHTTPServer):
    """A server on the loopback that misbehaves by path and counts connections."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.connections = 0
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def get_request(self):
        self.connections += 1
        return super().get_request()

    def handle_error(self, request, client_address):
        """Tests close connections on purpose."""


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, body))
        answer = getattr(self, f"at_{self.path.strip('/').partition('/')[0]}", self.at_echo)
        answer()

    do_GET = do_POST

    def head(self, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def at_echo(self):
        self.head(201, X_Test="yes")
        self.wfile.write(b"fine")

    def at_redirect(self):
        self.head(302, Location=f"{self.server.url}/landed")

    def at_drip(self):
        self.head()
        while True:
            self.wfile.write(b".")
            time.sleep(0.1)

    def at_dripping_headers(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(1_000):
            self.wfile.write(f"X-{number}: 1\r\n".encode())
            time.sleep(0.1)

    def at_silent(self):
        time.sleep(10)

    def at_endless(self):
        self.head()
        while True:
            self.wfile.write(b"x" * 65_536)

    def at_bomb(self):
        self.head(Content_Encoding="gzip", Content_Length=str(len(BOMB)))
        self.wfile.write(BOMB)

    def at_gzip(self):
        self.head(Content_Encoding="gzip")
        self.wfile.write(gzip.compress(b"text " * 1_000))

    def at_torn_gzip(self):
        self.head(Content_Encoding="gzip")
        self.wfile.write(gzip.compress(b"text " * 1_000)[:-12])

    def at_false_gzip(self):
        self.head(Content_Encoding="gzip")
        self.wfile.write(b"no gzip at all")

    def at_brotli(self):
        self.head(Content_Encoding="br")
        self.wfile.write(b"x")

    def at_headers(self):
        self.head(X_Long="x" * 40_000)

    def at_torn(self):
        self.head(Content_Length="1000")
        self.wfile.write(b"half")

    def at_nonsense(self):
        self.wfile.write(b"\x00\xffthis is no HTTP\r\n\r\n")


@pytest.fixture
def receiver(settings):
    settings.EGRESS_ALLOW = []
    with serving(Receiver()) as server:
        yield server


@pytest.fixture
def allowed(receiver, settings):
    settings.EGRESS_ALLOW = [f"127.0.0.1:{receiver.server_port}"]
    return receiver


class Names(dict[str, list[list[str]]]):
    """Addresses of each name; with several lists, each lookup uses up one of them."""

    def __init__(self):
        super().__init__()
        self.lookups: list[str] = []


@pytest.fixture
def names(monkeypatch):
    """A resolver that a test controls."""
    names = Names()
    real = socket.getaddrinfo

    def resolve(host, port, *args, **kwargs):
        if host not in names:
            return real(host, port, *args, **kwargs)
        names.lookups.append(host)
        lists = names[host]
        addresses = lists.pop(0) if len(lists) > 1 else lists[0]
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [
            (family[":" in address], socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return names


def get(url, **options):
    return egress.request("GET", url, purpose="test", **options)


@pytest.mark.parametrize(
    ("url", "code"), BLOCKED_URLS.items(), ids=lambda text: text[:40] or "empty"
)
def test_a_forbidden_target_is_blocked_at_save_and_at_send(url, code, settings, monkeypatch):
    settings.EGRESS_ALLOW = []
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    with pytest.raises(egress.Blocked) as at_save:
        egress.check_url(url)
    with pytest.raises(egress.EgressError) as at_send:
        get(url, timeout_seconds=3)
    # The resolver reports a text that is no host name as "not found", which reveals nothing.
    assert isinstance(at_send.value, egress.Blocked | egress.ConnectionFailed)
    assert at_save.value.code == code


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("shop.example/hook", "not_an_address"),
        ("ftp://shop.example/", "not_an_address"),
        ("http://localhost:3000/hook", "private_address"),
        ("http://LOCALHOST./", "private_address"),
        ("http://192.168.1.20/", "private_address"),
        ("http://[::1]:8000/", "private_address"),
        ("http://nas/", "private_address"),
        ("http://shop.internal/", "private_address"),
        ("https://shop.example:8443/", "other_port"),
        ("https://ann:word@shop.example/", "with_user"),
    ],
)
def test_what_the_text_of_an_address_tells_is_said(names, url, code):
    with pytest.raises(egress.Blocked) as refused:
        egress.check_url(url)
    assert refused.value.code == code
    assert names.lookups == []


def test_a_network_that_the_operator_closed_is_not_given_away(settings):
    settings.EGRESS_DENY = [ipaddress.ip_network("93.184.215.0/24")]
    with pytest.raises(egress.Blocked) as refused:
        egress.check_url("https://93.184.215.14/")
    assert refused.value.code == "not_public"


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_is_public_accepts_public_addresses(address):
    assert egress.is_public(address)


def test_a_public_url_passes_the_check(names):
    names["shop.example"] = [["93.184.215.14", "2606:4700::1111"]]
    egress.check_url("https://shop.example/hook?x=1")
    egress.check_url("http://shop.example:443/")


def test_one_private_address_among_public_ones_is_blocked(names):
    names["shop.example"] = [["93.184.215.14", "10.0.0.1"]]
    with pytest.raises(egress.Blocked) as refused:
        egress.check_url("https://shop.example/")
    assert refused.value.code == "not_public"


def test_an_unknown_name_is_refused_with_the_same_code(monkeypatch):
    def unknown(*_args, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(egress.Blocked) as refused:
        egress.check_url("https://nobody.example/")
    assert refused.value.code == "not_public"
    with pytest.raises(egress.NameNotFound) as failure:
        get("https://nobody.example/")
    assert failure.value.nothing_sent


def test_a_name_that_later_resolves_to_the_loopback_is_blocked(
    receiver, names, monkeypatch, caplog
):
    monkeypatch.setattr(
        "chatplatform.egress.guard._PORTS", frozenset({80, 443, receiver.server_port})
    )
    names["moved.example"] = [["93.184.215.14"], ["127.0.0.1"]]
    url = f"http://moved.example:{receiver.server_port}/"
    egress.check_url(url)
    with caplog.at_level(logging.WARNING), pytest.raises(egress.Blocked):
        get(url)
    assert receiver.connections == 0
    assert "purpose=test host=moved.example reason=address" in caplog.text


def test_a_name_is_resolved_once_and_the_checked_address_is_used(receiver, names):
    # A second lookup would return an address where nothing listens.
    names["inside.example"] = [["127.0.0.1"], ["127.0.0.9"]]
    pair = f"inside.example:{receiver.server_port}"
    reply = get(f"http://{pair}/", allow={pair})
    assert reply.status == 201
    assert names.lookups == ["inside.example"]
    assert receiver.seen[0][2]["host"] == pair


def test_the_next_address_is_tried_when_one_does_not_answer(receiver, names):
    names["inside.example"] = [["127.0.0.9", "127.0.0.1"]]
    pair = f"inside.example:{receiver.server_port}"
    assert get(f"http://{pair}/", allow={pair}).status == 201


def test_a_request_and_its_reply(allowed):
    reply = egress.request(
        "POST", f"{allowed.url}/", headers={"X-Key": "k"}, json={"a": "é"}, purpose="test"
    )
    assert (reply.status, reply.body, reply.headers["x-test"]) == (201, b"fine", "yes")
    assert reply.duration_ms >= 0
    method, _, headers, body = allowed.seen[0]
    assert method == "POST"
    assert headers["x-key"] == "k"
    assert json.loads(body) == {"a": "é"}


def test_raw_content_is_sent_as_it_is(allowed):
    egress.request("POST", f"{allowed.url}/", content=b'{"a" :1}', purpose="test")
    assert allowed.seen[0][3] == b'{"a" :1}'


@pytest.mark.parametrize("value", ["é", "EAA…", "a\nHost: b", "a\0", "\ud800", " a", "a\x7f"])
def test_what_no_header_can_carry_is_refused_before_anything_is_sent(allowed, value):
    with pytest.raises(egress.InvalidHeader) as refused:
        egress.request("POST", f"{allowed.url}/", headers={"X-Key": value}, purpose="test")
    assert refused.value.nothing_sent
    with egress.client(purpose="test") as http, pytest.raises(egress.InvalidHeader):
        egress.post(http, f"{allowed.url}/", headers={"X-Key": value}, content=b"", read_bytes=1)
    assert allowed.seen == []


def test_the_allow_list_is_exact(allowed, settings):
    assert get(f"{allowed.url}/").status == 201
    settings.EGRESS_ALLOW = [f"127.0.0.1:{allowed.server_port + 1}"]
    with pytest.raises(egress.Blocked):
        get(f"{allowed.url}/")
    assert allowed.connections == 1
    assert egress.host_port("http://[::1]/x") == "::1:80"
    assert egress.host_port("https://Model.example/v1") == "model.example:443"


def test_an_address_is_open_to_the_purpose_that_it_was_allowed_for(allowed, settings):
    pair = f"127.0.0.1:{allowed.server_port}"
    settings.EGRESS_ALLOW = ["function=127.0.0.1:9", f" model={pair}"]
    assert egress.request("GET", f"{allowed.url}/", purpose="model").status == 201
    assert egress.keeps_secrets(allowed.url, purpose="model")
    for purpose in egress.PURPOSES - {"model"}:
        with pytest.raises(egress.Blocked):
            egress.request("GET", f"{allowed.url}/", purpose=purpose)
        with pytest.raises(egress.Blocked):
            egress.check_url(allowed.url, purpose=purpose)
        assert not egress.keeps_secrets(allowed.url, purpose=purpose)
    assert allowed.connections == 1
    settings.EGRESS_ALLOW = [f"model={pair}", f"webhook={pair}"]
    assert egress.request("GET", f"{allowed.url}/", purpose="webhook").status == 201
    settings.EGRESS_ALLOW = [pair]
    for purpose in egress.PURPOSES:
        egress.check_url(allowed.url, purpose=purpose)


def test_every_call_has_one_of_the_purposes():
    called = set()
    for path in settings.BASE_DIR.glob("[!.]*/**/*.py"):
        text = path.read_text() if "tests" not in path.parts else ""
        if "import egress" in text or "PURPOSE" in text:
            called |= set(re.findall(r'(?:purpose=|PURPOSE = )"([^"]+)"', text))
    assert called == egress.PURPOSES - MESSAGING_CHANNELS


@pytest.mark.parametrize(
    ("address", "is_public"),
    [("93.184.215.14", False), ("93.184.216.14", True), ("2a00:db9:64::a00:1", False),
     ("64:ff9b::5db8:d70e", False), ("2a00:dba::1", True)],
)  # fmt: skip
def test_networks_of_ones_own_are_not_reached(settings, address, is_public):
    settings.EGRESS_DENY = [
        ipaddress.ip_network("93.184.215.0/24"),
        ipaddress.ip_network("2a00:db9:64::/96"),
    ]
    assert egress.is_public(address) == is_public


@pytest.mark.parametrize(
    ("entry", "is_refused"),
    [("10.0.0.5:80", False), ("sign-in=10.0.0.5:80", False), (" socialnet=[::1]:80", False),
     ("models=10.0.0.5:80", True), ("=10.0.0.5:80", True)],
)  # fmt: skip
def test_a_purpose_that_no_call_has_is_an_error(settings, entry, is_refused):
    settings.EGRESS_ALLOW = ["10.0.0.4:80", entry]
    found = [message.id for message in checks.egress_purposes()]
    assert found == (["chatplatform.E004"] if is_refused else [])


def test_credentials_go_to_pinned_hosts_only(allowed):
    assert get(f"{allowed.url}/", only_hosts={"127.0.0.1"}).status == 201
    with pytest.raises(egress.Blocked):
        get(f"{allowed.url}/", headers={"Authorization": "x"}, only_hosts={"api.example"})
    assert allowed.connections == 1
    assert guard.is_pinned("a.media.example", {".media.example"})
    assert not guard.is_pinned("evilmedia.example", {".media.example"})


def test_a_redirect_is_returned_and_not_followed(allowed):
    reply = get(f"{allowed.url}/redirect")
    assert reply.status == 302
    assert reply.headers["location"].endswith("/landed")
    assert [seen[1] for seen in allowed.seen] == ["/redirect"]


def test_each_redirect_of_a_client_that_follows_is_guarded(allowed, settings):
    with egress.client(purpose="test", allow=settings.EGRESS_ALLOW) as client:
        client.follow_redirects = True
        assert client.get(f"{allowed.url}/redirect").status_code == 201
        allowed.server_address = ("127.0.0.2", allowed.server_port)
        with pytest.raises(egress.Blocked):
            client.get("http://127.0.0.2/")


def test_the_environments_proxy_is_not_used(allowed, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert get(f"{allowed.url}/").status == 201


@pytest.mark.full
@pytest.mark.parametrize("path", ["drip", "dripping_headers", "silent"])
def test_the_deadline_is_for_the_whole_exchange(allowed, path):
    with pytest.raises(egress.Timeout):
        get(f"{allowed.url}/{path}", timeout_seconds=0.7)


def test_a_slow_resolver_is_part_of_the_deadline(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: time.sleep(5))
    with pytest.raises(egress.Timeout):
        get("http://slow.example/", timeout_seconds=0.3)


def test_a_receiver_that_takes_nothing_is_part_of_the_deadline(settings):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        pair = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(egress.Timeout):
            egress.request(
                "POST",
                f"http://{pair}/",
                content=bytes(20_000_000),
                purpose="test",
                timeout_seconds=0.5,
                allow={pair},
            )


@pytest.mark.parametrize("path", ["endless", "bomb", "headers"])
def test_too_long_a_reply_raises(allowed, path):
    with pytest.raises(egress.TooLarge):
        get(f"{allowed.url}/{path}")


def test_the_limit_is_counted_in_decoded_bytes(allowed):
    assert get(f"{allowed.url}/gzip", max_bytes=5_000).body == b"text " * 1_000
    with pytest.raises(egress.TooLarge):
        get(f"{allowed.url}/gzip", max_bytes=4_999)


@pytest.mark.parametrize("path", ["torn", "nonsense", "torn_gzip", "false_gzip", "brotli"])
def test_a_broken_answer_is_a_failed_connection(allowed, path):
    with pytest.raises(egress.ConnectionFailed) as failure:
        get(f"{allowed.url}/{path}")
    assert not failure.value.nothing_sent


def test_a_closed_port_is_a_failed_connection(settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        pair = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(egress.ConnectionRefused) as failure:
            get(f"http://{pair}/", allow={pair})
    assert failure.value.nothing_sent


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate for shop.example only, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "shop.example")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("shop.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path / "server.pem"
    path.write_bytes(secret + built.public_bytes(serialization.Encoding.PEM))
    return path


def test_tls_is_checked_against_the_name_and_not_the_address(
    receiver, names, certificate, monkeypatch
):
    indicated: list[str | None] = []
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate)
    server_side.sni_callback = lambda _socket, name, _context: indicated.append(name)
    receiver.socket = server_side.wrap_socket(receiver.socket, server_side=True)
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr("chatplatform.egress.transport._tls", lambda: trusting)
    names["shop.example"] = names["other.example"] = [["127.0.0.1"]]
    port = receiver.server_port
    reply = get(f"https://shop.example:{port}/", allow={f"shop.example:{port}"})
    assert reply.status == 201
    assert indicated == ["shop.example"]
    with pytest.raises(egress.ConnectionFailed) as failure:
        get(f"https://other.example:{port}/", allow={f"other.example:{port}"})
    assert failure.value.nothing_sent
    assert len(receiver.seen) == 1


def test_private_ipv4_addresses_are_recognized_in_every_form():
    for network in ("127.0.0.0/30", "10.0.0.0/30", "169.254.169.252/30", "100.64.0.0/30"):
        for address in ipaddress.ip_network(network):
            packed = int(address)
            for form in (
                str(address),
                f"::ffff:{address}",
                f"::{address}",
                f"64:ff9b::{address}",
                f"2002:{packed >> 16:x}:{packed & 0xFFFF:x}::",
            ):
                assert not egress.is_public(form), form
