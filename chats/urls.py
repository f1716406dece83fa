"""Paths of conversations."""

from django.urls import path

from chats.views.client import ClientChatViewSet, MigrationViewSet

urlpatterns = [
    # AI / client
    path("ai/client/chat", ClientChatViewSet.as_view({"post": "create"})),
    path("ai/client/chat/<uuid:chat_id>", ClientChatViewSet.as_view({"post": "send"})),
    path("ai/client/chat/history/<uuid:chat_id>", ClientChatViewSet.as_view({"get": "history"})),
    path("ai/client/migrate/messages", MigrationViewSet.as_view({"get": "messages"})),
    path("ai/client/migrate/conversations", MigrationViewSet.as_view({"get": "conversations"})),
]
