"""Guard over migrations: each suits the release before it, which works on while it runs and after.

The initial ones make the first release's tables, so no release is before them.
"""

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from identity.models import Client

APPS = {path.parent.name for path in settings.BASE_DIR.glob("*/migrations")}
# Second steps: why the release before does not need what they take away.
SECOND_STEP_BECAUSE: dict[str, str] = {}
_GONE = re.compile(
    r"\b(drop\s+(column|table|function)|rename\s+(column|to)|set\s+not\s+null)\b", re.IGNORECASE
)


def flat(operations: Sequence[Operation]) -> Iterator[Operation]:
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from flat(operation.database_operations)
        else:
            yield operation


def statements(sql: object) -> str:
    parts = sql if isinstance(sql, list | tuple) else [sql]
    return " ".join(part[0] if isinstance(part, list | tuple) else str(part) for part in parts)


def fills_itself(field: "models.Field[Any, Any]") -> bool:
    """Whether a row that the older release inserts needs no value for it."""
    return (
        field.null
        or field.db_default is not models.NOT_PROVIDED
        or isinstance(field, models.ManyToManyField)
    )


def fault(operation: Operation, app: str, before: ProjectState) -> str:
    """What the release before could not live with; empty if nothing."""
    match operation:
        case migrations.RemoveField() | migrations.DeleteModel():
            return "removes what the release before still reads"
        case migrations.RenameField() | migrations.RenameModel() | migrations.AlterModelTable():
            return "renames what the release before knows by its old name"
        case migrations.AddField() if not fills_itself(operation.field):
            return "adds a column that the release before cannot fill: null=True or a db_default"
        case migrations.AlterField() if not fills_itself(operation.field):
            old = before.models[app, operation.model_name_lower].fields[operation.name]
            return "refuses the nulls of the release before" if old.null else ""
        case migrations.RunSQL() if _GONE.search(statements(operation.sql)):
            return "removes, renames or refuses in SQL"
    return ""


def faults(migration: migrations.Migration, before: ProjectState) -> list[str]:
    state, found = before.clone(), []
    for operation in migration.operations:
        for part in flat([operation]):
            if reason := fault(part, migration.app_label, state):
                found.append(f"{migration}: {part.describe()}: {reason}")
        operation.state_forwards(migration.app_label, state)
    return found


def of_later_releases() -> list[migrations.Migration]:
    return [
        migration
        for (app, _), migration in sorted(MigrationLoader(None).disk_migrations.items())
        if app in APPS and not migration.initial
    ]


def test_every_app_has_initial_migrations_of_its_own():
    disk = MigrationLoader(None).disk_migrations
    assert {app for app, name in disk if disk[app, name].initial} >= APPS
    assert len(APPS) == 7


def test_a_migration_suits_the_release_before():
    loader, found = MigrationLoader(None), []
    for migration in of_later_releases():
        if str(migration) not in SECOND_STEP_BECAUSE:
            known = [parent for parent in migration.dependencies if parent[1] != "__first__"]
            found += faults(migration, loader.project_state(known))
    assert found == [], "make it in two releases: CONTRIBUTING, Change a table"


def test_an_index_of_a_big_table_may_take_its_time(db):
    def timeout():
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return cursor.fetchone()[0]

    usual, seen = timeout(), set()

    real = migrate.Command.handle

    def looking(command, *args, **options):
        seen.add(timeout())
        return real(command, *args, **options)

    with mock.patch.object(migrate.Command, "handle", looking):
        call_command("migrate", verbosity=0)
    assert seen == {"0"}
    assert timeout() == usual != "0"


def test_exceptions_are_needed():
    assert set(SECOND_STEP_BECAUSE) <= set(map(str, of_later_releases()))


@pytest.mark.parametrize(
    ("operation", "is_fine"),
    [
        (migrations.AddField("job", "note", models.TextField(db_default="")), True),
        (migrations.AddField("job", "note", models.TextField(null=True)), True),
        (migrations.AddField("job", "note", models.TextField(default="")), False),
        (migrations.RemoveField("job", "priority"), False),
        (migrations.RenameField("job", "priority", "size"), False),
        (migrations.DeleteModel("fairshare"), False),
        (migrations.AlterField("job", "client_id", models.BigIntegerField()), False),
        (migrations.AlterField("job", "name", models.CharField(max_length=90)), True),
        (migrations.RunSQL("ALTER TABLE chatplatform_job DROP COLUMN priority"), False),
        (migrations.RunSQL([("ALTER TABLE x ALTER y SET NOT NULL", [])]), False),
        (migrations.RunSQL("DROP FUNCTION IF EXISTS chats_receive_message"), False),
        (migrations.RunSQL("CREATE OR REPLACE FUNCTION a() RETURNS void"), True),
        (migrations.RunSQL("CREATE INDEX a ON b (c)"), True),
        (
            migrations.SeparateDatabaseAndState(
                database_operations=[migrations.RemoveField("job", "priority")]
            ),
            False,
        ),
    ],
)
def test_the_guard_sees_what_an_older_release_cannot_live_with(operation, is_fine):
    before = MigrationLoader(None).project_state(("chatplatform", "0001_initial"))
    found = [fault(part, "chatplatform", before) for part in flat([operation])]
    assert (found == [""]) == is_fine


def test_a_database_of_another_version_is_refused_and_left_as_it_is(db):
    recorder = MigrationRecorder(connection)
    for app, name in [key for key in recorder.applied_migrations() if key[0] == "identity"]:
        recorder.record_unapplied(app, name)
    recorder.record_applied("identity", "0001_of_another_version")
    with pytest.raises(CommandError, match=r"identity\.0001_of_another_version.*DATA_DIR"):
        call_command("set_up")
    assert not Client.objects.exists()


@pytest.mark.full
def test_a_release_starts_on_the_database_of_the_next_one(db):
    """A rollback; the newer release may also have an app of its own."""
    recorder = MigrationRecorder(connection)
    for app, name in (("bots", "0009_of_the_next_release"), ("surveys", "0001_initial")):
        recorder.record_applied(app, name)
    printed = io.StringIO()
    call_command("set_up", stdout=printed)
    assert "surveys.0001_initial" in printed.getvalue()
    assert Client.objects.exists()
    assert ("surveys", "0001_initial") in recorder.applied_migrations()


def test_every_change_of_a_model_has_its_migration(db, capsys):
    try:
        call_command("makemigrations", check=True, dry_run=True)
    except SystemExit:
        pytest.fail(f"make migrations: {capsys.readouterr().out}")
