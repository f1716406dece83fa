"""Paths of the tags `identity` and `config`."""

from django.urls import path

from identity.views import pages
from identity.views.api_keys import ApiKeyViewSet
from identity.views.clients import ClientViewSet, SubscriptionViewSet
from identity.views.configs import ConfigViewSet, EmailNotificationViewSet
from identity.views.passwords import PasswordResetViewSet
from identity.views.tokens import TokenViewSet
from identity.views.users import UserViewSet

socialnet_token = ClientViewSet.as_view({"post": "store_socialnet_token"})
reset_password = UserViewSet.as_view({"put": "reset_password"})
email_notification = EmailNotificationViewSet.as_view({"post": "update"})

urlpatterns = [
    # identity
    path("identity/client", ClientViewSet.as_view({"get": "retrieve"})),
    path("identity/socialnet-access-token", socialnet_token),
    path("identity/users", UserViewSet.as_view({"post": "create", "get": "list"})),
    path("identity/users/<int:user_id>/disable", UserViewSet.as_view({"put": "disable"})),
    path("identity/users/<int:user_id>/reset-password", reset_password),
    path("identity/users/<int:user_id>/role", UserViewSet.as_view({"put": "set_role"})),
    path("identity/token2", TokenViewSet.as_view({"post": "create"})),
    path("identity/users/me", UserViewSet.as_view({"get": "me"})),
    path("identity/register-trial", ClientViewSet.as_view({"post": "register_trial"})),
    path("identity/forgot-password", PasswordResetViewSet.as_view({"post": "request_reset"})),
    path("identity/verify-reset-token", PasswordResetViewSet.as_view({"post": "verify"})),
    path("identity/reset-password", PasswordResetViewSet.as_view({"post": "reset"})),
    path("identity/revoke", TokenViewSet.as_view({"post": "revoke"})),
    path("identity/api-keys", ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("identity/api-keys/<int:api_key_id>", ApiKeyViewSet.as_view({"delete": "destroy"})),
    path("identity/subscription", SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("identity/subscription/top-up", SubscriptionViewSet.as_view({"post": "top_up"})),
    path("reset-password", pages.reset_password),
    # config
    path(
        "config/<int:client_id>/chat",
        ConfigViewSet.as_view({"get": "retrieve", "post": "update"}),
    ),
    path("config/<int:client_id>/email-notification", email_notification),
]
