"""The bases of the admin site's pages; the page of jobs, where dead ones are requeued."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin, TabularInline

from chatplatform.jobs import leases
from chatplatform.models import Job


def _never(admin_page: Any, request: HttpRequest, obj: Any = None) -> bool:
    return False


def asks_first(question: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes an action show the chosen rows with a question, and run only when that is confirmed."""

    def decorate(action: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(action)
        def ask(page: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> Any:
            if "confirmed" in request.POST:
                return action(page, request, rows)
            context = page.admin_site.each_context(request) | {
                "opts": page.model._meta,
                "title": question,
                "rows": rows,
                "action": action.__name__,
                "checkbox": ACTION_CHECKBOX_NAME,
            }
            return TemplateResponse(request, "admin/confirm_action.html", context)

        return ask

    return decorate


class EditOnlyAdmin(ModelAdmin):
    """Rows that staff may change, but only services add or end."""

    has_add_permission = has_delete_permission = _never


class ReadOnlyAdmin(EditOnlyAdmin):
    """Rows that only services write; the newest first."""

    ordering: ClassVar[Any] = ("-id",)
    has_change_permission = _never


class ReadOnlyInline(TabularInline):
    """Rows that only services write, on the page of the row they belong to."""

    extra = 0
    can_delete = False
    has_add_permission = has_change_permission = _never


@admin.register(Job)
class JobAdmin(ModelAdmin):
    list_display = ["id", "name", "state", "attempts", "progress", "due_at", "last_error"]
    list_filter = ["state", "name"]
    search_fields = ["name", "last_error", "trace_id"]
    ordering = ["-id"]
    actions = ["requeue"]
    has_add_permission = has_change_permission = _never

    @admin.action(description="Try dead jobs again")
    def requeue(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        count = sum(leases.requeue_dead(row) for row in rows)
        self.message_user(request, f"{count} jobs wait to be tried again.", messages.SUCCESS)
