"""Assign Chat."""

import pytest

from chatplatform.testing import at_once
from chats.models import Conversation, Message, Notification
from chats.testing import make_chat
from identity.models import Role, User
from identity.testing import make_person
from webhooks.models import Event

ME = {"assign_type": "agent"}


def path_of(chat):
    return f"/ai/chat/{chat.pk}/assign"


@pytest.fixture
def chat(bot):
    return make_chat(bot, assign_type="queue", handoff_reason="no_answer")


def events(kind):
    return Event.objects.filter(type=kind).count()


def assert_unchanged(chat):
    before = (chat.assign_type, chat.assignee_id, chat.version)
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee_id, chat.version) == before
    assert not Event.objects.exists()
    assert not Notification.objects.exists()


def test_an_agent_claims_a_waiting_chat(ben, chat):
    reply = ben.post(path_of(chat), ME)
    assert reply.status_code == 200
    chat_data = reply.json()
    assert (chat_data["assign_type"], chat_data["version"]) == ("agent", 2)
    assert chat_data["assignee"] == {"external_id": str(ben.user.pk), "name": "Ben"}
    event = Event.objects.get(type="conversation.assigned")
    assert (event.sequence, event.data["conversation"]["version"]) == (1, 2)
    notification = Notification.objects.get()
    assert (notification.user, notification.kind) == (ben.user, "assigned")
    assert (notification.assigned_by, notification.is_read) == (ben.user, True)
    assert Message.objects.count() == 0
    chat.refresh_from_db()
    assert chat.assigned_at is not None


def test_assigning_a_colleague_with_a_note(ann, ben, server, chat):
    body = {**ME, "user_id": ben.user.pk, "note": "Wants a refund", "return_after_seconds": 60}
    assert ann.post(path_of(chat), body).status_code == 200
    note = Message.objects.get()
    assert (note.is_note, note.sender_name, note.content[0]["text"]) == (
        True, "Ann", "Wants a refund",
    )  # fmt: skip
    notification = Notification.objects.get()
    assert (notification.user, notification.assigned_by, notification.is_read) == (
        ben.user,
        ann.user,
        False,
    )
    chat.refresh_from_db()
    assert (chat.assignee, chat.message_count, chat.last_message) == (ben.user, 0, None)
    assert chat.return_at > chat.assigned_at
    assert server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"] == []


def test_the_second_claim_is_refused(ben, bea, chat):
    bea.post(path_of(chat), ME)
    reply = ben.post(path_of(chat), ME)
    assert (reply.status_code, reply.json()["code"]) == (409, "already_assigned")
    assert reply.json()["assignee"]["name"] == "Bea"
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (bea.user, 2)
    assert events("conversation.assigned") == 1


def test_an_admins_claim_takes_no_chat_from_an_agent(ann, ben, chat):
    ben.post(path_of(chat), ME)
    assert ann.post(path_of(chat), ME).json()["code"] == "already_assigned"
    chat.refresh_from_db()
    assert chat.assignee == ben.user


@pytest.mark.django_db(transaction=True)
def test_one_of_many_concurrent_claims_succeeds(client_a, chat):
    agents = iter([make_person(client_a, Role.AGENT, f"P{n}") for n in range(5)])
    replies = at_once(*[lambda: next(agents).post(path_of(chat), ME)] * 5)
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409, 409]
    chat.refresh_from_db()
    assert chat.version == 2
    assert events("conversation.assigned") == 1
    assert Notification.objects.count() == 1


def test_claiming_ones_own_chat_changes_nothing(ben, chat):
    ben.post(path_of(chat), ME)
    assert ben.post(path_of(chat), ME).json()["version"] == 2
    assert events("conversation.assigned") == 1


@pytest.mark.parametrize("who", ["ann", "bea"])
def test_an_admin_or_the_assignee_reassigns_a_chat(ann, ben, bea, chat, who):
    bea.post(path_of(chat), ME)
    Notification.objects.all().delete()
    body = {**ME, "user_id": ben.user.pk}
    assert {"ann": ann, "bea": bea}[who].post(path_of(chat), body).status_code == 200
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (ben.user, 3)
    kinds = set(Notification.objects.values_list("user__full_name", "kind", "is_read"))
    assert kinds == {("Ben", "assigned", False), ("Bea", "unassigned", who == "bea")}


def test_another_agent_cannot_reassign_a_chat(ben, bea, chat):
    bea.post(path_of(chat), ME)
    for body in ({**ME, "user_id": ben.user.pk}, {"assign_type": "queue"}, {"assign_type": "bot"}):
        assert ben.post(path_of(chat), body).json()["code"] == "already_assigned"
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (bea.user, 2)


def test_a_stale_version(ann, ben, chat):
    ben.post(path_of(chat), ME)
    body = {**ME, "user_id": ann.user.pk, "expected_version": 1, "note": "Mine"}
    reply = ann.post(path_of(chat), body)
    assert (reply.status_code, reply.json()["code"], reply.json()["version"]) == (
        409, "stale_version", 2,
    )  # fmt: skip
    assert Message.objects.count() == 0
    assert ann.post(path_of(chat), {**body, "expected_version": 2}).status_code == 200


def test_moving_a_chat_from_the_bot_to_the_queue_tells_the_customer(ben, bot):
    chat = make_chat(bot)
    reply = ben.post(path_of(chat), {"assign_type": "queue"})
    assert reply.json()["handoff_reason"] == "staff_request"
    assert Message.objects.get().sender_type == "system"
    assert events("conversation.handed_off") == 1
    assert ben.post(path_of(chat), {"assign_type": "queue"}).json()["version"] == 2
    assert Message.objects.count() == 1


def test_back_to_the_bot(ben, chat):
    ben.post(path_of(chat), ME)
    reply = ben.post(path_of(chat), {"assign_type": "bot"}).json()
    assert (reply["assign_type"], reply["assignee"], reply["waiting_since"]) == ("bot", None, None)
    assert events("conversation.unassigned") == 1


def test_a_bot_that_is_off_is_assigned_no_chat(ben, bot, chat):
    bot.is_disabled = True
    bot.save()
    reply = ben.post(path_of(chat), {"assign_type": "bot"})
    assert (reply.status_code, reply.json()["code"]) == (409, "bot_disabled")
    assert_unchanged(chat)


def test_an_ended_chat(ben, chat):
    Conversation.objects.update(status="ended")
    for kind in ("agent", "queue", "bot"):
        reply = ben.post(path_of(chat), {"assign_type": kind})
        assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    chat.refresh_from_db()
    assert_unchanged(chat)


def test_users_who_cannot_be_assigned(ben, cara, client_a, chat):
    make_person(client_a, Role.VIEWER, "Vic")
    make_person(client_a, Role.AGENT, "Gus")
    User.objects.filter(full_name="Gus").update(is_disabled=True)
    for user_id in [*User.objects.exclude(pk=ben.user.pk).values_list("pk", flat=True), 2**62]:
        reply = ben.post(path_of(chat), {**ME, "user_id": user_id})
        if User.objects.filter(client=client_a, pk=user_id).exists():
            assert reply.status_code == 422
            assert reply.json()["detail"][0]["loc"] == ["body", "user_id"]
        else:
            assert (reply.status_code, reply.json()["field"]) == (404, "user_id")
    assert_unchanged(chat)


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"assign_type": "robot"},
        {"assign_type": "agent", "user_id": 0},
        {"assign_type": "agent", "user_id": "x"},
        {"assign_type": "agent", "return_after_seconds": 1},
        {"assign_type": "agent", "note": ""},
        {"assign_type": "agent", "note": " \n"},
        {"assign_type": "agent", "expected_version": 2**63},
        {"assign_type": "agent", "note": "a\x00"},
        {"assign_type": "queue", "user_id": 1},
        {"assign_type": "bot", "return_after_seconds": 60},
        {"assign_type": "agent", "unknown": 1},
    ],
)
def test_a_wrong_body_is_refused(ben, chat, body):
    assert ben.post(path_of(chat), body).status_code == 422
    assert_unchanged(chat)


def test_an_invited_person_is_assigned_once_they_have_joined(ann, ben, chat):
    person = {"email": "new@example.com", "full_name": "New"}
    invited = ann.post("/identity/users", person).json()
    assert invited["is_invited"] is True
    body = {**ME, "user_id": invited["id"]}
    assert ben.post(path_of(chat), body).status_code == 422
    assert_unchanged(chat)
    user = User.objects.get(pk=invited["id"])
    user.set_password("correct-horse-battery")
    user.save()
    listed = {row["id"]: row["is_invited"] for row in ben.get("/identity/users").json()["items"]}
    assert listed == {ann.user.pk: False, ben.user.pk: False, user.pk: False}
    assert ben.post(path_of(chat), body).status_code == 200
