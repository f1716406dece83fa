"""The overview: how a client's or a bot's chats went in a period, beside the period before."""

from datetime import timedelta
from typing import Any, TypeVar

from django.db.models import QuerySet

from bots.models import Bot
from chatplatform.api.errors import Invalid
from chats.models import Conversation
from identity.models import Client, User
from reports.services import adhoc, facts, periods
from reports.services.facts import Row
from reports.services.periods import Period
from reports.shapes import overview as shapes
from reports.shapes.adhoc import Grouping, PeriodQuery

Part = TypeVar("Part", bound=shapes.PartFigures)
MAX_DAYS = 366
_MOST_PARTS = 200
_COUNTS = (
    "chats", "messages", "customers", "bot_resolved", "handed_off", "ended", "open", "rating_mean",
    "rating_count", "credits_used",
)  # fmt: skip
_TIMES = ("first_response", "bot_response", "person_response", "resolution")
_SENTIMENTS = ("positive", "neutral", "negative")
_PART = ("chats", "messages", "bot_resolved", "handed_off", "rating_mean")
_NOTHING: Row = {**dict.fromkeys(_PART, 0), "rating_mean": None}


def of(client: Client, query: PeriodQuery, *, bot: Bot | None = None) -> shapes.ChatOverview:
    """The overview of a client, or of one bot; 422 for more than a year."""
    period = periods.of(client, query)
    if period.last - period.first >= timedelta(days=MAX_DAYS):
        raise Invalid.field("query", "date_from", msg=f"An overview has at most {MAX_DAYS} days.")
    chosen = _chosen(client, period, bot)
    handed_off = chosen.filter(handed_off_at__isnull=False)
    return shapes.ChatOverview(
        current=_figures(chosen, period),
        previous=_figures(_chosen(client, period.before, bot), period.before),
        series=_days(chosen, period),
        by_hour=_hours(chosen, period),
        by_channel=_of_each(shapes.ChannelFigures, chosen, period, "channel"),
        by_bot=_by_bot(client, chosen, period),
        by_agent=_by_agent(client, chosen, period),
        by_tag=_of_each(shapes.TagFigures, chosen, period, "tag"),
        by_language=_of_each(shapes.LanguageFigures, chosen, period, "language"),
        by_handoff_reason=_of_each(shapes.HandoverFigures, handed_off, period, "handoff_reason"),
    )


def _chosen(client: Client, period: Period, bot: Bot | None) -> QuerySet[Conversation]:
    rows = adhoc.in_period(client, period)
    return rows.filter(bot=bot) if bot else rows


def _figures(chosen: QuerySet[Conversation], period: Period) -> shapes.Figures:
    times = [f"{name}_{share}" for name in _TIMES for share in ("p50", "p90", "mean")]
    metrics = [*_COUNTS, *times, *(f"sentiment_{name}" for name in _SENTIMENTS)]
    (found,) = facts.groups(chosen, zone=period.zone, group_by=(), metrics=metrics)
    told: dict[str, Any] = {name: found[name] for name in _COUNTS}
    for name in _TIMES:
        told[f"{name}_seconds"] = shapes.Times(
            p50=found[f"{name}_p50"], p90=found[f"{name}_p90"], mean=found[f"{name}_mean"]
        )
    sentiment = shapes.Sentiments(**{name: found[f"sentiment_{name}"] for name in _SENTIMENTS})
    return shapes.Figures(
        date_from=period.first.isoformat(), date_to=period.last.isoformat(),
        sentiment=sentiment, **told,
    )  # fmt: skip


def _days(chosen: QuerySet[Conversation], period: Period) -> list[shapes.DayFigures]:
    days = {row["day"]: row for row in _parts(chosen, period, "day", limit=MAX_DAYS)}
    every_day = (
        period.first + timedelta(days=number)
        for number in range((period.last - period.first).days + 1)
    )
    return [
        shapes.DayFigures(**{**_NOTHING, **days.get(day, {}), "day": day.isoformat()})
        for day in every_day
    ]


def _hours(chosen: QuerySet[Conversation], period: Period) -> list[shapes.HourFigures]:
    hours = {row["hour"]: row for row in _parts(chosen, period, "hour")}
    return [
        shapes.HourFigures(**{**_NOTHING, **hours.get(hour, {}), "hour": hour})
        for hour in range(24)
    ]


def _by_bot(
    client: Client, chosen: QuerySet[Conversation], period: Period
) -> list[shapes.BotFigures]:
    rows = _parts(chosen, period, "bot")
    names = _names(Bot.objects.for_client(client), "bot_name", rows, "bot")
    return [shapes.BotFigures(bot_id=(pk := row.pop("bot")), name=names[pk], **row) for row in rows]


def _by_agent(
    client: Client, chosen: QuerySet[Conversation], period: Period
) -> list[shapes.AgentFigures]:
    rows = _parts(chosen, period, "agent")
    names = _names(User.objects.filter(client=client), "full_name", rows, "agent")
    return [
        shapes.AgentFigures(agent_id=(pk := row.pop("agent")), name=names.get(pk), **row)
        for row in rows
    ]


def _of_each(
    shape: type[Part], chosen: QuerySet[Conversation], period: Period, by: Grouping
) -> list[Part]:
    return [shape(**row) for row in _parts(chosen, period, by)]


def _parts(
    chosen: QuerySet[Conversation], period: Period, by: Grouping, *, limit: int = _MOST_PARTS
) -> list[Row]:
    return facts.groups(
        chosen, zone=period.zone, group_by=(by,), metrics=_PART, sort="-chats", limit=limit
    )


def _names(rows: QuerySet[Any], name: str, parts: list[Row], by: str) -> dict[int, str]:
    return dict(rows.filter(pk__in=[part[by] for part in parts]).values_list("pk", name))
