"""Get Webhook Events and Get Webhook Event: the log, and the feed without gaps."""

import threading
import time
import uuid

import pytest
from django.db import connection, connections, transaction

from chatplatform.api.pagination import cursor_of
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Event, FeedEpoch
from webhooks.services import announce, events

PATH = "/webhook/events"
NEWEST = ("-rank", "-position")


def ids(reply):
    assert reply.status_code == 200, reply.content
    return [item["id"] for item in reply.json()["items"]]


def test_events_with_their_deliveries(ann, client_a, endpoint):
    chat = uuid.uuid4()
    first = announce(client_a.pk, "message.created", {"n": 1}, conversation_id=chat, sequence=1)
    second = announce(client_a.pk, "thing.done", {})
    row = Delivery.objects.get(event_id=first.pk)
    DeliveryAttempt.objects.create(
        client=client_a, delivery=row, number=1, http_status=500, duration_ms=12,
        error="bad_status", response_excerpt="no",
    )  # fmt: skip
    Delivery.objects.filter(pk=row.pk).update(attempts=1, state=DeliveryState.FAILED)
    reply = ann.get(PATH)
    assert ids(reply) == [f"evt_{second.pk.hex}", f"evt_{first.pk.hex}"]
    item = reply.json()["items"][1]
    assert (item["type"], item["data"], item["client_id"]) == (
        "message.created", {"n": 1}, client_a.pk,
    )  # fmt: skip
    assert (item["conversation_id"], item["sequence"]) == (str(chat), 1)
    (sent,) = item["deliveries"]
    assert sent["config_id"] == str(endpoint.pk)
    assert (sent["attempt"], sent["status"], sent["error"]) == (1, "failed", "bad_status")
    assert (sent["http_status"], sent["duration_ms"], sent["response_excerpt"]) == (500, 12, "no")
    assert sent["next_attempt_at"]
    assert [attempt["attempt"] for attempt in sent["attempts"]] == [1]
    assert ann.get(f"{PATH}/{item['id']}").json() == item


def test_filters(ann, client_a, endpoint, make_endpoint):
    chat = uuid.uuid4()
    first_event = announce(client_a.pk, "message.created", {}, conversation_id=chat, sequence=1)
    second_event = announce(client_a.pk, "message.read", {})
    Delivery.objects.filter(event_id=second_event.pk).update(
        state=DeliveryState.GAVE_UP, due_at=None
    )
    first, second = f"evt_{first_event.pk.hex}", f"evt_{second_event.pk.hex}"
    assert ids(ann.get(PATH, {"type": "message.created"})) == [first]
    assert ids(ann.get(PATH, {"conversation_id": str(chat)})) == [first]
    assert ids(ann.get(PATH, {"state": "gave_up"})) == [second]
    assert ids(ann.get(PATH, {"state": "pending"})) == [first]
    assert ids(ann.get(PATH, {"config_id": str(endpoint.pk)})) == [second, first]
    assert ids(ann.get(PATH, {"config_id": str(uuid.uuid4())})) == []
    assert ids(ann.get(PATH, {"created_from": second_event.created_at.isoformat()})) == [second]
    assert ids(ann.get(PATH, {"created_to": second_event.created_at.isoformat()})) == [first]


@pytest.mark.parametrize(
    "query",
    [{"order": "up"}, {"state": "lost"}, {"conversation_id": "x"}, {"created_from": "yesterday"},
     {"cursor": "x"}, {"cursor": cursor_of(Event, NEWEST, [1])},
     {"cursor": cursor_of(Event, NEWEST, ["a", "b"])},
     {"cursor": cursor_of(Event, NEWEST, [10**30, 1])}],
)  # fmt: skip
def test_wrong_query(ann, query):
    assert ann.get(PATH, query).status_code == 422


def test_only_admins_and_only_their_clients_events(ann, ben, cara, client_a):
    event = announce(client_a.pk, "message.created", {})
    assert ben.get(PATH).status_code == 403
    assert ids(cara.get(PATH)) == []
    for wrong in (f"evt_{event.pk.hex}", f"evt_{uuid.uuid4().hex}", "evt_", event.pk.hex, "x"):
        assert cara.get(f"{PATH}/{wrong}").status_code == 404
    assert ann.get(f"{PATH}/evt_{event.pk.hex}").status_code == 200


def test_pages_newest_first(ann, client_a):
    announced = [f"evt_{announce(client_a.pk, 't.t', {}).pk.hex}" for _ in range(5)]
    seen, cursor = [], None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        reply = ann.get(PATH, query)
        seen += ids(reply)
        announce(client_a.pk, "t.t", {})
        cursor = reply.json()["next_cursor"]
        if cursor is None:
            break
    assert seen == announced[::-1]


def settle():
    """Wait until no earlier transaction is open; `make test` gives each test process a cluster."""
    ends_at = time.monotonic() + 60
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        (until,) = cursor.fetchone()
        while True:
            cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
            if cursor.fetchone()[0] >= until:
                return
            assert time.monotonic() < ends_at
            time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
class TestFeed:
    def test_a_reader_catches_up_after_a_break(self, ann, client_a, client_b):
        announced = []
        query = {"order": "asc", "limit": 3}
        seen: list[str] = []
        cursor = None
        for round_ in range(4):
            for number in range(5 * (round_ != 2)):
                announced.append(announce(client_a.pk, "t.t", {"n": number}).pk)
                announce(client_b.pk, "t.t", {})
            settle()
            while True:
                reply = ann.get(PATH, query | ({"cursor": cursor} if cursor else {}))
                cursor = reply.json()["next_cursor"]
                if not ids(reply):
                    break
                seen += ids(reply)
        assert seen == [f"evt_{pk.hex}" for pk in announced]

    def test_an_empty_feed_has_no_cursor(self, ann):
        assert ann.get(PATH, {"order": "asc"}).json() == {"items": [], "next_cursor": None}

    def test_events_after_an_open_transaction_wait_for_it(self, client_a):
        before = announce(client_a.pk, "t.t", {})
        settle()
        with open_transaction(client_a) as held:
            later = announce(client_a.pk, "t.t", {})
            shown = events.read_feed(client_a)
            assert [event.pk for event in shown] == [before.pk], "the later one must wait"
            cursor = events.cursor_after(shown[-1])
        settle()
        page = events.read_feed(client_a, cursor)
        assert {event.pk for event in page} == {held.event.pk, later.pk}
        assert events.read_feed(client_a, events.cursor_after(page[-1])) == []

    def test_even_if_the_open_transaction_drew_its_number_first(self, client_a):
        """Numbered first but committed last: ordering by number alone would skip it."""
        with open_transaction(client_a) as held:
            later = announce(client_a.pk, "t.t", {})
            assert held.event.position < later.position
            assert events.read_feed(client_a) == []
        settle()
        assert [event.pk for event in events.read_feed(client_a)] == [held.event.pk, later.pk]

    def test_events_of_a_conversation_come_in_their_sequence(self, client_a):
        """A transaction that began first may take the conversation's lock last."""
        chat = uuid.uuid4()
        with open_transaction(client_a) as held:
            announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=1)
            held.then(lambda: announce(client_a.pk, "t.t", {}, conversation_id=chat, sequence=2))
        settle()
        sequences = [
            event.sequence for event in events.read_feed(client_a) if event.conversation_id
        ]
        assert sequences == [1, 2]

    def test_many_writers_and_a_reader(self, client_a):
        announced: list[uuid.UUID] = []
        seen: list[uuid.UUID] = []
        writers_ended = threading.Event()

        def write(number):
            for step in range(25):
                with transaction.atomic():
                    event = announce(client_a.pk, "t.t", {"n": number})
                    if (number + step) % 3 == 0:
                        announce(client_a.pk, "t.t", {"n": number})
                    connection.cursor().execute("SELECT pg_sleep(random() / 200)")
                announced.append(event.pk)
            connection.close()

        def read():
            cursor = events.START
            while True:
                last_round = writers_ended.is_set()
                page = events.read_feed(client_a, cursor, 7)
                seen.extend(event.pk for event in page)
                if page:
                    cursor = events.cursor_after(page[-1])
                elif last_round:
                    break
            connection.close()

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        reader = threading.Thread(target=read)
        for thread in (reader, *writers):
            thread.start()
        for thread in writers:
            thread.join(30)
        settle()
        writers_ended.set()
        reader.join(30)
        assert len(seen) == len(set(seen)) == Event.objects.count() > 100
        assert set(announced) <= set(seen)

    def test_ranks_keep_growing_in_a_restored_database(self, client_a):
        old = announce(client_a.pk, "t.t", {})
        Event.objects.filter(pk=old.pk).update(rank=10**12)
        events.continue_ranks_after_restore()
        new = announce(client_a.pk, "t.t", {})
        settle()
        assert [event.pk for event in events.read_feed(client_a)] == [old.pk, new.pk]
        lead = FeedEpoch.objects.get().lead
        events.continue_ranks_after_restore()
        assert FeedEpoch.objects.get().lead == lead

    def test_the_cursor_of_an_event_id(self, client_a, client_b):
        announced = [announce(client_a.pk, "t.t", {}) for _ in range(3)]
        settle()
        cursor = events.find_cursor(client_a, f"evt_{announced[0].pk.hex}")
        assert cursor
        assert [event.pk for event in events.read_feed(client_a, cursor)] == [
            event.pk for event in announced[1:]
        ]
        assert events.find_cursor(client_b, f"evt_{announced[0].pk.hex}") is None
        assert events.find_cursor(client_a, "nonsense") is None


class open_transaction:
    """An event in a transaction of another thread, which ends with the block."""

    def __init__(self, client):
        self.client, self.more = client, None
        self.written, self.release = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run)

    def then(self, more):
        """The work of the transaction before its commit."""
        self.more = more

    def _run(self):
        with transaction.atomic():
            self.event = announce(self.client.pk, "t.held", {})
            self.written.set()
            self.release.wait(20)
            if self.more:
                self.more()
        connections.close_all()

    def __enter__(self):
        self.thread.start()
        assert self.written.wait(20)
        return self

    def __exit__(self, *_):
        self.release.set()
        self.thread.join(20)
