"""A client's chat settings, and its settings for mailed notifications."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from identity.models.client import Client, TenantModel


class AssignStrategy(models.TextChoices):
    """How waiting chats are assigned to agents."""

    MANUAL = "manual"
    ROUND_ROBIN = "round_robin"
    LEAST_BUSY = "least_busy"


class ClientConfig(TenantModel):
    """A client's chat settings; `version` increases with every change."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="config")
    # [{"weekday": 0..6 (Monday first), "opens": "09:00", "closes": "17:00"}]; empty: always open.
    business_hours = models.JSONField(default=list)
    # The `business_hours` before they were emptied, which the site suggests again.
    custom_hours = models.JSONField(null=True)
    # [{"date": "2026-12-25", "name": "", "hours": [{"opens", "closes"}]}]; no hours: closed.
    holidays = models.JSONField(default=list)
    # Texts by language, like `handoff_message`.
    out_of_hours_message = models.JSONField(default=dict)
    assign_strategy = models.CharField(
        max_length=12, choices=AssignStrategy, default=AssignStrategy.MANUAL
    )
    # Automatic assignment skips agents who have this many open chats. They may still take more.
    agent_capacity = models.PositiveSmallIntegerField(default=5)
    handoff_on_request = models.BooleanField(default=True)
    handoff_on_no_answer = models.BooleanField(default=True)
    # Whether the bot asks the customer to rephrase the first question that it cannot answer. Null:
    # yes in chats of the widget and of messaging channels, no in chats that come through the
    # client's server.
    ask_again_before_handoff = models.BooleanField(null=True)
    # Whether the bot keeps answering while a chat waits for an agent.
    answer_while_waiting = models.BooleanField(default=True, db_default=True)
    handoff_message = models.JSONField(default=dict)
    # The client's own texts for other automatic messages: by message name, then by language.
    automatic_messages = models.JSONField(default=dict)
    # A bot answers only if the probability (0..1) that its answer is right is at least this high.
    answer_threshold = models.FloatField(default=0.77)
    # Whether the extractive engine answers if the model fails. Otherwise the bot hands over.
    fallback_to_extractive = models.BooleanField(default=True)
    # Whether a second model call checks that the documents support each answer.
    confirm_answers = models.BooleanField(default=True, db_default=True)
    # Whether customers' pictures and voice notes go to a model that can read or transcribe them.
    read_attachments = models.BooleanField(default=True, db_default=True)
    # All messages that a customer sends within this time get a single reply; 0: one reply each.
    burst_wait_ms = models.PositiveIntegerField(default=0)
    # An open chat ends after this many minutes without a message; 0: never.
    inactivity_end_minutes = models.PositiveIntegerField(default=1440)
    # A customer's message reopens a chat that ended at most this many minutes ago; 0: never.
    reopen_window_minutes = models.PositiveIntegerField(default=1440)
    # Whether an identified customer has at most one open chat with a bot.
    reuse_open = models.BooleanField(default=False)
    # Whether customers are asked for a rating when their chat has ended.
    ask_feedback = models.BooleanField(default=True)
    # A customer may change a rating for this many minutes; 0: never.
    feedback_edit_minutes = models.PositiveIntegerField(default=60)
    first_response_target_seconds = models.PositiveIntegerField(default=300)
    auto_summary = models.BooleanField(default=False)
    auto_tag = models.BooleanField(default=False)
    auto_sentiment = models.BooleanField(default=False)
    auto_translate = models.BooleanField(default=False)
    mask_personal_data = models.BooleanField(default=False)
    # The messaging channels on which the platform sends no automatic messages.
    silent_channels = models.JSONField(default=list)
    # What a provider charges for a message, by the message category that the provider reports.
    message_prices = models.JSONField(default=dict)
    # The number of days for which ended chats are kept; null: forever.
    retention_days = models.PositiveIntegerField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name, verbose_name_plural = "chat settings", "chat settings"

    def __str__(self) -> str:
        return f"Chat settings of {self.client}"


class EmailNotification(TenantModel):
    """Which notifications are mailed to a client, and to whom. Without a row, none are mailed."""

    client = models.OneToOneField(
        Client, on_delete=models.CASCADE, related_name="email_notification"
    )
    recipients = ArrayField(models.EmailField(max_length=254), default=list)
    on_assigned = models.BooleanField(default=False)
    on_unanswered = models.BooleanField(default=False)
    on_handoff = models.BooleanField(default=False)
    on_channel_error = models.BooleanField(default=False)
    on_low_credit = models.BooleanField(default=False)
    # Whether a chat's agent also gets the mails about the chat.
    to_assignee = models.BooleanField(default=True)
    unanswered_after_minutes = models.PositiveIntegerField(default=15)

    def __str__(self) -> str:
        return f"mails of {self.client_id}"
