"""Figures of chats in SQL: what is known of each chat, and what groups and totals make of it.

Names of columns come from the tables here, values from parameters: nothing of a request is SQL.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from chats.models import Conversation
from reports.services.chat_figures import SAID
from reports.shapes.adhoc import Grouping, ReportColumn

Row = dict[str, Any]

_FACTS = f"""
WITH chosen(id) AS ({{chosen}}),
facts AS (
    SELECT chat.id, chat.chat_code, chat.created_at, chat.bot_id, chat.channel, chat.status,
        chat.assignee_id, chat.customer_id, chat.language, chat.tags, chat.sentiment,
        chat.handoff_reason,
        chat.ended_at, chat.ended_by, chat.location ->> 'country' AS country,
        chat.created_at AT TIME ZONE %s AS local,
        said.messages, said.credits AS credits_used,
        chat.handed_off_at IS NOT NULL AS handed_off,
        chat.status = 'ended' AND chat.handed_off_at IS NULL
            AND NOT said.has_agent AS bot_resolved,
        extract(epoch FROM chat.first_response_at - chat.created_at)::float8 AS first_response,
        extract(epoch FROM said.bot_at - chat.created_at)::float8 AS bot_response,
        extract(epoch FROM said.person_at
            - CASE WHEN chat.handed_off_at <= said.person_at THEN chat.handed_off_at
                ELSE chat.created_at END)::float8 AS person_response,
        CASE WHEN chat.status = 'ended'
            THEN extract(epoch FROM chat.ended_at - chat.created_at)::float8 END AS resolution,
        feedback.rating
    FROM chosen JOIN chats_conversation chat ON chat.id = chosen.id
    {SAID}
    LEFT JOIN chats_feedback feedback
        ON feedback.conversation_id = chat.id AND feedback.message_id IS NULL
)
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
}


def _percentile(share: str, of: str) -> str:
    return f"percentile_cont({share}) WITHIN GROUP (ORDER BY {of})"


def _times(name: str) -> dict[str, str]:
    """How long something took: `name` is its column."""
    return {
        f"{name}_p50": _percentile("0.5", name),
        f"{name}_p90": _percentile("0.9", name),
        f"{name}_mean": f"avg({name})",
    }


# Those of `Metric`, and what the overview shows beside them.
_METRICS: dict[str, str] = {
    "chats": "count(*)",
    "messages": "coalesce(sum(messages), 0)::bigint",
    "customers": "count(DISTINCT customer_id)",
    "bot_resolved": "count(*) FILTER (WHERE bot_resolved)",
    "handed_off": "count(*) FILTER (WHERE handed_off)",
    "ended": "count(*) FILTER (WHERE status = 'ended')",
    "open": "count(*) FILTER (WHERE status <> 'ended')",
    **_times("first_response"),
    **_times("bot_response"),
    **_times("person_response"),
    **_times("resolution"),
    "rating_mean": "avg(rating)::float8",
    "rating_count": "count(rating)",
    "sentiment_positive": "count(*) FILTER (WHERE sentiment = 'positive')",
    "sentiment_neutral": "count(*) FILTER (WHERE sentiment = 'neutral')",
    "sentiment_negative": "count(*) FILTER (WHERE sentiment = 'negative')",
    "credits_used": "coalesce(sum(credits_used), 0)::bigint",
}
# The columns of a row that is a chat: name, heading, type, unit, SQL.
_CHAT: tuple[tuple[ReportColumn, str], ...] = tuple(
    (ReportColumn(name=name, label=label, type=kind, unit=unit), sql)
    for name, label, kind, unit, sql in (
        ("chat_id", "Chat", "text", None, "id::text"),
        ("chat_code", "Code", "text", None, "chat_code"),
        ("created_at", "Began at", "moment", None, "created_at"),
        ("bot", "Bot", "number", None, "bot_id"),
        ("channel", "Channel", "text", None, "channel"),
        ("status", "Status", "text", None, "status"),
        ("agent", "Agent", "number", None, "assignee_id"),
        ("language", "Language", "text", None, "language"),
        ("tags", "Tags", "texts", None, "tags"),
        ("sentiment", "Sentiment", "text", None, "sentiment"),
        ("country", "Country", "text", None, "country"),
        ("messages", "Messages", "number", None, "messages"),
        ("handed_off", "Handed off", "boolean", None, "handed_off"),
        ("bot_resolved", "Resolved by the bot", "boolean", None, "bot_resolved"),
        ("first_response", "First response", "number", "seconds", "first_response"),
        ("resolution", "Time to the end", "number", "seconds", "resolution"),
        ("ended_at", "Ended at", "moment", None, "ended_at"),
        ("ended_by", "Ended by", "text", None, "ended_by"),
        ("rating", "Rating", "number", "stars", "rating"),
        ("credits_used", "Credits", "number", "credits", "credits_used"),
    )
)
CHAT_COLUMNS = tuple(column for column, _ in _CHAT)


def chats(chosen: QuerySet[Conversation], *, zone: str, newest_first: bool) -> list[Row]:
    """A row for each of the chosen chats."""
    shown = ", ".join(f"{sql} AS {column.name}" for column, sql in _CHAT)
    way = "DESC" if newest_first else ""
    order = f"ORDER BY facts.created_at {way}, facts.id {way}"
    return list(_rows(chosen, zone, f"SELECT {shown} FROM facts {order}"))


def groups(
    chosen: QuerySet[Conversation],
    *,
    zone: str,
    group_by: Sequence[Grouping],
    metrics: Sequence[str],
    sort: str | None = None,
    skip: int = 0,
    limit: int | None = None,
) -> list[Row]:
    """A row for each group of the chosen chats; without groups one row of totals."""
    sql = _groups_sql(group_by, metrics, sort)
    if limit is not None:
        sql += f" LIMIT {int(limit)} OFFSET {int(skip)}"
    return list(_rows(chosen, zone, sql))


def each_group(
    chosen: QuerySet[Conversation],
    *,
    zone: str,
    group_by: Sequence[Grouping],
    metrics: Sequence[str],
    sort: str | None,
) -> Iterator[Row]:
    """The same rows one by one, for a file: the database holds those that were not read yet."""
    return _rows(chosen, zone, _groups_sql(group_by, metrics, sort), chunked=True)


def count_groups(chosen: QuerySet[Conversation], *, zone: str, group_by: Sequence[Grouping]) -> int:
    """How many groups there are."""
    groups = _groups_sql(group_by, (), None)
    (row,) = _rows(chosen, zone, f"SELECT count(*) AS groups FROM ({groups}) grouped")
    return int(row["groups"])


def _groups_sql(group_by: Sequence[Grouping], metrics: Sequence[str], sort: str | None) -> str:
    columns = [f'{_GROUPINGS[name]} AS "{name}"' for name in group_by]
    columns += [f'{_METRICS[name]} AS "{name}"' for name in metrics]
    source = "facts LEFT JOIN LATERAL unnest(tags) tag ON true" if "tag" in group_by else "facts"
    sql = f"SELECT {', '.join(columns)} FROM {source}"
    if group_by:
        names = [f'"{name}"' for name in group_by]
        numbers = ", ".join(str(number + 1) for number in range(len(names)))
        way = "DESC" if sort and sort.startswith("-") else "ASC"
        first = [f'"{sort.lstrip("-")}" {way} NULLS LAST'] if sort else []
        sql += f" GROUP BY {numbers} ORDER BY {', '.join([*first, *names])}"
    return sql


def _rows(
    chosen: QuerySet[Conversation], zone: str, sql: str, *, chunked: bool = False
) -> Iterator[Row]:
    """Rows with fractions of three digits."""
    ids, parameters = chosen.values("pk").query.sql_with_params()
    facts = _FACTS.replace("{chosen}", ids)
    with connection.chunked_cursor() if chunked else connection.cursor() as cursor:
        cursor.execute(f"{facts} {sql}", [*parameters, zone])
        assert cursor.description
        names = [column.name for column in cursor.description]
        for values in cursor:
            yield dict(zip(names, map(_rounded, values), strict=True))


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
