"""Documents and their passages."""

from copy import copy
from datetime import UTC, datetime

from django.db import models
from django.db.models.functions import Now

from bots.models.bot import Bot
from bots.models.web_url import WebUrl
from identity.models import TenantModel


class DocumentStatus(models.TextChoices):
    """The state of a document's training: `queued` (it waits), `training`, `trained` (all stages
    are done) or `failed`."""

    QUEUED = "queued"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"


class DocumentStage(models.TextChoices):
    """The current step of a document's training: `waiting` (in the queue), `reading` (the text is
    read), `passages` and `sentences` (these are encoded for the search by meaning) or `complete`.
    The bot can use the document from `passages` on."""

    WAITING = "waiting"
    READING = "reading"
    PASSAGES = "passages"  # the bot finds the document by words; passages are being encoded
    SENTENCES = "sentences"  # the bot finds the document by meaning; sentences are being encoded
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
    # The website whose crawl stored this page; null for other documents. The page's own URL is
    # `url`.
    web_url = models.ForeignKey(
        WebUrl, on_delete=models.CASCADE, null=True, related_name="documents"
    )
    url = models.CharField(max_length=2000, default="", blank=True)
    file = models.FileField(upload_to="documents/", max_length=200, default="", blank=True)
    file_name = models.CharField(max_length=255)
    # Set by training: the title found in the document, else its file name. For a written answer:
    # its question.
    title = models.CharField(max_length=300, default="", blank=True)
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.QUEUED)
    stage = models.CharField(max_length=10, choices=DocumentStage, default=DocumentStage.WAITING)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    # What a successful training could not read, such as scanned pages.
    warning = models.CharField(max_length=500, default="", db_default="", blank=True)
    chunk_count = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=20, default="", blank=True)
    is_important = models.BooleanField("important", default=False)
    # Whether the platform writes the text, from the business hours (bots/services/hours_source.py).
    from_business_hours = models.BooleanField(default=False, db_default=False)
    # Whether the document, or only its `draft`, is held back until a golden run shows that it makes
    # nothing worse or a person publishes it.
    pending_review = models.BooleanField(default=False, db_default=False)
    # A held-back change to a document that the bot uses: the new values of the changed columns
    # (see bots/services/document_changes.py); a new file is in `draft_file`. The columns themselves
    # hold what is live. Null: no change is held back.
    draft = models.JSONField(null=True)
    draft_file = models.FileField(
        upload_to="documents/", max_length=200, default="", db_default="", blank=True
    )
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    # When the client last changed a written text or answer.
    updated_at = models.DateTimeField(db_default=Now())
    # When the latest training began to read the document.
    started_at = models.DateTimeField(null=True)
    trained_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # A bot's documents are unique within their source; crawled pages need not be.
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
        indexes = [
            models.Index(fields=["bot", "id"], name="document_list"),
            # Finds a client's failed documents, for the page of failures.
            models.Index(
                fields=["client"], condition=models.Q(status="failed"), name="document_failed"
            ),
            # Finds the trained documents that are held back.
            models.Index(
                fields=["client"],
                condition=models.Q(pending_review=True, status="trained"),
                name="document_held",
            ),
        ]

    def __str__(self) -> str:
        """The name shown to the team: an upload's file name. For other documents, the title; if
        there is none, the URL, or else the file name."""
        if self.source == DocumentSource.FILE and not self.web_url_id:
            return self.file_name
        return self.title or self.url or self.file_name

    @property
    def is_answering(self) -> bool:
        """Whether the bot uses the document now: it has passages, is valid, and is not held back
        as a whole (the bot ignores a held-back change)."""
        is_live = not self.pending_review or self.draft is not None
        return self.chunk_count > 0 and is_live and self.is_valid_at(datetime.now(UTC))

    def drafted(self) -> "Document":
        """A copy of the document with its held-back change applied; the copy must not be saved."""
        row = copy(self)
        for name, value in (self.draft or {}).items():
            is_time = name in ("valid_from", "valid_to") and value
            setattr(row, name, datetime.fromisoformat(value) if is_time else value)
        if self.draft_file:
            row.file = self.draft_file.name
        return row

    def is_valid_at(self, now: datetime) -> bool:
        """Whether the document is valid at this time."""
        has_begun = self.valid_from is None or self.valid_from <= now
        has_ended = self.valid_to is not None and self.valid_to <= now
        return has_begun and not has_ended


class Chunk(TenantModel):
    """A passage of a document, with its vectors (float32 bytes). `Chunk` is the table's word."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="chunks")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, default="", blank=True)
    page = models.PositiveIntegerField(null=True)
    text = models.TextField()
    sentences = models.JSONField()
    language = models.CharField(max_length=20)
    # Hash of heading, text and sentences; an encoder's vectors are the same for the same hash.
    content_hash = models.CharField(max_length=64, default="", blank=True)
    # The encoder that computed the vectors; empty if there is none (word search only).
    embedding_model = models.CharField(max_length=80, default="", blank=True)
    dimension = models.PositiveSmallIntegerField(default=0)
    vector = models.BinaryField(default=b"")
    sentence_vectors = models.BinaryField(default=b"")
    # While the client switches encoders, the new encoder's vectors. After the switch, the previous
    # encoder's vectors, so that the client can switch back.
    other_model = models.CharField(max_length=80, default="", db_default="", blank=True)
    other_vector = models.BinaryField(default=b"", db_default=b"")
    other_sentence_vectors = models.BinaryField(default=b"", db_default=b"")
    # Whether the passage belongs to the document's held-back text; only golden runs search it.
    is_draft = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name, verbose_name_plural = "passage", "passages"
        constraints = [
            models.UniqueConstraint(
                fields=["document", "is_draft", "position"], name="chunk_position"
            )
        ]
        indexes = [
            models.Index(fields=["bot", "id"], name="chunk_of_bot"),
            # Finds a passage with the same content, so that training can copy its vectors.
            models.Index(fields=["client", "content_hash"], name="chunk_content"),
        ]

    def __str__(self) -> str:
        return f"passage {self.position} of document {self.document_id}"
