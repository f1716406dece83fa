"""Get Assign Notification, Mark Notification As Read By Notification Id."""

import uuid
from unittest import mock

import pytest

from chatplatform.testing import run_jobs
from chats.models import Notification
from chats.services.core import presence, team_notifications
from chats.testing import make_chat
from identity.models import Role
from identity.testing import make_person
from webhooks.models import Event

PATH = "/ai/chat/notifications"


@pytest.fixture
def chat(bot):
    return make_chat(bot, assign_type="queue")


def notify(person, chat, **fields):
    return Notification.objects.create(
        client=person.client, user=person.user, conversation=chat, kind="handoff", **fields
    )


def test_notifications_are_listed_newest_first(ben, ann, chat):
    first, second = notify(ben, chat, is_read=True), notify(ben, chat, assigned_by=ann.user)
    page = ben.get(PATH).json()
    assert page["next_cursor"] is None
    assert [item["id"] for item in page["items"]] == [str(second.pk), str(first.pk)]
    newest = page["items"][0]
    assert (newest["chat_id"], newest["kind"], newest["is_read"]) == (
        str(chat.pk), "handoff", False,
    )  # fmt: skip
    assert newest["assigned_by"]["name"] == "Ann"
    assert [entry["id"] for entry in ben.get(PATH, {"unread": "true"}).json()["items"]] == [
        str(second.pk)
    ]
    assert [entry["id"] for entry in ben.get(PATH, {"unread": "false"}).json()["items"]] == [
        str(first.pk)
    ]


def test_a_notification_is_marked_as_read(ben, chat):
    mine, other = notify(ben, chat), notify(ben, chat)
    for _ in range(2):
        reply = ben.put(f"{PATH}/{mine.pk}/read")
        assert (reply.status_code, reply.json()["is_read"]) == (200, True)
    other.refresh_from_db()
    assert other.is_read is False


def test_only_own_notifications_are_visible(ann, ben, cara, nobody, chat):
    mine = notify(ben, chat)
    for stranger in (ann, cara):
        assert stranger.get(PATH).json()["items"] == []
        assert stranger.put(f"{PATH}/{mine.pk}/read").status_code == 404
    assert ben.put(f"{PATH}/{uuid.uuid4()}/read").status_code == 404
    assert nobody.get(PATH).status_code == 401
    mine.refresh_from_db()
    assert mine.is_read is False


@pytest.mark.parametrize("query", [{"unread": "perhaps"}, {"limit": 0}, {"x": 1}])
def test_a_wrong_query_is_refused(ben, query):
    assert ben.get(PATH, query).status_code == 422


def test_a_handover_notifies_people_who_are_online_or_else_everyone(ann, ben, cara, client_a, bot):
    make_person(client_a, Role.VIEWER, "Vic")
    first = make_chat(bot)
    ann.post(f"/ai/chat/{first.pk}/assign", {"assign_type": "queue"})
    run_jobs()
    # Ann has just written, but only a signal of the desk counts as presence.
    names = set(first.notification_set.values_list("user__full_name", flat=True))
    assert names == {"Ann", "Ben"}
    presence.touch(ben.user)
    presence.touch(cara.user)
    second = make_chat(bot)
    ann.post(f"/ai/chat/{second.pk}/assign", {"assign_type": "queue"})
    run_jobs()
    assert list(second.notification_set.values_list("user__full_name")) == [("Ben",)]
    event = Event.objects.filter(type="notification.created").latest("pk")
    assert [item["user_id"] for item in event.data["notifications"]] == [ben.user.pk]


def test_who_is_away_is_notified_only_of_what_concerns_them(ann, ben, bea, bot):
    presence.touch(ben.user)
    ben.put("/identity/users/me", {"is_away": True})
    chat = make_chat(bot, assign_type="queue")
    team_notifications.notify_waiting(str(chat.pk))
    assert {row.user for row in Notification.objects.all()} == {ann.user, bea.user}
    ann.post(f"/ai/chat/{chat.pk}/manual", {"text": "@Ben, look", "is_note": True})
    ann.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent", "user_id": ben.user.pk})
    kinds = [item["kind"] for item in ben.get(PATH).json()["items"]]
    assert kinds == ["assigned", "mentioned"]


def test_nobody_is_notified_of_what_they_did_themselves(ann, ben, chat):
    path = f"/ai/chat/{chat.pk}"
    for step, body in (
        ("assign", {"assign_type": "agent", "note": "@Ben: call back"}),
        ("agent-end", None),
        ("reopen", None),
        ("assign", {"assign_type": "bot"}),
        ("assign", {"assign_type": "agent"}),
    ):
        reply = ben.post(f"{path}/{step}", body)
        assert reply.status_code == 200, reply.content
    for query in ({}, {"unread": "true"}, {"unread": "false"}, {"personal": "true"}):
        assert ben.get(PATH, query).json()["items"] == []
    assert ben.put(f"{PATH}/read").json() == {"count": 0}
    assert not Event.objects.filter(type="notification.created").exists()
    ben.post(f"{path}/manual", {"text": "@Ben and @Ann, look", "is_note": True})
    assert [item["kind"] for item in ann.get(PATH).json()["items"]] == ["mentioned"]
    assert ben.get(PATH).json()["items"] == []
    event = Event.objects.get(type="notification.created")
    assert [item["user_id"] for item in event.data["notifications"]] == [ann.user.pk]


def test_presence_is_not_asked_for_under_the_lock(ann, bot, monkeypatch):
    chat = make_chat(bot)
    online = mock.Mock(return_value=set())
    monkeypatch.setattr(presence, "online", online)
    ann.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "queue"})
    online.assert_not_called()
    run_jobs()
    online.assert_called_once_with(chat.client_id)
    assert chat.notification_set.get().user == ann.user


def test_a_chat_that_is_deleted_meanwhile_notifies_nobody(ann, bot):
    chat = make_chat(bot)
    team_notifications.enqueue_waiting(chat)
    chat.delete()
    assert run_jobs() == 1
    assert not Notification.objects.exists()


def test_all_are_marked_as_read(ben, bea, chat):
    mine, hers = ben.user, bea.user
    for user, is_read in ((mine, False), (mine, False), (mine, True), (hers, False)):
        Notification.objects.create(
            client_id=chat.client_id, user=user, conversation=chat, kind="assigned", is_read=is_read
        )
    reply = ben.put(f"{PATH}/read")
    assert (reply.status_code, reply.json()) == (200, {"count": 2})
    assert ben.put(f"{PATH}/read").json() == {"count": 0}
    assert ben.get(PATH, {"unread": "true"}).json()["items"] == []
    assert len(bea.get(PATH, {"unread": "true"}).json()["items"]) == 1


def test_what_concerns_one_person_is_told_from_what_everybody_is_told(ben, bea, bot, chat):
    own = make_chat(bot, assign_type="agent", assignee=ben.user)
    notify(ben, chat)
    Notification.objects.update(kind="unanswered")
    notify(ben, chat)
    for kind in ("assigned", "unassigned", "mentioned"):
        Notification.objects.filter(pk=notify(ben, chat).pk).update(kind=kind)
    Notification.objects.filter(pk=notify(ben, own).pk).update(kind="unanswered")

    def kinds(personal):
        items = ben.get(PATH, {"personal": personal}).json()["items"]
        return [item["kind"] for item in items][::-1]

    assert kinds("true") == ["assigned", "unassigned", "mentioned", "unanswered"]
    assert kinds("false") == ["unanswered", "handoff"]
    assert bea.get(PATH, {"personal": "true"}).json()["items"] == []


def test_a_viewer_who_is_mentioned_marks_it_as_read(client_a, chat):
    viewer = make_person(client_a, Role.VIEWER, "Vic")
    row = notify(viewer, chat)
    assert viewer.put(f"{PATH}/{row.pk}/read").json()["is_read"] is True
    assert viewer.put(f"{PATH}/read").json() == {"count": 0}
