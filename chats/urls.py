"""The URLs of conversations: operations of the API, and the widget's pages."""

from django.urls import path

from chats.views import widget_pages
from chats.views.agent_assist import AgentAssistViewSet
from chats.views.automated_messages import AutomatedMessagesViewSet
from chats.views.chat_analysis import ChatAnalysisViewSet
from chats.views.customer_chat import AttachmentViewSet, ClientChatViewSet
from chats.views.data_exchange import ClientDocumentsViewSet, MessagingViewSet, MigrationViewSet
from chats.views.desk import (
    ChatViewSet,
    CustomerViewSet,
    DeskViewViewSet,
    FeedViewSet,
    NotificationViewSet,
    PreviewViewSet,
    PushViewSet,
    SavedReplyViewSet,
)
from chats.views.feedback import FeedbackViewSet
from chats.views.golden_collection import GoldenCollectViewSet
from chats.views.replays import ReplayViewSet
from chats.views.tags import TagViewSet
from chats.views.unanswered_questions import UnansweredViewSet

client_chat = ClientChatViewSet.as_view
customer = CustomerViewSet.as_view
messaging = MessagingViewSet.as_view
replay = ReplayViewSet.as_view
unanswered = UnansweredViewSet.as_view
saved_replies = SavedReplyViewSet.as_view
views = DeskViewViewSet.as_view
chat_tags = TagViewSet.as_view({"post": "add_tags", "put": "replace_tags"})
conversations = messaging({"post": "create", "get": "list"})
automated_messages = AutomatedMessagesViewSet.as_view({"get": "retrieve", "put": "update"})
conversation_messages = messaging({"post": "send", "get": "messages"})

urlpatterns = [
    # AI / train
    path(
        "ai/<int:bot_id>/golden-questions/collect",
        GoldenCollectViewSet.as_view({"post": "collect"}),
    ),
    path("ai/<int:bot_id>/replays", replay({"get": "list", "post": "create"})),
    path("ai/<int:bot_id>/replays/<uuid:replay_id>", replay({"get": "retrieve"})),
    path("ai/<int:bot_id>/replays/<uuid:replay_id>/replies", replay({"get": "replies"})),
    path("ai/<int:bot_id>/unanswered-questions", unanswered({"get": "list"})),
    path("ai/<int:bot_id>/unanswered-questions/<int:question_id>", unanswered({"get": "retrieve"})),
    path(
        "ai/<int:bot_id>/unanswered-questions/<int:question_id>/chats",
        unanswered({"get": "chats"}),
    ),
    path(
        "ai/<int:bot_id>/unanswered-questions/<int:question_id>/answer",
        unanswered({"post": "answer"}),
    ),
    path(
        "ai/<int:bot_id>/unanswered-questions/<int:question_id>/ask",
        unanswered({"post": "ask"}),
    ),
    # AI / chat
    path("ai/<int:bot_id>/generate-chat", PreviewViewSet.as_view({"post": "start_preview"})),
    path("ai/chat/<uuid:chat_id>/generate", PreviewViewSet.as_view({"post": "continue_preview"})),
    path("ai/chat/<uuid:chat_id>/assign", ChatViewSet.as_view({"post": "assign"})),
    path("ai/chat/<uuid:chat_id>/unassign", ChatViewSet.as_view({"post": "unassign"})),
    path("ai/chat/<uuid:chat_id>/manual", ChatViewSet.as_view({"post": "manual"})),
    path("ai/chat/<uuid:chat_id>/manual/files", ChatViewSet.as_view({"post": "manual_files"})),
    path("ai/chat/<uuid:chat_id>/history", ChatViewSet.as_view({"get": "history"})),
    path("ai/chat/<uuid:chat_id>/transcript.txt", ChatViewSet.as_view({"get": "transcript"})),
    path("ai/chat/<uuid:chat_id>/steps", ChatViewSet.as_view({"get": "steps"})),
    path(
        "ai/chat/<uuid:chat_id>/messages/<uuid:message_id>",
        ChatViewSet.as_view({"put": "edit_message", "delete": "delete_message"}),
    ),
    path(
        "ai/chat/<uuid:chat_id>/messages/<uuid:message_id>/receipt",
        ChatViewSet.as_view({"get": "receipt"}),
    ),
    path("ai/chat/<uuid:chat_id>/messages/<uuid:message_id>/replay", replay({"post": "reply"})),
    path("ai/chat/history/customer/<int:customer_id>", ChatViewSet.as_view({"get": "of_customer"})),
    path("ai/<int:bot_id>/chat-history", ChatViewSet.as_view({"get": "of_bot"})),
    path("ai/customers", customer({"get": "list"})),
    path("ai/customers/<int:customer_id>", customer({"get": "retrieve", "put": "update"})),
    path("ai/customers/<int:customer_id>/export", customer({"get": "export"})),
    path("ai/customers/<int:customer_id>/erasure", customer({"post": "erase"})),
    path("ai/customers/erasures/<uuid:erasure_id>", customer({"get": "erasure"})),
    path("ai/customers/<int:customer_id>/merge/<int:merged_id>", customer({"post": "merge"})),
    path("ai/chats", ChatViewSet.as_view({"get": "list"})),
    path("ai/chats/counts", ChatViewSet.as_view({"get": "counts"})),
    path("ai/chat/<uuid:chat_id>", ChatViewSet.as_view({"get": "retrieve"})),
    path("ai/chat/<uuid:chat_id>/end", ChatViewSet.as_view({"post": "end"})),
    path("ai/chat/<uuid:chat_id>/agent-end", ChatViewSet.as_view({"post": "agent_end"})),
    path("ai/chat/<uuid:chat_id>/snooze", ChatViewSet.as_view({"post": "snooze"})),
    path("ai/chat/<uuid:chat_id>/priority", ChatViewSet.as_view({"put": "prioritize"})),
    path("ai/chat/<uuid:chat_id>/reopen", ChatViewSet.as_view({"post": "reopen"})),
    path("ai/chat/<uuid:chat_id>/read", ChatViewSet.as_view({"post": "read"})),
    path("ai/chat/notifications", NotificationViewSet.as_view({"get": "list"})),
    path("ai/chat/notifications/read", NotificationViewSet.as_view({"put": "read_all"})),
    path(
        "ai/chat/notifications/<uuid:notification_id>/read",
        NotificationViewSet.as_view({"put": "read"}),
    ),
    path("ai/chat/push-key", PushViewSet.as_view({"get": "key_for_browsers"})),
    path("ai/chat/push-subscriptions", PushViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "ai/chat/push-subscriptions/<uuid:subscription_id>",
        PushViewSet.as_view({"delete": "destroy"}),
    ),
    path("ai/chat/views", views({"get": "list", "post": "save"})),
    path("ai/chat/views/<int:view_id>", views({"delete": "destroy"})),
    path("ai/chat/saved-replies", saved_replies({"get": "list", "post": "create"})),
    path(
        "ai/chat/saved-replies/<int:saved_reply_id>",
        saved_replies({"put": "update", "delete": "destroy"}),
    ),
    path(
        "ai/chat/<uuid:chat_id>/saved-replies/<int:saved_reply_id>",
        saved_replies({"get": "render"}),
    ),
    # AI / chat: insights
    path("ai/chat/summary/calculate", ChatAnalysisViewSet.as_view({"post": "calculate"})),
    path(
        "ai/chat/summary/calculate/<uuid:job_id>",
        ChatAnalysisViewSet.as_view({"get": "calculation"}),
    ),
    path("ai/chat/<uuid:chat_id>/summarize", ChatAnalysisViewSet.as_view({"post": "summarize"})),
    path("ai/tags", TagViewSet.as_view({"get": "client_tags", "post": "create_tag"})),
    path(
        "ai/tags/<int:tag_id>",
        TagViewSet.as_view({"put": "update_tag", "delete": "delete_tag"}),
    ),
    path("ai/tags/<int:tag_id>/merge", TagViewSet.as_view({"post": "merge_tag"})),
    path("ai/chat/<uuid:chat_id>/tags", chat_tags),
    path("ai/chat/<uuid:chat_id>/tags/auto", TagViewSet.as_view({"post": "auto_tag"})),
    path("ai/chat/<uuid:chat_id>/tags/auto-temp", TagViewSet.as_view({"post": "propose_tags"})),
    path(
        "ai/chat/<uuid:chat_id>/sentiment",
        ChatAnalysisViewSet.as_view({"post": "analyze_sentiment"}),
    ),
    path("ai/chat/<uuid:chat_id>/rewrite", AgentAssistViewSet.as_view({"post": "rewrite"})),
    path("ai/chat/<uuid:chat_id>/feedback", FeedbackViewSet.as_view({"post": "rate"})),
    path("ai/chat/feedbacks", FeedbackViewSet.as_view({"get": "ratings"})),
    # AI / chat: the live feed
    path("ai/chat/events", FeedViewSet.as_view({"get": "stream"})),
    path("ai/chat/events/ticket", FeedViewSet.as_view({"post": "ticket"})),
    path("ai/chat/<uuid:chat_id>/typing", FeedViewSet.as_view({"post": "typing"})),
    path("ai/chat/<uuid:chat_id>/viewing", FeedViewSet.as_view({"post": "viewing"})),
    # The widget's pages, which are not API operations
    path("widget/v1/loader.js", widget_pages.loader),
    path("widget/v1/frame", widget_pages.frame, name="widget_frame"),
    path("demo", widget_pages.shop, name="demo"),
    # AI / client
    path("ai/client/chat", client_chat({"post": "create"})),
    path("ai/client/chat/<uuid:chat_id>", client_chat({"get": "retrieve", "post": "send"})),
    path("ai/client/chat/customer/<uuid:chat_id>", client_chat({"post": "update_customer"})),
    path("ai/client/chat/files/<uuid:chat_id>", client_chat({"post": "send_files"})),
    path("ai/client/chat/assistant/<uuid:chat_id>", client_chat({"post": "send_as_assistant"})),
    path("ai/client/chat/auto-response/<uuid:chat_id>", client_chat({"post": "auto_respond"})),
    path("ai/client/chat/<uuid:chat_id>/delivered", client_chat({"post": "delivered"})),
    path("ai/client/chat/<uuid:chat_id>/read", client_chat({"post": "read"})),
    path("ai/client/chat/<uuid:chat_id>/transcript", client_chat({"get": "transcript"})),
    path("ai/client/chat/<uuid:chat_id>/transcript.txt", client_chat({"get": "transcript_file"})),
    path("ai/client/chat/<uuid:chat_id>/transcript/mail", client_chat({"post": "mail_transcript"})),
    path("ai/client/chats", client_chat({"get": "list"})),
    path("ai/client/visitor", client_chat({"post": "identify"})),
    path("ai/client/chat/history/<uuid:chat_id>", client_chat({"get": "history"})),
    path(
        "ai/client/chat/history-with-customer/<uuid:chat_id>",
        client_chat({"get": "history_with_customer"}),
    ),
    path("ai/client/chat/messages/<slug:chat_code>", client_chat({"get": "by_code"})),
    path("ai/attachment/<uuid:attachment_id>", AttachmentViewSet.as_view({"get": "download"})),
    path("ai/client/migrate/messages", MigrationViewSet.as_view({"get": "messages"})),
    path("ai/client/migrate/conversations", MigrationViewSet.as_view({"get": "conversations"})),
    path("ai/client/documents", ClientDocumentsViewSet.as_view({"delete": "destroy"})),
    # AI / client: language
    path(
        "ai/client/chat/suggestions/<uuid:chat_id>",
        AgentAssistViewSet.as_view({"post": "suggest"}),
    ),
    path("client/translate", AgentAssistViewSet.as_view({"post": "translate"})),
    path("ai/translate", AgentAssistViewSet.as_view({"post": "translate_old"})),
    path("client/summarize", AgentAssistViewSet.as_view({"post": "summarize"})),
    # config
    path("config/<int:client_id>/words", automated_messages),
    # messaging (the specification spells its paths this way)
    path("mesaging/conversations", conversations),
    path("mesaging/conversations/<uuid:conversation_id>", messaging({"get": "retrieve"})),
    path("mesaging/conversations/<uuid:conversation_id>/messages", conversation_messages),
    path("mesaging/conversations/<uuid:conversation_id>/end", messaging({"put": "end"})),
    path(
        "mesaging/conversations/<uuid:conversation_id>/summary",
        messaging({"get": "summary", "post": "make_summary"}),
    ),
    path(
        "mesaging/conversations/<uuid:conversation_id>/ai-tags",
        messaging({"get": "ai_tags", "post": "make_ai_tags"}),
    ),
]
