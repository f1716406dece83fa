"""A client's chat settings, and who gets its notifications by mail."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from identity.models.client import Client, TenantModel


class AssignStrategy(models.TextChoices):
    """How a waiting chat gets its agent."""

    MANUAL = "manual"
    ROUND_ROBIN = "round_robin"
    LEAST_BUSY = "least_busy"


class ClientConfig(TenantModel):
    """A client's chat settings; `version` grows with every change."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="config")
    # [{"weekday": 0..6 (Monday first), "opens": "09:00", "closes": "17:00"}]; empty: always open.
    business_hours = models.JSONField(default=list)
    # [{"date": "2026-12-25", "name": "", "hours": [{"opens", "closes"}]}]; no hours: closed.
    holidays = models.JSONField(default=list)
    # Language to text, like handoff_message.
    out_of_hours_message = models.JSONField(default=dict)
    assign_strategy = models.CharField(
        max_length=12, choices=AssignStrategy, default=AssignStrategy.MANUAL
    )
    # A strategy assigns an agent at most this many open chats; the agent may still take more.
    agent_capacity = models.PositiveSmallIntegerField(default=5)
    handoff_on_request = models.BooleanField(default=True)
    handoff_on_no_answer = models.BooleanField(default=True)
    # Whether the bot asks the customer to rephrase the first question that it cannot answer. Null:
    # yes in chats of the widget and of messaging channels, no in those of the client's server.
    ask_again_before_handoff = models.BooleanField(null=True)
    # Whether the bot goes on answering while a chat waits for an agent.
    answer_while_waiting = models.BooleanField(default=True, db_default=True)
    handoff_message = models.JSONField(default=dict)
    # Other automatic messages that the client has replaced: name to language to text.
    automatic_messages = models.JSONField(default=dict)
    # Lowest probability (0..1) at which the bot answers; below it the bot hands over.
    answer_threshold = models.FloatField(default=0.77)
    # Whether the extractive answer replaces that of a failed model; if not, the bot hands over.
    fallback_to_extractive = models.BooleanField(default=True)
    # Whether a second model call checks that the documents support each answer.
    confirm_answers = models.BooleanField(default=True, db_default=True)
    # Whether a model that can read pictures or transcribe voice notes gets those of customers.
    read_attachments = models.BooleanField(default=True, db_default=True)
    # Customer messages within this time get one common reply; 0: one reply for each.
    burst_wait_ms = models.PositiveIntegerField(default=0)
    # An open chat ends after this many minutes without a message; 0: never.
    inactivity_end_minutes = models.PositiveIntegerField(default=1440)
    # For this many minutes after its end a customer's message reopens a chat; 0: never.
    reopen_window_minutes = models.PositiveIntegerField(default=1440)
    # Whether an identified customer has at most one open chat with a bot.
    reuse_open = models.BooleanField(default=False)
    # Whether customers are asked for a rating when their chat has ended.
    ask_feedback = models.BooleanField(default=True)
    # For how many minutes a customer may correct a rating; 0: never.
    feedback_edit_minutes = models.PositiveIntegerField(default=60)
    first_response_target_seconds = models.PositiveIntegerField(default=300)
    auto_summary = models.BooleanField(default=False)
    auto_tag = models.BooleanField(default=False)
    auto_sentiment = models.BooleanField(default=False)
    auto_translate = models.BooleanField(default=False)
    mask_personal_data = models.BooleanField(default=False)
    # Messaging channels on which customers do not get the platform's own sentences.
    silent_channels = models.JSONField(default=list)
    # What a provider charges for a message, by the category that it reports.
    message_prices = models.JSONField(default=dict)
    # Days for which ended chats are kept; null: forever.
    retention_days = models.PositiveIntegerField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name, verbose_name_plural = "chat settings", "chat settings"

    def __str__(self) -> str:
        return f"Chat settings of {self.client}"


class EmailNotification(TenantModel):
    """Who gets which notifications by mail. Without a row nobody gets any."""

    client = models.OneToOneField(
        Client, on_delete=models.CASCADE, related_name="email_notification"
    )
    recipients = ArrayField(models.EmailField(max_length=254), default=list)
    on_assigned = models.BooleanField(default=False)
    on_unanswered = models.BooleanField(default=False)
    on_handoff = models.BooleanField(default=False)
    on_channel_error = models.BooleanField(default=False)
    on_low_credit = models.BooleanField(default=False)
    # Whether the agent of a chat gets the mails about it too.
    to_assignee = models.BooleanField(default=True)
    unanswered_after_minutes = models.PositiveIntegerField(default=15)

    def __str__(self) -> str:
        return f"mails of {self.client_id}"
