"""Request and response schemas of a bot's documents."""

from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import Field, WithJsonSchema

from bots.models import Document, DocumentStage, DocumentStatus
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import MAX_ID, Moment, Schema, example, without_default

# A file in a multipart body; the service checks its size and content.
Upload = Annotated[Any, WithJsonSchema({"type": "string", "format": "binary"})]

# The sources of a Document, with crawled pages distinguished from files.
ShownSource = Literal["file", "web_page", "text", "question_answer"]

DocumentId = Annotated[int, Field(ge=1, le=MAX_ID)]


# The specification defines this name.
class Body_upload_files_ai__bot_id__train_document_post(Schema):
    """Files to train the bot on."""

    files: list[Upload] = Field(
        min_length=1,
        max_length=settings.MAX_UPLOAD_FILES,
        description=f"1..{settings.MAX_UPLOAD_FILES} files: PDF, DOCX, XLSX, PPTX, HTML, Markdown,"
        f" plain text or CSV; at most {settings.MAX_UPLOAD_BYTES:,} bytes per file and"
        f" {settings.MAX_REQUEST_BYTES:,} bytes per request.",
    )


class DocumentError(Schema):
    """Why training on a document failed."""

    code: str = Field(
        description="`unsupported_type`, `too_large`, `encrypted`, `empty`, `malformed`,"
        " `unreadable`, `unknown_encoding`, `timeout`, `file_missing` (the stored file is lost),"
        " `files_unavailable` (the platform's file storage was unavailable for over an hour) or"
        " `interrupted` (reading was interrupted too often)."
    )
    message: str = Field(description="The reason as a sentence.")


STAGE = (
    "The current step of training or, if it failed, the last one: `waiting` (in the"
    " queue), `reading` (the text is read), `passages` and `sentences` (these are encoded for the"
    " search by meaning), or `complete`."
)

IS_ANSWERING = (
    "Whether the bot currently answers from this text: it has been read (stage `passages` or"
    " later), is not held back, and is valid now (see *Set Important Document*). Stays true while"
    " it is trained again. Before the stage `sentences`, the bot finds it only by the words that"
    " it shares with the question, not by its meaning."
)

FAILED_CHANGE = (
    "A text whose training `failed` is never tested: change it again, or discard it with *Discard"
    " Document Change*."
)


class HeldChange(Schema):
    """A change, not yet live, to a document that the bot uses."""

    is_deleted: bool = Field(description="Whether the document will be deleted.")
    title: str | None = Field(description="The new title or question; null: unchanged.")
    content: str | None = Field(description="The new text or answer; null: unchanged.")
    file_name: str | None = Field(description="The name of the new file; null: unchanged.")
    changed: list[str] = Field(
        description="The changed fields of the document (see *Get Document By Id*) among"
        " `is_important`, `valid_from`, `valid_to` and `file`."
    )

    @classmethod
    def from_row(cls, row: Document) -> "HeldChange | None":
        """A document's held-back change; None if there is none."""
        if row.draft is None:
            return None
        is_deleted, drafted = "is_deleted" in row.draft, row.drafted()
        columns = [] if is_deleted else [*row.draft]
        values = {name: getattr(drafted, name) for name in columns}
        new = {name: value for name, value in values.items() if value != getattr(row, name)}
        changed_fields = [
            name for name in ("is_important", "valid_from", "valid_to") if name in new
        ]
        return cls(
            is_deleted=is_deleted,
            title=new.get("title"),
            content=new.get("content"),
            file_name=new.get("file_name"),
            changed=[*changed_fields, *(["file"] if row.draft_file else [])],
        )


class DocumentDto(Schema):
    """One item of a bot's content: a file, crawled page, written text, or question and answer."""

    id: int = Field(description="The document's id.")
    source: ShownSource = Field(
        description="What the document is: an uploaded `file`, a crawled `web_page`, a written"
        " `text`, or a written `question_answer`."
    )
    url: str | None = Field(description="The URL of a crawled page; null for other documents.")
    file_name: str = Field(
        description="The name of an uploaded file, without folders; otherwise the name of the"
        " file that *Download Document* returns.",
        examples=["hours.pdf"],
    )
    title: str | None = Field(
        description="The title found in the document, else its file name; null until it has been"
        " read. For a written text, its title; for a question and answer, the question."
    )
    mime_type: str = Field(
        description="The media type, detected from the content.", examples=["application/pdf"]
    )
    size_bytes: int = Field(description="The file's size in bytes.")
    status: DocumentStatus = Field(
        description="`queued` (waits for its training), `training`, `trained` (all stages are done)"
        " or `failed` (see `error`)."
    )
    stage: DocumentStage = Field(description=STAGE)
    is_answering: bool = Field(description=IS_ANSWERING)
    progress: int = Field(description="How far the training is, in percent, 0..100.")
    error: DocumentError | None = Field(
        description="Why training failed, as a `code` and a `message`; null if it did not.",
        examples=[None],
    )
    warning: str | None = Field(
        description="What could not be read, such as scanned pages, in a line for each cause;"
        " null: nothing."
    )
    chunk_count: int = Field(description="The number of passages that the document was split into.")
    is_important: bool = Field(
        description="Whether the document takes precedence over other documents.",
    )
    is_held: bool = Field(
        description="Whether the document is held back until a golden run has tested it (see the"
        " bot's `hold_back_worse`) or a person publishes it. If the bot already uses the document,"
        " only its `held_change` is held back."
    )
    held_change: HeldChange | None = Field(
        description="The change that is held back, for a document that the bot uses. `status`,"
        " `stage`, `progress`, `error`, `started_at` and `trained_at` then describe the change if"
        " it has a new text; the other fields describe what is live."
        f" {FAILED_CHANGE} Null: no change is held back."
    )
    valid_from: Moment | None = Field(
        description="The bot uses the document from this time on; null: from the start."
    )
    valid_to: Moment | None = Field(
        description="The bot uses the document until this time; null: indefinitely."
    )
    language: str | None = Field(
        description="The language of the document's text, as a BCP 47 code; null until it has been"
        " read.",
    )
    sha256: str = Field(
        description="The SHA-256 of the file, in hexadecimal digits.", examples=["9f86d081884c7d65"]
    )
    created_at: Moment = Field(
        description="When the document was first uploaded, fetched or written.",
    )
    started_at: Moment | None = Field(
        description="When the latest training began to read the document; null: never."
    )
    trained_at: Moment | None = Field(
        description="When the document was last trained successfully; null: never."
    )

    @classmethod
    def from_row(cls, row: Document) -> "DocumentDto":
        error = DocumentError(code=row.error_code, message=row.error_message)
        return cls.copy_from(
            row,
            source="web_page" if row.web_url_id else row.source,
            url=row.url or None,
            status=DocumentStatus(row.status),
            stage=DocumentStage(row.stage),
            title=row.title or None,
            language=row.language or None,
            error=error if row.error_code else None,
            warning=row.warning or None,
            is_held=row.pending_review,
            held_change=HeldChange.from_row(row),
        )


class RefusedFile(Schema):
    """A file of an upload that was not accepted."""

    position: int = Field(description="The file's position in the request, from 0.")
    file_name: str = Field(description="The file's name.")
    code: str = Field(
        description="`too_large`, `unsupported_type`, `empty`, `encrypted`, or `document_limit` if"
        " the bot already has 500 uploaded files."
    )
    message: str = Field(description="The reason as a sentence.")


class DocumentsResponse(ListPage[DocumentDto]):
    """One page of the list of documents, newest first."""

    refused: list[RefusedFile] = Field(
        default=[],
        description="Only in the response to an upload: the files that were not accepted, with the"
        " reason for each.",
    )


class DocumentsQuery(Page):
    """Query parameters of the list of documents."""

    status: DocumentStatus | None = Field(
        None,
        description="Only documents with this status: `queued` (waits for its training),"
        " `training`, `trained` or `failed`; all if left out.",
    )


class ImportantDocumentDto(Schema):
    """Whether a document takes precedence, and when its text is used. Fields left out are kept."""

    model_config = example(
        is_important=True, valid_from="2026-12-01T00:00:00Z", valid_to="2027-01-02T00:00:00Z"
    )

    is_important: bool = Field(
        False,
        json_schema_extra=without_default,
        description="true: the bot prefers the document to others that contradict it, and always"
        " reads its best passage if it is one of the five important documents that are most similar"
        " to the question.",
    )
    valid_from: Moment | None = Field(
        None,
        description="The bot uses the document from this time on; null: from the start. Also"
        " applies to documents that are not important.",
    )
    valid_to: Moment | None = Field(
        None,
        description="The bot uses the document until this time; null: indefinitely. Must be later"
        " than `valid_from`.",
    )


class ReuploadFilesRequest(Schema):
    """The documents to train again."""

    model_config = example(document_ids=[12, 13])

    document_ids: list[DocumentId] = Field(
        min_length=1,
        max_length=500,
        description="The ids of the documents, at most 500: from *Get Files*, *Get Texts* or *Get"
        " Question Answers*.",
    )


class SkippedFile(Schema):
    """A document that is not trained again."""

    id: int = Field(description="The document's id.")
    reason: str = Field(
        description="`not_found`: the bot has no such document; `in_training`: it is already queued"
        " or in training; `file_missing`: its stored file is lost, so upload it again; `web_page`:"
        " it is a crawled page, which only a crawl of its website reads again."
    )


class ReuploadFilesResponse(Schema):
    """The documents that are trained again, and those that are not."""

    queued: list[int] = Field(description="The ids of the documents that were queued.")
    skipped: list[SkippedFile] = Field(description="The other documents, with the reason for each.")


class DeletedCount(Schema):
    """The number of deleted documents."""

    deleted: int = Field(description="The number of deleted documents.")
