"""The site's page of failures, for people who may read their rows."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from bots.models import Document, WebUrl
from chatplatform import navigation
from chatplatform.web import health
from identity.models import Client, User
from reports.services import failures

# The session key of the latest retry.
_TRIED = "tried_again"
_SHOWN_FOR = timedelta(hours=1)
# The number in the top bar is at most this old, except on pages that list failures themselves.
_CACHE_SECONDS = 60
_LISTING = {"failures", "admin:index"}


def page(request: HttpRequest) -> HttpResponse:
    """The failures that the viewer may read; POST retries a group."""
    user = request.user
    assert isinstance(user, User), "the site admits people alone"
    if request.method == "POST":
        return _try_again(request, user)
    client = _client(request, user)
    found = [
        (name, kind, _may_try(request, kind), groups)
        for name, kind in _readable(request).items()
        if (groups := failures.of_kind(kind, client))
    ]
    site: Any = admin.site
    shown: HttpResponse = site.page(
        request, "failures", "Failures", found=found, tried=_latest_retry(request, user),
        parts=health.check_all() if user.is_superuser else None,
    )  # fmt: skip
    return shown


def bell(request: HttpRequest) -> dict[str, Any]:
    """For templates: how many failures of their client a viewer may read, `99+` above that."""

    def count() -> str:
        client, kinds = getattr(request.user, "client", None), _readable(request)
        if not client or not kinds:
            return ""
        key = f"failures:{client.pk}:{','.join(kinds)}"
        match = request.resolver_match
        found = None if match and match.view_name in _LISTING else cache.get(key)
        if found is None:
            found = failures.count(kinds.values(), client)
            cache.set(key, found, _CACHE_SECONDS)
        return "99+" if found == failures.MAX_COUNTED else str(found or "")

    return {"failure_count": count}


def _readable(request: HttpRequest) -> dict[str, failures.Kind]:
    kinds = failures.KINDS.items()
    return {
        name: kind for name, kind in kinds if _page_of(kind).has_view_permission(request)
    }  # fmt: skip


def _try_again(request: HttpRequest, user: User) -> HttpResponse:
    kind = failures.KINDS.get(request.POST.get("kind", ""))
    if kind is None or not _may_try(request, kind):
        raise Http404
    try:
        ids = failures.try_again(kind, _client(request, user), request.POST.getlist("value"))
    except ValueError as exc:  # the values are not those of a group
        raise Http404 from exc
    tried = {"kind": request.POST["kind"], "ids": ids, "at": timezone.now().isoformat()}
    request.session[_TRIED] = tried
    return redirect(request.get_full_path())


def _latest_retry(request: HttpRequest, user: User) -> failures.RetryResults | None:
    """The results of the viewer's latest retry, shown for an hour."""
    tried = request.session.get(_TRIED, {})
    kind = failures.KINDS.get(tried.get("kind", ""))
    if kind is None or not _may_try(request, kind):
        return None
    at = datetime.fromisoformat(tried["at"])
    if timezone.now() - at > _SHOWN_FOR:
        return None
    return failures.retry_results(kind, _client(request, user), tried["ids"], at)


def _client(request: HttpRequest, user: User) -> Client | None:
    """The viewer's client, or the one that the platform's staff chose; None for all."""
    chosen = navigation.chosen_client(request)
    return get_object_or_404(Client, pk=chosen) if chosen else user.client


def _page_of(kind: failures.Kind) -> Any:
    return admin.site.get_model_admin(kind.model)


def _may_try(request: HttpRequest, kind: failures.Kind) -> bool:
    """Whether the viewer may retry: documents and web addresses as trainers, else as admins."""
    shown = _page_of(kind)
    if kind.again is None or not shown.has_view_permission(request):
        return False
    is_training = kind.model in {Document, WebUrl}
    may = shown.has_train_permission if is_training else shown.has_manage_permission
    return bool(may(request))
