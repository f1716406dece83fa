"""Chats of a user who was disabled or became a viewer return to the queue."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from chatplatform.models import Job, JobState
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message, Notification
from chats.services.core import conversations, lifecycle, presence
from chats.testing import make_chat
from identity.models import Role, User
from identity.testing import PASSWORD, make_person, signed_in
from webhooks.models import Event

ME = {"assign_type": "agent"}


def disable(ann, person, *, flag=True):
    reply = ann.put(f"/identity/users/{person.user.pk}/disable", {"is_disabled": flag})
    assert reply.status_code == 200, reply.content


def set_role(ann, person, role):
    reply = ann.put(f"/identity/users/{person.user.pk}/role", {"role": role})
    assert reply.status_code == 200, reply.content


def jobs():
    return Job.objects.filter(name="chats.release_agent")


@pytest.fixture
def chat(bot, ben):
    created = make_chat(bot, assign_type="queue", handoff_reason="no_answer")
    assert ben.post(f"/ai/chat/{created.pk}/assign", ME).status_code == 200
    Notification.objects.all().delete()
    return created


@pytest.mark.parametrize("how", ["disabled", "viewer", "staff"])
def test_the_chats_of_a_user_without_rights_return_to_the_queue(ann, ben, bea, chat, how):
    if how == "disabled":
        disable(ann, ben)
    elif how == "viewer":
        set_role(ann, ben, "viewer")
    else:
        disable_in_admin_site(ben)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee, chat.version) == ("queue", None, 3)
    assert chat.handoff_reason == "no_answer"
    assert chat.waiting_since is not None
    notified = set(Notification.objects.values_list("user__full_name", "kind"))
    assert {("Ben", "unassigned"), ("Bea", "handoff")} <= notified
    event = Event.objects.get(type="conversation.unassigned")
    assert event.data["conversation"]["assignee"] is None
    assert Message.objects.count() == 0
    assert bea.post(f"/ai/chat/{chat.pk}/assign", ME).status_code == 200


def disable_in_admin_site(person):
    browser = signed_in(User.objects.create_superuser("staff@example.com", PASSWORD))
    path = f"/admin/identity/user/{person.user.pk}/change/"
    assert browser.post(path, {"form": "disable"}).status_code == 302


def test_a_chat_without_a_handoff_reason_gets_one(ann, ben, bot):
    waited = timezone.now() - timedelta(hours=1)
    chat = make_chat(bot, assign_type="agent", assignee=ben.user, waiting_since=waited)
    disable(ann, ben)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.handoff_reason, chat.waiting_since) == ("agent_gone", waited)


def test_open_and_snoozed_chats_of_the_user_only(ann, ben, bea, bot):
    until = timezone.now() + timedelta(hours=1)
    chats = [
        make_chat(bot, assign_type="agent", assignee=ben.user, status="snoozed",
                  snoozed_until=until),
        make_chat(bot, assign_type="agent", assignee=ben.user, status="ended"),
        make_chat(bot, assign_type="agent", assignee=bea.user),
        make_chat(bot),
    ]  # fmt: skip
    disable(ann, ben)
    run_jobs()
    rows = [Conversation.objects.get(pk=chat.pk) for chat in chats]
    assert [(row.status, row.assign_type, row.version) for row in rows] == [
        ("snoozed", "queue", 2), ("ended", "agent", 1), ("open", "agent", 1), ("open", "bot", 1),
    ]  # fmt: skip
    assert rows[0].snoozed_until == until
    assert rows[1].assignee == ben.user


def test_the_strategy_assigns_the_returned_chat(ann, ben, bea, client_a, chat):
    client_a.config.assign_strategy = "round_robin"
    client_a.config.save()
    for person in (ben, bea):
        presence.touch(person.user)
    disable(ann, ben)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("agent", bea.user)


def test_a_user_who_keeps_the_right_keeps_the_chats(ann, ben, chat):
    set_role(ann, ben, "admin")
    set_role(ann, ben, "agent")
    disable(ann, ben, flag=False)
    assert not jobs().exists()
    # Enabled again before the job ran.
    disable(ann, ben)
    disable(ann, ben, flag=False)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (ben.user, 2)


def test_a_repeated_job_changes_nothing(ann, ben, bea, chat):
    disable(ann, ben)
    run_jobs()
    assert bea.post(f"/ai/chat/{chat.pk}/assign", ME).status_code == 200
    jobs().update(state=JobState.QUEUED, lease_token=None, lease_until=None)
    assert run_jobs() == 1
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (bea.user, 4)


def test_a_chat_that_is_taken_meanwhile_is_left_alone(ann, ben, bea, chat):
    disable(ann, ben)

    def take():
        body = {**ME, "user_id": bea.user.pk}
        assert ann.post(f"/ai/chat/{chat.pk}/assign", body).status_code == 200

    with run_before("chats.services.core.conversations.lock", take):
        run_jobs()
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (bea.user, 3)
    assert jobs().get().state == JobState.DONE


def test_a_refused_change_releases_nothing(ann, cara, chat, ben):
    path = f"/identity/users/{ben.user.pk}/disable"
    assert cara.put(path, {"is_disabled": True}).status_code == 404
    assert ann.put(f"/identity/users/{ann.user.pk}/role", {"role": "viewer"}).status_code == 409
    assert not jobs().exists()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_an_agent_is_disabled_while_being_assigned_a_chat(ann, bea, bot):
    """In either order the chat does not stay with the disabled agent."""
    leaver = make_person(ann.client, Role.AGENT, "Lee")
    chat = make_chat(bot, assign_type="queue")
    assert leaver.user

    def disable_leaver():
        disable(ann, leaver)
        connection.close()

    leaving = threading.Thread(target=disable_leaver)
    with transaction.atomic():
        lifecycle.to_agent(conversations.lock(chat), leaver.user, by=None)
        leaving.start()
        # It waits for the move; otherwise its job would not see the new assignee.
        leaving.join(1)
        assert leaving.is_alive()
    leaving.join(10)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("queue", None)


@pytest.mark.parametrize("path", ["assign", "manual"])
def test_a_user_who_was_just_disabled_is_assigned_no_chat(ann, ben, bot, path):
    chat = make_chat(bot, assign_type="queue")
    body = ME if path == "assign" else {"text": "Hello"}
    with run_before("chats.services.core.conversations.lock", lambda: disable(ann, ben)):
        reply = ben.post(f"/ai/chat/{chat.pk}/{path}", body)
    assert (reply.status_code, reply.json()["code"]) == (409, "agent_gone")
    chat.refresh_from_db()
    assert (chat.assign_type, chat.version, Message.objects.count()) == ("queue", 1, 0)


def test_the_strategy_skips_an_agent_who_was_just_disabled(ann, ben, client_a, bot):
    client_a.config.assign_strategy = "round_robin"
    client_a.config.save()
    presence.touch(ben.user)
    chat = make_chat(bot, assign_type="queue")
    with run_before("chats.services.core.lifecycle.to_agent", lambda: disable(ann, ben)):
        run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.version) == ("queue", 1)
    assert not Job.objects.exclude(state=JobState.DONE).exists()
