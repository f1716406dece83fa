"""Figures of conversations in SQL: facts about each conversation, and metrics computed from facts.

No request can inject SQL: values are passed as parameters, names of columns come from this module,
and the API's schemas accept only known names for `sort`.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError, connections
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from chatplatform import replica
from chats.models import Conversation
from reports.schemas.adhoc import Grouping, ReportColumn
from reports.services.message_counts import STATS

log = logging.getLogger(__name__)
Row = dict[str, Any]


def _seconds(since: str, until: str) -> str:
    # Faster than `extract`, which returns a numeric.
    return f"date_part('epoch', {until} - ({since}))"


# The columns of a conversation that the facts need.
_COLUMNS = (
    "id", "client_id", "chat_code", "created_at", "bot_id", "channel", "status", "assignee_id",
    "customer_id", "language", "tags", "sentiment", "handoff_reason", "handed_off_at",
    "first_response_at", "ended_at", "ended_by", "location", "last_seq",
)  # fmt: skip
# The facts about a conversation, and the SQL of each.
_FACTS = {
    **{name: f"chat.{name}" for name in (
        "id", "chat_code", "created_at", "bot_id", "channel", "status", "assignee_id",
        "customer_id", "language", "tags", "sentiment", "handoff_reason", "ended_at", "ended_by",
    )},
    "country": "chat.location ->> 'country'",
    "local": "chat.created_at AT TIME ZONE zone.name",
    "messages": "stats.messages",
    "credits_used": "stats.credits",
    "handed_off": "chat.handed_off_at IS NOT NULL",
    "bot_resolved": "chat.status = 'ended' AND chat.handed_off_at IS NULL AND NOT stats.has_agent",
    "first_response": _seconds("chat.created_at", "chat.first_response_at"),
    "bot_response": _seconds("chat.created_at", "stats.first_bot_message_at"),
    "person_response": _seconds(
        "CASE WHEN chat.handed_off_at <= stats.first_agent_message_at THEN chat.handed_off_at"
        " ELSE chat.created_at END",
        "stats.first_agent_message_at",
    ),
    "resolution": f"""CASE WHEN chat.status = 'ended'
        THEN {_seconds("chat.created_at", "chat.ended_at")} END""",
    "rating": "feedback.rating",
    # What messaging providers charged for: the number of messages by category, and their cost if
    # known.
    "charges": """(SELECT jsonb_object_agg(charge.category, charge) FROM (
        SELECT metadata #>> '{pricing,category}' AS category,
            sum((metadata #>> '{pricing,charged}')::int) AS messages,
            sum((metadata #>> '{pricing,cost}')::numeric) AS cost
        FROM chats_message WHERE conversation_id = chat.id AND metadata ? 'pricing' GROUP BY 1
    ) charge)""",
}  # fmt: skip
_SOURCE = f"""
    FROM chat CROSS JOIN (SELECT %s AS name) zone
    {STATS}
    LEFT JOIN chats_feedback feedback
        ON feedback.conversation_id = chat.id AND feedback.message_id IS NULL
"""
_GROUPINGS: dict[Grouping, str] = {
    "day": "local::date",
    "week": "date_trunc('week', local)::date",
    "month": "date_trunc('month', local)::date",
    "hour": "extract(hour FROM local)::int",
    "weekday": "extract(isodow FROM local)::int",
    "bot": "bot_id",
    "channel": "channel",
    "agent": "assignee_id",
    "tag": "tag",
    "sentiment": "sentiment",
    "language": "language",
    "country": "country",
    "handoff_reason": "handoff_reason",
    "price_category": "charge.key",
}


def _percentile(share: str, of: str) -> str:
    return f"percentile_cont({share}) WITHIN GROUP (ORDER BY {of})"


def _duration_metrics(name: str) -> dict[str, str]:
    """Metrics of the duration in a column."""
    return {
        f"{name}_p50": _percentile("0.5", name),
        f"{name}_p90": _percentile("0.9", name),
        f"{name}_mean": f"avg({name})",
    }


# The metrics in `PageMetric`, and those of the overview alone.
_METRICS: dict[str, str] = {
    "chats": "count(*)",
    "messages": "coalesce(sum(messages), 0)::bigint",
    "customers": "count(DISTINCT customer_id)",
    "bot_resolved": "count(*) FILTER (WHERE bot_resolved)",
    "bot_resolved_share": "count(*) FILTER (WHERE bot_resolved)::float8 / nullif(count(*), 0)",
    "handed_off": "count(*) FILTER (WHERE handed_off)",
    "ended": "count(*) FILTER (WHERE status = 'ended')",
    "open": "count(*) FILTER (WHERE status <> 'ended')",
    **_duration_metrics("first_response"),
    **_duration_metrics("bot_response"),
    **_duration_metrics("person_response"),
    **_duration_metrics("resolution"),
    "rating_mean": "avg(rating)::float8",
    "rating_count": "count(rating)",
    "sentiment_positive": "count(*) FILTER (WHERE sentiment = 'positive')",
    "sentiment_neutral": "count(*) FILTER (WHERE sentiment = 'neutral')",
    "sentiment_negative": "count(*) FILTER (WHERE sentiment = 'negative')",
    "credits_used": "coalesce(sum(credits_used), 0)::bigint",
    "charged_messages": "coalesce(sum((charge.value ->> 'messages')::int), 0)::bigint",
    "message_cost": "sum((charge.value ->> 'cost')::numeric)::float8",
}
# Joins a row for each category of a conversation's charges, or one row with the sum of all.
_JOIN_EACH_CHARGE = " LEFT JOIN LATERAL jsonb_each(charges) charge ON true"
_JOIN_CHARGE_SUM = """ LEFT JOIN LATERAL (
    SELECT jsonb_build_object('messages', sum((value ->> 'messages')::int),
        'cost', sum((value ->> 'cost')::numeric)) AS value
    FROM jsonb_each(charges)
) charge ON true"""
# The decimal places of figures, if not three. A message may cost less than a cent.
_DECIMALS = {"message_cost": 6}
_CHARGE_METRICS = {"charged_messages", "message_cost"}
# The columns of a report with a row for each conversation: name, heading, type, unit, SQL.
_CHAT: tuple[tuple[ReportColumn, str], ...] = tuple(
    (ReportColumn(name=name, label=label, type=kind, unit=unit), sql)
    for name, label, kind, unit, sql in (
        ("chat_id", gettext_noop("Conversation"), "text", None, "id::text"),
        ("chat_code", gettext_noop("Code"), "text", None, "chat_code"),
        ("created_at", gettext_noop("Started"), "moment", None, "created_at"),
        ("bot", gettext_noop("Bot"), "number", None, "bot_id"),
        ("channel", gettext_noop("Channel"), "text", None, "channel"),
        ("status", gettext_noop("Status"), "text", None, "status"),
        ("agent", gettext_noop("Agent"), "number", None, "assignee_id"),
        ("language", gettext_noop("Language"), "text", None, "language"),
        ("tags", gettext_noop("Tags"), "texts", None, "tags"),
        ("sentiment", gettext_noop("Sentiment"), "text", None, "sentiment"),
        ("country", gettext_noop("Country"), "text", None, "country"),
        ("messages", gettext_noop("Messages"), "number", None, "messages"),
        ("handed_off", gettext_noop("Handed over"), "boolean", None, "handed_off"),
        ("bot_resolved", gettext_noop("Resolved by the bot"), "boolean", None, "bot_resolved"),
        ("first_response", gettext_noop("First response"), "number", "seconds", "first_response"),
        ("resolution", gettext_noop("Conversation duration"), "number", "seconds", "resolution"),
        ("ended_at", gettext_noop("Ended"), "moment", None, "ended_at"),
        ("ended_by", gettext_noop("Ended by"), "text", None, "ended_by"),
        ("rating", gettext_noop("Rating"), "number", "stars", "rating"),
        ("credits_used", gettext_noop("Credits"), "number", "credits", "credits_used"),
    )
)
CHAT_COLUMNS = tuple(column for column, _ in _CHAT)


def chats(chosen: QuerySet[Conversation], *, zone: str, newest_first: bool) -> list[Row]:
    """A row for each of the chosen conversations."""
    columns = ", ".join(f"{sql} AS {column.name}" for column, sql in _CHAT)
    direction = "DESC" if newest_first else ""
    order = f"ORDER BY facts.created_at {direction}, facts.id {direction}"
    return list(_rows(chosen, zone, f"SELECT {columns} FROM facts {order}"))


@dataclass(frozen=True)
class Table:
    """A table with a row of figures for each group of conversations or, without `group_by`, one row
    of totals."""

    metrics: Sequence[str]
    group_by: Sequence[Grouping] = ()
    sort: str | None = None
    skip: int = 0
    limit: int | None = None
    # Counts only conversations that were handed over.
    is_handed_off: bool = False


def tables(
    chosen: QuerySet[Conversation], named_tables: Mapping[str, Table], *, zone: str
) -> dict[str, list[Row]]:
    """The rows of several tables, by name, with dates as strings. One statement computes them all,
    so that each conversation is read only once."""
    columns = [
        f"(SELECT coalesce(json_agg(line), '[]') FROM ({_table_sql(table)}) line) AS {name}"
        for name, table in named_tables.items()
    ]
    (result,) = _rows(chosen, zone, f"SELECT {', '.join(columns)}")
    return {name: [_rounded_row(row) for row in rows] for name, rows in result.items()}


def stream_rows(chosen: QuerySet[Conversation], table: Table, *, zone: str) -> Iterator[Row]:
    """The rows of a table one by one, for a file; they are never all in memory."""
    return _rows(chosen, zone, _table_sql(table), chunked=True)


def count_groups(chosen: QuerySet[Conversation], *, zone: str, group_by: Sequence[Grouping]) -> int:
    """The number of groups of the chosen conversations."""
    groups = _table_sql(Table((), group_by))
    (row,) = _rows(chosen, zone, f"SELECT count(*) AS groups FROM ({groups}) grouped")
    return int(row["groups"])


def _table_sql(table: Table) -> str:
    columns = [f'{_GROUPINGS[name]} AS "{name}"' for name in table.group_by]
    columns += [f'{_METRICS[name]} AS "{name}"' for name in table.metrics]
    sql = f"SELECT {', '.join(columns)} FROM facts"
    if "tag" in table.group_by:
        sql += " LEFT JOIN LATERAL unnest(tags) tag ON true"
    if "price_category" in table.group_by:
        sql += _JOIN_EACH_CHARGE
    elif _CHARGE_METRICS & set(table.metrics):
        sql += _JOIN_CHARGE_SUM
    if table.is_handed_off:
        sql += " WHERE handed_off"
    if table.group_by:
        names = [f'"{name}"' for name in table.group_by]
        numbers = ", ".join(str(number + 1) for number in range(len(names)))
        direction = "DESC" if table.sort and table.sort.startswith("-") else "ASC"
        first = [f'"{table.sort.lstrip("-")}" {direction} NULLS LAST'] if table.sort else []
        sql += f" GROUP BY {numbers} ORDER BY {', '.join([*first, *names])}"
    if table.limit is not None:
        sql += f" LIMIT {int(table.limit)} OFFSET {int(table.skip)}"
    return sql


def _rows(
    chosen: QuerySet[Conversation], zone: str, sql: str, *, chunked: bool = False
) -> Iterator[Row]:
    """The rows of a statement over `facts`, of which only those in the statement are computed.
    Floats are rounded to three decimals, and costs to six."""
    chats, parameters = chosen.values(*_COLUMNS).query.sql_with_params()
    used = set(re.findall(r"\w+", sql))
    columns = ", ".join(f"{fact} AS {name}" for name, fact in _FACTS.items() if name in used)
    facts = f"WITH chat AS ({chats}), facts AS (SELECT {columns or 'chat.id'} {_SOURCE})"
    with _executed(f"{facts} {sql}", [*parameters, zone], chunked=chunked) as cursor:
        assert cursor.description
        names = [column.name for column in cursor.description]
        for values in cursor:
            yield _rounded_row(dict(zip(names, values, strict=True)))


def _executed(statement: str, parameters: list[Any], *, chunked: bool) -> Any:
    """A cursor over the result of a statement, run on the replica if it is usable, otherwise on the
    primary database."""
    alias = replica.alias()
    if alias != replica.PRIMARY:
        try:
            return _cursor(alias, statement, parameters, chunked=chunked)
        except (OperationalError, InterfaceError) as exc:
            log.warning("a report is read from the primary database: %s", exc)
            replica.record_failure()
    return _cursor(replica.PRIMARY, statement, parameters, chunked=chunked)


def _cursor(alias: str, statement: str, parameters: list[Any], *, chunked: bool) -> Any:
    connection = connections[alias]
    cursor = connection.chunked_cursor() if chunked else connection.cursor()
    try:
        cursor.execute(statement, parameters)
    except BaseException:
        cursor.close()
        raise
    return cursor


def _rounded_row(row: Row) -> Row:
    return {
        name: round(value, _DECIMALS.get(name, 3)) if isinstance(value, float) else value
        for name, value in row.items()
    }
