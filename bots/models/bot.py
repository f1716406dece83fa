"""Bots, and the sample questions that their widgets offer."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now

from chatplatform import media
from chatplatform.crypto import EncryptedTextField
from identity.models import Client, TenantModel

# The host names in `allowed_domain` as an array, which can be indexed.
ALLOWED_HOSTS = models.Func(
    models.F("allowed_domain"),
    # The comma is inlined: PostgreSQL would not use the index if the comma were a parameter.
    template="string_to_array(%(expressions)s, ',')",
    output_field=ArrayField(models.TextField()),
)


class EngagingVisitors(models.TextChoices):
    ALL = "all"
    NEW = "new"
    RETURNING = "returning"


class Bot(TenantModel):
    """A client's bot: its appearance, languages and behavior, and where it may be shown."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="bots")
    bot_name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, default="", blank=True)
    bot_icon = models.URLField(max_length=500, default="", blank=True)
    # The avatar's file if it was uploaded; otherwise empty.
    icon_file = models.FileField(
        upload_to="banners/", max_length=200, default="", db_default="", blank=True
    )
    primary_color = models.CharField(max_length=7, default="#2563eb")
    secondary_color = models.CharField(max_length=7, default="#f1f5f9")
    # Comma-separated host names of the sites that may use the bot's public key; `*.` stands for
    # all subdomains. Empty: no site may use the key.
    allowed_domain = models.CharField(max_length=2000, default="", blank=True)
    default_language = models.CharField(max_length=20, default="en")
    languages = ArrayField(models.CharField(max_length=20), default=list)
    style = models.JSONField(default=dict)
    welcome_message = models.JSONField(default=dict)
    terms = models.JSONField(default=dict)
    # The placeholder of the widget's input field.
    bot_question = models.CharField(max_length=300, default="", blank=True)
    # The invitation that appears next to the closed widget: language to text.
    engaging_message = models.JSONField(default=dict)
    # When the widget shows the invitation or opens automatically: after how many seconds, on which
    # pages and for which visitors.
    engaging_seconds = models.PositiveSmallIntegerField(default=0, db_default=0)
    engaging_pages = models.CharField(max_length=500, default="", db_default="", blank=True)
    engaging_visitors = models.CharField(
        max_length=10, choices=EngagingVisitors, default="all", db_default="all"
    )
    attach_enabled = models.BooleanField(default=True)
    # Customers may export a transcript of their conversation.
    export_enabled = models.BooleanField(default=False)
    # An agent's reply is emailed to a website visitor who has left.
    mail_answers = models.BooleanField(default=True, db_default=True)
    # The widget opens automatically.
    auto_pop_up = models.BooleanField(default=False)
    is_fullscreen = models.BooleanField(default=False)
    # Whether websites show the widget at all.
    is_visible = models.BooleanField(default=True)
    # The team may try the bot in a preview.
    allow_preview = models.BooleanField(default=True)
    # Agents answer instead of the bot: new conversations go to the queue.
    agent_reply = models.BooleanField(default=False)
    # The bot may be deleted.
    delete_available = models.BooleanField(default=True)
    is_disabled = models.BooleanField("disabled", default=False)
    # Null: the business hours or holidays in the client's ClientConfig apply.
    business_hours = models.JSONField(null=True, blank=True)
    holidays = models.JSONField(null=True, blank=True)
    # The bot's own `business_hours` before they were emptied, which the site suggests again.
    custom_hours = models.JSONField(null=True)
    # Setup steps that the client has marked as done or not done, contrary to what we detect: step
    # name to boolean.
    setup_overrides = models.JSONField(default=dict)
    # What the bot asks its customers for: customer-info fields in the API's format.
    customer_info_fields = models.JSONField(default=list)
    # The bot's procedures, in the API's format.
    procedures = models.JSONField(db_default=models.Value([], models.JSONField()), default=list)
    # The key that signs the ids of signed-in website visitors; empty: no visitor can be identified.
    identity_secret = EncryptedTextField(default="", blank=True)
    # The banner above the chat: a re-encoded image, with its link, alternative text and period.
    banner = models.FileField(upload_to="banners/", max_length=200, default="", blank=True)
    banner_mime_type = models.CharField(max_length=60, default="", blank=True)
    banner_width = models.PositiveIntegerField(null=True)
    banner_height = models.PositiveIntegerField(null=True)
    banner_size_bytes = models.PositiveIntegerField(null=True)
    banner_link = models.CharField(max_length=500, default="", blank=True)
    banner_alt = models.CharField(max_length=200, default="", blank=True)
    banner_valid_from = models.DateTimeField(null=True)
    banner_valid_to = models.DateTimeField(null=True)
    # Whether changes to content and instructions wait for a golden run. They stay held back if a
    # question that passed before fails, unless a person publishes them.
    hold_back_worse = models.BooleanField(default=False, db_default=False)
    # The website that last showed the widget, and when.
    seen_on = models.CharField(max_length=253, default="", db_default="", blank=True)
    seen_at = models.DateTimeField(null=True)
    # Incremented when the bot's passages change, so that processes rebuild their indexes.
    knowledge_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["client", "id"], name="bot_list"),
            # Used by every CORS preflight, to check whether any bot allows the host.
            GinIndex(ALLOWED_HOSTS, name="bot_allowed_hosts"),
        ]

    def __str__(self) -> str:
        return self.bot_name

    @property
    def picture_url(self) -> str:
        """The avatar's current URL. The URL of an uploaded file is built from the platform's base
        URL."""
        return media.public_url(str(self.icon_file)) if self.icon_file else self.bot_icon


class SampleQuestion(TenantModel):
    """A question, written by the client, that the widget suggests to customers."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="sample_questions")
    question = models.CharField(max_length=300)
    language = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["bot", "position", "id"], name="sample_questions")]

    def __str__(self) -> str:
        return self.question
