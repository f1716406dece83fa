"""An import into chats that are in use: what they count, and the numbers of their messages."""

import uuid
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatplatform.testing import run_before
from chats.models import Conversation, Message
from chats.tests.test_transfer import export, save, take_in

pytestmark = pytest.mark.django_db

BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def an_id(number):
    return str(uuid.UUID(int=(0x7 << 76) | (0x2 << 62) | number))


def moment(seq):
    return BEGUN + timedelta(minutes=seq)


def at(seq):
    return moment(seq).isoformat()


def a_chat(number=1, **more):
    """A row of an export, as somebody may write it by hand."""
    return {
        "id": an_id(number), "chat_code": f"moved{number}", "bot_id": 1, "channel": "web",
        "status": "open", "assign_type": "agent", "assignee_email": None, "version": 1,
        "customer": {"external_id": f"crm-{number}"}, "customer_id": number, "language": "en",
        "tags": [], "unread_count": 0, "message_count": 0, "can_reply": True, "metadata": {},
        "created_at": at(0),
    } | more  # fmt: skip


def a_message(seq, chat=1, sender="customer", **more):
    return {
        "id": an_id(1000 * chat + seq), "conversation_id": an_id(chat), "seq": seq,
        "sender": {"type": sender, "id": None, "name": ""}, "status": "sent", "is_note": False,
        "content": [{"type": "text", "text": f"number {seq}"}], "citations": [],
        "translations": {}, "created_at": at(seq),
    } | more  # fmt: skip


def bring(folder, bot, chats, messages, **options):
    save(folder, {"conversations": chats, "messages": messages})
    return take_in(folder, bot, **options)


def seqs(chat=1):
    return list(
        Message.objects.filter(conversation=an_id(chat)).order_by("seq").values_list(
            "seq", "text"
        )
    )  # fmt: skip


def say(server, text="Still there?", chat=1):
    """The `seq` of a customer's next message."""
    reply = server.post(f"/ai/client/chat/{an_id(chat)}", {"text": text, "reply": "none"})
    assert reply.status_code in {200, 201}, reply.content
    return Message.objects.get(conversation=an_id(chat), text=text).seq


def test_a_second_import_brings_what_was_said_since(server, bot, tmp_path):
    first = [a_message(1), a_message(2)]
    since = [a_message(3, sender="agent"), a_message(4, sender="agent", is_note=True)]
    bring(tmp_path, bot, [a_chat(last_seq=2, message_count=2, last_message_at=at(2))], first)
    said = bring(
        tmp_path, bot, [a_chat(last_seq=4, message_count=3, last_message_at=at(3))], first + since
    )
    assert "messages: 2 made, 2 were there already, 0 refused" in said
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.message_count) == (4, 3)
    assert chat.last_message == Message.objects.get(text="number 3")
    assert (chat.last_message_at, chat.first_response_at) == (moment(3), moment(3))
    assert say(server) == 5


@pytest.mark.parametrize("wrong", [{}, {"last_seq": 1}, {"last_seq": 9, "message_count": 7}])
def test_messages_are_counted_as_they_are(server, bot, tmp_path, wrong):
    bring(tmp_path, bot, [a_chat(**wrong)], [a_message(1), a_message(2), a_message(3)])
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.message_count) == (3, 3)
    assert say(server) == 4


def test_the_answer_that_the_file_names_stays(bot, tmp_path):
    bring(tmp_path, bot, [a_chat(first_response_at=at(7))], [a_message(1, sender="bot")])
    assert Conversation.objects.get().first_response_at == moment(7)


def test_history_moves_no_times(bot, tmp_path):
    bring(tmp_path, bot, [a_chat()], [a_message(1, sender="agent", sent_at=at(1))])
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.last_message_at, chat.first_response_at) == (1, None, None)


def test_gaps_between_numbers_are_closed(server, bot, tmp_path):
    messages = [a_message(9), a_message(1), a_message(7)]
    bring(tmp_path, bot, [a_chat(last_seq=9, read_from_seq=7)], messages)
    assert seqs() == [(1, "number 1"), (2, "number 7"), (3, "number 9")]
    assert Conversation.objects.get().read_from_seq == 2
    before = export(server)

    said = bring(tmp_path, bot, [a_chat(last_seq=10)], [*messages, a_message(10)])

    assert "1 made, 3 were there already" in said
    assert seqs()[3:] == [(4, "number 10")]
    assert export(server)["messages"][:3] == before["messages"]
    assert say(server) == 5


def test_a_run_that_died_before_it_closed_the_gaps_is_run_again(bot, tmp_path):
    def die(*args, **more):
        raise KeyboardInterrupt

    save(tmp_path, {"conversations": [a_chat()], "messages": [a_message(1), a_message(7)]})
    with (
        mock.patch("chats.services.exchange.importing.close_gaps", die),
        pytest.raises(KeyboardInterrupt),
    ):
        take_in(tmp_path, bot)
    assert [seq for seq, _ in seqs()] == [1, 7]
    take_in(tmp_path, bot)
    assert seqs() == [(1, "number 1"), (2, "number 7")]


def test_what_was_said_here_keeps_its_number(server, bot, tmp_path):
    bring(tmp_path, bot, [a_chat(last_seq=1)], [a_message(1)])
    assert say(server, "said here") == 2
    said = bring(tmp_path, bot, [a_chat()], [a_message(seq) for seq in (1, 2, 3)])
    assert "messages: 1 made, 1 were there already, 1 refused" in said
    assert f"message {an_id(1002)}: another message of its chat has the seq 2" in said
    assert seqs() == [(1, "number 1"), (2, "said here"), (3, "number 3")]
    assert Conversation.objects.get().message_count == 3
    assert say(server) == 4


@pytest.mark.parametrize("twin", ["client_message_id", "external_id"])
def test_an_id_that_another_message_has_is_refused(bot, tmp_path, twin):
    first, second = a_message(1, **{twin: "x"}), a_message(2, **{twin: "x"})
    said = bring(tmp_path, bot, [a_chat()], [first, second, a_message(3)])
    assert f"message {an_id(1002)}: another message of its chat has the {twin} x" in said
    assert seqs() == [(1, "number 1"), (2, "number 3")]


def test_a_question_keeps_the_reply_it_has(bot, tmp_path):
    question = a_message(1)
    replies = [a_message(n, sender="bot", in_reply_to=question["id"]) for n in (2, 3)]
    bring(tmp_path, bot, [a_chat()], [question, replies[0]])
    said = bring(tmp_path, bot, [a_chat()], [question, *replies])
    assert "has a reply already" in said
    answering = Message.objects.order_by("seq").values_list("in_reply_to", flat=True)
    assert list(answering) == [None, uuid.UUID(question["id"]), None]


@pytest.mark.django_db(transaction=True)
def test_a_customer_writes_while_the_messages_come_in(server, bot, tmp_path):
    messages = [a_message(1), a_message(2)]
    with run_before(
        "chats.services.exchange.importing.import_messages", lambda: say(server, "meanwhile")
    ):
        bring(tmp_path, bot, [a_chat(last_seq=2)], messages)
    assert seqs() == [(1, "number 1"), (2, "number 2"), (3, "meanwhile")]
    assert say(server) == 4


@pytest.mark.django_db(transaction=True)
def test_numbers_that_were_told_stay_though_there_is_a_gap(server, bot, tmp_path):
    with run_before(
        "chats.services.exchange.importing.import_messages", lambda: say(server, "meanwhile")
    ):
        said = bring(tmp_path, bot, [a_chat(last_seq=7)], [a_message(1), a_message(7)])
    assert f"conversation {an_id(1)}: has 3 messages" in said
    assert [seq for seq, _ in seqs()] == [1, 7, 8]
    assert say(server) == 9


def test_chats_may_come_before_their_messages(server, bot, tmp_path):
    bring(tmp_path, bot, [a_chat(last_seq=2)], [])
    assert say(server, "first here") == 3
    bring(tmp_path, bot, [a_chat(last_seq=2)], [a_message(1), a_message(2)])
    assert seqs() == [(1, "number 1"), (2, "number 2"), (3, "first here")]


def test_a_chat_that_counts_too_little_is_mended(server, bot, tmp_path):
    chats, messages = [a_chat(last_seq=2)], [a_message(1), a_message(2)]
    bring(tmp_path, bot, chats, messages)
    Conversation.objects.update(last_seq=0, message_count=0)
    bring(tmp_path, bot, chats, messages)
    assert say(server) == 3


def test_a_row_twice_on_a_page_is_known(bot, tmp_path):
    said = bring(tmp_path, bot, [a_chat(), a_chat()], [a_message(1), a_message(1)])
    assert "conversations: 1 made, 1 were there already, 0 refused" in said
    assert "messages: 1 made, 1 were there already, 0 refused" in said


@pytest.mark.parametrize("name", ["version", "unread_count", "last_seq", "read_from_seq"])
def test_a_number_without_room_to_count_on_is_refused(bot, tmp_path, name):
    with pytest.raises(CommandError, match=f"{name}: Input should be less"):
        bring(tmp_path, bot, [a_chat(**{name: 2_147_483_647})], [])


def test_a_page_costs_the_same_for_many_chats(bot, tmp_path):
    costs = []
    for chats in (range(10, 12), range(20, 60)):
        bring(tmp_path, bot, [a_chat(n) for n in chats], [])
        rows = [a_message(seq, n) for n in chats for seq in (1, 5)]
        with CaptureQueriesContext(
            connection,
        ) as asked:
            bring(tmp_path, bot, [], rows)
        costs.append(len(asked))
    assert costs[0] == costs[1]
