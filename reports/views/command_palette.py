"""The site's command palette (Ctrl+K), which finds pages, bots, documents, people, customers and
conversations that the viewer may see."""

import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from unfold.dataclasses import SearchResult

from bots.models import Bot, Document
from chatplatform import navigation
from chats.models import Conversation, Customer
from chats.services.core import customers
from chats.services.desk import inbox
from identity.models import User

# The maximum number of results of each kind, except pages of the site.
_MAX_RESULTS = 5
# The minimum length of a search in messages: the index needs three letters.
_MIN_LENGTH = 3
# Matches what may be the beginning of a conversation's code.
_CODE = re.compile(r"[A-Za-z0-9-]{3,20}", re.ASCII)


def page(request: HttpRequest) -> HttpResponse:
    """The results for the text typed so far, as HTML; for the inbox as JSON."""
    began = time.perf_counter()
    # Text in PostgreSQL cannot contain NUL.
    term = request.GET.get("s", "").replace("\0", "").strip()[:100]
    results = list(_results(request, term)) if term else []
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"items": [asdict(result) for result in results]})
    paginator = Paginator(results, per_page=100)
    context = {
        "page_obj": paginator,
        "results": paginator.page(1),
        "page_counter": 0,
        "execution_time": time.perf_counter() - began,
    }
    return TemplateResponse(
        request, "unfold/helpers/command_results.html", context, headers={"HX-Trigger": "search"}
    )


def _results(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    for title, link, icon in navigation.pages(request):
        if term.lower() in title.lower():
            yield SearchResult(title, gettext("Page"), link, icon)
    yield from _rows(request, Bot, Q(bot_name__icontains=term), "smart_toy", gettext("Bot"))
    client, conversation = getattr(request.user, "client", None), gettext("Conversation")
    if client and len(term) >= _MIN_LENGTH:
        wanted = Q(pk__in=inbox.search(client, term))
        yield from _rows(request, Conversation, wanted, "forum", conversation)
    elif _CODE.fullmatch(term):
        wanted = Q(chat_code__startswith=term.upper())
        yield from _rows(request, Conversation, wanted, "forum", conversation)
    named = Q(title__icontains=term) | Q(file_name__icontains=term)
    yield from _rows(request, Document, named, "description", gettext("Document"))
    named = Q(full_name__icontains=term) | Q(email__icontains=term)
    yield from _rows(request, User, named, "group", gettext("Teammate"))
    if client:
        # The index is per client, so platform staff must search the list of customers instead.
        matches = customers.search(client, term).order_by("-id").values("pk")[:_MAX_RESULTS]
        wanted = Q(pk__in=matches)
        yield from _rows(request, Customer, wanted, "person", gettext("Customer"))


def _rows(
    request: HttpRequest, model: type[Model], wanted: Q, icon: str, noun: str
) -> Iterator[SearchResult]:
    """Results for rows that the viewer may see, newest first; `noun` names their kind."""
    model_admin: Any = admin.site.get_model_admin(model)
    if not model_admin.has_view_permission(request):
        return
    rows: QuerySet[Any] = model_admin.get_queryset(request).filter(wanted).order_by("-pk")
    meta = model._meta
    for row in rows[:_MAX_RESULTS]:
        link = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        yield SearchResult(str(row), noun, link, icon)
