"""Texts, and questions with answers, that a client writes for a bot; stored as documents."""

import hashlib
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from bots.models import Bot, Document, DocumentSource, DocumentStatus
from bots.schemas.written import QuestionAnswerDto, TextDto
from bots.services import bots, document_changes, documents
from bots.services.documents import DocumentLimit
from chatplatform import media
from chatplatform.api.errors import ApiError, first_or_404
from identity.models import User

# The maximum number of documents per bot, by source.
LIMITS = {DocumentSource.TEXT: 500, DocumentSource.QUESTION_ANSWER: 2_000}


class SourceExists(ApiError):
    code, status = "source_exists", 409
    more: ClassVar = {"document_id": (int, "The id of the existing document.")}
    detail = gettext_noop("The bot already has this text or question. Edit the existing one.")


def list_for_bot(
    bot: Bot, source: DocumentSource, *, status: DocumentStatus | None = None
) -> QuerySet[Document]:
    """The bot's texts or answers, unordered; only those with this `status`, if it is given.

    The text that the platform writes from the business hours is left out.
    """
    rows = Document.objects.filter(bot=bot, source=source, from_business_hours=False)
    return rows.filter(status=status) if status else rows


def get(bot: Bot, source: DocumentSource, document_id: int) -> Document:
    """One of the bot's texts or answers; 404 if there is none."""
    return first_or_404(list_for_bot(bot, source).filter(pk=document_id))


def create(bot: Bot, *, body: TextDto | QuestionAnswerDto, by: User | None) -> Document:
    """Store a text or answer and queue it for training; 409 if the bot already has it or has
    reached the limit."""
    columns = columns_of(body)
    with transaction.atomic():
        # The lock enforces the limit and prevents duplicates in concurrent requests.
        bots.lock(bot)
        rows = list_for_bot(bot, columns["source"])
        _refuse_duplicate(rows, columns)
        limit = LIMITS[columns["source"]]
        if rows.count() >= limit:
            text = gettext("A bot can have up to %(count)s of these. Delete some first.")
            raise DocumentLimit(text % {"count": number_format(limit, force_grouping=True)})
        document = Document.objects.create(client_id=bot.client_id, bot=bot, **columns)
        documents.enqueue_training(document)
        documents.record(document, "created", by=by)
    # Read the row again for the times that the database sets.
    return Document.objects.get(pk=document.pk)


def update(bot: Bot, document_id: int, *, body: TextDto | QuestionAnswerDto, by: User) -> Document:
    """Replace a text or a question with its answer, and train it again if it changed.

    The bot uses the old version until the new one is trained, and longer if the change is held
    back. A version that equals the live version discards a held-back change instead. 409
    `source_exists` if another document has the same text or question, `deletion_held` if the
    document's deletion is held back.
    """
    columns = columns_of(body)
    with transaction.atomic():
        bots.lock(bot)
        rows = list_for_bot(bot, columns["source"])
        document = first_or_404(
            rows.select_for_update(no_key=True, of=("self",)).filter(pk=document_id)
        )
        if _is_same(document.drafted(), columns):
            return document
        if _is_same(document, columns):
            documents.discard_change(document, by=by)
            return Document.objects.get(pk=document.pk)
        _refuse_duplicate(rows.exclude(pk=document.pk), columns)
        document_changes.change(document, columns, **documents.QUEUED, updated_at=datetime.now(UTC))
        # A running training of the old version finds the document queued and stores nothing.
        documents.enqueue_training(document)
        document.file_name = columns["file_name"]
        documents.record(document, "changed", by=by)
    return Document.objects.get(pk=document.pk)


def delete(bot: Bot, source: DocumentSource, document_id: int, *, by: User) -> None:
    """Delete a text or answer with its passages, or hold back the deletion."""
    documents.delete(bot, document_id=get(bot, source, document_id).pk, by=by)


def columns_of(body: TextDto | QuestionAnswerDto) -> dict[str, Any]:
    """The columns of the document that stores a text or answer."""
    if isinstance(body, TextDto):
        source, title, content = DocumentSource.TEXT, " ".join(body.title.split()), body.text
    else:
        source, content = DocumentSource.QUESTION_ANSWER, body.answer
        title = " ".join(body.question.split())
    data = documents.as_file(source, title=title, content=content)
    name = title[:200].replace("/", " ").rstrip(". ") or "text"
    return {
        "source": source,
        "title": title,
        "content": content,
        "file_name": media.safe_name(ContentFile(data, f"{name}.txt")),
        "mime_type": "text/plain",
        "size_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _is_same(document: Document, columns: dict[str, Any]) -> bool:
    return (document.title, document.content) == (columns["title"], columns["content"])


def _refuse_duplicate(rows: QuerySet[Document], columns: dict[str, Any]) -> None:
    """Raise SourceExists for a duplicate: texts and questions are unique per bot."""
    if columns["source"] == DocumentSource.TEXT:
        same = rows.filter(sha256=columns["sha256"])
    else:
        same = rows.filter(title__iexact=columns["title"])
    existing = same.first()
    if existing:
        raise SourceExists(document_id=existing.pk)
