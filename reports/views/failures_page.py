"""The site's page of failures: each viewer sees the kinds whose rows they may read."""

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
from reports.services import failed_work

# The session key of the latest retry.
_RETRY_KEY = "tried_again"
# How long the results of a retry are shown.
_RESULTS_LIFETIME = timedelta(hours=1)
# How long the number in the top bar is cached, except on pages that list failures themselves.
_CACHE_SECONDS = 60
_LISTING = {"failures", "admin:index"}


def page(request: HttpRequest) -> HttpResponse:
    """The page of failures that the viewer may read; POST retries a group of them."""
    user = request.user
    assert isinstance(user, User), "only people can sign in to the site"
    if request.method == "POST":
        return _retry(request, user)
    client = _client(request, user)
    kinds = [
        (name, kind, _may_retry(request, kind), groups)
        for name, kind in _readable(request).items()
        if (groups := failed_work.of_kind(kind, client))
    ]
    site: Any = admin.site
    response: HttpResponse = site.page(
        request, "failures", "Failures", found=kinds, tried=_latest_retry(request, user),
        parts=health.check_all() if user.is_superuser else None,
    )  # fmt: skip
    return response


def bell(request: HttpRequest) -> dict[str, Any]:
    """A context processor for the number of the client's failures that the viewer may read, as
    text: `99+` above 99, and empty for none."""

    def count() -> str:
        client, kinds = getattr(request.user, "client", None), _readable(request)
        if not client or not kinds:
            return ""
        key = f"failures:{client.pk}:{','.join(kinds)}"
        match = request.resolver_match
        number = None if match and match.view_name in _LISTING else cache.get(key)
        if number is None:
            number = failed_work.count(kinds.values(), client)
            cache.set(key, number, _CACHE_SECONDS)
        return "99+" if number == failed_work.MAX_COUNTED else str(number or "")

    return {"failure_count": count}


def _readable(request: HttpRequest) -> dict[str, failed_work.Kind]:
    kinds = failed_work.KINDS.items()
    return {
        name: kind for name, kind in kinds if _model_admin(kind).has_view_permission(request)
    }  # fmt: skip


def _retry(request: HttpRequest, user: User) -> HttpResponse:
    kind = failed_work.KINDS.get(request.POST.get("kind", ""))
    if kind is None or not _may_retry(request, kind):
        raise Http404
    try:
        ids = failed_work.retry(kind, _client(request, user), request.POST.getlist("value"))
    except ValueError as exc:  # the values are not those of a group
        raise Http404 from exc
    retry = {"kind": request.POST["kind"], "ids": ids, "at": timezone.now().isoformat()}
    request.session[_RETRY_KEY] = retry
    return redirect(request.get_full_path())


def _latest_retry(request: HttpRequest, user: User) -> failed_work.RetryResults | None:
    """The results of the viewer's latest retry; None if there was none in the last hour."""
    retry = request.session.get(_RETRY_KEY, {})
    kind = failed_work.KINDS.get(retry.get("kind", ""))
    if kind is None or not _may_retry(request, kind):
        return None
    at = datetime.fromisoformat(retry["at"])
    if timezone.now() - at > _RESULTS_LIFETIME:
        return None
    return failed_work.retry_results(kind, _client(request, user), retry["ids"], at)


def _client(request: HttpRequest, user: User) -> Client | None:
    """The viewer's client, or the one that platform staff filter by; None: all clients."""
    chosen = navigation.chosen_client(request)
    return get_object_or_404(Client, pk=chosen) if chosen else user.client


def _model_admin(kind: failed_work.Kind) -> Any:
    return admin.site.get_model_admin(kind.model)


def _may_retry(request: HttpRequest, kind: failed_work.Kind) -> bool:
    """Whether the viewer may retry rows of this kind: documents and websites if they may train
    bots, other rows if they are an admin."""
    model_admin = _model_admin(kind)
    if kind.retry is None or not model_admin.has_view_permission(request):
        return False
    is_training = kind.model in {Document, WebUrl}
    may = model_admin.has_train_permission if is_training else model_admin.has_manage_permission
    return bool(may(request))
