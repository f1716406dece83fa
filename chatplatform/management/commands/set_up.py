"""`manage.py set_up`: what the processes need before they start; `make run` calls it."""

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from chatplatform.management.commands.migrate import migrating

STATIC_SOURCES = ("*.css", "*.js", "*.svg", "*.png", "*.woff2", "*.ico", "*.html")


class Command(BaseCommand):
    help = "Migrate the database, collect the static files, and make the demo client."

    def handle(self, *args: Any, **options: Any) -> None:
        self._print("migrating the database ...")
        # The lines of migrations that are new here: the first start takes some seconds for them.
        is_current = not _new_migrations()
        call_command("migrate", interactive=False, verbosity=0 if is_current else 1)
        try:
            call_command("purge_audit", verbosity=0, stdout=self.stdout)
        except CommandError as exc:
            # What is wrong with the audit log keeps nobody from starting.
            self.stderr.write(str(exc))
        settings.STATIC_ROOT.mkdir(exist_ok=True)
        # With DEBUG they are served from where they are.
        if not settings.DEVELOPMENT:
            self._collect_static()
        self._print("preparing the demo client ...")
        call_command("seed", stdout=self.stdout)

    def _collect_static(self) -> None:
        """Collect the static files if they may have changed since the last time."""
        stamp, current = settings.DATA_DIR / "static.stamp", _static_fingerprint()
        if not stamp.exists() or stamp.read_text() != current:
            self._print("collecting the static files ...")
            call_command("collectstatic", interactive=False, verbosity=0)
            stamp.write_text(current)

    def _print(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _new_migrations() -> Any:
    executor = MigrationExecutor(connections[migrating()])
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _static_fingerprint() -> str:
    """Changes when a static file, its settings or an installed package may have changed."""
    root: Path = settings.BASE_DIR
    digest = hashlib.sha256()
    files = [root / "requirements.txt", root / "chatplatform" / "settings.py"]
    for pattern in STATIC_SOURCES:
        files += root.glob(f"*/static/**/{pattern}")
    for path in sorted(set(files)):
        status = path.stat()
        digest.update(f"{path}\0{status.st_mtime_ns}\0{status.st_size}\n".encode())
    return digest.hexdigest()
