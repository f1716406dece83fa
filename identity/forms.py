"""The forms of the site's pages about people, keys and credits."""

from typing import Any

from django import forms

from chatplatform.forms import ServiceForm
from identity.models import Client, KeyScope, Role
from identity.services.bot_hooks import bots

_LANGUAGES = [("en", "English"), ("vi", "Tiếng Việt")]
_LIFETIMES = [(0, "Never"), (30, "In 30 days"), (90, "In 90 days"), (365, "In a year")]


class InviteForm(ServiceForm):
    email = forms.EmailField(label="E-mail address", max_length=254)
    full_name = forms.CharField(label="Name", max_length=200)
    role = forms.ChoiceField(
        label="Role",
        choices=Role,
        initial=Role.AGENT,
        help_text="Owners and admins may everything, agents answer chats, viewers read. Only an"
        " owner makes an owner.",
    )
    can_train = forms.BooleanField(label="May train bots, whatever the role", required=False)
    language = forms.ChoiceField(label="Language of their mails", choices=_LANGUAGES)


class KeyForm(ServiceForm):
    name = forms.CharField(label="What it is for", max_length=100)
    scope = forms.ChoiceField(
        label="Kind",
        choices=[
            (KeyScope.SECRET, "Secret: for your server, which keeps it to itself"),
            (KeyScope.PUBLIC, "Public: for a web page, on the hosts below"),
        ],
    )
    bot_id = forms.TypedChoiceField(label="Bot", coerce=int, empty_value=None, required=False)
    allowed_domain = forms.CharField(
        label="Hosts of your pages",
        max_length=2000,
        required=False,
        help_text="For a public key: where it works, such as shop.example or *.shop.example. They"
        " are the bot's; empty: they stay as they are.",
    )
    days = forms.TypedChoiceField(label="It ends", choices=_LIFETIMES, coerce=int)

    def __init__(self, *args: Any, client: Client, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("bot_id", [("", "Every bot"), *bots().names(client).items()])


class OrderForm(ServiceForm):
    amount = forms.IntegerField(label="Credits", min_value=1, max_value=1_000_000)
    reference = forms.CharField(
        label="Reference",
        max_length=200,
        help_text="Names the purchase, such as the invoice's number. The same one again makes no"
        " second order.",
    )
