"""An import that meets odd files, a database that goes away, and another import."""

import threading

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection

from bots.testing import make_bot
from chatplatform.testing import run_before
from chats.models import Conversation, Message
from chats.tests.test_import_numbers import a_chat, a_message, an_id, bring
from chats.tests.test_transfer import save, take_in

pytestmark = pytest.mark.django_db

STORING = "chats.services.exchange.importing.import_messages"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'[]\n"\xff"\n', "a.jsonl, line 2: not UTF-8"),
        ("a.json", b'[\n\n"\xff"]', "a.json, line 3: not UTF-8"),
        ("a.jsonl", b"[]\n{\n", "a.jsonl, line 2: not JSON"),
        ("a.json", b"[\n1,\n]", "a.json, line 3: not JSON"),
        ("a.json", b"", "a.json, line 1: not JSON"),
        ("a.json", b"[" * 100_000 + b"]" * 100_000, "a.json, line 1: JSON nested too deep"),
        ("a.json", b"1" * 5_000, "a.json, line 1: not JSON that can be read"),
    ],
    ids=["utf8-line", "utf8", "line", "whole", "empty", "deep", "digits"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(bot, tmp_path, name, content, said):
    (tmp_path / f"conversations-{name}").write_bytes(content)
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match=said):
        take_in(tmp_path, bot)


def test_a_folder_of_that_name_is_no_file(bot, tmp_path):
    (tmp_path / "conversations.json").mkdir()
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match=r"conversations.json: cannot be read"):
        take_in(tmp_path, bot)


def test_blank_lines_and_byte_order_marks_are_no_matter(bot, tmp_path):
    save(tmp_path, {"conversations": [a_chat()], "messages": [a_message(1)]})
    for path in list(tmp_path.iterdir()):
        path.with_suffix(".jsonl").write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\n")
        path.unlink()
    assert "messages: 1 made" in take_in(tmp_path, bot)


def test_both_kinds_of_files_are_looked_for_first(bot, tmp_path):
    save(tmp_path, {"conversations": [a_chat()]})
    with pytest.raises(CommandError, match=r"no messages\*.json"):
        take_in(tmp_path, bot)
    assert not Conversation.objects.exists()


def test_a_text_that_is_none_is_named(bot, tmp_path):
    with pytest.raises(CommandError, match="None of these is imported"):
        bring(tmp_path, bot, [a_chat(chat_code="\ud800")], [])


def test_an_id_map_without_a_folder_is_said_first(bot, tmp_path):
    with pytest.raises(CommandError, match="no folder"):
        bring(tmp_path, bot, [a_chat()], [], id_map=tmp_path / "none" / "ids.csv")
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("answer", ["null", "[1]", '[{"id": 1}]', '{"payload": 7}'])
def test_what_chatwoot_never_answers_is_said(bot, tmp_path, answer):
    (tmp_path / "conversations.json").write_text(answer)
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match="not as Chatwoot's API answers"):
        take_in(tmp_path, bot, format="chatwoot")


def test_it_says_how_far_it_is(bot, tmp_path, monkeypatch):
    monkeypatch.setattr("chats.management.commands.import_conversations.BATCH", 1)
    for number in (1, 2, 3, 4):
        (tmp_path / f"messages-{number}.json").write_text("[]")
        save(tmp_path, {f"conversations-{number}": [a_chat(number)]})
    said = take_in(tmp_path, bot)
    assert [f"conversations: {share}% read" in said for share in (25, 50, 75, 100)] == [True] * 4


def a_second_connection():
    given = connection.settings_dict
    return psycopg.connect(
        host=given["HOST"], port=given["PORT"], user=given["USER"], password=given["PASSWORD"],
        dbname=given["NAME"], autocommit=True,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_the_database_goes_away_and_the_next_run_goes_on(bot, tmp_path):
    def cut_off():
        ours = connection.connection.info.backend_pid
        with a_second_connection() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [ours])

    with (
        run_before(STORING, cut_off),
        pytest.raises(CommandError, match=r"The database failed .* run the command again"),
    ):
        bring(tmp_path, bot, [a_chat()], [a_message(1)])
    connection.close()
    assert not Message.objects.exists()
    said = take_in(tmp_path, bot)
    assert "conversations: 0 made, 1 were there already" in said
    assert "messages: 1 made" in said


@pytest.mark.django_db(transaction=True)
def test_of_two_imports_of_a_client_one_is_told_to_wait(bot, client_b, tmp_path):
    theirs = make_bot(client_b)
    said = []

    def import_too(into):
        try:
            said.append(take_in(tmp_path, into))
        except CommandError as exc:
            said.append(str(exc))
        finally:
            connection.close()

    def meanwhile():
        for into in (bot, theirs):
            other = threading.Thread(target=import_too, args=[into])
            other.start()
            other.join()

    with run_before(STORING, meanwhile):
        bring(tmp_path, bot, [a_chat()], [a_message(1)])
    assert said[0] == "Another import of this client is running: wait for its end."
    assert "messages: 1 made" in said[1]
    assert Message.objects.filter(conversation=an_id(1)).count() == 1
    assert "1 were there already" in take_in(tmp_path, bot)
