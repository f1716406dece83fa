"""What the bots are, and what they know."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from identity.models import Client, OfClient, User


class Bot(models.Model):
    """A bot of a client: its look, its languages and where it may be shown."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="bots")
    bot_name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, default="", blank=True)
    bot_icon = models.URLField(max_length=500, default="", blank=True)
    primary_color = models.CharField(max_length=7, default="#2563eb")
    secondary_color = models.CharField(max_length=7, default="#f1f5f9")
    # Comma-separated host names, `*.` for all below; empty: no web page may use a public key.
    allowed_domain = models.CharField(max_length=2000, default="", blank=True)
    default_language = models.CharField(max_length=20, default="en")
    languages = ArrayField(models.CharField(max_length=20), default=list)
    style = models.JSONField(default=dict)
    welcome_message = models.JSONField(default=dict)
    terms = models.JSONField(default=dict)
    attach_enabled = models.BooleanField(default=True)
    auto_pop_up = models.BooleanField(default=False)
    is_fullscreen = models.BooleanField(default=False)
    is_visible = models.BooleanField(default=True)
    allow_preview = models.BooleanField(default=True)
    # People answer, not the bot: new chats go to the queue.
    agent_reply = models.BooleanField(default=False)
    delete_available = models.BooleanField(default=True)
    is_disabled = models.BooleanField(default=False)
    # Grows when what the bot knows changes: processes rebuild their index by it.
    knowledge_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    objects = OfClient.as_manager()

    class Meta:
        indexes = [models.Index(fields=["client", "id"], name="bot_list")]

    def __str__(self) -> str:
        return self.bot_name


class Prompt(models.Model):
    """One version of a bot's instructions; a new one replaces the current, old ones stay."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE)
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

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "version"], name="prompt_version"),
            models.UniqueConstraint(
                fields=["bot"], condition=models.Q(is_current=True), name="prompt_one_current"
            ),
        ]

    def __str__(self) -> str:
        return f"prompt {self.version} of bot {self.bot_id}"


class DocumentStatus(models.TextChoices):
    """How far a document is on its way into what the bot knows."""

    QUEUED = "queued"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"


class Document(models.Model):
    """A file that a bot was trained on; the bytes lie in the media store under a random name."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="documents")
    file = models.FileField(upload_to="documents/", max_length=200)
    file_name = models.CharField(max_length=255)
    # As the document names itself, else its file's name; known once trained.
    title = models.CharField(max_length=300, default="", blank=True)
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    chunk_count = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=20, default="", blank=True)
    is_important = models.BooleanField(default=False)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    trained_at = models.DateTimeField(null=True)

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            # The same bytes are trained once a bot.
            models.UniqueConstraint(fields=["bot", "sha256"], name="document_once")
        ]
        indexes = [models.Index(fields=["bot", "id"], name="document_list")]

    def __str__(self) -> str:
        return self.file_name


class Chunk(models.Model):
    """A passage of a document with its vectors (float32 bytes); written once, by training."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="chunks")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, default="", blank=True)
    page = models.PositiveIntegerField(null=True)
    text = models.TextField()
    sentences = models.JSONField()
    language = models.CharField(max_length=20)
    # The model that made the vectors; empty where none was there (word search alone).
    embedding_model = models.CharField(max_length=80, default="", blank=True)
    dimension = models.PositiveSmallIntegerField(default=0)
    vector = models.BinaryField(default=b"")
    sentence_vectors = models.BinaryField(default=b"")

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="chunk_position")
        ]
        indexes = [models.Index(fields=["bot", "id"], name="chunk_of_bot")]

    def __str__(self) -> str:
        return f"chunk {self.position} of document {self.document_id}"
