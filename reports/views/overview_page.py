"""The site's overview page: cards, charts and breakdowns, with links to the conversations."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_safe
from pydantic import ValidationError

from bots.models import Bot
from bots.services import bots
from chatplatform import replica
from chatplatform.api.errors import ApiError
from identity.models import Client
from reports.schemas.adhoc import PeriodQuery
from reports.schemas.overview import ChatOverview, Figures, PartFigures, Times
from reports.services import charts, formatting, overview, periods
from reports.services.kpi_cards import KpiCard, compared
from reports.services.periods import Period
from reports.views.base import entered_dates, path_to, problems, show, viewer_of

_PRESETS = (7, 30, 90, 365)
# The figures of the overview that are also computed for each day.
_DAILY = ("chats", "messages", "bot_resolved", "handed_off")


@dataclass(frozen=True)
class Part:
    """A row of a breakdown, such as a channel; `width` is its size in percent of the largest."""

    name: str
    path: str
    width: float
    figures: PartFigures


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The overview page of a period, for all bots or for one."""
    if request.user.is_superuser:
        # The breadcrumb of this app links here, but platform staff have no client of their own.
        return redirect("admin:reports_export_changelist")
    _, client = viewer_of(request)
    form_values = {
        name: request.GET[name] for name in ("date_from", "date_to") if request.GET.get(name)
    }
    try:
        bot = bots.get(client, int(request.GET["bot"])) if request.GET.get("bot") else None
    except (ValueError, ApiError):
        return _refused(request, _form(client, form_values, None), ["This bot doesn't exist."])
    form = _form(client, form_values, bot)
    try:
        query = PeriodQuery.model_validate(form_values)
        as_of = replica.as_of()
        figures = overview.compute(client, query, bot=bot)
    except (ValidationError, ApiError) as exc:
        return _refused(request, form, problems(exc))
    content = _content(figures, periods.resolve(client, query), bot)
    return show(request, "overview", form | content | {"as_of": as_of})


def _refused(request: HttpRequest, form: dict[str, Any], reasons: list[str]) -> HttpResponse:
    return show(request, "overview", form | {"problems": reasons}, status=422)


def _form(client: Client, form_values: dict[str, str], bot: Bot | None) -> dict[str, Any]:
    query, dates = entered_dates(client, form_values)
    period = periods.resolve(client, query)
    days = (period.last - period.first).days + 1
    of_bot = {"bot": bot.pk} if bot else {}
    presets = [
        (
            gettext("{n} days").format(n=number),
            path_to("overview", _last_days(period.zone, number) | of_bot),
            number == days,
        )
        for number in _PRESETS
    ]
    every_bot = Bot.objects.for_client(client).order_by("bot_name", "pk")
    return {"period": period, "dates": dates, "presets": presets, "bots": every_bot, "bot": bot}


def _last_days(zone: str, days: int) -> dict[str, Any]:
    last = periods.today_in(zone)
    return {"date_from": date.fromordinal(last.toordinal() - days + 1), "date_to": last}


def _content(figures: ChatOverview, period: Period, bot: Bot | None) -> dict[str, Any]:
    chosen: dict[str, Any] = {"date_from": period.first, "date_to": period.last}
    if bot:
        chosen["bot_ids"] = bot.pk
    return {
        "cards": _cards(figures, chosen),
        "before_days": [
            date.fromisoformat(day)
            for day in (figures.previous.date_from, figures.previous.date_to)
        ],
        "charts": [
            (gettext("Conversations by day"), charts.conversations((
                (formatting.day(row.day), row,
                 path_to("adhoc", chosen | {"date_from": row.day, "date_to": row.day}))
                for row in figures.series
            ), axis=gettext("Day"))),
            (gettext("Conversations by hour"), charts.conversations((
                (f"{row.hour}:00", row, path_to("adhoc", chosen | {"group_by": "hour"}))
                for row in figures.by_hour
            ), axis=gettext("Hour"))),
        ],
        "parts": _breakdowns(figures, chosen),
        "width": charts.WIDTH, "height": charts.HEIGHT,
    }  # fmt: skip


def _cards(figures: ChatOverview, chosen: dict[str, Any]) -> list[KpiCard]:
    """The cards: counts, then durations, the rating and sentiments, each with a link to its
    conversations."""
    now, before = figures.current, figures.previous
    counts: list[tuple[str, dict[str, Any]]] = [
        ("chats", {}), ("messages", {}), ("customers", {}),
        ("bot_resolved", {"bot_resolved": "true"}), ("handed_off", {"handed_off": "true"}),
        ("ended", {"statuses": "ended"}), ("open", {"statuses": ["open", "snoozed"]}),
        ("rating_count", {"has_feedback": "true"}), ("credits_used", {}),
    ]  # fmt: skip
    cards = [
        compared(
            name, getattr(now, name), getattr(before, name), path=path_to("adhoc", chosen | more),
            **({"days": [getattr(row, name) for row in figures.series]} if name in _DAILY else {}),
            **(_with_share(name, now, before) if name in ("bot_resolved", "handed_off") else {}),
        )
        for name, more in counts
    ]  # fmt: skip
    times = [
        ("first_response", gettext("First response")),
        ("bot_response", gettext("First bot response")),
        ("person_response", gettext("First human response")),
        ("resolution", gettext("Conversation duration")),
    ]
    for name, title in times:
        time, time_before = (getattr(part, f"{name}_seconds") for part in (now, before))
        card = compared(name, time.p50, time_before.p50, title=title, path=path_to("adhoc", chosen))
        cards.append(replace(card, note=" · ".join(filter(None, [card.note, _spread(time)]))))
    rated = path_to("adhoc", chosen | {"has_feedback": "true"})
    cards.append(compared("rating_mean", now.rating_mean, before.rating_mean, path=rated))
    return cards + [
        compared(
            f"sentiment_{name}", getattr(now.sentiment, name), getattr(before.sentiment, name),
            path=path_to("adhoc", chosen | {"sentiments": name}),
        )
        for name in ("positive", "neutral", "negative")
    ]  # fmt: skip


def _with_share(name: str, now: Figures, before: Figures) -> dict[str, Any]:
    """The fields of a card that shows a count and its share of all conversations, and compares the
    shares."""
    shares = [formatting.share(getattr(part, name), part.chats) for part in (now, before)]
    card = compared(f"{name}_share", *shares)
    value = formatting.number(getattr(now, name))
    return {
        "value": f"{value} ({card.value})" if now.chats else value, "note": card.note,
        "change": card.change, "is_better": card.is_better,
    }  # fmt: skip


def _spread(of: Times) -> str:
    """A note with the statistics besides the median; empty if there are none."""
    if of.p50 is None:
        return ""
    return gettext("90%% within %(most)s · average %(mean)s") % {
        "most": formatting.duration(of.p90), "mean": formatting.duration(of.mean),
    }  # fmt: skip


def _breakdowns(figures: ChatOverview, chosen: dict[str, Any]) -> list[tuple[str, list[Part]]]:
    """The titles and rows of the breakdowns; each row links to its conversations."""
    handed_off = {"handed_off": "true", "group_by": "handoff_reason"}
    no_agent, no_tag = gettext("Unassigned"), gettext("Untagged")
    tables: list[tuple[str, list[tuple[str, dict[str, Any], Any]]]] = [
        (gettext("By channel"), [
            (formatting.format_value("channel", row.channel), {"channels": row.channel}, row)
            for row in figures.by_channel
        ]),
        (gettext("By bot"), [(row.name, {"bot_ids": row.bot_id}, row) for row in figures.by_bot]),
        (gettext("By agent"), [
            (row.name or no_agent, {"assignee_ids": row.agent_id} if row.agent_id
             else {"group_by": "agent"}, row) for row in figures.by_agent
        ]),
        (gettext("By tag"), [
            (row.tag or no_tag, {"tags": row.tag} if row.tag else {"group_by": "tag"}, row)
            for row in figures.by_tag
        ]),
        (gettext("By language"), [
            (formatting.format_value("language", row.language), {"languages": row.language}, row)
            for row in figures.by_language
        ]),
        (gettext("Handovers by reason"), [
            (
                formatting.format_value("handoff_reason", row.handoff_reason or "not_known"),
                handed_off, row,
            )
            for row in figures.by_handoff_reason
        ]),
    ]  # fmt: skip
    return [
        (title, [
            Part(name, path_to("adhoc", chosen | query),
                 round(100 * row.chats / max(item.chats for _, _, item in rows), 1), row)
            for name, query, row in rows
        ])
        for title, rows in tables if rows
    ]  # fmt: skip
