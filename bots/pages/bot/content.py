"""The pages of a bot's content: the list, the page for adding content, and a page for each item."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.db.models import CharField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from bots.models import Bot, Chunk, Document, DocumentSource, WebUrl
from bots.pages.bot import base, content_forms, content_warnings, states
from bots.services import chat_hooks, content_overlap, documents, publish_gate, web_urls
from chatplatform.admin_base import TenantAdmin, viewer

_PAGE_SIZE = 50
_MAX_PASSAGES = 100
# The label and icon of each kind of content, keyed by the `kind` in the list's URL.
KINDS: dict[str, tuple[Any, str]] = {
    "file": (gettext_lazy("Files"), "description"),
    "website": (gettext_lazy("Websites"), "language"),
    "text": (gettext_lazy("Text"), "notes"),
    "answer": (gettext_lazy("Answers"), "question_answer"),
}
_SOURCES = {
    "file": DocumentSource.FILE,
    "text": DocumentSource.TEXT,
    "answer": DocumentSource.QUESTION_ANSWER,
}
_EDIT_FORMS: dict[str, type[BotForm]] = {
    DocumentSource.TEXT: content_forms.TextForm,
    DocumentSource.QUESTION_ANSWER: content_forms.QuestionForm,
}
_KIND_OF = {source: kind for kind, source in _SOURCES.items()}


def overview(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The list of the bot's content; it reloads itself while an item is being read or tested."""
    kind = request.GET.get("kind", "")
    search = request.GET.get("q", "").strip()[:200]
    page_text = request.GET.get("page", "")
    number = max(1, int(page_text) if page_text.isdecimal() and len(page_text) < 6 else 1)
    keys, count = _keys(bot, kind, search, number)
    rows = _rows(bot, keys)
    answer_counts = _answer_counts(bot, rows)
    may_add = base.may(page, request, "train")
    add = {
        "title": gettext("Add content"), "icon": "add", "is_primary": True,
        "link": reverse("admin:bots_bot_add_content", args=[bot.pk, "files"]),
    }  # fmt: skip
    return base.show(
        page, request, bot, "content",
        title=gettext("Content"),
        actions=[add] if may_add else [],
        add=add if may_add else None,
        items=[_item(bot, row, answer_counts) for row in rows],
        counted_at=chat_hooks.document_usage().counted_at(bot),
        language_gaps=content_warnings.languages(bot),
        new_versions=content_warnings.new_versions(rows),
        is_busy=any(map(states.is_busy, rows)),
        kinds=[(name, text, name == kind) for name, (text, _) in KINDS.items()],
        kind=kind,
        search=search,
        is_filtered=bool(kind or search),
        number=number,
        has_more=count > number * _PAGE_SIZE,
    )  # fmt: skip


def _keys(bot: Bot, kind: str, search: str, number: int) -> tuple[list[tuple[str, int]], int]:
    """The kinds and ids of the rows on one page of the list, latest change first, and the total
    number of rows."""
    document_rows = Document.objects.filter(bot=bot, web_url=None)
    sites = WebUrl.objects.filter(bot=bot)
    if kind in _SOURCES:
        document_rows, sites = document_rows.filter(source=_SOURCES[kind]), sites.none()
    elif kind in KINDS:
        document_rows = document_rows.none()
    if search:
        words = Q(title__icontains=search) | Q(file_name__icontains=search)
        document_rows = document_rows.filter(words | Q(content__icontains=search))
        sites = sites.filter(url__icontains=search)
    count = document_rows.count() + sites.count()
    changed = {"document": F("updated_at"), "website": Coalesce("last_fetched_at", "created_at")}
    parts: list[QuerySet[Any, Any]] = [
        rows.annotate(
            row_kind=Value(name, output_field=CharField()), changed=changed[name]
        ).values_list("row_kind", "pk", "changed")
        for name, rows in (("document", document_rows), ("website", sites))
    ]
    ordered = parts[0].union(parts[1], all=True).order_by("-changed", "row_kind", "-pk")
    start = (number - 1) * _PAGE_SIZE
    return [(name, pk) for name, pk, _ in ordered[start : start + _PAGE_SIZE]], count


def _rows(bot: Bot, keys: Iterable[tuple[str, int]]) -> list[Any]:
    """The documents and websites with these kinds and ids, in order."""
    keys = list(keys)
    ids = {name: [pk for kind, pk in keys if kind == name] for name in ("document", "website")}
    document_rows = publish_gate.with_run(Document.objects.filter(bot=bot), document="pk")
    sites = web_urls.with_page_counts(WebUrl.objects.filter(bot=bot))
    rows_by_key: dict[tuple[str, int], Any] = {}
    rows_by_key |= {
        ("document", row.pk): row for row in document_rows.filter(pk__in=ids["document"])
    }
    rows_by_key |= {("website", row.pk): row for row in sites.filter(pk__in=ids["website"])}
    _add_runs(bot, [rows_by_key[key] for key in keys if key[0] == "website" and key in rows_by_key])
    rows = [rows_by_key[key] for key in keys if key in rows_by_key]
    for row in rows:
        row.bot = bot
    return rows


def _add_runs(bot: Bot, sites: list[Any]) -> None:
    """Set each website's golden run to the run of its first held-back page."""
    held_back = publish_gate.held().filter(bot=bot, web_url__in=sites).order_by("-id")
    first = {item.web_url_id: item for item in held_back} if sites else {}
    for row in sites:
        item: Any = first.get(row.pk)
        row.run_id, row.run_outcome = (item.run_id, item.run_outcome) if item else (None, None)


def _answer_counts(bot: Bot, rows: Iterable[Any]) -> dict[tuple[str, int], int]:
    """The number of answers that used each document or website; a website's number is the sum over
    its pages."""
    answers = chat_hooks.document_usage().answers(bot)
    counts = {("document", pk): count for pk, count in answers.items()}
    sites = [row for row in rows if isinstance(row, WebUrl)]
    pages = Document.objects.filter(bot=bot, web_url__in=sites, pk__in=answers)
    for site_id, pk in pages.values_list("web_url_id", "pk") if sites else ():
        key = ("website", site_id or 0)
        counts[key] = counts.get(key, 0) + answers[pk]
    return counts


def _item(bot: Bot, row: Any, answer_counts: dict[tuple[str, int], int]) -> dict[str, Any]:
    """The list item of a document or website, for the template."""
    if isinstance(row, WebUrl):
        kind, link, name = "website", "admin:bots_bot_website", row.url
        key, changed = ("website", row.pk), row.last_fetched_at or row.created_at
    else:
        kind, link, name = _KIND_OF[row.source], "admin:bots_bot_document", str(row)
        key, changed = ("document", row.pk), row.updated_at
    state, color = states.label(row)
    return {
        "icon": KINDS[kind][1],
        "name": name,
        "link": reverse(link, args=[bot.pk, row.pk]),
        "state": state,
        "color": color,
        "details": states.details(row),
        "is_important": getattr(row, "is_important", False),
        "changed": changed,
        "used": answer_counts.get(key, 0),
    }


def add(page: TenantAdmin, request: HttpRequest, bot: Bot, way: str) -> HttpResponse:
    """The page for adding content in one of four ways, with links to all four."""
    if way not in content_forms.WAYS:
        raise Http404
    base.check(page, request, "train")
    forms = {way: content_forms.WAYS[way]}
    content = reverse("admin:bots_bot_content", args=[bot.pk])
    parts, done = base.bind_forms(page, request, bot, forms, then=content)
    if done:
        return done
    if way == "answer":
        parts[way].form.initial["question"] = request.GET.get("question", "")[:300]
    return base.show(
        page, request, bot, "content",
        template="admin/bots/add_content.html",
        title=gettext("Add content"),
        parts=parts,
        ways=[
            (other.heading, reverse("admin:bots_bot_add_content", args=[bot.pk, name]), name == way)
            for name, other in content_forms.WAYS.items()
        ],
    )  # fmt: skip


def document(page: TenantAdmin, request: HttpRequest, bot: Bot, document_id: int) -> HttpResponse:
    """A document's page: its text, and the forms that change it."""
    live = _document(bot, document_id)
    row = live.drafted()
    forms: dict[str, type[BotForm]] = {}
    if row.from_business_hours:
        pass
    elif row.source in _EDIT_FORMS:
        forms["edit"] = _EDIT_FORMS[row.source]
    elif not row.web_url_id:
        forms["replace"] = content_forms.ReplaceFileForm
    if not row.from_business_hours:
        forms["use"] = content_forms.UseForm
    forms["discard"] = content_forms.DiscardForm
    if not row.web_url_id:
        forms["again"] = content_forms.ReadAgainForm
    has_text_in_form = "edit" in forms and base.may(page, request, "train")
    passages = Chunk.objects.filter(document=live, is_draft=False).order_by("position")
    return _show_row(
        page, request, row, forms,
        template="admin/bots/document.html",
        title=str(row),
        document_page=page.admin_site.get_model_admin(Document),
        is_file=bool(row.file),
        is_being_replaced=states.is_being_replaced(row),
        used=chat_hooks.document_usage().answers(bot).get(row.pk, 0),
        counted_at=chat_hooks.document_usage().counted_at(bot),
        passages=[] if has_text_in_form and not live.draft else passages[:_MAX_PASSAGES],
        more=max(0, live.chunk_count - _MAX_PASSAGES),
        delete=None
        if row.from_business_hours
        else reverse("admin:bots_bot_delete_document", args=[bot.pk, row.pk]),
        **_related_content(row),
    )  # fmt: skip


def _related_content(row: Document) -> dict[str, Any]:
    """The context about other documents.

    For a written answer: a document that may contradict it. For a file: one with other figures, and
    written answers with other figures. For
    a document that expires: the questions that other documents still answer, and those that would
    be lost.
    """
    if states.is_busy(row):
        return {}
    if row.source == DocumentSource.QUESTION_ANSWER:
        return {"contradiction": content_warnings.contradiction(row)}
    related: dict[str, Any] = {}
    if content_warnings.is_uploaded(row) and row.is_answering:
        related["contradiction"] = content_warnings.other_version(row)
        related["outdated_answers"] = content_warnings.outdated_answers(row)
    if row.valid_to is not None:
        answered, unanswered = content_overlap.questions_of(row)
        related |= {"lost_questions": unanswered, "kept_questions": answered}
    return related


def website(page: TenantAdmin, request: HttpRequest, bot: Bot, web_url_id: int) -> HttpResponse:
    """A website's page: its settings, and the pages that the bot has read from it."""
    row = _website(bot, web_url_id)
    _add_runs(bot, [row])
    forms = {"edit": content_forms.WebForm, "again": content_forms.ReadAgainForm}
    return _show_row(
        page, request, row, forms,
        template="admin/bots/website.html",
        title=row.url,
        delete=reverse("admin:bots_bot_delete_website", args=[bot.pk, row.pk]),
    )  # fmt: skip


def _show_row(
    page: TenantAdmin,
    request: HttpRequest,
    row: Any,
    forms: Mapping[str, type[BotForm]],
    *,
    delete: str | None,
    **context: Any,
) -> HttpResponse:
    """The page of a document or website: its forms and its state."""
    parts, done = base.bind_forms(page, request, row, forms)
    if done:
        return done
    state, color = states.label(row)
    context |= {"state": state, "color": color, "details": states.details(row)}
    return base.show(
        page, request, row.bot, "content",
        row=row,
        parts=parts,
        is_busy=states.is_busy(row),
        delete=delete if base.may(page, request, "train") else None,
        **context,
    )  # fmt: skip


def delete_document(
    page: TenantAdmin, request: HttpRequest, bot: Bot, document_id: int
) -> HttpResponse:
    """Delete a document, after a confirmation."""
    name, by = str(_document(bot, document_id)), viewer(request)
    act = functools.partial(documents.delete, bot, document_id=document_id, by=by)
    back = reverse("admin:bots_bot_document", args=[bot.pk, document_id])
    return _delete(page, request, bot, name, act, back=back)


def delete_website(
    page: TenantAdmin, request: HttpRequest, bot: Bot, web_url_id: int
) -> HttpResponse:
    """Delete a website, after a confirmation."""
    name, by = _website(bot, web_url_id).url, viewer(request)
    act = functools.partial(web_urls.delete, bot, web_url_id=web_url_id, by=by)
    back = reverse("admin:bots_bot_website", args=[bot.pk, web_url_id])
    return _delete(page, request, bot, name, act, back=back)


def _delete(
    page: TenantAdmin,
    request: HttpRequest,
    bot: Bot,
    name: str,
    act: Callable[[], object],
    *,
    back: str,
) -> HttpResponse:
    base.check(page, request, "train")

    def remove(data: dict[str, Any]) -> HttpResponse:
        is_held = act() is False
        text = (
            gettext("“%(name)s” will be deleted if your test questions still pass without it.")
            if is_held
            else gettext("Deleted “%(name)s”.")
        )
        messages.success(request, text % {"name": name})
        return redirect("admin:bots_bot_content", bot.pk)

    return page.confirm_page(
        request, remove,
        title=gettext("Delete “%(name)s”?") % {"name": name},
        button=gettext("Delete"),
        variant="danger",
        cancel=back,
        intro=gettext("The bot will stop using it. This can't be undone."),
        tabs=base.tabs(page, request, bot, "content"),
    )  # fmt: skip


def _document(bot: Bot, document_id: int) -> Any:
    rows = publish_gate.with_run(Document.objects.filter(bot=bot), document="pk")
    return _of_bot(bot, rows.select_related("web_url").filter(pk=document_id))


def _website(bot: Bot, web_url_id: int) -> Any:
    return _of_bot(bot, web_urls.list_for_bot(bot).filter(pk=web_url_id))


def _of_bot(bot: Bot, rows: QuerySet[Any]) -> Any:
    row = get_object_or_404(rows)
    row.bot = bot
    return row
