"""Messages to a bot's owner about what its content lacks and where it contradicts itself."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext

from bots.models import Bot, Document, DocumentSource
from bots.services import chat_hooks, content_overlap
from chatplatform.form_fields import language_name

_MAX_QUOTED_WORDS = 40
# With fewer questions, the detected language may be wrong.
_MIN_QUESTIONS = 3
# The list of content compares files of the last day with others, and at most five of them.
_NEW_FOR, _MAX_NEW = timedelta(days=1), 5


def contradiction(document: Document) -> SafeString | str:
    """A message that quotes another document that may contradict a written answer; empty if none
    does."""
    passage = content_overlap.find_conflicting_passage(document)
    if passage is None:
        return ""
    link = reverse("admin:bots_bot_document", args=[document.bot_id, passage.document_id])
    return format_html(
        '<span data-other-source="{}">{} <a class="underline" href="{}">{}</a>: “{}”</span>',
        passage.document_id,
        gettext("Another source answers this question too. If it's out of date, change it:"),
        link,
        passage.title,
        Truncator(" ".join(passage.text.split())).words(_MAX_QUOTED_WORDS),
    )


def other_version(document: Document) -> SafeString | str:
    """A message that names another file with the same words and other figures; empty if there is
    none."""
    other = content_overlap.find_other_version(document)
    if other is None:
        return ""
    text = gettext(
        "“%(new)s” and “%(old)s” say the same with different figures. If one of them is out of"
        " date, replace or delete it:"
    )
    return format_html(
        '<span data-other-version="{}">{} <a class="underline" href="{}">{}</a></span>',
        other.pk,
        text % {"new": document, "old": other},
        reverse("admin:bots_bot_document", args=[document.bot_id, other.pk]),
        other,
    )


def outdated_answers(document: Document) -> SafeString | str:
    """A message that quotes the written answers that state other figures than a file; empty if
    there are none."""
    answers = content_overlap.find_outdated_answers(document)
    if not answers:
        return ""
    quoted = format_html_join(
        "; ",
        '<a class="underline" href="{}" data-outdated-answer="{}">{}</a>: “{}”',
        (
            (
                reverse("admin:bots_bot_document", args=[answer.bot_id, answer.pk]),
                answer.pk,
                answer,
                Truncator(" ".join(answer.content.split())).words(_MAX_QUOTED_WORDS),
            )
            for answer in answers
        ),
    )
    text = gettext(
        "These answers give other figures than this file. If they're out of date, change them:"
    )
    return format_html("{} {}", text, quoted)


def new_versions(rows: Iterable[Any]) -> list[SafeString | str]:
    """The messages about files of the last day that say the same as another with other figures."""
    since = timezone.now() - _NEW_FOR
    new = [row for row in rows if is_uploaded(row) and row.created_at > since and row.is_answering]
    return [text for row in new[:_MAX_NEW] if (text := other_version(row))]


def is_uploaded(row: Any) -> bool:
    """Whether a row of the content is an uploaded file."""
    is_file = isinstance(row, Document) and row.source == DocumentSource.FILE
    return is_file and not row.web_url_id


def languages(bot: Bot) -> list[dict[str, Any]]:
    """A message for each language in which the bot has no content and left at least three questions
    unanswered in the last seven days."""
    return [
        {
            "code": code,
            "text": ngettext(
                "%(count)s question in %(language)s had no answer this week.",
                "%(count)s questions in %(language)s had no answer this week.",
                count,
            )
            % {"count": count, "language": language_name(code)},
        }
        for code, count in _unanswered_without_content(bot).items()
        if count >= _MIN_QUESTIONS
    ]


def _unanswered_without_content(bot: Bot) -> dict[str, int]:
    """The number of unanswered questions of the last seven days per language, highest first.

    Counts only languages in which the bot has no content; empty if it has no content at all.
    """
    content_languages = set(
        Document.objects.filter(bot=bot, chunk_count__gt=0).values_list("language")
    )
    counts = chat_hooks.document_usage().unanswered_by_language(bot) if content_languages else {}
    without_content = {
        code: count for code, count in counts.items() if (code,) not in content_languages
    }
    return dict(sorted(without_content.items(), key=lambda item: -item[1]))
