"""`manage.py check_audit`: checks whether somebody changed the audit log."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Count, Sum

from identity.models import AuditAnchor, AuditLink
from identity.services import audit_chain


class Command(BaseCommand):
    help = "Recompute the chains of the audit log, and name each row that does not fit."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        faults = list(audit_chain.faults())
        for fault in faults:
            self.stderr.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} rows of the audit log do not fit their chain.")
        self.stdout.write(f"{AuditLink.objects.count():,} rows fit their chains.")
        removed = AuditAnchor.objects.aggregate(anchors=Count("id"), rows=Sum("rows"))
        if removed["anchors"]:
            self.stdout.write("{rows:,} older ones have {anchors:,} anchors.".format(**removed))
