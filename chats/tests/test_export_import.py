"""Export and import of conversations."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from bots.testing import make_bot
from chatplatform.models import Job
from chatplatform.testing import run_before
from chats.models import Conversation, Customer, Feedback, Message, Tagging
from identity.testing import make_client, make_key, make_person
from webhooks.models import Event

PATHS = {
    "conversations": "/ai/client/migrate/conversations",
    "messages": "/ai/client/migrate/messages",
}
pytestmark = pytest.mark.django_db


def create_chats(server, chats=3):
    """Chats that have ended, with messages, ratings and tags, opened a while ago."""
    for number in range(chats):
        customer = {"external_id": f"c{number}", "name": "Zoe", "attributes": {"vip": True}}
        body = {"customer": customer, "message": f"Hello {number}", "metadata": {"n": number}}
        chat = server.post("/ai/client/chat", body).json()["id"]
        server.post(f"/ai/client/chat/{chat}", {"text": "More", "reply": "none"})
        row = Conversation.objects.get(pk=chat)
        first, second = Message.objects.filter(conversation=row).order_by("seq")
        Message.objects.filter(pk=second.pk).update(
            sender_type="bot", in_reply_to=first, receipt={"confidence": 0.9}, metadata={"k": 1}
        )
        Message.objects.filter(pk=first.pk).update(sentiment="negative")
        shared = {"client": row.client, "conversation": row}
        Tagging.objects.create(**shared, name="refund", source="ai", confidence=0.5)
        Feedback.objects.create(**shared, rating=4, comment="fine")
        Feedback.objects.create(**shared, message=second, thumb="down", reason="too_slow")
        Conversation.objects.filter(pk=chat).update(
            tags=["refund"], requester={"external_id": "7", "name": "Zed"}, provider="mail",
            group_id="g", status="ended", ended_by="agent", ended_at=row.created_at,
            sentiment="positive", sentiment_score=0.5, summary="Asked, answered.",
            first_response_at=second.created_at,
        )  # fmt: skip
    age = timezone.now() - timedelta(minutes=1)
    Conversation.objects.update(created_at=age)
    Message.objects.update(created_at=age)


def export(server, limit=2):
    """Everything, page by page."""
    exported: dict[str, list[Any]] = {}
    for kind, path in PATHS.items():
        exported[kind], cursor = [], None
        while True:
            query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
            page = server.get(path, query).json()
            exported[kind] += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    return exported


def write_files(folder, exported):
    for kind, items in exported.items():
        (folder / f"{kind}.json").write_text(json.dumps({"items": items, "next_cursor": None}))


def run_import(folder, bot, **options):
    """The output of the command."""
    stdout, stderr = StringIO(), StringIO()
    call_command(
        "import_conversations", str(folder), client=bot.client.code, bot=bot.pk,
        stdout=stdout, stderr=stderr, **options,
    )  # fmt: skip
    return stdout.getvalue() + stderr.getvalue()


def delete_chats():
    Conversation.objects.all().delete()


def test_the_last_page_says_where_to_go_on_later(server):
    for path in PATHS.values():
        empty = server.get(path).json()
        assert (empty["next_cursor"], empty["resume_cursor"]) == (None, None)
    create_chats(server, 3)
    later = {}
    for kind, path in PATHS.items():
        first = server.get(path, {"limit": 2}).json()
        assert first["resume_cursor"] == first["next_cursor"] is not None
        last = server.get(path, {"cursor": first["resume_cursor"]}).json()
        assert last["next_cursor"] is None
        nothing = server.get(path, {"cursor": last["resume_cursor"]}).json()
        assert (nothing["items"], nothing["resume_cursor"]) == ([], last["resume_cursor"])
        later[kind] = last["resume_cursor"]
    before = {str(pk) for pk in Conversation.objects.values_list("pk", flat=True)}
    create_chats(server, 1)
    new = Conversation.objects.exclude(pk__in=before).get()
    for kind, path in PATHS.items():
        items = server.get(path, {"cursor": later[kind]}).json()["items"]
        assert {item.get("conversation_id", item["id"]) for item in items} == {str(new.pk)}


def test_the_pages_of_an_export_hold_everything_once(server):
    create_chats(server)
    exported = export(server)
    assert [chat["metadata"]["n"] for chat in exported["conversations"]] == [0, 1, 2]
    assert len({message["id"] for message in exported["messages"]}) == 6
    assert [message["sentiment"] for message in exported["messages"][:2]] == ["negative", None]
    first = exported["conversations"][0]
    assert first["customer"]["external_id"] == "c0"
    assert first["taggings"][0] | {"created_at": None} == {
        "name": "refund", "source": "ai", "confidence": 0.5, "created_at": None,
    }  # fmt: skip
    assert first["feedback"]["rating"] == 4
    assert [message["feedback"] and message["feedback"]["thumb"] for message in
            exported["messages"][:2]] == [None, "down"]  # fmt: skip


def test_rows_of_the_last_seconds_are_not_exported(server):
    server.post("/ai/client/chat", {"message": "Just now"})
    assert export(server) == {"conversations": [], "messages": []}


@pytest.mark.parametrize("kind", PATHS)
def test_only_a_secret_key_exports_its_own_rows(server, page, ann, client_b, kind):
    create_chats(server, chats=1)
    stranger = make_key(client_b, "secret", make_bot(client_b).pk)
    assert page.get(PATHS[kind]).status_code == 403
    assert ann.get(PATHS[kind]).status_code == 401
    assert stranger.get(PATHS[kind]).json()["items"] == []


def test_the_key_of_a_bot_exports_its_bots_rows_only(server, client_a):
    create_chats(server, chats=1)
    create_chats(make_key(client_a, "secret", make_bot(client_a).pk), chats=1)
    exported = export(server)
    (chat,) = exported["conversations"]
    assert [row["conversation_id"] for row in exported["messages"]] == [chat["id"]] * 2


def test_an_import_keeps_the_previous_chat(server, bot, tmp_path):
    create_chats(server, chats=2)
    first, second = Conversation.objects.order_by("id")
    Conversation.objects.filter(pk=second.pk).update(previous_chat=first)
    write_files(tmp_path, export(server))
    delete_chats()
    run_import(tmp_path, bot)
    assert Conversation.objects.get(pk=second.pk).previous_chat == first


def test_an_import_restores_an_export(server, bot, tmp_path):
    create_chats(server)
    before = export(server)
    write_files(tmp_path, before)
    delete_chats()
    events, jobs = Event.objects.count(), Job.objects.count()

    output = run_import(tmp_path, bot)

    assert export(server) == before
    assert "conversations: 3 made" in output
    assert "messages: 6 made" in output
    # No events and no jobs.
    assert (Event.objects.count(), Job.objects.count()) == (events, jobs)


def test_a_second_run_changes_nothing(server, bot, tmp_path):
    create_chats(server)
    before = export(server)
    write_files(tmp_path, before)
    assert "0 made, 3 were there already" in run_import(tmp_path, bot)
    assert export(server) == before


@pytest.mark.django_db(transaction=True)
def test_an_import_that_crashed_is_run_again(server, bot, tmp_path, monkeypatch):
    monkeypatch.setattr("chats.management.commands.import_conversations.BATCH", 2)
    create_chats(server)
    before = export(server)
    write_files(tmp_path, before)
    delete_chats()

    pages = []

    def die_at_the_second_page():
        pages.append(1)
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        run_before(
            "chats.services.data_exchange.importing.import_messages", die_at_the_second_page
        ),
    ):
        run_import(tmp_path, bot)
    assert Conversation.objects.count() == 3
    assert not Message.objects.exists()

    run_import(tmp_path, bot)
    assert export(server) == before


def test_a_dry_run_stores_nothing(server, bot, tmp_path):
    create_chats(server)
    write_files(tmp_path, export(server))
    delete_chats()
    assert "3 would be made" in run_import(tmp_path, bot, dry_run=True)
    assert not Conversation.objects.exists()


@pytest.mark.full
def test_another_client_gets_rows_of_its_own(server, client_b, tmp_path):
    create_chats(server)
    before = export(server)
    write_files(tmp_path, before)
    theirs = make_bot(client_b)
    id_map = tmp_path / "map.csv"

    run_import(tmp_path, theirs, id_map=id_map)
    run_import(tmp_path, theirs)

    assert export(server) == before
    after = export(make_key(client_b, "secret", theirs.pk))
    assert len(after["conversations"]) == 3
    assert len(after["messages"]) == 6
    ours = {chat["id"] for chat in before["conversations"]}
    assert not ours & {chat["id"] for chat in after["conversations"]}
    assert len(id_map.read_text().splitlines()) == 1 + 3 + 6


def test_an_unknown_agent_leaves_the_chat_in_the_queue(server, client_a, bot, ben, tmp_path):
    create_chats(server, chats=1)
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    write_files(tmp_path, export(server))
    delete_chats()
    ben.user.email = "other@example.com"
    ben.user.save()
    assert "it waits in the queue" in run_import(tmp_path, bot)
    assert Conversation.objects.get().assign_type == "queue"


@pytest.mark.parametrize(("status", "keeps"), [("open", False), ("ended", True)])
def test_a_disabled_agent_keeps_only_ended_chats(server, bot, ben, tmp_path, status, keeps):
    create_chats(server, chats=1)
    Conversation.objects.update(assign_type="agent", assignee=ben.user, status=status)
    write_files(tmp_path, export(server))
    delete_chats()
    ben.user.is_disabled = True
    ben.user.save()
    assert ("it waits in the queue" in run_import(tmp_path, bot)) is not keeps
    chat = Conversation.objects.get()
    assert (chat.assign_type, chat.assignee) == (("agent", ben.user) if keeps else ("queue", None))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "not JSON"),
        ('[{"id": "x"}]', "ConversationEntity x"),
        ("[1]", "ConversationEntity 1"),
        ("null", "ConversationEntity None"),
    ],
)
def test_an_invalid_file_is_named(bot, tmp_path, content, error):
    (tmp_path / "conversations.json").write_text(content)
    (tmp_path / "messages.json").write_text("[]")
    with pytest.raises(CommandError, match=error):
        run_import(tmp_path, bot)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"seq": 2_000_000_000}, "seq: Input should be"),
        ({"seq": 0}, "seq: Input should be"),
        ({"language": "x" * 300}, "None of these rows was imported"),
        ({"error": "a\x00"}, "None of these rows was imported"),
    ],
)
def test_a_row_that_cannot_be_stored_is_named(server, bot, tmp_path, wrong, error):
    create_chats(server)
    exported = export(server)
    exported["messages"][0].update(wrong)
    write_files(tmp_path, exported)
    delete_chats()
    with pytest.raises(CommandError, match=error):
        run_import(tmp_path, bot)
    assert Message.objects.count() == 0


def test_another_clients_bot_is_refused(bot, client_b, tmp_path):
    with pytest.raises(CommandError, match="no bot"):
        call_command(
            "import_conversations", str(tmp_path), client=client_b.code, bot=bot.pk,
            stdout=StringIO(),
        )  # fmt: skip


# --- Chatwoot -------------------------------------------------------------------------------------

CHATWOOT_CHATS = {
    "data": {
        "meta": {"all_count": 2},
        "payload": [
            {
                "id": 12,
                "account_id": 3,
                "uuid": "a",
                "status": "resolved",
                "created_at": 1_760_000_000,
                "last_activity_at": 1_760_000_500,
                "labels": ["billing"],
                "inbox_id": 5,
                "unread_count": 0,
                "priority": None,
                "custom_attributes": {"order": "9"},
                "first_reply_created_at": 1_760_000_100,
                "waiting_since": 0,
                "snoozed_until": None,
                "meta": {
                    "sender": {
                        "id": 77,
                        "name": "Zoe",
                        "email": "zoe@example.com",
                        "phone_number": "+4912345",
                        "identifier": "crm-1",
                        "thumbnail": "",
                        "custom_attributes": {},
                    },
                    "channel": "Channel::WebWidget",
                    "assignee": {"id": 1, "email": "BEN", "name": "Ben"},
                },
            },
            {
                "id": 13,
                "account_id": 3,
                "uuid": "b",
                "status": "open",
                "created_at": 1_760_001_000,
                "last_activity_at": 1_760_001_500,
                "labels": [],
                "unread_count": 1,
                "waiting_since": 1_760_001_000,
                "meta": {"sender": {"id": 78, "email": "nonsense"}, "channel": "Channel::Sms"},
            },
        ],
    }
}
CHATWOOT_MESSAGES = {
    "payload": [
        {"id": 103, "conversation_id": 12, "message_type": 1, "content": "Paid back.",
         "created_at": 1_760_000_100, "private": False, "status": "read",
         "sender": {"id": 1, "type": "user", "name": "Ben"}},
        {"id": 102, "conversation_id": 12, "message_type": 0, "content": "My money?",
         "created_at": 1_760_000_000, "private": False, "status": "sent",
         "sender": {"id": 77, "type": "contact", "name": "Zoe"}},
        {"id": 104, "conversation_id": 12, "message_type": 1, "content": "check her file",
         "created_at": 1_760_000_200, "private": True,
         "sender": {"id": 1, "type": "user", "name": "Ben"}},
        {"id": 105, "conversation_id": 12, "message_type": 2, "content": "Ben resolved it",
         "created_at": 1_760_000_500, "private": False, "sender": None},
        {"id": 106, "conversation_id": 13, "message_type": 0, "content": None,
         "created_at": 1_760_001_000, "private": False, "sender": {"id": 78, "type": "contact"},
         "attachments": [{"file_type": "image", "data_url": "https://x.example/a.png",
                          "file_size": 9}]},
        {"id": 107, "conversation_id": 99, "message_type": 0, "content": "of another export",
         "created_at": 1_760_001_000, "private": False},
    ]
}  # fmt: skip


@pytest.fixture
def chatwoot_folder(tmp_path, client_a):
    agent = make_person(client_a, "agent", "Ben").user
    assert agent
    text = json.dumps(CHATWOOT_CHATS).replace("BEN", agent.email.upper())
    (tmp_path / "conversations_1.json").write_text(text)
    (tmp_path / "messages_1.json").write_text(json.dumps(CHATWOOT_MESSAGES))
    return tmp_path


def test_chatwoot_conversations_are_imported(bot, chatwoot_folder):
    output = run_import(chatwoot_folder, bot, format="chatwoot")
    assert "conversations: 2 made" in output
    assert "messages: 5 made" in output

    ended, open_ = Conversation.objects.order_by("created_at")
    assert (ended.status, ended.ended_by, ended.assign_type) == ("ended", "agent", "agent")
    assert (ended.channel, ended.tags) == ("web", ["billing"])
    assert ended.customer.external_id == "crm-1"
    assert ended.external_id == "chatwoot:3:conversation:12"
    assert (open_.status, open_.assign_type, open_.channel) == ("open", "queue", "api")
    assert open_.customer.attributes == {"email": "nonsense"}
    messages = list(
        Message.objects.filter(conversation=ended)
        .order_by("seq")
        .values_list("seq", "sender_type", "is_note", "text")
    )
    assert messages == [
        (1, "customer", False, "My money?"),
        (2, "agent", False, "Paid back."),
        (3, "agent", True, "check her file"),
        (4, "system", True, "Ben resolved it"),
    ]
    assert not Event.objects.exists()
    assert not Job.objects.exists()


def test_what_chatwoot_messages_hold_besides_words_stays_readable(ann, bot, tmp_path):
    """A place, a contact, a deleted message, a rating, a long text and one with a NUL."""

    def row(number, content=None, **more):
        sender = {"id": 77, "type": "contact", "name": "Zoe"}
        return {
            "id": number, "conversation_id": 12, "message_type": "incoming", "content": content,
            "created_at": 1_760_000_000 + number, "private": False, "sender": sender, **more,
        }  # fmt: skip

    place = {"file_type": "location", "coordinates_lat": 10.77, "coordinates_long": 106.69,
             "fallback_title": "Mill Street 4"}  # fmt: skip
    contact = {"file_type": "contact", "fallback_title": "+84901234567",
               "meta": {"firstName": "Bo"}}  # fmt: skip
    survey = {"csat_survey_response": {"rating": 2, "feedback_message": "meh"}}
    exported = [
        row(1, attachments=[place]),
        row(2, attachments=[contact]),
        row(3, "This message was deleted", content_attributes={"deleted": True}),
        row(4, "x" * 9_000),
        row(5, "hi \x00 there"),
        row(6, "Please rate", message_type="outgoing", content_type="input_csat",
            content_attributes={"submitted_values": survey}),
        row(7, attachments=[{"file_type": "share", "fallback_title": None}]),
        row(8, "Re: it", content_attributes={"email": {"subject": "Order 55"}}),
    ]  # fmt: skip
    (tmp_path / "conversations.json").write_text(json.dumps(CHATWOOT_CHATS))
    (tmp_path / "messages.json").write_text(json.dumps(exported))
    assert "messages: 8 made" in run_import(tmp_path, bot, format="chatwoot")
    chat = Conversation.objects.get(external_id="chatwoot:3:conversation:12")
    listed = ann.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    at, card, deleted, long, cut, asked, shared, mail = sorted(listed, key=lambda m: m["seq"])
    assert {message["sender"]["type"] for message in listed} == {"customer"}
    assert (at["content"][0]["location"]["latitude"], at["content"][0]["text"]) == (
        10.77, "Mill Street 4",
    )  # fmt: skip
    assert card["metadata"] == {
        "lines": [{"kind": "contact", "text": "Bo +84901234567"}], "no_words": True,
    }  # fmt: skip
    assert "+84901234567" in card["content"][0]["text"]
    assert (deleted["content"], bool(deleted["deleted_at"])) == ([], True)
    assert [len(part["text"]) for part in long["content"]] == [8_000, 1_000]
    assert cut["content"][0]["text"] == "hi  there"
    assert asked["content"][0]["text"] == "Please rate"
    assert shared["metadata"]["lines"] == [{"kind": "unsupported", "text": "share"}]
    assert mail["metadata"] == {"chatwoot": {"subject": "Order 55"}}
    rating = Feedback.objects.get(conversation=chat, message=None)
    assert (rating.rating, rating.comment) == (2, "meh")


def test_a_second_chatwoot_import_changes_nothing(bot, chatwoot_folder):
    run_import(chatwoot_folder, bot, format="chatwoot")
    run_import(chatwoot_folder, bot, format="chatwoot")
    assert Conversation.objects.count() == 2
    assert Message.objects.count() == 5
    assert Customer.objects.count() == 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chats_tagging")
        assert cursor.fetchone()[0] == 1


def test_a_later_chatwoot_import_adds_new_messages(server, bot, chatwoot_folder):
    later = {
        "id": 108, "conversation_id": 13, "message_type": 1, "content": "Hello.",
        "created_at": 1_760_001_600, "sender": {"id": 1, "type": "user", "name": "Ben"},
    }  # fmt: skip
    run_import(chatwoot_folder, bot, format="chatwoot")
    (chatwoot_folder / "messages_2.json").write_text(json.dumps({"payload": [later]}))
    assert "messages: 1 made" in run_import(chatwoot_folder, bot, format="chatwoot")
    chat = Conversation.objects.get(external_id="chatwoot:3:conversation:13")
    assert (chat.last_seq, chat.message_count) == (2, 2)
    assert chat.last_message == Message.objects.get(text="Hello.")
    assert chat.last_message_at == datetime.fromtimestamp(1_760_001_600, UTC)
    assert server.post(f"/ai/client/chat/{chat.pk}", {"text": "And?"}).status_code < 300
    assert Message.objects.get(text="And?").seq == 3


def test_two_clients_may_import_the_same_account(bot, client_b, chatwoot_folder):
    theirs = make_bot(client_b)
    run_import(chatwoot_folder, bot, format="chatwoot")
    run_import(chatwoot_folder, theirs, format="chatwoot")
    assert Conversation.objects.filter(client=client_b).count() == 2
    assert make_client("Third").code
