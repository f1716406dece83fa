"""The site's page of warnings."""

from datetime import timedelta

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from reports.schemas.warnings import MuteWarningDto
from reports.services import mutes, warnings
from reports.views.base import path_to, show, viewer_of

# The days for which a warning can be muted, and the labels of the buttons. Other values unmute it.
_DAYS = {"1": gettext_noop("1 day"), "7": gettext_noop("1 week"), "30": gettext_noop("30 days")}


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The page of warnings. With POST, owners and admins mute or unmute one."""
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
        messages.error(request, gettext("This alert doesn't exist."))
    else:
        mutes.mute(client, body.code, until=until, by=user)
    return redirect(path_to("warnings"))
