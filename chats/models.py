"""Conversations: one store behind every door."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.ids import short_code, uuid7
from identity.models import ApiKey, Client, OfClient, User


class Customer(models.Model):
    """Someone who writes to a client, as far as that client knows them."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    external_id = models.CharField(max_length=200, null=True)
    name = models.CharField(max_length=200, default="", blank=True)
    email = models.CharField(max_length=254, default="", blank=True)
    phone = models.CharField(max_length=40, default="", blank=True)
    avatar_url = models.CharField(max_length=500, default="", blank=True)
    attributes = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "external_id"], name="customer_external_id")
        ]

    def __str__(self) -> str:
        return self.name or f"customer {self.pk}"


class Channel(models.TextChoices):
    WEB = "web"
    API = "api"
    SOCIALNET = "socialnet"
    PHOTOAPP = "photoapp"
    CHATAPP = "chatapp"
    LOCALAPP = "localapp"


class Status(models.TextChoices):
    OPEN = "open"
    SNOOZED = "snoozed"
    ENDED = "ended"


class AssignType(models.TextChoices):
    BOT = "bot"
    QUEUE = "queue"
    AGENT = "agent"


class Conversation(models.Model):
    """A chat. `status` says whether work is expected, `assign_type` who must act next.

    `version` grows with each change of owner or status: a reply begun under an older version is
    dropped. `last_seq` and `last_event_seq` number messages and events without gaps; whoever takes
    a number locks this row.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    bot = models.ForeignKey(Bot, on_delete=models.PROTECT, related_name="conversations")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="conversations")
    # The public key whose page opened it: another page's key does not see it.
    opened_by_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True)
    chat_code = models.CharField(max_length=20, unique=True, default=short_code)
    channel = models.CharField(max_length=10, choices=Channel, default=Channel.API)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assign_type = models.CharField(max_length=10, choices=AssignType, default=AssignType.BOT)
    assignee = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    version = models.PositiveIntegerField(default=1)
    waiting_since = models.DateTimeField(null=True)
    handoff_reason = models.CharField(max_length=60, null=True)
    previous_chat = models.ForeignKey("self", on_delete=models.SET_NULL, null=True)
    language = models.CharField(max_length=20)
    tags = ArrayField(models.CharField(max_length=60), default=list)
    sentiment = models.CharField(max_length=10, null=True)
    summary = models.TextField(null=True)
    unread_count = models.PositiveIntegerField(default=0)
    message_count = models.PositiveIntegerField(default=0)
    last_seq = models.PositiveIntegerField(default=0)
    last_event_seq = models.PositiveIntegerField(default=0)
    last_message_at = models.DateTimeField(null=True)
    first_response_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=12, null=True)
    location = models.JSONField(null=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(assign_type="agent") | models.Q(assignee__isnull=True),
                name="assignee_only_for_agent",
            )
        ]
        indexes = [
            # The list of a client, newest activity first.
            models.Index(fields=["client", "-last_message_at", "-id"], name="conversation_feed")
        ]

    def __str__(self) -> str:
        return self.chat_code


class SenderType(models.TextChoices):
    CUSTOMER = "customer"
    BOT = "bot"
    AGENT = "agent"
    SYSTEM = "system"


class MessageStatus(models.TextChoices):
    PENDING = "pending"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"


class Message(models.Model):
    """One message of a conversation; `seq` is gap-free in it. The text is never changed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    seq = models.PositiveIntegerField()
    sender_type = models.CharField(max_length=10, choices=SenderType)
    sender_id = models.CharField(max_length=60, null=True)
    sender_name = models.CharField(max_length=200, default="", blank=True)
    content = models.JSONField()
    citations = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=MessageStatus, default=MessageStatus.SENT)
    error = models.CharField(max_length=500, null=True)
    in_reply_to = models.ForeignKey("self", on_delete=models.SET_NULL, null=True)
    is_note = models.BooleanField(default=False)
    client_message_id = models.CharField(max_length=200, null=True)
    provider_message_id = models.CharField(max_length=300, null=True)
    language = models.CharField(max_length=20, default="", blank=True)
    # Where a bot answered: engine, model, prompt version, chunks and scores, gate, tokens.
    receipt = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="message_seq"),
            # The sender's own id makes a repeated request harmless.
            models.UniqueConstraint(
                fields=["conversation", "client_message_id"], name="message_client_id"
            ),
            # One reply by the machine a customer turn, however many workers try.
            models.UniqueConstraint(
                fields=["in_reply_to"],
                condition=models.Q(sender_type__in=["bot", "system"]),
                name="message_one_reply",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.seq} of {self.conversation_id}"


class Turn(models.TextChoices):
    ANSWERED = "answered"
    PENDING = "pending"
    HANDED_OFF = "handed_off"
    NOT_EXPECTED = "not_expected"


def text_content(text: str) -> list[dict[str, Any]]:
    """The stored content of a plain text message."""
    return [{"type": "text", "text": text}]
