"""The forms that put a bot on a website."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from bots.services import bots, install
from bots.shapes.bot import BotDto
from identity.forms import daily_credits_field
from identity.models import ApiKey, User
from identity.services import api_keys
from identity.shapes.clients import ApiKeyDto


class HostsForm(BotForm):
    heading = gettext_lazy("Allowed websites")
    allowed_domain = forms.CharField(
        label=gettext_lazy("Allowed websites"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "www.shop.example"}),
        help_text=gettext_lazy(
            "Where the chat may be shown, one per line. *.shop.example includes all its subdomains."
        ),
    )

    def stored(self) -> dict[str, Any]:
        return {"allowed_domain": self.bot.allowed_domain.replace(",", "\n")}

    def clean_allowed_domain(self) -> str:
        """The hosts of what was entered: people paste whole addresses."""
        parts = re.split(r"[\s,;]+", self.cleaned_data["allowed_domain"])
        return ",".join(_host_of(part) for part in parts if part)

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        return bots.update(self.bot, body=BotDto(**data), by=by)


def _host_of(address: str) -> str:
    """The host of a pasted address; what has none is left to the service to refuse."""
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname
    except ValueError:
        host = None
    return host or address


class DailyCreditsForm(BotForm):
    heading = gettext_lazy("Daily limit")
    daily_credits = daily_credits_field()

    def add_fields(self) -> None:
        self.fields["daily_credits"].help_text = gettext(
            "What the chats on this website may cost in a day (UTC). When the limit is reached,"
            " conversations go to your team. Below 10, the bot only quotes. Leave empty for no"
            " limit."
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        self.key: ApiKey | None = None
        super().__init__(*args, **options)

    def stored(self) -> dict[str, Any]:
        self.key = install.find_key(self.bot)
        return {"daily_credits": self.key.daily_credits if self.key else None}

    def submit(self, data: dict[str, Any], by: User) -> ApiKey:
        assert self.key, "the page creates it"
        return api_keys.change(
            self.bot.client, api_key_id=self.key.pk, change=ApiKeyDto(**data), by=by
        )
