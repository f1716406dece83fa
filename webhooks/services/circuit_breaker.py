"""How endpoints fare: what follows from attempts for a delivery, and for its endpoint."""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from chatplatform.jobs import enqueue
from identity.services import audit
from webhooks.delivery import DeliveryRequest, Fault, Outcome, seconds_until_retry
from webhooks.models import DeliveryState, DisabledReason, WebhookConfig
from webhooks.services import deliveries

# Days of nothing but failures.
WARNED_AFTER = timedelta(days=3)
DISABLED_AFTER = timedelta(days=5)
_BREAKER_FAILURES = 5
_LONGEST_PAUSE_SECONDS = 60
_LONGEST_ASKED_PAUSE_SECONDS = 3600  # by Retry-After, for the endpoint as a whole

_FAILED = """
UPDATE webhooks_webhookconfig
SET failures_in_row = failures_in_row + %(count)s,
    failing_since = COALESCE(failing_since, statement_timestamp()),
    paused_until = GREATEST(paused_until,
        statement_timestamp() + make_interval(secs => %(asked)s),
        CASE WHEN failures_in_row + %(count)s >= %(limit)s THEN statement_timestamp()
            + make_interval(secs => LEAST(%(longest)s,
                5 * power(2, LEAST(failures_in_row + %(count)s - %(limit)s, 10)))) END)
WHERE id = %(config)s
RETURNING statement_timestamp() - failing_since, warned_at
"""


def verdict(parcel: DeliveryRequest, outcome: Outcome) -> tuple[DeliveryState, float | None]:
    """A delivery's state after an attempt, and the seconds until the next; None: there is none."""
    if outcome.error is None:
        return DeliveryState.SUCCEEDED, None
    if parcel.is_test or outcome.error is Fault.GONE:
        return DeliveryState.GAVE_UP, None
    wait = seconds_until_retry(parcel.tries, outcome)
    return (DeliveryState.GAVE_UP if wait is None else DeliveryState.FAILED), wait


def affects_endpoint(parcel: DeliveryRequest, outcome: Outcome) -> bool:
    """Whether an attempt may change what is known of its endpoint.

    A success where none was missing does not; nor does a test that fails: whoever asked for it has
    the answer.
    """
    return parcel.is_of_struggling or (outcome.error is not None and not parcel.is_test)


def lock(config_ids: Collection[uuid.UUID]) -> None:
    """Lock endpoints that are about to be written, in one order for all."""
    if config_ids:
        rows = WebhookConfig.objects.select_for_update(no_key=True).filter(pk__in=config_ids)
        list(rows.order_by("id").values_list("pk"))


def note(ended: Sequence[tuple[DeliveryRequest, Outcome]]) -> set[uuid.UUID]:
    """Write down what attempts say of their endpoints, which are locked; returns who fails."""
    outcomes: dict[uuid.UUID, list[Outcome]] = {}
    for parcel, outcome in ended:
        if outcome.error is None or not parcel.is_test:
            outcomes.setdefault(parcel.config_id, []).append(outcome)
    well = {pk for pk, found in outcomes.items() if any(one.error is None for one in found)}
    if well:
        WebhookConfig.objects.filter(pk__in=well).update(**deliveries.HEALTHY)
    failing = set(outcomes) - well
    for config_id in sorted(failing):
        _note_failures(config_id, outcomes[config_id])
    return failing


def _note_failures(config_id: uuid.UUID, failures: Sequence[Outcome]) -> None:
    asked = max((one.retry_after or 0.0 for one in failures), default=0.0)
    with connection.cursor() as cursor:
        cursor.execute(
            _FAILED,
            {
                "config": config_id,
                "count": len(failures),
                "asked": min(asked, _LONGEST_ASKED_PAUSE_SECONDS),
                "limit": _BREAKER_FAILURES,
                "longest": _LONGEST_PAUSE_SECONDS,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return
    failing_for, warned_at = row
    if any(one.error is Fault.GONE for one in failures):
        _disable(config_id, DisabledReason.GONE)
    elif failing_for * settings.WEBHOOK_RETRY_SCALE >= DISABLED_AFTER:
        _disable(config_id, DisabledReason.FAILING)
    elif failing_for * settings.WEBHOOK_RETRY_SCALE >= WARNED_AFTER:
        _warn(config_id, warned_at)


def _disable(config_id: uuid.UUID, reason: DisabledReason) -> None:
    active = WebhookConfig.objects.filter(pk=config_id, is_active=True)
    if not active.update(is_active=False, disabled_reason=reason, disabled_at=Now()):
        return
    config = WebhookConfig.objects.get(pk=config_id)
    deliveries.begin_giving_up(config)
    audit.record(
        config.client_id, "webhook.disabled", by=None, subject=f"webhook:{config_id}",
        changes={"reason": str(reason)},
    )  # fmt: skip
    _tell_owners(config, "disabled")


def _warn(config_id: uuid.UUID, warned_at: datetime | None) -> None:
    unwarned = WebhookConfig.objects.filter(pk=config_id, warned_at=None)
    if warned_at is None and unwarned.update(warned_at=Now()):
        _tell_owners(WebhookConfig.objects.get(pk=config_id), "failing")


def _tell_owners(config: WebhookConfig, kind: str) -> None:
    enqueue(
        "webhooks.mail_owners",
        client_id=config.client_id,
        dedupe_key=f"{config.pk}:{kind}",
        config_id=str(config.pk),
        kind=kind,
    )
