"""Keeps the days on which content begins and ends to be valid when a client's time zone changes."""

from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F, Q

from bots.models import Bot, Document

_DOCUMENT_DAYS = ("valid_from", "valid_to")
_BANNER_DAYS = ("banner_valid_from", "banner_valid_to")


def keep_days(client_id: int, before: str, after: str) -> None:
    """Move each midnight in the time zone `before` to the midnight of the same day in `after`, in
    the caller's transaction.

    People choose days, which are stored as midnights. A time that is no midnight was set as an
    instant, by the API, and stays.
    """
    zones = ZoneInfo(before), ZoneInfo(after)
    dated = Q(valid_from__isnull=False) | Q(valid_to__isnull=False) | Q(draft__isnull=False)
    documents = Document.objects.filter(dated, client_id=client_id).order_by("pk")
    changed_bots = set()
    for document in documents.select_for_update(no_key=True).only(*_DOCUMENT_DAYS, "draft", "bot"):
        changes = _moved(document, _DOCUMENT_DAYS, *zones)
        if draft := _moved_in_draft(document.draft or {}, *zones):
            changes["draft"] = {**(document.draft or {}), **draft}
        if changes:
            Document.objects.filter(pk=document.pk).update(**changes)
            changed_bots.add(document.bot_id)
    # Indexes know until when they are valid, so they are rebuilt.
    Bot.objects.filter(pk__in=changed_bots).update(knowledge_version=F("knowledge_version") + 1)
    dated = Q(banner_valid_from__isnull=False) | Q(banner_valid_to__isnull=False)
    bots = Bot.objects.filter(dated, client_id=client_id).order_by("pk")
    for bot in bots.select_for_update(no_key=True).only(*_BANNER_DAYS):
        if changes := _moved(bot, _BANNER_DAYS, *zones):
            Bot.objects.filter(pk=bot.pk).update(**changes)


def _moved(row: Any, names: tuple[str, ...], before: ZoneInfo, after: ZoneInfo) -> dict[str, Any]:
    moved = {name: _same_day(getattr(row, name), before, after) for name in names}
    return {name: value for name, value in moved.items() if value}


def _moved_in_draft(draft: dict[str, Any], before: ZoneInfo, after: ZoneInfo) -> dict[str, str]:
    values = {name: draft[name] for name in _DOCUMENT_DAYS if draft.get(name)}
    moved = {
        name: _same_day(datetime.fromisoformat(text), before, after)
        for name, text in values.items()
    }
    return {name: value.astimezone(UTC).isoformat() for name, value in moved.items() if value}


def _same_day(moment: datetime | None, before: ZoneInfo, after: ZoneInfo) -> datetime | None:
    """The midnight in `after` of the day whose midnight in `before` this is; None if it is none."""
    local = moment.astimezone(before) if moment else None
    if local is None or local.time() != time.min:
        return None
    return datetime.combine(local.date(), time.min, after)
