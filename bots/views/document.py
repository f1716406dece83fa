"""API operations for the files that a bot is trained on."""

from typing import Any

from django.http import HttpResponseBase

from bots.ingest.extraction.file_types import MIME_TYPES
from bots.schemas.document import (
    Body_upload_files_ai__bot_id__train_document_post,
    DocumentDto,
    DocumentsQuery,
    DocumentsResponse,
    ImportantDocumentDto,
    ReuploadFilesRequest,
    ReuploadFilesResponse,
)
from bots.services import bots, documents
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import Form, RawResponse, operation
from chatplatform.api.pagination import page
from identity.auth import BEARER, TRAINER, TenantViewSet

UPLOAD = Form(Body_upload_files_ai__bot_id__train_document_post, files=("files",))


class DocumentViewSet(TenantViewSet):
    @operation(
        "AI / train",
        "Upload Files",
        access=TRAINER,
        body=UPLOAD,
        returns=DocumentsResponse,
        status=202,
        also={409: Error},
    )
    def create(
        self, bot_id: int, body: Body_upload_files_ai__bot_id__train_document_post
    ) -> dict[str, Any]:
        """Upload files and train the bot on them; `refused` lists the files that are not accepted.

        They are trained in the background; *Get Files* shows the progress, and the events
        `document.trained` and `document.failed` report the result. For a file that the bot already
        has, the existing document is returned. If the bot's `hold_back_worse` is true, new
        documents may first have to pass a golden run (a test with the bot's golden questions): see
        `is_held`. If no file is accepted, the response is a 413, a 422, or a 409 `document_limit`
        if the bot has 500 uploaded files.
        """
        uploaded = documents.upload(bots.get(self.client, bot_id), files=body.files, by=self.user)
        items = [DocumentDto.from_row(row) for row in uploaded.documents]
        return {"items": items, "next_cursor": None, "refused": uploaded.refused}

    @operation("AI / train", "Delete Document By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, document_id: int) -> None:
        """Delete a document; the bot stops using it at once, unless the deletion is held back.

        If the bot's `hold_back_worse` is true, the deletion may first have to pass a golden run (a
        test with the bot's golden questions): then the document stays in use. The response is a 204
        in both cases: afterwards, *Get Document By Id* is a 404 if the document is deleted;
        otherwise, its `held_change` shows the deletion. Repeating a deletion that is held back
        changes nothing. The next crawl of a website adds its deleted pages again: to prevent this,
        delete the website.
        """
        bot = bots.get(self.client, bot_id)
        documents.delete(bot, document_id=document_id, by=self.user)

    @operation("AI / train", "Get Files", access=BEARER, returns=DocumentsResponse)
    def list(self, bot_id: int, query: DocumentsQuery) -> dict[str, Any]:
        """List the uploaded files with the progress of their training, newest first."""
        rows = documents.uploaded_documents(bots.get(self.client, bot_id), status=query.status)
        return page(rows, query, by="-id", schema=DocumentDto.from_row) | {"refused": []}

    @operation("AI / train", "Get Document By Id", access=BEARER)
    def retrieve(self, bot_id: int, document_id: int) -> DocumentDto:
        """Get a document with the progress of its training; citations contain its id."""
        return DocumentDto.from_row(documents.get(bots.get(self.client, bot_id), document_id))

    @operation("AI / train", "Download Document", access=BEARER, returns=RawResponse(MIME_TYPES))
    def download(self, bot_id: int, document_id: int) -> HttpResponseBase:
        """Download the original file: for a crawled page, its content as fetched; for a written
        text or answer, a text file. 404 `file_missing` if the stored file is lost."""
        document = documents.get(bots.get(self.client, bot_id), document_id)
        return documents.original_response(document)

    @operation("AI / train", "Set Important Document", access=TRAINER, also={409: Error})
    def set_important(
        self, bot_id: int, document_id: int, body: ImportantDocumentDto
    ) -> DocumentDto:
        """Set whether a document takes precedence, and the period in which the bot uses the
        document.

        The bot uses no document before `valid_from` or after `valid_to`, important or not. If the
        bot's `hold_back_worse` is true, the change may first have to pass a golden run (a test with
        the bot's golden questions): until then, only `held_change` shows it, and the other fields
        have the old values. 409 `deletion_held` if the document's deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        return DocumentDto.from_row(
            documents.set_importance(bot, document_id=document_id, body=body, by=self.user)
        )

    @operation("AI / train", "Discard Document Change", access=TRAINER, also={409: Error})
    def discard(self, bot_id: int, document_id: int) -> DocumentDto:
        """Discard a document's `held_change`, a change that is not live yet; the live version is
        kept.

        The change may also be a deletion, or a new version that could not be read. 409 `not_held`
        if the document has no held change. To discard a document that was never live, delete it.
        """
        bot = bots.get(self.client, bot_id)
        row = documents.discard(bot, document_id=document_id, by=self.user)
        return DocumentDto.from_row(row)

    @operation("AI / train", "Reupload Files", access=TRAINER, status=202)
    def reupload(self, bot_id: int, body: ReuploadFilesRequest) -> ReuploadFilesResponse:
        """Train stored documents again; until a document has been read, the bot uses its old
        passages.

        The training runs in the background; *Get Document By Id* shows the progress, and the events
        `document.trained` and `document.failed` report the result.
        """
        bot = bots.get(self.client, bot_id)
        queued, skipped = documents.reupload(bot, document_ids=body.document_ids)
        return ReuploadFilesResponse(queued=queued, skipped=skipped)
