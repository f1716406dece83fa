"""The site's overview page: figures, charts and parts, each with a link to its rows."""

from dataclasses import dataclass
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
from reports.services import charts, formatting, overview, periods
from reports.services.periods import Period
from reports.shapes.adhoc import PeriodQuery
from reports.shapes.overview import ChatOverview, Figures, PartFigures, Times
from reports.views.site_page import entered_dates, path_to, problems, show, viewer_of

_PRESETS = (7, 30, 90, 365)


@dataclass(frozen=True)
class Card:
    """A figure, its value in the period before, and the link to its rows; `note` adds details."""

    title: str
    value: str
    before: str
    path: str
    note: str = ""


@dataclass(frozen=True)
class Part:
    """A row of a table of parts; `width` is its percentage of the largest part."""

    name: str
    path: str
    width: float
    figures: PartFigures


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The overview of a period, of all bots or of one."""
    if request.user.is_superuser:
        # This app's breadcrumb leads here, but the platform's staff have no client of their own.
        return redirect("admin:reports_export_changelist")
    _, client = viewer_of(request)
    asked = {name: request.GET[name] for name in ("date_from", "date_to") if request.GET.get(name)}
    try:
        bot = bots.get(client, int(request.GET["bot"])) if request.GET.get("bot") else None
    except (ValueError, ApiError):
        return _refused(request, _form(client, asked, None), ["There is no such bot."])
    form = _form(client, asked, bot)
    try:
        query = PeriodQuery.model_validate(asked)
        as_of = replica.as_of()
        found = overview.of(client, query, bot=bot)
    except (ValidationError, ApiError) as exc:
        return _refused(request, form, problems(exc))
    shown = _shown(found, periods.of(client, query), bot)
    return show(request, "overview", form | shown | {"as_of": as_of})


def _refused(request: HttpRequest, form: dict[str, Any], reasons: list[str]) -> HttpResponse:
    return show(request, "overview", form | {"problems": reasons}, status=422)


def _form(client: Client, asked: dict[str, str], bot: Bot | None) -> dict[str, Any]:
    query, dates = entered_dates(client, asked)
    period = periods.of(client, query)
    days = (period.last - period.first).days + 1
    of_bot = {"bot": bot.pk} if bot else {}
    presets = [
        (f"{number} days", path_to("overview", _last(period.zone, number) | of_bot), number == days)
        for number in _PRESETS
    ]
    every_bot = Bot.objects.for_client(client).order_by("bot_name", "pk")
    return {"period": period, "dates": dates, "presets": presets, "bots": every_bot, "bot": bot}


def _last(zone: str, days: int) -> dict[str, Any]:
    last = periods.today_in(zone)
    return {"date_from": date.fromordinal(last.toordinal() - days + 1), "date_to": last}


def _shown(found: ChatOverview, period: Period, bot: Bot | None) -> dict[str, Any]:
    chosen: dict[str, Any] = {"date_from": period.first, "date_to": period.last}
    if bot:
        chosen["bot_ids"] = bot.pk
    form = "%-d %b" if period.first.year == period.last.year else "%-d %b %Y"
    return {
        "cards": _cards(found.current, found.previous, chosen),
        "before_days": [
            date.fromisoformat(day) for day in (found.previous.date_from, found.previous.date_to)
        ],
        "days": charts.chart(
            [
                _column(f"{date.fromisoformat(row.day):{form}}", row,
                        chosen | {"date_from": row.day, "date_to": row.day})
                for row in found.series
            ],
            noun="conversations", part="resolved by the bot",
        ),
        "hours": charts.chart(
            [_column(f"{row.hour}:00", row, chosen | {"group_by": "hour"})
             for row in found.by_hour],
            noun="conversations", part="resolved by the bot",
        ),
        "parts": _parts(found, chosen),
        "width": charts.WIDTH, "height": charts.HEIGHT,
    }  # fmt: skip


def _column(name: str, row: PartFigures, query: dict[str, Any]) -> charts.Column:
    return charts.Column(name, row.chats, row.bot_resolved, path_to("adhoc", query))


def _cards(now: Figures, before: Figures, chosen: dict[str, Any]) -> list[Card]:
    """Counts linked to their conversations, then durations, ratings and sentiments."""
    counts: list[tuple[str, str, dict[str, Any]]] = [
        ("Conversations", "chats", {}), ("Messages", "messages", {}),
        ("Customers", "customers", {}),
        ("Resolved by the bot", "bot_resolved", {"bot_resolved": "true"}),
        ("Handed over", "handed_off", {"handed_off": "true"}),
        ("Ended", "ended", {"statuses": "ended"}),
        ("Open", "open", {"statuses": ["open", "snoozed"]}),
        ("Ratings", "rating_count", {"has_feedback": "true"}), ("Credits", "credits_used", {}),
    ]  # fmt: skip
    cards = [
        Card(title, _counted(now, name), _counted(before, name), path_to("adhoc", chosen | more))
        for title, name, more in counts
    ]
    times = {
        "First response": "first_response_seconds", "First response of the bot":
        "bot_response_seconds", "First response of a person": "person_response_seconds",
        "Time to close": "resolution_seconds",
    }  # fmt: skip
    rows = path_to("adhoc", chosen)
    cards += [
        Card(
            title,
            formatting.duration(time.p50),
            formatting.duration(getattr(before, name).p50),
            rows,
            _spread(time),
        )
        for title, name in times.items()
        for time in [getattr(now, name)]
    ]
    rated = path_to("adhoc", chosen | {"has_feedback": "true"})
    cards.append(Card("Rating", _stars(now), _stars(before), rated))
    return cards + [
        Card(f"{name.capitalize()} customers", str(getattr(now.sentiment, name)),
             str(getattr(before.sentiment, name)), path_to("adhoc", chosen | {"sentiments": name}))
        for name in ("positive", "neutral", "negative")
    ]  # fmt: skip


def _counted(of: Figures, name: str) -> str:
    value: int = getattr(of, name)
    with_share = name in {"bot_resolved", "handed_off"} and of.chats
    return f"{value:,} ({formatting.share(value, of.chats)})" if with_share else f"{value:,}"


def _spread(of: Times) -> str:
    """The other statistics next to the median."""
    if of.p50 is None:
        return ""
    return gettext("90 %% within %(most)s · average %(mean)s") % {
        "most": formatting.duration(of.p90), "mean": formatting.duration(of.mean),
    }  # fmt: skip


def _stars(of: Figures) -> str:
    return f"{of.rating_mean:.1f} of 5" if of.rating_mean else "–"


def _parts(found: ChatOverview, chosen: dict[str, Any]) -> list[tuple[str, list[Part]]]:
    """Tables of parts; each row links to the conversations of its part."""
    handed_off = {"handed_off": "true", "group_by": "handoff_reason"}
    tables: list[tuple[str, list[tuple[str, dict[str, Any], Any]]]] = [
        ("By channel", [(row.channel, {"channels": row.channel}, row) for row in found.by_channel]),
        ("By bot", [(row.name, {"bot_ids": row.bot_id}, row) for row in found.by_bot]),
        ("By agent", [
            (row.name or "Nobody", {"assignee_ids": row.agent_id} if row.agent_id
             else {"group_by": "agent"}, row) for row in found.by_agent
        ]),
        ("By tag", [
            (row.tag or "Without a tag", {"tags": row.tag} if row.tag else {"group_by": "tag"}, row)
            for row in found.by_tag
        ]),
        ("By language", [(row.language, {"languages": row.language}, row)
                         for row in found.by_language]),
        ("Handovers by reason", [
            (formatting.in_words(row.handoff_reason or "Not known"), handed_off, row)
            for row in found.by_handoff_reason
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
