"""The site's pages for registering a company and confirming its email address."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext

from chatplatform.api.request_context import current_address
from identity.forms import ConfirmForm, RegistrationForm, ResendForm
from identity.models import Client, Role, User
from identity.pages.mailed_links import sign_out_first
from identity.schemas.clients import ConfirmRegistrationRequest, RegisterTrialDto
from identity.services import clients, registrations, site_sessions


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which a company registers. In development the company is created at once,
    otherwise after a mailed link is confirmed. 404 if self-registration is off."""
    if not settings.REGISTRATION_OPEN:
        raise Http404
    if site.has_permission(request):
        return redirect("admin:index")

    def act(data: dict[str, Any]) -> HttpResponse:
        client = registrations.register(RegisterTrialDto(**data), address=current_address())
        if client is None:
            return _link_sent(site, request, data["email"])
        return _sign_in_owner(request, client)

    form = RegistrationForm(request.POST or None, initial={"language": get_language()})
    promise = gettext("{days}-day free trial with {credits} credits. No card required.")
    promise = promise.format(
        credits=number_format(clients.TRIAL_CREDITS, force_grouping=True),
        days=clients.TRIAL_PERIOD.days,
    )
    title = gettext("Register your company")
    done = form.carry_out(act)
    return done or site.page(request, "register", title, form=form, promise=promise)


def send_again(site: Any, request: HttpRequest) -> HttpResponse:
    """Enqueue a mail with a new link. The response does not reveal whether the address has an
    account."""
    if not settings.REGISTRATION_OPEN or request.method != "POST":
        raise Http404
    form = ResendForm(request.POST)
    if not form.is_valid():
        return redirect("admin:register")
    email = form.cleaned_data["email"].lower()
    registrations.request_new_link(email=email, address=current_address())
    return _link_sent(site, request, email)


def confirm(site: Any, request: HttpRequest) -> HttpResponse:
    """The page that a mailed link opens. It creates the company and signs in the owner, who must
    enter the password again."""
    if refusal := sign_out_first(site, request):
        return refusal

    def act(data: dict[str, Any]) -> HttpResponse:
        body = ConfirmRegistrationRequest(**data)
        client = registrations.confirm(**dict(body), address=current_address())
        return _sign_in_owner(request, client)

    form = ConfirmForm(request.POST or None)
    is_open = settings.REGISTRATION_OPEN
    page: HttpResponse = form.carry_out(act) or site.page(
        request,
        "register_confirm",
        gettext("Confirm your email address"),
        form=form,
        may_register=is_open,
    )
    page["Referrer-Policy"] = "same-origin"
    return page


def _sign_in_owner(request: HttpRequest, client: Client) -> HttpResponse:
    """Sign in the owner of a new company."""
    site_sessions.begin(request, User.objects.for_client(client).get(role=Role.OWNER))
    return redirect("admin:index")


def _link_sent(site: Any, request: HttpRequest, email: str) -> HttpResponse:
    """The page that shows where the link was mailed, and offers to mail a new one."""
    sent: HttpResponse = site.page(
        request, "register_sent", gettext("Check your inbox"), email=email
    )
    return sent
