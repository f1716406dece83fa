"""The customer-info fields in a chat: what is asked for, and what a customer's words fill.

A message that asks names the field in its receipt (`asks_for`); the customer's next message is
read for it. A field is asked for once, whatever came of it. A text that was passed over with other
words is asked for once more, later (`passed_over`): the next words may be the answer after all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bots.services import info_answers
from bots.services.info_answers import Field, Told
from chatplatform.customer_channels import MESSAGING_CHANNELS
from chats.models import Conversation, Message
from chats.services.core import customers, messages
from chats.services.reply.decide import AskedField, InfoFacts

# How often a field is asked for if the customer's value is wrong.
MAX_QUESTIONS = 2


def facts_of(message: Message, burst: Sequence[Message], texts: Sequence[str]) -> InfoFacts:
    """What the messages that share a reply have to do with the bot's fields."""
    chat = message.conversation
    unknown = list(_unknown(chat))
    if not unknown or not texts:
        return InfoFacts()
    name = _name_in_question(chat, before_seq=burst[0].seq)
    asked = next((field for field in unknown if field["name"] == name), None)
    past, passed_over = _asked_before(chat)
    told = info_answers.listen(
        asked, unknown, texts, language=message.language, is_asked_again=name in passed_over
    )
    left = (field["name"] for field in wanted(chat) if field["name"] not in told.values)
    return InfoFacts(
        asked=_describe(asked, told, past) if asked else None,
        filled=told.values,
        is_all=told.is_all,
        next=next((name for name in left if past.count(name) == passed_over.count(name)), None),
    )


def wanted(chat: Conversation) -> Iterator[Field]:
    """The fields that the bot asks for in this chat, as far as they are not known.

    A form before the chat has asked for some; what a customer left out there they may leave out.
    """
    had_form = (
        chat.opened_by_key_id is not None
        and chat.requester is None
        and chat.channel not in MESSAGING_CHANNELS
    )
    for field in _unknown(chat):
        if not had_form or field["required"] or not field["ask_before_chat"]:
            yield field


def _unknown(chat: Conversation) -> Iterator[Field]:
    known = customers.answers(chat.customer)
    return (
        field for field in chat.bot.customer_info_fields if known.get(field["name"]) in (None, "")
    )


def _name_in_question(chat: Conversation, *, before_seq: int) -> str | None:
    """The field that our latest message asks for, if it does."""
    latest = messages.latest_of_ours(chat, before_seq=before_seq)
    receipt: Mapping[str, Any] = (latest.receipt if latest else None) or {}
    return receipt.get("asks_for")


def _asked_before(chat: Conversation) -> tuple[list[str], list[str]]:
    """The fields that this bot has asked the customer for, in all of their chats; and those that
    they passed over, each as often.

    A preview is for itself: its customer is one of the staff.
    """
    told = Message.objects.for_client(chat.client).filter(
        receipt__has_any_keys=["asks_for", "passed_over"]
    )
    same = (
        told.filter(conversation=chat)
        if chat.is_preview
        else told.filter(conversation__customer=chat.customer_id, conversation__bot=chat.bot_id)
    )
    receipts = list(same.values_list("receipt__asks_for", "receipt__passed_over"))
    return [asked for asked, _ in receipts if asked], [passed for _, passed in receipts if passed]


def _describe(asked: Field, told: Told, past: Sequence[str]) -> AskedField:
    name = asked["name"]
    return AskedField(name, told.said, asked["type"], past.count(name) < MAX_QUESTIONS)
