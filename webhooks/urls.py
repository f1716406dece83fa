"""Paths of the tag `Webhook`."""

from django.urls import path

from webhooks.views.webhook import ConfigViewSet, EventViewSet

urlpatterns = [
    # Webhook
    path("webhook/config", ConfigViewSet.as_view({"get": "retrieve", "post": "create"})),
    path("webhook/test", EventViewSet.as_view({"post": "test"})),
    path("webhook/events", EventViewSet.as_view({"get": "list"})),
    path("webhook/events/<str:event_id>/replay", EventViewSet.as_view({"post": "replay"})),
    path("webhook/config/rotate-secret", ConfigViewSet.as_view({"post": "rotate_secret"})),
    path("webhook/configs", ConfigViewSet.as_view({"get": "list"})),
    path(
        "webhook/config/<uuid:config_id>",
        ConfigViewSet.as_view({"put": "update", "delete": "destroy"}),
    ),
    path("webhook/events/<str:event_id>", EventViewSet.as_view({"get": "retrieve"})),
    path("webhook/replay", EventViewSet.as_view({"post": "replay_range"})),
]
