"""The site's forms for companies, people, keys, credits and chat settings."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext, gettext_lazy

from chatplatform.api.request_context import current_address
from chatplatform.forms import ServiceForm
from identity.models import Client, ClientConfig, KeyScope, Role, User
from identity.services import attempts, logins
from identity.services.bot_hooks import bots
from identity.shapes.clients import MAX_DAILY_CREDITS
from identity.shapes.fields import time_zones

# Default cap of a public key. A day's misuse costs at most half of a trial's credits, and a small
# shop's day fits: 500 quoted replies, or 50 of a model's most expensive replies.
PAGES_DAILY_CREDITS = 500
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


ASKS_AGAIN = gettext_lazy("First ask the customer to rephrase, and offer headings and a person")
ASKS_AGAIN_CHOICES = [
    ("", gettext_lazy("In the widget and on messaging channels")),
    ("true", gettext_lazy("In all chats")),
    ("false", gettext_lazy("Never")),
]


def asks_again(config: ClientConfig) -> str:
    """The key in ASKS_AGAIN_CHOICES that matches the client's setting."""
    chosen = config.ask_again_before_handoff
    return "" if chosen is None else str(chosen).lower()


class AnsweringForm(ServiceForm):
    """How bots answer, and what they do about questions that they cannot answer."""

    handoff_on_no_answer = forms.BooleanField(
        label=gettext_lazy("Hand the chat over if the bot has no answer"), required=False
    )
    ask_again_before_handoff = forms.TypedChoiceField(
        label=ASKS_AGAIN,
        choices=ASKS_AGAIN_CHOICES,
        coerce=lambda chosen: chosen == "true",
        empty_value=None,
        required=False,
    )
    answer_while_waiting = forms.BooleanField(
        label=gettext_lazy("Keep answering from the documents while a chat waits for an agent"),
        required=False,
    )
    confirm_answers = forms.BooleanField(
        label=gettext_lazy("Have the model check each answer that it writes"),
        required=False,
        help_text=gettext_lazy(
            "The model is asked again whether the passages support what it wrote, because an"
            " invented answer can sound right. Each answer takes longer and costs a second request."
            " Without a model this changes nothing."
        ),
    )


# Labels of the chat settings that have no form.
CHAT_SETTINGS = {
    "business_hours": gettext_lazy("Business hours"),
    "holidays": gettext_lazy("Holidays"),
    "out_of_hours_message": gettext_lazy("Message outside business hours"),
    "assign_strategy": gettext_lazy("How waiting chats are assigned"),
    "agent_capacity": gettext_lazy("Most open chats per agent"),
    "handoff_on_request": gettext_lazy("Hand the chat over if the customer asks for a person"),
    "handoff_message": gettext_lazy("Message when a chat is handed over"),
    "system_messages": gettext_lazy("Bot messages that you replaced"),
    "answer_threshold": gettext_lazy("Minimum confidence of an answer (0 to 1)"),
    "fallback_to_extractive": gettext_lazy("Quote the documents if the model fails"),
    "burst_wait_ms": gettext_lazy("Wait for further messages before a reply (milliseconds)"),
    "inactivity_end_minutes": gettext_lazy("Minutes without a message that end a chat"),
    "reopen_window_minutes": gettext_lazy("Minutes after its end in which a message reopens it"),
    "reuse_open": gettext_lazy("One open chat for each customer"),
    "ask_feedback": gettext_lazy("Ask for a rating when a chat has ended"),
    "feedback_edit_minutes": gettext_lazy("Minutes in which a rating may be changed"),
    "first_response_target_seconds": gettext_lazy("Target for the first reply (seconds)"),
    "auto_summary": gettext_lazy("Summarise ended chats"),
    "auto_tag": gettext_lazy("Tag chats by topic"),
    "auto_sentiment": gettext_lazy("Estimate customers' sentiment"),
    "auto_translate": gettext_lazy("Translate messages"),
    "mask_personal_data": gettext_lazy("Mask personal data before a model reads it"),
    "retention_days": gettext_lazy("Days that ended chats are kept"),
}


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


class OrderForm(ServiceForm):
    amount = forms.IntegerField(label="Credits", min_value=1, max_value=1_000_000)
    reference = forms.CharField(
        label="Reference",
        max_length=200,
        help_text="Identifies the purchase, such as the invoice number. Repeating it does not"
        " create a second order.",
    )
