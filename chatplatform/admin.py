"""The bases of the admin site's read-only pages; the page of jobs, where dead ones are requeued."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from chatplatform.jobs import leases
from chatplatform.models import Job


class ReadOnlyAdmin(ModelAdmin):
    """Rows that only services write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(TabularInline):
    """Rows that only services write, on the page of the row they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Job)
class JobAdmin(ModelAdmin):
    list_display = ["id", "name", "state", "attempts", "progress", "due_at", "last_error"]
    list_filter = ["state", "name"]
    search_fields = ["name", "last_error", "trace_id"]
    ordering = ["-id"]
    actions = ["requeue"]

    @admin.action(description="Try dead jobs again")
    def requeue(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        count = sum(leases.requeue_dead(row) for row in rows)
        self.message_user(request, f"{count} jobs wait to be tried again.", messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
