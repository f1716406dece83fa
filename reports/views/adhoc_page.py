"""The site's page of ad-hoc reports: filters, table, export and saved questions."""

import calendar
from typing import Any, get_args, get_origin

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from chatplatform import replica
from chatplatform.api.errors import ApiError
from identity.models import Client
from reports.models import Export
from reports.services import adhoc, exports, formatting, saved_reports
from reports.shapes import adhoc as shapes
from reports.views.report import download
from reports.views.site_page import entered_dates, path_to, problems, show, viewer_of

_FIELDS = {name for name in shapes.SearchAdhocReportParam.model_fields if name != "timezone"}
_LISTS = {
    name for name, field in shapes.AdhocQuestion.model_fields.items()
    if get_origin(field.annotation) is list
}  # fmt: skip
# Filters with options: the field, its label, and the attribute of `AdhocFilterOptions`.
_CHOICES = (
    ("bot_ids", "Bots", "bots"), ("channels", "Channels", "channels"),
    ("statuses", "Statuses", "statuses"), ("assignee_ids", "Agents", "assignees"),
    ("tags", "Tags", "tags"), ("sentiments", "Sentiments", "sentiments"),
    ("languages", "Languages", "languages"), ("ended_by", "Ended by", "ended_by"),
    ("countries", "Countries", "countries"),
)  # fmt: skip
_EITHER = (("handed_off", "Handed over"), ("bot_resolved", "Resolved by the bot"),
           ("has_feedback", "Rated"))  # fmt: skip


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
    _, client = viewer_of(request)
    asked = _asked(request.GET)
    try:
        param = shapes.SearchAdhocReportParam.model_validate(asked)
        as_of = replica.as_of()
        report = adhoc.search(client, param)
    except (ValidationError, ApiError) as exc:
        status = exc.status if isinstance(exc, ApiError) else 422
        context = _form(client, asked) | {"problems": problems(exc)}
        return show(request, "adhoc", context, status=status)
    context = _form(client, asked) | _table(param, report)
    context |= {"asked": _flat(asked), "as_of": as_of}
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
        param = shapes.ExportAdhocReportParam.model_validate(
            asked | {"format": request.POST.get("format", "csv")}
        )
        made = exports.start(client, param, by=user)
    except (ValidationError, ApiError) as exc:
        messages.error(request, " ".join(problems(exc)))
        return redirect(path_to("adhoc", asked))
    if isinstance(made, Export):
        return redirect(reverse("admin:reports_export_changelist"))
    return download(made, param.format, exports.file_name(param))


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the question under a name, or delete a saved one."""
    user, client = viewer_of(request)
    asked = _asked(request.POST)
    name = request.POST.get("name", "").replace("\x00", "").strip()
    if user.role == "viewer":
        messages.error(request, "Viewers cannot save reports.")
    elif request.POST.get("delete", "").isdecimal():
        saved_reports.delete(client, int(request.POST["delete"][:18]), by=user)
    elif not 1 <= len(name) <= 80:
        messages.error(request, "A name has 1 to 80 characters.")
    elif not saved_reports.save(client, name, _lasting(client, asked), by=user):
        messages.error(request, f"There are {saved_reports.MOST} saved reports already.")
    return redirect(path_to("adhoc", asked))


def _lasting(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The question without default days, so that it means the latest days whenever it is asked."""
    _, usual = entered_dates(client, {})
    is_usual = all(asked.get(name) == day for name, day in usual.items())
    return {name: value for name, value in asked.items() if not (is_usual and name in usual)}


def _form(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The form as filled in, even if it was refused, with the period's days."""
    period, dates = entered_dates(client, asked)
    options = adhoc.options(client, period)
    groups = get_args(shapes.Grouping)
    chosen = {name: asked.get(name, []) for name in _LISTS}
    metrics = asked.get("metrics", shapes.DEFAULT_METRICS)
    sorts = shapes.AdhocQuestion.model_construct(group_by=chosen["group_by"], metrics=metrics).sorts
    return {
        "entered": asked | dates,
        "choices": [
            (name, label, [
                (value, text, row.chats, value in chosen[name])
                for row in getattr(options, source)
                for value, text in [_option(row)]
            ])
            for name, label, source in _CHOICES
        ],
        "either": [(name, label, asked.get(name)) for name, label in _EITHER],
        "groups": [
            (name, formatting.in_words(name), name in chosen["group_by"]) for name in groups
        ],
        "metrics": [(name, formatting.in_words(name), name in metrics) for name in shapes.METRICS],
        "sorts": [(name, _sort_words(name), name == asked.get("sort")) for name in sorts],
        "saved": [(row.pk, row.name, path_to("adhoc", row.question))
                  for row in saved_reports.of(client)],
    }  # fmt: skip


def _option(row: Any) -> tuple[str, str]:
    if isinstance(row, shapes.NumberedOption):
        return str(row.id), row.name
    return row.value, row.label


def _sort_words(name: str) -> str:
    plain = formatting.in_words(name.lstrip("-"))
    return f"{plain}, largest first" if name.startswith("-") else plain


def _flat(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The question as hidden fields, without the cursor, as a file starts at the first row."""
    return [
        (name, value)
        for name, values in asked.items()
        if name != "cursor"
        for value in (values if isinstance(values, list) else [values])
    ]


def _table(param: shapes.SearchAdhocReportParam, report: shapes.AdhocReport) -> dict[str, Any]:
    hidden = {"chat_id", "bot", "agent"}  # their names or links are shown instead
    shown = [column for column in report.columns if column.name not in hidden]
    return {
        "columns": shown,
        "rows": [
            [(_cell(row[column.name], column), _path(row, column)) for column in shown]
            for row in report.rows
        ],
        "totals": [
            (column.label, _cell(report.totals[column.name], column))
            for column in map(adhoc.metric_column, report.totals)
        ],
    }


def _path(row: dict[str, Any], column: shapes.ReportColumn) -> str:
    is_code = column.name == "chat_code"
    return reverse("admin:chats_conversation_change", args=[row["chat_id"]]) if is_code else ""


def _cell(value: Any, column: shapes.ReportColumn) -> str:
    if value is None or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.unit == "seconds":
        return formatting.duration(value)
    if column.unit == "stars":
        return f"{value:.1f}".removesuffix(".0")
    if isinstance(value, list):
        return ", ".join(value)
    if column.name == "weekday":
        return str(calendar.day_name[value - 1])
    if column.name == "hour":
        return f"{value}:00"
    if column.type == "moment":
        return f"{value[:10]} {value[11:16]} UTC"
    if column.name in {"handoff_reason", "status", "ended_by", "sentiment"}:
        return formatting.in_words(value)
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)
