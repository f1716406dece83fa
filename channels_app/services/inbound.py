"""Apply the items of callbacks: messages, changes to messages, receipts, ratings and notices.

`prepare_handler` makes the network calls, before any transaction. The handler that it yields does
the rest, in the transaction that marks the item as processed.
"""

import logging
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial, reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from bots.language import detection
from channels_app.models import (
    SENDING,
    ChannelChat,
    ChannelConnection,
    CustomerIdentity,
    InboundCallback,
    InboundItem,
    OutboundSend,
    SendState,
)
from channels_app.providers import PROVIDERS, context_lines, events
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.types import Place, Profile
from channels_app.services import (
    account_notices,
    connections,
    identities,
    inbound_files,
    opt_outs,
    outbox,
    provider_error_policy,
    sending,
)
from chatplatform import jobs, markdown_to_text
from chats.models import Conversation, Message, MessageStatus, ReplyScope, Status, Thumb
from chats.schemas.feedback import ChatFeedBackDto
from chats.schemas.message import ConvMessage, MessageContent
from chats.schemas.people import CustomerInfo, Location
from chats.services.core import (
    channel_context,
    channel_updates,
    conversations,
    customers,
    feedback,
    message_status,
    messages,
    reply_policy,
)
from chats.services.core.channel_context import Line
from chats.services.reply import incoming

log = logging.getLogger(__name__)
ItemHandler = Callable[[InboundItem], None]
# While a send's call is in progress, its message id is unknown. Items that have an unknown id wait
# for such calls, for about a minute in all.
_MAX_ATTEMPTS, _INITIAL_BACKOFF = 6, timedelta(seconds=2)
# An echo is matched by text only to sends that began at most this long before it.
_ECHO_AGE = timedelta(minutes=10)
# The number of a chat's latest messages that are searched for the message of a call.
_MAX_SEARCHED = 20
_NUMBER = re.compile(r"\s*([0-9]{1,2})[.)]?\s*")
# The maximum length of a quote of the message that a customer replies to.
_MAX_QUOTE_CHARS = 200
# The actions of a customer that are ignored if the customer is blocked. Blocked customers may still
# unsend messages.
_ACTIONS = (
    events.MessageIn, events.Edited, events.Reacted, events.Survey, events.Rated, events.Referred,
)  # fmt: skip
_UNSETTLED = (SendState.SENDING, SendState.UNCERTAIN)


@contextmanager
def prepare_handler(
    connection: ChannelConnection, item: events.Item, *, attempt: int
) -> Iterator[ItemHandler]:
    """Yield the handler of an item. `attempt` counts from 1.

    Raises TryLater if the item has to wait. For an action of a blocked customer, this function or
    the handler raises CustomerBlocked.
    """
    identity = identities.find(connection, item) if isinstance(item, _ACTIONS) else None
    if identity:
        # Check this before fetching the customer's files.
        customers.ensure_not_blocked(identity.customer)
    with ExitStack() as stack:
        match item:
            case events.MessageIn():
                profile = None if identity else _profile(connection, item)
                files = inbound_files.copy_to_store(stack, connection, item.content.files, attempt)
                yield partial(_receive, connection, item, identity or profile, files)
            case events.Echo():
                send = _match(connection, item, attempt)
                if send is None and item.is_foreign is None:
                    _wait_for_calls(connection, item.user_id, attempt)
                is_elsewhere = send is None and item.is_foreign is not False
                is_new = is_elsewhere and identities.find(connection, item) is None
                profile = _profile(connection, item) if is_new else None
                files = inbound_files.copy_to_store(
                    stack, connection, item.content.files if is_elsewhere else (), attempt
                )
                yield partial(_store_echo, connection, item, send, files, profile)
            case events.Receipt() | events.Failure():
                _wait_if_unknown(connection, item, attempt)
                yield partial(_store_report, connection, item)
            case events.Edited() | events.Unsent() | events.Reacted():
                if not _find_message(identities.find(connection, item), item.message_id):
                    _wait_for_calls(connection, item.user_id, attempt)
                yield partial(_apply, connection, item)
            case _:
                yield partial(_apply, connection, item)


def _apply(connection: ChannelConnection, item: events.Item, stored: InboundItem) -> None:
    match item:
        case events.Edited() | events.Unsent() | events.Reacted():
            if not _change(connection, item):
                _await(stored, item.message_id)
        case events.Survey():
            _store_survey(connection, item)
        case events.Rated():
            _store_rating(connection, item)
        case events.Referred() | events.ThreadControl():
            chat = _current_chat(connection, identities.find(connection, item))
            if chat is None or chat.status == Status.ENDED:
                _await(stored, stored.customer_key)
            else:
                _note(chat, item)
        case events.IdsChanged():
            if identity := identities.change_ids(connection, item):
                _apply_early_ids(connection, identity)
            else:
                _await(stored, stored.customer_key)
        case events.AccountTrouble():
            for entry in connections.concerned(connection.channel, item.account_id):
                if not entry.connected_at or entry.connected_at <= stored.callback.received_at:
                    _mark(entry, item)
        case events.ProviderNotice():
            for entry in account_notices.concerned(connection, item):
                account_notices.store(entry, item)
        case events.MarketingPreferenceChanged():
            _store_marketing_preference(connection, item)
        case events.AccountBlocked():
            _store_block(connection, item)


# --- customers and their messages -------------------------------------------------------------


def _receive(
    connection: ChannelConnection,
    item: events.MessageIn,
    customer: CustomerIdentity | Profile | None,
    files: inbound_files.Files,
    stored: InboundItem,
) -> None:
    identities.lock(connection, item)
    # Since `prepare_handler` found the customer, their ids may have changed, or they were merged.
    found = identities.find(connection, item)
    profile = customer if isinstance(customer, Profile) else None
    identity = found or _new_identity(connection, item, profile, name=item.customer_name)
    if identities.store_ids(identity, item) or not found:
        _apply_early_ids(connection, identity)
        identity = identities.find(connection, item) or identity
    identities.store_details(identity, name=item.customer_name, phone=item.phone)
    chat, is_elsewhere = _current_chat(connection, identity), False
    if chat is None or chat.status == Status.ENDED:
        item, is_elsewhere = _add_early_news(connection, identity, item)
    if chat and (call := _find_call(chat, item)):
        _end_call(connection, chat, call, item)
        return
    choice = opt_outs.apply(identity.customer_id, item.content.text)
    is_answered = not (choice.wish or is_elsewhere)
    message = _store_message(
        connection, identity, chat, item, files, wish=choice.wish, is_answered=is_answered
    )
    chat = message.conversation
    _link(connection, chat, identity)
    if choice.has_resumed:
        channel_updates.note(chat, "messages_resumed")
    if is_elsewhere:
        channel_updates.set_thread_owner(chat, is_ours=False)
    if referral := item.metadata.get("referral"):
        channel_updates.note_referral(chat, referral)
    may_reply = reply_policy.bot_may_reply(chat) not in {None, ReplyScope.ANSWERS}
    if may_reply and is_answered and not message.metadata.get("needs_no_reply"):
        outbox.enqueue_read_receipt(chat)
        outbox.enqueue_typing(chat, is_typing=True)
    if item.message_id:
        _apply_early_changes(connection, item.message_id, stored)


def _find_call(chat: Conversation, item: events.MessageIn) -> Message | None:
    """The message about the same call, if the item reports a call and the message is recent."""
    call_id = item.metadata.get("call_id")
    if not call_id:
        return None
    latest = Message.objects.filter(conversation=chat, seq__gt=chat.last_seq - _MAX_SEARCHED)
    return latest.filter(sender_type="customer", metadata__call_id=call_id).first()


def _end_call(
    connection: ChannelConnection, chat: Conversation, call: Message, item: events.MessageIn
) -> None:
    """Write how a call ended into the message about it. A beginning that arrives late is
    ignored."""
    lines = list(item.content.lines)
    if lines[0]["kind"] == "call":
        return
    channel_updates.end_call(call, lines, channel_context.to_text(lines))
    if window := PROVIDERS[connection.channel].reply_window:
        channel_updates.extend_reply_window(chat, _past(item.at) + window)


def _link(connection: ChannelConnection, chat: Conversation, identity: CustomerIdentity) -> None:
    link = ChannelChat(conversation=chat, client_id=chat.client_id, identity=identity)
    ChannelChat.objects.bulk_create([link], ignore_conflicts=True)
    rows = Conversation.objects.filter(pk=chat.pk)
    if chat.provider_user_id != identity.address:
        channel_updates.set_provider_user_id(rows, identity.address)
    is_reachable = connection.status in SENDING
    if chat.is_reachable != is_reachable:
        channel_updates.set_reachable(rows, is_reachable=is_reachable)


def _store_message(
    connection: ChannelConnection,
    identity: CustomerIdentity,
    chat: Conversation | None,
    item: events.MessageIn,
    files: inbound_files.Files,
    *,
    wish: opt_outs.Wish | None,
    is_answered: bool,
) -> Message:
    """Store a customer's message in `chat`, or in a new chat if it is None. The bot may reply if
    `is_answered`. `wish`: what the message asks for, if it only opts out or in.

    Unlike on a website, no welcome is sent and no customer field is required.
    """
    content, metadata = _resolve_choice(chat, item)
    if chat and chat.status != Status.ENDED:
        content = _without_repeated_referral(chat, content)
    quoted = _find_message(identity, item.reply_to)
    lines = [*_quote(quoted, item, metadata), *content.lines]
    if wish:
        lines.append(context_lines.line(wish))
    text, no_words = _message_text(content, lines)
    has_files = bool(content.files or content.place)
    if channel_context.needs_no_reply(lines, text=content.text, has_files=has_files):
        metadata = {**metadata, "needs_no_reply": True}
    window = PROVIDERS[connection.channel].reply_window
    window_ends_at = _past(item.at) + window if window else None
    if chat is None:
        chat = _open_chat(connection, identity, content.text, window_ends_at)
    channel_updates.extend_reply_window(chat, window_ends_at)
    parts = [*_place(content.place), *files.refused]
    message = incoming.receive(
        chat,
        ConvMessage.model_construct(
            text=text,
            client_message_id=None,
            language=chat.language if no_words else None,
            attachments=parts,
            reply="async" if is_answered else "none",
        ),
        files=files.stored,
        provider_message_id=item.message_id,
        in_reply_to=quoted,
        metadata={**metadata, **no_words, **({"lines": lines} if lines else {})},
    ).message
    if message.conversation_id != chat.pk:
        channel_updates.extend_reply_window(message.conversation, window_ends_at)
    return message


def _without_repeated_referral(chat: Conversation, content: events.Content) -> events.Content:
    """The content without the lines about what led the customer here, if the chat has shown the
    same ones last and the content has something else."""
    found = [line for line in content.lines if line["kind"] in context_lines.REFERRALS]
    others = [line for line in content.lines if line not in found]
    if not found or not (others or content.text or content.files or content.place):
        return content
    is_shown = [Q(metadata__lines__contains=[{"kind": kind}]) for kind in context_lines.REFERRALS]
    rows = Message.objects.filter(reduce(or_, is_shown), conversation=chat, sender_type="customer")
    last = rows.filter(seq__gt=chat.read_from_seq).order_by("-seq").first()
    known = last.metadata["lines"] if last else []
    is_same = [line for line in known if line["kind"] in context_lines.REFERRALS] == found
    return replace(content, lines=others) if is_same else content


def _open_chat(
    connection: ChannelConnection,
    identity: CustomerIdentity,
    text: str,
    window_ends_at: datetime | None,
    *,
    metadata: dict[str, Any] | None = None,
) -> Conversation:
    bot = connection.bot
    return conversations.open_chat(
        bot,
        customer=identity.customer,
        channel=connection.channel,
        language=detection.detect(text, default=bot.default_language, offered=bot.languages),
        reply_window_expires_at=window_ends_at,
        provider_user_id=identity.address,
        metadata=metadata or {},
    )


@transaction.atomic
def open_chat_with(
    connection: ChannelConnection, number: str, *, metadata: dict[str, Any]
) -> Conversation:
    """The current chat with a number, for a template, or a new chat if there is none. In a new chat
    nothing but templates may be sent until the customer writes."""
    now = timezone.now()
    item = events.FromCustomer(
        account_id=connection.account_id, key="", at=now, user_id=number, phone=f"+{number}"
    )
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item)
    chat = _current_chat(connection, identity)
    if chat is None:
        chat = _open_chat(connection, identity, "", now, metadata=metadata)
        _link(connection, chat, identity)
    return chat


def _message_text(content: events.Content, lines: Sequence[Line]) -> tuple[str, dict[str, Any]]:
    """The text of a message, and metadata to add. If the message has only lines, the text describes
    them, and the metadata has `no_words`."""
    is_wordless = not (content.text or content.files or content.place)
    if is_wordless:
        return channel_context.to_text(lines), {"no_words": True}
    return content.text, {}


def _quote(quoted: Message | None, item: events.MessageIn, metadata: dict[str, Any]) -> list[Line]:
    """A line that quotes the message that the customer replies to, or that says that it is not
    here, unless another line says what the message is. A tapped option needs none."""
    if not item.reply_to or metadata.get("payload"):
        return []
    words = markdown_to_text.convert(quoted.text) if quoted else item.quoted
    if words:
        return [context_lines.line("quote", words[:_MAX_QUOTE_CHARS])]
    content = item.content
    is_said = bool(content.text or content.files or content.place)
    is_missing = quoted is None and is_said and not content.lines
    return [context_lines.line("missing_quote")] if is_missing else []


def _resolve_choice(
    chat: Conversation | None, item: events.MessageIn
) -> tuple[events.Content, dict[str, Any]]:
    """The content and metadata of a message. If the customer chose an option that we offered, the
    text is the option's label, and `payload` in the metadata is its value.

    Some providers send only the option's value, as if the customer had typed it. If the options
    were sent as a numbered list, the customer chooses one by its number.
    """
    text = item.content.text
    value = item.metadata.get("payload") or text
    # A payload may be any JSON.
    if chat is None or not isinstance(value, str) or not value or text not in {"", value}:
        return item.content, item.metadata
    offered = messages.offered_options(chat, before_seq=chat.last_seq + 1)
    chosen = [option for options in offered for option in options if option["value"] == value]
    number = _NUMBER.fullmatch(text)
    if not chosen and number and offered and 0 < int(number[1]) <= len(offered[0]):
        chosen = [offered[0][int(number[1]) - 1]]
    if not chosen:
        return item.content, item.metadata
    lines = [line for line in item.content.lines if line["kind"] != "tapped"]
    content = replace(item.content, text=chosen[0]["label"], lines=lines)
    return content, {**item.metadata, "payload": chosen[0]["value"]}


def _new_identity(
    connection: ChannelConnection,
    item: events.FromCustomer,
    profile: Profile | None = None,
    *,
    name: str = "",
) -> CustomerIdentity:
    profile = profile or Profile()
    avatar_url = profile.avatar_url if len(profile.avatar_url) <= 500 else ""
    info = CustomerInfo.model_construct(
        external_id=None,
        name=(profile.name or name)[:200],
        phone=(profile.phone or item.phone)[:40],
        email=None,
        avatar_url=avatar_url,
        attributes={},
    )
    return CustomerIdentity.objects.create(
        client_id=connection.client_id,
        customer=customers.update_or_create(connection.client, info),
        channel=connection.channel,
        account_id=connection.account_id,
        provider_user_id=item.user_id,
        created_at=item.at,
    )


def _profile(connection: ChannelConnection, item: events.FromCustomer) -> Profile | None:
    """A new customer's profile at the provider; None if the item contains the customer's name, or
    if the provider refuses. The message is stored in any case."""
    if isinstance(item, events.MessageIn) and item.customer_name:
        return None
    try:
        return PROVIDERS[connection.channel].profile(
            connections.account_of(connection), item.user_id
        )
    except ProviderError as error:
        log.info("no profile of a customer of %s: %s", connection, error)
        return None


def _current_chat(
    connection: ChannelConnection, identity: CustomerIdentity | None
) -> Conversation | None:
    """The customer's current chat with the bot (see `identities.current_chat`), or None."""
    if identity is None:
        return None
    links = ChannelChat.objects.filter(identity=identity, conversation__bot=connection.bot_id)
    return identities.current_chat(links)


def _find_message(
    identity: CustomerIdentity | None, provider_message_id: str | None
) -> Message | None:
    """The message in a customer's chats that has this id at the provider, or that has a part with
    this id; None if unknown."""
    if identity is None or not provider_message_id:
        return None
    rows = Message.objects.filter(conversation__channel_chat__identity=identity)
    by_part = Q(outbound_sends__provider_message_id=provider_message_id)
    return rows.filter(Q(provider_message_id=provider_message_id) | by_part).first()


def _place(place: Place | None) -> list[MessageContent]:
    if place is None:
        return []
    location = Location.model_construct(latitude=place.latitude, longitude=place.longitude)
    return [
        MessageContent.model_construct(type="location", text=place.name or None, location=location)
    ]


# --- changes to messages ----------------------------------------------------------------------


def _change(
    connection: ChannelConnection, item: events.Edited | events.Unsent | events.Reacted
) -> bool:
    """Apply a change to its message; False if the message has not arrived yet."""
    message = _find_message(identities.find(connection, item), item.message_id)
    if message is None:
        return False
    match item:
        case events.Edited():
            channel_updates.edit(message, item.text[:8000], at=_past(item.at))
        case events.Unsent():
            channel_updates.unsend(message, at=_past(item.at))
        case events.Reacted():
            channel_updates.react(message, reaction=item.reaction, at=_past(item.at))
    return True


def _apply_early_changes(
    connection: ChannelConnection, message_id: str, stored: InboundItem
) -> None:
    """Apply the changes that arrived before the message that they change."""
    rows = InboundItem.objects.select_related("callback").filter(
        channel=stored.channel, account_id=stored.account_id, awaited_message_id=message_id[:300]
    )
    # The body of a callback is emptied when a customer whose ids it contains is erased.
    kept = rows.exclude(callback__body=b"").order_by("id")
    changes = [_item(connection.channel, row) for row in kept]
    if not changes:
        return
    for item in sorted(changes, key=lambda entry: entry.at):
        assert isinstance(item, events.Edited | events.Unsent | events.Reacted)
        _change(connection, item)
    rows.update(awaited_message_id="")


def _await(stored: InboundItem, awaited: str) -> None:
    """Store what an item waits for: a message's id, or a customer's key."""
    stored.awaited_message_id = awaited[:300]
    rows = InboundItem.objects.filter(callback=stored.callback, position=stored.position)
    rows.update(awaited_message_id=stored.awaited_message_id)


def _note(chat: Conversation, item: events.Referred | events.ThreadControl) -> None:
    if isinstance(item, events.Referred):
        channel_updates.note_referral(chat, item.referral)
    else:
        channel_updates.set_thread_owner(chat, is_ours=item.is_ours)


def _add_early_news(
    connection: ChannelConnection, identity: CustomerIdentity, item: events.MessageIn
) -> tuple[events.MessageIn, bool]:
    """A customer's message that opens a chat, with what led them here, and whether another app has
    their thread, both as reported before the message."""
    is_elsewhere = False
    for news, row in _early_items(connection, identity):
        if isinstance(news, events.ThreadControl):
            is_elsewhere = not news.is_ours
        elif isinstance(news, events.Referred):
            lines = (*context_lines.of_referral(news.referral), *item.content.lines)
            metadata = item.metadata | {"referral": news.referral}
            item = replace(item, content=replace(item.content, lines=lines), metadata=metadata)
        else:
            continue
        InboundItem.objects.filter(pk=row.pk).update(awaited_message_id="")
    return item, is_elsewhere


def _apply_early_ids(connection: ChannelConnection, identity: CustomerIdentity) -> None:
    """Apply the changes of a customer's ids that arrived before we knew the old ids."""
    for item, row in _early_items(connection, identity):
        if isinstance(item, events.IdsChanged) and (
            changed := identities.change_ids(connection, item)
        ):
            InboundItem.objects.filter(pk=row.pk).update(awaited_message_id="")
            _apply_early_ids(connection, changed)


def _early_items(
    connection: ChannelConnection, identity: CustomerIdentity
) -> list[tuple[events.Item, InboundItem]]:
    """The items about a customer that arrived before we knew the customer, oldest first."""
    ids = filter(None, (identity.provider_user_id, identity.alternate_user_id))
    keys = [identities.customer_key(connection.channel, connection.pk, entry) for entry in ids]
    rows = InboundItem.objects.select_related("callback").filter(
        channel=connection.channel,
        account_id=connection.account_id[:100],
        awaited_message_id__in=keys,
    )
    found = [(_item(connection.channel, row), row) for row in rows.exclude(callback__body=b"")]
    return sorted(found, key=lambda pair: pair[0].at)


def callback_of(row: InboundCallback) -> Callback:
    """A stored callback in the form that providers read; it has no headers."""
    return Callback(bytes(row.body), row.path, row.query)


def _item(channel: str, row: InboundItem) -> events.Item:
    return PROVIDERS[channel].items(callback_of(row.callback))[row.position]


# --- our messages, and messages sent elsewhere ------------------------------------------------


def _store_echo(
    connection: ChannelConnection,
    item: events.Echo,
    send: OutboundSend | None,
    files: inbound_files.Files,
    profile: Profile | None,
    stored: InboundItem,
) -> None:
    if send:
        _confirm(send, item.message_id, at=item.at)
        _store_price(send, item.price)
        return
    if item.is_foreign is False:
        return  # our own survey
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item, profile)
    chat = _current_chat(connection, identity)
    if chat is None:
        # The customer has not written yet, so the reply window is closed from the beginning.
        chat = _open_chat(connection, identity, item.content.text, _past(item.at))
        _link(connection, chat, identity)
    text, no_words = _message_text(item.content, item.content.lines)
    lines = {"lines": list(item.content.lines)} if item.content.lines else {}
    channel_updates.store_external_reply(
        chat,
        channel_updates.ChannelMessage(
            text=text,
            provider_message_id=item.message_id,
            parts=[*_place(item.content.place), *files.refused],
            files=files.stored,
            metadata={**lines, **no_words},
        ),
        author_name=connection.account_name,
    )
    _apply_early_changes(connection, item.message_id, stored)


def _confirm(send: OutboundSend, message_id: str, *, at: datetime) -> None:
    """Mark a send as sent, even if its outcome was uncertain."""
    conversations.lock(send.message.conversation)
    OutboundSend.objects.filter(pk=send.pk, state__in=[*_UNSETTLED, SendState.SENT]).update(
        state=SendState.SENT, provider_message_id=message_id, sent_at=at, error=""
    )
    sending.settle(send.message)


def _store_price(send: OutboundSend, price: events.Price | None) -> None:
    """Store whether the provider charges for a send, and the number of the message's sends for
    which it charges."""
    if price is None or send.is_charged is not None:
        return
    conversations.lock(send.message.conversation)
    OutboundSend.objects.filter(pk=send.pk).update(is_charged=price.is_charged)
    charged = OutboundSend.objects.filter(message=send.message_id, is_charged=True).count()
    channel_updates.note_price(send.message, category=price.category, charged=charged)


def _match(connection: ChannelConnection, item: events.Echo, attempt: int) -> OutboundSend | None:
    """The send that an echo confirms: found by our id, by the provider's id, or by the text of a
    send whose outcome is unknown. None if there is none."""
    rows = OutboundSend.objects.filter(connection=connection)
    rows = rows.select_related("message__conversation")
    named = rows.filter(_by_id([item.message_id], item.send_id)).first()
    if named or item.is_foreign:
        return named
    rows = rows.filter(recipient_id=item.user_id)
    # The age is measured against the echo's own time, since the echo may arrive late.
    text = item.content.text
    recent = rows.filter(state__in=_UNSETTLED, sent_at__gte=item.at - _ECHO_AGE, text=text)
    # A file's echo has no text, and neither has the part that sent it.
    found = list(recent.order_by("sent_at")[:2]) if text or item.content.files else []
    if len(found) > 1:
        # Two sends have the same text: the response to the call in progress will distinguish them.
        _wait_for_calls(connection, item.user_id, attempt)
    return found[0] if found else None


def _store_report(
    connection: ChannelConnection, item: events.Receipt | events.Failure, stored: InboundItem
) -> None:
    sends = _sends(connection, item).select_related("message__conversation")
    if isinstance(item, events.Failure):
        for send in sends:
            _fail(connection, send, item)
        return
    for send in sends.filter(pk=_uuid(item.send_id), state__in=_UNSETTLED):
        _confirm(send, item.message_ids[0], at=item.at)
    for send in sends.filter(_by_id(item.message_ids, item.send_id)) if item.price else ():
        _store_price(send, item.price)
    chats: dict[uuid.UUID, list[Message]] = {}
    for send in sends.filter(is_last=True):
        chats.setdefault(send.message.conversation_id, []).append(send.message)
    status = MessageStatus.READ if item.status == "read" else MessageStatus.DELIVERED
    for found in chats.values():
        ids = [message.pk for message in found]
        message_status.record_arrival(found[0].conversation, ids, status, at=_past(item.at))


def _fail(connection: ChannelConnection, send: OutboundSend, item: events.Failure) -> None:
    """Mark as failed a send that the provider accepted but did not deliver. It has the same
    consequences as a refused call."""
    chat = conversations.lock(send.message.conversation)
    error = ProviderError(item.kind or Kind.REQUEST, item.error, code=item.code)
    advice = PROVIDERS[connection.channel].window_advice
    reason = error.about_message(window_advice=advice)[:500]
    OutboundSend.objects.filter(pk=send.pk).update(state=SendState.FAILED, error=reason)
    message_status.record_failed(send.message, error=reason)
    if error.kind == Kind.WINDOW:
        channel_updates.close_reply_window(chat)
    else:
        provider_error_policy.apply(connection, error)


def _by_id(message_ids: Sequence[str], send_id: str | None) -> Q:
    """A filter for sends by the provider's message ids, or by the id of our send."""
    named = Q(provider_message_id__in=message_ids)
    return named | Q(pk=_uuid(send_id)) if _uuid(send_id) else named


def _sends(connection: ChannelConnection, item: events.Receipt | events.Failure) -> Any:
    """The sends that a report is about."""
    all_sends = OutboundSend.objects.filter(connection=connection)
    if isinstance(item, events.Failure):
        return all_sends.filter(_by_id([item.message_id], item.send_id))
    rows = all_sends.filter(recipient_id=item.user_id)
    named = rows.filter(provider_message_id__in=item.message_ids)
    times = [item.up_to] if item.up_to else []
    if item.and_before:
        times += [time for time in named.values_list("sent_at", flat=True) if time]
    condition = _by_id(item.message_ids, item.send_id)
    if times:
        condition |= Q(recipient_id=item.user_id, state=SendState.SENT, sent_at__lte=max(times))
    # Skip messages that are known as read: the customer may have many.
    return all_sends.filter(condition).exclude(message__status="read")


def _wait_if_unknown(
    connection: ChannelConnection, item: events.Receipt | events.Failure, attempt: int
) -> None:
    if item.send_id:
        return
    ids = item.message_ids if isinstance(item, events.Receipt) else [item.message_id]
    rows = OutboundSend.objects.filter(connection=connection, provider_message_id__in=ids)
    is_up_to = isinstance(item, events.Receipt) and item.up_to is not None
    if rows.count() < len(ids) or is_up_to:
        _wait_for_calls(connection, item.user_id, attempt)


def _wait_for_calls(connection: ChannelConnection, user_id: str, attempt: int) -> None:
    """Raise TryLater while a message to the customer is being sent, for about a minute."""
    rows = OutboundSend.objects.filter(
        connection=connection, recipient_id=user_id, state=SendState.SENDING
    )
    if attempt < _MAX_ATTEMPTS and rows.exists():
        raise jobs.TryLater("A message is being sent.", wait=_INITIAL_BACKOFF * 2 ** (attempt - 1))


# --- the account, and customers' choices about it -----------------------------------------------


def _mark(entry: ChannelConnection, item: events.AccountTrouble) -> None:
    if item.is_over:
        connections.mark_working(entry)
    else:
        connections.mark_error(entry, item.reason)


def _store_marketing_preference(
    connection: ChannelConnection, item: events.MarketingPreferenceChanged
) -> None:
    """Store whether a customer wants offers, and note it in their chat."""
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item)
    opt_outs.choose_offers(identity.customer_id, are_wanted=item.are_wanted)
    if chat := _current_chat(connection, identity):
        channel_updates.note(chat, "offers_wanted" if item.are_wanted else "offers_refused")


def _store_block(connection: ChannelConnection, item: events.AccountBlocked) -> None:
    """Note in the chat that a customer blocked or unblocked the account.

    A block closes the reply window. After an unblock, the window reopens at once on a channel
    without a time limit, and otherwise with the customer's next message.
    """
    chat = _current_chat(connection, identities.find(connection, item))
    if chat is None:
        return
    channel_updates.note(chat, "blocked" if item.is_blocked else "unblocked")
    if item.is_blocked:
        channel_updates.close_reply_window(chat)
    elif PROVIDERS[connection.channel].reply_window is None:
        channel_updates.extend_reply_window(chat, None)


# --- ratings ----------------------------------------------------------------------------------


def _store_survey(connection: ChannelConnection, item: events.Survey) -> None:
    chat_id = _uuid(item.question_id.removeprefix("chat_"))
    identity = identities.find(connection, item)
    rows = Conversation.objects.filter(channel_chat__identity=identity)
    chat = rows.filter(pk=chat_id).first() if chat_id and identity else None
    if chat is None or item.rating is None or not 1 <= item.rating <= 5:
        return
    _rate(chat, ChatFeedBackDto(rating=item.rating, comment=item.comment[:2000] or None))


def _store_rating(connection: ChannelConnection, item: events.Rated) -> None:
    message = _find_message(identities.find(connection, item), item.message_id)
    if message and not message.is_note and message.sender_type in {"bot", "agent"}:
        thumb = Thumb.UP if item.is_good else Thumb.DOWN
        _rate(message.conversation, ChatFeedBackDto(thumb=thumb.value, message_id=message.pk))


def _rate(chat: Conversation, body: ChatFeedBackDto) -> None:
    try:
        feedback.submit(chat, body)
    except feedback.FeedbackGiven:
        log.info("chat %s was rated before", chat.pk)


def _past(moment: datetime) -> datetime:
    """The provider's time, but not later than now: its clock may be ahead of ours."""
    return min(moment, timezone.now())


def _uuid(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None
