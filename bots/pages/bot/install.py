"""The page that puts a bot on a website: where it may be shown, the script tag, the first visit."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from bots.forms import BotForm
from bots.models import Bot
from bots.pages.bot import install_forms, steps
from bots.services import install, visitor_identity
from chatplatform.admin_base import TenantAdmin, is_impersonated, viewer
from chatplatform.forms import ServiceForm
from identity.forms import PAGES_DAILY_CREDITS

INSTALL: dict[str, type[BotForm]] = {
    "hosts": install_forms.HostsForm,
    "limit": install_forms.DailyCreditsForm,
}

# The tabs that say how the tag gets onto a website.
_WAYS = [
    ("html", "HTML"), ("tag-manager", "Tag Manager"), ("wordpress", "WordPress"),
    ("shopify", "Shopify"),
]  # fmt: skip


def overview(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The script tag, which is created when the page is first opened by somebody who may."""
    steps.check(page, request, "manage")
    is_theirs = viewer(request).client_id == bot.client_id and not is_impersonated(request)
    key = (
        install.ensure_key(bot, daily_credits=PAGES_DAILY_CREDITS, by=viewer(request))
        if is_theirs
        else install.find_key(bot)
    )
    forms = INSTALL if key else {"hosts": INSTALL["hosts"]}
    shown, done = steps.bound(page, request, bot, forms)
    if done:
        return done
    return steps.show(
        page, request, bot, "install",
        title=gettext("Install"),
        forms=dict(shown),
        key=key,
        ways=_WAYS,
        loader=request.build_absolute_uri("/widget/v1/loader.js"),
        hosts=bot.allowed_domain.split(",") if bot.allowed_domain else [],
        secret_page=reverse("admin:bots_bot_identity_secret", args=[bot.pk]),
        has_secret=bool(bot.identity_secret),
    )  # fmt: skip


def identity_secret(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """Create the secret that signs the ids of customers who are signed in to the website."""
    steps.check(page, request, "manage")
    tabs = steps.tabs(page, request, bot, "install")

    def act(data: dict[str, Any]) -> HttpResponse:
        secret = visitor_identity.replace_secret(bot, by=viewer(request))
        return page.page(
            request, "admin/bots/secret.html", gettext("Secret for signed-in customers"),
            bot=bot, secret=secret, tabs=tabs,
        )  # fmt: skip

    return page.form_page(
        request, ServiceForm(request.POST if request.method == "POST" else None), act,
        title=gettext("Create a secret for signed-in customers"),
        button=gettext("Create secret"),
        intro=gettext(
            "Your server signs your customers' ids with it, so that the chat knows who they are."
            " It is shown only once. Signatures made with an earlier secret are refused from then"
            " on."
        ),
        tabs=tabs,
    )  # fmt: skip
