"""The forms that add content to a bot and change it."""

from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from bots.forms import BotForm, changed_times, day_field, days_of
from bots.models import Bot, Document, DocumentSource, DocumentStatus, WebUrl
from bots.pages.bot import content_warnings
from bots.schemas.document import ImportantDocumentDto
from bots.schemas.web_url import WebUrlDto
from bots.schemas.written import QuestionAnswerDto, TextDto
from bots.services import document_changes, documents, web_urls, written_sources
from chatplatform.forms import FilesField, Setting
from identity.models import User

ANSWER_HELP = gettext_lazy(
    "The bot also gives this answer to similarly worded questions. You can add wordings that it"
    " misses under Unanswered questions."
)
VALID_UNTIL_HELP = gettext_lazy("The last day the bot uses it. Leave empty for no end date.")
_DEPTHS: list[tuple[Any, Any]] = [
    (0, gettext_lazy("This page only")),
    (1, gettext_lazy("This page and the pages it links to")),
    (2, gettext_lazy("Up to two links deep")),
    (3, gettext_lazy("Up to three links deep")),
]
_REFRESH: list[tuple[Any, Any]] = [
    ("", gettext_lazy("Never")),
    (24, gettext_lazy("Every day")),
    (168, gettext_lazy("Every week")),
    (720, gettext_lazy("Every month")),
]


class ContentForm(BotForm):
    """A form that adds content to a bot, or changes one document or website."""

    right = "train"
    # The label of the button when the form adds content.
    add_button: ClassVar[Any] = ""

    def __init__(self, subject: Any, *args: Any, **kwargs: Any) -> None:
        self.is_new = isinstance(subject, Bot)
        if self.is_new:
            self.button = self.add_button
        super().__init__(subject, *args, **kwargs)

    def stored(self) -> dict[str, Any]:
        return {} if self.is_new else super().stored()

    def saved_message(self, result: Any) -> str:
        if not self.is_new:
            return super().saved_message(result)
        name = result.title if isinstance(result, Document) else result.url
        return gettext("Added “%(name)s”. The bot is reading it now.") % {"name": name}


class FilesForm(ContentForm):
    heading = gettext_lazy("Files")
    add_button = gettext_lazy("Upload")
    # Django's form metaclass removes declared fields from the class, so `Form.files` still works.
    files = FilesField(  # type: ignore[assignment]
        label=gettext_lazy("Files"),
        help_text=gettext_lazy(
            "PDF, Word, Excel, PowerPoint, HTML, CSV, or text, up to 25 MB each. Drop files here"
            " or browse."
        ),
    )

    def submit(self, data: dict[str, Any], by: User) -> documents.Uploaded:
        return documents.upload(self.bot, files=data["files"], by=by)

    def saved_message(self, result: documents.Uploaded) -> str:
        count = len(result.documents)
        text = ngettext(
            "Added %(count)s file. The bot is reading it now.",
            "Added %(count)s files. The bot is reading them now.",
            count,
        ) % {"count": count}
        left_out = "; ".join(f"{item.file_name}: {item.message}" for item in result.refused)
        if not left_out:
            return text
        return gettext("%(added)s Skipped: %(files)s") % {"added": text, "files": left_out}

    def is_warning(self, result: documents.Uploaded) -> bool:
        return bool(result.refused)


class WebForm(ContentForm):
    """Adds a website, or changes its settings."""

    heading = gettext_lazy("Website")
    add_button = gettext_lazy("Add website")
    schemas = (WebUrlDto,)
    settings = (
        Setting(
            "url", gettext_lazy("URL"),
            gettext_lazy("The URL of a public page or sitemap."),
            attrs={"placeholder": "www.shop.example/help", "inputmode": "url"},
        ),
        Setting("crawl_depth", gettext_lazy("Pages"), choices=_DEPTHS),
        Setting("refresh_hours", gettext_lazy("Check for updates"), choices=_REFRESH),
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        return super().stored() or {"crawl_depth": 1}

    def clean_url(self) -> str:
        """The URL, with `https://` added if the scheme is missing."""
        given: str = self.cleaned_data["url"].strip()
        url = given if "://" in given else f"https://{given}"
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""
        if " " in url or "." not in host:
            raise ValidationError(gettext("Enter a full URL, such as https://example.com."))
        return url

    def add_fields(self) -> None:
        hours = self.initial.get("refresh_hours")
        if hours and hours not in dict(_REFRESH):
            text = ngettext("Every %(count)s hour", "Every %(count)s hours", hours)
            self.offer("refresh_hours", [*_REFRESH, (hours, text % {"count": hours})])

    def submit(self, data: dict[str, Any], by: User) -> WebUrlDto:
        body = WebUrlDto(**data)
        if self.is_new:
            return web_urls.create(self.bot, body=body, by=by)
        return web_urls.update(self.bot, web_url_id=self.subject.pk, body=body, by=by)


class WrittenForm(ContentForm):
    """Adds or changes a text, or an answer to a question; the bot keeps using the old text until it
    has read the new one."""

    valid_until = day_field(
        gettext_lazy("Valid until"),
        VALID_UNTIL_HELP,
    )

    def add_fields(self) -> None:
        # For an existing text, `UseForm` sets the days.
        if not self.is_new:
            del self.fields["valid_until"]

    def stored(self) -> dict[str, Any]:
        names = [item.name for item in self.settings]
        words = () if self.is_new else (self.subject.title, self.subject.content)
        return dict(zip(names, words, strict=False))

    def submit(self, data: dict[str, Any], by: User) -> Document:
        times = changed_times(self)
        body: Any = self.schemas[0](**{item.name: data[item.name] for item in self.settings})
        try:
            if self.is_new:
                return self._create(body, times, by)
            return written_sources.update(self.bot, self.subject.pk, body=body, by=by)
        except written_sources.SourceExists as exc:
            raise _exists(self.bot, exc) from exc

    @transaction.atomic
    def _create(self, body: Any, times: dict[str, Any], by: User) -> Document:
        document = written_sources.create(self.bot, body=body, by=by)
        if not times:
            return document
        use = ImportantDocumentDto(**times)
        return documents.set_importance(self.bot, document_id=document.pk, body=use, by=by)


class TextForm(WrittenForm):
    heading = gettext_lazy("Text")
    add_button = gettext_lazy("Add text")
    schemas = (TextDto,)
    settings = (
        Setting("title", gettext_lazy("Title")),
        Setting("text", gettext_lazy("Text"), lines=10),
    )


class QuestionForm(WrittenForm):
    # A warning that quotes another source with a different answer; set when the form is saved.
    contradiction: SafeString | str = ""

    heading = gettext_lazy("Answer")
    add_button = gettext_lazy("Add answer")
    schemas = (QuestionAnswerDto,)
    settings = (
        Setting("question", gettext_lazy("Question")),
        Setting(
            "answer", gettext_lazy("Answer"),
            ANSWER_HELP, lines=6,
        ),
    )  # fmt: skip

    def submit(self, data: dict[str, Any], by: User) -> Document:
        document = super().submit(data, by)
        self.contradiction = content_warnings.contradiction(document.drafted())
        return document

    def saved_message(self, result: Document) -> str:
        text = super().saved_message(result.drafted())
        if not self.contradiction:
            return text
        return format_html("{} {}", text, self.contradiction)

    def is_warning(self, result: Document) -> bool:
        return bool(self.contradiction)


# The ways to add content, keyed by the name in the page's URL.
WAYS: dict[str, type[BotForm]] = {
    "files": FilesForm, "website": WebForm, "text": TextForm, "answer": QuestionForm,
}  # fmt: skip


def _exists(bot: Bot, exc: written_sources.SourceExists) -> ValidationError:
    found = Document.objects.filter(bot=bot, pk=exc.fields["document_id"]).first()
    is_answer = found is not None and found.source == DocumentSource.QUESTION_ANSWER
    text = (
        gettext("There's already an answer to this question.")
        if is_answer
        else gettext("You've already added this text.")
    )
    if found is None:
        return ValidationError(text)
    link = reverse("admin:bots_bot_document", args=[bot.pk, found.pk])
    return ValidationError(
        format_html('{} <a class="underline" href="{}">{}</a>', text, link, gettext("Edit answer"))
    )


class ReplaceFileForm(ContentForm):
    heading = gettext_lazy("Replace file")
    intro = gettext_lazy("The bot keeps using the old file until the new one is ready.")
    button = gettext_lazy("Replace file")
    variant = "default"
    files = forms.FileField(  # type: ignore[assignment] # as in `FilesForm`
        label=gettext_lazy("New file"), allow_empty_file=True
    )

    def submit(self, data: dict[str, Any], by: User) -> Document:
        return documents.replace(self.bot, document_id=self.subject.pk, file=data["files"], by=by)

    def saved_message(self, result: Document) -> str:
        return gettext("Replaced with “%(name)s”.") % {"name": result.file_name}


class UseForm(ContentForm):
    """Sets when a document is used, and whether it takes priority over others."""

    heading = gettext_lazy("Usage")
    schemas = (ImportantDocumentDto,)
    settings = (
        Setting(
            "is_important", gettext_lazy("Important"),
            gettext_lazy("Takes priority over other content."),
        ),
    )  # fmt: skip
    valid_from = day_field(
        gettext_lazy("Valid from"), gettext_lazy("Leave empty to start right away.")
    )
    valid_until = day_field(
        gettext_lazy("Valid until"),
        VALID_UNTIL_HELP,
    )

    def stored(self) -> dict[str, Any]:
        row = self.subject
        return super().stored() | days_of(row.valid_from, row.valid_to, self.bot)

    def submit(self, data: dict[str, Any], by: User) -> Document:
        body = ImportantDocumentDto(is_important=data["is_important"], **changed_times(self))
        return documents.set_importance(self.bot, document_id=self.subject.pk, body=body, by=by)


class DiscardForm(ContentForm):
    """Discards a new version that could not be read, or a held-back deletion; in both cases, the
    bot still uses the old version."""

    heading = button = gettext_lazy("Discard changes")
    variant = "default"

    @property
    def intro(self) -> str:
        if document_changes.has_failed(self.subject):
            return gettext("The new version couldn't be read. The bot keeps using the old version.")
        return gettext("This document's deletion is on hold. The bot still uses it.")

    @property
    def is_needed(self) -> bool:
        is_deletion = self.subject.draft == document_changes.DELETION
        return is_deletion or document_changes.has_failed(self.subject)

    def submit(self, data: dict[str, Any], by: User) -> None:
        documents.discard(self.bot, document_id=self.subject.pk, by=by)

    def saved_message(self, result: None) -> str:
        return gettext("Changes discarded.")


class ReadAgainForm(ContentForm):
    """Reads a website again, or a document that could not be read."""

    heading = button = gettext_lazy("Refresh")
    variant = "default"

    @property
    def is_needed(self) -> bool:
        return isinstance(self.subject, WebUrl) or self.subject.status == DocumentStatus.FAILED

    def submit(self, data: dict[str, Any], by: User) -> bool:
        read = web_urls.crawl_again if isinstance(self.subject, WebUrl) else documents.retrain
        return read(self.subject)

    def saved_message(self, result: Any) -> str:
        return gettext("The bot is reading it again.")
