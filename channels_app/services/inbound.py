"""Turn an item of a callback into a message, a change of one, a receipt or a rating.

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
from functools import partial
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
    account_news,
    connections,
    identities,
    inbound_files,
    opt_outs,
    outbox,
    provider_error_policy,
    sending,
)
from chatplatform import jobs, markdown_to_text
from chats.models import Conversation, Message, MessageStatus, ReplyScope, Thumb
from chats.services.core import (
    channel_context,
    channel_events,
    conversations,
    customers,
    feedback,
    message_status,
    reply_policy,
)
from chats.services.core.channel_context import Line
from chats.services.reply import incoming
from chats.shapes.insight import ChatFeedBackDto
from chats.shapes.message import ConvMessage, MessageContent
from chats.shapes.people import CustomerInfo, Location

log = logging.getLogger(__name__)
ItemHandler = Callable[[InboundItem], None]
# While a send's call is under way its id is unknown: items that name it wait, a minute in all.
_TRIES, _FIRST_WAIT = 6, timedelta(seconds=2)
# An echo is matched by text only to sends that began at most this long before it.
_ECHO_AGE = timedelta(minutes=10)
# How many of a chat's latest messages are searched for the option that a customer tapped.
_OPTIONS_BACK = 20
_NUMBER = re.compile(r"\s*([0-9]{1,2})[.)]?\s*")
# How much of the message that a customer answers is shown above theirs.
_QUOTED = 200
# Items that a customer causes. Blocked customers may still unsend messages.
_DEEDS = (
    events.MessageIn, events.Edited, events.Reacted, events.Survey, events.Rated, events.Referred,
)  # fmt: skip
_OPEN = (SendState.SENDING, SendState.UNCERTAIN)


@contextmanager
def prepare_handler(
    connection: ChannelConnection, item: events.Item, *, attempt: int
) -> Iterator[ItemHandler]:
    """Yield the handler of an item. Raises TryLater if the item has to wait. This or the handler
    raises CustomerBlocked for what a blocked customer does.

    `attempt` counts from 1.
    """
    identity = identities.find(connection, item) if isinstance(item, _DEEDS) else None
    if identity:
        # Checked before the customer's files are fetched.
        customers.ensure_not_blocked(identity.customer)
    with ExitStack() as stack:
        match item:
            case events.MessageIn():
                profile = None if identity else _profile(connection, item)
                files = inbound_files.take_over(stack, connection, item.content.files, attempt)
                yield partial(_receive, connection, item, identity or profile, files)
            case events.Echo():
                send = _match(connection, item, attempt)
                if send is None and item.is_foreign is None:
                    _wait_for_calls(connection, item.user_id, attempt)
                is_elsewhere = send is None and item.is_foreign is not False
                is_new = is_elsewhere and identities.find(connection, item) is None
                profile = _profile(connection, item) if is_new else None
                files = inbound_files.take_over(
                    stack, connection, item.content.files if is_elsewhere else (), attempt
                )
                yield partial(_store_echo, connection, item, send, files, profile)
            case events.Receipt() | events.Failure():
                _wait_if_unknown(connection, item, attempt)
                yield partial(_store_report, connection, item)
            case events.Edited() | events.Unsent() | events.Reacted():
                if not _find(identities.find(connection, item), item.message_id):
                    _wait_for_calls(connection, item.user_id, attempt)
                yield partial(_apply, connection, item)
            case _:
                yield partial(_apply, connection, item)


def _apply(connection: ChannelConnection, item: events.Item, counted: InboundItem) -> None:
    match item:
        case events.Edited() | events.Unsent() | events.Reacted():
            if not _change(connection, item):
                _await(counted, item.message_id)
        case events.Survey():
            _store_survey(connection, item)
        case events.Rated():
            _store_rating(connection, item)
        case events.Referred():
            if chat := _newest_chat(connection, identities.find(connection, item)):
                channel_events.note_referral(chat, item.referral)
        case events.IdsChanged():
            if identity := identities.change_ids(connection, item):
                _apply_early_ids(connection, identity)
            else:
                _await(counted, counted.customer_key)
        case events.AccountTrouble():
            for entry in connections.concerned(connection.channel, item.account_id):
                if not entry.connected_at or entry.connected_at <= counted.callback.received_at:
                    _mark(entry, item)
        case events.AccountNews():
            for entry in account_news.concerned(connection, item):
                account_news.store(entry, item)
        case events.ThreadControl():
            if chat := _newest_chat(connection, identities.find(connection, item)):
                channel_events.hand_thread(chat, is_ours=item.is_ours)
        case events.OffersChosen():
            _store_wish(connection, item)
        case events.AccountBlocked():
            _store_block(connection, item)


# --- customers and their messages -------------------------------------------------------------


def _receive(
    connection: ChannelConnection,
    item: events.MessageIn,
    customer: CustomerIdentity | Profile | None,
    files: inbound_files.Files,
    counted: InboundItem,
) -> None:
    identities.lock(connection, item)
    # The customer whom `prepare_handler` found may have got other ids, or have been merged.
    found = identities.find(connection, item)
    profile = customer if isinstance(customer, Profile) else None
    identity = found or _new_identity(connection, item, profile, name=item.customer_name)
    if identities.keep_ids(identity, item) or not found:
        _apply_early_ids(connection, identity)
        identity = identities.find(connection, item) or identity
    identities.keep_phone(identity, item.phone)
    chat = _newest_chat(connection, identity)
    is_answered = not opt_outs.apply(identity.customer_id, item.content.text)
    message = _store_message(connection, identity, chat, item, files, is_answered=is_answered)
    chat = message.conversation
    _link(connection, chat, identity)
    if referral := item.metadata.get("referral"):
        channel_events.note_referral(chat, referral)
    may_say = reply_policy.bot_may_reply(chat) not in {None, ReplyScope.ANSWERS}
    is_quiet = not item.content.text and channel_context.is_quiet(message.metadata)
    if may_say and is_answered and not is_quiet:
        outbox.enqueue_read_receipt(chat)
        outbox.enqueue_typing(chat, is_typing=True)
    if item.message_id:
        _apply_early_changes(connection, item.message_id, counted)


def _link(connection: ChannelConnection, chat: Conversation, identity: CustomerIdentity) -> None:
    link = ChannelChat(conversation=chat, client_id=chat.client_id, identity=identity)
    ChannelChat.objects.bulk_create([link], ignore_conflicts=True)
    rows = Conversation.objects.filter(pk=chat.pk)
    if chat.provider_user_id != identity.address:
        channel_events.set_provider_user_id(rows, identity.address)
    is_reachable = connection.status in SENDING
    if chat.is_reachable != is_reachable:
        channel_events.set_reachable(rows, is_reachable=is_reachable)


def _store_message(
    connection: ChannelConnection,
    identity: CustomerIdentity,
    chat: Conversation | None,
    item: events.MessageIn,
    files: inbound_files.Files,
    *,
    is_answered: bool,
) -> Message:
    """Store a customer's message in their newest chat, or in a new one; the bot may answer.

    Unlike on a website, no welcome is sent and no customer field is required.
    """
    content, metadata = _as_chosen(chat, item)
    answered = _find(identity, item.reply_to)
    told = [*_quote(answered, metadata), *content.lines]
    text, no_words = _words(content, told)
    window = PROVIDERS[connection.channel].reply_window
    window_ends_at = _past(item.at) + window if window else None
    if chat is None:
        chat = _open_chat(connection, identity, content.text, window_ends_at)
    channel_events.extend_reply_window(chat, window_ends_at)
    pieces = [*_place(content.place), *files.refused]
    message = incoming.receive(
        chat,
        ConvMessage.model_construct(
            text=text,
            client_message_id=None,
            language=chat.language if no_words else None,
            attachments=pieces,
            reply="async" if is_answered else "none",
        ),
        files=files.stored,
        provider_message_id=item.message_id,
        in_reply_to=answered,
        metadata={**metadata, **no_words, **({"lines": told} if told else {})},
    ).message
    if message.conversation_id != chat.pk:
        channel_events.extend_reply_window(message.conversation, window_ends_at)
    return message


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
    """Open a chat with a number that has never written, for a template; nothing else may be sent
    until the customer writes."""
    now = timezone.now()
    item = events.FromCustomer(
        account_id=connection.account_id, key="", at=now, user_id=number, phone=f"+{number}"
    )
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item)
    chat = _newest_chat(connection, identity)
    if chat is None:
        chat = _open_chat(connection, identity, "", now, metadata=metadata)
        _link(connection, chat, identity)
    return chat


def _words(content: events.Content, told: Sequence[Line]) -> tuple[str, dict[str, Any]]:
    """The text of a message; with `no_words` if the customer wrote none, so that it describes the
    content."""
    is_wordless = not (content.text or content.files or content.place)
    if is_wordless:
        return channel_context.to_text(told), {"no_words": True}
    return content.text, {}


def _quote(answered: Message | None, metadata: dict[str, Any]) -> list[Line]:
    """The message that the customer answers; a tapped option is always one of the message."""
    if answered is None or not answered.text or metadata.get("payload"):
        return []
    return [context_lines.line("quote", markdown_to_text.convert(answered.text)[:_QUOTED])]


def _as_chosen(
    chat: Conversation | None, item: events.MessageIn
) -> tuple[events.Content, dict[str, Any]]:
    """The content and metadata of a message; for a chosen option, its label and its value.

    Some providers send only the option's value, as if the customer had typed it. Options that were
    sent as a numbered list are chosen by their number.
    """
    text = item.content.text
    value = item.metadata.get("payload") or text
    # A payload may be any JSON.
    if chat is None or not isinstance(value, str) or not value or text not in {"", value}:
        return item.content, item.metadata
    ours = Message.objects.filter(conversation=chat, seq__gt=chat.last_seq - _OPTIONS_BACK)
    said = ours.exclude(sender_type="customer").exclude(is_note=True).order_by("-seq")
    offered = [
        [option for piece in content for option in piece.get("options") or []]
        for content in said.values_list("content", flat=True)
    ]
    chosen = [option for options in offered for option in options if option["value"] == value]
    number = _NUMBER.fullmatch(text)
    if not chosen and number and offered and 0 < int(number[1]) <= len(offered[0]):
        chosen = [offered[0][int(number[1]) - 1]]
    if not chosen:
        return item.content, item.metadata
    about = [line for line in item.content.lines if line["kind"] != "tapped"]
    content = replace(item.content, text=chosen[0]["label"], lines=about)
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
        customer=customers.find_or_create(connection.client, info),
        channel=connection.channel,
        account_id=connection.account_id,
        provider_user_id=item.user_id,
        created_at=item.at,
    )


def _profile(connection: ChannelConnection, item: events.FromCustomer) -> Profile | None:
    """A new customer's profile at the provider; None if it is refused: the message still counts."""
    if isinstance(item, events.MessageIn) and item.customer_name:
        return None
    try:
        return PROVIDERS[connection.channel].profile(
            connections.account_of(connection), item.user_id
        )
    except ProviderError as error:
        log.info("no profile of a customer of %s: %s", connection, error)
        return None


def _newest_chat(
    connection: ChannelConnection, identity: CustomerIdentity | None
) -> Conversation | None:
    """The customer's newest chat with the bot."""
    if identity is None:
        return None
    links = ChannelChat.objects.filter(identity=identity, conversation__bot=connection.bot_id)
    return identities.current_chat(links)


def _find(identity: CustomerIdentity | None, provider_message_id: str | None) -> Message | None:
    """The message in a customer's chats that has this id at the provider, or a part that has it."""
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


# --- changes of messages ----------------------------------------------------------------------


def _change(
    connection: ChannelConnection, item: events.Edited | events.Unsent | events.Reacted
) -> bool:
    """Apply a change to the message that an item names; False if the message has not come yet."""
    message = _find(identities.find(connection, item), item.message_id)
    if message is None:
        return False
    match item:
        case events.Edited():
            channel_events.edit(message, item.text[:8000], at=_past(item.at))
        case events.Unsent():
            channel_events.unsend(message, at=_past(item.at))
        case events.Reacted():
            channel_events.react(message, reaction=item.reaction, at=_past(item.at))
    return True


def _apply_early_changes(
    connection: ChannelConnection, message_id: str, counted: InboundItem
) -> None:
    """Apply the changes that came before the message itself."""
    rows = InboundItem.objects.select_related("callback").filter(
        channel=counted.channel, account_id=counted.account_id, awaited_message_id=message_id[:300]
    )
    # The body of a callback is emptied when a customer in it is erased.
    kept = rows.exclude(callback__body=b"").order_by("id")
    changes = [_item(connection.channel, row) for row in kept]
    if not changes:
        return
    for item in sorted(changes, key=lambda entry: entry.at):
        assert isinstance(item, events.Edited | events.Unsent | events.Reacted)
        _change(connection, item)
    rows.update(awaited_message_id="")


def _await(counted: InboundItem, awaited: str) -> None:
    """Mark a change that came before what it changes."""
    counted.awaited_message_id = awaited[:300]
    rows = InboundItem.objects.filter(callback=counted.callback, position=counted.position)
    rows.update(awaited_message_id=counted.awaited_message_id)


def _apply_early_ids(connection: ChannelConnection, identity: CustomerIdentity) -> None:
    """Apply the changes of a customer's ids that came before the customer was known by them."""
    ids = filter(None, (identity.provider_user_id, identity.alternate_user_id))
    keys = [identities.customer_key(connection.channel, connection.pk, entry) for entry in ids]
    rows = InboundItem.objects.select_related("callback").filter(
        channel=connection.channel,
        account_id=connection.account_id[:100],
        awaited_message_id__in=keys,
    )
    found = [
        (item, row)
        for row in rows.exclude(callback__body=b"")
        if isinstance(item := _item(connection.channel, row), events.IdsChanged)
    ]
    for item, row in sorted(found, key=lambda pair: pair[0].at):
        if changed := identities.change_ids(connection, item):
            InboundItem.objects.filter(pk=row.pk).update(awaited_message_id="")
            _apply_early_ids(connection, changed)


def callback_of(row: InboundCallback) -> Callback:
    """A stored callback, as its provider reads it."""
    return Callback(bytes(row.body), row.path, row.query)


def _item(channel: str, row: InboundItem) -> events.Item:
    return PROVIDERS[channel].items(callback_of(row.callback))[row.position]


# --- our own messages, and those of others ----------------------------------------------------


def _store_echo(
    connection: ChannelConnection,
    item: events.Echo,
    send: OutboundSend | None,
    files: inbound_files.Files,
    profile: Profile | None,
    counted: InboundItem,
) -> None:
    if send:
        _confirm(send, item.message_id, at=item.at)
        _store_price(send, item.price)
        return
    if item.is_foreign is False:
        return  # our own survey
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item, profile)
    chat = _newest_chat(connection, identity)
    if chat is None:
        # The customer has written nothing yet, so no text may be sent.
        chat = _open_chat(connection, identity, item.content.text, _past(item.at))
        _link(connection, chat, identity)
    text, no_words = _words(item.content, item.content.lines)
    told = {"lines": list(item.content.lines)} if item.content.lines else {}
    channel_events.store_answer_elsewhere(
        chat,
        channel_events.ChannelMessage(
            text=text,
            provider_message_id=item.message_id,
            pieces=[*_place(item.content.place), *files.refused],
            files=files.stored,
            metadata={**told, **no_words},
        ),
        author_name=connection.account_name,
    )
    _apply_early_changes(connection, item.message_id, counted)


def _confirm(send: OutboundSend, message_id: str, *, at: datetime) -> None:
    """Mark a send as sent, which ends any uncertainty."""
    conversations.lock(send.message.conversation)
    OutboundSend.objects.filter(pk=send.pk, state__in=[*_OPEN, SendState.SENT]).update(
        state=SendState.SENT, provider_message_id=message_id, sent_at=at, error=""
    )
    sending.settle(send.message)


def _store_price(send: OutboundSend, price: events.Price | None) -> None:
    """Store whether the provider charges for a call, and how many of the message's it charges."""
    if price is None or send.is_charged is not None:
        return
    conversations.lock(send.message.conversation)
    OutboundSend.objects.filter(pk=send.pk).update(is_charged=price.is_charged)
    charged = OutboundSend.objects.filter(message=send.message_id, is_charged=True).count()
    channel_events.note_price(send.message, category=price.category, charged=charged)


def _match(connection: ChannelConnection, item: events.Echo, attempt: int) -> OutboundSend | None:
    """The send that an echo confirms: by our id, the provider's id, or an open send's text."""
    rows = OutboundSend.objects.filter(connection=connection)
    rows = rows.select_related("message__conversation")
    named = rows.filter(_by_id([item.message_id], item.send_id)).first()
    if named or item.is_foreign:
        return named
    rows = rows.filter(recipient_id=item.user_id)
    # The age is measured against the echo's own time, since the echo may come late.
    text = item.content.text
    recent = rows.filter(state__in=_OPEN, sent_at__gte=item.at - _ECHO_AGE, text=text)
    # A file's echo has no text, and neither has the part that sent it.
    found = list(recent.order_by("sent_at")[:2]) if text or item.content.files else []
    if len(found) > 1:
        # Two sends have the same text: the answer to the call under way will tell them apart.
        _wait_for_calls(connection, item.user_id, attempt)
    return found[0] if found else None


def _store_report(
    connection: ChannelConnection, item: events.Receipt | events.Failure, counted: InboundItem
) -> None:
    sends = _sends(connection, item).select_related("message__conversation")
    if isinstance(item, events.Failure):
        for send in sends:
            _fail(connection, send, item)
        return
    for send in sends.filter(pk=_uuid(item.send_id), state__in=_OPEN):
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
    """Handle a message that the provider accepted but did not deliver, like a refused call."""
    chat = conversations.lock(send.message.conversation)
    error = ProviderError(item.kind or Kind.REQUEST, item.error)
    reason = str(error)[:500]
    OutboundSend.objects.filter(pk=send.pk).update(state=SendState.FAILED, error=reason)
    message_status.record_failed(send.message, error=reason)
    if error.kind == Kind.WINDOW:
        channel_events.close_reply_window(chat)
    else:
        provider_error_policy.apply(connection, error)


def _by_id(message_ids: Sequence[str], send_id: str | None) -> Q:
    """A filter for sends by the provider's ids or by ours; each id belongs to one send."""
    named = Q(provider_message_id__in=message_ids)
    return named | Q(pk=_uuid(send_id)) if _uuid(send_id) else named


def _sends(connection: ChannelConnection, item: events.Receipt | events.Failure) -> Any:
    """The sends that a report concerns."""
    everybody = OutboundSend.objects.filter(connection=connection)
    if isinstance(item, events.Failure):
        return everybody.filter(_by_id([item.message_id], item.send_id))
    rows = everybody.filter(recipient_id=item.user_id)
    named = rows.filter(provider_message_id__in=item.message_ids)
    moments = [item.up_to] if item.up_to else []
    if item.and_before:
        moments += [moment for moment in named.values_list("sent_at", flat=True) if moment]
    condition = _by_id(item.message_ids, item.send_id)
    if moments:
        condition |= Q(recipient_id=item.user_id, state=SendState.SENT, sent_at__lte=max(moments))
    # Skip sends that were read before: the customer may have many messages.
    return everybody.filter(condition).exclude(message__status="read")


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
    if attempt < _TRIES and rows.exists():
        raise jobs.TryLater("A message is being sent.", wait=_FIRST_WAIT * 2 ** (attempt - 1))


# --- the account, and what customers want of it -------------------------------------------------


def _mark(entry: ChannelConnection, item: events.AccountTrouble) -> None:
    if item.is_over:
        connections.mark_working(entry)
    else:
        connections.mark_error(entry, item.reason)


def _store_wish(connection: ChannelConnection, item: events.OffersChosen) -> None:
    """Store whether a customer wants offers, and note it in their chat."""
    identities.lock(connection, item)
    identity = identities.find(connection, item) or _new_identity(connection, item)
    opt_outs.choose_offers(identity.customer_id, are_wanted=item.are_wanted)
    if chat := _newest_chat(connection, identity):
        channel_events.note_offers(chat, are_wanted=item.are_wanted)


def _store_block(connection: ChannelConnection, item: events.AccountBlocked) -> None:
    """Note that a customer blocked the account: nothing can be sent until that ends."""
    chat = _newest_chat(connection, identities.find(connection, item))
    if chat is None:
        return
    channel_events.note_blocked(chat, is_blocked=item.is_blocked)
    if item.is_blocked:
        channel_events.close_reply_window(chat)
    elif PROVIDERS[connection.channel].reply_window is None:
        channel_events.extend_reply_window(chat, None)


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
    message = _find(identities.find(connection, item), item.message_id)
    if message and not message.is_note and message.sender_type in {"bot", "agent"}:
        thumb = Thumb.UP if item.is_good else Thumb.DOWN
        _rate(message.conversation, ChatFeedBackDto(thumb=thumb.value, message_id=message.pk))


def _rate(chat: Conversation, body: ChatFeedBackDto) -> None:
    try:
        feedback.submit(chat, body)
    except feedback.FeedbackGiven:
        log.info("chat %s was rated before", chat.pk)


def _past(moment: datetime) -> datetime:
    """A time of the provider, but never in our future: its clock may be ahead of ours."""
    return min(moment, timezone.now())


def _uuid(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None
