"""The admin site for platform staff and clients' people: its URLs, its access checks, and the views
for sign-in, the home page, the desk, and a person's own password and sign-ins."""

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

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
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.generic import TemplateView
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm
from unfold.sites import UnfoldAdminSite

from chatplatform import navigation
from chatplatform.admin_base import is_impersonated, viewer
from chatplatform.api.errors import Forbidden
from identity.forms import check_own_password
from identity.models import Role, SavedView, User
from identity.pages import (
    impersonation,
    mailed_links,
    profile,
    registration,
    saved_views,
    sso,
)
from identity.pages import second_factor as second_factor_pages
from identity.services import (
    attempts,
    audit,
    logins,
    second_factor,
    site_sessions,
    time_zones,
    tokens,
    users,
)
from identity.services import saved_views as saved_view_services
from identity.services.impersonation import REFUSED
from identity.services.move_freeze import ensure_not_frozen

# Views that platform staff can reach before they have set up a required second factor.
_BEFORE_SECOND_FACTOR = {"second_factor", "logout", "jsi18n"}

# The desk's Content-Security-Policy: only our own scripts run, nothing loads from elsewhere, and
# scripts cannot insert text as markup.
DESK_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self';"
    " img-src 'self' blob:; media-src 'self'; manifest-src 'self'; worker-src 'self';"
    " base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'"
)

# The views of the Settings pages, as import paths, since `identity` must not import some of them.
SETTINGS_PAGES = {
    "company": "bots.pages.settings_company.page",
    "hours": "identity.pages.settings.business_hours.page",
    "handover": "bots.pages.settings_handover.page",
    "messages": "chats.pages.automated_messages.page",
    "after": "identity.pages.settings.conversations.after_conversation",
    "notifications": "identity.pages.settings.notifications.page",
    "privacy": "identity.pages.settings.privacy.page",
    "plan": "identity.pages.settings.plan.page",
    "security": "identity.pages.settings.security.page",
}


class SignInForm(AuthenticationForm):
    """Asks for the email address and the password. Shows an error after too many failures, or if
    the person must sign in at the company's own provider."""

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
    """The sign-in page. After signing in, people go to the page that they requested or to their
    home page."""

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
    """Asks for the current password and a new one. A wrong current password counts as a failed
    sign-in."""

    user: User

    def clean_old_password(self) -> str:
        given: str = self.cleaned_data["old_password"]
        check_own_password(self.user, given)
        return given


class OwnPassword(PasswordChangeView):
    """Changes a person's own password and ends every other sign-in, as the API does."""

    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")
    template_name = "registration/password_change_form.html"

    def form_valid(self, form: Any) -> HttpResponse:
        person = users.set_own_password(form.user, form.cleaned_data["new_password1"])
        site_sessions.begin(self.request, person)
        return redirect(str(self.success_url))


def _file(name: str, content_type: str) -> Any:
    """A public view that renders a file, such as a script, from a template; never cached."""
    view = TemplateView.as_view(template_name=f"admin/{name}", content_type=content_type)
    return never_cache(view)


class Site(UnfoldAdminSite):
    """Django's admin site for platform staff and clients' users."""

    login_form = SignInForm

    def extra_urls(self) -> list[URLPattern]:
        signed_in, public = self.admin_view, self._public_view
        forgot_password = public(mailed_links.forgot_password)
        second_factor_page = functools.partial(second_factor_pages.own_page, self)
        return [
            path("desk/", signed_in(self.desk), name="desk"),
            path("desk/token/", signed_in(self.desk_token), name="desk_token"),
            # Browsers fetch the next two files by themselves, even after a sign-out.
            path("desk/worker.js", _file("desk_worker.js", "text/javascript"), name="desk_worker"),
            path(
                "desk/app.webmanifest",
                _file("desk.webmanifest", "application/manifest+json"),
                name="desk_manifest",
            ),
            path("profile/", signed_in(functools.partial(profile.page, self)), name="profile"),
            path("sign-ins/", signed_in(self.sign_ins), name="sign_ins"),
            path("second-factor/", signed_in(second_factor_page), name="second_factor"),
            path("views/save/", signed_in(saved_views.save), name="save_view"),
            path("views/delete/", signed_in(saved_views.delete), name="delete_view"),
            path("view/leave/", signed_in(impersonation.leave), name="leave_view"),
            path("login/code/", public(second_factor_pages.sign_in_page), name="login_code"),
            path("register/", public(registration.page), name="register"),
            path("register/again/", public(registration.send_again), name="register_again"),
            path("register/confirm/", public(registration.confirm), name="register_confirm"),
            path("choose-password/", public(mailed_links.choose_password), name="choose_password"),
            path("sign-in/", public(mailed_links.sign_in_link), name="ask_sign_in_link"),
            path(
                "sign-in/<slug:code>/",
                public(sso.start_page),
                name="sso_start",
            ),
            path("signed-in/", public(sso.callback), name="sso_callback"),
            *self._settings_urls(),
            # Unfold's sign-in template links to the path with this name.
            path("forgot-password/", forgot_password, name="admin_password_reset"),
        ]

    def _settings_urls(self) -> list[URLPattern]:
        urls = []
        for name, import_path in SETTINGS_PAGES.items():
            page = import_string(import_path)
            view = functools.update_wrapper(functools.partial(page, self), page)
            urls.append(path(f"settings/{name}/", self.admin_view(view), name=f"settings_{name}"))
        return urls

    def _public_view(self, view: Callable[..., HttpResponse]) -> Any:
        """Wrap a view that needs no sign-in, so that it is never cached and is protected against
        CSRF."""
        # Keep the view's attributes, such as whether it makes outgoing calls.
        wrapped = functools.update_wrapper(functools.partial(view, self), view)
        return never_cache(csrf_protect(wrapped))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Wrap a view that needs a sign-in. Platform staff who lack a required second factor are
        redirected to set it up. During an impersonation, writes, the views of a person's own
        account and tokens for the desk are refused. For people of a frozen client, everything is
        refused."""
        admin_view = super().admin_view(view, cacheable)

        @functools.wraps(admin_view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            match, user = request.resolver_match, request.user
            is_exempt = match is not None and match.url_name in _BEFORE_SECOND_FACTOR
            if not is_exempt and isinstance(user, User) and second_factor.is_missing(user):
                return redirect("admin:second_factor")
            if impersonation.is_closed(request):
                raise Forbidden(REFUSED)
            if isinstance(user, User):
                ensure_not_frozen(user.client)
            try:
                response = admin_view(request, *args, **kwargs)
            except InternalError as exc:
                if not impersonation.is_write(exc):
                    raise
                raise Forbidden(REFUSED) from exc
            if response.status_code == 302 and "Background" in request.headers:
                # A script sent the form. It decides whether to follow the redirect.
                return HttpResponse(status=204, headers={"Location": response["Location"]})
            return response

        return guarded

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add to every template the client that platform staff filter by (`chosen_client`), and the
        place whose time the pages show (`zone_place`)."""
        chosen = navigation.chosen_client(request)
        client = getattr(request.user, "client", None)
        place = time_zones.place(client.timezone) if client else ""
        return {**super().each_context(request), "chosen_client": chosen, "zone_place": place}

    def page(
        self, request: HttpRequest, template: str, title: str, *, status: int = 200, **context: Any
    ) -> TemplateResponse:
        """A page of the site with its own template and title."""
        full_context = self.each_context(request) | {"title": title, **context}
        return TemplateResponse(request, f"admin/{template}.html", full_context, status=status)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The home page of the client or of the platform. Agents are redirected to their desk."""
        user = viewer(request)
        if not user.is_superuser and user.role == Role.AGENT:
            return redirect("admin:desk")
        title = str(user.client) if user.client else gettext("Platform")
        return super().index(request, {"title": title, **(extra_context or {})})

    def desk(self, request: HttpRequest) -> HttpResponse:
        """The agents' desk. It shows texts from strangers, so it has a strict
        Content-Security-Policy. During an impersonation, it redirects to the list of chats, because
        an open desk would make the agent appear present."""
        if is_impersonated(request):
            return redirect("admin:chats_conversation_changelist")
        user = viewer(request)
        get_token(request)  # sets the CSRF cookie, which the page needs to request its token
        context = {"has_desk": user.client_id is not None, "max_files": settings.MAX_MESSAGE_FILES}
        page = render(request, "admin/desk.html", context)
        page["Content-Security-Policy"] = DESK_POLICY
        return page

    def desk_token(self, request: HttpRequest) -> HttpResponse:
        """Return an API access token for the session. A desk that nobody has used since it got its
        last token sends the header `Unattended`."""
        user = viewer(request)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if user.client_id is None:
            raise PermissionDenied
        session = request.session
        assert isinstance(session, site_sessions.SessionStore), "SESSION_ENGINE sets it"
        session.is_unattended = "Unattended" in request.headers
        lifetime = int(settings.ACCESS_TOKEN_LIFETIME.total_seconds())
        token = site_sessions.access_token(request, user)
        return JsonResponse({"access_token": token, "expires_in": lifetime})

    def sign_ins(self, request: HttpRequest) -> HttpResponse:
        """A person's own sign-ins, each with a button to end it."""
        user, current = viewer(request), request.session.session_key
        if request.method == "POST":
            if site_sessions.end_own(user, request.POST.get("end", "")):
                messages.success(request, gettext("Signed out."))
            return redirect("admin:sign_ins")
        listed = site_sessions.list_own(user, current=current)
        return self.page(request, "sign_ins", gettext("Active sessions"), sign_ins=listed)

    def saved_views_of(self, request: HttpRequest, page: str) -> list[tuple[SavedView, bool]]:
        """The saved views of a list that the viewer may use, each with a flag that says whether the
        viewer may delete it."""
        user = viewer(request)
        return saved_view_services.visible_to(user, page)

    def record_export(self, request: HttpRequest, noun: str, rows: Counter[int | None]) -> None:
        """Record the export of a list in the audit log of each client that owns some of the rows.
        `rows` maps each client's id to its number of rows."""
        user = viewer(request)
        # An export without rows is recorded too.
        for client_id, count in (rows or {user.client_id: 0}).items():
            audit.record_export(client_id, noun, by=user, rows=count)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "GET" and self.has_permission(request):
            return redirect("admin:index")
        context = {
            **self.each_context(request),
            "title": gettext("Sign in"),
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
