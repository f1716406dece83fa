"""An import with invalid files, a failing database, and another import at the same time."""

import threading

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection

from bots.testing import make_bot
from chatplatform.testing import run_before
from chats.models import Conversation, Message
from chats.tests.test_export_import import run_import, write_files
from chats.tests.test_import_numbers import chat_row, import_rows, message_row, uuid_of

pytestmark = pytest.mark.django_db

IMPORT_MESSAGES = "chats.services.data_exchange.importing.import_messages"


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.jsonl", b'[]\n"\xff"\n', "a.jsonl, line 2: not UTF-8"),
        ("a.json", b'[\n\n"\xff"]', "a.json, line 3: not UTF-8"),
        ("a.jsonl", b"[]\n{\n", "a.jsonl, line 2: not JSON"),
        ("a.json", b"[\n1,\n]", "a.json, line 3: not JSON"),
        ("a.json", b"", "a.json, line 1: not JSON"),
        (
            "a.json",
            b"[" * 100_000 + b"]" * 100_000,
            "a.json, line 1: JSON that is nested too deeply",
        ),
        ("a.json", b"1" * 5_000, "a.json, line 1: JSON that cannot be read"),
    ],
    ids=["utf8-line", "utf8", "line", "whole", "empty", "deep", "digits"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(bot, tmp_path, name, content, error):
    (tmp_path / f"conversations-{name}").write_bytes(content)
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match=error):
        run_import(tmp_path, bot)


def test_a_folder_instead_of_a_file_is_named(bot, tmp_path):
    (tmp_path / "conversations.json").mkdir()
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match=r"conversations.json: cannot be read"):
        run_import(tmp_path, bot)


def test_blank_lines_and_byte_order_marks_are_ignored(bot, tmp_path):
    write_files(tmp_path, {"conversations": [chat_row()], "messages": [message_row(1)]})
    for path in list(tmp_path.iterdir()):
        path.with_suffix(".jsonl").write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\n")
        path.unlink()
    assert "messages: 1 made" in run_import(tmp_path, bot)


def test_both_kinds_of_files_are_required_before_the_import(bot, tmp_path):
    write_files(tmp_path, {"conversations": [chat_row()]})
    with pytest.raises(CommandError, match=r"no messages\*.json"):
        run_import(tmp_path, bot)
    assert not Conversation.objects.exists()


def test_an_invalid_text_is_named(bot, tmp_path):
    with pytest.raises(CommandError, match="None of these rows was imported"):
        import_rows(tmp_path, bot, [chat_row(chat_code="\ud800")], [])


def test_an_id_map_without_a_folder_is_refused_before_the_import(bot, tmp_path):
    with pytest.raises(CommandError, match="no folder"):
        import_rows(tmp_path, bot, [chat_row()], [], id_map=tmp_path / "none" / "ids.csv")
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("answer", ["null", "[1]", '[{"id": 1}]', '{"payload": 7}'])
def test_a_response_that_chatwoot_never_sends_is_refused(bot, tmp_path, answer):
    (tmp_path / "conversations.json").write_text(answer)
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match="the format of Chatwoot's API"):
        run_import(tmp_path, bot, format="chatwoot")


def test_the_import_shows_its_progress(bot, tmp_path, monkeypatch):
    monkeypatch.setattr("chats.management.commands.import_conversations.BATCH", 1)
    for number in (1, 2, 3, 4):
        (tmp_path / f"messages-{number}.json").write_text("[]")
        write_files(tmp_path, {f"conversations-{number}": [chat_row(number)]})
    output = run_import(tmp_path, bot)
    assert [f"conversations: {share}% read" in output for share in (25, 50, 75, 100)] == [True] * 4


def a_second_connection():
    config = connection.settings_dict
    return psycopg.connect(
        host=config["HOST"], port=config["PORT"], user=config["USER"], password=config["PASSWORD"],
        dbname=config["NAME"], autocommit=True,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_after_a_database_failure_the_next_run_continues(bot, tmp_path):
    def cut_off():
        ours = connection.connection.info.backend_pid
        with a_second_connection() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [ours])

    with (
        run_before(IMPORT_MESSAGES, cut_off),
        pytest.raises(CommandError, match=r"The database failed .* run the command again"),
    ):
        import_rows(tmp_path, bot, [chat_row()], [message_row(1)])
    connection.close()
    assert not Message.objects.exists()
    output = run_import(tmp_path, bot)
    assert "conversations: 0 made, 1 were there already" in output
    assert "messages: 1 made" in output


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_imports_of_a_client_is_refused(bot, client_b, tmp_path):
    theirs = make_bot(client_b)
    outputs = []

    def import_too(target_bot):
        try:
            outputs.append(run_import(tmp_path, target_bot))
        except CommandError as exc:
            outputs.append(str(exc))
        finally:
            connection.close()

    def meanwhile():
        for target_bot in (bot, theirs):
            other = threading.Thread(target=import_too, args=[target_bot])
            other.start()
            other.join()

    with run_before(IMPORT_MESSAGES, meanwhile):
        import_rows(tmp_path, bot, [chat_row()], [message_row(1)])
    assert outputs[0] == "Another import of this client is running. Wait until it has ended."
    assert "messages: 1 made" in outputs[1]
    assert Message.objects.filter(conversation=uuid_of(1)).count() == 1
    assert "1 were there already" in run_import(tmp_path, bot)
