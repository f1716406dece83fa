"""Gathers the facts about a message for the rules in `decide`: its texts, and the chat before it.

If the bot's message asks for a customer-info field, its receipt contains the field's name
(`asks_for`), and the customer's next message is searched for the value. The bot asks up to
`MAX_QUESTIONS` times: again at once if the value is invalid, and later if the customer ignores the
question for a text field, which the receipt of the bot's reply records (`passed_over`).
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal

from bots.language import intents, slot_filling
from bots.language.intents import Intent
from bots.language.slot_filling import Field
from chatplatform.channel_names import MESSAGING_CHANNELS
from chats.models import AssignType, Conversation, Message
from chats.schemas.content_kinds import FILE_TYPES, kind_of, text_of
from chats.services.core import channel_context, customers, fast_sql, messages
from chats.services.reply import customer_media
from chats.services.reply.decide import (
    AskedField,
    ConfirmationReply,
    Facts,
    HandoffPolicy,
    InfoFacts,
    ShortReply,
)
from identity.services import time_zones

# The maximum number of times that a field is asked for.
MAX_QUESTIONS = 2


def facts_for(
    message: Message, earlier: Sequence[str], confirmation: ConfirmationReply | None = None
) -> Facts:
    """What the rules need to know about a message and those that share its reply (`earlier`: their
    ids)."""
    chat, burst = message.conversation, load_burst(message, earlier)
    texts, first_seq = texts_of(burst), burst[0].seq
    intent = intents.intent_of(texts, language=message.language)
    is_waiting = chat.assign_type == AssignType.QUEUE
    wanted = wanted_fields(chat)
    return Facts(
        is_bot_disabled=chat.bot.is_disabled,
        first_seq=first_seq,
        texts=texts,
        textless_kind=_textless_kind(burst),
        picture_ids=customer_media.picture_ids(chat, burst),
        needs_person=any(channel_context.needs_person(row.metadata) for row in burst),
        is_messaging=chat.channel in MESSAGING_CHANNELS,
        question=_question(burst, intent),
        small_talk=intent.small_talk,
        asks_for_person=intent.asks_for_person,
        confirmation=confirmation,
        handoff_policy=_handoff_policy(chat),
        info=_info(message, texts, wanted, before_seq=first_seq),
        short_reply=_short_reply(chat, burst, intent),
        has_greeted=(intent.small_talk == "greeting" or intent.anything_else_answer is not None)
        and messages.has_greeted(chat, before_seq=first_seq),
        is_waiting=is_waiting,
        wanted=wanted,
    )


def load_burst(message: Message, earlier: Sequence[str]) -> list[Message]:
    """The messages that share a reply, in the order in which they were sent."""
    if not earlier:
        return [message]
    rows = Message.objects.filter(pk__in=earlier, conversation_id=message.conversation_id)
    return [*rows.order_by("seq"), message]


def texts_of(burst: Sequence[Message]) -> tuple[str, ...]:
    """The texts that the customer wrote; a message with only files or a location has none."""
    return tuple(filter(None, map(_text_of, burst)))


def _text_of(message: Message) -> str:
    if message.metadata.get("no_words"):
        return ""
    return text_of(part for part in message.content if kind_of(part).is_question).strip()


def _question(burst: Sequence[Message], intent: Intent) -> str:
    """The customer's questions, with what they refer to, such as a product or a quoted message;
    empty if there are none."""
    question = "\n".join(intent.questions)
    references = [text for row in burst for text in channel_context.about(row.metadata)]
    return f"{question} ({'; '.join(references)})" if question and references else question


def _textless_kind(burst: Sequence[Message]) -> Literal["files", "lines", "no_reply_needed"]:
    """What the messages contain if they have no text (see `Facts.textless_kind`)."""
    if all(row.deleted_at or row.metadata.get("needs_no_reply") for row in burst):
        return "no_reply_needed"
    has_files = any(part["type"] in FILE_TYPES for row in burst for part in row.content)
    return "files" if has_files else "lines"


def _handoff_policy(chat: Conversation) -> HandoffPolicy:
    config = chat.client.config
    asks_again = config.ask_again_before_handoff
    if asks_again is None:
        asks_again = chat.channel != "api"
    return HandoffPolicy(
        config.handoff_on_no_answer, config.handoff_on_request, asks_again,
        replies_while_waiting=config.answer_while_waiting,
    )  # fmt: skip


def _short_reply(chat: Conversation, burst: Sequence[Message], intent: Intent) -> ShortReply | None:
    if intent.anything_else_answer is None:
        return None
    latest = fast_sql.latest_outgoing(chat, before_seq=burst[0].seq)
    return ShortReply(
        intent.anything_else_answer, intent.is_satisfied, _kind_of(latest),
        is_foreign_button=_is_foreign_button(burst[-1]),
    )  # fmt: skip


def _is_foreign_button(message: Message) -> bool:
    """Whether the customer tapped a button that our latest messages do not have."""
    if "payload" not in message.metadata:
        return False
    offered = messages.offered_options(message.conversation, before_seq=message.seq)
    values = [option["value"] for options in offered for option in options]
    return message.metadata["payload"] not in values


def _kind_of(
    latest: Message | None,
) -> Literal["nothing", "greeting", "thanks", "quotation", "other"]:
    """The kind of the latest message to the customer, which decides what "ok" means in reply."""
    if latest is None:
        return "nothing"
    receipt: Mapping[str, Any] = latest.receipt or {}
    if receipt.get("asks_for"):
        return "other"
    if receipt.get("kind") == "thanks":
        return "thanks"
    # No other small talk asks a question that a yes or no answers.
    if latest.is_welcome or receipt.get("decision") == "small_talk":
        return "greeting"
    is_quotation = receipt.get("decision") == "answered" and receipt.get("engine") == "extractive"
    return "quotation" if is_quotation else "other"


# --- the customer-info fields -------------------------------------------------------------------


def wanted_fields(chat: Conversation) -> tuple[str, ...]:
    """The names of the unknown fields that the bot asks for in this chat. Left out are fields that
    it asks for before a handover and those of the pre-chat form, except required ones if the chat
    is not a preview."""
    had_form = chat.is_preview or (
        chat.opened_by_key_id is not None
        and chat.requester is None
        and chat.channel not in MESSAGING_CHANNELS
    )
    return tuple(
        field["name"]
        for field in _unknown_fields(chat)
        if not field.get("ask_before_person")
        and (
            not had_form
            or not field["ask_before_chat"]
            or (field["required"] and not chat.is_preview)
        )
    )


def _unknown_fields(chat: Conversation) -> list[Field]:
    """The bot's fields whose values are unknown. In a preview, whose customer is a user of the
    client, only the values given in this chat count as known."""
    fields = chat.bot.customer_info_fields
    if not fields:
        return []
    if chat.is_preview:
        rows = Message.objects.filter(conversation=chat, receipt__has_key="filled")
        names = set(chain.from_iterable(rows.values_list("receipt__filled", flat=True)))
        return [field for field in fields if field["name"] not in names]
    known_values = customers.answers(chat.customer)
    return [field for field in fields if known_values.get(field["name"]) in (None, "")]


def _info(
    message: Message, texts: Sequence[str], wanted: Sequence[str], *, before_seq: int
) -> InfoFacts:
    """What the messages that share a reply mean for the bot's fields."""
    chat = message.conversation
    if not chat.bot.customer_info_fields:
        return InfoFacts()
    unknown = _unknown_fields(chat)
    latest = fast_sql.latest_outgoing(chat, before_seq=before_seq)
    receipt: Mapping[str, Any] = (latest.receipt if latest else None) or {}
    pending_handoff: str | None = receipt.get("before_handoff")
    if not unknown or not texts:
        return InfoFacts(pending_handoff=pending_handoff)
    name: str | None = receipt.get("asks_for")
    asked_field = next((field for field in unknown if field["name"] == name), None)
    asked_names, passed_over = _asked_before(chat)
    result = slot_filling.extract(
        asked_field,
        unknown,
        texts,
        language=message.language,
        country=time_zones.country_of(chat.client.timezone),
        is_asked_again=name in passed_over,
    )
    due = [
        name
        for name in (field["name"] for field in unknown)
        if name not in result.values and asked_names.count(name) == passed_over.count(name)
    ]
    is_required = {
        field["name"]: field["required"] for field in unknown if field.get("ask_before_person")
    }
    before_person = [name for name in due if name in is_required]
    return InfoFacts(
        asked=AskedField(
            name,
            result.kind,
            asked_field["type"],
            asked_names.count(name) < MAX_QUESTIONS,
            is_required=asked_field["required"],
        )  # fmt: skip
        if name and asked_field
        else None,
        filled=result.values,
        has_nothing_else=result.has_nothing_else,
        next=next((name for name in due if name in wanted), None),
        next_before_person=next(iter(before_person), None),
        next_required_before_person=next(filter(is_required.__getitem__, before_person), None),
        pending_handoff=pending_handoff,
    )


def _asked_before(chat: Conversation) -> tuple[list[str], list[str]]:
    """The names of the fields that the bot has asked for, and of those whose question the customer
    ignored, with an entry for each time. All chats of the customer with the bot count; in a
    preview, only this chat."""
    rows = Message.objects.for_client(chat.client).filter(
        receipt__has_any_keys=["asks_for", "passed_over"]
    )
    related = (
        rows.filter(conversation=chat)
        if chat.is_preview
        else rows.filter(conversation__customer=chat.customer_id, conversation__bot=chat.bot_id)
    )
    receipts = list(related.values_list("receipt__asks_for", "receipt__passed_over"))
    return [asked for asked, _ in receipts if asked], [passed for _, passed in receipts if passed]
