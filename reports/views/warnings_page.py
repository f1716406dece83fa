"""The warnings in the site: since when, how many, what to do, and muted until when."""

from datetime import timedelta

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from reports.services import mutes, warnings
from reports.shapes.warnings import MuteWarningDto
from reports.views.site_page import path_to, show, viewer_of

# What a button says, and for how many days it mutes; 0: no longer.
_DAYS = {"1": "a day", "7": "a week", "30": "30 days"}


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """What needs somebody; owners and admins mute it."""
    user, client = viewer_of(request)
    if request.method != "POST":
        context = {
            "warnings": warnings.dashboard(client, user).warnings,
            "may_mute": user.is_admin,
            "days": _DAYS.items(),
        }
        return show(request, "warnings", context)
    if not user.is_admin:
        raise PermissionDenied
    days = request.POST.get("days", "")
    until = timezone.now() + timedelta(days=int(days)) if days in _DAYS else None
    try:
        body = MuteWarningDto.model_validate({"code": request.POST.get("code"), "until": until})
    except ValidationError:
        messages.error(request, "There is no such warning.")
    else:
        mutes.mute(client, body.code, until=until, by=user)
    return redirect(path_to("warnings"))
