"""The filters of the site's lists of conversations and ratings, and the base class of lists that
leave out previews."""

from abc import ABC, abstractmethod
from datetime import datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from chatplatform import navigation
from chatplatform.admin_base import TenantAdmin, viewer
from chatplatform.templatetags.codes import humanize_code
from chats.services.core import conversations
from chats.services.desk import report_filters
from identity.models import Client

HANDOFF_REASONS = (
    "no_answer", "customer_asked", "engine_failed", "bot_disabled", "agents_reply", "staff_request",
    "agent_silent", "credits_used_up", "agent_gone", "files_only", "unreadable",
    "approval_needed", "procedure", "answered_elsewhere",
)  # fmt: skip


def _client(request: HttpRequest) -> Client | None:
    """The client whose rows the list shows; None if it shows all clients' rows."""
    chosen = navigation.chosen_client(request)
    return Client.objects.filter(pk=chosen).first() if chosen else viewer(request).client


class ListsWithoutPreviews(TenantAdmin):
    """The base class of pages whose lists, searches and choices leave out the team's previews. The
    page of a single row shows a preview if the person may see it."""

    # The lookup from a row to its conversation; None if rows have no conversation.
    chat_path: ClassVar[str | None] = "conversation__"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        is_page_of_row = request.resolver_match and request.resolver_match.kwargs
        if not is_page_of_row:
            return self.listed(rows)
        if self.chat_path is None:
            return rows
        return rows.filter(conversations.visible_to_user(viewer(request), path=self.chat_path))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """A row's page, with the values that `detail_values` adds."""
        reply = super().change_view(request, object_id, form_url, extra_context)
        if isinstance(reply, TemplateResponse) and reply.context_data is not None:
            shown = self.detail_values(request, reply.context_data["original"])
            # If `original` were set, the page's title would be the row's `__str__`.
            reply.context_data |= {**shown, "page": self, "original": None} if shown else {}
        return reply

    def detail_values(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """More values for the template of a row's page; none unless overridden."""
        return {}

    def listed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(**{f"{self.chat_path}is_preview": False})


class FixedFilter(ABC, SimpleListFilter):
    """A filter with fixed options, because reading the values in use would scan the whole table."""

    options: ClassVar[dict[str, Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*self.options.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        condition = self.condition(request, self.value() or "")
        return queryset if condition is None else queryset.filter(condition)

    @abstractmethod
    def condition(self, request: HttpRequest, value: str) -> Q | None:
        """The condition for an option; None (no filter) for any other value."""


class HandoffFilter(FixedFilter):
    """Filters by the reason for the handover."""

    title, parameter_name = gettext_lazy("handover reason"), "handoff_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, humanize_code(code)) for code in HANDOFF_REASONS]

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        return Q(handoff_reason=value) if value else None


class AnsweredByFilter(FixedFilter):
    """Filters by who answered, the bot alone or a person, by the same rules as the reports."""

    title, parameter_name = gettext_lazy("answered by"), "answered_by"
    options: ClassVar = {"bot": gettext_lazy("Bot only"), "person": gettext_lazy("A person")}

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        by_person = Q(report_filters.answered_by_person())
        return {"bot": report_filters.solved_by_bot(), "person": by_person}.get(value)


class WaitingFilter(FixedFilter):
    """Filters by how long customers have waited in business hours, compared with the client's
    target. Offered only in lists of a single client."""

    title, parameter_name = gettext_lazy("waiting"), "waiting"
    options: ClassVar = {
        "any": gettext_lazy("Waiting for a reply"),
        "target": gettext_lazy("Past target"),
        "half": gettext_lazy("Past half the target"),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return super().lookups(request, model_admin) if _client(request) else []

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        client = _client(request) if value in self.options else None
        if client is None:
            return None
        if value == "any":
            return report_filters.is_waiting()
        is_over = value == "target"
        waited = report_filters.waited_for_target if is_over else report_filters.waited_for_half
        return waited(client, timezone.now())


class StartedFilter(FixedFilter):
    """Filters by when the conversation started, like the reports: in whole days of the client's
    time zone, including today."""

    title, parameter_name = gettext_lazy("started"), "began"
    options: ClassVar = {
        "1": gettext_lazy("Today"),
        "7": gettext_lazy("In the last 7 days"),
        "30": gettext_lazy("In the last 30 days"),
    }
    column = "created_at"

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        if value not in self.options:
            return None
        client = _client(request)
        zone = ZoneInfo(client.timezone if client else "UTC")
        first = timezone.localdate(timezone=zone) - timedelta(days=int(value) - 1)
        return Q(**{f"{self.column}__gte": datetime.combine(first, time(), zone)})


class RatedChatStartedFilter(StartedFilter):
    """Filters ratings by when their conversations started."""

    column = "conversation__created_at"


class RatedAtFilter(FixedFilter):
    """Filters by when the rating was given."""

    title, parameter_name = gettext_lazy("rated"), "given"
    options: ClassVar = {"day": gettext_lazy("In the last 24 hours")}

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        since = timezone.now() - timedelta(days=1)
        return Q(created_at__gte=since) if value == "day" else None


class RatingTargetFilter(FixedFilter):
    """Filters by what was rated: a conversation or a single answer. Reports count only ratings of
    conversations."""

    title, parameter_name = gettext_lazy("rating for"), "about"
    options: ClassVar = {
        "chat": gettext_lazy("Conversation"),
        "message": gettext_lazy("Single answer"),
    }

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        return Q(message__isnull=value == "chat") if value in self.options else None


class StarsFilter(FixedFilter):
    """Filters by the number of stars."""

    title, parameter_name = gettext_lazy("rating"), "rating__exact"
    options: ClassVar = {
        **{str(stars): "★" * stars for stars in range(1, 6)},
        "low": gettext_lazy("★ or ★★"),
    }

    def condition(self, request: HttpRequest, value: str) -> Q | None:
        if value == "low":
            return Q(rating__lte=2)
        return Q(rating=int(value)) if value in self.options else None
