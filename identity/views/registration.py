"""The page of the site on which a company registers."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext

from chatplatform.api.request_context import current_address
from identity.forms import RegistrationForm
from identity.models import Role, User
from identity.services import clients, site_sessions
from identity.shapes.clients import RegisterTrialDto


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """Registers a company and signs its owner in; 404 where nobody registers by themselves."""
    if not settings.REGISTRATION_OPEN:
        raise Http404
    if site.has_permission(request):
        return redirect("admin:index")

    def act(data: dict[str, Any]) -> HttpResponse:
        made = clients.register_trial(RegisterTrialDto(**data), address=current_address())
        site_sessions.begin(request, User.objects.for_client(made).get(role=Role.OWNER))
        return redirect("admin:index")

    form = RegistrationForm(request.POST or None, initial={"language": get_language()})
    done = form.carry_out(act) if form.is_bound else None
    title = gettext("Register your company")
    promise = gettext("A trial with {credits} credits, for {days} days. No card is asked for.")
    context = {
        **site.each_context(request),
        "title": title,
        "form": form,
        "promise": promise.format(
            credits=number_format(clients.TRIAL_CREDITS, force_grouping=True),
            days=clients.TRIAL_PERIOD.days,
        ),
    }
    return done or TemplateResponse(request, "admin/register.html", context)
