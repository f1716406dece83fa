"""Paths of conversations."""

from django.urls import path

from chats.views.chat import ChatViewSet, NotificationViewSet
from chats.views.client import ClientChatViewSet, MigrationViewSet

urlpatterns = [
    # AI / chat
    path("ai/chat/<uuid:chat_id>/assign", ChatViewSet.as_view({"post": "assign"})),
    path("ai/chat/<uuid:chat_id>/unassign", ChatViewSet.as_view({"post": "unassign"})),
    path("ai/chat/<uuid:chat_id>/manual", ChatViewSet.as_view({"post": "manual"})),
    path("ai/chat/<uuid:chat_id>/history", ChatViewSet.as_view({"get": "history"})),
    path("ai/chat/history/customer/<int:customer_id>", ChatViewSet.as_view({"get": "of_customer"})),
    path("ai/<int:bot_id>/chat-history", ChatViewSet.as_view({"get": "of_bot"})),
    path("ai/chats", ChatViewSet.as_view({"get": "list"})),
    path("ai/chat/<uuid:chat_id>/end", ChatViewSet.as_view({"post": "end"})),
    path("ai/chat/<uuid:chat_id>/agent-end", ChatViewSet.as_view({"post": "agent_end"})),
    path("ai/chat/<uuid:chat_id>/snooze", ChatViewSet.as_view({"post": "snooze"})),
    path("ai/chat/<uuid:chat_id>/read", ChatViewSet.as_view({"post": "read"})),
    path("ai/chat/notifications", NotificationViewSet.as_view({"get": "list"})),
    path(
        "ai/chat/notifications/<uuid:notification_id>/read",
        NotificationViewSet.as_view({"put": "read"}),
    ),
    # AI / client
    path("ai/client/chat", ClientChatViewSet.as_view({"post": "create"})),
    path("ai/client/chat/<uuid:chat_id>", ClientChatViewSet.as_view({"post": "send"})),
    path("ai/client/chat/history/<uuid:chat_id>", ClientChatViewSet.as_view({"get": "history"})),
    path("ai/client/migrate/messages", MigrationViewSet.as_view({"get": "messages"})),
    path("ai/client/migrate/conversations", MigrationViewSet.as_view({"get": "conversations"})),
]
