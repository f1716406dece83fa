"""Conversations of every channel, and what belongs to them."""

from enum import StrEnum
from typing import Any, NewType

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.signing import TimestampSigner
from django.db import models
from django.db.models.functions import Coalesce, Now, Upper

from bots.models import Bot
from chatplatform.customer_channels import CHANNEL_CHOICES
from chatplatform.ids import short_code, uuid7
from chats.client_models import ClientTag as ClientTag
from chats.client_models import CustomerErasure as CustomerErasure
from chats.client_models import ErasureStatus as ErasureStatus
from chats.client_models import SavedReply as SavedReply
from chats.client_models import SummaryJob as SummaryJob
from chats.client_models import SummaryJobStatus as SummaryJobStatus
from chats.unanswered_question_models import GroupedQuestion as GroupedQuestion
from chats.unanswered_question_models import GroupStatus as GroupStatus
from chats.unanswered_question_models import QuestionGroup as QuestionGroup
from chats.unanswered_question_models import Replay as Replay
from chats.unanswered_question_models import ReplayChange as ReplayChange
from chats.unanswered_question_models import ReplayedReply as ReplayedReply
from chats.unanswered_question_models import ReplayStatus as ReplayStatus
from identity.models import ApiKey, TenantModel, User


class Customer(TenantModel):
    """A person who writes to a client."""

    external_id = models.CharField(max_length=200, null=True)
    name = models.CharField(max_length=200, default="", blank=True)
    email = models.CharField(max_length=254, default="", blank=True)
    phone = models.CharField(max_length=40, default="", blank=True)
    avatar_url = models.CharField(max_length=500, default="", blank=True)
    # For an imported customer without an external id: the id in the system they come from.
    import_source_id = models.CharField(max_length=200, null=True)
    attributes = models.JSONField(default=dict)
    # Columns and attributes (`attributes.…`) from the customer, which a public key may overwrite.
    self_reported_fields = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "external_id"], name="customer_external_id"),
            models.UniqueConstraint(
                fields=["client", "import_source_id"], name="customer_import_source_id"
            ),
        ]
        indexes = [
            # For the search by a part of the name, e-mail address, phone number or external id.
            GinIndex(
                OpClass(Upper("name"), "gin_trgm_ops"),
                OpClass(Upper("email"), "gin_trgm_ops"),
                OpClass(Upper("phone"), "gin_trgm_ops"),
                OpClass(Upper("external_id"), "gin_trgm_ops"),
                name="customer_search",
            ),
            models.Index(fields=["client", "-id"], name="customer_list"),
        ]

    def __str__(self) -> str:
        return self.name or f"customer {self.pk}"


class Status(models.TextChoices):
    OPEN = "open"
    SNOOZED = "snoozed"
    ENDED = "ended"


class AssignType(models.TextChoices):
    BOT = "bot"
    QUEUE = "queue"
    AGENT = "agent"


class Conversation(TenantModel):
    """A conversation. `status` says whether it is in progress, `assign_type` who must act next.

    `version` increases with each change of owner or status: a reply begun under an older version is
    dropped. `last_seq` and `last_event_seq` number messages and events without gaps; a number is
    taken while this row is locked.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.PROTECT, related_name="conversations")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="conversations")
    # The key that opened it. A public key sees only conversations it opened for the same visitor.
    opened_by_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True)
    # If a public key opened it: the id of the customer it was opened for. It stays the same if the
    # conversation becomes another customer's, so that the visitor keeps access.
    visitor_id = models.BigIntegerField(null=True)
    chat_code = models.CharField(max_length=20, unique=True, default=short_code)
    channel = models.CharField(max_length=10, choices=CHANNEL_CHOICES, default="api")
    # The team tries the bot: nobody is notified, no event is written, and no report counts it.
    is_preview = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assign_type = models.CharField(max_length=10, choices=AssignType, default=AssignType.BOT)
    assignee = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    version = models.PositiveIntegerField(default=1)
    waiting_since = models.DateTimeField(null=True)
    handoff_reason = models.CharField(max_length=60, null=True)
    handed_off_at = models.DateTimeField(null=True)  # first handover, or opening without the bot
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
    # The newest that the customer may see. No index, as every message writes it; no constraint, as
    # messages are only deleted together with their conversation.
    last_message = models.ForeignKey(
        "Message", on_delete=models.DO_NOTHING, null=True, db_index=False, db_constraint=False,
        related_name="+",
    )  # fmt: skip
    first_response_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=12, null=True)
    location = models.JSONField(null=True)
    metadata = models.JSONField(default=dict)
    # When it reopens; a customer's message reopens it sooner.
    snoozed_until = models.DateTimeField(null=True)
    # When it returns to the queue if the agent has not replied by then.
    return_at = models.DateTimeField(null=True)
    assigned_at = models.DateTimeField(null=True)
    # The bot reads only messages after this `seq`, the last one before a reopening.
    read_from_seq = models.PositiveIntegerField(default=0)
    # For channels with a reply window: until when free text may be sent.
    reply_window_expires_at = models.DateTimeField(null=True)
    # Whether the channel's account can send; always true without a messaging channel.
    is_reachable = models.BooleanField(default=True)
    sentiment_score = models.FloatField(null=True)
    # Set by the messaging API and by an import.
    provider = models.CharField(max_length=60, default="", blank=True)
    group_id = models.CharField(max_length=200, default="", blank=True)
    requester = models.JSONField(null=True)
    responsible = models.JSONField(null=True)
    # The id in the system that it was imported from, such as "chatwoot:12".
    external_id = models.CharField(max_length=200, null=True)
    # When it was imported; inactivity counts from this time.
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
            # A client's list, newest activity first; without a message, the opening counts.
            models.Index(
                models.F("client"),
                Coalesce("last_message_at", "created_at").desc(),
                models.F("id").desc(),
                name="conversation_activity",
            ),
            # The export, in order of opening.
            models.Index(fields=["client", "id"], name="conversation_export"),
            models.Index(
                fields=["client", "created_at", "id"], name="conversation_report"
            ),  # periods
            # The messaging API's filter by the other system's groups.
            models.Index(
                fields=["client", "group_id", "-id"],
                condition=~models.Q(group_id=""),
                name="conversation_group",
            ),
            # All conversations of a bot or a customer.
            models.Index(fields=["bot", "-id"], name="conversation_of_bot"),
            models.Index(fields=["customer", "-id"], name="conversation_of_customer"),
            # For the timers: conversations to end, to warn about, to wake, to return.
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
            # A client's ended conversations, by the end of their retention. An imported
            # conversation without an end time ended no later than its import.
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
        """The key whose daily cap limits the conversation's automatic costs.

        A public key can be used by anyone who can read the website, so what its visitors spend has
        a cap of its own.
        """
        return self.opened_by_key_id if self.visitor_id else None


class ReplyScope(StrEnum):
    """What the bot may say in a conversation (`services/core/reply_policy.py`)."""

    ALL = "all"
    # The conversation waits for an agent: answers, but no second handover.
    ANSWERS = "answers"
    # The bot has the conversation but is disabled: only a handover.
    HANDOVER = "handover"


# A conversation whose row the current transaction has locked; see `conversations.lock`.
LockedConversation = NewType("LockedConversation", Conversation)


class SenderType(models.TextChoices):
    CUSTOMER = "customer"
    BOT = "bot"
    AGENT = "agent"
    SYSTEM = "system"


# The decisions that leave a question unanswered, and the bot's messages with them.
NO_ANSWER = ("below_gate", "nothing_to_quote", "no_answer", "model_refused")
UNANSWERED = models.Q(receipt__decision__in=NO_ANSWER)


class MessageStatus(models.TextChoices):
    """The state of a message's delivery."""

    PENDING = "pending"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"


class Message(TenantModel):
    """One message of a conversation, numbered by `seq` without gaps.

    The text never changes unless the customer edits or deletes the message in the channel.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    seq = models.PositiveIntegerField()
    sender_type = models.CharField(max_length=10, choices=SenderType)
    sender_id = models.CharField(max_length=60, null=True)
    sender_name = models.CharField(max_length=200, default="", blank=True)
    # {"type", "id", "name"} at the time of sending; null if the conversation was in the queue.
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
    # When a message of imported history was sent; null for all others.
    sent_at = models.DateTimeField(null=True)
    # The id in the system that it was imported from.
    external_id = models.CharField(max_length=200, null=True)
    # The text of `content`, for the search.
    text = models.TextField(default="", blank=True)
    # For a bot's reply: engine, model, versions, chunks with scores, threshold, tokens.
    receipt = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    # What customers did in the channel: edited, deleted, reacted (an emoji or a word for it).
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    customer_reaction = models.CharField(max_length=40, default="", blank=True)
    customer_reacted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="message_seq"),
            # With the sender's own id, a repeated request stores nothing.
            models.UniqueConstraint(
                fields=["conversation", "client_message_id"], name="message_client_id"
            ),
            models.UniqueConstraint(
                fields=["conversation", "external_id"], name="message_external"
            ),
            # The bot or system replies to a message only once, however many workers try.
            models.UniqueConstraint(
                fields=["in_reply_to"],
                condition=models.Q(sender_type__in=["bot", "system"]),
                name="message_one_reply",
            ),
        ]
        indexes = [
            # The export, in order of the ids.
            models.Index(fields=["client", "id"], name="message_export"),
            # The site's list of unanswered questions.
            models.Index(fields=["client", "-id"], condition=UNANSWERED, name="message_unanswered"),
            # The search of a client's messages by a part of their text.
            GinIndex(
                models.F("client"),
                OpClass(Upper("text"), "gin_trgm_ops"),
                name="message_client_search",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.seq} of {self.conversation_id}"


ATTACHMENT_SALT = "chats.attachment"


class Attachment(TenantModel):
    """A file of a message, stored in the media store under a random name."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="attachments"
    )
    message = models.ForeignKey(
        Message, on_delete=models.CASCADE, null=True, related_name="attachments"
    )
    file = models.FileField(upload_to="attachments/", max_length=200)
    file_name = models.CharField(max_length=255)
    # Detected from the bytes, never taken from the sender.
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.file_name

    @staticmethod
    def link_to(attachment_id: str) -> str:
        """A signed path that opens the file without another credential, valid for a day."""
        _, signature = TimestampSigner(salt=ATTACHMENT_SALT).sign(attachment_id).split(":", 1)
        return f"/ai/attachment/{attachment_id}?signature={signature}"


class TagSource(models.TextChoices):
    AGENT = "agent"
    AI = "ai"
    CUSTOMER = "customer"


class Tagging(TenantModel):
    """A tag of a conversation; `Conversation.tags` repeats the names for lists and filters."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="taggings"
    )
    name = models.CharField(max_length=60)
    source = models.CharField(max_length=8, choices=TagSource)
    confidence = models.FloatField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "name"], name="tagging_unique")
        ]
        indexes = [models.Index(fields=["client", "name"], name="tag_list")]

    def __str__(self) -> str:
        return self.name


class Summary(TenantModel):
    """A summary of a conversation; only the newest counts."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="summaries"
    )
    summary = models.TextField()
    language = models.CharField(max_length=20)
    key_points = models.JSONField(default=list)
    customer_intent = models.TextField(default="", blank=True)
    resolution = models.TextField(default="", blank=True)
    # How many messages it covers; if the conversation has more, the summary is outdated.
    message_count = models.PositiveIntegerField()
    engine = models.CharField(max_length=60)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "summaries"
        indexes = [models.Index(fields=["conversation", "-id"], name="summary_latest")]

    def __str__(self) -> str:
        return f"summary of {self.conversation_id}"


class Thumb(models.TextChoices):
    UP = "up"
    DOWN = "down"


class Feedback(TenantModel):
    """A customer's rating, in stars or by thumb: one for a conversation, one for each message."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="feedbacks"
    )
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True)
    rating = models.PositiveSmallIntegerField(null=True)
    thumb = models.CharField(max_length=4, choices=Thumb, null=True)
    resolved = models.BooleanField(null=True)
    reason = models.CharField(max_length=20, null=True)
    comment = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())
    # When it was last corrected.
    updated_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(message__isnull=True),
                name="feedback_chat_unique",
            ),
            models.UniqueConstraint(fields=["message"], name="feedback_message_unique"),
            models.CheckConstraint(
                condition=models.Q(rating__gte=1, rating__lte=5, thumb__isnull=True)
                | models.Q(rating__isnull=True, thumb__isnull=False, message__isnull=False),
                name="feedback_rating",
            ),
        ]
        indexes = [models.Index(fields=["client", "-id"], name="feedback_list")]

    def __str__(self) -> str:
        return f"{self.rating or self.thumb} for {self.conversation_id}"


class NotificationKind(models.TextChoices):
    ASSIGNED = "assigned"
    UNASSIGNED = "unassigned"
    HANDOFF = "handoff"
    UNANSWERED = "unanswered"
    MENTIONED = "mentioned"


class Notification(TenantModel):
    """Something for a person of the client to look at."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE)
    # The note that mentions the user.
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True)
    kind = models.CharField(max_length=10, choices=NotificationKind)
    assigned_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    is_read = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="notification_list")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"


def text_content(text: str) -> list[dict[str, Any]]:
    """The stored content of a plain-text message."""
    return [{"type": "text", "text": text}]
