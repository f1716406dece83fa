"""`manage.py purge_audit`: removes the months of the audit log that are no longer kept."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chatplatform import encryption_key_check
from commands.management.commands.migrate import migrating
from identity.services import audit_retention


class Command(BaseCommand):
    help = (
        "Remove the rows of the audit log that are older than AUDIT_RETENTION_MONTHS whole months,"
        " and leave a signed anchor for each client's month. Runs as the owner of the tables."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.AUDIT_RETENTION_MONTHS:
            self.stdout.write("AUDIT_RETENTION_MONTHS is 0: every month of the audit log is kept.")
            return
        alias, removed, broken = migrating(), 0, 0
        # The anchors are sealed with the keys.
        encryption_key_check.check(alias)
        for client_id in audit_retention.clients_with_old_rows(using=alias):
            try:
                for anchor in audit_retention.purge_expired(client_id, using=alias):
                    removed += anchor.rows
                    what = f"{anchor.month:%Y-%m} of client {client_id}"
                    self.stdout.write(f"{what}: {anchor.rows:,} rows were removed.")
            except audit_retention.BrokenChain as exc:
                self.stderr.write(f"{exc} Nothing of this client was removed.")
                broken += 1
        if removed or options["verbosity"]:
            self.stdout.write(f"{removed:,} rows of the audit log were removed.")
        if broken:
            raise CommandError(f"{broken} chains do not fit: run check_audit.")
