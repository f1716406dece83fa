"""The feed of events: without gaps, in order, and never waiting for a transaction."""

import functools
import threading
import time
import uuid
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from chatplatform.live import pubsub, valkey
from chatplatform.testing import idle_transaction, in_thread
from identity.testing import make_person
from webhooks.models import Event, FeedEntry, UnnumberedEvent
from webhooks.services import announce, events, feed_order
from webhooks.tasks import number_events

PATH = "/webhook/events"
pytestmark = pytest.mark.django_db(transaction=True)


def event_id(event):
    return f"evt_{event.pk.hex}"


def feed_of(person, cursor=None, limit=100):
    """The ids of a page of the feed, and the cursor to go on with."""
    query = {"order": "asc", "limit": limit} | ({"cursor": cursor} if cursor else {})
    reply = person.get(PATH, query)
    assert reply.status_code == 200, reply.content
    return [item["id"] for item in reply.json()["items"]], reply.json()["next_cursor"]


def test_a_reader_catches_up_after_a_break(ann, client_a, client_b):
    announced, seen, cursor = [], [], None
    for round_ in range(4):
        for number in range(5 * (round_ != 2)):
            announced.append(event_id(announce(client_a.pk, "t.t", {"n": number})))
            announce(client_b.pk, "t.t", {})
        while True:
            page, cursor = feed_of(ann, cursor, limit=3)
            if not page:
                break
            seen += page
    assert seen == announced


def test_an_empty_feed_has_no_cursor(ann):
    assert feed_of(ann) == ([], None)


@pytest.mark.parametrize("table", ["of people", "of events, by another client", "of events"])
def test_events_wait_for_no_open_transaction(ann, client_a, client_b, table):
    write = {
        "of people": lambda: make_person(client_a),
        "of events, by another client": lambda: announce(client_b.pk, "t.held", {}),
        "of events": lambda: announce(client_a.pk, "t.held", {}),
    }[table]
    with idle_transaction(write):
        events_in_order = [event_id(announce(client_a.pk, "t.t", {})) for _ in range(3)]
        assert feed_of(ann)[0] == events_in_order


def test_events_wait_for_no_transaction_of_another_database(ann, client_a):
    settings = connection.get_connection_params()
    address = {
        key: settings[key] for key in ("user", "host", "port", "password") if key in settings
    }
    with closing(psycopg.connect(dbname="postgres", **address)) as stranger:
        stranger.execute("SELECT pg_current_xact_id()")
        event = announce(client_a.pk, "t.t", {})
        assert feed_of(ann)[0] == [event_id(event)]


def test_what_is_committed_late_comes_after_what_was_already_read(ann, client_a):
    """It was announced first: an order by announcement would skip it."""
    with idle_transaction(lambda: announce(client_a.pk, "t.late", {})):
        early = announce(client_a.pk, "t.t", {})
        page, cursor = feed_of(ann)
        assert page == [event_id(early)]
    late = Event.objects.get(type="t.late")
    assert feed_of(ann, cursor)[0] == [event_id(late)]
    assert feed_of(ann)[0] == [event_id(early), event_id(late)]


def test_a_cursor_that_was_kept_stays_good(ann, client_a):
    """Also if the last events that its reader saw were deleted: no place is given twice."""
    chat = uuid.uuid4()
    announce(client_a.pk, "t.t", {})
    announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=1)
    cursor = feed_of(ann)[1]
    with transaction.atomic():
        events.delete_for_conversation(chat)
    new = announce(client_a.pk, "t.t", {})
    assert feed_of(ann, cursor)[0] == [event_id(new)]
    assert FeedEntry.objects.count() == Event.objects.count() == 2


def test_events_of_a_conversation_come_in_their_sequence(ann, client_a):
    """A transaction that began first may take the conversation's lock last."""
    chat = uuid.uuid4()
    has_begun, may_go_on = threading.Event(), threading.Event()

    def write_second():
        with transaction.atomic():
            announce(client_a.pk, "t.t", {})
            has_begun.set()
            may_go_on.wait(20)
            announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=2)

    thread, _ = in_thread(write_second)
    assert has_begun.wait(20)
    announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=1)
    may_go_on.set()
    thread.join(20)
    sequences = [item["sequence"] for item in ann.get(PATH, {"order": "asc"}).json()["items"]]
    assert [number for number in sequences if number] == [1, 2]


def test_many_writers_and_two_readers(client_a):
    announced = []
    writers_ended = threading.Event()

    def write(number):
        for step in range(25):
            with transaction.atomic():
                event = announce(client_a.pk, "t.t", {"n": number})
                if (number + step) % 3 == 0:
                    announce(client_a.pk, "t.t", {"n": number})
                connection.cursor().execute("SELECT pg_sleep(random() / 200)")
            announced.append(event.pk)

    def read():
        place, seen = events.START, []
        while True:
            last_round = writers_ended.is_set()
            page = events.read_feed(client_a, place, 7)
            seen += [entry.pk for entry in page]
            if page:
                place = page[-1].position
            elif last_round:
                return seen

    readers = [in_thread(read) for _ in range(2)]
    writers = [in_thread(functools.partial(write, number))[0] for number in range(4)]
    for thread in writers:
        thread.join(60)
    writers_ended.set()
    for thread, _ in readers:
        thread.join(60)
    (first,), (second,) = (results for _, results in readers)
    assert first == second
    assert len(first) == len(set(first)) == Event.objects.count() > 100
    assert set(announced) <= set(first)


@pytest.mark.parametrize("is_rolled_back", [False, True])
def test_a_second_numbering_waits_for_the_first(client_a, is_rolled_back):
    """Else it would give later places, and show them before the earlier ones."""
    first = announce(client_a.pk, "t.t", {})
    with transaction.atomic():
        feed_order.number_events(client_a.pk)
        thread, read = in_thread(lambda: [entry.pk for entry in events.read_feed(client_a)])
        second, _ = in_thread(lambda: announce(client_a.pk, "t.t", {}))
        second.join(20)
        thread.join(0.3)
        assert thread.is_alive()
        transaction.set_rollback(is_rolled_back)
    thread.join(20)
    assert read[0][0] == first.pk
    assert len(events.read_feed(client_a)) == 2


def test_the_numbering_of_one_client_delays_no_other(ann, cara, client_a, client_b):
    announce(client_a.pk, "t.t", {})
    theirs = announce(client_b.pk, "t.t", {})
    with idle_transaction(lambda: feed_order.number_events(client_a.pk)):
        assert feed_of(cara)[0] == [event_id(theirs)]


def test_many_events_of_one_transaction_are_all_shown(ann, client_a, monkeypatch):
    monkeypatch.setattr(feed_order, "BATCH_SIZE", 4)
    with transaction.atomic():
        announced = [event_id(announce(client_a.pk, "t.t", {})) for _ in range(11)]
    assert feed_of(ann)[0] == announced


def test_many_events_of_one_transaction_send_one_signal(
    client_a, client_b, make_endpoint, monkeypatch
):  # fmt: skip
    # Signals ignore Valkey's databases, so parallel test processes hear each other's.
    prefix = f"live:{uuid.uuid4()}:"
    monkeypatch.setattr(pubsub, "_PREFIX", prefix)
    with valkey.connect().pubsub(ignore_subscribe_messages=True) as listener:
        mine, theirs = (f"{prefix}{events.feed_channel(item.pk)}" for item in (client_a, client_b))
        listener.subscribe(mine, theirs, f"{prefix}{events.DELIVERIES}", f"{prefix}end")
        while not valkey.shared().pubsub_numsub(f"{prefix}end")[0][1]:
            time.sleep(0.01)

        def heard():
            """What was signalled, up to a last word."""
            pubsub.publish("end", {})
            got: list[dict[str, Any]] = []
            while not got or got[-1]["channel"] != f"{prefix}end".encode():
                got += filter(None, [listener.get_message(timeout=5)])
            return sorted(item["channel"].decode() for item in got[:-1])

        with transaction.atomic():
            for client in (client_a, client_a, client_b):
                announce(client.pk, "t.t", {})
            with transaction.atomic():
                announce(client_a.pk, "t.t", {})
                transaction.set_rollback(True)
            announce(client_b.pk, "t.t", {})
            assert heard() == []
        assert heard() == sorted([mine, theirs])
        announce(client_a.pk, "t.t", {})
        assert heard() == [mine]
        make_endpoint(client_a, url="https://a.example/")
        announce(client_b.pk, "t.t", {})
        assert heard() == [theirs], "nobody takes it: no dispatcher is woken"
        announce(client_a.pk, "t.t", {})
        assert heard() == [f"{prefix}{events.DELIVERIES}", mine]


def test_an_open_deletion_delays_no_event(ann, client_a):
    chat = uuid.uuid4()
    for sequence in (1, 2):
        announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=sequence)
    with idle_transaction(lambda: events.delete_for_conversation(chat)):
        event = announce(client_a.pk, "t.t", {})
        assert feed_of(ann)[0][-1] == event_id(event)
    assert feed_of(ann)[0] == [event_id(event)]


def test_a_rolled_back_event_takes_no_place(ann, client_a):
    with transaction.atomic():
        announce(client_a.pk, "t.t", {})
        transaction.set_rollback(True)
    assert feed_of(ann) == ([], None)
    assert not UnnumberedEvent.objects.exists()


def test_events_that_nobody_reads_do_not_pile_up(client_a, client_b):
    chat = uuid.uuid4()
    announced = [announce(client.pk, "t.t", {}).pk for client in (client_a, client_b, client_a)]
    announce(client_b.pk, "t.t", {}, conversation_id=chat, sequence=1)
    with transaction.atomic():
        events.delete_for_conversation(chat)
    number_events()
    assert not UnnumberedEvent.objects.exists()
    assert set(FeedEntry.objects.values_list("event_id", flat=True)) == set(announced)
    number_events()
    assert FeedEntry.objects.count() == 3


def test_the_place_of_an_event_id(client_a, client_b):
    announced = [announce(client_a.pk, "t.t", {}) for _ in range(3)]
    place = events.position_of(client_a, event_id(announced[0]))
    assert place
    rest = [entry.pk for entry in events.read_feed(client_a, place)]
    assert rest == [event.pk for event in announced[1:]]
    assert events.position_of(client_b, event_id(announced[0])) is None
    assert events.position_of(client_a, "nonsense") is None
