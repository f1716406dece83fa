"""Enqueues the translation of messages between a customer and the agents, if the client's
`auto_translate` is on and there is a model."""

from bots.engine import Capability
from bots.language import detection
from bots.language.phrasebook import base_of
from bots.services import engines
from chatplatform.jobs import enqueue
from chats.models import Conversation, Message, SenderType
from chats.schemas.content_kinds import kind_of


def enqueue_for_agents(chat: Conversation, message: Message) -> None:
    """Enqueue the translation of a customer's message into the client's default language."""
    if chat.client.config.auto_translate and not message.metadata.get("no_words"):
        _enqueue(message, to=chat.client.default_language)


def enqueue_for_customer(
    chat: Conversation, message: Message, *, ordering_key: str | None = None
) -> None:
    """Enqueue the translation of an agent's message into the customer's language, unless it is a
    template. `ordering_key` is the key of the job that sends the message to a channel, if there is
    one; that job then waits for the translation."""
    is_translated = all(kind_of(part).is_translated for part in message.content)
    if chat.client.config.auto_translate and is_translated:
        _enqueue(message, to=chat.language, ordering_key=ordering_key)


def language_of_agent(chat: Conversation, text: str) -> str:
    """The language of an agent's text. If it cannot be detected and messages are translated, it is
    the client's default language, because agents can then write in their own language. If messages
    are not translated, it is the chat's language."""
    client = chat.client
    default = client.default_language if client.config.auto_translate else chat.language
    return detection.detect(text, default=default, offered=[chat.language])


def for_customer(message: Message) -> str | None:
    """The translation that the customer reads instead of an agent's text; None if there is no
    translation or no agent wrote the message."""
    if message.sender_type != SenderType.AGENT:
        return None
    return next(iter(message.translations.values()), None)


def _enqueue(message: Message, *, to: str, ordering_key: str | None = None) -> None:
    client = message.client
    if not message.text.strip() or base_of(message.language) == base_of(to):
        return
    if Capability.WRITE in engines.engine_for(client, message.conversation.bot).capabilities:
        enqueue(
            "chats.translate_message",
            client_id=client.pk,
            ordering_key=ordering_key,
            message_id=str(message.pk),
            to=to,
        )
