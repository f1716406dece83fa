"""Bots, what they are trained on, and the functions that they may call."""

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
    # The comma is not a parameter, since the index could not be used then.
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
    # Comma-separated host names, `*.` for subdomains; empty: no web page may use a public key.
    allowed_domain = models.CharField(max_length=2000, default="", blank=True)
    default_language = models.CharField(max_length=20, default="en")
    languages = ArrayField(models.CharField(max_length=20), default=list)
    style = models.JSONField(default=dict)
    welcome_message = models.JSONField(default=dict)
    terms = models.JSONField(default=dict)
    # Shown where the customer writes.
    bot_question = models.CharField(max_length=300, default="", blank=True)
    # Shown beside the closed widget, by language.
    engaging_message = models.JSONField(default=dict)
    attach_enabled = models.BooleanField(default=True)
    # Customers may take a transcript of their chat along.
    export_enabled = models.BooleanField(default=False)
    auto_pop_up = models.BooleanField(default=False)
    is_fullscreen = models.BooleanField(default=False)
    is_visible = models.BooleanField(default=True)
    allow_preview = models.BooleanField(default=True)
    # Agents answer instead of the bot: new chats go to the queue.
    agent_reply = models.BooleanField(default=False)
    delete_available = models.BooleanField(default=True)
    is_disabled = models.BooleanField(default=False)
    # The client's own hours and holidays hold where these are null (see ClientConfig).
    business_hours = models.JSONField(null=True, blank=True)
    holidays = models.JSONField(null=True, blank=True)
    # Steps of the set-up that the client ticks otherwise than we find them: name to boolean.
    own_setup = models.JSONField(default=dict)
    # The fields that a customer is asked for: a list of the API's customer-info fields.
    customer_info_fields = models.JSONField(default=list)
    # Signs who a page's visitor is; empty: no page can say it.
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
    # New documents and prompts wait until no golden question fails that did not fail before.
    hold_back_worse = models.BooleanField(default=False, db_default=False)
    # Grows when the bot's passages change: processes then rebuild their index.
    knowledge_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["client", "id"], name="bot_list"),
            # Serves every CORS preflight: does any bot allow this host?
            GinIndex(ALLOWED_HOSTS, name="bot_allowed_hosts"),
        ]

    def __str__(self) -> str:
        return self.bot_name


class Prompt(TenantModel):
    """One version of a bot's instructions; a new version becomes current, old ones stay."""

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
    """A model of a client's own, or of one bot's: it writes in place of the platform's."""

    # Known before the insert, since the encryption binds the key to the row.
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
                fields=["client"], condition=models.Q(bot=None), name="language_model_of_client"
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
    """An address that a bot is trained on: a page, the pages linked from it, or a sitemap."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="web_urls")
    url = models.CharField(max_length=2000)
    # Pages up to this many links away from `url` are read, 0..3.
    crawl_depth = models.PositiveSmallIntegerField(default=0)
    # Hours after which it is crawled again; null: never.
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
        constraints = [models.UniqueConstraint(fields=["bot", "url"], name="web_url_once")]
        indexes = [
            models.Index(fields=["bot", "id"], name="web_url_list"),
            # Serves the schedule of crawls.
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
    """What training does with a document next; from `passages` on the bot answers from it."""

    WAITING = "waiting"
    READING = "reading"
    PASSAGES = "passages"  # its words are searched, its passages get vectors
    SENTENCES = "sentences"  # its passages are searched by meaning, its sentences get vectors
    COMPLETE = "complete"


class DocumentSource(models.TextChoices):
    """Where a document's text comes from; the file of a web page was fetched, not uploaded."""

    FILE = "file"
    TEXT = "text"
    QUESTION_ANSWER = "question_answer"


class Document(TenantModel):
    """What a bot is trained on: a file or web page, whose bytes are in the media store under a
    random name, or what a client wrote: a text, a question and its answer.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="documents")
    source = models.CharField(max_length=20, choices=DocumentSource, default=DocumentSource.FILE)
    # The written text, or the answer to the question in `title`; empty for files and web pages.
    content = models.TextField(default="", blank=True)
    # For a page that a crawl stored, with its address in `url`; null for an uploaded file.
    web_url = models.ForeignKey(
        WebUrl, on_delete=models.CASCADE, null=True, related_name="documents"
    )
    url = models.CharField(max_length=2000, default="", blank=True)
    file = models.FileField(upload_to="documents/", max_length=200, default="", blank=True)
    file_name = models.CharField(max_length=255)
    # The title in the document, else its file name, set by training; of a pair, the question.
    title = models.CharField(max_length=300, default="", blank=True)
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.QUEUED)
    stage = models.CharField(max_length=10, choices=DocumentStage, default=DocumentStage.WAITING)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    # What of it could not be read, though it was trained.
    warning = models.CharField(max_length=500, default="", db_default="", blank=True)
    chunk_count = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=20, default="", blank=True)
    is_important = models.BooleanField(default=False)
    # Its passages are not searched yet: golden questions are to show that nothing gets worse.
    is_held = models.BooleanField(default=False, db_default=False)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    # When what a client wrote was changed last.
    updated_at = models.DateTimeField(db_default=Now())
    # When its latest training began to read it.
    started_at = models.DateTimeField(null=True)
    trained_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # A bot has an uploaded file, or a written text, once.
            models.UniqueConstraint(
                fields=["bot", "source", "sha256"],
                condition=models.Q(web_url__isnull=True),
                name="document_once",
            ),
            models.UniqueConstraint(
                fields=["web_url", "url"],
                condition=models.Q(web_url__isnull=False),
                name="document_page_once",
            ),
        ]
        indexes = [models.Index(fields=["bot", "id"], name="document_list")]

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_answering(self) -> bool:
        """Whether the bot answers from its text now."""
        now = datetime.now(UTC)
        has_begun = self.valid_from is None or self.valid_from <= now
        has_ended = self.valid_to is not None and self.valid_to <= now
        return self.chunk_count > 0 and not self.is_held and has_begun and not has_ended


class Chunk(TenantModel):
    """A passage of a document with its vectors (float32 bytes); written by training only."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="chunks")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, default="", blank=True)
    page = models.PositiveIntegerField(null=True)
    text = models.TextField()
    sentences = models.JSONField()
    language = models.CharField(max_length=20)
    # Of heading, text and sentences: what has the same takes over the vectors.
    content_hash = models.CharField(max_length=64, default="", blank=True)
    # The model that computed the vectors; empty without an encoder (word search only).
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
            # Training: has the client a passage of this content with vectors?
            models.Index(fields=["client", "content_hash"], name="chunk_content"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.position} of document {self.document_id}"


class PageStatus(models.TextChoices):
    """The outcome of one page of a crawl."""

    TRAINED = "trained"
    UNCHANGED = "unchanged"
    REFUSED = "refused"  # by its site, our guard or a limit; see `reason`
    FAILED = "failed"


class WebPage(TenantModel):
    """One page of the latest crawl of a WebUrl."""

    web_url = models.ForeignKey(WebUrl, on_delete=models.CASCADE, related_name="pages")
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    url = models.CharField(max_length=2000)
    depth = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=PageStatus)
    reason = models.CharField(max_length=60, default="", blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    # Validators (RFC 9110), sent back to ask whether the page has changed.
    etag = models.CharField(max_length=300, default="", blank=True)
    last_modified = models.CharField(max_length=60, default="", blank=True)
    fetched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["web_url", "url"], name="web_page_once")]

    def __str__(self) -> str:
        return self.url


class FunctionCalling(TenantModel):
    """Whether and how often a bot may call functions; one row per bot."""

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
    """An HTTP request that a model may ask for."""

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
    """The log of calls that models requested, made or not."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="function_calls")
    # No foreign keys, since conversations lie above this app.
    conversation_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    function_name = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    # Hash of name and arguments; empty if nothing could be called.
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
            # A call is made once per message, however often its job is retried.
            models.UniqueConstraint(
                fields=["message_id", "fingerprint"],
                condition=~models.Q(fingerprint=""),
                name="function_call_once",
            )
        ]
        indexes = [
            models.Index(fields=["bot", "-id"], name="function_call_log"),
            # The calls of a conversation that wait for approval.
            models.Index(fields=["conversation_id", "status"], name="function_call_waiting"),
            # Serves the expiry of calls that were not approved in time.
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="waiting"),
                name="function_call_expiry",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.function_name} {self.status}"
