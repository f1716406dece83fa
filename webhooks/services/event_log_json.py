"""Events of the log as JSON that PostgreSQL builds; most are not parsed in Python.

The keys of `AS_JSON` are the fields of the schema `Event`.
"""

from typing import Any

import orjson
from django.db.models import BooleanField, QuerySet, TextField
from django.db.models.expressions import RawSQL

from chatplatform.api import pagination
from chatplatform.sql import iso_time
from webhooks.models import Event, FeedEntry
from webhooks.schemas import webhook as webhook_schemas

_EVENT_ID = "'evt_' || replace({}::text, '-', '')"
# The columns with the result of an attempt.
_OUTCOME = """http_status, duration_ms, error,
    CASE WHEN http_status <> 0 THEN response_excerpt END AS response_excerpt"""
_ATTEMPTS = f"""(SELECT coalesce(json_agg(row_to_json(tried) ORDER BY tried.attempt), '[]') FROM (
    SELECT number AS attempt, {_OUTCOME}, {iso_time("created_at")} AS created_at
    FROM webhooks_deliveryattempt WHERE delivery_id = delivery.id
) tried)"""
_DELIVERIES = f"""(SELECT coalesce(json_agg(row_to_json(shown) ORDER BY shown.id), '[]') FROM (
    SELECT delivery.id, delivery.config_id, {_EVENT_ID.format("delivery.event_id")} AS event_id,
        delivery.attempts AS attempt, delivery.state AS status,
        latest.http_status, latest.duration_ms, latest.error, latest.response_excerpt,
        CASE WHEN delivery.lease_token IS NULL THEN {iso_time("delivery.due_at")} END
            AS next_attempt_at,
        {_ATTEMPTS} AS attempts, {iso_time("delivery.created_at")} AS created_at
    FROM webhooks_delivery delivery
    LEFT JOIN LATERAL (
        SELECT {_OUTCOME} FROM webhooks_deliveryattempt WHERE delivery_id = delivery.id
        ORDER BY number DESC LIMIT 1
    ) latest ON true
    WHERE delivery.event_id = webhooks_event.id
) shown)"""
AS_JSON = f"""(SELECT row_to_json(shown)::text FROM (
    SELECT {_EVENT_ID.format("webhooks_event.id")} AS id, webhooks_event.type,
        {iso_time("webhooks_event.created_at")} AS timestamp, webhooks_event.client_id,
        webhooks_event.conversation_id, webhooks_event.sequence, webhooks_event.data,
        false AS is_thin, {_DELIVERIES} AS deliveries
) shown)"""
# False if an event is certainly not thin: PostgreSQL's JSON text is longer than ours, and the
# fields besides the data take less than 500 bytes.
_MAY_BE_THIN = f"octet_length(webhooks_event.data::text) > {webhook_schemas.MAX_BODY_BYTES - 500}"


def read(event: Event) -> dict[str, Any]:
    """An event with its deliveries, in the schema `Event`."""
    rows = Event.objects.filter(pk=event.pk).annotate(as_json=RawSQL(AS_JSON, [], TextField()))
    return _parsed(rows.values_list("as_json", flat=True).get())


def list_page(
    rows: QuerySet[FeedEntry], query: pagination.Page, *, by: str, resumable: bool
) -> dict[str, Any]:
    """One page of feed entries, each in the schema `Event`."""
    shown: QuerySet[Any] = rows.annotate(
        as_json=RawSQL(AS_JSON, [], TextField()),
        may_be_thin=RawSQL(_MAY_BE_THIN, [], BooleanField()),
    )
    return pagination.page(
        # Selecting the type joins the events' table, which omits entries of deleted events.
        shown.values_list("position", "as_json", "may_be_thin", "event__type", named=True),
        query,
        by=by,
        schema=_event,
        resumable=resumable,
    )


def _event(row: Any) -> Any:
    return _parsed(row.as_json) if row.may_be_thin else orjson.Fragment(row.as_json)


def _parsed(text: str) -> dict[str, Any]:
    event: dict[str, Any] = orjson.loads(text)
    return event | {"is_thin": webhook_schemas.is_thin(event)}
