"""The audit log as its client reads it, the chain of its rows, and the application's role."""

import csv
import io
import json
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import time_machine
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from chatplatform.testing import at_once
from commands.management.commands.migrate import grant
from identity.models import ApiKey, AuditAnchor, AuditEvent, AuditLink
from identity.services import audit, audit_queries, audit_retention
from identity.testing import make_key

LOG, FILE = "/identity/audit", "/identity/audit/export"


def record(client, *actions, by=None, **more):
    for action in actions:
        audit.record(client.pk, action, by=by, **more)


def names(reply):
    assert reply.status_code == 200, reply.content
    return [item["action"] for item in reply.json()["items"]]


def lines(reply):
    assert reply["Content-Disposition"].startswith("attachment")
    return b"".join(reply.streaming_content).decode().splitlines()


def test_an_admin_reads_it_newest_first_and_by_filters(ann, cara):
    key = make_key(ann.client).key
    assert key
    record(ann.client, "user.created", by=ann.user, subject="user:7", changes={"role": "agent"})
    record(ann.client, "bot.created", by=key)
    record(cara.client, "bot.deleted", by=cara.user)
    newest, oldest, _ = ann.get(LOG).json()["items"]
    assert (newest["action"], newest["api_key_id"], newest["user_id"]) == (
        "bot.created", key.pk, None,
    )  # fmt: skip
    assert (oldest["user_id"], oldest["changes"]) == (ann.user.pk, {"role": "agent"})
    for query, found in (
        ("action=bot.created", ["bot.created"]),
        ("subject=user:7", ["user.created"]),
        (f"user_id={ann.user.pk}", ["user.created"]),
        (f"api_key_id={key.pk}", ["bot.created"]),
        ("created_from=2999-01-01T00:00:00Z", []),
        ("created_to=2000-01-01T00:00:00Z", []),
    ):
        assert names(ann.get(f"{LOG}?{query}")) == found, query
    first = ann.get(f"{LOG}?limit=1").json()
    assert names(ann.get(f"{LOG}?limit=1&cursor={first['next_cursor']}")) == ["user.created"]


def test_it_is_exported_as_lines_and_as_a_table(ann, cara, monkeypatch):
    record(ann.client, "user.created", "user.disabled", by=ann.user, subject="=1+1")
    record(cara.client, "bot.deleted", by=cara.user)
    exported = [json.loads(line) for line in lines(ann.get(FILE))]
    assert [row["action"] for row in exported] == ["user.created", "user.disabled"]
    asked, *earlier = ann.get(LOG).json()["items"]
    assert exported[::-1] == earlier
    assert (asked["action"], asked["user_id"]) == ("audit_log.exported", ann.user.pk)
    assert asked["changes"] == {"fields": [], "rows": 2}
    table = list(csv.DictReader(io.StringIO("\n".join(lines(ann.get(f"{FILE}?format=csv"))))))
    assert [row["action"] for row in table] == [
        "user.created", "user.disabled", "audit_log.exported",
    ]  # fmt: skip
    assert table[0]["subject"] == "'=1+1"
    monkeypatch.setattr(audit_queries, "MAX_EXPORTED", 1)
    assert ann.get(FILE).json()["code"] == "too_many_events"


def test_a_long_id_of_a_request_is_cut_and_refuses_nothing(ann):
    body = {"name": "ours", "scope": "secret"}
    reply = ann.post("/identity/api-keys", body, **{"X-Request-ID": "r" * 128})
    assert reply.status_code == 201, reply.content
    assert AuditEvent.objects.latest("pk").request_id == "r" * 64


def test_the_address_of_a_visitor_is_not_written_down(ann, bot):
    page = make_key(ann.client, "public", bot.pk)
    assert page.key
    ApiKey.objects.filter(pk=page.key.pk).update(last_used_at=None)
    assert page.get("/ai/bot/config").status_code == 200
    event = AuditEvent.objects.get(action="api_key.first_used")
    assert (event.api_key_id, event.address) == (page.key.pk, "")


@pytest.fixture
def chained(transactional_db, ann, cara):
    """Rows of two clients, chained at the commit."""
    record(ann.client, "a.done", "b.done", "c.done", by=ann.user, changes={"text": "é \n"})
    record(cara.client, "x.done")
    return {event.action[0]: event.pk for event in AuditEvent.objects.all()}


def tampered(statement):
    """As somebody with every right would do it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)


def faults(capsys):
    with pytest.raises(CommandError):
        call_command("check_audit")
    return capsys.readouterr().err.splitlines()


def test_rows_fit_their_chains_also_when_they_come_at_once(chained, ann, capsys):
    at_once(*[lambda: record(ann.client, "d.done", "e.done")] * 4)
    call_command("check_audit")
    assert capsys.readouterr().out == "12 rows fit their chains.\n"
    shown = ann.get(f"{LOG}?limit=100").json()["items"]
    assert {item["hash"] for item in shown} == set(
        AuditLink.objects.filter(client=ann.client).values_list("hash", flat=True)
    )


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE identity_auditevent SET address = '10.0.0.9' WHERE id = {b}", ["b"]),
        ("UPDATE identity_auditevent SET user_id = NULL WHERE id = {c}", ["c"]),
        ("DELETE FROM identity_auditevent WHERE id = {b}", ["b"]),
        ("DELETE FROM identity_auditlink WHERE event_id = {b}", ["c", "b"]),
        ("UPDATE identity_auditlink SET hash = repeat('0', 64) WHERE event_id = {a}", ["a", "b"]),
    ],
)
def test_a_changed_row_is_named(chained, capsys, statement, broken):
    tampered(statement.format(**chained))
    named = faults(capsys)
    assert [line.split()[2] for line in named] == [str(chained[name]) for name in broken]


def test_a_row_that_was_slipped_in_is_named(chained, ann, capsys):
    tampered(
        "INSERT INTO identity_auditevent (client_id, action, subject, changes, address, request_id)"
        f" VALUES ({ann.client.pk}, 'z.done', '', '{{}}', '', '')"
    )
    slipped = AuditEvent.objects.get(action="z.done").pk
    assert faults(capsys) == [f"Audit row {slipped} of client {ann.client.pk} is not in the chain."]


@pytest.fixture
def application(chained):
    """A connection in the role that `migrate` makes for the application."""
    role = f"app_{uuid.uuid4().hex[:12]}"
    grant("default", role=role, password="x'y")
    settings = connection.settings_dict
    address = {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"]}
    try:
        with closing(psycopg.connect(**address, user=role, password="x'y")) as made:
            made.autocommit = True
            yield made
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP OWNED BY {role}")
            cursor.execute(f"DROP ROLE {role}")


def test_the_applications_role_adds_rows_and_changes_none(application, chained, ann):
    before = list(AuditEvent.objects.order_by("pk").values())
    # It opens the triggers, which are against mistakes; the rights hold.
    application.execute("SET chatplatform.changes_audit_log = 'on'")
    for statement in (
        "UPDATE identity_auditevent SET action = 'x'",
        "DELETE FROM identity_auditevent",
        "TRUNCATE identity_auditevent",
        "UPDATE identity_auditlink SET hash = ''",
        "DELETE FROM identity_auditlink",
        "TRUNCATE identity_auditlink",
        "INSERT INTO identity_auditlink (client_id, event_id, hash) VALUES (1, 1, 'x')",
        "UPDATE identity_auditanchor SET rows = 0",
        "DELETE FROM identity_auditanchor",
        "INSERT INTO identity_auditanchor (client_id, month, rows, hash, seal)"
        " VALUES (1, '2026-01-01', 1, '', '')",
        "ALTER TABLE identity_auditevent DISABLE TRIGGER ALL",
        "DROP TABLE identity_auditlink",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute(statement)
    assert list(AuditEvent.objects.order_by("pk").values()) == before
    application.execute("CREATE TEMPORARY TABLE identity_auditlink (client_id int, hash text)")
    application.execute(
        "INSERT INTO identity_auditevent (client_id, action, subject, changes, address, request_id)"
        f" VALUES ({ann.client.pk}, 'd.done', '', '{{}}', '', '')"
    )
    call_command("check_audit")


def test_the_applications_role_numbers_events(application):
    """Their two sequences belong to no column: a right to the tables gives none to these."""
    for name in ("webhooks_event_number", "webhooks_feed_position"):
        application.execute("SELECT nextval(%s)", [name])
    application.execute("UPDATE identity_client SET name = 'Renamed'")


def test_a_check_warns_where_one_role_does_both(db):
    ids = {found.id for found in run_checks(tags=["security"], databases=["default"])}
    assert "identity.W001" in ids
    assert "identity.W001" not in {found.id for found in run_checks(tags=["security"])}


def test_a_new_database_passes_the_checks_that_precede_its_first_migration(db):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE identity_auditevent RENAME TO identity_not_yet")
    assert "identity.W001" not in {
        found.id for found in run_checks(tags=["security"], databases=["default"])
    }


def of_month(client, created_at, *actions):
    """Rows of an earlier month, chained as they come: nobody but the owner could date them."""
    for action in actions:
        AuditEvent.objects.create(client_id=client.pk, action=action, created_at=created_at)


@pytest.fixture
def old(transactional_db, ann, cara, settings):
    """Two old months of one client, the last one that is kept, and another client's."""
    settings.AUDIT_RETENTION_MONTHS = 2
    begin = audit_retention.retention_start()
    months = [begin - timedelta(days=40), begin - timedelta(seconds=1), begin]
    of_month(ann.client, months[0], "old.done", "old.done")
    of_month(ann.client, months[1], "late.done")
    # Whoever began before midnight and committed after somebody else.
    of_month(ann.client, begin, "kept.done")
    of_month(ann.client, months[1], "kept.late")
    of_month(cara.client, months[1], "cara.old")
    record(ann.client, "new.done")


def logged(client):
    rows = AuditEvent.objects.for_client(client).order_by("pk")
    return list(rows.values_list("action", flat=True))


def test_old_months_are_removed_and_the_chain_goes_on_from_their_anchors(old, ann, cara, capsys):
    call_command("purge_audit")
    assert capsys.readouterr().out.splitlines()[-1] == "4 rows of the audit log were removed."
    assert logged(ann.client) == ["kept.done", "kept.late", "new.done"]
    assert logged(cara.client) == []
    anchors = AuditAnchor.objects.for_client(ann.client).order_by("pk")
    kept_from = audit_retention.retention_start().date()
    assert [anchor.rows for anchor in anchors] == [2, 1]
    assert all(anchor.month < kept_from for anchor in anchors)
    # The chain of a client of whom no row is left begins at the anchor too.
    record(cara.client, "cara.new")
    call_command("check_audit")
    assert capsys.readouterr().out.splitlines() == [
        "4 rows fit their chains.", "4 older ones have 3 anchors.",
    ]  # fmt: skip
    first = AuditEvent.objects.get(action="cara.new").link
    tampered(f"DELETE FROM identity_auditanchor WHERE client_id = {cara.client.pk}")
    assert faults(capsys) == [
        f"Audit row {first.event_id} of client {cara.client.pk} was changed, or an anchor before it"
        " is missing."
    ]
    call_command("purge_audit")
    assert logged(ann.client) == ["kept.done", "kept.late", "new.done"]


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE identity_auditanchor SET rows = 1 WHERE id = {first}", ["first"]),
        ("UPDATE identity_auditanchor SET client_id = {other} WHERE id = {first}", None),
        ("UPDATE identity_auditanchor SET seal = 'v1:s1:x' WHERE id = {second}", ["second"]),
        ("DELETE FROM identity_auditanchor WHERE id = {first}", ["second"]),
    ],
)
def test_a_broken_or_missing_anchor_is_named(old, ann, cara, capsys, statement, broken):
    call_command("purge_audit")
    capsys.readouterr()
    first, second = AuditAnchor.objects.for_client(ann.client).order_by("pk")
    tampered(statement.format(first=first.pk, second=second.pk, other=cara.client.pk))
    named = {"first": first, "second": second}
    sentences = [line for line in faults(capsys) if line.startswith("The anchor of ")]
    for name in broken or ["second"]:
        month = f"{named[name].month:%Y-%m} of client {ann.client.pk}"
        assert f"The anchor of {month} was changed, or the one before it is missing." in sentences
    assert broken is None or len(sentences) == len(broken)


@pytest.mark.full
def test_a_chain_that_does_not_fit_is_not_removed(old, ann, cara, capsys):
    tampered("UPDATE identity_auditevent SET subject = 'x' WHERE action = 'late.done'")
    with pytest.raises(CommandError, match="1 chains do not fit"):
        call_command("purge_audit")
    assert "Nothing of this client was removed." in capsys.readouterr().err
    call_command("set_up")  # it holds up no start
    assert "1 chains do not fit" in capsys.readouterr().err
    assert len(logged(ann.client)) == 6
    assert logged(cara.client) == []


def test_whole_months_are_kept_beside_the_current_one(settings):
    settings.AUDIT_RETENTION_MONTHS = 2
    for now, kept_from in (((2026, 1, 31), (2025, 11, 1)), ((2026, 3, 1), (2026, 1, 1))):
        with time_machine.travel(datetime(*now, tzinfo=UTC)):
            assert audit_retention.retention_start() == datetime(*kept_from, tzinfo=UTC)


def test_every_month_is_kept_where_the_setting_says_so(old, ann, settings):
    settings.AUDIT_RETENTION_MONTHS = 0
    call_command("purge_audit")
    assert len(logged(ann.client)) == 6
