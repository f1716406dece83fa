"""Paths of clients, people, tokens and keys."""

from django.urls import path

from identity.views.config import ConfigViewSet
from identity.views.identity import ApiKeyViewSet, IdentityViewSet, SubscriptionViewSet

urlpatterns = [
    path(
        "config/<int:client_id>/chat",
        ConfigViewSet.as_view({"get": "retrieve", "post": "update"}),
    ),
    path("identity/register-trial", IdentityViewSet.as_view({"post": "register_trial"})),
    path("identity/token2", IdentityViewSet.as_view({"post": "token"})),
    path("identity/revoke", IdentityViewSet.as_view({"post": "revoke"})),
    path("identity/users/me", IdentityViewSet.as_view({"get": "me"})),
    path("identity/client", IdentityViewSet.as_view({"get": "retrieve_client"})),
    path("identity/api-keys", ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("identity/api-keys/<int:api_key_id>", ApiKeyViewSet.as_view({"delete": "destroy"})),
    path("identity/subscription", SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("identity/subscription/top-up", SubscriptionViewSet.as_view({"post": "top_up"})),
]
