"""Opens, finds and locks conversations, identifies their customers, and announces their changes."""

import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Required, TypedDict, Unpack

from django.db import transaction
from django.db.models import Case, IntegerField, Q, QuerySet, When
from django.db.models.functions import Now

from bots.models import Bot
from bots.services import bots
from chatplatform.api.errors import ApiError, Invalid, NotFound, first_or_404
from chats.models import (
    AssignType,
    Conversation,
    Customer,
    LockedConversation,
    Message,
    Priority,
    ReplyScope,
    Status,
)
from chats.schemas import conversation as conversation_schemas
from chats.schemas.people import ChatCustomer, CustomerInfo
from chats.schemas.visitor import VisitorIdentity
from chats.services.core import customers, fast_sql, team_notifications, visitor_claims
from identity.auth import Principal
from identity.models import ApiKey, User
from identity.services import visitor_tokens
from webhooks.services import announce

# A conversation's priority as a number; a higher one is more urgent.
RANK = Case(
    *(When(priority=name, then=place) for place, name in enumerate(Priority.values)),
    output_field=IntegerField(),
)


class ChatEnded(ApiError):
    code, status = "chat_ended", 409
    detail = "This conversation has ended."


# The maximum number of chats in a visitor's list.
_MAX_LISTED = 10


class ConversationFields(TypedDict, total=False):
    """Columns of a new conversation besides its bot and its customer."""

    opened_by_key_id: int | None
    visitor_id: int | None
    channel: str
    is_preview: bool
    language: Required[str]
    tags: list[str]
    location: dict[str, Any] | None
    metadata: dict[str, Any]
    previous_chat: Conversation
    provider: str
    group_id: str
    requester: dict[str, Any]
    responsible: dict[str, Any] | None
    reply_window_expires_at: datetime | None
    provider_user_id: str


def visible_to_key(key: ApiKey) -> QuerySet[Conversation]:
    """The chats of the key's bot, or of the whole client if the key serves all bots; no
    previews."""
    of_bot = {"bot_id": key.bot_id} if key.bot_id else {}
    return Conversation.objects.for_client(key.client).filter(is_preview=False, **of_bot)


def visible_to_user(user: User, *, path: str = "") -> Q:
    """A filter for the chats that a person may see: all except other people's previews, which only
    owners, admins and platform staff see. `path` is the lookup from the filtered rows to their
    conversation, such as `conversation__`."""
    if user.is_admin or user.is_superuser:
        return Q()
    own = {f"{path}customer__external_id": customers.previewer_id(user)}
    return Q(**{f"{path}is_preview": False}) | Q(**own)


def visible_to_caller(caller: Principal) -> QuerySet[Conversation]:
    """The chats that the caller may see: for a person, those of `visible_to_user`; for a secret
    key, those of `visible_to_key`; for a public key, only those it opened for its visitor."""
    if caller.key is None:
        assert caller.user
        return Conversation.objects.for_client(caller.client).filter(visible_to_user(caller.user))
    rows = visible_to_key(caller.key)
    if not caller.is_public_key:
        return rows
    if caller.visitor_id is None:
        return rows.none()
    return rows.filter(opened_by_key=caller.key, visitor_id=caller.visitor_id)


def get(caller: Principal, **by: Any) -> Conversation:
    """The conversation with this `pk` or `chat_code`; 404 if the caller may not see it."""
    rows = visible_to_caller(caller).select_related("customer", "assignee", "last_message")
    return first_or_404(rows.filter(**by))


def place_in_queue(chat: Conversation) -> int | None:
    """The chat's place, counted from 1, among the bot's open chats that wait for an agent, ordered
    by priority and then by waiting time. None if the chat does not wait."""
    if chat.status != Status.OPEN or chat.assign_type != AssignType.QUEUE:
        return None
    waiting = Conversation.objects.filter(
        client_id=chat.client_id,
        bot_id=chat.bot_id,
        status=Status.OPEN,
        assign_type=AssignType.QUEUE,
        is_preview=False,
    )
    rank = Priority.values.index(chat.priority)
    longer = Q(waiting_since__lt=chat.waiting_since) if chat.waiting_since else Q()
    before = waiting.annotate(rank=RANK).filter(Q(rank__gt=rank) | Q(longer, rank=rank))
    return before.exclude(pk=chat.pk).count() + 1


def open_chat(
    bot: Bot, *, customer: Customer, **fields: Unpack[ConversationFields]
) -> LockedConversation:
    """Store and announce a new conversation, which starts in the queue if the bot is off. 403
    `customer_blocked` for a blocked customer."""
    reason = bot_off_reason(bot)
    with transaction.atomic():
        bots.lock_against_deletion(bot)
        row = Conversation.objects.create(
            client_id=bot.client_id,
            bot=bot,
            customer=customer,
            assign_type=AssignType.QUEUE if reason else AssignType.BOT,
            handoff_reason=reason,
            handed_off_at=Now() if reason else None,
            waiting_since=Now() if reason else None,
            **fields,
        )
        chat = lock(row)
        customers.ensure_not_blocked(chat.customer)
        announce_change(chat, "conversation.created")
        if reason:
            team_notifications.enqueue_waiting(chat)
    return chat


def update_customer(caller: Principal, chat_id: uuid.UUID, info: ChatCustomer) -> Conversation:
    """Update a chat's customer; fields that are left out keep their values. If `info` has the
    external id of another customer, the chat moves to that customer. A public key must send the
    signature of the external id."""
    with transaction.atomic():
        if caller.key and caller.is_public_key and info.external_id:
            bot = bot_for_key(caller.key, None)
            if not info.identity_signature:
                msg = "Send the identity_signature of this external_id."
                raise Invalid.field("body", "external_id", msg=msg)
            visitor_claims.ensure_signed(bot, info.external_id, info.identity_signature)
            caller = sign_in(caller, info)
        chat = lock(get(caller, pk=chat_id))
        customers.check_update(chat.bot, info)
        chat.customer = customers.identify(
            chat.customer_id, info, by_public_key=caller.is_public_key
        )
        chat.save(update_fields=["customer"])
    return chat


def sign_in(visitor: Principal, info: CustomerInfo) -> Principal:
    """Move the visitor's chats to the customer with the signed external id; return the caller with
    that customer as its visitor. Chats of a customer who has a different external id do not move.
    """
    may_move = Q(customer__external_id=None) | Q(customer__external_id=info.external_id)
    rows = visible_to_caller(visitor).filter(may_move).select_for_update(no_key=True, of=("self",))
    chats = list(rows.order_by("pk").values_list("pk", flat=True))
    customer = customers.update_or_create_for_visitor(visitor, info)
    Conversation.objects.filter(pk__in=chats).update(customer=customer, visitor_id=customer.pk)
    return replace(visitor, visitor_id=customer.pk)


def identify_visitor(
    caller: Principal, identity: VisitorIdentity
) -> tuple[str | None, list[Conversation]]:
    """A visitor token (None for a secret key) and the newest chats of the customer with this
    external id; (None, []) if there is no such customer. 401 if a public key sends an id without a
    valid signature."""
    external_id, token = identity.external_id, None
    if caller.key and caller.is_public_key:
        bot = bot_for_key(caller.key, None)
        visitor_claims.ensure_signed(bot, external_id, identity.identity_signature)
    known = Customer.objects.for_client(caller.client).filter(external_id=external_id).first()
    if known is None:
        return None, []
    if caller.key and caller.is_public_key:
        caller = replace(caller, visitor_id=known.pk)
        token = visitor_tokens.issue(bot_id=bot.pk, visitor_id=known.pk)
    rows = visible_to_caller(caller).filter(customer=known, last_message__isnull=False)
    return token, list(rows.select_related("last_message").order_by("-pk")[:_MAX_LISTED])


def lock(chat: Conversation) -> LockedConversation:
    """The chat's current row, locked until the transaction ends; 404 if it was deleted.

    Messages and events get their numbers under this lock. After waiting for it, PostgreSQL reads
    this row again, but the joined rows are still as they were before the wait. Therefore, only rows
    that rarely change are joined; the assignee is not. If the chat moved to another customer during
    the wait, the join finds nothing, and the second query finds the chat.
    """
    row = fast_sql.lock_chat(chat.pk) or fast_sql.lock_chat(chat.pk)
    if row is None:
        raise NotFound  # the chat was deleted
    return LockedConversation(row)


class LockedForReply(NamedTuple):
    """A message's locked chat, whether the message is answered, and what the bot may reply."""

    chat: LockedConversation
    is_answered: bool
    reply_scope: ReplyScope | None


def lock_for_reply(message: Message) -> LockedForReply:
    """Lock a message's chat to store a reply; 404 if it was deleted. Related rows that were loaded
    with the message are not read again."""
    found = fast_sql.lock_for_reply(message)
    if found is None:
        raise NotFound  # the chat was deleted
    chat, is_answered, scope = found
    return LockedForReply(LockedConversation(chat), is_answered, scope)


def announce_change(chat: LockedConversation, event_type: str, **extra: Any) -> None:
    """Write an event about the conversation itself; previews have no events."""
    if chat.is_preview:
        return
    sequence = next_event(chat)
    shown = conversation_schemas.Conversation.from_row(chat).model_dump(mode="json")
    data = {"conversation": shown, **extra}
    announce(chat.client_id, event_type, data, conversation_id=chat.pk, sequence=sequence)


def next_event(chat: LockedConversation) -> int:
    """Count another event of the conversation, and return its number."""
    chat.last_event_seq += 1
    chat.save(update_fields=["last_event_seq"])
    return chat.last_event_seq


def bot_for_key(key: ApiKey, bot_id: int | None) -> Bot:
    """The bot with which a key opens a chat: the key's own bot or, if it serves all bots, the
    requested one. 404 if the key belongs to another bot."""
    if key.bot_id and bot_id not in {None, key.bot_id}:
        raise NotFound("This key serves another bot.", field="bot_id")
    return bots.for_key(key, bot_id=bot_id, location="body")


def bot_off_reason(bot: Bot) -> str | None:
    """Why the bot takes neither new chats nor chats handed back to it; None if it takes them."""
    if bot.is_disabled:
        return "bot_disabled"
    return "agents_reply" if bot.agent_reply else None
