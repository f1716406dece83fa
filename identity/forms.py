"""The site's forms for registrations, people, passwords and API keys."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from chatplatform.api.request_context import current_address
from chatplatform.form_fields import picture_field
from chatplatform.forms import ServiceForm
from identity.models import ApiKey, Client, KeyScope, Role, User
from identity.schemas.clients import MAX_DAILY_CREDITS
from identity.schemas.fields import time_zones
from identity.services import attempts, logins
from identity.services.bot_hooks import bots

# The default daily cap of a public key, in credits. It is half of a trial's credits, so that one
# day of misuse cannot use up a trial. It is enough for a small shop: 500 replies that quote
# content, or 50 of the most expensive replies from a model.
DEFAULT_DAILY_CREDITS = 500
_LIFETIMES = [
    (0, gettext_lazy("Never")),
    (30, gettext_lazy("In 30 days")),
    (90, gettext_lazy("In 90 days")),
    (365, gettext_lazy("In a year")),
]


def check_own_password(user: User, password: str) -> None:
    """Raise a ValidationError unless this is the user's password and the user may sign in with it.
    A wrong password counts as a failed sign-in, so that whoever finds an open session cannot guess
    the password without limit."""
    try:
        authenticated = logins.authenticate(
            email=user.email, password=password, address=current_address(), admits_staff=True
        )
    except (attempts.TooManyAttempts, logins.ProviderRequired) as exc:
        raise forms.ValidationError(gettext(str(exc))) from exc
    if authenticated is None:
        raise forms.ValidationError(gettext("Incorrect password."))


class CompanyForm(ServiceForm):
    """A new company and its owner."""

    company_name = forms.CharField(label=gettext_lazy("Company"), max_length=200)
    full_name = forms.CharField(
        label=gettext_lazy("Owner's name"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=gettext_lazy("Email address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=settings.LANGUAGES)


def new_password_field(label: Any) -> forms.CharField:
    """Return a new form field for a password that a person chooses."""
    return forms.CharField(
        label=label,
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=format_lazy(
            gettext_lazy("At least {count} characters. Don't use a common word or only numbers."),
            count=settings.MIN_PASSWORD,
        ),
    )


def token_field() -> forms.CharField:
    """Return a new hidden form field for the token of a mailed link. A script copies the token from
    the URL."""
    return forms.CharField(
        max_length=200,
        widget=forms.HiddenInput,
        error_messages={
            "required": gettext_lazy("Turn on JavaScript and open the link in your email again.")
        },
    )


class RegistrationForm(CompanyForm):
    """A company that registers itself; its time zone comes from the browser."""

    full_name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = new_password_field(gettext_lazy("Password"))
    timezone = forms.CharField(required=False, widget=forms.HiddenInput)
    field_order = ("company_name", "full_name", "email", "password", "language", "timezone")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Keep the typed password if another field has an error. This is safe, because the page is
        # never cached.
        password: Any = self.fields["password"].widget
        password.render_value = True

    def clean_password(self) -> str:
        """Check the password's strength here, so that all errors of the form show at once."""
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password

    def clean_timezone(self) -> str:
        """The browser's time zone, or UTC if the server does not know that zone. There is no error
        message, because people cannot correct a hidden field."""
        name: str = self.cleaned_data["timezone"]
        return name if name in time_zones() else "UTC"


class ResendForm(forms.Form):
    email = forms.EmailField(max_length=254)


class ConfirmForm(ServiceForm):
    """The token of a mailed link, and the password chosen at registration."""

    token = token_field()
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=gettext_lazy("The password you just chose."),
    )


class NewPasswordForm(ServiceForm):
    """The token of a mailed link, and the password that the person chooses."""

    token = token_field()
    new_password = new_password_field(gettext_lazy("New password"))


class RightsForm(ServiceForm):
    """A person's name and rights."""

    full_name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=[
            (Role.OWNER, gettext_lazy("Owner: full access, including other owners")),
            (Role.ADMIN, gettext_lazy("Admin: full access, except to owners")),
            (Role.AGENT, gettext_lazy("Agent: replies to customers")),
            (Role.VIEWER, gettext_lazy("Viewer: read-only")),
        ],
        initial=Role.AGENT,
    )
    can_train = forms.BooleanField(
        label=gettext_lazy("Can also train bots"),
        required=False,
        help_text=gettext_lazy("Can change what bots know and say. Owners and admins always can."),
    )

    def offer_roles(self, by: User) -> None:
        """Offer only the roles that `by` may give."""
        field: Any = self.fields["role"]
        may_make_owners = by.is_superuser or by.role == Role.OWNER
        self.offer(
            "role",
            [choice for choice in field.choices if may_make_owners or choice[0] != Role.OWNER],
        )


class InviteForm(RightsForm):
    email = forms.EmailField(label=gettext_lazy("Email address"), max_length=254)
    language = forms.ChoiceField(label=gettext_lazy("Email language"), choices=settings.LANGUAGES)
    field_order = ("email", "full_name", "role", "can_train", "language")


class PersonForm(RightsForm):
    """Changes a person. Only platform staff may change the email address and the language."""

    email = forms.EmailField(label=gettext_lazy("Email address"), max_length=254)
    language = forms.ChoiceField(label=gettext_lazy("Language"))
    field_order = ("full_name", "email", "language", "role", "can_train")

    def __init__(self, data: Any, *, person: User, by: User) -> None:
        super().__init__(data, initial={name: getattr(person, name) for name in self.base_fields})
        self.offer("language", languages_for(person))
        self.offer_roles(by)
        hidden = () if by.is_superuser else ("email", "language")
        for name in (*hidden, *(() if person.client_id else ("role", "can_train"))):
            del self.fields[name]


class ProfileForm(ServiceForm):
    """What people change in their own profile."""

    full_name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text=gettext_lazy("Shown to teammates and customers."),
    )
    avatar_url = forms.CharField(
        label=gettext_lazy("Photo URL"),
        max_length=500,
        required=False,
        help_text=gettext_lazy(
            "Filled in when you upload a photo. Clear it to remove the photo, which customers see"
            " next to your name."
        ),
    )
    field_order = ("full_name", "file", "avatar_url")
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        # Everything around the form is in another language then.
        widget=forms.Select(attrs={"data-reloads": ""}),
        help_text=gettext_lazy("Used for pages and emails."),
    )

    def __init__(self, *submitted: Any, person: User) -> None:
        stored = {name: getattr(person, name) for name in self.base_fields}
        super().__init__(*submitted, initial=stored | {"avatar_url": person.picture_url})
        self.offer("language", languages_for(person))
        self.add_field("file", picture_field(gettext("Photo"), person.avatar_file))
        self.order_fields(self.field_order)


def languages_for(person: User) -> list[tuple[str, str]]:
    """The site's languages as choices, and the person's own language even if the site does not have
    it."""
    site_languages = dict(settings.LANGUAGES)
    return [*({person.language: person.language} | site_languages).items()]


def daily_credits_field() -> forms.IntegerField:
    """Return a new form field for the daily cap of a public key."""
    return forms.IntegerField(
        label=gettext_lazy("Daily credit limit"),
        min_value=0,
        max_value=MAX_DAILY_CREDITS,
        required=False,
        initial=DEFAULT_DAILY_CREDITS,
        help_text=gettext_lazy(
            "For public keys: the most credits chats can use per day (UTC). When the limit is"
            " reached, conversations go to your team. Below 10, bots only quote your content."
            " Leave empty for no limit."
        ),
    )


def mcp_write_field() -> forms.BooleanField:
    """Return a new form field that says whether MCP clients may send messages with a secret key."""
    return forms.BooleanField(
        label=gettext_lazy("MCP clients can reply to customers"),
        required=False,
        help_text=gettext_lazy(
            "For secret keys: AI apps that use this key can message customers, not just read"
            " conversations and content."
        ),
    )


class KeyChangeForm(ServiceForm):
    """Changes a key's name, and its daily cap (public) or its right to write over MCP (secret)."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100)
    daily_credits = daily_credits_field()
    mcp_write = mcp_write_field()

    def __init__(self, data: Any, *, key: ApiKey) -> None:
        super().__init__(data, initial={name: getattr(key, name) for name in self.base_fields})
        del self.fields["mcp_write" if key.scope == KeyScope.PUBLIC else "daily_credits"]


class KeyForm(ServiceForm):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=100)
    scope = forms.ChoiceField(
        label=gettext_lazy("Type"),
        choices=[
            (KeyScope.SECRET, gettext_lazy("Secret: for your server, never shown to visitors")),
            (KeyScope.PUBLIC, gettext_lazy("Public: for the allowed websites below")),
        ],
    )
    bot_id = forms.TypedChoiceField(
        label=gettext_lazy("Bot"), coerce=int, empty_value=None, required=False
    )
    allowed_domain = forms.CharField(
        label=gettext_lazy("Allowed websites"),
        max_length=2000,
        required=False,
        help_text=gettext_lazy(
            "For public keys: where the chat can appear, such as shop.example or *.shop.example."
            " Applies to all of the bot's public keys. Leave empty to keep the current websites."
        ),
    )
    daily_credits = daily_credits_field()
    mcp_write = mcp_write_field()
    days = forms.TypedChoiceField(label=gettext_lazy("Expires"), choices=_LIFETIMES, coerce=int)

    def __init__(self, *args: Any, client: Client, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("bot_id", [("", gettext("All bots")), *bots().names(client).items()])

    def clean(self) -> dict[str, Any]:
        """Reset the field that does not apply to the chosen type of key. The form shows the fields
        of both types."""
        if self.cleaned_data.get("scope") == KeyScope.PUBLIC:
            self.cleaned_data["mcp_write"] = False
        else:
            self.cleaned_data["daily_credits"] = None
        return self.cleaned_data
