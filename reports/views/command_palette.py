"""The site's command palette (Ctrl+K), which finds pages and their cards, bots, documents, people,
customers and conversations that the viewer may see."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from unfold.dataclasses import SearchResult

from bots.models import Bot, Document
from chatplatform import navigation
from chats.models import Conversation, Customer
from chats.pages.names import chat_customer_name
from chats.services.core import customers
from chats.services.desk import inbox
from identity.models import User
from reports.views import search_words
from reports.views.search_words import Card

# The maximum number of results of each kind, except pages of the site.
_MAX_RESULTS = 5
# The maximum number of bots whose cards are found.
_MAX_BOTS = 3
# The minimum length of a search in messages: the index needs three letters.
_MIN_LENGTH = 3
# Matches what may be the beginning of a conversation's code.
_CODE = re.compile(r"[A-Za-z0-9-]{3,20}", re.ASCII)


def page(request: HttpRequest) -> HttpResponse:
    """The results for the text typed so far, as HTML; for the inbox as JSON."""
    # Text in PostgreSQL cannot contain NUL.
    term = request.GET.get("s", "").replace("\0", "").strip()[:100]
    results = list(_results(request, term)) if term else []
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"items": [asdict(result) for result in results]})
    return TemplateResponse(
        request, "unfold/helpers/command_results.html", {"results": results},
        headers={"HX-Trigger": "search"},
    )  # fmt: skip


def _results(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    yield from _pages(request, term)
    yield from _rows(request, Bot, Q(bot_name__icontains=term), "smart_toy", gettext("Bot"))
    client = getattr(request.user, "client", None)
    if client and len(term) >= _MIN_LENGTH:
        yield from _conversations(request, Q(pk__in=inbox.search(client, term)))
    elif _CODE.fullmatch(term):
        yield from _conversations(request, Q(chat_code__startswith=term.upper()))
    named = Q(title__icontains=term) | Q(file_name__icontains=term)
    yield from _rows(request, Document, named, "description", gettext("Document"))
    named = Q(full_name__icontains=term) | Q(email__icontains=term)
    yield from _rows(request, User, named, "group", gettext("Teammate"))
    if client:
        # The index is per client, so platform staff must search the list of customers instead.
        matches = customers.search(client, term).order_by("-id").values("pk")[:_MAX_RESULTS]
        wanted = Q(pk__in=matches)
        yield from _rows(request, Customer, wanted, "person", gettext("Customer"))


def _pages(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Pages by title or another word, then the cards of the Settings pages and of bots' pages."""
    readable = {}
    for page, icon in navigation.pages(request):
        title, link = gettext(page.title), page.link
        readable[link] = title
        if term.lower() in title.lower() or Card(page.url_name).found_by(term) is not None:
            yield SearchResult(title, gettext("Page"), link, icon)
    if len(term) < _MIN_LENGTH:
        return
    for card in search_words.settings_cards():
        path = reverse(card.target)
        if path in readable and (text := card.found_by(term)):
            yield SearchResult(str(text), readable[path], f"{path}#{card.anchor}", "settings")
    found = [(card, text) for card in search_words.bot_cards() if (text := card.found_by(term))]
    bots: Any = admin.site.get_model_admin(Bot)
    if found and getattr(request.user, "client", None) and bots.has_train_permission(request):
        rows = list(bots.get_queryset(request).order_by("-pk")[:_MAX_BOTS])
        for card, text in found:
            for bot in rows:
                link = f"{reverse(card.target, args=[bot.pk])}#{card.anchor}"
                yield SearchResult(str(text), bot.bot_name, link, "smart_toy")


def _conversations(request: HttpRequest, wanted: Q) -> Iterator[SearchResult]:
    def name(chat: Conversation) -> str:
        return f"{chat_customer_name(chat)} · {chat.chat_code}"

    return _rows(request, Conversation, wanted, "forum", gettext("Conversation"), name)


def _rows(
    request: HttpRequest,
    model: type[Model],
    wanted: Q,
    icon: str,
    noun: str,
    name: Callable[[Any], str] = str,
) -> Iterator[SearchResult]:
    """Results for rows that the viewer may see, newest first; `noun` names their kind."""
    model_admin: Any = admin.site.get_model_admin(model)
    if not model_admin.has_view_permission(request):
        return
    rows: QuerySet[Any] = model_admin.get_queryset(request).filter(wanted).order_by("-pk")
    meta = model._meta
    for row in rows[:_MAX_RESULTS]:
        link = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        yield SearchResult(name(row), noun, link, icon)
