"""The event log in the admin site."""

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from webhooks.models import Event


@admin.register(Event)
class EventAdmin(ModelAdmin):
    """Append-only: looked at, never edited."""

    list_display = ["id", "type", "client", "conversation_id", "sequence", "created_at"]
    list_filter = ["type", "client"]
    list_select_related = ["client"]
    ordering = ["-id"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
