"""The audit log and the background jobs on the site. Rows cannot be edited, but jobs can be retried
or cancelled."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IContains
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_lazy, ngettext

from chatplatform.admin_base import ADMINS, PLATFORM, TenantAdmin, column, confirm_action, viewer
from chatplatform.admin_lists import AdminChangeList
from chatplatform.jobs import leases
from chatplatform.models import Job
from chatplatform.templatetags.codes import codes_matching, describe_changes, humanize_code
from chatplatform.templatetags.row_history import MAX_ENTRIES, Entry, client_id_of
from identity import models
from identity.pages import audit_labels
from identity.services import cancel_job

# The maximum number of characters of an event's changes that are shown. Some changes are long, such
# as those of opening hours. The API's export contains them in full.
_MAX_CHANGES_CHARS = 600
# The number of newest events that a search in `changes` reads.
_MAX_EVENTS_SEARCHED = 10_000


class AuditChangeList(AdminChangeList):
    """A page of the audit log, with the names of the events' subjects."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = _with_subject_labels(self.result_list)


def _with_subject_labels(rows: Any) -> list[models.AuditEvent]:
    events = list(rows)
    labels = audit_labels.subjects(events)
    for event in events:
        event.subject_label = labels.get((event.client_id, event.subject))
    return events


@admin.register(models.AuditEvent)
class AuditEventAdmin(TenantAdmin):
    """The audit log. It is read-only, which the database enforces as well."""

    read_by = ADMINS

    list_display = ("created_at", "client", "who", "action", "shown_subject", "shown_changes")
    more_columns = ("user", "api_key", "address")
    list_filter = (("created_at", admin.DateFieldListFilter), "user")
    codes = frozenset({"action"})
    linked_by = frozenset({"subject", "action"})
    exclude = ("subject", "changes")
    readonly_fields = ("shown_subject", "shown_changes")
    list_select_related = ("user", "api_key")
    search_fields = ("subject", "action", "changes", "user__full_name", "user__email", "=address",
                     "=request_id", "client__name")  # fmt: skip

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return AuditChangeList

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        return row and _with_subject_labels([row])[0]

    def _contains_word(self, request: HttpRequest, name: str, word: str) -> Q:
        """A filter for the events whose field contains the word. For actions and subjects, it
        searches their labels as well. For changes, it searches only the newest events."""
        if name == "changes":
            newest = self.get_queryset(request).order_by("-pk").values_list("pk", flat=True)
            oldest = newest[_MAX_EVENTS_SEARCHED:].first() or 0
            text = Cast("changes", TextField())
            condition = Q(IContains(text, word))
            for setting in sorted(audit_labels.settings_matching(word)):
                condition |= Q(IContains(text, f'"{setting}'))
            return Q(pk__gt=oldest) & condition
        condition = super()._contains_word(request, name, word)
        if name == "action":
            condition |= Q(action__in=codes_matching(word))
        elif name == "subject":
            condition |= audit_labels.filter_by_subject_text(viewer(request).client_id, word)
        return condition

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.AuditEvent]:
        """The events, with the client prefetched. A join would drop the platform's own events,
        because no client has their client id."""
        return super().get_queryset(request).prefetch_related("client")

    def about(self, subject: str, row: Any) -> list[Entry]:
        """The latest events about a row, for the row's history on the site."""
        client_id = client_id_of(row)
        rows = models.AuditEvent.objects.filter(subject=subject)
        rows = rows.filter(client_id=client_id) if client_id else rows
        events = rows.select_related("user", "api_key").order_by("-id")[:MAX_ENTRIES]
        return [
            Entry(
                event.created_at,
                humanize_code(event.action),
                _actor(event),
                _changes(event),
            )
            for event in events
        ]

    def link_to(self, subject: str, row: Any) -> tuple[str, str]:
        """The label and the URL of a link to the audit log that shows only the events with this
        subject."""
        path = reverse("admin:identity_auditevent_changelist")
        label = gettext("View all in the audit log")
        return label, f"{path}?{urlencode({'subject__exact': subject})}"

    @column(gettext_lazy("Who"), ordering="user__full_name")
    def who(self, row: models.AuditEvent) -> str:
        return _actor(row)

    @column(gettext_lazy("Item"))
    def shown_subject(self, row: models.AuditEvent) -> str:
        noun, _, row_id = row.subject.partition(":")
        return getattr(row, "subject_label", None) or f"{humanize_code(noun)} {row_id}".strip()

    @column(gettext_lazy("Before → after"))
    def shown_changes(self, row: models.AuditEvent) -> str:
        return Truncator(_changes(row)).chars(_MAX_CHANGES_CHARS) or "–"


def _changes(row: models.AuditEvent) -> str:
    """The changes as text, in which settings have the labels that their pages show."""
    return describe_changes(row.changes, audit_labels.settings(row.action.partition(".")[0]))


def _actor(row: models.AuditEvent) -> str:
    """Who caused the event: a person, an API key or the platform."""
    if row.user_id:
        return row.user.full_name or row.user.email if row.user else gettext("Former teammate")
    if row.api_key_id:
        return gettext("API key %(name)s") % {"name": row.api_key or ""}
    return gettext("System")


@admin.register(Job)
class JobAdmin(TenantAdmin):
    """The background jobs of all clients. They cannot be deleted here."""

    client_path = None
    read_by = PLATFORM
    list_display = ("id", "shown_name", "state", "attempts", "progress", "due_at", "last_error")
    list_filter = ("state",)
    exclude = ("name",)
    readonly_fields = ("shown_name",)
    search_fields = ("name", "last_error", "trace_id")
    actions = ("requeue", "cancel")

    @column(gettext_lazy("Name"), ordering="name")
    def shown_name(self, row: Job) -> str:
        return format_html("<code>{}</code>", row.name)

    @admin.action(description=gettext_lazy("Retry failed jobs"), permissions=["platform"])
    def requeue(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        count = sum(leases.requeue_dead(row) for row in rows)
        text = ngettext("%(count)s job will run again.", "%(count)s jobs will run again.", count)
        messages.success(request, text % {"count": count})

    @admin.action(description=gettext_lazy("Cancel"), permissions=["platform"])
    @confirm_action(
        gettext_lazy(
            "Cancel these jobs? Their work won't be done, and anyone waiting for it will be"
            " notified."
        )
    )
    def cancel(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        cancelled = [cancel_job.cancel(row, by=viewer(request)) for row in rows]
        skipped = len(cancelled) - sum(cancelled)
        text = gettext(
            "Canceled: %(canceled)s. Skipped because they're running, finished, or the platform's"
            " own: %(skipped)s."
        )
        messages.success(request, text % {"canceled": sum(cancelled), "skipped": skipped})
