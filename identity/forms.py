"""The site's forms for companies, people, keys, credits and chat settings."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext, gettext_lazy, ngettext

from chatplatform.api.request_context import current_address
from chatplatform.forms import ServiceForm
from identity.models import Client, KeyScope, Role, User
from identity.services import attempts, logins
from identity.services.bot_hooks import bots
from identity.shapes.clients import MAX_DAILY_CREDITS
from identity.shapes.fields import time_zones

# Default cap of a public key. A day's misuse costs at most half of a trial's credits, and a small
# shop's day fits: 500 quoted replies, or 50 of a model's most expensive replies.
PAGES_DAILY_CREDITS = 500
# The fewest characters of a password, as in the shape of a registration.
MIN_PASSWORD = 10
_LIFETIMES = [(0, "Never"), (30, "In 30 days"), (90, "In 90 days"), (365, "In a year")]


def check_own_password(user: User, password: str) -> None:
    """Raise a ValidationError unless this is the password of the signed-in person. A wrong one
    counts as a failed sign-in, so that an open session does not help to guess it."""
    try:
        known = logins.authenticate(
            email=user.email, password=password, address=current_address(), admits_staff=True
        )
    except (attempts.TooManyAttempts, logins.ProviderRequired) as exc:
        raise forms.ValidationError(gettext(str(exc))) from exc
    if known is None:
        raise forms.ValidationError(gettext("This is not your password."))


class CompanyForm(ServiceForm):
    """A new company, and its owner."""

    company_name = forms.CharField(label=gettext_lazy("Company"), max_length=200)
    full_name = forms.CharField(
        label=gettext_lazy("Name of the owner"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=settings.LANGUAGES)


class RegistrationForm(CompanyForm):
    """A company that registers itself; its time zone comes from the browser."""

    full_name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("At least 10 characters, not a common word and not only digits."),
    )
    timezone = forms.CharField(required=False, widget=forms.HiddenInput)
    field_order = ("company_name", "full_name", "email", "password", "language", "timezone")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A mistake in another field does not cost the password; the page is never cached.
        password: Any = self.fields["password"].widget
        password.render_value = True

    def clean_password(self) -> str:
        """The password, judged together with the other fields."""
        password: str = self.cleaned_data["password"]
        if len(password) < MIN_PASSWORD:
            words = ngettext(
                "At least {count} character", "At least {count} characters", MIN_PASSWORD
            )
            raise forms.ValidationError(words.format(count=MIN_PASSWORD))
        validate_password(password)
        return password

    def clean_timezone(self) -> str:
        """The browser's time zone, or UTC if we do not know it: the field is hidden."""
        name: str = self.cleaned_data["timezone"]
        return name if name in time_zones() else "UTC"


class ResendForm(forms.Form):
    email = forms.EmailField(max_length=254)


class ConfirmForm(ServiceForm):
    """The token, which a script reads from the link's address, and the password."""

    token = forms.CharField(
        max_length=200,
        widget=forms.HiddenInput,
        error_messages={
            "required": gettext_lazy(
                "Open this page with the link in the mail, with JavaScript enabled."
            )
        },
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=gettext_lazy("The password that you have just chosen."),
    )


class InviteForm(ServiceForm):
    email = forms.EmailField(label="E-mail address", max_length=254)
    full_name = forms.CharField(label="Name", max_length=200)
    role = forms.ChoiceField(
        label="Role",
        choices=Role,
        initial=Role.AGENT,
        help_text="Owners and admins can do everything, agents answer chats, viewers can only read."
        " Only an owner can add another owner.",
    )
    can_train = forms.BooleanField(label="Can also train bots", required=False)
    language = forms.ChoiceField(label="Language of their mails", choices=settings.LANGUAGES)


def daily_credits_field() -> forms.IntegerField:
    """A form field for the daily cap of a public key; each form needs a new one."""
    return forms.IntegerField(
        label="Credits a day",
        min_value=0,
        max_value=MAX_DAILY_CREDITS,
        required=False,
        initial=PAGES_DAILY_CREDITS,
        help_text="For a public key: what its chats may cost in a day (UTC). When the limit is"
        " reached, conversations go to your team. Below 10, bots only quote. Leave empty for no"
        " limit.",
    )


class DailyCreditsForm(ServiceForm):
    daily_credits = daily_credits_field()


class KeyForm(ServiceForm):
    name = forms.CharField(label="Name", max_length=100)
    scope = forms.ChoiceField(
        label="Kind",
        choices=[
            (KeyScope.SECRET, "Secret: for your server, never shown to visitors"),
            (KeyScope.PUBLIC, "Public: for the allowed websites below"),
        ],
    )
    bot_id = forms.TypedChoiceField(label="Bot", coerce=int, empty_value=None, required=False)
    allowed_domain = forms.CharField(
        label="Allowed websites",
        max_length=2000,
        required=False,
        help_text="For a public key: where it works, such as shop.example or *.shop.example. They"
        " apply to the whole bot. Leave empty to keep the current ones.",
    )
    daily_credits = daily_credits_field()
    days = forms.TypedChoiceField(label="Expires", choices=_LIFETIMES, coerce=int)

    def __init__(self, *args: Any, client: Client, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("bot_id", [("", "Every bot"), *bots().names(client).items()])

    def clean(self) -> dict[str, Any]:
        """Drop the cap of a secret key: the form offers one before it knows the kind of key."""
        if self.cleaned_data.get("scope") != KeyScope.PUBLIC:
            self.cleaned_data["daily_credits"] = None
        return self.cleaned_data
