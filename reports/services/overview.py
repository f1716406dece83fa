"""The overview: the figures of a client or a bot in a period and in the preceding period."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

from bots.models import Bot
from chatplatform.api.errors import Invalid
from chats.models import Conversation
from identity.models import Client, User
from reports.schemas import overview as schemas
from reports.schemas.adhoc import Grouping, PeriodQuery
from reports.services import adhoc, chat_sql, periods
from reports.services.chat_sql import Row, Table
from reports.services.periods import Period

MAX_DAYS = 366
_MAX_PARTS = 200
_COUNTS = (
    "chats", "messages", "customers", "bot_resolved", "handed_off", "ended", "open", "rating_mean",
    "rating_count", "credits_used",
)  # fmt: skip
_TIMES = ("first_response", "bot_response", "person_response", "resolution")
_SENTIMENTS = ("positive", "neutral", "negative")
_PART_METRICS = ("chats", "messages", "bot_resolved", "handed_off", "rating_mean")
_EMPTY_PART: Row = {**dict.fromkeys(_PART_METRICS, 0), "rating_mean": None}
_TOTALS = {
    "totals": Table([
        *_COUNTS,
        *(f"{name}_{share}" for name in _TIMES for share in ("p50", "p90", "mean")),
        *(f"sentiment_{name}" for name in _SENTIMENTS),
    ])
}  # fmt: skip
_BY: tuple[Grouping, ...] = (
    "day", "hour", "channel", "bot", "agent", "tag", "language", "handoff_reason",
)  # fmt: skip
_PARTS: dict[str, Table] = {
    by: Table(
        _PART_METRICS, (by,), sort="-chats", limit=MAX_DAYS if by == "day" else _MAX_PARTS,
        is_handed_off=by == "handoff_reason",
    )
    for by in _BY
}  # fmt: skip


def compute(client: Client, query: PeriodQuery, *, bot: Bot | None = None) -> schemas.ChatOverview:
    """The overview of a client or of one bot; 422 for a period of more than `MAX_DAYS`."""
    period = periods.resolve(client, query)
    if period.last - period.first >= timedelta(days=MAX_DAYS):
        text = gettext("Choose a period of up to %(count)s days.") % {"count": MAX_DAYS}
        raise Invalid.field("query", "date_from", msg=text)
    tables = chat_sql.tables(_chosen(client, period, bot), _TOTALS | _PARTS, zone=period.zone)
    before = chat_sql.tables(_chosen(client, period.before, bot), _TOTALS, zone=period.zone)
    return schemas.ChatOverview(
        current=_figures(tables["totals"][0], period),
        previous=_figures(before["totals"][0], period.before),
        series=_days(tables["day"], period),
        by_hour=_hours(tables["hour"]),
        by_channel=[schemas.ChannelFigures(**row) for row in tables["channel"]],
        by_bot=_by_bot(client, tables["bot"]),
        by_agent=_by_agent(client, tables["agent"]),
        by_tag=[schemas.TagFigures(**row) for row in tables["tag"]],
        by_language=[schemas.LanguageFigures(**row) for row in tables["language"]],
        by_handoff_reason=[schemas.HandoverFigures(**row) for row in tables["handoff_reason"]],
    )


def _chosen(client: Client, period: Period, bot: Bot | None) -> QuerySet[Conversation]:
    rows = adhoc.in_period(client, period)
    return rows.filter(bot=bot) if bot else rows


def _figures(totals: Row, period: Period) -> schemas.Figures:
    figures: dict[str, Any] = {name: totals[name] for name in _COUNTS}
    for name in _TIMES:
        figures[f"{name}_seconds"] = schemas.Times(
            p50=totals[f"{name}_p50"], p90=totals[f"{name}_p90"], mean=totals[f"{name}_mean"]
        )
    sentiment = schemas.Sentiments(**{name: totals[f"sentiment_{name}"] for name in _SENTIMENTS})
    return schemas.Figures(
        date_from=period.first.isoformat(), date_to=period.last.isoformat(),
        sentiment=sentiment, **figures,
    )  # fmt: skip


def _days(rows: list[Row], period: Period) -> list[schemas.DayFigures]:
    days = {row["day"]: row for row in rows}
    every_day = (
        (period.first + timedelta(days=number)).isoformat()
        for number in range((period.last - period.first).days + 1)
    )
    return [
        schemas.DayFigures(**{**_EMPTY_PART, **days.get(day, {}), "day": day}) for day in every_day
    ]


def _hours(rows: list[Row]) -> list[schemas.HourFigures]:
    hours = {row["hour"]: row for row in rows}
    return [
        schemas.HourFigures(**{**_EMPTY_PART, **hours.get(hour, {}), "hour": hour})
        for hour in range(24)
    ]


def _by_bot(client: Client, rows: list[Row]) -> list[schemas.BotFigures]:
    names = _names(Bot.objects.for_client(client), "bot_name", rows, "bot")
    # The replica may still have conversations of a bot that was deleted from the primary database.
    rows = [row for row in rows if row["bot"] in names]
    return [
        schemas.BotFigures(bot_id=(pk := row.pop("bot")), name=names[pk], **row) for row in rows
    ]


def _by_agent(client: Client, rows: list[Row]) -> list[schemas.AgentFigures]:
    names = _names(User.objects.filter(client=client), "full_name", rows, "agent")
    return [
        schemas.AgentFigures(agent_id=(pk := row.pop("agent")), name=names.get(pk), **row)
        for row in rows
    ]


def _names(rows: QuerySet[Any], name: str, parts: list[Row], by: str) -> dict[int, str]:
    return dict(rows.filter(pk__in=[part[by] for part in parts]).values_list("pk", name))
