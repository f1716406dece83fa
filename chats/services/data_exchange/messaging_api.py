"""The messaging API, through which other systems open conversations and store messages from any
sender."""

from django.db import transaction
from django.db.models import QuerySet

from bots.language import detection
from chatplatform.api.errors import ApiError, NotFound
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Status,
    Summary,
    Tagging,
    TagSource,
)
from chats.schemas.content_kinds import text_of
from chats.schemas.message import Sender
from chats.schemas.messaging import ConversationRequest, MessageRequest, MessagingQuery
from chats.schemas.people import CustomerInfo
from chats.services.core import (
    attachments,
    conversations,
    customers,
    enqueue_translations,
    lifecycle,
    messages,
    tags,
)
from chats.services.insight import chat_analysis
from chats.services.reply import incoming
from identity.models import ApiKey, Role, User


class AlreadyAnswered(ApiError):
    code, status = "already_answered", 409
    detail = "The bot has replied to this message already: leave in_reply_to out."


def list_(key: ApiKey, query: MessagingQuery) -> QuerySet[Conversation]:
    """The conversations that the key may see and that match the filters, whoever opened them."""
    filters = {
        "group_id": query.group_id,
        "status": query.status,
        "tags__contains": tags.canonical_names(key.client_id, query.tags) or None,
        "customer__external_id": query.requester_id,
        "created_at__gte": query.created_from,
        "created_at__lt": query.created_to,
    }
    rows = conversations.visible_to_key(key).select_related("customer", "assignee")
    return rows.filter(**{name: value for name, value in filters.items() if value is not None})


def open_(key: ApiKey, body: ConversationRequest) -> Conversation:
    """Open a conversation. It is assigned at once if `responsible` is one of the client's
    agents."""
    bot = conversations.bot_for_key(key, None)
    requester, responsible = body.requester, body.responsible
    agent = _agent(key.client_id, responsible.external_id) if responsible else None
    customer = CustomerInfo(external_id=requester.external_id, name=requester.name or None)
    with transaction.atomic():
        row = customers.update_or_create(key.client, customer)
        chat = conversations.open_chat(
            bot,
            customer=row,
            opened_by_key_id=key.pk,
            channel="api",
            language=bot.default_language,
            tags=tags.canonical_names(key.client_id, body.tags),
            location=body.location.model_dump() if body.location else None,
            provider=body.provider,
            group_id=body.group_id or "",
            requester=requester.model_dump(),
            # The agent's id on this platform is stored next to the id in the other system.
            responsible=(
                responsible.model_dump() | {"user_id": agent.pk if agent else None}
                if responsible
                else None
            ),
        )
        tags.store_initial(chat)
        if agent:
            lifecycle.to_agent(chat, agent, by=None)
    return chat


def send(chat: Conversation, body: MessageRequest) -> Message:
    """Store a message from any sender; a repeated `client_message_id` returns the stored message.

    A message with `sent_at` is history, which has no effect on the chat. Any other message may wake
    or assign the chat, and a customer's message is answered if `generate_reply` is set.
    """
    with transaction.atomic():
        chat = conversations.lock(chat)
        agent = _agent(chat.client_id, body.sender.id) if body.sender.type == "agent" else None
        chat, existing = _find_or_reopen_chat(chat, body, agent)
        if existing:
            return existing
        if not body.sent_at:
            _prepare_chat(chat, body, agent)
        message = _append(chat, body, agent)
        if body.sender.type == "customer" and not body.sent_at:
            incoming.follow_up(chat, message, wants_reply=body.generate_reply)
        return message


def make_ai_tags(chat: Conversation) -> list[Tagging]:
    """Add the tags in which an engine has enough confidence; return all of the chat's tags that
    engines added."""
    chat_analysis.auto_tag(chat)
    return ai_tags(chat)


def end(chat: Conversation) -> Conversation:
    """End a conversation on behalf of another system; 409 `chat_ended` if it has already ended."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.end(chat, by="api")
    return chat


def summary(chat: Conversation) -> Summary:
    """The conversation's newest summary; 404 if there is none yet."""
    newest = chat_analysis.newest_summary(chat)
    if newest is None:
        raise NotFound("This conversation has no summary yet.")
    return newest


def ai_tags(chat: Conversation) -> list[Tagging]:
    """The tags of the conversation that engines added."""
    return [tagging for tagging in tags.for_chat(chat) if tagging.source == TagSource.AI]


def _find_or_reopen_chat(
    chat: LockedConversation, body: MessageRequest, agent: User | None
) -> tuple[LockedConversation, Message | None]:
    """The chat that a message belongs to, and the message itself if it is already stored. For a
    customer's new message, the chat is woken up, reopened or created as needed."""
    if body.sender.type == "customer" and not body.sent_at:
        return incoming.find_or_reopen_chat(chat, body.client_message_id)
    author = _author(chat, body.sender, agent)
    return chat, messages.find_existing(chat, body.client_message_id, author)


def _prepare_chat(chat: LockedConversation, body: MessageRequest, agent: User | None) -> None:
    """Raise an error if the chat cannot take a new message. Else wake and assign the chat as
    needed."""
    sender = body.sender
    if sender.type == "customer":
        lifecycle.ensure_not_ended(chat)
        attachments.ensure_allowed(chat, body.parts)
    else:
        lifecycle.ensure_can_reply(chat)
    if sender.type == "bot" and chat.assign_type == AssignType.AGENT:
        raise messages.AgentHasChat
    if sender.type == "agent" and chat.status == Status.SNOOZED:
        lifecycle.wake(chat)
    if agent and chat.assign_type != AssignType.AGENT:
        lifecycle.to_agent(chat, agent, by=None)


def _append(chat: LockedConversation, body: MessageRequest, agent: User | None) -> Message:
    content = attachments.resolve_links(chat, body.parts, field="content")
    text = text_of(content)
    is_agent = body.sender.type == "agent"
    return messages.append(
        chat,
        author=_author(chat, body.sender, agent),
        content=content,
        language=enqueue_translations.language_of_agent(chat, text)
        if is_agent
        else detection.detect(text, default=chat.language, offered=chat.bot.languages),
        in_reply_to=_answered_message(chat, body),
        client_message_id=body.client_message_id,
        recipient=body.recipient.model_dump() if body.recipient else None,
        metadata=body.metadata,
        sent_at=body.sent_at,
    )


def _author(chat: Conversation, sender: Sender, agent: User | None) -> messages.Author:
    """The author to store. A known agent gets the id on this platform. Any other sender is stored
    as given; a missing id or name is that of the chat's customer or bot."""
    sender_type = SenderType(sender.type)
    if agent:
        return messages.Author(sender_type, str(agent.pk), agent.full_name)
    defaults = {
        SenderType.CUSTOMER: (str(chat.customer_id), chat.customer.name),
        SenderType.BOT: (str(chat.bot_id), chat.bot.bot_name),
    }
    default_id, default_name = defaults.get(sender_type, (None, ""))
    return messages.Author(sender_type, sender.id or default_id, sender.name or default_name)


def _answered_message(chat: Conversation, body: MessageRequest) -> Message | None:
    """The message that this one replies to, or None. 404 if the chat has no such message, 409 if
    this would be a second reply to it by the bot or the system."""
    if body.in_reply_to is None:
        return None
    rows = Message.objects.for_client(chat.client)
    message = rows.filter(conversation=chat, pk=body.in_reply_to).first()
    if message is None:
        raise NotFound("This conversation has no such message.", field="in_reply_to")
    if body.sender.type in {"bot", "system"} and messages.find_reply(message):
        raise AlreadyAnswered
    return message


def _agent(client_id: int, reference: str | None) -> User | None:
    """The client's user with this id or email address, if that user may answer chats; else None."""
    if not reference:
        return None
    is_id = reference.isascii() and reference.isdigit()
    users = User.objects.filter(client_id=client_id, is_disabled=False).exclude(role=Role.VIEWER)
    rows = users.filter(pk=int(reference)) if is_id else users.filter(email=reference.lower())
    return rows.first()
