"""The site's own views: sign-in, the home of each role, and a person's own account."""

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

# Views that staff can reach before they have set up a required second factor.
_BEFORE_SECOND_FACTOR = {"second_factor", "logout", "jsi18n"}

# Only the desk's own scripts run; nothing loads from elsewhere, and no text becomes markup.
DESK_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' blob:; media-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'"
)


class SignInForm(AuthenticationForm):
    """E-mail address and password. Shows an error after too many failures."""

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
    """The sign-in form; afterwards each role is sent to the place where it works."""

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
    """Changes a person's own password as the API does: every other sign-in ends."""

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
    """Replace a redirect by a 204 with `Location` if a script sent the form in the background.

    The script decides whether to follow it, and does not if it leads to the sign-in.
    """
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
        """Redirect staff without a required second factor to its set-up, and show refusals.

        Services refuse requests, and the database refuses writes during an impersonation.
        """
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
        """Registers a company, if self-registration is on."""
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
        """The target of the mailed link of a registration."""
        return registration.confirm(self, request)

    @method_decorator(never_cache)
    def ask_sign_in_link(self, request: HttpRequest) -> HttpResponse:
        """Mails a person the sign-in link of their company."""
        return provider_sign_in.ask_page(self, request, ForgotPasswordForm(request.POST or None))

    @always_calls_out
    @method_decorator(never_cache)
    def leave_for_provider(self, request: HttpRequest, code: str) -> HttpResponse:
        """The sign-in link of a company."""
        return provider_sign_in.leave(request, code)

    @always_calls_out
    @method_decorator(never_cache)
    def come_back_from_provider(self, request: HttpRequest) -> HttpResponse:
        """The address to which a company's provider sends people back."""
        return provider_sign_in.come_back(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the client whose rows the platform's staff have chosen to every template."""
        chosen = navigation.chosen_client(request)
        return {**super().each_context(request), "chosen_client": chosen}

    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Sets up or removes a person's own second factor."""
        return second_factor_pages.own_page(self, request)

    @method_decorator(never_cache)
    def login_code(self, request: HttpRequest) -> HttpResponse:
        """The second step of signing in, for people with a second factor."""
        return second_factor_pages.sign_in_page(self, request)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The home of the client or of the platform. Agents are redirected to their desk."""
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        if not user.is_superuser and user.role == Role.AGENT:
            return redirect("admin:desk")
        title = str(user.client) if user.client else gettext("Platform")
        return super().index(request, {"title": title, **(extra_context or {})})

    def desk(self, request: HttpRequest) -> HttpResponse:
        """The agents' desk, apart from the site's templates since it shows strangers' texts.

        An impersonation is redirected to the list of chats: an open desk would make the agent
        present.
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
        """Exchange the session for an API access token.

        A desk that nobody has used since its last token sends the header `Unattended`.
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
        """A person's own sign-ins, each with a button to end it."""
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
        """Whether an impersonation is active, so that nothing can be changed."""
        return viewing.is_viewing(request)

    def record_export(self, request: HttpRequest, noun: str, rows: Counter[int | None]) -> None:
        """Record the export of a list's rows in the audit log of each client that owns some."""
        user = request.user
        assert isinstance(user, User), "the site admits people alone"
        # An export without rows is recorded too.
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
        """Requests the mail with a reset link; the answer reveals no account."""
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
