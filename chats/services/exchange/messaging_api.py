"""The messaging interface: other systems' conversations and messages, on the same rows."""

from django.db import transaction
from django.db.models import QuerySet

from bots.knowledge import language as languages
from chatplatform.api.errors import ApiError, Invalid, NotFound
from chats.models import (
    AssignType,
    Channel,
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Status,
    Summary,
    Tagging,
    TagSource,
)
from chats.services.core import attachments, conversations, customers, lifecycle, messages, tags
from chats.services.insight import insights
from chats.services.reply import incoming
from chats.shapes.message import Sender
from chats.shapes.messaging import ConversationRequest, MessageRequest
from chats.shapes.people import CustomerInfo
from identity.models import ApiKey, Role, User


class AlreadyAnswered(ApiError):
    code, status = "already_answered", 409
    detail = "The bot's one reply to this message is there already: leave in_reply_to out."


def list_(key: ApiKey) -> QuerySet[Conversation]:
    """The key's conversations, whichever door they came through."""
    return conversations.visible_to(key).select_related("customer", "assignee")


def open_(key: ApiKey, given: ConversationRequest) -> Conversation:
    """Open a conversation; it is its agent's from the beginning where one of ours is named."""
    bot = conversations.bot_of(key, None)
    asks = given.requester
    customer = CustomerInfo(external_id=asks.external_id, name=asks.name or None)
    with transaction.atomic():
        chat = conversations.begin(
            bot,
            customer=customers.find_or_create(key.client, customer),
            opened_by_key_id=key.pk,
            channel=Channel.API,
            language=bot.default_language,
            tags=given.tags,
            location=given.location.model_dump() if given.location else None,
            provider=given.provider,
            group_id=given.group_id or "",
            requester=asks.model_dump(),
            responsible=given.responsible.model_dump() if given.responsible else None,
        )
        tags.begin(chat)
        agent = _agent(key.client_id, given.responsible.external_id) if given.responsible else None
        if agent:
            lifecycle.to_agent(chat, agent, by=None)
    return chat


def send(chat: Conversation, given: MessageRequest) -> Message:
    """Store a message; what follows depends on who says it, and nothing follows on history."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        agent = _agent(chat.client_id, given.sender.id) if given.sender.type == "agent" else None
        chat, known = _place(chat, given, agent)
        if known:
            return known
        if not given.sent_at:
            _make_room(chat, given.sender, agent)
        message = _store(chat, given, agent)
        if given.sender.type == "customer" and not given.sent_at:
            incoming.enqueue_translation(message)
        if given.generate_reply:
            incoming.request_reply(chat, message)
        return message


def end(chat: Conversation) -> Conversation:
    """The other system ends it; 409 `chat_ended` where it has ended already."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.end(chat, by="api")
    return chat


def summary(chat: Conversation) -> Summary:
    """The newest summary; 404 before the first."""
    newest = insights.newest_summary(chat)
    if newest is None:
        raise NotFound("This conversation has no summary yet.")
    return newest


def ai_tags(chat: Conversation) -> list[Tagging]:
    """The tags that an engine gave."""
    return [one for one in tags.for_chat(chat) if one.source == TagSource.AI]


def _place(
    chat: LockedConversation, given: MessageRequest, agent: User | None
) -> tuple[LockedConversation, Message | None]:
    """The chat that a message belongs to, and the message where it is known."""
    if given.sender.type == "customer" and not given.sent_at:
        return incoming.resolve_target(chat, given.client_message_id)
    author = _author(chat, given.sender, agent)
    return chat, messages.find_known(chat, given.client_message_id, author)


def _make_room(chat: LockedConversation, sender: Sender, agent: User | None) -> None:
    """What a message of now does to its conversation before it is stored."""
    lifecycle.refuse_ended(chat)
    if sender.type == "bot" and chat.assign_type == AssignType.AGENT:
        raise messages.AgentHasChat
    if sender.type == "agent" and chat.status == Status.SNOOZED:
        lifecycle.wake(chat)
    if agent and chat.assign_type != AssignType.AGENT:
        lifecycle.to_agent(chat, agent, by=None)


def _store(chat: LockedConversation, given: MessageRequest, agent: User | None) -> Message:
    content = attachments.linked(chat, given.pieces, field="content")
    return messages.append(
        chat,
        author=_author(chat, given.sender, agent),
        content=content,
        language=languages.detect(messages.text_of(content), default=chat.language),
        in_reply_to=_answered(chat, given),
        client_message_id=given.client_message_id,
        recipient=given.recipient.model_dump() if given.recipient else None,
        metadata=given.metadata,
        sent_at=given.sent_at,
    )


def _author(chat: Conversation, sender: Sender, agent: User | None) -> messages.Author:
    """Who says it: one of ours by our own id; else as the sender says, or as we know that side."""
    side = SenderType(sender.type)
    if agent:
        return messages.Author(side, str(agent.pk), agent.full_name)
    known = {
        SenderType.CUSTOMER: (str(chat.customer_id), chat.customer.name),
        SenderType.BOT: (str(chat.bot_id), chat.bot.bot_name),
    }
    id_, name = known.get(side, (None, ""))
    return messages.Author(side, sender.id or id_, sender.name or name)


def _answered(chat: Conversation, given: MessageRequest) -> Message | None:
    """The message that is answered; the machine answers each once."""
    if given.in_reply_to is None:
        return None
    rows: QuerySet[Message] = Message.objects.for_client(chat.client)
    found = rows.filter(conversation=chat, pk=given.in_reply_to).first()
    if found is None:
        raise Invalid.field("body", "in_reply_to", msg="No such message in this conversation.")
    if given.sender.type in {"bot", "system"} and messages.reply_to(found):
        raise AlreadyAnswered
    return found


def _agent(client_id: int, named: str | None) -> User | None:
    """One of the client's people, by id or e-mail address; None for anyone else."""
    if not named:
        return None
    by_id = named.isascii() and named.isdigit() and len(named) < 18
    people = User.objects.filter(client_id=client_id, is_disabled=False).exclude(role=Role.VIEWER)
    named_so = people.filter(pk=int(named)) if by_id else people.filter(email=named.lower())
    return named_so.first()
