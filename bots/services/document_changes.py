"""Changes to a bot's documents: made at once, or held back as the document's draft.

A document's columns hold the live version. Its `draft` has the columns that a held-back change
sets. The passages of a held-back text are stored next to the live passages. Callers hold the bot's
lock.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop

from bots.models import Chunk, Document, DocumentStage, DocumentStatus, WebPage
from bots.services import bots, large_bots, publish_gate
from chatplatform import jobs, media
from chatplatform.api.errors import ApiError

# The draft of a document that is to be deleted.
DELETION: dict[str, Any] = {"is_deleted": True}


class DeletionHeld(ApiError):
    code, status = "deletion_held", 409
    detail = gettext_noop("This document's deletion is on hold. Discard the deletion first.")


def change(document: Document, columns: Mapping[str, Any], **training: Any) -> None:
    """Change columns of a document, at once or held back; 409 `deletion_held` if its deletion is
    held back.

    `training`: columns that queue the document for training; they are always written at once.
    """
    if document.draft == DELETION:
        raise DeletionHeld
    if not publish_gate.holds_change(document):
        _change_at_once(document, {**columns, **training})
        return
    draft: dict[str, Any] = document.draft or {}
    if training:
        # The new text has not been read, so the earlier draft's number of passages is outdated.
        draft = {name: value for name, value in draft.items() if name != "chunk_count"}
    draft = draft | {name: _as_json(columns[name]) for name in columns if name != "file"}
    if "file" in columns:
        media.remove_later(document.client_id, [document.draft_file.name])
        training["draft_file"] = columns["file"]
    if not has_text(draft):
        live = {name: _as_json(getattr(document, name)) for name in draft}
        draft = {name: value for name, value in draft.items() if value != live[name]}
    _hold(document, draft, training)


def hold_deletion(document: Document) -> None:
    """Hold back the deletion of a document; this drops an earlier held-back change."""
    drop(document)
    # A training that failed or is still running was for the dropped text, so it no longer matters.
    rows = Document.objects.filter(pk=document.pk)
    if not has_text(document.draft):
        rows = rows.filter(status=DocumentStatus.FAILED)
    rows.update(
        status=DocumentStatus.TRAINED, stage=DocumentStage.COMPLETE, progress=100,
        error_code="", error_message="",
    )  # fmt: skip
    _hold(document, DELETION, {})


def hold_text(document: Document, found: Mapping[str, Any]) -> None:
    """Add what training found in a new text to the document's draft."""
    draft = {**(document.draft or {}), **found}
    Document.objects.filter(pk=document.pk).update(draft=draft, pending_review=True)


def has_text(draft: Mapping[str, Any] | None) -> bool:
    """Whether a draft has a new text."""
    return draft is not None and ("sha256" in draft or "chunk_count" in draft)


def has_failed(document: Document) -> bool:
    """Whether a document's draft has a new text that could not be read."""
    return document.status == DocumentStatus.FAILED and has_text(document.draft)


def publish_draft(document: Document) -> None:
    """Publish a held-back document, or a document's held-back change; drop the change if another
    document now has the same text."""
    draft, rows = document.draft, Document.objects.filter(pk=document.pk)
    bots.bump_knowledge_version(document.bot_id)
    if draft is None:
        rows.update(pending_review=False)
    elif draft == DELETION:
        remove(document)
    elif "sha256" in draft and _is_duplicate(document, draft["sha256"]):
        drop(document)
    else:
        passages = Chunk.objects.filter(document=document)
        # If the draft has no `chunk_count`, its text was not read yet, and any draft passages
        # belong to an earlier draft.
        passages.filter(is_draft="chunk_count" not in draft).delete()
        if "chunk_count" in draft:
            passages.update(is_draft=False)
            large_bots.enqueue_backfill(document.bot_id, client_id=document.client_id)
        drafted = document.drafted()
        columns = {name: getattr(drafted, name) for name in draft}
        if document.draft_file:
            columns["file"] = document.draft_file.name
            media.remove_later(document.client_id, [document.file.name])
        rows.update(**columns, draft=None, draft_file="", pending_review=False)


def drop(document: Document) -> None:
    """Drop a document's held-back change; the live version stays."""
    media.remove_later(document.client_id, [document.draft_file.name])
    Chunk.objects.filter(document=document, is_draft=True).delete()
    Document.objects.filter(pk=document.pk).update(draft=None, draft_file="", pending_review=False)


def remove(document: Document) -> None:
    """Delete a document with its passages; its files are deleted after the commit."""
    names = [document.file.name, document.draft_file.name]
    WebPage.objects.filter(document=document).delete()
    document.delete()
    enqueue_crawl_update(document)
    bots.bump_knowledge_version(document.bot_id)
    media.remove_later(document.client_id, names)


def enqueue_crawl_update(document: Document) -> None:
    """Enqueue an update of the website's status if the document is a crawled page, since it may
    have been the last page in training."""
    if document.web_url_id:
        jobs.enqueue(
            "bots.update_crawl_status", client_id=document.client_id, web_url_id=document.web_url_id
        )


def _change_at_once(document: Document, columns: Mapping[str, Any]) -> None:
    rows = Document.objects.filter(pk=document.pk)
    if has_failed(document) and not has_text(columns):
        # The draft keeps the text that could not be read, but not the columns that change now.
        draft = document.draft or {}
        rows.update(draft={name: draft[name] for name in draft.keys() - columns.keys()})
    elif document.draft is not None:
        # The bot no longer checks changes, so the draft is published without a golden run.
        publish_draft(document)
        document.refresh_from_db()
    if "file" in columns:
        media.remove_later(document.client_id, [document.file.name])
    rows.update(**columns)


def _hold(document: Document, draft: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    if not draft:
        drop(document)
        return
    rows = Document.objects.filter(pk=document.pk)
    rows.update(draft=draft, pending_review=True, **columns)
    if rows.filter(status=DocumentStatus.TRAINED).exists():
        publish_gate.hold_document(document)


def _is_duplicate(document: Document, sha256: str) -> bool:
    same = Document.objects.filter(
        bot_id=document.bot_id, source=document.source, sha256=sha256, web_url=None
    )
    return document.web_url_id is None and same.exclude(pk=document.pk).exists()


def _as_json(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
