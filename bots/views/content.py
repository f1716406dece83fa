"""API operations for a bot's instructions, content, procedures, welcome message and banner."""

from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponseBase

from bots.ingest.extraction.file_types import MIME_TYPES
from bots.models import DocumentSource
from bots.schemas.content import (
    Body_upload_files_ai__bot_id__train_document_post,
    DocumentDto,
    DocumentsQuery,
    DocumentsResponse,
    ImportantDocumentDto,
    PromptDto,
    PromptVersion,
    PromptVersionsResponse,
    ReuploadFilesRequest,
    ReuploadFilesResponse,
)
from bots.schemas.procedure import Procedures
from bots.schemas.web_url import WebUrlDto, WebUrlsResponse
from bots.schemas.widget import (
    BannerUploadResponseDto,
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    BotBannerDto,
    CustomerInfoFields,
    KeyBotQuery,
    WelcomeMessages,
)
from bots.schemas.written import (
    QuestionAnswerDto,
    QuestionAnswersQuery,
    QuestionAnswersResponse,
    TextDto,
    TextsQuery,
    TextsResponse,
)
from bots.services import (
    banner_picture,
    bots,
    customer_info_fields,
    documents,
    procedures,
    prompt_versions,
    web_urls,
    welcome,
    written_sources,
)
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import Form, RawResponse, operation
from chatplatform.api.pagination import Page, page
from identity.auth import API_KEY, BEARER, TRAINER, TenantViewSet

BANNER = Form(Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post, files=("file",))
UPLOAD = Form(Body_upload_files_ai__bot_id__train_document_post, files=("files",))


class PromptViewSet(TenantViewSet):
    @operation("AI / train", "Create Prompt", access=TRAINER)
    def create(self, bot_id: int, body: PromptDto) -> PromptDto:
        """Store a new version of the instructions and make it current; earlier ones are kept.

        If the bot's `hold_back_worse` is true, the version may first wait for a golden run: then
        its `is_current` is false.
        """
        bot = bots.get(self.client, bot_id)
        return PromptDto.from_row(prompt_versions.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Current Prompt", access=BEARER)
    def retrieve(self, bot_id: int, query: PromptVersion) -> PromptDto:
        """Get the current version of the instructions, or a given one; 404 if the bot has no
        instructions, or no version with this number."""
        bot = bots.get(self.client, bot_id)
        if query.version is None:
            return PromptDto.from_row(prompt_versions.get_current(bot))
        return PromptDto.from_row(prompt_versions.get_version(bot, version=query.version))

    @operation("AI / train", "Get Prompt Versions", access=BEARER, returns=PromptVersionsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the versions of the bot's instructions, newest first."""
        rows = prompt_versions.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-version", shape=PromptDto.from_row)

    @operation("AI / train", "Restore Prompt Version", access=TRAINER)
    def restore(self, bot_id: int, version: int) -> PromptDto:
        """Make an earlier version current again by storing a copy as a new version.

        If the version is already current, it is returned unchanged. If the bot's `hold_back_worse`
        is true, the copy may first wait for a golden run: then its `is_current` is false.
        """
        bot = bots.get(self.client, bot_id)
        return PromptDto.from_row(prompt_versions.restore(bot, version=version, by=self.user))


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
        """Train the bot on files; `refused` lists those that cannot be accepted.

        A worker trains them; *Get Files* shows the progress, and the events `document.trained` and
        `document.failed` report the result. For a file that the bot already has, the existing
        document is returned. If the bot's `hold_back_worse` is true, new documents may first wait
        for a golden run: see `is_held`. If no file can be accepted: 413, 422, or 409
        `document_limit` if the bot has 500 uploaded files.
        """
        uploaded = documents.upload(bots.get(self.client, bot_id), files=body.files, by=self.user)
        items = [DocumentDto.from_row(row) for row in uploaded.documents]
        return {"items": items, "next_cursor": None, "refused": uploaded.refused}

    @operation("AI / train", "Delete Document By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, document_id: int) -> None:
        """Delete a document; the bot stops using it at once, unless the deletion is held back.

        If the bot's `hold_back_worse` is true, a golden run may have to test the deletion first:
        then the document stays in use, and *Get Document By Id* shows the deletion in
        `held_change`. The next crawl of a website adds its deleted pages again: to prevent this,
        delete the website.
        """
        bot = bots.get(self.client, bot_id)
        documents.delete(bot, document_id=document_id, by=self.user)

    @operation("AI / train", "Get Files", access=BEARER, returns=DocumentsResponse)
    def list(self, bot_id: int, query: DocumentsQuery) -> dict[str, Any]:
        """List the uploaded files with the progress of their training, newest first."""
        rows = documents.uploaded_documents(bots.get(self.client, bot_id), status=query.status)
        return page(rows, query, by="-id", shape=DocumentDto.from_row) | {"refused": []}

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
        """Set whether a document takes precedence, and the period in which its text is used.

        The bot uses no document before `valid_from` or after `valid_to`, important or not. If the
        bot's `hold_back_worse` is true, the change may first wait for a golden run: then it is only
        in `held_change`, and the other fields have the old values. 409 `deletion_held` if the
        document's deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        return DocumentDto.from_row(
            documents.set_importance(bot, document_id=document_id, body=body, by=self.user)
        )

    @operation("AI / train", "Discard Document Change", access=TRAINER, also={409: Error})
    def discard(self, bot_id: int, document_id: int) -> DocumentDto:
        """Discard the `held_change` of a document; what is live is kept.

        The change may also be a deletion, or a new version that could not be read. 409 `not_held`
        if the document has no held change; delete a document that was never live instead.
        """
        bot = bots.get(self.client, bot_id)
        row = documents.discard(bot, document_id=document_id, by=self.user)
        return DocumentDto.from_row(row)

    @operation("AI / train", "Reupload Files", access=TRAINER, status=202)
    def reupload(self, bot_id: int, body: ReuploadFilesRequest) -> ReuploadFilesResponse:
        """Train stored documents again; the bot uses their old passages until they have been read.

        A worker trains them; *Get Document By Id* shows the progress, and the events
        `document.trained` and `document.failed` report the result.
        """
        bot = bots.get(self.client, bot_id)
        queued, skipped = documents.reupload(bot, document_ids=body.document_ids)
        return ReuploadFilesResponse(queued=queued, skipped=skipped)


class TextViewSet(TenantViewSet):
    @operation("AI / train", "Create Text", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: TextDto) -> TextDto:
        """Train the bot on a text.

        A worker trains it; *Get Text By Id* shows the progress, and the events `document.trained`
        and `document.failed` report the result. If the bot's `hold_back_worse` is true, the text
        may then wait for a golden run; meanwhile `is_answering` is false. 409 `source_exists` if
        the bot already has this text, `document_limit` if it has 500 texts.
        """
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Texts", access=BEARER, returns=TextsResponse)
    def list(self, bot_id: int, query: TextsQuery) -> dict[str, Any]:
        """List the written texts with the progress of their training, newest first."""
        bot = bots.get(self.client, bot_id)
        rows = written_sources.list_for_bot(bot, DocumentSource.TEXT, status=query.status)
        return page(rows, query, by="-id", shape=TextDto.from_row)

    @operation("AI / train", "Get Text By Id", access=BEARER)
    def retrieve(self, bot_id: int, text_id: int) -> TextDto:
        """Get one written text with the progress of its training."""
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.get(bot, DocumentSource.TEXT, text_id))

    @operation("AI / train", "Update Text By Id", access=TRAINER, also={409: Error})
    def update(self, bot_id: int, text_id: int, body: TextDto) -> TextDto:
        """Replace a text and, if it differs, train it; the bot uses the old one until then.

        *Get Text By Id* shows the progress. If the bot's `hold_back_worse` is true, the change may
        first wait for a golden run: see `held_change`; sending the live text discards it. *Reupload
        Files* trains an unchanged text again. 409 `source_exists` if the bot already has this text,
        `deletion_held` if the text's deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.update(bot, text_id, body=body, by=self.user))

    @operation("AI / train", "Delete Text By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, text_id: int) -> None:
        """Delete a text; the bot stops using it at once, unless the deletion is held back.

        If the bot's `hold_back_worse` is true, a golden run may have to test the deletion first:
        then the text stays in use, and *Get Text By Id* shows the deletion in `held_change`.
        """
        bot = bots.get(self.client, bot_id)
        written_sources.delete(bot, DocumentSource.TEXT, text_id, by=self.user)


class QuestionAnswerViewSet(TenantViewSet):
    @operation(
        "AI / train", "Create Question Answer", access=TRAINER, status=202, also={409: Error}
    )
    def create(self, bot_id: int, body: QuestionAnswerDto) -> QuestionAnswerDto:
        """Give the bot the answer to a question.

        A customer who asks nearly the same gets exactly this answer, with a citation. For other
        questions, it is a source like any document. A worker trains it; *Get Question Answer By Id*
        shows the progress, and the events `document.trained` and `document.failed` report the
        result. If the bot's `hold_back_worse` is true, the answer may then wait for a golden run;
        meanwhile `is_answering` is false. 409 `source_exists` if the bot already has this question,
        `document_limit` if it has 2,000 questions.
        """
        bot = bots.get(self.client, bot_id)
        return QuestionAnswerDto.from_row(written_sources.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Question Answers", access=BEARER, returns=QuestionAnswersResponse)
    def list(self, bot_id: int, query: QuestionAnswersQuery) -> dict[str, Any]:
        """List the questions and answers with the progress of their training, newest first."""
        bot = bots.get(self.client, bot_id)
        rows = written_sources.list_for_bot(
            bot, DocumentSource.QUESTION_ANSWER, status=query.status
        )
        return page(rows, query, by="-id", shape=QuestionAnswerDto.from_row)

    @operation("AI / train", "Get Question Answer By Id", access=BEARER)
    def retrieve(self, bot_id: int, question_answer_id: int) -> QuestionAnswerDto:
        """Get one question with its answer and the progress of its training."""
        bot = bots.get(self.client, bot_id)
        row = written_sources.get(bot, DocumentSource.QUESTION_ANSWER, question_answer_id)
        return QuestionAnswerDto.from_row(row)

    @operation("AI / train", "Update Question Answer By Id", access=TRAINER, also={409: Error})
    def update(
        self, bot_id: int, question_answer_id: int, body: QuestionAnswerDto
    ) -> QuestionAnswerDto:
        """Replace a question and its answer and, if they differ, train them.

        The bot uses the old ones until then; *Get Question Answer By Id* shows the progress, and
        the events `document.trained` and `document.failed` report the result. If the bot's
        `hold_back_worse` is true, the change may first wait for a golden run: see `held_change`;
        sending the live pair discards it. *Reupload Files* trains an unchanged pair again. 409
        `source_exists` if the bot already has this question, `deletion_held` if the question's
        deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        row = written_sources.update(bot, question_answer_id, body=body, by=self.user)
        return QuestionAnswerDto.from_row(row)

    @operation("AI / train", "Delete Question Answer By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, question_answer_id: int) -> None:
        """Delete a question and its answer; the bot stops using them at once, unless the deletion
        is held back.

        If the bot's `hold_back_worse` is true, a golden run may have to test the deletion first:
        then both stay in use, and *Get Question Answer By Id* shows the deletion in `held_change`.
        """
        bot = bots.get(self.client, bot_id)
        written_sources.delete(
            bot, DocumentSource.QUESTION_ANSWER, question_answer_id, by=self.user
        )


class WebUrlViewSet(TenantViewSet):
    @operation(
        "AI / train",
        "Add Web Url",
        access=TRAINER,
        status=202,
        also={409: Error},
        waits=True,
        is_atomic=True,
    )
    def create(self, bot_id: int, body: WebUrlDto) -> WebUrlDto:
        """Train the bot on a web page, optionally with the pages it links to, or on a sitemap.

        A worker fetches what the site's robots.txt allows; *Get Web Urls* shows the progress. 409
        `web_url_exists` if the bot already has this URL, `web_url_limit` if it has 50.
        """
        return web_urls.create(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Update Web Url By Id", access=TRAINER, also={409: Error}, waits=True)
    def update(self, bot_id: int, web_url_id: int, body: WebUrlDto) -> WebUrlDto:
        """Change the fields that the body contains; a new URL or depth starts a crawl at once.

        *Get Web Urls* shows the progress. 409 `web_url_exists` if the bot already has this URL.
        """
        bot = bots.get(self.client, bot_id)
        return web_urls.update(bot, web_url_id=web_url_id, body=body, by=self.user)

    @operation("AI / train", "Get Web Urls", access=BEARER, returns=WebUrlsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's websites with their crawled pages, newest first."""
        rows = web_urls.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", shape=WebUrlDto.from_row)

    @operation("AI / train", "Delete Web Url By", access=TRAINER, status=204)
    def destroy(self, bot_id: int, web_url_id: int) -> None:
        """Delete a website with its crawled pages; the bot stops using them at once."""
        bot = bots.get(self.client, bot_id)
        web_urls.delete(bot, web_url_id=web_url_id, by=self.user)


class CustomerInfoViewSet(TenantViewSet):
    @operation("AI / train", "Update Customer Info Field", access=TRAINER)
    def update(self, bot_id: int, body: CustomerInfoFields) -> CustomerInfoFields:
        """Replace the fields that the bot asks a customer for. Values that customers have given
        are kept."""
        return customer_info_fields.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Customer Info Field", access=BEARER)
    def retrieve(self, bot_id: int) -> CustomerInfoFields:
        """Get the fields that the bot asks a customer for."""
        return CustomerInfoFields.from_bot(bots.get(self.client, bot_id))


class ProcedureViewSet(TenantViewSet):
    @operation("AI / train", "Update Procedures", access=TRAINER)
    def update(self, bot_id: int, body: Procedures) -> Procedures:
        """Replace the bot's procedures: what it does step by step when customers want something.

        422 if a step is invalid or calls a function that the bot does not have; the error names the
        line.
        """
        return procedures.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Procedures", access=BEARER)
    def retrieve(self, bot_id: int) -> Procedures:
        """Get the bot's procedures: what it does step by step."""
        return Procedures.from_bot(bots.get(self.client, bot_id))


class WelcomeViewSet(TenantViewSet):
    @operation("AI / train", "Update Client Customer Welcome Message Route", access=TRAINER)
    def update(self, bot_id: int, body: WelcomeMessages) -> WelcomeMessages:
        """Replace the bot's welcome messages, by language."""
        return welcome.update_messages(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Client Customer Welcome Message Route", access=BEARER)
    def retrieve(self, bot_id: int) -> WelcomeMessages:
        """Get the bot's welcome messages, by language."""
        bot = bots.get(self.client, bot_id)
        return WelcomeMessages.model_construct(messages=bot.welcome_message)


class BannerViewSet(TenantViewSet):
    # Re-encoding the picture waits for a child process.
    @operation("AI / train", "Upload Banner Image Route", access=TRAINER, body=BANNER, waits=True)
    def upload(
        self, bot_id: int, body: Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post
    ) -> BannerUploadResponseDto:
        """Replace the banner above the chat: the picture, its link, alternative text and period.

        The body is a form (`multipart/form-data`) with the picture in `file`. The other fields are
        replaced too: those left out become empty. 413 if the picture has more than 5,000,000 bytes.
        422 if it is not a PNG, JPEG or WebP image, has over 16,000,000 pixels, or is damaged.
        """
        return banner_picture.upload(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Bot Banner Route", access=BEARER)
    def retrieve(self, bot_id: int) -> BotBannerDto:
        """Get the banner above the chat and its period; `url` is null if the bot has none."""
        return banner_picture.for_bot(bots.get(self.client, bot_id))

    @operation("AI / train", "Update Bot Banner", access=TRAINER, also={409: Error})
    def update(self, bot_id: int, body: BotBannerDto) -> BotBannerDto:
        """Change the banner's link, alternative text or period; the picture is kept.

        Fields left out are kept. 409 `no_banner` if the bot has no picture.
        """
        return banner_picture.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Delete Bot Banner", access=TRAINER, status=204)
    def destroy(self, bot_id: int) -> None:
        """Remove the banner with its link, text and period; does nothing if the bot has none."""
        banner_picture.remove(bots.get(self.client, bot_id), by=self.user)

    @operation("AI / train", "Get Bot Banner Route", access=API_KEY, also={404: Error})
    def retrieve_by_key(self, query: KeyBotQuery) -> BotBannerDto:
        """Get the banner that the key's bot shows now; `url` is null if there is none."""
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        return banner_picture.current_banner(bot, datetime.now(UTC))
