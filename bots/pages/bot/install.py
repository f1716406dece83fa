"""The page for installing a bot on a website, and the page that creates its identity secret."""

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from bots.models import Bot
from bots.pages.bot import base
from bots.pages.bot.install_forms import INSTALL
from bots.services import visitor_identity
from bots.services.website_keys import find_key
from chatplatform.admin_base import TenantAdmin, viewer

# The tabs with instructions for adding the script tag to a website.
_WAYS = [
    ("html", "HTML"), ("tag-manager", "Tag Manager"), ("wordpress", "WordPress"),
    ("shopify", "Shopify"),
]  # fmt: skip


def overview(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The Install page: where the bot may be shown, its script tag, and its daily limit."""
    base.check(page, request, "manage")
    is_own_bot = viewer(request).client_id == bot.client_id
    forms = {name: form for name, form in INSTALL.items() if is_own_bot or name != "tag"}
    parts, done = base.bind_forms(page, request, bot, forms)
    if done:
        return done
    return base.show(
        page, request, bot, "install",
        title=gettext("Install"),
        parts=parts,
        key=find_key(bot),
        ways=_WAYS,
        loader=request.build_absolute_uri("/widget/v1/loader.js"),
        hosts=bot.allowed_domain.split(",") if bot.allowed_domain else [],
        secret_page=reverse("admin:bots_bot_identity_secret", args=[bot.pk]),
        is_seen_now=bot.seen_at is not None
        and timezone.now() - bot.seen_at < timedelta(minutes=1),
        has_secret=bool(bot.identity_secret),
    )  # fmt: skip


def identity_secret(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """Ask for confirmation, then create the secret that signs the ids of customers who are signed
    in to the website, and show it once."""
    base.check(page, request, "manage")
    tabs = base.tabs(page, request, bot, "install")

    def act(data: dict[str, Any]) -> HttpResponse:
        secret = visitor_identity.replace_secret(bot, by=viewer(request))
        return page.page(
            request, "admin/bots/secret.html", gettext("Identity verification secret"),
            bot=bot, secret=secret, tabs=tabs,
        )  # fmt: skip

    return page.confirm_page(
        request, act,
        title=gettext("Create an identity verification secret"),
        button=gettext("Create secret"),
        intro=gettext(
            "Your server signs customer IDs with this secret so that the chat can trust them."
            " It's shown only once. A new secret replaces the old one right away."
        ),
        tabs=tabs,
    )  # fmt: skip
