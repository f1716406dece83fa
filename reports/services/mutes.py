"""Muted warnings: still listed, and no longer on the home, until a time."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import Invalid
from identity.models import Client, User
from identity.services import audit
from reports.models import WarningMute
from reports.shapes.warnings import WarningCode

LONGEST = timedelta(days=30)


def mute(client: Client, code: WarningCode, *, until: datetime | None, by: User) -> None:
    """Mute a warning until a time, or no longer (None); 422 for a time that is past or too late."""
    now = timezone.now()
    if until and not now < until <= now + LONGEST:
        msg = f"A time within the next {LONGEST.days} days."
        raise Invalid.field("body", "until", msg=msg)
    rows = WarningMute.objects.for_client(client)
    with transaction.atomic():
        if until is None:
            rows.filter(code=code).delete()
        else:
            told = {"until": until, "muted_by": by}
            rows.update_or_create(client=client, code=code, defaults=told)
        audit.record(
            client.pk,
            "warning.muted" if until else "warning.unmuted",
            by=by,
            subject=f"warning:{code}",
            changes={"until": until.isoformat()} if until else {},
        )


def current(client: Client) -> dict[str, WarningMute]:
    """The mutes of a client that have not ended, by the code of their warning."""
    rows = WarningMute.objects.for_client(client).filter(until__gt=timezone.now())
    return {row.code: row for row in rows.select_related("muted_by")}
