"""The first pages that people meet shut nobody out: in light and dark, wide and on a phone."""

import itertools
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from chatplatform.testing.browser import PHONE, violations
from chats.testing import make_chat
from identity.testing import enter_site
from webhooks.models import WebhookConfig

OPEN_TO_ALL = ("/", "/admin/login/", "/admin/register/", "/admin/forgot-password/")
FOR_STAFF = ("/admin/", "/admin/second-factor/", "/admin/chats/conversation/")
# Used on phones too: a thumb hits each target.
BOT_PAGES = ("content", "look", "behaviour", "install")
FOR_THUMBS = (*OPEN_TO_ALL, "/admin/")


WIDE = {"width": 1280, "height": 800}
LOOKS = [("light", PHONE), ("dark", WIDE)]
ALL_LOOKS = [*LOOKS, ("light", WIDE), ("dark", PHONE)]
in_all_looks = pytest.mark.parametrize(
    "looks", [LOOKS, pytest.param(ALL_LOOKS, marks=pytest.mark.drill)], ids=["two", "all"]
)
SMALL = """() => [...document.querySelectorAll("a, button, input, select, textarea")]
    .filter((target) => {
        const { width, height } = target.getBoundingClientRect();
        return target.checkVisibility() && width > 1 && (width < 44 || height < 44);
    })
    .map((target) => `small: ${target.outerHTML}`)"""


def looked_at(screen: Page, paths: tuple[str, ...], looks: list[Any]) -> dict[str, list[str]]:
    """What axe-core finds on each page in each look; on a phone also each target that a thumb
    misses."""
    found = {}
    for path, (scheme, size) in itertools.product(paths, looks):
        screen.emulate_media(color_scheme=scheme)
        screen.set_viewport_size(size)
        screen.goto(path)  # a page that is open keeps its colours
        screen.wait_for_function("document.readyState == 'complete'")
        problems = violations(screen)
        if size == PHONE and path in FOR_THUMBS:
            problems += screen.evaluate(SMALL)
        if problems:
            found[f"{path} {scheme} {size['width']}"] = problems
    return found


@in_all_looks
def test_pages_for_visitors_shut_nobody_out(screen, looks):
    assert looked_at(screen, OPEN_TO_ALL, looks) == {}


@pytest.mark.long
@in_all_looks
def test_the_first_pages_after_the_sign_in_shut_nobody_out(screen, ann, bot, looks):
    chat = make_chat(bot)
    hook = WebhookConfig.objects.create(
        client=bot.client, url="https://x.example/", is_active=False
    )
    own = (
        *(reverse(f"admin:bots_bot_{name}", args=[bot.pk]) for name in BOT_PAGES),
        reverse("admin:webhooks_webhookconfig_manage", args=[hook.pk]),
    )
    enter_site(screen, ann.user)
    screen.get_by_role("heading", name=ann.client.name).wait_for()
    assert looked_at(screen, (*FOR_STAFF, *own), looks) == {}
    rows = (
        reverse("admin:chats_conversation_change", args=[chat.pk]),
        reverse("admin:identity_subscription_change", args=[ann.client.subscription.pk]),
    )
    found = looked_at(screen, rows, looks).values()
    faint = [item for page in found for item in page if item.startswith("color-contrast")]
    assert faint == [], "a row's links are read in the dark too"
    screen.goto("/admin/")
    screen.get_by_text("1 webhook is failing or off").wait_for()
    screen.get_by_role("link", name="Waiting now").click()
    screen.wait_for_url("**/admin/chats/conversation/**")
