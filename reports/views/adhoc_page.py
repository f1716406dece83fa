"""The site's page of ad-hoc reports: filters, table, export and saved reports."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, get_args, get_origin
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from chatplatform import replica
from chatplatform.api.errors import ApiError
from identity.models import Client, User
from identity.services import saved_views
from reports.models import Export
from reports.schemas import adhoc as schemas
from reports.services import adhoc, charts, exports, formatting, periods
from reports.services.kpi_cards import compared
from reports.views.base import FIELDS, entered_dates, path_to, problems, show, viewer_of
from reports.views.report import download

_FIELDS = {name for name in schemas.SearchAdhocReportParam.model_fields if name != "timezone"}
_LISTS = {
    name for name, field in schemas.AdhocQuestion.model_fields.items()
    if get_origin(field.annotation) is list
}  # fmt: skip
_BOOLEAN_FIELDS = ("handed_off", "bot_resolved", "has_feedback")
_TEXT_FIELDS = ("q", "rating_min", "rating_max")
# The filters with options, and the column that has the same values and labels.
_CHOICES = {"bot_ids": "bot", "channels": "channel", "statuses": "status", "assignee_ids": "agent",
            "tags": "tag", "sentiments": "sentiment", "languages": "language",
            "ended_by": "ended_by", "countries": "country"}  # fmt: skip
# The reports that every client has: their names and parameters.
_BUILT_IN: tuple[tuple[str, dict[str, Any]], ...] = (
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
_TIME_GROUPS = {"day", "week", "month", "hour", "weekday"}
# Columns with ids. They are not shown, since other columns have the names or the links.
_HIDDEN = {"chat_id", "bot", "agent"}
_ROWS, _MAX_BARS = 100, 20
# Reports are stored as shared saved views with this list name.
_LIST_NAME = "reports.adhoc"
_INVALID_IN_FILE_NAME = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')


def _form_values(data: QueryDict) -> dict[str, Any]:
    """The submitted values of the form, without empty fields."""
    entered: dict[str, Any] = {}
    for name in _FIELDS & set(data):
        values = [value for value in data.getlist(name) if value]
        if values:
            entered[name] = values if name in _LISTS else values[-1]
    return entered


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The page with the form and the report's table; 422 if the form is invalid."""
    user, client = viewer_of(request)
    form_values = _form_values(request.GET)
    try:
        param = schemas.PageReport.model_validate(form_values | {"limit": _ROWS})
        as_of = replica.as_of()
        report = adhoc.search(client, param)
        before = adhoc.previous_totals(client, param)
    except (ValidationError, ApiError) as exc:
        status = exc.status if isinstance(exc, ApiError) else 422
        context = _form(user, client, form_values) | {"problems": problems(exc)}
        return show(request, "adhoc", context, status=status)
    context = _form(user, client, form_values) | _table(report) | {
        "asked": _hidden_fields(form_values), "as_of": as_of, **_chart(param, report),
        "totals": [compared(name, now, before[name]) for name, now in report.totals.items()],
    }  # fmt: skip
    if report.next_cursor:
        context["next"] = path_to("adhoc", form_values | {"cursor": report.next_cursor})
    return show(request, "adhoc", context)


@require_POST
def export(request: HttpRequest) -> HttpResponseBase:
    """Download the report as a file. A large one is written by a worker: redirect to the list of
    exports."""
    user, client = viewer_of(request)
    form_values = _form_values(request.POST)
    form_values.pop("cursor", None)
    try:
        param = schemas.PageReport.model_validate(
            form_values | {"format": request.POST.get("format", "csv")}
        )
        names = [column.name for column in adhoc.columns_of(param)]
        columns = [name for name in names if name not in _HIDDEN]
        named = {"columns": columns, "file_name": _file_name(user, client, form_values, param)}
        param = param.model_copy(update=named)
        exported = exports.start(client, param, by=user)
    except (ValidationError, ApiError) as exc:
        messages.error(request, " ".join(problems(exc)))
        return redirect(path_to("adhoc", form_values))
    if isinstance(exported, Export):
        return redirect(reverse("admin:reports_export_changelist"))
    return download(exported, param.format, exports.file_name(param))


def _file_name(
    user: User, client: Client, form_values: dict[str, Any], param: schemas.PageReport
) -> str:
    """The name of the file: the name of the saved report, or one made from the groups, and the
    period."""
    title = next(
        (name for _, name, _, is_shown in _reports(user, client, form_values) if is_shown), ""
    )
    title = _INVALID_IN_FILE_NAME.sub(
        " ", title or _title_by_groups(gettext("Conversations"), param.group_by)
    )
    period = periods.resolve(client, param)
    return f"{title[:70]} {period.first} - {period.last}"


def _title_by_groups(title: str, groups: Sequence[str]) -> str:
    """The title of a table or a chart, such as "Conversations by channel, day"."""
    if not groups:
        return title
    by = ", ".join(gettext(formatting.label(name)).lower() for name in groups)
    return gettext("{title} by {groups}").format(title=title, groups=by)


def _reports(
    user: User, client: Client, form_values: dict[str, Any]
) -> list[tuple[int | None, str, str, bool]]:
    """The built-in and the saved reports: id (None if the viewer may not delete it), name, link,
    and whether the report is on the page now."""
    saved = [
        (row.pk if may_delete else None, row.name, _form_values(QueryDict(row.query)))
        for row, may_delete in saved_views.visible_to(user, _LIST_NAME)
    ]
    built_in = [(None, gettext(name), question) for name, question in _BUILT_IN]
    shown = {
        name: value
        for name, value in _without_default_days(client, form_values).items()
        if name != "cursor"
    }
    return [
        (pk, name, path_to("adhoc", question), question == shown)
        for pk, name, question in [*built_in, *saved]
    ]


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the report under a name, or delete a saved report."""
    user, client = viewer_of(request)
    form_values = _form_values(request.POST)
    name = request.POST.get("name", "").replace("\x00", "").strip()
    deleted = request.POST.get("delete", "")
    if user.role == "viewer":
        messages.error(request, gettext("Viewers can't save reports."))
    elif not deleted and not 1 <= len(name) <= 80:
        messages.error(request, gettext("Enter a name of up to 80 characters."))
    else:
        query = urlencode(_without_default_days(client, form_values), doseq=True)
        try:
            if deleted:
                saved_views.delete(user, int(deleted[:18]) if deleted.isdecimal() else 0)
            else:
                saved_views.save(user, _LIST_NAME, name=name, query=query, is_shared=True)
        except ApiError as exc:
            messages.error(request, gettext(str(exc)))
    return redirect(path_to("adhoc", form_values))


def _without_default_days(client: Client, form_values: dict[str, Any]) -> dict[str, Any]:
    """The form's values without the default period, so that a saved report always covers the latest
    days."""
    _, default = entered_dates(client, {})
    is_default = all(form_values.get(name) == day for name, day in default.items())
    return {
        name: value for name, value in form_values.items() if not (is_default and name in default)
    }


def _form(user: User, client: Client, form_values: dict[str, Any]) -> dict[str, Any]:
    """The template's context for the form: the values as they were entered, even if they are
    invalid, and the days of the period."""
    period, dates = entered_dates(client, form_values)
    options = adhoc.options(client, period)
    chosen = {name: form_values.get(name, []) for name in _LISTS}
    metrics = form_values.get("metrics", schemas.DEFAULT_METRICS)
    sorts = schemas.AdhocQuestion.model_construct(
        group_by=chosen["group_by"], metrics=metrics
    ).sorts
    choices = [
        (name, gettext(FIELDS[name]),
         _options(client, name, getattr(options, name.replace("_ids", "s")), chosen[name]))
        for name in _CHOICES
    ]  # fmt: skip
    groups = (chosen["group_by"] + [""] * 3)[:3]
    return {
        "entered": form_values | dates,
        "choices": choices,
        "either": [
            (name, gettext(FIELDS[name]), form_values.get(name)) for name in _BOOLEAN_FIELDS
        ],
        "chips": list(_chips(form_values, choices)),
        "groups": [
            [(name, gettext(formatting.label(name)), name == group)
             for name in get_args(schemas.Grouping)]
            for group in groups
        ],
        "metrics": [
            (name, gettext(formatting.label(name)), name in metrics)
            for name in sorted(
                schemas.PAGE_METRICS,
                key=lambda name: metrics.index(name) if name in metrics else 99,
            )
        ],
        "sorts": [(name, _sort_label(name), name == form_values.get("sort")) for name in sorts],
        "reports": _reports(user, client, form_values),
    }  # fmt: skip


def _options(
    client: Client, name: str, rows: list[Any], chosen: list[str]
) -> list[tuple[str, str, int, bool]]:
    """The options of a filter: value, label, number of conversations, and whether the option is
    chosen. Chosen values that do not occur in the period are included."""
    column = _CHOICES[name]
    occurring = {
        str(row.id) if isinstance(row, schemas.NumberedOption) else row.value: row for row in rows
    }
    others = [value for value in chosen if value not in occurring]
    is_numbered = name.endswith("_ids")
    ids = [int(value) for value in others if is_numbered and value.isdecimal()]
    names = {str(pk): label for pk, label in adhoc.names_of(client, column, ids).items()}
    names |= {value: row.name for value, row in occurring.items() if is_numbered}
    return [
        (
            value,
            names.get(value) or formatting.format_value(column, value),
            occurring[value].chats if value in occurring else 0,
            value in chosen,
        )
        for value in [*occurring, *others]
    ]


def _chips(form_values: dict[str, Any], choices: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the active filters as text, each with the link to the report without it."""
    form_values = {name: value for name, value in form_values.items() if name != "cursor"}
    for name in _TEXT_FIELDS + _BOOLEAN_FIELDS:
        if name in form_values:
            text = {"true": gettext("yes"), "false": gettext("no")}.get(
                form_values[name], form_values[name]
            )
            rest = {key: value for key, value in form_values.items() if key != name}
            yield f"{gettext(FIELDS[name])}: {text}", path_to("adhoc", rest)
    for name, label, options in choices:
        for value, text, _, is_chosen in options:
            if is_chosen:
                rest = form_values | {
                    name: [other for other in form_values[name] if other != value]
                }
                yield f"{label}: {text}", path_to("adhoc", rest)


def _sort_label(name: str) -> str:
    is_descending = name.startswith("-")
    text = gettext("{column} (descending)") if is_descending else gettext("{column} (ascending)")
    return text.format(column=gettext(formatting.label(name.lstrip("-"))))


def _hidden_fields(form_values: dict[str, Any]) -> list[tuple[str, str]]:
    """The form's values as names and values of hidden fields. The cursor is left out, since a file
    has all rows."""
    return [
        (name, value)
        for name, values in form_values.items()
        if name != "cursor"
        for value in (values if isinstance(values, list) else [values])
    ]


def _table(report: schemas.AdhocReport) -> dict[str, Any]:
    shown = [column for column in report.columns if column.name not in _HIDDEN]
    return {
        "columns": [gettext(column.label) for column in shown],
        "rows": [
            [(_shown(column.name, row[column.name]), _path(row, column))
             for column in shown]
            for row in report.rows
        ],
    }  # fmt: skip


def _path(row: dict[str, Any], column: schemas.ReportColumn) -> str:
    is_code = column.name == "chat_code"
    return reverse("admin:chats_conversation_change", args=[row["chat_id"]]) if is_code else ""


def _shown(name: str, value: Any) -> str:
    """A value as text, in which durations are exact enough to compare rows."""
    if value is not None and formatting.unit_of(name) == "seconds":
        return formatting.duration(value, is_exact=True)
    return formatting.format_value(name, value)


def _group_name(name: str, value: Any) -> str:
    """The name of a group; a week that is not over is marked, because its bar is too low."""
    text, today = formatting.format_value(name, value), timezone.localdate()
    is_running = name == "week" and today < date.fromisoformat(value) + timedelta(days=7)
    return gettext("{week} (so far)").format(week=text) if is_running else text


def _chart(param: schemas.PageReport, report: schemas.AdhocReport) -> dict[str, Any]:
    """The template's context for a chart of the groups; empty if there are no groups.

    The chart shows the metric by which the groups are sorted, or else the first metric. Groups of
    time are columns side by side; other groups are bars below each other.
    """
    by, sort = param.group_by, (param.sort or "").lstrip("-")
    if not by or not report.rows:
        return {}
    metric = sort if sort in param.metrics else param.metrics[0]
    is_time = set(by) <= _TIME_GROUPS and len(by) == 1 and param.sort in {None, by[0]}
    rows = report.rows if is_time else report.rows[:_MAX_BARS]
    names = [f"{name}_name" if f"{name}_name" in report.rows[0] else name for name in by]
    columns = [
        charts.Column(" · ".join(_group_name(name, row[name]) for name in names), value)
        for row in rows
        if isinstance(value := row[metric] or 0, (int, float))
    ]
    unit = gettext(formatting.label(metric))
    chart = charts.chart(
        columns, unit=unit, axis=gettext(formatting.label(by[0])),
        shown=lambda value: _shown(metric, value),
    )  # fmt: skip
    bars = [
        (
            column.name,
            _shown(metric, row[metric]),
            round(100 * bar.height / charts.HEIGHT, 1),
        )
        for column, row, bar in zip(columns, rows, chart.bars, strict=True)
    ]
    return {
        "chart_title": _title_by_groups(unit, by), "bars": [] if is_time else bars,
        "chart": chart if is_time else None, "width": charts.WIDTH, "height": charts.HEIGHT,
    }  # fmt: skip
