"""Paths of conversations."""

from django.urls import path

from chats.views.client import ClientChatViewSet
from chats.views.feed import FeedViewSet

urlpatterns = [
    # AI / chat
    path("ai/chat/events", FeedViewSet.as_view({"get": "stream"})),
    path("ai/chat/events/ticket", FeedViewSet.as_view({"post": "ticket"})),
    path("ai/chat/<uuid:chat_id>/typing", FeedViewSet.as_view({"post": "typing"})),
    # AI / client
    path("ai/client/chat", ClientChatViewSet.as_view({"post": "create"})),
    path("ai/client/chat/<uuid:chat_id>", ClientChatViewSet.as_view({"post": "send"})),
    path("ai/client/chat/history/<uuid:chat_id>", ClientChatViewSet.as_view({"get": "history"})),
]
