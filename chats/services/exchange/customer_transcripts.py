"""What a customer takes along of a chat."""

from chatplatform.api.errors import ApiError
from chats.models import Conversation, Message
from chats.services.core import messages
from chats.shapes.conversation import Transcript, TranscriptLine

MAX_MESSAGES = 5_000


class ExportOff(ApiError):
    code, status = "export_off", 409
    detail = "This bot gives no transcripts: its export_enabled is false."


def make(chat: Conversation) -> Transcript:
    """The chat's newest messages without internal notes; 409 `export_off`."""
    if not chat.bot.export_enabled:
        raise ExportOff
    newest = messages.history(chat).filter(deleted_at=None).order_by("-seq")[:MAX_MESSAGES]
    return Transcript.model_construct(
        chat_code=chat.chat_code,
        bot_name=chat.bot.bot_name,
        created_at=chat.created_at,
        ended_at=chat.ended_at,
        messages=[_line(message) for message in reversed(newest)],
    )


def _line(message: Message) -> TranscriptLine:
    others = [piece for piece in message.content if piece["type"] != "text"]
    return TranscriptLine.model_construct(
        sender=message.sender_type,
        name=message.sender_name,
        text=message.text,
        files=[piece.get("file_name") or piece["type"] for piece in others],
        created_at=message.sent_at or message.created_at,
    )
