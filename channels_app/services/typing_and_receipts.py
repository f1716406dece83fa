"""Send read receipts, typing indicators, and the survey after a chat."""

import logging

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from channels_app.models import ChannelChat
from channels_app.providers import PROVIDERS
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.types import Signal, SurveyRequest
from channels_app.services import provider_error_policy, sending
from chatplatform import jobs
from chats.models import Conversation, Message, SenderType, Status
from chats.services.core import automated_messages

log = logging.getLogger(__name__)


def send_signal(conversation_id: str, signal: Signal) -> None:
    """Send a signal once; it is never retried, since a late one would mislead the customer."""
    found = sending.connection_of_chat(conversation_id)
    if found is None:
        return
    connection, recipient_id = found
    if connection.paused_until and connection.paused_until > timezone.now():
        return
    provider = PROVIDERS[connection.channel]
    from_customer = Message.objects.filter(
        conversation_id=conversation_id, sender_type=SenderType.CUSTOMER
    )
    newest = from_customer.exclude(provider_message_id=None).order_by("-seq").first()
    last = (newest and newest.provider_message_id) or ""
    try:
        provider_error_policy.call(
            connection,
            lambda account: provider.signal(account, recipient_id, signal, last_message_id=last),
        )
    except ProviderError as error:
        log.info("%s was not shown in chat %s: %s", signal, conversation_id, error)


def send_survey(conversation_id: str) -> None:
    """Ask the customer to rate an ended chat: once, within the reply window, and only if the bot or
    an agent replied in the chat."""
    chat = Conversation.objects.filter(pk=conversation_id, status=Status.ENDED).first()
    found = sending.connection_of_chat(conversation_id) if chat else None
    if chat is None or found is None or chat.first_response_at is None:
        return
    ends_at = chat.reply_window_expires_at
    if ends_at and ends_at <= timezone.now():
        return
    connection, recipient_id = found
    provider = PROVIDERS[connection.channel]
    if not provider.has_survey:
        return
    sending.wait_while_paused(connection)
    title, subtitle, button = (
        automated_messages.sentence(name, language=chat.language, chat=chat).text
        for name in ("survey_question", "survey_note", "survey_button")
    )
    survey = SurveyRequest(
        recipient_id=recipient_id,
        question_id=f"chat_{chat.pk.hex}",
        title=title,
        subtitle=subtitle,
        button=button,
        privacy_url=settings.PRIVACY_URL,
    )
    rows = ChannelChat.objects.filter(conversation=chat, survey_sent_at=None)
    with jobs.commit():
        is_first = rows.update(survey_sent_at=Now())
    if not is_first:
        return
    try:
        provider_error_policy.call(
            connection, lambda account: provider.send_survey(account, survey)
        )
    except ProviderError as error:
        log.info("no survey in chat %s: %s", conversation_id, error)
        if error.kind in {Kind.TEMPORARY, Kind.RATE}:
            ChannelChat.objects.filter(conversation=chat).update(survey_sent_at=None)
            raise
