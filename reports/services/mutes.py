"""Muted warnings, which are listed but not shown on the home page."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import Invalid
from identity.models import Client, User
from identity.services import audit
from reports.models import WarningMute
from reports.schemas.warnings import WarningCode

MAX_PERIOD = timedelta(days=30)


def mute(client: Client, code: WarningCode, *, until: datetime | None, by: User) -> None:
    """Mute a kind of warning until `until`, or unmute it if that is None. 422 unless the time is
    within the next 30 days."""
    now = timezone.now()
    if until and not now < until <= now + MAX_PERIOD:
        msg = f"A time within the next {MAX_PERIOD.days} days."
        raise Invalid.field("body", "until", msg=msg)
    rows = WarningMute.objects.for_client(client)
    with transaction.atomic():
        if until is None:
            rows.filter(code=code).delete()
        else:
            values = {"muted_until": until, "muted_by": by}
            rows.update_or_create(client=client, code=code, defaults=values)
        audit.record(
            client.pk,
            "warning.muted" if until else "warning.unmuted",
            by=by,
            subject=f"warning:{code}",
            changes={"until": until.isoformat()} if until else {},
        )


def current(client: Client) -> dict[str, WarningMute]:
    """The client's current mutes, by warning code."""
    rows = WarningMute.objects.for_client(client).filter(muted_until__gt=timezone.now())
    return {row.code: row for row in rows.select_related("muted_by")}
