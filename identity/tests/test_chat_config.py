"""Getclientchatconfigrouter and Updateclientchatconfigrouter."""

import functools
import threading

import pytest
from django.db import connection

from chatplatform.testing import at_once
from identity.models import AuditEvent, Client, ClientConfig
from identity.testing import make_person

NINE_TO_FIVE = [{"weekday": day, "opens": "09:00", "closes": "17:00"} for day in range(5)]
EVERYTHING = {
    "timezone": "Asia/Ho_Chi_Minh",
    "business_hours": NINE_TO_FIVE,
    "holidays": [
        {"date": "2026-12-24", "name": "", "hours": [{"opens": "09:00", "closes": "12:00"}]},
        {"date": "2026-12-25", "name": "Christmas", "hours": []},
    ],
    "out_of_hours_message": {"en": "We are closed.", "vi": "Chúng tôi đã đóng cửa."},
    "assign_strategy": "least_busy",
    "agent_capacity": 9,
    "handoff_on_request": False,
    "handoff_on_no_answer": False,
    "ask_again_before_handoff": True,
    "answer_while_waiting": False,
    "handoff_message": {"pt-BR": "Um momento."},
    "answer_threshold": 0.5,
    "fallback_to_extractive": False,
    "confirm_answers": False,
    "read_attachments": False,
    "burst_wait_ms": 1500,
    "inactivity_end_minutes": 0,
    "reopen_window_minutes": 60,
    "reuse_open": True,
    "ask_feedback": False,
    "feedback_edit_minutes": 5,
    "first_response_target_seconds": 120,
    "auto_summary": True,
    "auto_tag": True,
    "auto_sentiment": True,
    "auto_translate": True,
    "mask_personal_data": True,
    "silent_channels": ["chatapp"],
    "message_prices": {"marketing": 0.07},
    "retention_days": 365,
}


def path_of(client):
    return f"/config/{client.pk}/chat"


def config(client):
    return ClientConfig.objects.get(client=client)


def test_a_new_client_has_the_documented_defaults(ann, ben):
    for person in (ann, ben, make_person(ann.client, "viewer", "Vic")):
        reply = person.get(path_of(ann.client))
        assert reply.status_code == 200
        config = reply.json()
        assert set(config) == {*EVERYTHING, "client_id", "version"}
        assert (config["client_id"], config["version"], config["timezone"]) == (
            ann.client.pk, 1, "UTC",
        )  # fmt: skip
        assert (config["business_hours"], config["retention_days"]) == ([], None)


def test_every_field_can_be_changed(ann, cara):
    reply = ann.post(path_of(ann.client), EVERYTHING)
    assert reply.status_code == 200
    assert reply.json() == EVERYTHING | {"client_id": ann.client.pk, "version": 2}
    assert ann.get(path_of(ann.client)).json() == reply.json()
    assert Client.objects.get(pk=ann.client.pk).timezone == "Asia/Ho_Chi_Minh"
    assert config(cara.client).version == 1
    event = AuditEvent.objects.get()
    assert (event.action, event.user, event.client) == ("config.updated", ann.user, ann.client)
    assert {name.partition(".")[0] for name in event.changes} == set(EVERYTHING)


def test_fields_left_out_keep_their_value(ann):
    ann.post(path_of(ann.client), EVERYTHING)
    reply = ann.post(path_of(ann.client), {"retention_days": None, "agent_capacity": 2})
    expected = EVERYTHING | {"retention_days": None, "agent_capacity": 2}
    assert reply.json() == expected | {"client_id": ann.client.pk, "version": 3}
    assert AuditEvent.objects.latest("pk").changes == {
        name: [EVERYTHING[name], expected[name]] for name in ("agent_capacity", "retention_days")
    }


@pytest.mark.parametrize("body", [{}, {"agent_capacity": 5, "timezone": "UTC"}, {"version": 1}])
def test_an_update_without_a_difference_keeps_the_version(ann, body):
    reply = ann.post(path_of(ann.client), body)
    assert (reply.status_code, reply.json()["version"]) == (200, 1)
    assert not AuditEvent.objects.exists()


def test_the_reply_can_be_sent_back(ann):
    read = ann.get(path_of(ann.client)).json()
    reply = ann.post(path_of(ann.client), read | {"auto_tag": True})
    assert (reply.status_code, reply.json()["version"]) == (200, 2)


@pytest.mark.parametrize("version", [1, 3])
def test_an_outdated_version_is_refused(ann, version):
    ann.post(path_of(ann.client), {"agent_capacity": 8})
    reply = ann.post(path_of(ann.client), {"agent_capacity": 9, "version": version})
    assert (reply.status_code, reply.json()["code"]) == (409, "stale_version")
    assert reply.json()["version"] == 2
    assert config(ann.client).agent_capacity == 8
    assert AuditEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_changes_one_wins(ann):

    def change(capacity):
        body = {"agent_capacity": capacity, "version": 1}
        return capacity, ann.post(path_of(ann.client), body).status_code

    replies = at_once(*[functools.partial(change, n) for n in range(10, 16)])
    (winner,) = [capacity for capacity, status in replies if status == 200]
    assert sorted(status for _, status in replies) == [200] + [409] * 5
    assert (config(ann.client).agent_capacity, config(ann.client).version) == (winner, 2)


@pytest.mark.django_db(transaction=True)
def test_concurrent_changes_without_a_version_all_count(ann):
    fields = ["auto_tag", "auto_summary", "auto_sentiment", "auto_translate"]

    def change(name):
        try:
            ann.post(path_of(ann.client), {name: True})
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=(name,)) for name in fields]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    now = config(ann.client)
    assert [getattr(now, name) for name in fields] == [True] * 4
    assert now.version == 5


@pytest.mark.parametrize("role", ["agent", "viewer"])
def test_only_an_admin_changes_it(ann, role):
    person = make_person(ann.client, role, "Ben")
    assert person.post(path_of(ann.client), {"agent_capacity": 9}).status_code == 403
    assert config(ann.client).version == 1


def hours(*spans):
    return [{"weekday": day, "opens": opens, "closes": closes} for day, opens, closes in spans]


@pytest.mark.parametrize(
    "change",
    [
        {"timezone": "Mars/Base"},
        {"timezone": None},
        {"business_hours": hours((7, "09:00", "17:00"))},
        {"business_hours": hours((-1, "09:00", "17:00"))},
        {"business_hours": hours((0, "9:00", "17:00"))},
        {"business_hours": hours((0, "09:60", "17:00"))},
        {"business_hours": hours((0, "24:00", "24:00"))},
        {"business_hours": hours((0, "09:00", "24:01"))},
        {"business_hours": hours((0, "09:00", "09:00"))},
        {"business_hours": hours((0, "22:00", "02:00"))},
        {"business_hours": hours((0, "09:00", "12:00"), (0, "11:59", "17:00"))},
        {"business_hours": hours((0, "11:00", "12:00"), (0, "09:00", "18:00"))},
        {"business_hours": [{"weekday": 0, "opens": "09:00"}]},
        {"business_hours": None},
        {"business_hours": hours(*[(0, "09:00", "17:00")] * 71)},
        {"holidays": [{"date": "2026-02-29"}]},
        {"holidays": [{"date": "20261225"}]},
        {"holidays": [{"date": "2026-12-25"}, {"date": "2026-12-25"}]},
        {"holidays": [{"date": "2026-12-25", "hours": [{"opens": "9", "closes": "12:00"}]}]},
        {"holidays": [{"date": "2026-12-25", "hours": [{"opens": "09:00", "closes": "9:30"}]}]},
        {"holidays": [{"date": "2026-12-25", "hours": [{"opens": "09:00", "closes": "10:00"},
                                                       {"opens": "09:59", "closes": "11:00"}]}]},
        {"holidays": [{"date": f"2{n:03}-01-01"} for n in range(401)]},
        {"holidays": None},
        {"fallback_to_extractive": None},
        {"out_of_hours_message": {"English": "Closed."}},
        {"out_of_hours_message": {"en": "x" * 2001}},
        {"handoff_message": {"en": "a\0b"}},
        {"handoff_message": {"en": None}},
        {"assign_strategy": "random"},
        {"agent_capacity": 0},
        {"agent_capacity": 1001},
        {"answer_threshold": 1.01},
        {"answer_threshold": -0.1},
        {"burst_wait_ms": 60_001},
        {"inactivity_end_minutes": -1},
        {"reopen_window_minutes": 525_601},
        {"feedback_edit_minutes": -1},
        {"first_response_target_seconds": 0},
        {"retention_days": 0},
        {"auto_tag": None},
        {"version": 0},
        {"client_id": 999_999_999},
        {"colour": "blue"},
    ],
)  # fmt: skip
def test_wrong_values_change_nothing(ann, change):
    reply = ann.post(path_of(ann.client), {"auto_summary": True} | change)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][:2] == ["body", next(iter(change))]
    assert (config(ann.client).version, config(ann.client).auto_summary) == (1, False)
    assert not AuditEvent.objects.exists()


def test_adjacent_hours_are_accepted_and_sorted(ann):
    entries = hours((2, "13:00", "24:00"), (0, "12:00", "17:00"), (0, "09:00", "12:00"))
    reply = ann.post(path_of(ann.client), {"business_hours": entries})
    assert reply.json()["business_hours"] == [entries[2], entries[1], entries[0]]
