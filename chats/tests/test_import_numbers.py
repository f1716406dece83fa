"""An import into chats that are in use: their counters, and the numbers of their messages."""

import uuid
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatplatform.testing import run_before
from chats.models import Conversation, Message
from chats.tests.test_export_import import export, run_import, write_files

pytestmark = pytest.mark.django_db

STARTED_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def uuid_of(number):
    return str(uuid.UUID(int=(0x7 << 76) | (0x2 << 62) | number))


def time_of(seq):
    return STARTED_AT + timedelta(minutes=seq)


def iso_time(seq):
    return time_of(seq).isoformat()


def chat_row(number=1, **more):
    """A row of an export, as a person may write it."""
    return {
        "id": uuid_of(number), "chat_code": f"moved{number}", "bot_id": 1, "channel": "web",
        "status": "open", "assign_type": "agent", "assignee_email": None, "version": 1,
        "customer": {"external_id": f"crm-{number}"}, "customer_id": number, "language": "en",
        "tags": [], "unread_count": 0, "message_count": 0, "can_reply": True, "metadata": {},
        "created_at": iso_time(0),
    } | more  # fmt: skip


def message_row(seq, chat=1, sender="customer", **more):
    return {
        "id": uuid_of(1000 * chat + seq), "conversation_id": uuid_of(chat), "seq": seq,
        "sender": {"type": sender, "id": None, "name": ""}, "status": "sent", "is_note": False,
        "content": [{"type": "text", "text": f"number {seq}"}], "citations": [],
        "translations": {}, "created_at": iso_time(seq),
    } | more  # fmt: skip


def import_rows(folder, bot, chats, messages, **options):
    write_files(folder, {"conversations": chats, "messages": messages})
    return run_import(folder, bot, **options)


def seqs(chat=1):
    return list(
        Message.objects.filter(conversation=uuid_of(chat)).order_by("seq").values_list(
            "seq", "text"
        )
    )  # fmt: skip


def send_message(server, text="Still there?", chat=1):
    """The `seq` of a customer's next message."""
    reply = server.post(f"/ai/client/chat/{uuid_of(chat)}", {"text": text, "reply": "none"})
    assert reply.status_code in {200, 201}, reply.content
    return Message.objects.get(conversation=uuid_of(chat), text=text).seq


def test_a_second_import_adds_new_messages(server, bot, tmp_path):
    first = [message_row(1), message_row(2)]
    since = [message_row(3, sender="agent"), message_row(4, sender="agent", is_note=True)]
    import_rows(
        tmp_path, bot, [chat_row(last_seq=2, message_count=2, last_message_at=iso_time(2))], first
    )
    output = import_rows(
        tmp_path,
        bot,
        [chat_row(last_seq=4, message_count=3, last_message_at=iso_time(3))],
        first + since,
    )
    assert "messages: 2 made, 2 were there already, 0 refused" in output
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.message_count) == (4, 3)
    assert chat.last_message == Message.objects.get(text="number 3")
    assert (chat.last_message_at, chat.first_response_at) == (time_of(3), time_of(3))
    assert send_message(server) == 5


@pytest.mark.parametrize("wrong", [{}, {"last_seq": 1}, {"last_seq": 9, "message_count": 7}])
def test_the_stored_messages_are_counted(server, bot, tmp_path, wrong):
    import_rows(
        tmp_path, bot, [chat_row(**wrong)], [message_row(1), message_row(2), message_row(3)]
    )
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.message_count) == (3, 3)
    assert send_message(server) == 4


def test_the_first_response_of_the_file_stays(bot, tmp_path):
    import_rows(
        tmp_path, bot, [chat_row(first_response_at=iso_time(7))], [message_row(1, sender="bot")]
    )
    assert Conversation.objects.get().first_response_at == time_of(7)


def test_history_changes_no_times(bot, tmp_path):
    import_rows(tmp_path, bot, [chat_row()], [message_row(1, sender="agent", sent_at=iso_time(1))])
    chat = Conversation.objects.get()
    assert (chat.last_seq, chat.last_message_at, chat.first_response_at) == (1, None, None)


def test_gaps_between_numbers_are_closed(server, bot, tmp_path):
    messages = [message_row(9), message_row(1), message_row(7)]
    import_rows(tmp_path, bot, [chat_row(last_seq=9, read_from_seq=7)], messages)
    assert seqs() == [(1, "number 1"), (2, "number 7"), (3, "number 9")]
    assert Conversation.objects.get().read_from_seq == 2
    before = export(server)

    output = import_rows(tmp_path, bot, [chat_row(last_seq=10)], [*messages, message_row(10)])

    assert "1 made, 3 were there already" in output
    assert seqs()[3:] == [(4, "number 10")]
    assert export(server)["messages"][:3] == before["messages"]
    assert send_message(server) == 5


def test_an_import_that_crashed_before_closing_gaps_is_run_again(bot, tmp_path):
    def die(*args, **more):
        raise KeyboardInterrupt

    write_files(
        tmp_path, {"conversations": [chat_row()], "messages": [message_row(1), message_row(7)]}
    )
    with (
        mock.patch("chats.services.data_exchange.importing.close_gaps", die),
        pytest.raises(KeyboardInterrupt),
    ):
        run_import(tmp_path, bot)
    assert [seq for seq, _ in seqs()] == [1, 7]
    run_import(tmp_path, bot)
    assert seqs() == [(1, "number 1"), (2, "number 7")]


def test_messages_written_here_keep_their_numbers(server, bot, tmp_path):
    import_rows(tmp_path, bot, [chat_row(last_seq=1)], [message_row(1)])
    assert send_message(server, "written here") == 2
    output = import_rows(tmp_path, bot, [chat_row()], [message_row(seq) for seq in (1, 2, 3)])
    assert "messages: 1 made, 1 were there already, 1 refused" in output
    assert f"message {uuid_of(1002)}: another message of its chat has the seq 2" in output
    assert seqs() == [(1, "number 1"), (2, "written here"), (3, "number 3")]
    assert Conversation.objects.get().message_count == 3
    assert send_message(server) == 4


@pytest.mark.parametrize("field", ["client_message_id", "external_id"])
def test_a_message_with_the_id_of_another_is_refused(bot, tmp_path, field):
    first, second = message_row(1, **{field: "x"}), message_row(2, **{field: "x"})
    output = import_rows(tmp_path, bot, [chat_row()], [first, second, message_row(3)])
    assert f"message {uuid_of(1002)}: another message of its chat has the {field} x" in output
    assert seqs() == [(1, "number 1"), (2, "number 3")]


def test_a_message_keeps_its_first_reply(bot, tmp_path):
    question = message_row(1)
    replies = [message_row(n, sender="bot", in_reply_to=question["id"]) for n in (2, 3)]
    import_rows(tmp_path, bot, [chat_row()], [question, replies[0]])
    output = import_rows(tmp_path, bot, [chat_row()], [question, *replies])
    assert "has a reply already" in output
    answering = Message.objects.order_by("seq").values_list("in_reply_to", flat=True)
    assert list(answering) == [None, uuid.UUID(question["id"]), None]


def test_a_message_gets_one_reply_of_a_page(bot, tmp_path):
    question = message_row(1)
    replies = [message_row(n, sender="bot", in_reply_to=question["id"]) for n in (2, 3)]
    output = import_rows(tmp_path, bot, [chat_row()], [question, *replies])
    assert "has a reply already" in output
    answered = Message.objects.order_by("seq").values_list("in_reply_to", flat=True)
    assert list(answered) == [None, uuid.UUID(question["id"]), None]


@pytest.mark.django_db(transaction=True)
def test_a_customer_writes_during_the_import(server, bot, tmp_path):
    messages = [message_row(1), message_row(2)]
    with run_before(
        "chats.services.data_exchange.importing.import_messages",
        lambda: send_message(server, "meanwhile"),
    ):
        import_rows(tmp_path, bot, [chat_row(last_seq=2)], messages)
    assert seqs() == [(1, "number 1"), (2, "number 2"), (3, "meanwhile")]
    assert send_message(server) == 4


@pytest.mark.django_db(transaction=True)
def test_published_numbers_stay_in_spite_of_a_gap(server, bot, tmp_path):
    with run_before(
        "chats.services.data_exchange.importing.import_messages",
        lambda: send_message(server, "meanwhile"),
    ):
        output = import_rows(
            tmp_path, bot, [chat_row(last_seq=7)], [message_row(1), message_row(7)]
        )
    assert f"conversation {uuid_of(1)}: has 3 messages" in output
    assert [seq for seq, _ in seqs()] == [1, 7, 8]
    assert send_message(server) == 9


def test_chats_may_be_imported_before_their_messages(server, bot, tmp_path):
    import_rows(tmp_path, bot, [chat_row(last_seq=2)], [])
    assert send_message(server, "first here") == 3
    import_rows(tmp_path, bot, [chat_row(last_seq=2)], [message_row(1), message_row(2)])
    assert seqs() == [(1, "number 1"), (2, "number 2"), (3, "first here")]


def test_counters_that_are_too_low_are_corrected(server, bot, tmp_path):
    chats, messages = [chat_row(last_seq=2)], [message_row(1), message_row(2)]
    import_rows(tmp_path, bot, chats, messages)
    Conversation.objects.update(last_seq=0, message_count=0)
    import_rows(tmp_path, bot, chats, messages)
    assert send_message(server) == 3


def test_a_row_that_is_twice_on_a_page_is_stored_once(bot, tmp_path):
    output = import_rows(tmp_path, bot, [chat_row(), chat_row()], [message_row(1), message_row(1)])
    assert "conversations: 1 made, 1 were there already, 0 refused" in output
    assert "messages: 1 made, 1 were there already, 0 refused" in output


@pytest.mark.parametrize("name", ["version", "unread_count", "last_seq", "read_from_seq"])
def test_a_number_near_the_column_limit_is_refused(bot, tmp_path, name):
    with pytest.raises(CommandError, match=f"{name}: Input should be less"):
        import_rows(tmp_path, bot, [chat_row(**{name: 2_147_483_647})], [])


def test_a_page_needs_the_same_number_of_queries_for_many_chats(bot, tmp_path):
    costs = []
    for chats in (range(10, 12), range(20, 60)):
        import_rows(tmp_path, bot, [chat_row(n) for n in chats], [])
        rows = [message_row(seq, n) for n in chats for seq in (1, 5)]
        with CaptureQueriesContext(connection) as queries:
            import_rows(tmp_path, bot, [], rows)
        costs.append(len(queries))
    assert costs[0] == costs[1]
