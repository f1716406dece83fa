"""`reply=wait` and `reply=stream` on the real web server; jobs run in a thread of the test."""

import asyncio
import http.client
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.db import connection, connections
from django.db.models import F
from django.utils import timezone

from bots.testing import trained
from chatplatform.live.streaming import InThread
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs, stub_model
from chatplatform.testing.live_listener import listening
from chats.models import Conversation, Message
from chats.views import reply_responses
from identity.models import ClientConfig

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
KNOWN = "Within how many days may I return damaged goods?"


@pytest.fixture
def worker():
    """Run jobs when they are due, until the test ends."""
    stop = threading.Event()

    def work():
        try:
            while not stop.wait(0.05):
                run_jobs()
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join(70)


def followed(reply):
    """The events of a reply that the test's client was to wait for."""

    async def collect():
        async with listening() as listener:
            with ThreadPoolExecutor(1) as threads:
                follow = reply.follow(listener, InThread(threads))
                events = [(sent.event, sent.data) async for sent in follow]
                threads.submit(connections.close_all)
            return events

    return asyncio.run(collect())


def test_further_replies_than_may_be_waited_for_come_later(server, chat, monkeypatch):
    monkeypatch.setattr(reply_responses, "MAX_WAITING_PER_CLIENT", 0)
    began = time.monotonic()
    events = followed(server.post(f"/ai/client/chat/{chat}", {"text": KNOWN, "reply": "stream"}))
    assert time.monotonic() - began < 30  # of the minute that a reply is waited for
    assert [name for name, _ in events] == ["message", "done"]
    assert events[-1][1]["status"] == "pending"
    assert not reply_responses._waiting
    run_jobs()
    assert Message.objects.filter(conversation=chat, sender_type="bot").count() == 1


@pytest.fixture
def chat(server, bot):
    trained(bot, SHOP)
    return server.post("/ai/client/chat", {}).json()["id"]


def send(port, person, chat, **headers):
    """The open response to a customer's message."""
    fields = {"text": KNOWN, "reply": headers.pop("reply", "wait")}
    if "client_message_id" in headers:
        fields["client_message_id"] = headers.pop("client_message_id")
    web_connection = http.client.HTTPConnection("127.0.0.1", port, timeout=70)
    headers = {**person.headers, "Content-Type": "application/json", **headers}
    path = f"/ai/client/chat/{chat}"
    web_connection.request("POST", path, json.dumps(fields), headers)
    return web_connection, web_connection.getresponse()


def ask(port, person, chat, **headers):
    """Status, headers and whole body."""
    web_connection, response = send(port, person, chat, **headers)
    with closing(web_connection):
        return response.status, response.headers, response.read().decode()


def events_of(text):
    events = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[0] != ":")
        if lines:
            events.append((lines["event"], json.loads(lines["data"])))
    return events


@pytest.mark.full
def test_wait_answers_with_the_reply(web_port, server, chat, worker):
    status, headers, body = ask(web_port, server, chat)
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    turn = json.loads(body)
    assert turn["status"] == "answered"
    assert "thirty days" in turn["reply"]["content"][0]["text"]
    assert turn["reply"]["in_reply_to"] == turn["message"]["id"]
    assert turn["reply"]["citations"]


def test_a_stream_begins_with_the_message_and_ends_with_done(web_port, server, chat, worker):
    status, headers, body = ask(web_port, server, chat, reply="stream")
    assert status == 200
    assert headers["Content-Type"] == "text/event-stream"
    (first, message), *deltas, (last, turn) = events_of(body)
    assert (first, last) == ("message", "done")
    assert {name for name, _ in deltas} <= {"delta"}
    assert turn["message"] == message
    assert turn["status"] == "answered"


def test_who_follows_behind_the_reply_is_sent_the_same(web_port, server, chat):
    said = {"text": KNOWN, "client_message_id": "1", "reply": "async"}
    assert server.post(f"/ai/client/chat/{chat}", said).status_code == 202
    run_jobs()
    _, _, body = ask(web_port, server, chat, reply="stream", client_message_id="1")
    events = events_of(body)
    assert [name for name, _ in events] == ["message", "delta", "done"]
    assert events[1][1]["text"] == events[-1][1]["reply"]["content"][0]["text"]
    assert Message.objects.filter(sender_type="bot").count() == 1


def test_the_accept_header_asks_for_a_stream(web_port, server, chat, worker):
    _, headers, body = ask(web_port, server, chat, Accept="text/event-stream")
    assert headers["Content-Type"] == "text/event-stream"
    assert events_of(body)[-1][0] == "done"


@pytest.fixture
def unconfirmed(client_a):
    """The client has only doubted answers judged, so that others are streamed by sentence."""
    ClientConfig.objects.update(confirm_answers=False)


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_models_text_is_streamed(web_port, server, chat, worker, settings, is_confirmed):
    ClientConfig.objects.update(confirm_answers=is_confirmed)
    with stub_model.running() as stub:
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        stub.play(["say:You have thirty days [1]. They are thirty days [1]."])
        _, _, body = ask(web_port, server, chat, reply="stream")
    events = events_of(body)
    names = [name for name, _ in events]
    assert names == ["message", *["delta"] * (1 if is_confirmed else 2), "done"]
    text = "".join(data["text"] for name, data in events if name == "delta")
    assert text == events[-1][1]["reply"]["content"][0]["text"]


@pytest.mark.usefixtures("unconfirmed")
@pytest.mark.parametrize(
    "invented",
    [
        "Our shipping insurance costs 987654 euros.",
        "Ask at insurance\u200b.com.",
        "Ask [here](//insurance/pay).",
        "I have called the insurance.",
    ],
)
def test_a_streamed_invention_never_reaches_the_customer(
    web_port, server, chat, worker, settings, invented
):
    with stub_model.running() as stub:
        stub.play([f"say:You have thirty days. [1] {invented} [1]"])
        stub.confirms = False
        stub.cut = list  # letter by letter
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        _, _, body = ask(web_port, server, chat, reply="stream")
    events = events_of(body)
    assert "reset" in [name for name, _ in events]
    assert invented not in "".join(data["text"] for name, data in events if name == "delta")
    assert not {"987654", "insurance"} & set(re.findall(r"\w+", body))
    assert "thirty days" in events[-1][1]["reply"]["content"][0]["text"]


def test_nothing_is_streamed_of_an_answer_that_the_model_does_not_confirm(
    web_port, server, chat, worker, settings
):
    with stub_model.running() as stub:
        stub.play(["say:You have thirty days. [1] We have thirty days. [1]"])
        stub.confirms = False
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        _, _, body = ask(web_port, server, chat, reply="stream")
    assert len(stub.confirmations) == 1
    assert "We have" not in body
    assert "thirty days" in events_of(body)[-1][1]["reply"]["content"][0]["text"]


@pytest.mark.usefixtures("unconfirmed")
def test_the_text_of_a_failed_model_is_reset(web_port, server, chat, worker, settings):
    with stub_model.running("cut") as stub:
        # It breaks off in its second sentence.
        stub.cut = lambda text: [f"{text} And ", "more ", "to ", "come."]
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        _, _, body = ask(web_port, server, chat, reply="stream")
    names = [name for name, _ in events_of(body)]
    assert names.index("reset") > names.index("delta")
    assert names[-1] == "done"
    assert events_of(body)[-1][1]["reply"]["citations"]


def test_streamed_text_is_reset_when_the_chat_has_another_owner(web_port, server, chat, worker):
    def take_over():
        Conversation.objects.update(version=F("version") + 1, assign_type="queue")

    with run_before("chats.services.core.conversations.lock_for_reply", take_over):
        _, _, body = ask(web_port, server, chat, reply="stream")
    events = events_of(body)
    names = [name for name, _ in events]
    assert "delta" in names
    assert names[-2:] == ["reset", "done"]
    assert events[-1][1]["reply"] is None
    assert not Message.objects.filter(sender_type="bot").exists()


@pytest.mark.full
def test_the_reply_arrives_without_live_events(web_port, server, chat, worker, monkeypatch):
    monkeypatch.setattr("chatplatform.live.pubsub.append", lambda *_: None)
    status, _, body = ask(web_port, server, chat)
    assert (status, json.loads(body)["status"]) == (200, "answered")


def test_the_reply_is_stored_after_a_disconnect(web_port, server, chat):
    web_connection, response = send(web_port, server, chat, reply="stream")
    response.fp.readline()
    web_connection.close()
    run_jobs()
    assert Message.objects.filter(sender_type="bot").count() == 1
    with closing(http.client.HTTPConnection("127.0.0.1", web_port, timeout=70)) as web_connection:
        path = f"/ai/client/chat/history/{chat}"
        web_connection.request("GET", path, headers=server.headers)
        assert web_connection.getresponse().status == 200


def test_a_wrong_body_is_refused_before_the_stream(web_port, server, chat):
    web_connection = http.client.HTTPConnection("127.0.0.1", web_port, timeout=70)
    headers = {**server.headers, "Content-Type": "application/json"}
    web_connection.request("POST", f"/ai/client/chat/{chat}", '{"reply": "stream"}', headers)
    with closing(web_connection):
        assert web_connection.getresponse().status == 422
    assert Message.objects.count() == 0


def preview(port, person, bot_id, **more):
    """Status, content type and whole body of a preview of a bot."""
    body = json.dumps({"messages": [{"role": "user", "content": KNOWN}], **more})
    headers = {**person.headers, "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=70)) as web_connection:
        web_connection.request("POST", f"/ai/{bot_id}/generate-chat", body, headers)
        response = web_connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()


def test_a_preview_is_generated(web_port, ben, bot, chat, worker):
    status, content_type, body = preview(web_port, ben, bot.pk)
    answer = json.loads(body)
    assert (status, content_type, answer["status"]) == (200, "application/json", "answered")
    assert "thirty days" in answer["message"]["content"][0]["text"]
    assert (answer["engine"], answer["usage"]["credits"]) == ("extractive", 1)
    assert answer["chat_id"] != chat
    status, content_type, body = preview(web_port, ben, bot.pk, stream=True)
    events = events_of(body)
    assert (status, content_type) == (200, "text/event-stream")
    assert [events[0][0], events[-1][0]] == ["message", "done"]
    assert {**events[-1][1], "chat_id": 0, "message": 0} == {**answer, "chat_id": 0, "message": 0}


@pytest.mark.full
def test_without_a_worker_the_reply_is_pending_after_the_wait(server, chat, settings):
    settings.REPLY_WAIT_SECONDS = 0.5
    for kind in ("wait", "stream"):
        reply = server.post(f"/ai/client/chat/{chat}", {"text": KNOWN, "reply": kind})
        began = time.monotonic()
        events = followed(reply)
        assert time.monotonic() - began > 0.4
        turn = events[-1][1]
        assert (reply.status_of(turn), turn["status"], turn["reply"]) == (202, "pending", None)
        assert [name for name, _ in events] == ["message", "done"]
    assert Job.objects.filter(state="queued").count() == 2


def test_all_requests_of_a_burst_get_its_one_reply(web_port, server, client_a, chat, worker):
    client_a.config.burst_wait_ms = 60_000
    client_a.config.save()
    bodies = []

    def wait(kind):
        bodies.append(ask(web_port, server, chat, reply=kind)[2])

    threads = [threading.Thread(target=wait, args=(kind,)) for kind in ("wait", "stream", "wait")]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + 60
    while Message.objects.count() < 3:
        assert time.monotonic() < ends_at
        time.sleep(0.05)
    Job.objects.update(due_at=timezone.now())
    for thread in threads:
        thread.join(70)
    turns = [
        events_of(body)[-1][1] if body.startswith("event:") else json.loads(body) for body in bodies
    ]
    assert [turn["status"] for turn in turns] == ["answered"] * 3
    assert len({turn["reply"]["id"] for turn in turns}) == 1
    assert Message.objects.filter(sender_type="bot").count() == 1
