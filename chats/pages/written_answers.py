"""Answers that people write on the site. A question has at most one; it can be changed."""

from collections.abc import Collection
from datetime import date
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext

from bots.forms import end_of, last_day
from bots.models import Bot, Document, DocumentSource
from bots.pages.bot import content_warnings
from bots.schemas.document import ImportantDocumentDto
from bots.schemas.written import MAX_QUESTION, QuestionAnswerDto
from bots.services import documents, written_sources
from chats.models import Message
from chats.services.insight import taught_answers
from identity.models import User


def one_line(question: str) -> str:
    """A question on one line and cut to `MAX_QUESTION` characters, as the form for an answer
    accepts it."""
    return " ".join(question.split())[:MAX_QUESTION]


def existing(bot: Bot, question: str) -> Document | None:
    """The bot's written answer to a question; None if there is none."""
    rows = written_sources.list_for_bot(bot, DocumentSource.QUESTION_ANSWER)
    return rows.filter(title__iexact=one_line(question)).first()


def existing_for(bot: Bot, questions: Collection[str]) -> dict[str, Document]:
    """The bot's written answers to these questions, by the question in `casefold()`."""
    rows = written_sources.list_for_bot(bot, DocumentSource.QUESTION_ANSWER)
    lowered = [one_line(question).lower() for question in questions]
    found = rows.annotate(lowered=Lower("title")).filter(lowered__in=lowered)
    return {row.title.casefold(): row for row in found}


def initial(bot: Bot, question: str) -> dict[str, Any]:
    """The initial values of the form for an answer: the question, and its answer if there is
    one."""
    found, asked = existing(bot, question), one_line(question)
    if found is None:
        return {"question": asked}
    return {
        "question": found.title, "answer": found.content, "edits": found.pk,
        "valid_until": last_day(found.drafted().valid_to, bot),
    }  # fmt: skip


def set_last_day(document: Document, day: date | None, *, by: User) -> None:
    """Set the last day on which the bot uses an answer; None: it has no end."""
    bot = document.bot
    if day != last_day(document.drafted().valid_to, bot):
        body = ImportantDocumentDto(valid_to=end_of(day, bot))
        documents.set_importance(bot, document_id=document.pk, body=body, by=by)


@transaction.atomic
def write(bot: Bot, data: dict[str, Any], *, asked: Message, by: User) -> Document:
    """Store the answer to a message or, if the form has `edits`, change the answer with that id.
    Raises the form's error if a new answer is to a question that already has one."""
    edits = data["edits"]
    body = QuestionAnswerDto(question=data["question"], answer=data["answer"])
    if edits:
        document = written_sources.update(bot, edits, body=body, by=by)
    else:
        try:
            document = written_sources.create(bot, body=body, by=by)
        except written_sources.SourceExists as exc:
            raise source_exists_error(exc) from exc
    set_last_day(document, data["valid_until"], by=by)
    taught_answers.mark_learning(asked, document)
    return document


def warn_about_conflicts(request: HttpRequest, document: Document) -> None:
    """Warn the person of another document that answers the same question differently."""
    text = content_warnings.contradiction(document.drafted())
    if text:
        messages.warning(request, text)


def source_exists_error(exc: written_sources.SourceExists) -> ValidationError:
    """The form's error for a question that already has an answer, with a link to the answer."""
    path = reverse("admin:bots_document_change", args=[exc.fields["document_id"]])
    text = gettext("There's already an answer to this question.")
    return ValidationError(
        format_html('{} <a class="underline" href="{}">{}</a>', text, path, gettext("Edit answer"))
    )
