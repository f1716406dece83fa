"""Conversations as lines of text, as engines read them."""

import uuid
from dataclasses import dataclass, replace

from django.db.models import Q

from bots.engine.masking import Mask
from bots.engine.types import Line
from chats.models import Conversation, Feedback, Message, SenderType, Thumb
from identity.models import Client

# The limits of a transcript, which has the chat's latest messages. The first message is always
# included, even if that exceeds `MAX_LINES` by one.
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
    customer_message_ids: tuple[uuid.UUID, ...]
    message_count: int

    @property
    def characters(self) -> int:
        return sum(len(line.text) for line in self.lines)

    @property
    def customer_texts(self) -> list[str]:
        return [line.text for line in self.lines if line.role == "customer"]

    def masked(self, mask: Mask) -> tuple[Line, ...]:
        """The lines with personal data masked, for an external model."""
        return tuple(replace(line, text=mask.hide(line.text)) for line in self.lines)


def for_chat(chat: Conversation) -> Transcript:
    """The chat's first message and as many of the latest messages as the limits allow."""
    rows = Message.objects.for_client(chat.client).filter(
        conversation=chat, is_note=False, is_welcome=False
    )
    with_text = rows.exclude(sender_type=SenderType.SYSTEM).exclude(text="")
    latest = list(with_text.order_by("-seq")[: MAX_LINES + 1])
    first = with_text.order_by("seq").first()
    kept: list[Message] = []
    chars_left = MAX_CHARACTERS - min(len(first.text), MAX_LINE_CHARS) if first else 0
    for row in latest[:MAX_LINES]:
        chars_left -= min(len(row.text), MAX_LINE_CHARS)
        if chars_left < 0:
            break
        kept.append(row)
    kept.reverse()
    if first and first not in kept:
        kept.insert(0, first)
    ids = tuple(row.pk for row in kept if row.sender_type == SenderType.CUSTOMER)
    poor = Q(thumb=Thumb.DOWN) | Q(rating__lte=POOR_RATING)
    rated = Feedback.objects.for_client(chat.client).filter(poor, conversation=chat)
    poor_ids = set(rated.exclude(message=None).values_list("message_id", flat=True))
    lines = tuple(_line(row, is_rated_poor=row.pk in poor_ids) for row in kept)
    return Transcript(lines, ids, chat.message_count)


def mask_for(client: Client) -> Mask:
    """A mask that hides personal data if the client's settings say so."""
    return Mask(is_on=client.config.mask_personal_data)


def _line(row: Message, *, is_rated_poor: bool) -> Line:
    text = row.text[:MAX_LINE_CHARS]
    if row.sender_type == SenderType.CUSTOMER:
        return Line("customer", text)
    # A bot's message that no engine wrote is a canned reply, so it is not an answer.
    is_from_bot = row.sender_type == SenderType.BOT
    is_canned = is_from_bot and not (row.receipt or {}).get("engine")
    is_answer = not is_rated_poor and not is_canned
    return Line("assistant", text, is_answer=is_answer, is_from_bot=is_from_bot)
