"""Derives the delivery's next state and the endpoint's health from an attempt."""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from chatplatform.sql import fetch_row
from identity.models import Role, User
from identity.services import audit, mails
from webhooks.models import DeliveryState, DisabledReason, WebhookConfig
from webhooks.services import deliveries
from webhooks.transport import DeliveryRequest, Fault, Outcome, seconds_until_retry

# How long every delivery must have failed before owners are warned, and before the endpoint is
# switched off.
WARNED_AFTER = timedelta(days=3)
DISABLED_AFTER = timedelta(days=5)
_BREAKER_FAILURES = 5
_MAX_PAUSE_SECONDS = 60
_MAX_RETRY_AFTER_SECONDS = 3600  # a longer Retry-After pauses the endpoint only this long

_RECORD_FAILURES = """
UPDATE webhooks_webhookconfig
SET consecutive_failures = consecutive_failures + %(count)s,
    failing_since = COALESCE(failing_since, statement_timestamp()),
    paused_until = GREATEST(paused_until,
        statement_timestamp() + make_interval(secs => %(retry_after)s),
        CASE WHEN consecutive_failures + %(count)s >= %(limit)s THEN statement_timestamp()
            + make_interval(secs => LEAST(%(longest)s,
                5 * power(2, LEAST(consecutive_failures + %(count)s - %(limit)s, 10)))) END)
WHERE id = %(config)s
RETURNING statement_timestamp() - failing_since, warned_at
"""


def next_state(request: DeliveryRequest, outcome: Outcome) -> tuple[DeliveryState, float | None]:
    """A delivery's state after an attempt, and the seconds until the next attempt; None if no
    attempt follows."""
    if outcome.error is None:
        return DeliveryState.SUCCEEDED, None
    if request.is_test or outcome.error is Fault.GONE:
        return DeliveryState.GAVE_UP, None
    wait = seconds_until_retry(request.tries, outcome)
    return (DeliveryState.GAVE_UP if wait is None else DeliveryState.FAILED), wait


def affects_endpoint(request: DeliveryRequest, outcome: Outcome) -> bool:
    """Whether an attempt may change the endpoint's health.

    A success changes nothing if the endpoint was healthy, and a failed test never does. For a
    failed test of a failing endpoint, this returns True, but `record` ignores the test.
    """
    return request.endpoint_was_failing or (outcome.error is not None and not request.is_test)


def lock(config_ids: Collection[uuid.UUID]) -> None:
    """Lock these endpoints, always in the same order, so that transactions cannot deadlock."""
    if config_ids:
        rows = WebhookConfig.objects.select_for_update(no_key=True).filter(pk__in=config_ids)
        list(rows.order_by("id").values_list("pk"))


def record(ended: Sequence[tuple[DeliveryRequest, Outcome]]) -> set[uuid.UUID]:
    """Update the health of the endpoints of these attempts. The caller has locked the endpoints.

    Failed tests are ignored. Returns the ids of the endpoints at which nothing succeeded.
    """
    outcomes: dict[uuid.UUID, list[Outcome]] = {}
    for request, outcome in ended:
        if outcome.error is None or not request.is_test:
            outcomes.setdefault(request.config_id, []).append(outcome)
    healthy = {
        pk for pk, results in outcomes.items() if any(result.error is None for result in results)
    }
    if healthy:
        WebhookConfig.objects.filter(pk__in=healthy).update(**deliveries.HEALTHY)
    failing = set(outcomes) - healthy
    for config_id in sorted(failing):
        _record_failures(config_id, outcomes[config_id])
    return failing


def _record_failures(config_id: uuid.UUID, failures: Sequence[Outcome]) -> None:
    retry_after = max((outcome.retry_after or 0.0 for outcome in failures), default=0.0)
    row = fetch_row(
        _RECORD_FAILURES,
        {
            "config": config_id,
            "count": len(failures),
            "retry_after": min(retry_after, _MAX_RETRY_AFTER_SECONDS),
            "limit": _BREAKER_FAILURES,
            "longest": _MAX_PAUSE_SECONDS,
        },
    )
    if row is None:
        return
    failing_for, warned_at = row
    if any(outcome.error is Fault.GONE for outcome in failures):
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
    deliveries.enqueue_give_up(config)
    audit.record(
        config.client_id, "webhook.disabled", by=None, subject=f"webhook:{config_id}",
        changes={"reason": str(reason)},
    )  # fmt: skip
    _mail_owners(config, "webhook_disabled", {"reason": reason, "config_id": config_id})


def _warn(config_id: uuid.UUID, warned_at: datetime | None) -> None:
    unwarned = WebhookConfig.objects.filter(pk=config_id, warned_at=None)
    if warned_at is None and unwarned.update(warned_at=Now()):
        config = WebhookConfig.objects.get(pk=config_id)
        since = f"{config.failing_since:%Y-%m-%d %H:%M}"
        _mail_owners(config, "webhook_failing", {"since": since})


def _mail_owners(config: WebhookConfig, kind: str, context: dict[str, Any]) -> None:
    """Mail the client's owners, each in a separate job: if one address is refused, only its mail is
    retried."""
    owners = User.objects.for_client(config.client).filter(role=Role.OWNER, is_disabled=False)
    for owner in owners.order_by("id"):
        # The query is left out, since it may contain the receiver's token.
        values = {"company": config.client.name, "url": config.url.partition("?")[0], **context}
        mails.send_to(owner, kind, values)
