"""Filters of the site's lists of conversations and ratings.

Their options are fixed: reading the values in use would scan the whole table.
"""

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from chatplatform import navigation
from chatplatform.admin_base import viewer
from chatplatform.templatetags.codes import humanize_code
from chats.services.desk import report_filters
from identity.models import Client

HANDOFF_REASONS = (
    "no_answer", "customer_asked", "engine_failed", "bot_disabled", "agents_reply", "staff_request",
    "agent_silent", "credits_used_up", "agent_gone", "files_only", "approval_needed",
    "answered_elsewhere",
)  # fmt: skip


def _client(request: HttpRequest) -> Client | None:
    """The client whose rows the list shows; None for all clients."""
    chosen = navigation.chosen_client(request)
    return Client.objects.filter(pk=chosen).first() if chosen else viewer(request).client


class HandoffFilter(SimpleListFilter):
    """Filters by the reason of the handover."""

    title, parameter_name = "handoff reason", "handoff_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, humanize_code(code)) for code in HANDOFF_REASONS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(handoff_reason=self.value()) if self.value() else queryset


class AnsweredByFilter(SimpleListFilter):
    """Filters by who answered, as the reports count it."""

    title, parameter_name = "answered by", "answered_by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("bot", "The bot alone, to the end"), ("person", "A person")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "bot":
            return queryset.filter(report_filters.solved_by_bot())
        is_by_person = self.value() == "person"
        return queryset.filter(report_filters.answered_by_person()) if is_by_person else queryset


class WaitingFilter(SimpleListFilter):
    """Filters by the wait in business hours, relative to the client's target."""

    title, parameter_name = "waiting", "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        if viewer(request).client_id is None and navigation.chosen_client(request) is None:
            return []
        return [("target", "Longer than the target"), ("half", "Half of the target already")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        client = _client(request)
        if client is None or self.value() not in {"target", "half"}:
            return queryset
        is_over = self.value() == "target"
        waited = report_filters.waited_for_target if is_over else report_filters.waited_for_half
        return queryset.filter(waited(client, timezone.now()))


class BeganFilter(SimpleListFilter):
    """Filters by whole days in the client's time zone including today, as the reports do."""

    title, parameter_name = "chat began", "began"
    column = "created_at"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Today"), ("7", "In the last 7 days"), ("30", "In the last 30 days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        days = {"1": 1, "7": 7, "30": 30}.get(self.value() or "")
        if days is None:
            return queryset
        client = _client(request)
        zone = ZoneInfo(client.timezone if client else "UTC")
        first = timezone.localdate(timezone=zone) - timedelta(days=days - 1)
        since = datetime.combine(first, time(), zone)
        return queryset.filter(**{f"{self.column}__gte": since})


class RatedChatBeganFilter(BeganFilter):
    """Filters ratings by when their conversations began."""

    column = "conversation__created_at"


class GivenFilter(SimpleListFilter):
    """Filters by when the rating was given."""

    title, parameter_name = "given", "given"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("day", "In the last 24 hours")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        since = timezone.now() - timedelta(days=1)
        return queryset.filter(created_at__gte=since) if self.value() == "day" else queryset


class RatedFilter(SimpleListFilter):
    """Filters by what was rated: a conversation, which the reports count, or one answer."""

    title, parameter_name = "about", "about"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("chat", "A whole chat"), ("message", "One answer")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in {"chat", "message"}:
            return queryset
        return queryset.filter(message__isnull=self.value() == "chat")


class StarsFilter(SimpleListFilter):
    """Filters by stars."""

    title, parameter_name = "rating", "rating__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        each = [(str(stars), "★" * stars) for stars in range(1, 6)]
        return [*each, ("low", "★ or ★★")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        stars = self.value()
        if stars == "low":
            return queryset.filter(rating__lte=2)
        return queryset.filter(rating=int(stars)) if stars and stars in set("12345") else queryset
