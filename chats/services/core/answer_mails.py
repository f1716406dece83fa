"""Mails agents' answers to visitors who have left the website."""

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import override

from chatplatform import jobs, markdown_to_text
from chatplatform.api import rate_limits
from chatplatform.api.errors import TooManyRequests
from chats.models import Conversation, Message, MessageStatus, SenderType
from chats.schemas.content_kinds import labels_of
from chats.services.core import message_status
from identity.models import AttemptKind
from identity.services import attempts, mails

# If an answer has not reached the visitor by then, they have left the website.
WAIT = timedelta(minutes=3)
# Per company. It limits abuse: anybody can register a company and enter any address as a
# customer's.
MAX_MAILS_PER_DAY = 500


def enqueue_for(chat: Conversation, message: Message) -> None:
    """Enqueue a job that mails an agent's message to a visitor, together with later messages, if it
    has not reached them after `WAIT`. Nothing is enqueued for notes, if the bot's `mail_answers` is
    off, or if the visitor has given no email address."""
    is_visitors = chat.visitor_id is not None and not chat.is_preview
    is_wanted = is_visitors and chat.bot.mail_answers and chat.customer.email
    if is_wanted and not message.is_note and mails.is_enabled():
        jobs.enqueue(
            "chats.mail_answers",
            client_id=chat.client_id,
            dedupe_key=str(chat.pk),
            wait=WAIT,
            conversation_id=str(chat.pk),
        )


def mail(conversation_id: str) -> None:
    """Mail the agents' messages that have not reached the visitor, and mark them as delivered.
    Nothing is mailed if the chat, the recipient or the company has reached its daily limit."""
    chat = Conversation.objects.select_related("bot", "client", "customer").filter(
        pk=conversation_id, visitor_id__isnull=False
    ).first()  # fmt: skip
    if chat is None or not chat.customer.email or not chat.bot.mail_answers:
        return
    rows = Message.objects.filter(
        conversation=chat,
        sender_type=SenderType.AGENT,
        is_note=False,
        deleted_at=None,
        status__in=[MessageStatus.PENDING, MessageStatus.SENT],
    )
    answers = list(rows.order_by("seq"))
    if not answers or not _count_mail(chat):
        return
    mails.deliver(
        "answer",
        to=[chat.customer.email],
        language=chat.language,
        context={
            "agent": answers[-1].sender_name,
            "company": chat.client.name,
            "answer": "\n\n".join(_plain_text(answer, chat.language) for answer in answers),
        },
    )
    reached, now = [answer.pk for answer in answers], timezone.now()
    with jobs.commit():
        message_status.record_arrival(chat, reached, MessageStatus.DELIVERED, at=now)


def _plain_text(answer: Message, language: str) -> str:
    """A message as plain text, translated into the language if there is a translation, followed by
    what else it contains."""
    text = markdown_to_text.convert(answer.translations.get(language) or answer.text)
    with override(language):
        labels = labels_of(answer.content)
    return "\n".join(filter(None, [text, *(f"[{label}]" for label in labels)]))


def _count_mail(chat: Conversation) -> bool:
    """Count a mail against the daily limits; False if a limit is reached."""
    quota = rate_limits.Quota(
        "answer_mails", str(chat.client_id), MAX_MAILS_PER_DAY, rate_limits.DAY_SECONDS
    )
    try:
        attempts.start(AttemptKind.MAIL_CHAT, address="", account=f"answers:{chat.pk}")
        attempts.start(AttemptKind.MAIL_TO, address="", account=chat.customer.email)
    except TooManyRequests:
        return False
    return rate_limits.count([quota]).refusal is None
