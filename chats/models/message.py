"""Messages."""

from typing import Any

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Now, Upper

from chatplatform.ids import uuid7
from chats.models.conversation import Conversation
from identity.models import TenantModel


class SenderType(models.TextChoices):
    CUSTOMER = "customer"
    BOT = "bot"
    AGENT = "agent"
    SYSTEM = "system"


# The decisions that leave a question unanswered.
NO_ANSWER = ("below_gate", "nothing_to_quote", "no_answer", "model_refused")
# Selects the replies that left a question unanswered and, if it got no reply because its customer
# waits for an agent, the question itself.
UNANSWERED = models.Q(receipt__decision__in=NO_ANSWER)


class MessageStatus(models.TextChoices):
    """The state of a message's delivery."""

    PENDING = "pending"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"


class Message(TenantModel):
    """One message of a conversation. `seq` numbers a conversation's messages consecutively.

    The text changes only if a voice note is transcribed, or if the sender edits or deletes the
    message. Customers do so in their messaging app; agents can change only their latest message.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    seq = models.PositiveIntegerField()
    sender_type = models.CharField(max_length=10, choices=SenderType)
    sender_id = models.CharField(max_length=60, null=True)
    sender_name = models.CharField(max_length=200, default="", blank=True)
    # {"type", "id", "name"} at the time of sending. Null for notes, and for a customer's message
    # that was sent while the conversation was in the queue.
    recipient = models.JSONField(null=True)
    content = models.JSONField()
    citations = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=MessageStatus, default=MessageStatus.SENT)
    error = models.CharField(max_length=500, null=True)
    in_reply_to = models.ForeignKey("self", on_delete=models.SET_NULL, null=True)
    is_note = models.BooleanField(default=False)
    # The bot's welcome at the start of a conversation: it has a `seq`, but no report counts it.
    is_welcome = models.BooleanField(default=False)
    client_message_id = models.CharField(max_length=200, null=True)
    provider_message_id = models.CharField(max_length=300, null=True)
    language = models.CharField(max_length=20, default="", blank=True)
    # The requested translations of the text, by language.
    translations = models.JSONField(default=dict)
    sentiment = models.CharField(max_length=10, null=True)
    metadata = models.JSONField(default=dict)
    # When the message was sent, if it was added later as history; null for all other messages.
    sent_at = models.DateTimeField(null=True)
    # The message's id in the source of an import.
    external_id = models.CharField(max_length=200, null=True)
    # All text in `content`, for search and for the bot.
    text = models.TextField(default="", blank=True)
    # Explains a message by the bot or the platform: decision, engine, passages, tokens and more. An
    # unanswered question of a customer who waits for an agent has it itself.
    receipt = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    # When the sender last edited the message, and when the sender deleted it.
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    # The customer's reaction to the message: an emoji or a word.
    customer_reaction = models.CharField(max_length=40, default="", blank=True)
    customer_reacted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="message_seq"),
            # A request that is repeated with the same `client_message_id` stores no second message.
            models.UniqueConstraint(
                fields=["conversation", "client_message_id"], name="message_client_id"
            ),
            models.UniqueConstraint(
                fields=["conversation", "external_id"], name="message_external"
            ),
            # A message gets one reply, by the bot or the system, however many workers try.
            models.UniqueConstraint(
                fields=["in_reply_to"],
                condition=models.Q(sender_type__in=["bot", "system"]),
                name="message_one_reply",
            ),
        ]
        indexes = [
            # The export reads messages in the order of their ids.
            models.Index(fields=["client", "id"], name="message_export"),
            # The site lists unanswered questions, newest first.
            models.Index(fields=["client", "-id"], condition=UNANSWERED, name="message_unanswered"),
            # Finds a client's messages whose text contains a search term.
            GinIndex(
                models.F("client"),
                OpClass(Upper("text"), "gin_trgm_ops"),
                name="message_client_search",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.seq} of {self.conversation_id}"

    @property
    def question(self) -> "Message | None":
        """The customer's message that an `UNANSWERED` message is about."""
        return self if self.sender_type == SenderType.CUSTOMER else self.in_reply_to


def text_content(text: str) -> list[dict[str, Any]]:
    """The stored content of a plain-text message."""
    return [{"type": "text", "text": text}]
