"""Conversations of every channel."""

from enum import StrEnum
from typing import NewType

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Coalesce, Now

from bots.models import Bot
from chatplatform.channel_names import channel_choices
from chatplatform.ids import short_code, uuid7
from chats.models.customer import Customer
from identity.models import ApiKey, TenantModel, User


class Status(models.TextChoices):
    OPEN = "open"
    SNOOZED = "snoozed"
    ENDED = "ended"


class AssignType(models.TextChoices):
    BOT = "bot"
    QUEUE = "queue"
    AGENT = "agent"


class Priority(models.TextChoices):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


class Conversation(TenantModel):
    """A conversation. `status` says whether it is in progress, `assign_type` who must act next.

    `version` increases whenever the owner or the status changes; a reply that was begun under an
    older version is dropped. `last_seq` and `last_event_seq` are the numbers of the latest message
    and the latest event. They increase only while this row is locked, so no number is skipped.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.PROTECT, related_name="conversations")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="conversations")
    # The API key that opened the conversation, if one did. A public key sees only the
    # conversations that it opened for the same visitor.
    opened_by_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True)
    # If a public key opened the conversation: the id of the customer in the visitor's token. It
    # changes only when the visitor signs in. Merging the customer into another keeps it, so that
    # the visitor keeps access.
    visitor_id = models.BigIntegerField(null=True)
    chat_code = models.CharField(max_length=20, unique=True, default=short_code)
    channel = models.CharField(max_length=10, choices=channel_choices, default="api")
    # A test by the client's team: nobody is notified, no event is written, no report counts it.
    is_preview = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assign_type = models.CharField(max_length=10, choices=AssignType, default=AssignType.BOT)
    assignee = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    priority = models.CharField(
        max_length=6, choices=Priority, default=Priority.NORMAL, db_default=Priority.NORMAL
    )
    version = models.PositiveIntegerField(default=1)
    waiting_since = models.DateTimeField(null=True)
    handoff_reason = models.CharField(max_length=60, null=True)
    # When the conversation first entered the queue: handed over from the bot, or opened or
    # reopened while the bot was off.
    handed_off_at = models.DateTimeField(null=True)
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
    # The newest message, for lists. Notes, the welcome and the message of a handover are left out,
    # and so is what the bot or the platform says while the bot does not have the conversation.
    # The column has no index, because it changes often, and no constraint, because messages are
    # only deleted with their conversation.
    last_message = models.ForeignKey(
        "Message", on_delete=models.DO_NOTHING, null=True, db_index=False, db_constraint=False,
        related_name="+",
    )  # fmt: skip
    first_response_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=12, null=True)
    location = models.JSONField(null=True)
    metadata = models.JSONField(default=dict)
    # When the snooze ends; a message from the customer ends it sooner.
    snoozed_until = models.DateTimeField(null=True)
    # When the conversation returns to the queue if the agent has not replied by then.
    return_at = models.DateTimeField(null=True)
    assigned_at = models.DateTimeField(null=True)
    # The `seq` of the last message before the latest reopening. The bot ignores this message and
    # all earlier messages.
    read_from_seq = models.PositiveIntegerField(default=0)
    # On channels with a reply window: the time until which free text may be sent.
    reply_window_expires_at = models.DateTimeField(null=True)
    # Whether the channel's account can send; always true if the channel is not a messaging app.
    is_reachable = models.BooleanField(default=True)
    # The customer's id at the channel's provider, to which messages are sent.
    provider_user_id = models.CharField(max_length=300, db_default="", blank=True)
    sentiment_score = models.FloatField(null=True)
    # The next four are set by the messaging API; imports set the last two.
    provider = models.CharField(max_length=60, default="", blank=True)
    group_id = models.CharField(max_length=200, default="", blank=True)
    requester = models.JSONField(null=True)
    responsible = models.JSONField(null=True)
    # The id in the source of an import, such as "chatwoot:1:conversation:12".
    external_id = models.CharField(max_length=200, null=True)
    # When the conversation was imported. If `ended_at` is null, the retention period starts then.
    imported_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "external_id"], name="conversation_external"),
            models.CheckConstraint(
                condition=models.Q(assign_type="agent") | models.Q(assignee__isnull=True),
                name="assignee_only_for_agent",
            ),
        ]
        indexes = [
            # A client's list, ordered by the time of the latest message or, if there are no
            # messages, of the opening.
            models.Index(
                models.F("client"),
                Coalesce("last_message_at", "created_at").desc(),
                models.F("id").desc(),
                name="conversation_activity",
            ),
            # The export reads conversations in the order in which they were opened.
            models.Index(fields=["client", "id"], name="conversation_export"),
            # Reports count the conversations that were opened in a period.
            models.Index(fields=["client", "created_at", "id"], name="conversation_report"),
            # The messaging API filters by `group_id`, which the client's own system sets.
            models.Index(
                fields=["client", "group_id", "-id"],
                condition=~models.Q(group_id=""),
                name="conversation_group",
            ),
            # All conversations of a bot or a customer.
            models.Index(fields=["bot", "-id"], name="conversation_of_bot"),
            models.Index(fields=["customer", "-id"], name="conversation_of_customer"),
            # The next four serve the timers, which look for conversations to end, to warn about,
            # to wake up from a snooze, and to return to the queue.
            models.Index(
                fields=["last_message_at"],
                condition=models.Q(status="open"),
                name="conversation_idle",
            ),
            models.Index(
                fields=["waiting_since"],
                condition=models.Q(status="open", waiting_since__isnull=False),
                name="conversation_waiting",
            ),
            models.Index(
                fields=["snoozed_until"],
                condition=models.Q(status="snoozed"),
                name="conversation_to_wake",
            ),
            models.Index(
                fields=["return_at"],
                condition=models.Q(return_at__isnull=False),
                name="conversation_to_return",
            ),
            # A client's ended conversations, ordered by the start of their retention period. An
            # imported conversation without an end time ended no later than its import.
            models.Index(
                models.F("client"),
                Coalesce("ended_at", "imported_at"),
                models.F("id"),
                condition=models.Q(status="ended"),
                name="conversation_to_delete",
            ),
            # An agent's open conversations, and a client's queue.
            models.Index(
                fields=["client", "assign_type", "assignee"],
                condition=models.Q(status="open"),
                name="conversation_owner",
            ),
        ]

    def __str__(self) -> str:
        return self.chat_code

    @property
    def capped_key_id(self) -> int | None:
        """The id of the public key whose daily cap limits the conversation's automatic costs; None
        if no public key opened the conversation.

        Anyone who can open the website can use its public key, so the costs that visitors cause
        are capped.
        """
        return self.opened_by_key_id if self.visitor_id else None


# A conversation whose row the current transaction has locked; see `conversations.lock`.
LockedConversation = NewType("LockedConversation", Conversation)


class ReplyScope(StrEnum):
    """What the bot may say in a conversation (`services/core/reply_policy.py`)."""

    ALL = "all"
    # Only answers; no second handover, because the conversation already waits for an agent.
    ANSWERS = "answers"
    # Only a handover, because the bot has the conversation but is disabled.
    HANDOVER = "handover"
