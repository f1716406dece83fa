"""The live feed on the real web server: each event of the user's client, once."""

import http.client
import json
import random
import socket
from contextlib import closing, contextmanager

import pytest

from chatplatform.testing import idle_transaction, in_thread, run_jobs
from chatplatform.testing.web_process import web_process
from chats.models import Conversation, Message
from identity.models import RefreshToken
from identity.testing import make_person
from webhooks.models import Event
from webhooks.services import announce

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60  # seconds, on a busy machine


@pytest.fixture
def chat(server):
    return server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]


def send_message(server, chat, text):
    reply = server.post(f"/ai/client/chat/{chat}", {"text": text, "reply": "none"})
    assert reply.status_code == 200
    return reply.json()["message"]["id"]


class Stream:
    """An open feed; `next(name)` returns its next event, or the next one of that name."""

    def __init__(self, reply):
        self.reply = reply
        self.ready = {}

    def next(self, name=None):
        while True:
            event = {}
            while line := self.reply.readline().decode().rstrip("\n"):
                if not line.startswith(":"):
                    field, _, value = line.partition(": ")
                    event[field] = value
            if not event and self.reply.isclosed():
                raise EOFError
            if event and name in {None, event["event"]}:
                return {**event, "data": json.loads(event["data"])}


@contextmanager
def feed(port, person=None, path="/ai/chat/events", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path, headers={**(person.headers if person else {}), **headers})
        reply = connection.getresponse()
        assert reply.status == 200, reply.read()
        assert reply.headers["Content-Type"] == "text/event-stream"
        stream = Stream(reply)
        ready = stream.next()
        assert ready["event"] == "ready"
        stream.ready = ready["data"]
        yield stream


def test_a_new_message_is_sent_at_once(web_port, ann, server, chat):
    with feed(web_port, ann) as stream:
        message = send_message(server, chat, "Hello")
        seen = stream.next("message.created")
    stored = Event.objects.get(type="message.created")
    assert seen["id"] == f"evt_{stored.pk.hex}" == seen["data"]["id"]
    assert seen["data"]["data"]["message"]["id"] == message
    assert seen["data"]["sequence"] == stored.sequence


def test_a_stranger_whose_transaction_stays_open_delays_no_event(
    web_port, ann, client_b, server, chat
):
    with feed(web_port, ann) as stream, idle_transaction(lambda: announce(client_b.pk, "t.t", {})):
        message = send_message(server, chat, "Hello")
        seen = stream.next("message.created")
    assert seen["data"]["data"]["message"]["id"] == message


def test_another_clients_events_are_not_sent(web_port, ann, cara, server, chat):
    with feed(web_port, cara) as theirs, feed(web_port, ann) as ours:
        send_message(server, chat, "Hello")
        assert ours.next("message.created")
        cara.post("/ai/bot", {"bot_name": "Other"})
        chat_of_cara = open_chat_of(cara)
        while (first := theirs.next())["event"] == "presence":
            assert first["data"]["user_id"] == cara.user.pk
        assert first["data"]["conversation_id"] == chat_of_cara


def open_chat_of(person):
    bot = person.get("/ai/bot").json()["items"][0]["id"]
    key = person.post("/identity/api-keys", {"name": "k", "scope": "secret", "bot_id": bot}).json()
    reply = person.browser.post(
        "/ai/client/chat", {}, content_type="application/json", headers={"API-KEY": key["key"]}
    )
    assert reply.status_code == 201
    return reply.json()["id"]


@pytest.mark.full
def test_a_reader_that_reconnects_misses_nothing(web_port, ann, server, chat):
    reconnect(40, web_port, ann, server, chat)  # `make drill`: a thousand times


def reconnect(times, port, ann, server, chat):
    """Reconnect while messages are sent: each event comes once, in the log's order."""
    chance, seen, last = random.Random(7), [], None
    with feed(port, ann) as stream:
        send_message(server, chat, "0")
        last = stream.next("message.created")["id"]
        seen.append(last)
    for number in range(1, times + 1):
        written = [send_message(server, chat, f"{number}.{n}") for n in range(chance.randrange(3))]
        with feed(port, ann, **{"Last-Event-ID": last}) as stream:
            # Some are read now, the others after the next connection.
            for _ in range(chance.randrange(len(written) + 1)):
                last = stream.next("message.created")["id"]
                seen.append(last)
    total = Message.objects.count()
    with feed(port, ann, **{"Last-Event-ID": last}) as stream:
        while len(seen) < total:
            seen.append(stream.next("message.created")["id"])
    rows = Event.objects.filter(type="message.created").order_by("sequence")
    assert seen == [f"evt_{row.pk.hex}" for row in rows]


def ask_and_wait(port, server, chat):
    """The status of the answer to a customer who waits, and what it says of the reply."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        body = json.dumps({"text": "Hello?", "reply": "wait"})
        headers = {**server.headers, "Content-Type": "application/json"}
        connection.request("POST", f"/ai/client/chat/{chat}", body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["status"]


@pytest.mark.full
def test_a_feed_ends_with_its_session_and_with_the_process_which_waits_for_no_reply(
    ann, ben, server, chat
):
    ticket = ben.post("/ai/chat/events/ticket").json()["ticket"]
    path = f"/ai/chat/events?ticket={ticket}"
    with (
        web_process(SSE_REAUTH_SECONDS="0.3") as (own_port, process),
        feed(own_port, ann) as stream,
        feed(own_port, ben) as bens,
        feed(own_port, path=path) as by_ticket,
    ):
        RefreshToken.objects.filter(user=ben.user).delete()
        for ended in (bens, by_ticket):
            with pytest.raises(EOFError):
                ended.next("message.created")
        asking, answers = in_thread(lambda: ask_and_wait(own_port, server, chat))
        assert stream.next("message.created")
        process.terminate()
        with pytest.raises(EOFError):  # a connection that breaks off raises another error
            stream.next("never")
        asking.join(PATIENCE)
        # Nobody answers here: the customer's message is stored, and its reply is on its way.
        assert answers == [(202, "pending")]
        # Nothing is left that the server would have to kill.
        assert process.wait(PATIENCE) == 0


@pytest.mark.full
@pytest.mark.parametrize("answers", [True, False])
def test_a_process_that_waits_for_valkey_stops_at_once(ann, answers):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        own = {} if answers else {"REDIS_URL": f"redis://127.0.0.1:{silent.getsockname()[1]}/0"}
        with web_process(None, **own) as (own_port, process), feed(own_port, ann) as stream:
            process.terminate()
            with pytest.raises(EOFError):
                stream.next("never")
            assert process.wait(PATIENCE) == 0


def test_a_stream_has_its_users_notifications_only(web_port, ann, ben, server, chat):
    with feed(web_port, ann) as anns, feed(web_port, ben) as bens:
        path = f"/ai/chat/{chat}/assign"
        reply = ann.post(path, {"assign_type": "agent", "user_id": ben.user.pk})
        assert reply.status_code == 200
        (own,) = bens.next("notification.created")["data"]["data"]["notifications"]
        assert own["user_id"] == ben.user.pk
        send_message(server, chat, "After it")
        while (seen := anns.next())["event"] != "message.created":
            assert seen["event"] != "notification.created"


def test_typing_is_sent_and_not_stored(web_port, ann, server, chat):
    before = Event.objects.count()
    with feed(web_port, ann) as stream:
        assert server.post(f"/ai/chat/{chat}/typing", {}).status_code == 204
        seen = stream.next("typing")
    assert seen["data"] == {
        "conversation_id": chat,
        "sender": {"type": "customer", "id": seen["data"]["sender"]["id"], "name": "Zoe"},
        "is_typing": True,
    }
    assert "id" not in seen
    assert Event.objects.count() == before


def test_who_looks_at_a_chat_is_sent_and_not_stored(web_port, ann, ben, chat):
    before = Event.objects.count()
    with feed(web_port, ann) as stream:
        for is_viewing in (True, False):
            path = f"/ai/chat/{chat}/viewing"
            assert ben.post(path, {"is_viewing": is_viewing}).status_code == 204
            seen = stream.next("viewing")
            assert seen["data"] == {
                "conversation_id": chat, "user_id": ben.user.pk, "name": "Ben",
                "is_viewing": is_viewing,
            }  # fmt: skip
            assert "id" not in seen
    assert Event.objects.count() == before


def test_an_erased_chat_is_told_and_not_stored(web_port, ann, chat):
    customer = Conversation.objects.get(pk=chat).customer_id
    with feed(web_port, ann) as stream:
        assert ann.post(f"/ai/customers/{customer}/erasure").status_code == 202
        run_jobs()
        seen = stream.next("deleted")
    assert seen["data"] == {"conversation_id": chat}
    assert "id" not in seen
    assert not Event.objects.filter(conversation_id=chat).exists()


def test_presence_of_colleagues(web_port, ann, ben, client_a):
    vic = make_person(client_a, "viewer", "Vic")
    with feed(web_port, ann) as stream:
        with feed(web_port, ben), feed(web_port, ben), feed(web_port, vic):
            # Two streams of a user are one presence; viewers have none.
            joined = stream.next("presence")["data"]
            while joined["user_id"] == ann.user.pk:
                joined = stream.next("presence")["data"]
        left = stream.next("presence")["data"]
    assert joined == {"user_id": ben.user.pk, "name": "Ben", "is_online": True}
    assert left == joined | {"is_online": False}


def test_who_is_away_is_shown_at_the_start_and_at_each_change(web_port, ann, ben):
    with feed(web_port, ann) as stream:
        ben.put("/identity/users/me", {"is_away": True})
        run_jobs()
        assert stream.next("away")["data"] == {"user_id": ben.user.pk, "is_away": True}
        with feed(web_port, ben) as other:
            assert other.ready["away"] == [ben.user.pk]
        ben.put("/identity/users/me", {"is_away": False})
        run_jobs()
        assert stream.next("away")["data"] == {"user_id": ben.user.pk, "is_away": False}


def test_a_ticket_opens_one_feed(web_port, ann):
    ticket = ann.post("/ai/chat/events/ticket").json()["ticket"]
    path = f"/ai/chat/events?ticket={ticket}"
    with feed(web_port, path=path):
        pass
    connection = http.client.HTTPConnection("127.0.0.1", web_port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path)
        assert connection.getresponse().status == 401


@pytest.mark.parametrize("wrong", ["evt_" + "0" * 32, "nonsense", "\x00"])
def test_an_unknown_event_id_is_refused(ann, wrong):
    reply = ann.get("/ai/chat/events", {"last_event_id": wrong})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["query", "last_event_id"]


def test_another_clients_event_id_is_unknown(ann, cara):
    cara.post("/ai/bot", {"bot_name": "Other"})
    open_chat_of(cara)
    theirs = Event.objects.latest("created_at")
    reply = ann.get("/ai/chat/events", **{"Last-Event-ID": f"evt_{theirs.pk.hex}"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["header", "Last-Event-ID"]


def test_a_ticket_holds_no_token(ann):
    ticket = ann.post("/ai/chat/events/ticket").json()["ticket"]
    assert ann.headers["Authorization"].partition(" ")[2] not in ticket
    assert ann.get("/ai/chat/events", {"ticket": ticket + "x"}).status_code == 401
