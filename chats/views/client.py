"""AI / client: what a customer's page or the client's own server does with a conversation."""

import uuid
from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api import Deprecated, TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from chats import serializers as s
from chats.models import Conversation
from chats.serializers import insight as i
from chats.serializers import portable as p
from chats.services import conversations, language, messages, transfer, turns
from identity.auth import API_KEY, SECRET_KEY

OLD_TRANSLATE = Deprecated(
    since=datetime(2026, 11, 1, tzinfo=UTC),
    sunset=datetime(2027, 11, 1, tzinfo=UTC),
    successor="/client/translate",
)


class ClientChatViewSet(TenantViewSet):
    @operation(
        "AI / client", "Create new chat conversation", access=API_KEY, body=s.ChatCreation,
        returns=s.Conversation, status=201,
    )  # fmt: skip
    def create(self, request: Request, body: s.ChatCreation) -> s.Conversation:
        """Open a conversation, with the customer's first message where there is one."""
        return s.Conversation.of(messages.open_with(self.key, body))

    @operation(
        "AI / client", "Send message in existing chat conversation", access=API_KEY,
        body=s.ConvMessage, returns=s.ChatTurn, also={202: s.ChatTurn, 409: Error}, streams=True,
    )  # fmt: skip
    def send(self, request: Request, chat_id: uuid.UUID, body: s.ConvMessage) -> HttpResponseBase:
        """Store a customer's message; the answer is waited for, streamed, or left to come.

        As server-sent events: `message` (as stored), `delta` (text of the answer as it is made),
        `reset` (take back the deltas so far), `done` (the whole turn; its text is what counts).
        """
        chat = conversations.get(self.key, chat_id)
        message = messages.receive(chat, body)
        return turns.respond(message, reply=_asked(request, body))

    @operation(
        "AI / client", "Get chat conversation history", access=API_KEY, query=Page,
        returns=s.MessagesResponse,
    )  # fmt: skip
    def history(self, request: Request, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a conversation, oldest first; internal notes are not among them."""
        chat: Conversation = conversations.get(self.key, chat_id)
        return page(messages.history(chat), query, by="seq", shape=s.Message.of)


class MigrationViewSet(TenantViewSet):
    """The migration tool: everything in portable form, for `manage.py import_conversations`."""

    @operation(
        "AI / client", "Migration tool - Migrate chat messages", access=SECRET_KEY,
        query=p.MigratePage, returns=p.MessageEntitiesResponse,
    )  # fmt: skip
    def messages(self, request: Request, query: p.MigratePage) -> dict[str, Any]:
        """All messages of the key's chats in a stable order, internal notes too.

        Keep `next_cursor` to go on after a break. A message is listed 5 seconds after it came, so
        that none is passed over.
        """
        return page(transfer.messages(self.key), query, shape=p.MessageEntity.of)

    @operation(
        "AI / client", "Migration tool - Migrate chat conversations", access=SECRET_KEY,
        query=p.MigratePage, returns=p.ConversationEntitiesResponse,
    )  # fmt: skip
    def conversations(self, request: Request, query: p.MigratePage) -> dict[str, Any]:
        """All chats of the key in a stable order; their messages have a list of their own.

        Keep `next_cursor` to go on after a break. A chat is listed 5 seconds after it began.
        """
        return page(transfer.conversations(self.key), query, shape=p.ConversationEntity.of)


def _asked(request: Request, body: s.ConvMessage) -> str:
    """How the caller wants the reply; `Accept: text/event-stream` asks for a stream too."""
    if body.reply == "wait" and "text/event-stream" in request.headers.get("Accept", ""):
        return "stream"
    return body.reply


class ClientLanguageViewSet(TenantViewSet):
    @operation(
        "AI / client", "Generate intelligent reply suggestions for chat conversation",
        access=SECRET_KEY, body=i.SuggestionRequest, body_is_optional=True,
        returns=i.ReplySuggestions, also={402: Error, 503: Error},
    )  # fmt: skip
    def suggest(
        self, request: Request, chat_id: uuid.UUID, body: i.SuggestionRequest
    ) -> i.ReplySuggestions:
        """Replies to the customer's last message, for an agent to choose from.

        A model writes them from the bot's documents; without one they are the documents' own
        words, and what agents answered to questions like it.
        """
        return language.suggest(conversations.get(self.key, chat_id), body)

    @operation(
        "AI / client", "Multi-language text translation", access=API_KEY,
        body=i.TranslationRequest, returns=i.TranslationResponse, also={402: Error, 503: Error},
    )  # fmt: skip
    def translate(self, request: Request, body: i.TranslationRequest) -> i.TranslationResponse:
        """A text in another language. Needs a model: 503 `engine_not_configured` without one."""
        return language.translate(self.client, body)

    @operation(
        "AI / client", "AI translation API", access=API_KEY, body=i.TranslationRequest,
        returns=i.TranslationResponse, also={402: Error, 503: Error}, deprecated=OLD_TRANSLATE,
    )  # fmt: skip
    def translate_old(self, request: Request, body: i.TranslationRequest) -> i.TranslationResponse:
        """Use POST /client/translate, which answers the same."""
        return language.translate(self.client, body)

    @operation(
        "AI / client", "Intelligent content summarization with AI", access=API_KEY,
        body=i.SummarizeRequest, returns=i.SummarizeResponse, also={402: Error, 503: Error},
    )  # fmt: skip
    def summarize(self, request: Request, body: i.SummarizeRequest) -> i.SummarizeResponse:
        """A text, or messages, in few words.

        Without a model it is an extract and no composed summary: the text's first sentences, or of
        messages the first request, the latest two and the open questions.
        """
        return language.summarise(self.client, body)
