"""Push notifications, to a push service that holds a real browser's keys and reads what arrives."""

import base64
import json
import struct
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db import connection
from joserfc import jwt
from joserfc.jwk import ECKey

from chatplatform import checks, web_push
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chatplatform.testing.servers import serving
from chatplatform.tests.served import PUSH
from chats.models import Notification, PushSubscription
from chats.services.core import push
from chats.testing import make_chat
from identity.models import AuditEvent, RefreshToken, Role, User
from identity.testing import make_person

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/ai/chat/push-subscriptions"


def to_base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


class PushedBrowser:
    """A browser's keys, and what its push service was sent for it."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = uuid.uuid4().bytes
        self.point = self._key.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )
        self.keys = {"p256dh": to_base64(self.point), "auth": to_base64(self._auth)}

    def read(self, body: bytes) -> dict[str, Any]:
        """Decrypt as RFC 8188 and RFC 8291 tell a browser to."""
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)

        def derived(secret: bytes, size: int, salt: bytes, info: bytes) -> bytes:
            return HKDF(SHA256(), size, salt, info).derive(secret)

        shared = self._key.exchange(ec.ECDH(), point)
        secret = derived(shared, 32, self._auth, b"WebPush: info\0" + self.point + sender)
        key = derived(secret, 16, salt, b"Content-Encoding: aes128gcm\0")
        nonce = derived(secret, 12, salt, b"Content-Encoding: nonce\0")
        opened = AESGCM(key).decrypt(nonce, sealed, None)
        assert opened.endswith(b"\2")
        shown: dict[str, Any] = json.loads(opened[:-1])
        return shown


class PushService(ThreadingHTTPServer):
    """Answers each message with `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 201
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.origin = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: PushService

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append({name.lower(): text for name, text in self.headers.items()})
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not on the screen of the tests."""


@pytest.fixture
def service(settings) -> Iterator[PushService]:
    server = PushService()
    settings.EGRESS_ALLOW = [f"push=127.0.0.1:{server.server_port}"]
    with serving(server):
        yield server


@pytest.fixture
def device(service, ben):
    return subscribed(service, ben)


@pytest.fixture
def own(bot, ben):
    """An open chat of Ben's."""
    return make_chat(bot, assign_type="agent", assignee=ben.user)


def subscribed(service, person, **headers):
    device = PushedBrowser()
    body = {"endpoint": f"{service.origin}/{uuid.uuid4()}", "keys": device.keys}
    reply = person.post(PATH, body, **headers)
    assert reply.status_code == 201, reply.content
    return device


def run_pushes():
    waiting = Job.objects.filter(name="chats.send_push", state=JobState.QUEUED)
    waiting.update(due_at="2020-01-01T00:00Z")
    return run_jobs()


def say(server, chat, text="Still there?"):
    reply = server.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "none"})
    assert reply.status_code in {200, 201, 202}, reply.content


def give(ann, ben, chat):
    body = {"assign_type": "agent", "user_id": ben.user.pk}
    assert ann.post(f"/ai/chat/{chat.pk}/assign", body).status_code == 200


def test_a_customers_message_calls_the_agent_once(service, device, own, server):
    say(server, own)
    say(server, own, "Hello?")
    assert service.bodies == []
    run_pushes()
    (body,) = service.bodies
    assert device.read(body) == {"chat_id": str(own.pk), "title": "New message from Zoe"}
    (headers,) = service.headers
    assert (headers["content-encoding"], headers["topic"]) == ("aes128gcm", own.pk.hex)
    scheme, _, parts = headers["authorization"].partition(" ")
    token, key = (part.strip()[2:] for part in parts.split(","))
    assert (scheme, key) == ("vapid", web_push.public_key())
    ours = ec.EllipticCurvePublicKey.from_encoded_point(
        ec.SECP256R1(), base64.urlsafe_b64decode(key + "=")
    )
    claims = jwt.decode(token, ECKey.import_key(ours)).claims
    assert claims["aud"] == service.origin
    assert claims["sub"].startswith("mailto:")


def test_an_assignment_and_a_mention_call_in_the_persons_language(service, device, ann, ben, bot):
    User.objects.filter(pk=ben.user.pk).update(language="de")
    chat = make_chat(bot)
    give(ann, ben, chat)
    note = {"text": "@Ben please look", "is_note": True}
    assert ann.post(f"/ai/chat/{chat.pk}/manual", note).status_code == 201
    run_pushes()
    titles = {device.read(body)["title"] for body in service.bodies}
    assert len(titles) == 2
    assert all("Zoe" in title and "look" not in title for title in titles)
    assert not any(title.startswith(("Assigned", "You")) for title in titles)


def test_whoever_acts_or_has_seen_the_news_is_not_called(service, device, ann, ben, own, server):
    taken, given = make_chat(own.bot), make_chat(own.bot)
    assert ben.post(f"/ai/chat/{taken.pk}/assign", {"assign_type": "agent"}).status_code == 200
    give(ann, ben, given)
    ben.put("/ai/chat/notifications/read")
    say(server, own)
    ben.post(f"/ai/chat/{own.pk}/read")
    say(server, make_chat(own.bot))
    run_pushes()
    assert service.bodies == []


def unsubscribe(ben, ann):
    (row,) = ben.get(PATH).json()["items"]
    assert ben.delete(f"{PATH}/{row['id']}").status_code == 204


def sign_out(ben, ann):
    assert ben.post("/identity/revoke").status_code in {200, 204}


def deactivate(ben, ann):
    path = f"/identity/users/{ben.user.pk}/disable"
    assert ann.put(path, {"is_disabled": True}).status_code == 200


def demote(ben, ann):
    path = f"/identity/users/{ben.user.pk}/role"
    assert ann.put(path, {"role": "viewer"}).status_code == 200


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("leave", [unsubscribe, sign_out, deactivate, demote])
def test_nobody_is_called_who_has_left(service, ann, ben, own, server, leave):
    say(server, own)
    leave(ben, ann)
    run_pushes()
    say(server, own)
    run_pushes()
    assert service.bodies == []
    assert not PushSubscription.objects.exists() or leave is demote


def test_the_next_sign_in_renews_a_browsers_subscription(service, own, server, ben):
    body = {"endpoint": f"{service.origin}/1", "keys": PushedBrowser().keys}
    assert ben.post(PATH, body).status_code == 201
    family = RefreshToken.objects.get(user=ben.user).family
    PushSubscription.objects.update(sign_in=uuid.uuid4())
    push.clean_up()
    assert not PushSubscription.objects.exists()
    for _ in range(2):
        assert ben.post(PATH, body).status_code == 201
    assert PushSubscription.objects.get().sign_in == family
    push.clean_up()
    say(server, own)
    run_pushes()
    assert len(service.bodies) == 1


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_the_service_does_not_know_goes(service, device, own, server, status):
    service.status = status
    say(server, own)
    run_pushes()
    assert len(service.bodies) == 1
    assert not PushSubscription.objects.exists()
    assert Job.objects.get(name="chats.send_push").state == JobState.DONE


@pytest.mark.parametrize(("status", "state"), [(429, "queued"), (503, "queued"), (403, "dead")])
def test_other_refusals_are_retried_if_that_may_help(service, device, own, server, status, state):
    service.status = status
    say(server, own)
    run_pushes()
    assert Job.objects.get(name="chats.send_push").state == state
    assert PushSubscription.objects.exists()
    service.status = 201
    run_pushes()
    assert len(service.bodies) == (2 if state == "queued" else 1)


def test_inner_addresses_are_not_called(service, device, own, server, settings):
    settings.EGRESS_ALLOW = []
    say(server, own)
    run_pushes()
    assert service.bodies == []
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://127.0.0.1:1/x"}, {"endpoint": "http://push.example/x"},
        {"endpoint": "ftp://push.example/x"}, {"endpoint": "https://[::1"},
        {"endpoint": "https://p.example/" + "x" * 1000},
        {"keys": {**PUSH["keys"], "p256dh": "BCVx"}}, {"keys": {**PUSH["keys"], "auth": "BTBZ"}},
        {"keys": {**PUSH["keys"], "p256dh": "!"}}, {"keys": {}},
        {"keys": {**PUSH["keys"], "p256dh": to_base64(b"\4" + b"\1" * 64)}},
    ],
)  # fmt: skip
def test_what_is_no_subscription_is_refused(ben, change):
    assert ben.post(PATH, {**PUSH, **change}).status_code == 422
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize("expires", [None, 1795226399980, 1795226399980.5])
def test_a_browsers_subscription_is_taken_as_it_is(ben, expires):
    """`PushSubscription.toJSON()` has `expirationTime` too, which is null in most browsers."""
    assert ben.post(PATH, {**PUSH, "expirationTime": expires}).status_code == 201
    assert ben.post(PATH, {**PUSH, "expirationTime": "soon"}).status_code == 422


def test_each_sees_and_ends_only_their_own(service, ann, ben, cara, nobody, server):
    chrome = "Mozilla/5.0 (Linux; Android 15) Chrome/140.0"
    subscribed(service, ben, **{"User-Agent": chrome})
    viewer = make_person(ben.client, Role.VIEWER, "Vic")
    subscribed(service, viewer)
    (row,) = ben.get(PATH).json()["items"]
    assert set(row) == {"id", "device", "created_at"}
    assert row["device"] == "Chrome, Android"
    for other in (ann, cara, viewer):
        assert other.delete(f"{PATH}/{row['id']}").status_code == 404
    assert (nobody.get(PATH).status_code, server.get(PATH).status_code) == (401, 401)
    assert AuditEvent.objects.filter(action="push_subscription.created").count() == 2
    assert ben.get("/ai/chat/push-key").json() == {"public_key": web_push.public_key()}


def test_a_browser_calls_whoever_subscribed_it_last(ann, ben):
    ben.post(PATH, PUSH)
    ann.post(PATH, PUSH)
    assert ben.get(PATH).json()["items"] == []
    assert len(ann.get(PATH).json()["items"]) == 1


def test_the_oldest_devices_are_dropped(ben, monkeypatch):
    monkeypatch.setattr(push, "MAX_DEVICES", 2)
    made = [
        ben.post(PATH, {**PUSH, "endpoint": f"https://push.example/{n}"}).json()["id"]
        for n in range(4)
    ]
    assert [row["id"] for row in ben.get(PATH).json()["items"]] == made[:1:-1]


def test_who_has_no_device_costs_no_job(bot, own, ann, ben, server):
    say(server, own)
    give(ann, ben, make_chat(bot))
    assert Notification.objects.filter(user=ben.user, kind="assigned").exists()
    assert not Job.objects.filter(name="chats.send_push").exists()


def test_the_database_waits_as_long_as_the_service(device, own, server):
    say(server, own)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT due_at - created_at FROM chatplatform_job WHERE name = 'chats.send_push'"
        )
        (wait,) = cursor.fetchone()
    assert abs((wait - push.WAIT).total_seconds()) < 1


@pytest.mark.parametrize("key", ["!", "AAAA" * 10, "AA" * 22, "____" * 10 + "___"])
def test_a_wrong_key_is_found_at_the_start(settings, key):
    settings.VAPID_PRIVATE_KEY = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    assert checks.push_key() == []
    settings.VAPID_PRIVATE_KEY = key
    assert [message.id for message in checks.push_key()] == ["chatplatform.E007"]


def test_the_encryption_is_that_of_the_standards_example():
    """RFC 8291, section 5 and appendix A."""
    own = web_push.from_base64("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    body = web_push.encrypt(
        b"When I grow up, I want to be a watermelon",
        key=web_push.from_base64(PUSH["keys"]["p256dh"]),
        auth=web_push.from_base64(PUSH["keys"]["auth"]),
        own=ec.derive_private_key(int.from_bytes(own, "big"), ec.SECP256R1()),
        salt=web_push.from_base64("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert web_push.to_base64(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWA"
        "mS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxs"
        "j_Qulcy4a-fN"
    )
