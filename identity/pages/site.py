"""The site's own pages: sign-in for everybody, where each role lands, one's own password."""

import functools
from collections import Counter
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import InternalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminEmailInputWidget

from chatplatform import navigation
from chatplatform.api import errors
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import always_calls_out
from chatplatform.api.request_context import current_address
from identity.forms import check_own_password
from identity.models import Role, SavedView, User
from identity.pages import provider_sign_in, registration, saved_views, viewing
from identity.pages import second_factor as second_factor_pages
from identity.services import (
    attempts,
    audit,
    logins,
    passwords,
    second_factor,
    site_sessions,
    tokens,
    users,
)
from identity.services import saved_views as saved_view_services
from identity.services.freezing import ensure_not_frozen

# What the platform's staff reach before they have set up a second factor that they must have.
_BEFORE_SECOND_FACTOR = {"second_factor", "logout", "jsi18n"}

# The desk's own scripts alone; nothing is fetched from elsewhere, and nothing becomes markup.
DESK_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' blob:; media-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'"
)


class SignInForm(AuthenticationForm):
    """E-mail address and password; says when too many were wrong."""

    wait_seconds = 0

    def clean(self) -> dict[str, Any]:
        try:
            data: dict[str, Any] = super().clean()
        except attempts.TooManyAttempts as exc:
            self.wait_seconds = exc.retry_after_seconds
            raise ValidationError(gettext(str(exc))) from exc
        except logins.ProviderRequired as exc:
            raise ValidationError(gettext(str(exc))) from exc
        return data


class SignIn(LoginView):
    """The one sign-in page; afterwards each role lands where it works."""

    form_class = SignInForm
    template_name = "admin/sign_in.html"

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        if second_factor.is_set(user):
            site_sessions.await_code(self.request, user, then=self.get_success_url())
            return redirect("admin:login_code")
        try:
            site_sessions.begin(self.request, user)
        except tokens.InvalidGrant as exc:
            form.add_error(None, gettext(str(exc)))
            return self.form_invalid(form)
        return redirect(self.get_success_url())

    def form_invalid(self, form: Any) -> HttpResponse:
        page: HttpResponse = super().form_invalid(form)
        if form.wait_seconds:
            page.status_code = 429
            page["Retry-After"] = str(form.wait_seconds)
        return page


class OwnPasswordForm(AdminOwnPasswordChangeForm):
    """One's own password, changed as by the API: every other sign-in ends."""

    user: User

    def clean_old_password(self) -> str:
        given: str = self.cleaned_data["old_password"]
        check_own_password(self.user, given)
        return given


class OwnPassword(PasswordChangeView):
    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")
    template_name = "registration/password_change_form.html"

    def form_valid(self, form: Any) -> HttpResponse:
        person = users.set_own_password(form.user, form.cleaned_data["new_password1"])
        site_sessions.begin(self.request, person)
        return redirect(str(self.success_url))


class ForgotPasswordForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        widget=UnfoldAdminEmailInputWidget({"autocomplete": "email", "autofocus": ""}),
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


def _for_background(request: HttpRequest, reply: Any) -> Any:
    """The reply, where a script that sent a form in the background gets a 204 for a redirect: the
    script decides whether the page follows it, and stays if it leads to the sign-in."""
    if reply.status_code == 302 and "Background" in request.headers:
        return HttpResponse(status=204, headers={"Location": reply["Location"]})
    return reply


class Site(UnfoldAdminSite):
    """Django's admin site for platform staff and for the people of clients."""

    login_form = SignInForm

    def extra_urls(self) -> list[URLPattern]:
        return [
            path("desk/", self.admin_view(self.desk), name="desk"),
            path("desk/token/", self.admin_view(self.desk_token), name="desk_token"),
            path("sign-ins/", self.admin_view(self.sign_ins), name="sign_ins"),
            path("second-factor/", self.admin_view(self.second_factor), name="second_factor"),
            path("views/save/", self.admin_view(saved_views.save), name="save_view"),
            path("views/delete/", self.admin_view(saved_views.delete), name="delete_view"),
            path("view/leave/", self.admin_view(viewing.leave), name="leave_view"),
            path("login/code/", self.login_code, name="login_code"),
            path("register/", self.register_company, name="register"),
            path("sign-in/", self.ask_sign_in_link, name="ask_sign_in_link"),
            path("sign-in/<slug:code>/", self.leave_for_provider, name="provider_sign_in"),
            path("signed-in/", self.come_back_from_provider, name="provider_signed_in"),
            path("register/again/", self.send_registration_again, name="register_again"),
            path("register/confirm/", self.confirm_registration, name="register_confirm"),
            # The sign-in page links to the path of this name.
            path("forgot-password/", self.forgot_password, name="admin_password_reset"),
        ]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Leads the platform's staff to the set-up of a second factor that they must have, and says
        what a service refuses, or the database to whoever looks as somebody else."""
        shown = super().admin_view(view, cacheable)

        @functools.wraps(shown)
        def lead(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            match, user = request.resolver_match, request.user
            is_before = match is not None and match.url_name in _BEFORE_SECOND_FACTOR
            if not is_before and isinstance(user, User) and second_factor.is_missing(user):
                return redirect("admin:second_factor")
            if viewing.is_closed(request):
                return viewing.refused(request)
            try:
                if isinstance(user, User):
                    ensure_not_frozen(user.client)
                return _for_background(request, shown(request, *args, **kwargs))
            except ApiError as exc:
                return errors.refused(request, exc)
            except InternalError as exc:
                if not viewing.is_write(exc):
                    raise
                return viewing.refused(request)

        return lead

    @method_decorator(never_cache)
    def register_company(self, request: HttpRequest) -> HttpResponse:
        """Where a company registers, if anybody may."""
        return registration.page(self, request)

    @method_decorator(never_cache)
    def send_registration_again(self, request: HttpRequest) -> HttpResponse:
        """Mails the link of a registration again."""
        try:
            return registration.send_again(self, request)
        except ApiError as exc:
            return errors.refused(request, exc)

    @method_decorator(never_cache)
    def confirm_registration(self, request: HttpRequest) -> HttpResponse:
        """Where the mailed link of a registration leads."""
        return registration.confirm(self, request)

    @method_decorator(never_cache)
    def ask_sign_in_link(self, request: HttpRequest) -> HttpResponse:
        """Mails the sign-in link of one's company."""
        return provider_sign_in.ask_page(self, request, ForgotPasswordForm(request.POST or None))

    @always_calls_out
    @method_decorator(never_cache)
    def leave_for_provider(self, request: HttpRequest, code: str) -> HttpResponse:
        """The sign-in link of a company."""
        return provider_sign_in.leave(request, code)

    @always_calls_out
    @method_decorator(never_cache)
    def come_back_from_provider(self, request: HttpRequest) -> HttpResponse:
        """Where a company's provider sends people back."""
        return provider_sign_in.come_back(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What every page gets: also the client whose rows the platform's staff have chosen."""
        chosen = navigation.chosen_client(request)
        return {**super().each_context(request), "chosen_client": chosen}

    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Where one sets up or removes one's second factor."""
        return second_factor_pages.own_page(self, request)

    @method_decorator(never_cache)
    def login_code(self, request: HttpRequest) -> HttpResponse:
        """The second step of the sign-in of whoever has a second factor."""
        return second_factor_pages.sign_in_page(self, request)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Home: of the client, or of the platform. Agents land at their desk."""
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        if not user.is_superuser and user.role == Role.AGENT:
            return redirect("admin:desk")
        title = str(user.client) if user.client else gettext("Platform")
        return super().index(request, {"title": title, **(extra_context or {})})

    def desk(self, request: HttpRequest) -> HttpResponse:
        """The agents' desk: a page of its own, since it shows what strangers wrote.

        Whoever looks as an agent reads the chats instead: an open desk makes the agent present.
        """
        if viewing.is_viewing(request):
            return redirect("admin:chats_conversation_changelist")
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        get_token(request)  # sets the cookie that the page sends back for its token
        page = render(request, "admin/desk.html", {"has_desk": user.client_id is not None})
        page["Content-Security-Policy"] = DESK_POLICY
        return page

    def desk_token(self, request: HttpRequest) -> HttpResponse:
        """The session is exchanged for an access token of the API.

        A desk that nobody has touched since its last token says so by the header `Unattended`.
        """
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if user.client_id is None:
            raise PermissionDenied
        session = request.session
        assert isinstance(session, site_sessions.SessionStore), "SESSION_ENGINE names it"
        session.is_unattended = "Unattended" in request.headers
        lifetime = int(settings.ACCESS_TOKEN_LIFETIME.total_seconds())
        token = site_sessions.access_token(request, user)
        return JsonResponse({"access_token": token, "expires_in": lifetime})

    def sign_ins(self, request: HttpRequest) -> HttpResponse:
        """Where one is signed in, with a button to end each."""
        user, current = request.user, request.session.session_key
        assert isinstance(user, User), "the site admits people alone"
        if request.method == "POST":
            if site_sessions.end_own(user, request.POST.get("end", "")):
                messages.success(request, gettext("This sign-in has ended."))
            return redirect("admin:sign_ins")
        context = {
            **self.each_context(request),
            "title": gettext("Where you are signed in"),
            "sign_ins": site_sessions.list_own(user, current=current),
        }
        return TemplateResponse(request, "admin/sign_ins.html", context)

    def saved_views_of(self, request: HttpRequest, page: str) -> list[tuple[SavedView, bool]]:
        """The views of a list that the reader may choose, and whether they may delete each."""
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        return saved_view_services.seen_with_rights(user, page)

    def is_viewing(self, request: HttpRequest) -> bool:
        """Whether the reader looks as somebody else, and so can change nothing."""
        return viewing.is_viewing(request)

    def record_export(self, request: HttpRequest, noun: str, rows: Counter[int | None]) -> None:
        """Record that rows of a list leave as a file: in the log of each client whose they are."""
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        # The list of nobody's rows was taken along too.
        for client_id, count in (rows or {user.client_id: 0}).items():
            audit.record_export(client_id, noun, by=user, rows=count)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "GET" and self.has_permission(request):
            return redirect("admin:index")
        context = {
            **self.each_context(request),
            "title": gettext("Log in"),
            "app_path": request.get_full_path(),
            "may_register": settings.REGISTRATION_OPEN,
            **(extra_context or {}),
        }
        return SignIn.as_view(extra_context=context)(request)

    @method_decorator(never_cache)
    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if isinstance(request.user, User):
            site_sessions.end(request, request.user)
        return redirect("admin:login")

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = {**self.each_context(request), **(extra_context or {})}
        return OwnPassword.as_view(extra_context=context)(request)

    @method_decorator(never_cache)
    def forgot_password(self, request: HttpRequest) -> HttpResponse:
        """Asks for the mail with a reset link; the answer reveals no account."""
        form = ForgotPasswordForm(request.POST or None)
        status, is_sent = 200, False
        if form.is_valid():
            try:
                passwords.request_reset(email=form.cleaned_data["email"], address=current_address())
                is_sent = True
            except attempts.TooManyAttempts as exc:
                form.add_error(None, gettext(str(exc)))
                status = 429
        context = {
            **self.each_context(request),
            "title": gettext("Forgot your password?"),
            "form": form,
            "is_sent": is_sent,
        }
        return TemplateResponse(request, "admin/forgot_password.html", context, status=status)
