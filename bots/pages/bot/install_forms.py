"""The forms on a bot's Install page."""

import re
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from bots.services import website_keys
from chatplatform.forms import Setting
from identity.auth import LOOPBACK
from identity.forms import DEFAULT_DAILY_CREDITS, daily_credits_field
from identity.models import ApiKey, User
from identity.schemas.clients import ApiKeyDto
from identity.services import api_keys


class HostsForm(BotForm):
    heading = gettext_lazy("Allowed websites")
    settings = (
        Setting(
            "allowed_domain", heading,
            gettext_lazy(
                "Where the chat can appear, one per line. *.shop.example includes all subdomains."
                " Pages must use https."
            ),
            lines=3, attrs={"placeholder": "www.shop.example"},
        ),
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        return {"allowed_domain": self.bot.allowed_domain.replace(",", "\n")}

    def clean_allowed_domain(self) -> str:
        """The entered hosts (or hosts of URLs) and `_www_variants`, separated by commas."""
        parts = re.split(r"[\s,;]+", self.cleaned_data["allowed_domain"])
        hosts = {part: _host_of(part) for part in parts if part}
        self.insecure = [
            host
            for part, host in hosts.items()
            if part.lower().startswith("http://") and host not in LOOPBACK
        ]
        self.variants = self._www_variants({*hosts.values()})
        return ",".join([*hosts.values(), *self.variants])

    def _www_variants(self, hosts: set[str]) -> list[str]:
        """The newly added hosts with `www.` added or removed.

        Hosts that were stored before are skipped, so a variant that somebody removed stays removed.
        """
        stored = {*self.bot.allowed_domain.split(",")}
        all_hosts = stored | hosts
        new = (host for host in sorted(hosts - stored) if f"*.{host}" not in all_hosts)
        variants = map(_www_variant, new)
        return [variant for variant in variants if variant and variant not in all_hosts]

    def saved_message(self, result: Any) -> str:
        saved = super().saved_message(result)
        if self.variants:
            text = gettext("%(saved)s. Also added: %(hosts)s")
            saved = text % {"saved": saved, "hosts": ", ".join(self.variants)}
        if not self.insecure:
            return saved
        text = gettext(
            "%(saved)s. The chat won't appear on http:// pages. Use https for: %(hosts)s"
        )
        return text % {"saved": saved, "hosts": ", ".join(self.insecure)}

    def is_warning(self, result: Any) -> bool:
        return bool(self.insecure)


def _host_of(pasted: str) -> str:
    """The host of a pasted URL; input without a host is returned unchanged, for the service to
    refuse."""
    try:
        host = urlsplit(pasted if "://" in pasted else f"//{pasted}").hostname
    except ValueError:
        host = None
    return host or pasted


def _www_variant(host: str) -> str:
    """The host without its `www.`, or with `www.` if it has only two labels; otherwise empty."""
    if host.startswith("www.") and host.count(".") > 1:
        return host.removeprefix("www.")
    return f"www.{host}" if re.fullmatch(r"[a-z0-9-]+\.[a-z]{2,}", host) else ""


class TagForm(BotForm):
    """Creates a public key for a bot that has none."""

    button = gettext_lazy("Create script tag")

    @property
    def is_needed(self) -> bool:
        return website_keys.find_key(self.bot) is None

    def submit(self, data: dict[str, Any], by: User) -> bool:
        website_keys.create_key(self.bot, daily_credits=DEFAULT_DAILY_CREDITS, by=by)
        return True


class DailyCreditsForm(BotForm):
    heading = gettext_lazy("Daily limit")
    daily_credits = daily_credits_field()

    @property
    def is_needed(self) -> bool:
        return self.key is not None

    def stored(self) -> dict[str, Any]:
        self.key = website_keys.find_key(self.bot)
        return {"daily_credits": self.key.daily_credits if self.key else None}

    def add_fields(self) -> None:
        self.fields["daily_credits"].help_text = gettext(
            "The most credits the chat can use per day (UTC). When the limit is reached,"
            " conversations go to your team. Below 10, the bot only quotes your content. Leave"
            " empty for no limit."
        )

    def submit(self, data: dict[str, Any], by: User) -> ApiKey:
        key_id = self.key.pk if self.key else 0
        return api_keys.change(self.bot.client, api_key_id=key_id, change=ApiKeyDto(**data), by=by)


INSTALL: dict[str, type[BotForm]] = {"hosts": HostsForm, "tag": TagForm, "limit": DailyCreditsForm}
