"""Bots, their content, and the functions that they may call."""

from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now

from bots.golden_models import GoldenOrigin as GoldenOrigin
from bots.golden_models import GoldenOutcome as GoldenOutcome
from bots.golden_models import GoldenQuestion as GoldenQuestion
from bots.golden_models import GoldenRun as GoldenRun
from bots.golden_models import GoldenStatus as GoldenStatus
from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.models import Client, TenantModel, User

# The host names of `allowed_domain` as an array, which can be indexed.
ALLOWED_HOSTS = models.Func(
    models.F("allowed_domain"),
    # The comma is inlined, since PostgreSQL would not use the index with a parameter.
    template="string_to_array(%(expressions)s, ',')",
    output_field=ArrayField(models.TextField()),
)


class Bot(TenantModel):
    """A bot of a client: its look, its languages and where it may be shown."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="bots")
    bot_name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, default="", blank=True)
    bot_icon = models.URLField(max_length=500, default="", blank=True)
    primary_color = models.CharField(max_length=7, default="#2563eb")
    secondary_color = models.CharField(max_length=7, default="#f1f5f9")
    # Comma-separated host names of the sites that may use a public key, `*.` for subdomains;
    # empty: none.
    allowed_domain = models.CharField(max_length=2000, default="", blank=True)
    default_language = models.CharField(max_length=20, default="en")
    languages = ArrayField(models.CharField(max_length=20), default=list)
    style = models.JSONField(default=dict)
    welcome_message = models.JSONField(default=dict)
    terms = models.JSONField(default=dict)
    # The question that the widget shows in its input field.
    bot_question = models.CharField(max_length=300, default="", blank=True)
    # Text shown beside the closed widget, by language.
    engaging_message = models.JSONField(default=dict)
    attach_enabled = models.BooleanField(default=True)
    # Customers may export a transcript of their conversation.
    export_enabled = models.BooleanField(default=False)
    auto_pop_up = models.BooleanField(default=False)
    is_fullscreen = models.BooleanField(default=False)
    is_visible = models.BooleanField(default=True)
    allow_preview = models.BooleanField(default=True)
    # Agents answer instead of the bot: new conversations go to the queue.
    agent_reply = models.BooleanField(default=False)
    delete_available = models.BooleanField(default=True)
    is_disabled = models.BooleanField(default=False)
    # Null: those of the client's ClientConfig.
    business_hours = models.JSONField(null=True, blank=True)
    holidays = models.JSONField(null=True, blank=True)
    # Set-up steps that the client has marked by hand, if the mark differs from what we detect:
    # name to boolean.
    setup_overrides = models.JSONField(default=dict)
    # What the bot asks its customers for: a list of the API's customer-info fields.
    customer_info_fields = models.JSONField(default=list)
    # Key of the signature that proves a website visitor's identity; empty: no visitor can be
    # identified.
    identity_secret = EncryptedTextField(default="", blank=True)
    # The picture above the chat, re-encoded, with its link and alternative text.
    banner = models.FileField(upload_to="banners/", max_length=200, default="", blank=True)
    banner_mime_type = models.CharField(max_length=60, default="", blank=True)
    banner_width = models.PositiveIntegerField(null=True)
    banner_height = models.PositiveIntegerField(null=True)
    banner_size_bytes = models.PositiveIntegerField(null=True)
    banner_link = models.CharField(max_length=500, default="", blank=True)
    banner_alt = models.CharField(max_length=200, default="", blank=True)
    banner_valid_from = models.DateTimeField(null=True)
    banner_valid_to = models.DateTimeField(null=True)
    # New documents and instructions are held back until a golden run shows that they break no
    # golden question, or a person publishes them.
    hold_back_worse = models.BooleanField(default=False, db_default=False)
    # Incremented when the bot's passages change, so that processes rebuild their indexes.
    knowledge_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["client", "id"], name="bot_list"),
            # Used by every CORS preflight: does any bot allow this host?
            GinIndex(ALLOWED_HOSTS, name="bot_allowed_hosts"),
        ]

    def __str__(self) -> str:
        return self.bot_name


class Prompt(TenantModel):
    """One version of a bot's instructions. A new one becomes current unless it is held back."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="prompts")
    version = models.PositiveIntegerField()
    content = models.TextField()
    tone = models.CharField(max_length=50, default="", blank=True)
    language = models.CharField(max_length=20, default="", blank=True)
    model = models.CharField(max_length=100, default="", blank=True)
    temperature = models.FloatField(null=True)
    is_current = models.BooleanField(default=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "version"], name="prompt_version"),
            models.UniqueConstraint(
                fields=["bot"], condition=models.Q(is_current=True), name="prompt_one_current"
            ),
        ]

    def __str__(self) -> str:
        return f"prompt {self.version} of bot {self.bot_id}"


class LanguageModel(TenantModel):
    """A language model that a client has connected, for one bot or all of its bots."""

    # Generated before the insert, since the encryption binds the API key to the row's id.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.OneToOneField(
        Bot, on_delete=models.CASCADE, null=True, related_name="language_model"
    )
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=100)
    api_key = EncryptedTextField(default="", blank=True)
    credits_per_1000_tokens = models.PositiveSmallIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client"], condition=models.Q(bot=None), name="language_model_client_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} of {self.bot or self.client}"


class SampleQuestion(TenantModel):
    """A question that the widget offers, written by the client."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="sample_questions")
    question = models.CharField(max_length=300)
    language = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["bot", "position", "id"], name="sample_questions")]

    def __str__(self) -> str:
        return self.question


class WebUrlStatus(models.TextChoices):
    """The state of a crawl."""

    QUEUED = "queued"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"


class WebUrl(TenantModel):
    """A web address that a bot is trained on: a page, perhaps with linked pages, or a sitemap."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="web_urls")
    url = models.CharField(max_length=2000)
    # How many links away from `url` the crawl goes, 0..3.
    crawl_depth = models.PositiveSmallIntegerField(default=0)
    # Hours between two crawls; null: the address is crawled once.
    refresh_hours = models.PositiveIntegerField(null=True)
    status = models.CharField(max_length=10, choices=WebUrlStatus, default=WebUrlStatus.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    page_count = models.PositiveIntegerField(default=0)
    last_fetched_at = models.DateTimeField(null=True)
    next_fetch_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "web address", "web addresses"
        constraints = [models.UniqueConstraint(fields=["bot", "url"], name="web_url_unique")]
        indexes = [
            models.Index(fields=["bot", "id"], name="web_url_list"),
            # Finds the addresses that are due for a crawl.
            models.Index(fields=["next_fetch_at"], name="web_url_due"),
        ]

    def __str__(self) -> str:
        return self.url


class DocumentStatus(models.TextChoices):
    """The state of a document's training."""

    QUEUED = "queued"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"


class DocumentStage(models.TextChoices):
    """The next step of a document's training; the bot answers from it from `passages` on."""

    WAITING = "waiting"
    READING = "reading"
    PASSAGES = "passages"  # can be found by its words; its passages are being encoded
    SENTENCES = "sentences"  # can be found by meaning; its sentences are being encoded
    COMPLETE = "complete"


class DocumentSource(models.TextChoices):
    """Where a document's text comes from. A crawled page is a `file` with a `web_url`."""

    FILE = "file"
    TEXT = "text"
    QUESTION_ANSWER = "question_answer"


class Document(TenantModel):
    """One item of a bot's content: a file, a crawled page, or a written text or answer.

    The bytes of files and crawled pages are in the media store, under random names.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="documents")
    source = models.CharField(max_length=20, choices=DocumentSource, default=DocumentSource.FILE)
    # The written text, or the answer to the question in `title`; empty for files and crawled pages.
    content = models.TextField(default="", blank=True)
    # The web address whose crawl stored this page (its own address is `url`); null for all others.
    web_url = models.ForeignKey(
        WebUrl, on_delete=models.CASCADE, null=True, related_name="documents"
    )
    url = models.CharField(max_length=2000, default="", blank=True)
    file = models.FileField(upload_to="documents/", max_length=200, default="", blank=True)
    file_name = models.CharField(max_length=255)
    # Set by training: the title found in the document, else its file name. For a question with its
    # answer: the question.
    title = models.CharField(max_length=300, default="", blank=True)
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.QUEUED)
    stage = models.CharField(max_length=10, choices=DocumentStage, default=DocumentStage.WAITING)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    # What training could not read, such as scanned pages, although it succeeded.
    warning = models.CharField(max_length=500, default="", db_default="", blank=True)
    chunk_count = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=20, default="", blank=True)
    is_important = models.BooleanField(default=False)
    # Held back: its passages are not searched until a golden run shows that it makes nothing worse,
    # or a person publishes it.
    pending_review = models.BooleanField(default=False, db_default=False)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    # When the client last changed a written text or answer.
    updated_at = models.DateTimeField(db_default=Now())
    # When the latest training began to read it.
    started_at = models.DateTimeField(null=True)
    trained_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Uploaded files and written texts are unique per bot.
            models.UniqueConstraint(
                fields=["bot", "source", "sha256"],
                condition=models.Q(web_url__isnull=True),
                name="document_unique",
            ),
            models.UniqueConstraint(
                fields=["web_url", "url"],
                condition=models.Q(web_url__isnull=False),
                name="document_page_unique",
            ),
        ]
        indexes = [models.Index(fields=["bot", "id"], name="document_list")]

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_answering(self) -> bool:
        """Whether the bot uses the text now: it has passages, is valid and not held back."""
        now = datetime.now(UTC)
        has_begun = self.valid_from is None or self.valid_from <= now
        has_ended = self.valid_to is not None and self.valid_to <= now
        return self.chunk_count > 0 and not self.pending_review and has_begun and not has_ended


class Chunk(TenantModel):
    """A passage of a document with its vectors (float32 bytes). Only training writes it."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="chunks")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, default="", blank=True)
    page = models.PositiveIntegerField(null=True)
    text = models.TextField()
    sentences = models.JSONField()
    language = models.CharField(max_length=20)
    # Hash of heading, text and sentences: passages with the same hash share their vectors.
    content_hash = models.CharField(max_length=64, default="", blank=True)
    # The encoder that computed the vectors; empty if there is none (word search only).
    embedding_model = models.CharField(max_length=80, default="", blank=True)
    dimension = models.PositiveSmallIntegerField(default=0)
    vector = models.BinaryField(default=b"")
    sentence_vectors = models.BinaryField(default=b"")

    class Meta:
        verbose_name, verbose_name_plural = "passage", "passages"
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="chunk_position")
        ]
        indexes = [
            models.Index(fields=["bot", "id"], name="chunk_of_bot"),
            # Lets training find a passage with the same content whose vectors it can copy.
            models.Index(fields=["client", "content_hash"], name="chunk_content"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.position} of document {self.document_id}"


class PageStatus(models.TextChoices):
    """The outcome of one crawled page."""

    TRAINED = "trained"
    UNCHANGED = "unchanged"
    REFUSED = "refused"  # by the site, our guard or a limit; see `reason`
    FAILED = "failed"


class WebPage(TenantModel):
    """One crawled page of a WebUrl's latest crawl."""

    web_url = models.ForeignKey(WebUrl, on_delete=models.CASCADE, related_name="pages")
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    url = models.CharField(max_length=2000)
    depth = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=PageStatus)
    reason = models.CharField(max_length=60, default="", blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    # Validators (RFC 9110) for the conditional request of the next crawl.
    etag = models.CharField(max_length=300, default="", blank=True)
    last_modified = models.CharField(max_length=60, default="", blank=True)
    fetched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["web_url", "url"], name="web_page_unique")]

    def __str__(self) -> str:
        return self.url


class FunctionCalling(TenantModel):
    """Whether a bot may call functions, and how many per reply; one row per bot."""

    bot = models.OneToOneField(Bot, on_delete=models.CASCADE, related_name="function_calling")
    is_enabled = models.BooleanField(default=False)
    max_calls_per_reply = models.PositiveSmallIntegerField(default=5)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name, verbose_name_plural = "function settings", "function settings"

    def __str__(self) -> str:
        return f"function calling of bot {self.bot_id}"


class Approval(models.TextChoices):
    """Who must approve a call before it is made."""

    NONE = "none"
    AGENT = "agent"
    CUSTOMER = "customer"


class Function(TenantModel):
    """An HTTP request that the model may have made."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="functions")
    name = models.CharField(max_length=64)
    description = models.CharField(max_length=1000)
    # JSON Schema 2020-12 of the arguments.
    parameters = models.JSONField()
    method = models.CharField(max_length=6)
    url = models.CharField(max_length=2000)
    headers = models.JSONField(default=dict)
    # JSON object of header names and values; its encryption is bound to the row's UUID.
    secret_headers = EncryptedTextField(default="{}")
    timeout_seconds = models.PositiveSmallIntegerField(default=10)
    body_template = models.TextField(default="", blank=True)
    requires_approval = models.CharField(max_length=8, choices=Approval, default=Approval.NONE)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "name"], name="function_name")]

    def __str__(self) -> str:
        return self.name


class CallStatus(models.TextChoices):
    """The state of a call that a model requested."""

    WAITING = "waiting"  # for an approval
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # an error of the server or the network
    REFUSED = "refused"  # by our checks: unknown, wrong arguments, blocked target, limit
    REJECTED = "rejected"  # by the agent or customer who had to approve it


class FunctionCall(TenantModel):
    """One logged call that a model requested, whether it was made or not."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="function_calls")
    # Ids instead of foreign keys, since conversations belong to a higher app.
    conversation_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    function_name = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    # Hash of the function's name and arguments; empty for a refused call.
    fingerprint = models.CharField(max_length=64, default="", blank=True)
    status = models.CharField(max_length=10, choices=CallStatus)
    http_status = models.PositiveSmallIntegerField(null=True)
    result_excerpt = models.TextField(default="", blank=True)
    duration_ms = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=500, default="", blank=True)
    requires_approval = models.CharField(max_length=8, choices=Approval, default=Approval.NONE)
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # A call is made at most once per message, even if its job is retried.
            models.UniqueConstraint(
                fields=["message_id", "fingerprint"],
                condition=~models.Q(fingerprint=""),
                name="function_call_unique",
            )
        ]
        indexes = [
            models.Index(fields=["bot", "-id"], name="function_call_log"),
            # Finds the calls of a conversation that wait for approval.
            models.Index(fields=["conversation_id", "status"], name="function_call_waiting"),
            # Finds the calls that expired before they were approved.
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="waiting"),
                name="function_call_expiry",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.function_name} {self.status}"
