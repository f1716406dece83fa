"""`manage.py set_up`: prepares what the processes need before they start; `make run` calls it."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from commands.management.commands.migrate import migrating


class Command(BaseCommand):
    help = "Migrate the database, and make the demo client."

    def handle(self, *args: Any, **options: Any) -> None:
        self._print("migrating the database ...")
        executor = MigrationExecutor(connections[migrating()])
        is_current = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        if later := _later(executor.loader):
            # After a rollback: a migration suits the release before it too.
            if not is_current:
                raise CommandError(
                    f"The database was made by another version of the platform ({later[0]}) and"
                    " cannot be upgraded. Start with another DATA_DIR, or delete the old one."
                )
            self._print(f"The database is of a newer release ({later[-1]}); it stays as it is.")
        else:
            # Print the lines of new migrations, which take some seconds at the first start.
            call_command("migrate", interactive=False, verbosity=0 if is_current else 1)
        try:
            call_command("purge_audit", verbosity=0, stdout=self.stdout)
        except CommandError as exc:
            # A fault in the audit log must not prevent the start.
            self.stderr.write(str(exc))
        self._print("preparing the demo client ...")
        call_command("seed", stdout=self.stdout)

    def _print(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _later(loader: MigrationLoader) -> list[str]:
    """The database's migrations that this release does not know."""
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    return sorted(f"{app}.{name}" for app, name in unknown)
