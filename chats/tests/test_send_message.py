"""Send message in existing chat conversation, and the reply that a worker makes."""

import functools
import socket
import uuid
from contextlib import closing
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from bots.testing import trained
from chatplatform.jobs import leases
from chatplatform.live import pubsub
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once, run_before, run_jobs
from chats.models import Attachment, Conversation, Message
from chats.services.reply import incoming, pipeline
from chats.testing import make_chat, visit, visitor_of
from identity.testing import make_key
from webhooks.models import Event

# Jobs compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)

SHOP = (
    "OPENING HOURS\n\nOur shop opens at nine o'clock and closes at six o'clock every day.\n\n"
    "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
)
KNOWN = "Within how many days may I return damaged goods?"
UNKNOWN = "Who won the chess olympiad of 1972 in Skopje?"


@pytest.fixture
def chat(server):
    return Conversation.objects.get(pk=server.post("/ai/client/chat", {}).json()["id"])


@pytest.fixture
def document(bot):
    return trained(bot, SHOP)


def path_of(chat):
    return f"/ai/client/chat/{chat.pk}"


def ask(person, chat, text=KNOWN, reply="async", **more):
    return person.post(path_of(chat), {"text": text, "reply": reply, **more})


def replies():
    return list(Message.objects.exclude(sender_type="customer").order_by("seq"))


def count_events(event_type):
    return Event.objects.filter(type=event_type).count()


def take_over(chat, ben):
    """Change the chat's row as an agent who takes the chat does."""
    Conversation.objects.filter(pk=chat.pk).update(
        assign_type="agent", assignee=ben.user, version=F("version") + 1
    )


# --- the message --------------------------------------------------------------------------------


def test_an_async_message_is_stored_and_answered_by_a_worker(server, chat):
    reply = ask(server, chat, client_message_id="m-1")
    assert reply.status_code == 202
    turn = reply.json()
    assert (turn["status"], turn["reply"], turn["handoff_reason"]) == ("pending", None, None)
    (part,) = turn["message"]["content"]
    assert {name: value for name, value in part.items() if value} == {
        "type": "text",
        "text": KNOWN,
    }
    assert (turn["message"]["seq"], turn["message"]["client_message_id"]) == (1, "m-1")
    assert turn["message"]["language"] == "en"
    job = Job.objects.get()
    assert job.args == {"message_id": turn["message"]["id"]}
    assert job.ordering_key == f"chat:{chat.pk}"
    chat.refresh_from_db()
    assert (chat.last_seq, chat.message_count, chat.unread_count) == (1, 1, 1)
    assert chat.last_message_at is not None
    assert count_events("message.created") == 1


def test_no_reply_is_requested_with_none(server, chat):
    reply = ask(server, chat, reply="none")
    assert reply.status_code == 200
    assert reply.json()["status"] == "not_expected"
    assert Job.objects.count() == 0
    assert Message.objects.count() == 1


def test_a_repeated_message_is_stored_once(server, chat, document):
    first = ask(server, chat, client_message_id="m-1").json()
    run_jobs()
    again = ask(server, chat, client_message_id="m-1")
    assert again.status_code == 200
    assert again.json()["message"] == first["message"]
    assert again.json()["status"] == "answered"
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert Job.objects.count() == 1
    assert len(replies()) == 1


def test_concurrent_repetitions_of_a_message_are_stored_once(server, chat):
    answers = at_once(*[lambda: ask(server, chat, client_message_id="m-1")] * 6)
    assert [answer.status_code for answer in answers] == [202] * 6
    assert len({answer.json()["message"]["id"] for answer in answers}) == 1
    assert (Message.objects.count(), Job.objects.count()) == (1, 1)
    chat.refresh_from_db()
    assert chat.last_seq == 1


def test_concurrent_messages_are_numbered_without_gaps(server, chat):
    def send(n):
        return ask(server, chat, text=f"Line {n}", client_message_id=f"m-{n}")

    at_once(*[functools.partial(send, n) for n in range(8)])
    seqs = Message.objects.order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == list(range(1, 9))
    numbers = Event.objects.order_by("sequence").values_list("sequence", flat=True)
    assert list(numbers) == list(range(1, 10))
    # The jobs have the order of the messages.
    message_ids = [job.args["message_id"] for job in Job.objects.order_by("id")]
    assert message_ids == [
        str(pk) for pk in Message.objects.order_by("seq").values_list("pk", flat=True)
    ]


WRONG_BODIES: list[Any] = [
    None,
    [],
    b"{",
    {},
    {"text": None},
    {"text": 5},
    {"text": ["a"]},
    {"text": ""},
    {"text": " \n\t "},
    {"text": "x" * 8001},
    {"text": "a\x00b"},
    b'{"text": "a\\ud800b"}',
    {"text": "a", "unknown": 1},
    {"text": "a", "reply": "later"},
    {"text": "a", "language": "English please"},
    {"text": "a", "client_message_id": ""},
    {"text": "a", "client_message_id": "x" * 201},
    {"text": "a", "client_message_id": "\x00"},
]


def test_a_wrong_body_is_refused(server, chat):
    for body in WRONG_BODIES:
        reply = server.post(path_of(chat), body)
        assert reply.status_code == 422, body
        assert reply.json()["detail"][0]["loc"][0] == "body", body
    assert (Message.objects.count(), Job.objects.count()) == (0, 0)


def test_the_longest_text_is_accepted(server, chat):
    assert ask(server, chat, text="x" * 8000).status_code == 202


def test_a_page_does_not_see_another_pages_chat(page, client_a, bot):
    visitor, own = visit(page)
    other_page = make_key(client_a, "public", bot.pk)
    assert ask(other_page, own).status_code == 404
    assert ask(visitor_of(other_page, own), own).status_code == 404
    assert Message.objects.count() == 0
    assert ask(visitor, own).status_code == 202


def test_a_missing_chat_is_not_found(server):
    assert server.post(f"/ai/client/chat/{uuid.uuid4()}", {"text": "a"}).status_code == 404


def test_a_repeated_message_is_returned_after_the_end(server, chat):
    first = ask(server, chat, client_message_id="m-1", reply="none").json()
    Conversation.objects.update(status="ended", ended_by="agent")
    again = ask(server, chat, client_message_id="m-1", reply="none")
    assert (again.status_code, again.json()["message"]) == (200, first["message"])


def test_a_link_to_a_file_is_passed_on(server, chat, bot):
    """It is stored unchanged and never fetched, wherever it points."""
    with closing(socket.create_server(("127.0.0.1", 0))) as outside:
        outside.settimeout(0)
        link = {"type": "image", "url": f"http://127.0.0.1:{outside.getsockname()[1]}/a.png"}
        place = {"type": "location", "location": {"city": "Hanoi"}}
        sent = ask(server, chat, attachments=[link, place], reply="none").json()["message"]
        run_jobs()
        with pytest.raises(BlockingIOError):
            outside.accept()
    _, image, where = sent["content"]
    assert (image["url"], where["location"]["city"]) == (link["url"], "Hanoi")
    assert Attachment.objects.count() == 0
    foreign = Attachment.objects.create(
        client=bot.client, conversation=make_chat(bot), file="x", file_name="x",
        mime_type="text/plain", size_bytes=1,
    )  # fmt: skip
    for url in (Attachment.signed_url(str(foreign.pk)), "/ai/attachment/x", "//files.example/x"):
        reply = ask(server, chat, attachments=[{"type": "file", "url": url}])
        assert reply.status_code == 422
    assert Message.objects.count() == 1


def test_no_reply_is_requested_in_the_queue(server, bot):
    bot.is_disabled = True
    bot.save()
    chat = Conversation.objects.get(pk=server.post("/ai/client/chat", {}).json()["id"])
    reply = ask(server, chat)
    assert reply.status_code == 200
    assert reply.json()["status"] == "handed_off"
    assert reply.json()["handoff_reason"] == "bot_disabled"
    assert not Job.objects.filter(name="chats.generate_reply").exists()


# --- the reply ----------------------------------------------------------------------------------


def test_the_answer_is_cited(server, chat, document):
    ask(server, chat)
    assert run_jobs() == 1
    (reply,) = replies()
    assert reply.sender_type == "bot"
    assert "thirty days" in reply.content[0]["text"]
    assert reply.in_reply_to.seq == 1
    (citation,) = reply.citations
    assert (citation["document_id"], citation["title"]) == (document.pk, "Shop")
    assert "thirty days" in citation["quote"]
    assert reply.receipt["decision"] == "answered"
    assert reply.receipt["confidence"] >= reply.receipt["threshold"]
    chat.refresh_from_db()
    assert (chat.assign_type, chat.version, chat.last_seq) == ("bot", 1, 2)
    assert chat.first_response_at is not None
    assert count_events("message.created") == 2


def assert_handed_over(chat, reason):
    """The chat waits for a person, with one message to the customer and one event."""
    chat.refresh_from_db()
    (message,) = replies()
    assert message.sender_type == "system"
    assert message.citations == []
    assert (chat.assign_type, chat.handoff_reason, chat.version) == ("queue", reason, 2)
    assert chat.waiting_since is not None
    event = Event.objects.get(type="conversation.handed_off")
    assert event.data["reason"] == reason
    assert event.data["conversation"]["assign_type"] == "queue"
    assert event.data["conversation"]["waiting_since"] is not None
    assert event.client_id == chat.client_id
    return message


def test_an_unknown_question_is_handed_over(server, chat, document):
    ask(server, chat, UNKNOWN, client_message_id="m-1")
    run_jobs()
    message = assert_handed_over(chat, "no_answer")
    turn = ask(server, chat, UNKNOWN, client_message_id="m-1").json()
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "no_answer")
    assert turn["reply"]["id"] == str(message.pk)


def test_a_bot_without_documents_hands_over(server, chat):
    ask(server, chat)
    run_jobs()
    assert_handed_over(chat, "no_answer")


def test_the_customer_is_told_of_the_handover_once(server, chat, document, client_a):
    client_a.config.answer_while_waiting = False
    client_a.config.save()
    for text in (UNKNOWN, UNKNOWN, KNOWN):
        ask(server, chat, text)
    run_jobs()
    assert_handed_over(chat, "no_answer")
    reply = ask(server, chat, UNKNOWN)
    assert (reply.status_code, reply.json()["status"]) == (200, "handed_off")
    run_jobs()
    assert_handed_over(chat, "no_answer")


def test_the_clients_own_handover_text(server, chat, client_a):
    client_a.config.handoff_message = {"en": "A colleague will write soon."}
    client_a.config.save()
    ask(server, chat, UNKNOWN)
    run_jobs()
    assert (
        assert_handed_over(chat, "no_answer").content[0]["text"] == "A colleague will write soon."
    )


def test_a_request_for_a_person_is_handed_over(server, chat, document):
    ask(server, chat, "I want to talk to a human agent")
    run_jobs()
    assert_handed_over(chat, "customer_asked")


def test_small_talk_is_not_handed_over(server, chat):
    ask(server, chat, "Hello!")
    run_jobs()
    (reply,) = replies()
    assert (reply.sender_type, reply.citations) == ("bot", [])
    assert count_events("conversation.handed_off") == 0


def test_a_bot_that_was_disabled_meanwhile_hands_over(server, chat, bot, document):
    ask(server, chat)
    bot.is_disabled = True
    bot.save()
    run_jobs()
    assert_handed_over(chat, "bot_disabled")


def test_a_reply_is_dropped_when_an_agent_took_over(server, chat, ben, document):
    ask(server, chat)
    with run_before(
        "chats.services.core.conversations.lock_for_reply", lambda: take_over(chat, ben)
    ):
        run_jobs()
    assert replies() == []
    assert Job.objects.get().state == JobState.DONE


def test_a_handover_is_dropped_when_an_agent_took_over(server, chat, ben, document):
    ask(server, chat, UNKNOWN)
    with run_before(
        "chats.services.core.conversations.lock_for_reply", lambda: take_over(chat, ben)
    ):
        run_jobs()
    assert replies() == []
    assert count_events("conversation.handed_off") == 0
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("agent", ben.user)


def test_a_reply_is_dropped_when_the_chat_came_back_meanwhile(server, chat, document):
    """An agent took the chat and returned it to the bot: only its version shows it."""

    def take_and_return():
        Conversation.objects.update(version=F("version") + 2)

    body = {"text": KNOWN, "client_message_id": "m-1", "reply": "wait"}
    turn = server.post(f"/ai/client/chat/{chat.pk}", body | {"reply": "async"}).json()
    assert turn["status"] == "pending"
    with run_before("chats.services.core.conversations.lock_for_reply", take_and_return):
        run_jobs()
    assert replies() == []
    # A repetition does not wait for a reply that never comes.
    again = server.post(f"/ai/client/chat/{chat.pk}", body)
    assert (again.status_code, again.json()["status"]) == (200, "not_expected")


def test_a_reply_is_dropped_when_the_chat_ended(server, chat, document):
    ask(server, chat)
    with run_before(
        "chats.services.core.conversations.lock_for_reply",
        lambda: Conversation.objects.update(status="ended"),
    ):
        run_jobs()
    assert replies() == []


def test_a_job_run_twice_makes_one_reply(server, chat, document):
    ask(server, chat)
    run_jobs()
    Job.objects.update(state=JobState.QUEUED)
    assert run_jobs() == 1
    assert len(replies()) == 1
    assert count_events("message.created") == 2


def test_the_statements_of_a_quoted_reply(server, chat, document):
    """Claim, message, engine and reservation; then the transaction: the job's end, the chat's lock,
    the credits and the reply. And one for the request that waits."""
    ask(server, chat)
    run_jobs()  # reads the bot's index
    turn = ask(server, chat).json()
    job = Job.objects.get(state=JobState.QUEUED)
    with CaptureQueriesContext(connection) as sent:
        leases.run(job.pk)
    assert len(replies()) == 2
    assert len(sent) == 10, [item["sql"][:60] for item in sent]
    message = Message.objects.get(pk=turn["message"]["id"])
    with CaptureQueriesContext(connection) as sent:
        assert incoming.outcome(message)["status"] == "answered"
    assert len(sent) == 1


def test_two_workers_make_one_reply(server, chat, document):
    message = ask(server, chat).json()["message"]["id"]
    with run_before(
        "chats.services.reply.publishing.publish_reply", lambda: pipeline.answer(message)
    ):
        run_jobs()
    assert len(replies()) == 1
    assert Job.objects.get().state == JobState.DONE
    chat.refresh_from_db()
    assert chat.last_seq == 2


def test_deltas_of_a_dropped_reply_are_reset_after_the_commit(
    server, chat, document, ben, monkeypatch
):
    events = []

    def append(stream, event, data):
        events.append((event, connection.in_atomic_block))

    monkeypatch.setattr(pubsub, "append", append)
    ask(server, chat)
    assign = {"assign_type": "agent", "assignee": ben.user, "version": F("version") + 1}
    with run_before(
        "chats.services.reply.publishing.publish_reply",
        lambda: Conversation.objects.update(**assign),
    ):
        run_jobs()
    assert replies() == []
    assert events[-2:] == [("reset", False), ("done", False)]


def test_a_lost_lease_drops_the_reply(server, chat, document):
    ask(server, chat)
    with run_before(
        "chats.services.reply.publishing.publish_reply",
        lambda: Job.objects.update(lease_token=uuid.uuid4()),
    ):
        leases.run(Job.objects.get().pk)
    assert replies() == []


def test_replies_come_in_the_order_of_the_messages(server, chat, document):
    message_ids = [ask(server, chat).json()["message"]["id"] for _ in range(3)]
    newest = Job.objects.latest("id")
    assert leases.run(newest.pk) is False
    assert run_jobs() == 3
    assert [str(reply.in_reply_to_id) for reply in replies()] == message_ids


def test_a_reply_that_always_fails_is_handed_over(server, chat, document, monkeypatch):
    def fail(*args, **more):
        raise RuntimeError("broken index")

    monkeypatch.setattr("bots.services.retrieval.find", fail)
    ask(server, chat)
    job = Job.objects.get()
    for _ in range(5):
        Job.objects.update(due_at=chat.created_at)
        leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 5)
    assert_handed_over(chat, "engine_failed")


def test_a_chat_deleted_meanwhile_ends_its_job(server, chat):
    ask(server, chat)
    Conversation.objects.all().delete()
    run_jobs()
    assert Job.objects.get().state == JobState.DONE
