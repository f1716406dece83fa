"""Month partitions: made ahead, filled from the default one, dropped as a whole."""

import uuid
from contextlib import closing
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connection

from chatplatform import partitions
from chatplatform.ids import first_id, uuid7
from chatplatform.tasks import create_partitions
from chatplatform.testing import make_month, written_at
from commands.management.commands.migrate import grant
from webhooks.models import Delivery, DeliveryAttempt, Event, FeedEntry, Payload
from webhooks.services import announce, deliveries, events
from webhooks.tasks import clean_up

LATER = datetime(2041, 3, 15, 12, tzinfo=UTC)
EARLY = datetime(2024, 5, 15, 12, tzinfo=UTC)
PARTED = [Event, Payload, Delivery, DeliveryAttempt]


def names(model):
    return [month.name.removeprefix(model._meta.db_table) for month in partitions.months(model)]


def where(model):
    """The partitions that hold the rows of a table, without its name."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT tableoid::regclass::text FROM {model._meta.db_table}")
        found = [name for (name,) in cursor.fetchall()]
    return sorted(name.removeprefix(f"months.{model._meta.db_table}") for name in found)


@pytest.mark.parametrize("model", PARTED, ids=lambda model: model.__name__)
def test_months_are_made_ahead(db, model):
    with written_at(LATER):
        create_partitions()
        made = names(model)
        create_partitions()
    assert made[-3:] == ["_2041_03", "_2041_04", "_2041_05"]
    assert names(model) == made, "a second run finds them"


def test_an_insert_beyond_the_months_waits_in_the_default_one(client_a, endpoint):
    with written_at(LATER):
        event = announce(client_a.pk, "thing.done", {"a": 1})
        delivery = Delivery.objects.get()
        DeliveryAttempt.objects.create(
            client=client_a, delivery=delivery, number=1, created_at=LATER
        )
        assert [where(model) for model in PARTED] == [["_default"]] * 4
        create_partitions()
    assert [where(model) for model in PARTED] == [["_2041_03"]] * 4
    assert Event.objects.get().pk == Payload.objects.get().pk == event.pk
    assert Delivery.objects.get().log.get().number == 1
    assert Delivery.objects.get().pk == delivery.pk


def test_the_lowest_id_of_a_month(db):
    begin = datetime(2041, 3, 1, tzinfo=UTC)
    with written_at(begin):
        first = uuid7()
    assert first_id(begin).int >> 80 == first.int >> 80
    assert first_id(begin) < first
    with connection.cursor() as cursor:
        cursor.execute("SELECT chatplatform_first_key('uuid', %s)::uuid", [begin.date()])
        assert cursor.fetchone() == (first_id(begin),)


def commit():
    """What a commit does in the tests' own transaction: foreign keys are checked."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


@pytest.fixture
def early(client_a, endpoint):
    """An event of an early month that was delivered, and one of now."""
    make_month(EARLY, *PARTED)
    with written_at(EARLY):
        old = announce(client_a.pk, "thing.done", {})
        delivery = Delivery.objects.get()
        DeliveryAttempt.objects.create(
            client=client_a, delivery=delivery, number=1, created_at=EARLY
        )
    Delivery.objects.update(due_at=None, created_at=EARLY)
    announce(client_a.pk, "thing.done", {})
    assert len(events.read_feed(client_a)) == 2
    commit()
    return old


def test_past_months_are_dropped_and_no_others(early, client_a):
    before = {model: names(model) for model in PARTED}
    clean_up()
    for model in (Payload, Delivery, DeliveryAttempt):
        assert names(model) == [name for name in before[model] if name != "_2024_05"]
    assert names(Event) == before[Event], "events are kept as long as their chats"
    assert (Event.objects.count(), Delivery.objects.count(), Payload.objects.count()) == (2, 1, 1)
    assert not DeliveryAttempt.objects.exists()
    assert len(events.read_feed(client_a)) == 2


def test_a_month_that_ended_less_than_thirty_days_ago_stays(early):
    with written_at(datetime(2024, 6, 30, 12, tzinfo=UTC)):
        deliveries.purge_expired()
        assert "_2024_05" in names(Delivery)
    with written_at(datetime(2024, 7, 1, 12, tzinfo=UTC)):
        deliveries.purge_expired()
        assert "_2024_05" not in names(Delivery)


@pytest.mark.parametrize("fields", [{"due_at": EARLY}, {"created_at": datetime.now(UTC)}])
def test_a_month_stays_while_a_delivery_waits_or_was_sent_again(early, fields):
    Delivery.objects.filter(event_id=early.pk).update(**fields)
    clean_up()
    assert "_2024_05" in names(Delivery)
    assert Payload.objects.filter(pk=early.pk).exists()
    Delivery.objects.filter(event_id=early.pk).update(due_at=None, created_at=EARLY)
    commit()
    clean_up()
    assert "_2024_05" not in names(Delivery)
    assert not Payload.objects.filter(pk=early.pk).exists()


def test_events_are_dropped_where_a_setting_says_so(early, client_a, settings):
    settings.EVENT_MONTHS = 24
    with written_at(datetime(2026, 5, 31, tzinfo=UTC)):
        events.purge_expired()
    assert Event.objects.count() == 2, "the month and 24 before it are kept"
    with written_at(datetime(2026, 6, 1, tzinfo=UTC)):
        events.purge_expired()
        assert Event.objects.count() == 2, "its delivery is kept"
        deliveries.purge_expired()
        events.purge_expired()
    assert "_2024_05" not in names(Event)
    (entry,) = events.read_feed(client_a)
    assert entry.pk == Event.objects.get().pk == FeedEntry.objects.get().pk


def test_what_is_sent_again_of_a_dropped_month_is_deleted_in_time(early, endpoint):
    clean_up()
    deliveries.replay(early, endpoint)
    commit()
    assert where(Delivery)[-1] == where(Payload)[-1] == "_default"
    clean_up()
    assert Payload.objects.filter(pk=early.pk).exists()
    Delivery.objects.filter(event_id=early.pk).update(due_at=None, created_at=EARLY)
    commit()
    clean_up()
    assert not Payload.objects.filter(pk=early.pk).exists()
    assert [row.event_id for row in Delivery.objects.all()] == [
        row.pk for row in Payload.objects.all()
    ]


def test_a_table_that_is_held_is_left_for_the_next_run(transactional_db, caplog):
    make_month(EARLY, Delivery)
    try:
        settings = connection.settings_dict
        address = {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"]}
        with closing(
            psycopg.connect(**address, user=settings["USER"], password=settings["PASSWORD"])
        ) as reader:
            reader.execute("SELECT * FROM webhooks_delivery")
            assert partitions.drop_before(Delivery, datetime.now(UTC)) == 0
        assert "the next run tries again" in caplog.text
        assert partitions.drop_before(Delivery, EARLY) == 0
    finally:
        assert partitions.drop_before(Delivery, datetime(2024, 6, 1, tzinfo=UTC)) == 1


def test_the_applications_role_drops_months_only_where_it_may_delete(transactional_db):
    role = f"app_{uuid.uuid4().hex[:12]}"
    grant("default", role=role, password="x")
    settings = connection.settings_dict
    address = {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"]}
    make, drop = (
        f"SELECT chatplatform_{verb}_month('webhooks_event', {of})"
        for verb, of in (("make", "'2024-05-01'"), ("drop", "'webhooks_event_2024_05'"))
    )
    try:
        with closing(psycopg.connect(**address, user=role, password="x")) as application:
            application.autocommit = True
            assert application.execute(make).fetchone() == (True,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute("SELECT * FROM months.webhooks_event_2024_05")
            # What a drop does: the rights to the table are enough.
            with application.transaction():
                application.execute("LOCK TABLE webhooks_event IN ACCESS EXCLUSIVE MODE")
                assert application.execute("SELECT count(*) FROM webhooks_event").fetchone() == (0,)
            with connection.cursor() as cursor:
                cursor.execute(f"REVOKE DELETE ON webhooks_event FROM {role}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(drop)
            with connection.cursor() as cursor:
                cursor.execute(f"GRANT DELETE ON webhooks_event TO {role}")
            for other in ("webhooks_event_default", "webhooks_payload_2024_05"):
                with pytest.raises(psycopg.Error):
                    application.execute(drop.replace("webhooks_event_2024_05", other))
            application.execute(drop)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP OWNED BY {role}")
            cursor.execute(f"DROP ROLE {role}")
    assert "_2024_05" not in names(Event)


FORMER = """
CREATE TABLE former (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, of_event uuid NOT NULL,
    client_id bigint REFERENCES identity_client, n int CHECK (n > 0),
    CONSTRAINT former_once UNIQUE (of_event, n), CONSTRAINT former_n UNIQUE (n)
);
CREATE INDEX former_client ON former (client_id, n) WHERE n > 1;
GRANT SELECT, INSERT ON former TO pg_monitor;
"""


def test_a_table_keeps_its_rows_when_it_becomes_one_of_months(client_a):
    now = partitions.month_of(datetime.now(UTC))
    moments = [EARLY, now, LATER]
    with connection.cursor() as cursor:
        cursor.execute(FORMER)
        for number, moment in enumerate(moments, start=1):
            cursor.execute(
                "INSERT INTO former (of_event, client_id, n) VALUES (%s, %s, %s)",
                [first_id(moment), client_a.pk, number],
            )
        cursor.execute("SELECT chatplatform_part_by_month('former', 'of_event')")
        cursor.execute("SELECT id, n, tableoid::regclass::text FROM former ORDER BY id")
        before = f"months.former_before_{partitions.month_after(now):%Y_%m}"
        assert cursor.fetchall() == [
            (1, 1, before),
            (2, 2, before),
            (3, 3, "months.former_default"),
        ]
        cursor.execute(
            "INSERT INTO former (of_event, client_id, n) VALUES (%s, %s, 3) RETURNING id",
            [first_id(partitions.month_after(now)), client_a.pk],
        )
        assert cursor.fetchone() == (4,), "numbers go on, and n alone is unique no more"
        cursor.execute("SELECT has_table_privilege('pg_monitor', 'former', 'INSERT')")
        assert cursor.fetchone() == (True,)
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'former'::regclass"
            " AND contype IN ('c', 'f', 'p', 'u')"
        )
        assert {name for (name,) in cursor.fetchall()} == {
            "former_client_id_fkey", "former_n_check", "former_once", "former_pkey",
        }  # fmt: skip
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'former'")
        assert {name for (name,) in cursor.fetchall()} == {
            "former_client", "former_n", "former_once", "former_pkey",
        }  # fmt: skip
        for month, is_made in ((now, False), (partitions.month_after(now, 2), True)):
            cursor.execute("SELECT chatplatform_make_month('former', %s)", [month.date()])
            assert cursor.fetchone() == (is_made,), "the month is within what was there before"
