"""The forms of the site's pages about channels."""

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminRadioSelectWidget

from bots.services import bots
from chatplatform.channel_names import MessagingChannel
from chatplatform.forms import ServiceForm
from identity.models import Client, ClientConfig, User
from identity.schemas.configs import ClientConfigDto
from identity.services import configs

_LOGINS = [
    ("page", gettext_lazy("Linked to a Socialnet page")),
    ("direct", gettext_lazy("Not linked to a page")),
]


class ConsentForm(ServiceForm):
    """Asks which bot to connect. Also asks for the type of account if the channel offers a direct
    login, and for the token if the channel is connected with one."""

    bot_id = forms.TypedChoiceField(label=gettext_lazy("Which bot should answer?"), coerce=int)
    login = forms.ChoiceField(
        label=gettext_lazy("Account type"), choices=_LOGINS, widget=UnfoldAdminRadioSelectWidget
    )

    token = forms.CharField(
        label=gettext_lazy("Token"), max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip

    def __init__(
        self,
        *args: Any,
        client: Client,
        taken: set[int],
        offers_direct: bool,
        token_from: str,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        free = [(pk, name) for pk, name in bots.names(client).items() if pk not in taken]
        self.offer("bot_id", free)
        if not offers_direct:
            del self.fields["login"]
        if not token_from:
            del self.fields["token"]


class AccountForm(ServiceForm):
    """Lets a person choose one of the accounts they gave access to; for chatapp, with a PIN."""

    account_id = forms.ChoiceField(
        label=gettext_lazy("Account"),
        widget=UnfoldAdminRadioSelectWidget,
        error_messages={"required": gettext_lazy("Choose an account.")},
    )
    pin = forms.CharField(
        label=gettext_lazy("Phone number PIN"),
        required=False,
        max_length=6,
        help_text=gettext_lazy(
            "Six digits. Only for numbers that haven't been used with an app. Enter the number's"
            " PIN, or choose a new one."
        ),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(
        self, *args: Any, accounts: list[tuple[str, str]], has_pin: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.offer("account_id", accounts)
        if len(accounts) == 1:
            self.initial.setdefault("account_id", accounts[0][0])
        if not has_pin:
            del self.fields["pin"]

    def hide_pin(self) -> None:
        """Hide the PIN until an error says that this number needs one; few numbers do."""
        if "pin" in self.fields and "pin" not in self.errors:
            self.fields["pin"].widget = forms.HiddenInput()


# The categories by which chatapp charges for messages.
_CATEGORIES = {
    "service": gettext_lazy("Service (replies within 24 hours)"),
    "utility": gettext_lazy("Utility templates (such as order updates)"),
    "marketing": gettext_lazy("Marketing templates (such as offers)"),
    "authentication": gettext_lazy("Authentication (one-time passwords)"),
}


class CostsForm(ServiceForm):
    """Sets whether messages about handovers and business hours are sent on a channel, and what its
    messages cost."""

    are_sentences_sent = forms.BooleanField(
        label=gettext_lazy("Send messages about handovers and business hours"),
        required=False,
        help_text=gettext_lazy("If off, only your team sees them, as notes."),
    )

    def __init__(self, data: Any, *, config: ClientConfig, channel: MessagingChannel) -> None:
        self.config, self.channel = config, channel
        self.categories = _CATEGORIES if channel == "chatapp" else {}
        stored = {"are_sentences_sent": channel not in config.silent_channels}
        super().__init__(data, initial=stored | config.message_prices)
        for name, label in self.categories.items():
            price = forms.FloatField(label=label, min_value=0, max_value=1_000_000, required=False)
            price.widget.attrs["step"] = "any"
            self.add_field(name, price)

    def save(self, data: dict[str, Any], *, by: User) -> ClientConfig:
        """Save the client's settings for this channel. A price left empty is removed."""
        silent = {*self.config.silent_channels} - {self.channel}
        if not data["are_sentences_sent"]:
            silent.add(self.channel)
        prices = {**self.config.message_prices, **{name: data[name] for name in self.categories}}
        known = {name: price for name, price in prices.items() if price is not None}
        body = ClientConfigDto.model_validate(
            {"silent_channels": sorted(silent), "message_prices": known}
        )
        return configs.update(self.config, body, by=by)


def taken_account_label(name: str, bot_name: str) -> str:
    """The label of an account that another bot uses."""
    return gettext("%(account)s (connected to %(bot)s)") % {"account": name, "bot": bot_name}
