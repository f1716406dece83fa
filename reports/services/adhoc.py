"""Ad-hoc reports: the conversations that a report covers, and the table that it shows."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import Func

from bots.models import Bot
from chatplatform.api.errors import Invalid
from chatplatform.api.pagination import decode_cursor, decode_numbers, encode_cursor, list_key
from chatplatform.api.schemas import iso
from chats.models import Conversation, Feedback
from chats.services.core import tags
from chats.services.desk import inbox, report_filters
from identity.models import Client, User
from reports.schemas import adhoc as schemas
from reports.services import chat_sql, formatting, periods
from reports.services.chat_sql import CHAT_COLUMNS, Row
from reports.services.periods import Period

# The maximum number of options offered for one filter.
_MAX_OPTIONS = 200
_DATES, _NUMBERS = {"day", "week", "month"}, {"hour", "weekday", "bot", "agent"}
# The rows of a page, the totals of the whole table, and the cursor of the next page, if any.
_TablePage = tuple[list[Row], Row, str | None]


# --- the conversations ------------------------------------------------------------------------


def in_period(client: Client, period: Period) -> QuerySet[Conversation]:
    """The conversations that were created in a period, except the team's previews."""
    return Conversation.objects.for_client(client).filter(
        is_preview=False, created_at__gte=period.begins_at, created_at__lt=period.ends_at
    )


def choose(client: Client, param: schemas.AdhocQuestion, period: Period) -> QuerySet[Conversation]:
    """The conversations that a report covers."""
    filters = {
        "bot__in": param.bot_ids, "channel__in": param.channels, "status__in": param.statuses,
        "assignee__in": param.assignee_ids,
        "tags__overlap": tags.canonical_names(client.pk, param.tags),
        "sentiment__in": param.sentiments, "language__in": param.languages,
        "ended_by__in": param.ended_by, "location__country__in": param.countries,
    }  # fmt: skip
    rows = in_period(client, period).filter(
        **{key: value for key, value in filters.items() if value}
    )
    if param.bot_resolved is not None:
        resolved = report_filters.solved_by_bot()
        rows = rows.filter(resolved if param.bot_resolved else ~resolved)
    if param.handed_off is not None:
        rows = rows.filter(handed_off_at__isnull=not param.handed_off)
    rows = _rated(rows, param)
    return rows.filter(pk__in=inbox.search(client, param.q)) if param.q else rows


def _rated(rows: QuerySet[Conversation], param: schemas.AdhocQuestion) -> QuerySet[Conversation]:
    """The conversations that match the report's filters on the customer's rating."""
    if param.has_feedback is param.rating_min is param.rating_max is None:
        return rows
    rated = Feedback.objects.filter(conversation=OuterRef("pk"), message=None)
    if param.has_feedback is not None:
        rows = rows.filter(Exists(rated) if param.has_feedback else ~Exists(rated))
    bounds = {"rating__gte": param.rating_min, "rating__lte": param.rating_max}
    limits = {key: value for key, value in bounds.items() if value is not None}
    return rows.filter(Exists(rated.filter(**limits))) if limits else rows


def options(client: Client, query: schemas.PeriodQuery) -> schemas.AdhocFilterOptions:
    """The values to filter a period's conversations by, each with its number of conversations."""
    rows = in_period(client, periods.resolve(client, query))
    return schemas.AdhocFilterOptions(
        bots=_named_options(rows, "bot_id", "bot__bot_name"),
        assignees=_named_options(rows, "assignee_id", "assignee__full_name"),
        channels=_options(rows, "channel"),
        statuses=_options(rows, "status"),
        tags=_options(rows.annotate(tag=Func(F("tags"), function="unnest")), "tag"),
        sentiments=_options(rows, "sentiment"),
        languages=_options(rows, "language"),
        ended_by=_options(rows, "ended_by"),
        countries=_options(rows, "location__country"),
    )


def _options(rows: QuerySet[Conversation], column: str) -> list[schemas.FilterOption]:
    counts = rows.values_list(column).annotate(chats=Count("pk", distinct=True))
    return [
        schemas.FilterOption(value=str(value), label=str(value), chats=chats)
        for value, chats in counts.order_by("-chats", column)[:_MAX_OPTIONS]
        if value not in (None, "")
    ]


def _named_options(
    rows: QuerySet[Conversation], column: str, name: str
) -> list[schemas.NumberedOption]:
    counts = rows.exclude(**{column: None}).values_list(column, name).annotate(chats=Count("pk"))
    return [
        schemas.NumberedOption(id=pk, name=label or "", chats=chats)
        for pk, label, chats in counts.order_by("-chats", column)[:_MAX_OPTIONS]
    ]


# --- the table ----------------------------------------------------------------------------------


def search(client: Client, param: schemas.SearchAdhocReportParam) -> schemas.AdhocReport:
    """A page of a report's table, and the totals of the whole table."""
    period = periods.resolve(client, param)
    chosen = choose(client, param, period)
    table_page = _groups if param.group_by else _chats
    rows, totals, next_cursor = table_page(chosen, param, period)
    return schemas.AdhocReport(
        columns=columns_of(param),
        rows=readable(client, param, rows),
        totals=_json_values(totals),
        next_cursor=next_cursor,
    )


def columns_of(param: schemas.AdhocQuestion) -> list[schemas.ReportColumn]:
    """The columns of a report, in order."""
    if not param.group_by:
        columns = list(CHAT_COLUMNS)
    else:
        columns = [_group_column(name) for name in param.group_by]
    for name in ("bot", "agent"):
        index = next((index for index, item in enumerate(columns) if item.name == name), None)
        if index is not None:
            label = formatting.label(f"{name}_name")
            column = schemas.ReportColumn(name=f"{name}_name", label=label, type="text")
            columns.insert(index + 1, column)
    return [*columns, *map(metric_column, param.metrics)] if param.group_by else columns


def readable(
    client: Client, param: schemas.AdhocQuestion, rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """The rows as JSON values, with their columns in order and the names of bots and agents."""
    names = {
        f"{kind}_name": names_of(client, kind, {row[kind] for row in rows if row.get(kind)})
        for kind in ("bot", "agent")
    }
    order = [column.name for column in columns_of(param)]
    return [
        {
            name: names[name].get(row[name.removesuffix("_name")]) if name in names else value
            for name in order
            for value in [row.get(name)]
        }
        for row in map(_json_values, rows)
    ]


def names_of(client: Client, kind: str, ids: Collection[Any]) -> dict[int, str]:
    """The names of a client's bots or agents, by id; `kind` is `bot` or `agent`."""
    model, name = (Bot, "bot_name") if kind == "bot" else (User, "full_name")
    rows = model._default_manager.filter(client=client, pk__in=ids)
    return dict(rows.values_list("pk", name)) if ids else {}


def previous_totals(client: Client, param: schemas.AdhocQuestion) -> Row:
    """The report's totals for the preceding period."""
    period = periods.resolve(client, param).before
    chosen = choose(client, param, period)
    tables = {"totals": chat_sql.Table(param.metrics)}
    return _json_values(chat_sql.tables(chosen, tables, zone=period.zone)["totals"][0])


def page_of_chats(
    chosen: QuerySet[Conversation], *, newest_first: bool, after: Sequence[Any] | None, limit: int
) -> QuerySet[Conversation]:
    """At most `limit` of the chosen conversations, by creation time. `after` is the `created_at`
    and the id of the previous page's last conversation."""
    sign, lookup = ("-", "lt") if newest_first else ("", "gt")
    if after:
        at, pk = after
        is_next = Q(**{f"created_at__{lookup}": at}) | Q(created_at=at, **{f"pk__{lookup}": pk})
        chosen = chosen.filter(is_next)
    return chosen.order_by(f"{sign}created_at", f"{sign}pk")[:limit]


def _chats(
    chosen: QuerySet[Conversation], param: schemas.SearchAdhocReportParam, period: Period
) -> _TablePage:
    sort = param.sort or schemas.ROW_SORTS[0]
    order, newest_first = [sort, "id"], sort == "-created_at"
    key = list_key(param)
    after = _position(param.cursor, order, key) if param.cursor else None
    page = page_of_chats(chosen, newest_first=newest_first, after=after, limit=param.limit + 1)
    rows = chat_sql.chats(page, zone=period.zone, newest_first=newest_first)
    totals = chat_sql.tables(chosen, {"totals": chat_sql.Table(param.metrics)}, zone=period.zone)
    shown = rows[: param.limit]
    next_cursor = None
    if len(rows) > param.limit:
        last = shown[-1]
        at = last["created_at"].isoformat()
        next_cursor = encode_cursor(Conversation, order, [at, last["chat_id"]], key=key)
    return shown, totals["totals"][0], next_cursor


def _position(cursor: str, order: list[str], key: str) -> list[Any]:
    at, pk = decode_cursor(cursor, Conversation, order, key=key)
    try:
        return [datetime.fromisoformat(at), pk]
    except (TypeError, ValueError) as exc:
        raise Invalid.field(
            "body", "cursor", msg="This cursor does not belong to this report."
        ) from exc


def _groups(
    chosen: QuerySet[Conversation], param: schemas.SearchAdhocReportParam, period: Period
) -> _TablePage:
    # Each page computes all groups anyway, so the cursor can be an offset.
    order, key = [f"groups of {param.group_by} by {param.sort}"], list_key(param)
    (skip,) = decode_numbers(param.cursor, Conversation, order, key=key) if param.cursor else (0,)
    page = chat_sql.Table(param.metrics, param.group_by, param.sort, skip, param.limit + 1)
    tables = {"page": page, "totals": chat_sql.Table(param.metrics)}
    rows = chat_sql.tables(chosen, tables, zone=period.zone)
    shown, has_more = rows["page"][: param.limit], len(rows["page"]) > param.limit
    next_cursor = (
        encode_cursor(Conversation, order, [skip + len(shown)], key=key) if has_more else None
    )
    return shown, rows["totals"][0], next_cursor


def _group_column(name: str) -> schemas.ReportColumn:
    kind: Any = "date" if name in _DATES else "number" if name in _NUMBERS else "text"
    return schemas.ReportColumn(name=name, label=formatting.label(name), type=kind)


def metric_column(name: str) -> schemas.ReportColumn:
    """The column of a metric, with its unit; counts and shares have none."""
    unit: Any = formatting.unit_of(name)
    unit = None if unit == "share" else unit or None
    return schemas.ReportColumn(name=name, label=formatting.label(name), type="number", unit=unit)


def _json_values(row: Row) -> Row:
    """The row with dates and times as text."""
    return {name: _json_value(value) for name, value in row.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, date) else value
