"""Receives customers' messages: stores them, requests replies, and builds each `ChatTurn`."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Unpack

import orjson
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from bots.language import detection
from bots.models import Bot
from bots.services import bots
from bots.services.function_call_approvals import ordering_key
from chatplatform import locks
from chatplatform.api.errors import ApiError
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.jobs import NO_WAIT, enqueue, postpone
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    ReplyScope,
    SenderType,
    Status,
)
from chats.schemas import message as message_schemas
from chats.schemas.conversation import ChatCreation
from chats.services.core import (
    attachments,
    conversations,
    customers,
    enqueue_translations,
    fast_sql,
    handoffs,
    lifecycle,
    messages,
    reply_policy,
    row_json,
    tags,
    visitor_claims,
)
from chats.services.core.channel_hooks import ChannelFields
from chats.services.reply import customer_media
from chats.services.reply.streams import ReplyStream
from identity.auth import Principal

# The bot waits for further messages at most this many times `burst_wait` before it replies.
MAX_BURST_WAITS = 5


class NothingToAnswer(ApiError):
    code, status = "nothing_to_answer", 409
    detail = "The customer hasn't written anything yet."


class Received(NamedTuple):
    """A customer's stored message. `is_new`: whether this request stored it."""

    message: Message
    is_new: bool
    is_reply_coming: bool = False


class Turn(NamedTuple):
    """A customer's message and its `ChatTurn` as JSON data."""

    message: Message | fast_sql.PlainMessage
    shown: dict[str, Any]


class Opened(NamedTuple):
    """A customer's chat. `is_new`: whether this request opened it."""

    chat: LockedConversation
    is_new: bool


def open_chat(
    caller: Principal, creation: ChatCreation, *, client_message_id: str | None = None
) -> Opened:
    """Open a conversation and store its first message, if there is one. With the client's setting
    `reuse_open`, an open or snoozed chat of the customer with the bot is used instead of a new
    one."""
    assert caller.key
    bot = conversations.bot_for_key(caller.key, creation.bot_id)
    if caller.is_public_key:
        visitor_claims.ensure_visitor_may_set(bot, creation)
    with transaction.atomic():
        chat, is_new = _open_or_reuse(caller, bot, creation)
        if creation.message:
            first = message_schemas.ConvMessage(
                text=creation.message,
                language=creation.language,
                client_message_id=client_message_id,
            )
            _receive(chat, first)
    return Opened(chat, is_new)


def _open_or_reuse(caller: Principal, bot: Bot, creation: ChatCreation) -> Opened:
    external_id = creation.customer.external_id
    reuses_open = caller.client.config.reuse_open and external_id
    if reuses_open:
        # Without the lock, two simultaneous requests for a customer would open two chats.
        locks.lock_in_transaction(f"open-chat:{caller.client_id}:{external_id}")
    if caller.is_public_key and external_id:
        bots.lock_against_deletion(bot)
        caller = conversations.sign_in(caller, creation.customer)
    while reuses_open and (existing := _find_open(caller, bot, creation)):
        chat = conversations.lock(existing)
        if chat.status != Status.ENDED:
            customers.ensure_not_blocked(chat.customer)
            customers.check_update(bot, creation.customer, "customer")
            chat.customer = customers.update(
                chat.customer_id, creation.customer, by_public_key=caller.is_public_key
            )
            return Opened(chat, is_new=False)
    return Opened(_open(caller, bot, creation), is_new=True)


def _open(caller: Principal, bot: Bot, creation: ChatCreation) -> LockedConversation:
    assert caller.key
    customer = customers.update_or_create_for_chat(bot, creation.customer, by=caller)
    chat = conversations.open_chat(
        bot,
        customer=customer,
        opened_by_key_id=caller.key.pk,
        visitor_id=customer.pk if caller.is_public_key else None,
        channel=creation.channel,
        language=creation.language
        or detection.detect(
            creation.message or "", default=bot.default_language, offered=bot.languages
        ),
        tags=tags.canonical_names(caller.client_id, creation.tags),
        location=creation.location.model_dump() if creation.location else None,
        metadata=creation.metadata,
    )
    tags.store_initial(chat)
    messages.append_welcome(chat)
    return chat


def _find_open(caller: Principal, bot: Bot, creation: ChatCreation) -> Conversation | None:
    """The customer's newest open or snoozed chat with the bot, if any, except on messaging
    channels."""
    assert caller.key
    rows = conversations.visible_to_key(caller.key).exclude(status=Status.ENDED)
    candidates = rows.exclude(channel__in=MESSAGING_CHANNELS).filter(bot=bot)
    if caller.is_public_key:
        # Leave out chats that were opened for another visitor and later moved to this customer.
        candidates = candidates.filter(opened_by_key=caller.key, visitor_id=F("customer_id"))
    return (
        candidates.filter(customer__external_id=creation.customer.external_id)
        .order_by("-id")
        .first()
    )


def receive(
    chat: Conversation,
    body: message_schemas.ConvMessage,
    *,
    files: Sequence[attachments.StoredFile] = (),
    **fields: Unpack[ChannelFields],
) -> Received:
    """Store a customer's message and, if the bot should reply, enqueue the reply. A repeated
    `client_message_id` returns the stored message. `fields` are what a channel knows besides the
    content."""
    with transaction.atomic():
        return _receive(conversations.lock(chat), body, files, **fields)


def receive_by(caller: Principal, chat_id: uuid.UUID, body: message_schemas.ConvMessage) -> Turn:
    """Store a customer's message in a chat that the caller may see, and return its turn; 404 for
    any other chat. A database function stores plain messages, which most are, and `receive` all
    others."""
    is_plain = not body.attachments
    guess = detection.Guess((), body.language) if body.language else detection.guess(body.text)
    lacks_credits = partial(reply_policy.lacks_credits_for, caller, chat_id)
    stored = is_plain and fast_sql.receive_message(
        caller, chat_id, body, guess, lacks_credits=lacks_credits
    )
    if stored:
        return _plain_turn(stored, caller, reply_requested=body.reply != "none")
    received = receive(conversations.get(caller, pk=chat_id), body)
    return turn_of_received(received, reply_requested=body.reply != "none")


def _receive(
    locked: LockedConversation,
    body: message_schemas.ConvMessage,
    files: Sequence[attachments.StoredFile] = (),
    **fields: Unpack[ChannelFields],
) -> Received:
    chat, existing = find_or_reopen_chat(locked, body.client_message_id)
    if existing:
        return Received(existing, is_new=False)
    attachments.ensure_allowed(chat, body.attachments, files)
    waiting_since = chat.waiting_since
    message = messages.append(
        chat,
        author=messages.Author.customer_of(chat),
        content=messages.build_content(chat, body, files),
        language=body.language
        or detection.detect(body.text, default=chat.language, offered=chat.bot.languages),
        client_message_id=body.client_message_id,
        **fields,
    )
    attachments.attach(message, files)
    if message.metadata.get("needs_no_reply"):
        # The message that opens a chat may have put it into the queue.
        is_first = message.seq == chat.read_from_seq + 1
        chat.waiting_since = None if is_first else waiting_since
        chat.save(update_fields=["waiting_since"])
    is_coming = follow_up(chat, message, wants_reply=body.reply != "none")
    return Received(message, is_new=True, is_reply_coming=is_coming)


def follow_up(chat: LockedConversation, message: Message, *, wants_reply: bool) -> bool:
    """Enqueue the translation of a customer's new message and the bot's reply or, if no reply is
    coming, the transcription of voice notes; return whether a reply is coming. If the company is
    closed and the bot does not have the chat, tell the customer, unless the message needs no reply.
    """
    enqueue_translations.enqueue_for_agents(chat, message)
    if not message.metadata.get("needs_no_reply"):
        handoffs.notify_if_closed(chat, language=message.language)
    is_coming = wants_reply and _request_reply(chat, message)
    if not is_coming:
        customer_media.enqueue_transcription(chat, message)
    return is_coming


def find_or_reopen_chat(
    chat: LockedConversation, client_message_id: str | None
) -> tuple[LockedConversation, Message | None]:
    """The chat that a customer's message belongs to, and the message if it is already stored. If
    not, the chat is woken, reopened or created as needed."""
    customer = messages.Author(SenderType.CUSTOMER)
    existing = messages.find_existing(chat, client_message_id, customer)
    while existing is None and chat.status == Status.ENDED and not _may_reopen(chat):
        chat = _next_chat(chat)
        existing = messages.find_existing(chat, client_message_id, customer)
    if existing is None and chat.status == Status.ENDED:
        lifecycle.reopen(chat)
    elif existing is None and chat.status == Status.SNOOZED:
        lifecycle.wake(chat)
    return chat, existing


def _may_reopen(chat: Conversation) -> bool:
    window = timedelta(minutes=chat.client.config.reopen_window_minutes)
    return chat.ended_at is not None and timezone.now() < chat.ended_at + window


def _next_chat(chat: LockedConversation) -> LockedConversation:
    """The chat that follows one that ended too long ago to be reopened; created if needed."""
    existing = Conversation.objects.filter(previous_chat=chat).order_by("-id").first()
    if existing:
        return conversations.lock(existing)
    return conversations.open_chat(
        chat.bot,
        customer=chat.customer,
        opened_by_key_id=chat.opened_by_key_id,
        visitor_id=chat.visitor_id,
        channel=chat.channel,
        language=chat.language,
        location=chat.location,
        previous_chat=chat,
    )


# --- requests for a reply -----------------------------------------------------------------------


def _request_reply(chat: LockedConversation, message: Message) -> bool:
    """Enqueue the bot's reply if the bot may reply; return whether it may. Messages that follow
    each other within `burst_wait` share a reply."""
    if not reply_policy.may_begin(chat, reply_policy.bot_may_reply(chat)):
        return False
    burst_wait = timedelta(milliseconds=chat.client.config.burst_wait_ms)

    def join(args: dict[str, Any]) -> dict[str, Any]:
        earlier = args["message_id"]
        transaction.on_commit(lambda: ReplyStream(earlier).joined(message.pk))
        return {"message_id": str(message.pk), "earlier": [*args.get("earlier", []), earlier]}

    if burst_wait and postpone(
        "chats.generate_reply",
        ordering_key=ordering_key(chat.pk),
        wait=burst_wait,
        at_most=burst_wait * MAX_BURST_WAITS,
        change=join,
    ):
        return True
    _enqueue_reply(chat, message, wait=burst_wait)
    return True


def request_reply_again(chat: Conversation, *, earlier_result_id: str | None = None) -> Message:
    """Return the customer's latest message, and request a reply if the bot still owes one. 409 if
    there is no message or the chat has ended.

    `earlier_result_id`: the id of the message that an earlier, identical request returned. It is
    returned again, without requesting a reply.
    """
    with transaction.atomic():
        chat = conversations.lock(chat)
        if earlier_result_id:
            return Message.objects.for_client(chat.client).get(
                conversation=chat, pk=earlier_result_id
            )
        lifecycle.ensure_not_ended(chat)
        rows = Message.objects.filter(conversation=chat, sender_type=SenderType.CUSTOMER)
        message: Message | None = rows.order_by("-seq").first()
        if message is None:
            raise NothingToAnswer
        message.conversation = chat
        bot_has_chat = reply_policy.bot_may_reply(chat) not in {None, ReplyScope.ANSWERS}
        if bot_has_chat and messages.find_reply(message) is None:
            customers.ensure_not_blocked(chat.customer)
            _enqueue_reply(chat, message)
    return message


def _enqueue_reply(chat: Conversation, message: Message, wait: timedelta = NO_WAIT) -> None:
    enqueue(
        "chats.generate_reply",
        client_id=chat.client_id,
        ordering_key=ordering_key(chat.pk),
        wait=wait,
        message_id=str(message.pk),
    )


# --- the `ChatTurn`: a message and its outcome --------------------------------------------------


# Types with the chat's owner and status, which decide the status of a turn without a reply.
_HasOwner = Conversation | fast_sql.PlainMessage | fast_sql.TurnState


def turn_of(message: Message, *, reply_requested: bool = True) -> Turn:
    """The current turn of a stored message."""
    shown = {"message": message_schemas.Message.from_row(message)}
    return Turn(message, shown | outcome(message, reply_requested=reply_requested))


def turn_of_received(received: Received, *, reply_requested: bool) -> Turn:
    """The turn of a message that this request sent. A new message cannot have a reply yet."""
    message, is_new, is_coming = received
    if not is_new:
        return turn_of(message, reply_requested=reply_requested)
    chat = message.conversation
    fields = _without_reply(chat, reply_requested=reply_requested, is_coming=is_coming)
    return Turn(message, {"message": message_schemas.Message.from_row(message)} | fields)


def outcome(
    message: Message | fast_sql.PlainMessage, *, reply_requested: bool = True
) -> dict[str, Any]:
    """The fields of a message's `ChatTurn` except the message itself: its current reply and
    status."""
    state = fast_sql.turn_state(message, ordering_key=ordering_key(message.conversation_id))
    if state.reply is None:
        is_coming = state.is_reply_coming
        return _without_reply(state, reply_requested=reply_requested, is_coming=is_coming)
    status, reason = "handed_off", state.handed_over_for
    if state.replied_by == SenderType.BOT:
        status, reason = "asked_again" if state.asks_again else "answered", None
    return {"reply": row_json.parse(state.reply), "status": status, "handoff_reason": reason}


def _plain_turn(
    message: fast_sql.PlainMessage, caller: Principal, *, reply_requested: bool
) -> Turn:
    """The turn of a message that the database function stored; its chat is open."""
    # A public key sees fewer fields, so its JSON is parsed. Plain messages have no files, so they
    # need no links.
    shown = orjson.loads(message.shown) if caller.is_public_key else orjson.Fragment(message.shown)
    is_coming = message.is_reply_coming
    fields = _without_reply(message, reply_requested=reply_requested, is_coming=is_coming)
    return Turn(message, {"message": shown} | fields)


def _without_reply(chat: _HasOwner, *, reply_requested: bool, is_coming: bool) -> dict[str, Any]:
    status, reason = _status(chat, reply_requested=reply_requested, is_coming=is_coming)
    return {"reply": None, "status": status, "handoff_reason": reason}


def _status(
    chat: _HasOwner, *, reply_requested: bool, is_coming: bool
) -> tuple[message_schemas.TurnStatus, str | None]:
    if not reply_requested or chat.status != Status.OPEN or chat.assign_type == AssignType.AGENT:
        return "not_expected", None
    if chat.assign_type == AssignType.QUEUE and not is_coming:
        return "handed_off", chat.handoff_reason
    # If no reply is coming although the bot has the chat, the reply was dropped because the chat
    # changed hands.
    return "pending" if is_coming else "not_expected", None
