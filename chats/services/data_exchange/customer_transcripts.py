"""Transcripts that customers download or get by email."""

import uuid
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import override

from chatplatform import markdown_to_text
from chatplatform.api.errors import ApiError
from chatplatform.api.request_context import current_address
from chatplatform.jobs import enqueue
from chats.models import Conversation, Message, SenderType
from chats.schemas.content_kinds import labels_of
from chats.schemas.conversation import Transcript, TranscriptLine
from chats.services.core import conversations, messages
from identity.auth import Principal
from identity.models import AttemptKind
from identity.services import attempts, audit, mails

MAX_MESSAGES = 5_000


class ExportOff(ApiError):
    code, status = "export_off", 409
    detail = "This bot offers no transcripts: its export_enabled is false."


def ask_by_mail(caller: Principal, chat_id: uuid.UUID, *, email: str, timezone: str | None) -> None:
    """Enqueue an email with the transcript. 409 `export_off` if the bot offers no transcripts, 503
    if the platform sends no mail, 429 after too many emails."""
    chat = conversations.get(caller, pk=chat_id)
    _check_allowed(chat)
    mails.check_configured()
    # The emails are limited because a caller can send them to strangers.
    address = current_address()
    if caller.is_public_key:
        attempts.start(AttemptKind.MAIL_GUEST, address=address, account=str(caller.visitor_id))
    attempts.start(AttemptKind.MAIL_TO, address=address, account=email)
    attempts.start(AttemptKind.MAIL_CHAT, address=address, account=str(chat.pk))
    with transaction.atomic():
        enqueue(
            "chats.mail_transcript",
            client_id=chat.client_id,
            conversation_id=str(chat.pk),
            email=email,
            timezone=timezone,
        )
        # The email address is left out, because the audit log stays when a customer is erased.
        audit.record(
            chat.client_id, "transcript.mailed", by=caller.key, subject=f"conversation:{chat.pk}"
        )


def mail(conversation_id: str, *, email: str, timezone: str | None) -> None:
    """Email a transcript, in a job. Nothing is sent if the chat has been deleted or its bot no
    longer offers transcripts."""
    rows = Conversation.objects.select_related("bot", "client")
    chat = rows.filter(pk=conversation_id).first()
    if chat is None or not chat.bot.export_enabled:
        return
    with override(chat.language):
        text = make(chat).as_text(ZoneInfo(timezone or chat.client.timezone))
    mails.deliver(
        "transcript",
        to=[email],
        language=chat.language,
        context={"chat_code": chat.chat_code, "bot": chat.bot.bot_name},
        attachment=(f"{chat.chat_code}.txt", text),
    )


def make(chat: Conversation) -> Transcript:
    """The transcript for the customer; 409 `export_off` if the bot offers no transcripts."""
    _check_allowed(chat)
    return make_for_team(chat)


def make_for_team(chat: Conversation) -> Transcript:
    """A transcript of the chat's newest `MAX_MESSAGES` messages, oldest first, without notes or
    deleted messages."""
    newest = messages.history(chat).filter(deleted_at=None).order_by("-seq")[:MAX_MESSAGES]
    return Transcript.model_construct(
        chat_code=chat.chat_code,
        bot_name=chat.bot.bot_name,
        created_at=chat.created_at,
        ended_at=chat.ended_at,
        messages=[_line(message) for message in reversed(newest)],
    )


def _check_allowed(chat: Conversation) -> None:
    if not chat.bot.export_enabled:
        raise ExportOff


def _line(message: Message) -> TranscriptLine:
    # The stars that a survey offers are left out.
    parts = [part for part in message.content if part["type"] != "feedback"]
    is_from_customer = message.sender_type == SenderType.CUSTOMER
    return TranscriptLine.model_construct(
        sender=message.sender_type,
        name=message.sender_name,
        text=(
            message.text
            if is_from_customer
            else markdown_to_text.convert(message.text, is_citing=bool(message.citations))
        ),
        options=[option["label"] for part in parts for option in part.get("options") or ()],
        files=labels_of(message.content),
        created_at=message.sent_at or message.created_at,
    )
