"""`manage.py set_up`: prepares what the processes need before they start; `make run` calls it."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from commands.management.commands.migrate import migrating


class Command(BaseCommand):
    help = "Migrate the database, and make the demo client."

    def handle(self, *args: Any, **options: Any) -> None:
        self._print("migrating the database ...")
        # Print the lines of new migrations, which take some seconds at the first start.
        is_current = not _new_migrations()
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


def _new_migrations() -> Any:
    executor = MigrationExecutor(connections[migrating()])
    return executor.migration_plan(executor.loader.graph.leaf_nodes())
