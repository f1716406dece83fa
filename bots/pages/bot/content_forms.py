"""The forms that add content to a bot and change it."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, ngettext

from bots.forms import BotForm, DateInput, begin_of, end_of, first_day, last_day
from bots.models import Bot, Document, DocumentSource, DocumentStatus, WebUrl
from bots.services import documents, web_urls, written_sources
from bots.shapes.train import ImportantDocumentDto
from bots.shapes.web_url import WebUrlDto
from bots.shapes.written import (
    MAX_ANSWER,
    MAX_QUESTION,
    MAX_TEXT,
    MAX_TITLE,
    QuestionAnswerDto,
    TextDto,
)
from chatplatform.forms import FilesField
from identity.models import User

_DEPTHS: list[tuple[Any, Any]] = [
    (0, gettext_lazy("This page only")),
    (1, gettext_lazy("This page and the pages it links to")),
    (2, gettext_lazy("Two links deep")),
    (3, gettext_lazy("Three links deep")),
]
_REFRESH: list[tuple[Any, Any]] = [
    ("", gettext_lazy("Never")),
    (24, gettext_lazy("Every day")),
    (168, gettext_lazy("Every week")),
    (720, gettext_lazy("Every month")),
]


class FilesForm(BotForm):
    heading = gettext_lazy("Files")
    button = gettext_lazy("Upload")
    right = "train"
    # Django's form metaclass removes declared fields, so `Form.files` is not shadowed.
    files = FilesField(  # type: ignore[assignment]
        label=gettext_lazy("Files"),
        help_text=gettext_lazy(
            "PDF, Word, Excel, PowerPoint, HTML, CSV or text, up to 25 MB each. Drop them here, or"
            " choose them."
        ),
    )

    def submit(self, data: dict[str, Any], by: User) -> documents.Uploaded:
        return documents.upload(self.bot, files=data["files"], by=by)

    def told(self, result: documents.Uploaded) -> str:
        count = len(result.documents)
        words = ngettext(
            "Added %(count)s file. The bot reads it now.",
            "Added %(count)s files. The bot reads them now.",
            count,
        ) % {"count": count}
        left_out = "; ".join(f"{item.file_name}: {item.message}" for item in result.refused)
        if not left_out:
            return words
        return gettext("%(added)s Left out: %(files)s") % {"added": words, "files": left_out}


class WebForm(BotForm):
    heading = gettext_lazy("Website")
    button = gettext_lazy("Add website")
    right = "train"
    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "www.shop.example/help", "inputmode": "url"}),
        help_text=gettext_lazy("A page or a sitemap that everybody can read."),
    )
    crawl_depth = forms.TypedChoiceField(
        label=gettext_lazy("Pages"), choices=_DEPTHS, coerce=int, initial=1
    )
    refresh_hours = forms.TypedChoiceField(
        label=gettext_lazy("Read it again"),
        choices=_REFRESH,
        coerce=int,
        empty_value=None,
        required=False,
    )

    def clean_url(self) -> str:
        """The address, with the scheme that people leave out."""
        given: str = self.cleaned_data["url"].strip()
        url = given if "://" in given else f"https://{given}"
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""
        if " " in url or "." not in host:
            raise ValidationError(gettext("Enter a full address, such as https://example.com"))
        return url

    def submit(self, data: dict[str, Any], by: User) -> WebUrlDto:
        return web_urls.create(self.bot, body=WebUrlDto(**data), by=by)

    def told(self, result: WebUrlDto) -> str:
        return gettext("Added %(name)s. The bot reads it now.") % {"name": result.url}


class WrittenForm(BotForm):
    """A form for words that the bot uses: a text, or an answer to a question."""

    right = "train"

    def body(self, data: dict[str, Any]) -> TextDto | QuestionAnswerDto:
        raise NotImplementedError

    def submit(self, data: dict[str, Any], by: User) -> Document:
        try:
            return written_sources.create(self.bot, body=self.body(data), by=by)
        except written_sources.SourceExists as exc:
            raise _exists(self.bot, exc) from exc

    def told(self, result: Document) -> str:
        return gettext("Added %(name)s. The bot reads it now.") % {"name": result.title}


class TextForm(WrittenForm):
    heading = gettext_lazy("Text")
    button = gettext_lazy("Add text")
    title = forms.CharField(label=gettext_lazy("Title"), max_length=MAX_TITLE)
    text = forms.CharField(
        label=gettext_lazy("Text"), max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 10})
    )

    def body(self, data: dict[str, Any]) -> TextDto:
        return TextDto(**data)


class QuestionForm(WrittenForm):
    heading = gettext_lazy("Answer")
    button = gettext_lazy("Add answer")
    question = forms.CharField(label=gettext_lazy("Question"), max_length=MAX_QUESTION)
    answer = forms.CharField(
        label=gettext_lazy("Answer"),
        max_length=MAX_ANSWER,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy("Used for questions with the same meaning."),
    )

    def body(self, data: dict[str, Any]) -> QuestionAnswerDto:
        return QuestionAnswerDto(**data)


# The ways to add content, by the name in the page's address.
WAYS: dict[str, type[BotForm]] = {
    "files": FilesForm, "website": WebForm, "text": TextForm, "answer": QuestionForm,
}  # fmt: skip


def _exists(bot: Bot, exc: written_sources.SourceExists) -> ValidationError:
    found = Document.objects.filter(bot=bot, pk=exc.fields["document_id"]).first()
    is_answer = found is not None and found.source == DocumentSource.QUESTION_ANSWER
    words = (
        gettext("There is already an answer to this question.")
        if is_answer
        else gettext("You have already added this text.")
    )
    if found is None:
        return ValidationError(words)
    link = reverse("admin:bots_bot_document", args=[bot.pk, found.pk])
    return ValidationError(
        format_html('{} <a class="underline" href="{}">{}</a>', words, link, gettext("Edit it"))
    )


class DocumentForm(BotForm):
    """A form about one document, which the page's address names."""

    right = "train"
    document: Document

    def __init__(self, document: Document, *sent: Any, **options: Any) -> None:
        self.document = document
        super().__init__(document.bot, *sent, **options)


class EditWrittenForm(DocumentForm, WrittenForm):
    """Changes a text or an answer; the bot keeps the old words until it has read the new ones."""

    def submit(self, data: dict[str, Any], by: User) -> Document:
        try:
            return written_sources.update(self.bot, self.document.pk, body=self.body(data), by=by)
        except written_sources.SourceExists as exc:
            raise _exists(self.bot, exc) from exc

    def told(self, result: Document) -> str:
        return BotForm.told(self, result)


class EditTextForm(EditWrittenForm, TextForm):
    button = gettext_lazy("Save")

    def stored(self) -> dict[str, Any]:
        return {"title": self.document.title, "text": self.document.content}


class EditAnswerForm(EditWrittenForm, QuestionForm):
    button = gettext_lazy("Save")

    def stored(self) -> dict[str, Any]:
        return {"question": self.document.title, "answer": self.document.content}


class ReplaceFileForm(DocumentForm):
    heading = gettext_lazy("Replace file")
    intro = gettext_lazy("The bot answers from the old file until it has read the new one.")
    button = gettext_lazy("Replace file")
    files = forms.FileField(  # type: ignore[assignment] # as in `FilesForm`
        label=gettext_lazy("New file"), allow_empty_file=True
    )

    def submit(self, data: dict[str, Any], by: User) -> Document:
        return documents.replace(self.bot, document_id=self.document.pk, file=data["files"], by=by)

    def told(self, result: Document) -> str:
        return gettext("Replaced by %(name)s. The bot reads it now.") % {"name": result.file_name}


class UseForm(DocumentForm):
    """When a document is used, and before which others."""

    heading = gettext_lazy("When it is used")
    is_important = forms.BooleanField(
        label=gettext_lazy("Important"),
        required=False,
        help_text=gettext_lazy("Takes precedence over content that says something else."),
    )
    valid_from = forms.DateField(
        label=gettext_lazy("Valid from"), required=False, widget=DateInput,
        help_text=gettext_lazy("Leave empty to use it right away."),
    )  # fmt: skip
    valid_until = forms.DateField(
        label=gettext_lazy("Valid until"), required=False, widget=DateInput,
        help_text=gettext_lazy("The last day on which it is used. Leave empty for no end."),
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        row = self.document
        return {
            "is_important": row.is_important,
            "valid_from": first_day(row.valid_from, self.bot),
            "valid_until": last_day(row.valid_to, self.bot),
        }

    def submit(self, data: dict[str, Any], by: User) -> Document:
        """Change what differs from what was shown: the API may have set times within a day."""
        changes: dict[str, Any] = {"is_important": data["is_important"]}
        if "valid_from" in self.changed_data:
            changes["valid_from"] = begin_of(data["valid_from"], self.bot)
        if "valid_until" in self.changed_data:
            changes["valid_to"] = end_of(data["valid_until"], self.bot)
        return documents.set_importance(
            self.bot, document_id=self.document.pk, body=ImportantDocumentDto(**changes), by=by
        )


class EditWebForm(WebForm):
    """The settings of one website."""

    button = gettext_lazy("Save")

    def __init__(self, web_url: WebUrl, *sent: Any, **options: Any) -> None:
        self.web_url = web_url
        super().__init__(web_url.bot, *sent, **options)

    def stored(self) -> dict[str, Any]:
        return {
            name: getattr(self.web_url, name) for name in ("url", "crawl_depth", "refresh_hours")
        }

    def add_fields(self) -> None:
        hours = self.web_url.refresh_hours
        if hours and hours not in dict(_REFRESH):
            words = ngettext("Every %(count)s hour", "Every %(count)s hours", hours)
            self.offer("refresh_hours", [*_REFRESH, (hours, words % {"count": hours})])

    def submit(self, data: dict[str, Any], by: User) -> WebUrlDto:
        return web_urls.update(self.bot, web_url_id=self.web_url.pk, body=WebUrlDto(**data), by=by)

    def told(self, result: WebUrlDto) -> str:
        return BotForm.told(self, result)


class ReadAgainForm(DocumentForm):
    heading = gettext_lazy("Read again")
    button = gettext_lazy("Read again")

    @property
    def is_needed(self) -> bool:
        return bool(self.document.status == DocumentStatus.FAILED)

    def submit(self, data: dict[str, Any], by: User) -> bool:
        return documents.retrain(self.document)

    def told(self, result: bool) -> str:  # noqa: FBT001 - the service's answer
        return gettext("The bot reads it again.")


class CrawlAgainForm(EditWebForm):
    heading = gettext_lazy("Read again")
    button = gettext_lazy("Read again")
    url = crawl_depth = refresh_hours = None  # type: ignore[assignment] # it has no fields

    def add_fields(self) -> None:
        pass

    def submit(self, data: dict[str, Any], by: User) -> Any:
        return web_urls.crawl_again(self.web_url)

    def told(self, result: Any) -> str:
        return gettext("The bot reads it again.")
