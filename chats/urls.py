"""Paths of conversations."""

from django.urls import path

from chats.views.chat import ChatViewSet, InsightViewSet, NotificationViewSet
from chats.views.client import ClientChatViewSet, ClientLanguageViewSet, MigrationViewSet

chat_tags = InsightViewSet.as_view({"post": "add_tags", "put": "replace_tags"})

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
    # AI / chat: insights
    path("ai/chat/summary/calculate", InsightViewSet.as_view({"post": "calculate"})),
    path("ai/chat/summary/calculate/<uuid:job_id>", InsightViewSet.as_view({"get": "calculation"})),
    path("ai/chat/<uuid:chat_id>/summarize", InsightViewSet.as_view({"post": "summarize"})),
    path("ai/tags", InsightViewSet.as_view({"get": "client_tags"})),
    path("ai/chat/<uuid:chat_id>/tags", chat_tags),
    path("ai/chat/<uuid:chat_id>/tags/auto", InsightViewSet.as_view({"post": "auto_tag"})),
    path("ai/chat/<uuid:chat_id>/tags/auto-temp", InsightViewSet.as_view({"post": "propose_tags"})),
    path("ai/chat/<uuid:chat_id>/sentiment", InsightViewSet.as_view({"post": "judge"})),
    path("ai/chat/<uuid:chat_id>/feedback", InsightViewSet.as_view({"post": "rate"})),
    path("ai/chat/feedbacks", InsightViewSet.as_view({"get": "ratings"})),
    # AI / client
    path("ai/client/chat", ClientChatViewSet.as_view({"post": "create"})),
    path("ai/client/chat/<uuid:chat_id>", ClientChatViewSet.as_view({"post": "send"})),
    path("ai/client/chat/history/<uuid:chat_id>", ClientChatViewSet.as_view({"get": "history"})),
    path("ai/client/migrate/messages", MigrationViewSet.as_view({"get": "messages"})),
    path("ai/client/migrate/conversations", MigrationViewSet.as_view({"get": "conversations"})),
    # AI / client: language
    path(
        "ai/client/chat/suggestions/<uuid:chat_id>",
        ClientLanguageViewSet.as_view({"post": "suggest"}),
    ),
    path("client/translate", ClientLanguageViewSet.as_view({"post": "translate"})),
    path("ai/translate", ClientLanguageViewSet.as_view({"post": "translate_old"})),
    path("client/summarize", ClientLanguageViewSet.as_view({"post": "summarize"})),
]
