"""Clients, people and keys in the admin site; it shows no secret."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from identity.models import ApiKey, Client, User
from identity.services import api_keys


@admin.register(Client)
class ClientAdmin(ModelAdmin):
    list_display = ("name", "code", "default_language", "timezone", "is_disabled", "created_at")
    list_filter = ("is_disabled", "subscription__plan")
    search_fields = ("name", "code")
    readonly_fields = ("created_at",)

    def has_delete_permission(self, request: HttpRequest, obj: Client | None = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(ModelAdmin):
    list_display = ("email", "full_name", "client", "role", "is_disabled", "last_login")
    list_filter = ("role", "is_disabled", "is_superuser")
    list_select_related = ("client",)
    search_fields = ("email", "full_name", "client__name")
    fields = ("client", "email", "full_name", "role", "language", "is_disabled", "last_login")
    readonly_fields = ("client", "last_login")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    list_display = ("prefix", "name", "client", "scope", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("scope", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("client",)
    search_fields = ("prefix", "name", "client__name")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.select_related("client"):
            api_keys.revoke(key.client, api_key_id=key.pk)
        self.message_user(request, "Revoked.", messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        # The action needs no more than the right to see the list.
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False
