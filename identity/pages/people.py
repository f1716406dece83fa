"""The Team pages: the list of people, the page of a person, and the invitation."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import CharField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import TenantAdmin, button, column, viewer
from chatplatform.api.errors import Forbidden
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.dates import when
from identity import forms
from identity.models import AuditEvent, Role, User
from identity.pages.settings.base import Part, show, submitted_values
from identity.schemas.users import UserDto
from identity.services import impersonation, users

_OWN_FIELDS = ("email", "full_name", "language")
ROLES = {
    Role.OWNER: gettext_lazy("Owner"),
    Role.ADMIN: gettext_lazy("Admin"),
    Role.AGENT: gettext_lazy("Agent"),
    Role.VIEWER: gettext_lazy("Viewer"),
}


@dataclass(frozen=True)
class AccountAction:
    """An action on a person's account: the button's label, the description, the service to call,
    the message after success, and whether a given person's page offers the action."""

    button: Any
    description: Any
    act: Callable[..., object]
    done: Any
    applies_to: Callable[[User], bool]


ACCOUNT_ACTIONS = {
    "invite": AccountAction(
        gettext_lazy("Resend invitation"),
        gettext_lazy("Emails a new link to choose a password. Earlier links will stop working."),
        users.invite_again,
        gettext_lazy("Invitation resent."),
        lambda person: person.is_invited,
    ),
    "reset": AccountAction(
        gettext_lazy("Send password reset"),
        gettext_lazy("Emails a link to choose a new password."),
        users.send_reset_link,
        gettext_lazy("Password reset sent."),
        lambda person: person.has_usable_password() and person.client_id is not None,
    ),
    "unlock": AccountAction(
        gettext_lazy("Unlock"),
        gettext_lazy("Lets someone try again after too many wrong passwords."),
        users.unlock,
        gettext_lazy("Unlocked. They can try again."),
        lambda person: not person.is_invited,
    ),
    "second_factor": AccountAction(
        gettext_lazy("Reset two-factor authentication"),
        gettext_lazy(
            "For a lost phone. They'll be signed out everywhere and can sign in with just their"
            " password. Make sure the request comes from them."
        ),
        users.reset_second_factor,
        gettext_lazy("Two-factor authentication was reset."),
        lambda person: hasattr(person, "second_factor"),
    ),
    "sign_out": AccountAction(
        gettext_lazy("Sign out everywhere"),
        gettext_lazy("For a lost or stolen device. They can sign in again with their password."),
        users.sign_out_everywhere,
        gettext_lazy("They've been signed out everywhere."),
        lambda person: not person.is_invited,
    ),
    "disable": AccountAction(
        gettext_lazy("Disable"),
        gettext_lazy(
            "They'll be signed out right away and won't be able to sign in. Their conversations"
            " will return to the queue. You can enable them again."
        ),
        lambda person, by: users.set_person_disabled(person, is_disabled=True, by=by),
        gettext_lazy("They can no longer sign in."),
        lambda person: not person.is_disabled,
    ),
    "enable": AccountAction(
        gettext_lazy("Enable"),
        gettext_lazy("They can sign in again."),
        lambda person, by: users.set_person_disabled(person, is_disabled=False, by=by),
        gettext_lazy("They can sign in again."),
        lambda person: person.is_disabled,
    ),
}


@admin.register(User)
class UserAdmin(TenantAdmin):
    """Clients' people and platform staff. They are disabled instead of deleted, so that their
    actions stay visible."""

    list_display = ("full_name", "email", "client", "role_name", "state", "signed_in_at")
    list_filter = ("role", "is_disabled")
    more_columns = ("language", "can_train", "has_second_factor", "created_at")
    list_select_related = ("client", "second_factor")
    search_fields = ("email", "full_name", "client__name")
    labels: ClassVar = {"full_name": gettext_lazy("Name"), "email": gettext_lazy("Email")}
    actions_list = ("invite",)
    actions_detail = ("view_as",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        reinvitations = AuditEvent.objects.filter(
            client_id=OuterRef("client_id"),
            subject=Concat(Value("user:"), Cast(OuterRef("pk"), CharField())),
            action="user.invited_again",
        )
        reinvited_at = Subquery(reinvitations.order_by("-id").values("created_at")[:1])
        people: QuerySet[Any] = super().get_queryset(request)
        annotated: QuerySet[Any] = people.annotate(
            invited_at=Coalesce(reinvited_at, "created_at"),
            may_resend=Value(self.has_manage_permission(request)),
        )
        return annotated

    @column(gettext_lazy("Role"), ordering="role")
    def role_name(self, person: User) -> str:
        if person.client_id is None:
            return gettext("Platform staff")
        name = str(ROLES[Role(person.role)])
        trains = person.can_train and not person.is_admin
        return gettext("%(role)s, can train bots") % {"role": name} if trains else name

    @column(gettext_lazy("Status"), ordering="is_disabled")
    def state(self, person: Any) -> SafeString:
        """The person's status as HTML: active, disabled or invited. An invited person's status also
        says how long ago they were invited, with a "Resend" button if the viewer may invite."""
        return render_to_string(
            "admin/identity/person_state.html",
            {
                "person": person,
                "is_new": timezone.now() - person.invited_at < timedelta(minutes=1),
                "since": timesince(person.invited_at, depth=1),
            },
        )

    @column(gettext_lazy("Last sign-in"), ordering="last_login")
    def signed_in_at(self, person: User) -> SafeString | str:
        return when(person.last_login)

    @column(gettext_lazy("Two-factor authentication"))
    def has_second_factor(self, person: User) -> str:
        return gettext("Yes") if hasattr(person, "second_factor") else gettext("No")

    def has_view_as_permission(self, request: HttpRequest, row_id: Any = None) -> bool:
        """Whether the viewer is platform staff and this person, if one is given, may be
        impersonated."""
        may = self.has_platform_permission(request)
        return may and (
            row_id is None or impersonation.can_be_impersonated(self.row(request, row_id))
        )

    @button(
        gettext_lazy("View as this person"),
        permissions=["view_as"],
        url_path="view-as",
        icon="visibility",
    )
    def view_as(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Impersonate this person until the viewer leaves or signs out."""
        person: User = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            assert request.session.session_key, "whoever is signed in has a session"
            impersonation.begin(request.session.session_key, person, by=viewer(request))
            return redirect("admin:index")

        return self.confirm_page(
            request, act,
            title=gettext("View as %(name)s") % {"name": person.full_name},
            button=gettext("View as this person"),
            intro=gettext(
                "You'll see what %(email)s at %(company)s sees, but you can't make changes. The"
                " company's audit log records when you start and stop."
            )
            % {"email": person.email, "company": person.client},
        )  # fmt: skip

    @button(gettext_lazy("Invite teammate"), permissions=["create"], icon="person_add")
    def invite(self, request: HttpRequest) -> HttpResponse:
        """Invite a teammate by mail, with a link to choose a password."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            person = UserDto(**data)
            fields = person.model_dump(include=set(data))
            users.create(by.client, **fields, password=None, by=by)
            text = gettext("Invitation sent to %(email)s.")
            messages.success(request, text % {"email": person.email})
            return redirect("admin:identity_user_changelist")

        form = forms.InviteForm(request.POST or None, initial={"language": by.language})
        form.offer_roles(by)
        title, text = gettext("Invite teammate"), gettext("Send invitation")
        return self.form_page(request, form, act, title=title, button=text)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The page of a person: profile, rights, and actions on the account."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        person: Any = self.row(request, object_id)
        person.may_resend = False  # the page has a form for it
        by, parts = viewer(request), {}
        if self._may_change(by, person):
            parts = {
                name: Part(
                    name, action.description, ServiceForm(submitted_values(request, name)),
                    _action_handler(action, person, by), button=action.button, done=action.done,
                )
                for name, action in ACCOUNT_ACTIONS.items()
                if action.applies_to(person)
            }  # fmt: skip
            form = forms.PersonForm(submitted_values(request, "person"), person=person, by=by)
            parts["person"] = Part("person", "", form, _save_handler(form, person, by))
        link = reverse("admin:identity_user_view_as", args=[person.pk])
        view_as = {"title": gettext("View as this person"), "link": link, "icon": "visibility"}
        return show(
            self.admin_site, request, person.full_name or person.email, [*parts.values()],
            template="identity/person",
            person=person, state=self.state(person), role=self.role_name(person),
            has_second_factor=self.has_second_factor(person),
            page=self, row=person, may_read_log=by.is_superuser or by.is_admin,
            actions=[view_as] if self.has_view_as_permission(request, object_id) else [],
        )  # fmt: skip

    def _may_change(self, by: User, person: User) -> bool:
        try:
            users.check_may_change(by, person)
        except Forbidden:
            return False
        return True


def _action_handler(
    action: AccountAction, person: User, by: User
) -> Callable[[dict[str, Any]], object]:
    return lambda data: action.act(person, by=by)


def _save_handler(form: ServiceForm, person: User, by: User) -> Callable[[dict[str, Any]], object]:
    """Return a function that saves the form of a person: the name, the rights, and the fields that
    only platform staff may change."""

    def act(data: dict[str, Any]) -> None:
        fields = {name: data.get(name, getattr(person, name)) for name in _OWN_FIELDS}
        changed = form.only_changed(UserDto(**fields).model_dump(include=set(fields)))
        # If one service refuses, the changes made by the other are rolled back.
        with transaction.atomic():
            users.update(person, changed, by=by)
            if person.client and {"role", "can_train"}.intersection(form.changed_data):
                rights = {name: data[name] for name in ("role", "can_train")}
                users.set_role(person.client, user_id=person.pk, **rights, by=by)

    return act
