"""Conversations in the form in which engines read them."""

import uuid
from dataclasses import dataclass, replace

from django.db.models import Q

from bots.engine.masking import Mask
from bots.engine.types import Line
from chats.models import Conversation, Feedback, Message, SenderType, Thumb
from identity.models import Client

# Maximum lines of a transcript: the latest ones. A longer chat also keeps its first message.
MAX_LINES = 200
MAX_LINE_CHARS = 2_000
MAX_CHARACTERS = 24_000
# A reply rated with at most this many stars did not help.
POOR_RATING = 2


@dataclass(frozen=True)
class Transcript:
    """A chat's lines, oldest first, without notes, the welcome and the platform's messages."""

    lines: tuple[Line, ...]
    # The ids of the customer's messages, in the order of their lines.
    ids_of_customer: tuple[uuid.UUID, ...]
    message_count: int

    @property
    def characters(self) -> int:
        return sum(len(line.text) for line in self.lines)

    @property
    def of_customer(self) -> list[str]:
        return [line.text for line in self.lines if line.role == "customer"]

    def hidden_by(self, mask: Mask) -> tuple[Line, ...]:
        """The lines with masked personal data, as an external model may see them."""
        return tuple(replace(line, text=mask.hide(line.text)) for line in self.lines)


def for_chat(chat: Conversation) -> Transcript:
    """The chat's first message and as many of the latest as the limits allow."""
    rows = Message.objects.for_client(chat.client).filter(
        conversation=chat, is_note=False, is_welcome=False
    )
    spoken = rows.exclude(sender_type=SenderType.SYSTEM).exclude(text="")
    latest = list(spoken.order_by("-seq")[: MAX_LINES + 1])
    first = spoken.order_by("seq").first()
    kept: list[Message] = []
    room = MAX_CHARACTERS - min(len(first.text), MAX_LINE_CHARS) if first else 0
    for row in latest[:MAX_LINES]:
        room -= min(len(row.text), MAX_LINE_CHARS)
        if room < 0:
            break
        kept.append(row)
    kept.reverse()
    if first and first not in kept:
        kept.insert(0, first)
    ids = tuple(row.pk for row in kept if row.sender_type == SenderType.CUSTOMER)
    poor = Q(thumb=Thumb.DOWN) | Q(rating__lte=POOR_RATING)
    rated = Feedback.objects.for_client(chat.client).filter(poor, conversation=chat)
    wrong = set(rated.exclude(message=None).values_list("message_id", flat=True))
    lines = tuple(_line(row, is_wrong=row.pk in wrong) for row in kept)
    return Transcript(lines, ids, chat.message_count)


def mask_for(client: Client) -> Mask:
    """The mask that hides personal data, if the client's settings want that."""
    return Mask(is_on=client.config.mask_personal_data)


def _line(row: Message, *, is_wrong: bool) -> Line:
    text = row.text[:MAX_LINE_CHARS]
    if row.sender_type == SenderType.CUSTOMER:
        return Line("customer", text)
    # A bot's message without an engine is a sentence of the platform, so it is not an answer.
    is_canned = row.sender_type == SenderType.BOT and not (row.receipt or {}).get("engine")
    return Line("assistant", text, is_answer=not is_wrong and not is_canned)
