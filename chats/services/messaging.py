"""The messaging interface: other systems' conversations and messages, on the same rows."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from bots.knowledge import language as languages
from chatplatform.errors import Invalid, NotFound
from chats import serializers as s
from chats.models import (
    AssignType,
    Channel,
    Conversation,
    Message,
    SenderType,
    Status,
    Summary,
    Tagging,
    TagSource,
)
from chats.serializers.messaging import ConversationRequest, MessageRequest
from chats.services import attachments, conversations, customers, lifecycle, messages, tags
from identity.models import ApiKey, Role, User


def list_(key: ApiKey) -> QuerySet[Conversation]:
    """The key's conversations, whichever door they came through."""
    return conversations.visible_to(key).select_related("customer", "assignee")


def open_(key: ApiKey, given: ConversationRequest) -> Conversation:
    """Open a conversation; it is its agent's from the beginning where one of ours is named."""
    bot = conversations.bot_of(key, None)
    asks = given.requester
    customer = s.CustomerInfo(external_id=asks.external_id, name=asks.name or None)
    with transaction.atomic():
        chat = conversations.begin(
            bot,
            customer=customers.of(key.client, customer),
            opened_by_key=key,
            channel=Channel.API,
            language=bot.default_language,
            tags=s.distinct(given.tags),
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
        if given.generate_reply:
            return _ask(chat, given)
        if not given.sent_at:
            _make_room(chat, given.sender)
        return _store(chat, given)


def end(chat: Conversation) -> Conversation:
    """The other system ends it; 409 `chat_ended` where it has ended already."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.end(chat, by="api")
    return chat


def summary(chat: Conversation) -> Summary:
    """The newest summary; 404 before the first."""
    rows: QuerySet[Summary] = Summary.objects.of(chat.client)
    newest = rows.filter(conversation=chat).order_by("-id").first()
    if newest is None:
        raise NotFound("This conversation has no summary yet.")
    return newest


def ai_tags(chat: Conversation) -> list[Tagging]:
    """The tags that an engine gave."""
    rows: QuerySet[Tagging] = Tagging.objects.of(chat.client)
    return list(rows.filter(conversation=chat, source=TagSource.AI).order_by("id"))


def _ask(chat: Conversation, given: MessageRequest) -> Message:
    """A customer's message as if it came through our own door."""
    text = "\n".join(piece.text for piece in given.pieces if piece.text)
    message = messages.receive(
        chat,
        s.ConvMessage.model_construct(
            text=text,
            client_message_id=given.client_message_id,
            language=None,
            attachments=[piece for piece in given.pieces if piece.type != "text"],
            reply="async",
        ),
    )
    Message.objects.filter(pk=message.pk).update(metadata=given.metadata)
    message.metadata = given.metadata
    return message


def _make_room(chat: Conversation, sender: s.Sender) -> None:
    """What a message of now does to its conversation before it is stored."""
    if sender.type == SenderType.CUSTOMER.value:
        messages.make_open(chat)
        return
    lifecycle.refuse_ended(chat)
    if sender.type == SenderType.BOT.value and chat.assign_type == AssignType.AGENT:
        raise messages.AgentHasChat
    if sender.type == SenderType.AGENT.value:
        if chat.status == Status.SNOOZED:
            lifecycle.wake(chat)
        agent = _agent(chat.client_id, sender.id)
        if agent and chat.assign_type != AssignType.AGENT:
            lifecycle.to_agent(chat, agent, by=None)


def _store(chat: Conversation, given: MessageRequest) -> Message:
    known = messages.find_known(chat, given.client_message_id, SenderType(given.sender.type))
    if known:
        return known
    pieces = [piece.model_dump(mode="json", exclude_none=True) for piece in given.pieces]
    text = "\n".join(piece["text"] for piece in pieces if piece.get("text"))
    more: dict[str, Any] = {"metadata": given.metadata, "sent_at": given.sent_at}
    if given.recipient:
        more["recipient"] = given.recipient.model_dump()
    return messages.append(
        chat,
        author=messages.Author(SenderType(given.sender.type), given.sender.id, given.sender.name),
        content=attachments.linked(chat, pieces),
        language=languages.detect(text, default=chat.language),
        in_reply_to=_answered(chat, given.in_reply_to),
        client_message_id=given.client_message_id,
        **more,
    )


def _answered(chat: Conversation, message_id: uuid.UUID | None) -> Message | None:
    if message_id is None:
        return None
    rows: QuerySet[Message] = Message.objects.of(chat.client)
    found = rows.filter(conversation=chat, pk=message_id).first()
    if found is None:
        raise Invalid.field("body", "in_reply_to", msg="No such message in this conversation.")
    return found


def _agent(client_id: int, named: str | None) -> User | None:
    """One of the client's people, by id or e-mail address; None for anyone else."""
    if not named:
        return None
    by_id = named.isascii() and named.isdigit() and len(named) < 18
    people = User.objects.filter(client_id=client_id, is_disabled=False).exclude(role=Role.VIEWER)
    named_so = people.filter(pk=int(named)) if by_id else people.filter(email=named.lower())
    return named_so.first()
