"""The site's page of ad-hoc reports: filters, table, export and saved questions."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from chatplatform import replica
from chatplatform.api.errors import ApiError
from identity.models import Client, User
from identity.services import saved_views
from reports.models import Export
from reports.services import adhoc, charts, exports, formatting, periods
from reports.services.kpi_cards import compared
from reports.shapes import adhoc as shapes
from reports.views.page_frame import FIELDS, entered_dates, path_to, problems, show, viewer_of
from reports.views.report import download

_FIELDS = {name for name in shapes.SearchAdhocReportParam.model_fields if name != "timezone"}
_LISTS = {
    name for name, field in shapes.AdhocQuestion.model_fields.items()
    if get_origin(field.annotation) is list
}  # fmt: skip
_EITHER = ("handed_off", "bot_resolved", "has_feedback")
_TYPED = ("q", "rating_min", "rating_max")
# Filters with options, and the column whose labels their values share.
_CHOICES = {"bot_ids": "bot", "channels": "channel", "statuses": "status", "assignee_ids": "agent",
            "tags": "tag", "sentiments": "sentiment", "languages": "language",
            "ended_by": "ended_by", "countries": "country"}  # fmt: skip
# Questions that every client has, by name.
_READY: tuple[tuple[str, dict[str, Any]], ...] = (
    (gettext_noop("Team speed"), {
        "group_by": ["agent"], "sort": "person_response_p50",
        "metrics": ["chats", "person_response_p50", "person_response_p90", "rating_mean"],
    }),
    (gettext_noop("Bot quality"), {
        "group_by": ["week"], "metrics": ["bot_resolved_share", "chats", "handed_off",
                                          "rating_mean"],
    }),
    (gettext_noop("Busiest hours"), {"group_by": ["hour"], "metrics": ["chats", "messages"]}),
    (gettext_noop("Messaging costs"), {
        "group_by": ["month", "channel", "price_category"],
        "metrics": ["charged_messages", "message_cost"],
    }),
)  # fmt: skip
_TIMES = {"day", "week", "month", "hour", "weekday"}
# Columns that are not shown, since others show their names or links.
_HIDDEN = {"chat_id", "bot", "agent"}
_ROWS, _MOST_BARS = 100, 20
# Reports are saved as views of a list of this name, which colleagues share.
_SAVED = "reports.adhoc"
_NOT_IN_A_NAME = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')


def _asked(data: QueryDict) -> dict[str, Any]:
    """The values of the form, without empty fields."""
    found: dict[str, Any] = {}
    for name in _FIELDS & set(data):
        values = [value for value in data.getlist(name) if value]
        if values:
            found[name] = values if name in _LISTS else values[-1]
    return found


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The form, and the table that answers it."""
    user, client = viewer_of(request)
    asked = _asked(request.GET)
    try:
        param = shapes.PageReport.model_validate(asked | {"limit": _ROWS})
        as_of = replica.as_of()
        report = adhoc.search(client, param)
        before = adhoc.totals_before(client, param)
    except (ValidationError, ApiError) as exc:
        status = exc.status if isinstance(exc, ApiError) else 422
        context = _form(user, client, asked) | {"problems": problems(exc)}
        return show(request, "adhoc", context, status=status)
    context = _form(user, client, asked) | _table(report) | {
        "asked": _flat(asked), "as_of": as_of, **_chart(param, report),
        "totals": [compared(name, now, before[name]) for name, now in report.totals.items()],
    }  # fmt: skip
    if report.next_cursor:
        context["next"] = path_to("adhoc", asked | {"cursor": report.next_cursor})
    return show(request, "adhoc", context)


@require_POST
def export(request: HttpRequest) -> HttpResponseBase:
    """Export the report; a worker writes a large one."""
    user, client = viewer_of(request)
    asked = _asked(request.POST)
    asked.pop("cursor", None)
    try:
        param = shapes.PageReport.model_validate(
            asked | {"format": request.POST.get("format", "csv")}
        )
        columns = [one.name for one in adhoc.columns_of(param) if one.name not in _HIDDEN]
        named = {"columns": columns, "file_name": _file_name(user, client, asked, param)}
        param = param.model_copy(update=named)
        made = exports.start(client, param, by=user)
    except (ValidationError, ApiError) as exc:
        messages.error(request, " ".join(problems(exc)))
        return redirect(path_to("adhoc", asked))
    if isinstance(made, Export):
        return redirect(reverse("admin:reports_export_changelist"))
    return download(made, param.format, exports.file_name(param))


def _file_name(user: User, client: Client, asked: dict[str, Any], param: shapes.PageReport) -> str:
    """The name of the report, saved or from its groups, and its period."""
    title = next((name for _, name, _, is_shown in _reports(user, client, asked) if is_shown), "")
    title = _NOT_IN_A_NAME.sub(" ", title or _by(gettext("Conversations"), param.group_by))
    period = periods.resolve(client, param)
    return f"{title[:70]} {period.first} - {period.last}"


def _by(title: str, groups: Sequence[str]) -> str:
    """What a table or a chart shows, such as "Conversations by channel, day"."""
    if not groups:
        return title
    by = ", ".join(gettext(formatting.label(name)).lower() for name in groups)
    return gettext("{title} by {groups}").format(title=title, groups=by)


def _reports(
    user: User, client: Client, asked: dict[str, Any]
) -> list[tuple[int | None, str, str, bool]]:
    """The ready-made and saved reports: id (only if the viewer may delete it), name, link, and
    whether it is the one on the page."""
    saved = [
        (row.pk if may_delete else None, row.name, _asked(QueryDict(row.query)))
        for row, may_delete in saved_views.seen_by(user, _SAVED)
    ]
    ready = [(None, gettext(name), question) for name, question in _READY]
    now = {name: value for name, value in _lasting(client, asked).items() if name != "cursor"}
    return [
        (pk, name, path_to("adhoc", question), question == now)
        for pk, name, question in [*ready, *saved]
    ]


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the question under a name, or delete a saved one."""
    user, client = viewer_of(request)
    asked = _asked(request.POST)
    name = request.POST.get("name", "").replace("\x00", "").strip()
    deleted = request.POST.get("delete", "")
    if user.role == "viewer":
        messages.error(request, gettext("Viewers can't save reports."))
    elif not deleted and not 1 <= len(name) <= 80:
        messages.error(request, gettext("Enter a name of up to 80 characters."))
    else:
        query = urlencode(_lasting(client, asked), doseq=True)
        try:
            if deleted:
                saved_views.delete(user, int(deleted[:18]) if deleted.isdecimal() else 0)
            else:
                saved_views.save(user, _SAVED, name=name, query=query, is_shared=True)
        except ApiError as exc:
            messages.error(request, str(exc))
    return redirect(path_to("adhoc", asked))


def _lasting(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The question without default days, so that it means the latest days whenever it is asked."""
    _, usual = entered_dates(client, {})
    is_usual = all(asked.get(name) == day for name, day in usual.items())
    return {name: value for name, value in asked.items() if not (is_usual and name in usual)}


def _form(user: User, client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The form as filled in, even if it was refused, with the period's days."""
    period, dates = entered_dates(client, asked)
    options = adhoc.options(client, period)
    chosen = {name: asked.get(name, []) for name in _LISTS}
    metrics = asked.get("metrics", shapes.DEFAULT_METRICS)
    sorts = shapes.AdhocQuestion.model_construct(group_by=chosen["group_by"], metrics=metrics).sorts
    choices = [
        (name, gettext(FIELDS[name]),
         _options(client, name, getattr(options, name.replace("_ids", "s")), chosen[name]))
        for name in _CHOICES
    ]  # fmt: skip
    groups = (chosen["group_by"] + [""] * 3)[:3]
    return {
        "entered": asked | dates,
        "choices": choices,
        "either": [(name, gettext(FIELDS[name]), asked.get(name)) for name in _EITHER],
        "chips": list(_chips(asked, choices)),
        "groups": [
            [(name, gettext(formatting.label(name)), name == group)
             for name in get_args(shapes.Grouping)]
            for group in groups
        ],
        "metrics": [
            (name, gettext(formatting.label(name)), name in metrics)
            for name in sorted(
                shapes.PAGE_METRICS, key=lambda one: metrics.index(one) if one in metrics else 99
            )
        ],
        "sorts": [(name, _sort_words(name), name == asked.get("sort")) for name in sorts],
        "reports": _reports(user, client, asked),
    }  # fmt: skip


def _options(
    client: Client, name: str, rows: list[Any], chosen: list[str]
) -> list[tuple[str, str, int, bool]]:
    """The options of a filter: value, words, conversations, and whether it is chosen. Includes
    chosen values that do not occur in the period."""
    column = _CHOICES[name]
    found = {
        str(row.id) if isinstance(row, shapes.NumberedOption) else row.value: row for row in rows
    }
    gone = [value for value in chosen if value not in found]
    is_numbered = name.endswith("_ids")
    ids = [int(value) for value in gone if is_numbered and value.isdecimal()]
    names = {str(pk): words for pk, words in adhoc.names_of(client, column, ids).items()}
    names |= {value: row.name for value, row in found.items() if is_numbered}
    return [
        (
            value,
            names.get(value) or formatting.format_value(column, value),
            found[value].chats if value in found else 0,
            value in chosen,
        )
        for value in [*found, *gone]
    ]


def _chips(asked: dict[str, Any], choices: list[Any]) -> Iterator[tuple[str, str]]:
    """The active filters in words, each with the link to the report without it."""
    asked = {name: value for name, value in asked.items() if name != "cursor"}
    for name in _TYPED + _EITHER:
        if name in asked:
            words = {"true": gettext("yes"), "false": gettext("no")}.get(asked[name], asked[name])
            rest = {key: value for key, value in asked.items() if key != name}
            yield f"{gettext(FIELDS[name])}: {words}", path_to("adhoc", rest)
    for name, label, options in choices:
        for value, words, _, is_chosen in options:
            if is_chosen:
                rest = asked | {name: [one for one in asked[name] if one != value]}
                yield f"{label}: {words}", path_to("adhoc", rest)


def _sort_words(name: str) -> str:
    plain = gettext(formatting.label(name.lstrip("-")))
    if not name.startswith("-"):
        return plain
    return gettext("{column}, largest first").format(column=plain)


def _flat(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The question as hidden fields, without the cursor, as a file starts at the first row."""
    return [
        (name, value)
        for name, values in asked.items()
        if name != "cursor"
        for value in (values if isinstance(values, list) else [values])
    ]


def _table(report: shapes.AdhocReport) -> dict[str, Any]:
    shown = [column for column in report.columns if column.name not in _HIDDEN]
    return {
        "columns": [gettext(column.label) for column in shown],
        "rows": [
            [(formatting.format_value(column.name, row[column.name]), _path(row, column))
             for column in shown]
            for row in report.rows
        ],
    }  # fmt: skip


def _path(row: dict[str, Any], column: shapes.ReportColumn) -> str:
    is_code = column.name == "chat_code"
    return reverse("admin:chats_conversation_change", args=[row["chat_id"]]) if is_code else ""


def _chart(param: shapes.PageReport, report: shapes.AdhocReport) -> dict[str, Any]:
    """A chart of the groups by the figure that they are sorted by, or else by the first one.

    Times are columns side by side, other groups bars below each other.
    """
    by, sort = param.group_by, (param.sort or "").lstrip("-")
    if not by or not report.rows:
        return {}
    metric = sort if sort in param.metrics else param.metrics[0]
    is_time = set(by) <= _TIMES and len(by) == 1 and param.sort in {None, by[0]}
    rows = report.rows if is_time else report.rows[:_MOST_BARS]
    names = [f"{name}_name" if f"{name}_name" in report.rows[0] else name for name in by]
    columns = [
        charts.Column(" · ".join(formatting.format_value(name, row[name]) for name in names), value)
        for row in rows
        if isinstance(value := row[metric] or 0, (int, float))
    ]
    unit = gettext(formatting.label(metric))
    made = charts.chart(
        columns, unit=unit, axis=gettext(formatting.label(by[0])),
        shown=lambda value: formatting.format_value(metric, value),
    )  # fmt: skip
    bars = [
        (
            one.name,
            formatting.format_value(metric, row[metric]),
            round(100 * bar.height / charts.HEIGHT, 1),
        )
        for one, row, bar in zip(columns, rows, made.bars, strict=True)
    ]
    return {
        "chart_title": _by(unit, by), "bars": [] if is_time else bars,
        "chart": made if is_time else None, "width": charts.WIDTH, "height": charts.HEIGHT,
    }  # fmt: skip
