"""The common parts of a bot's pages: the tabs, the permission checks, and the saving of forms."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from bots.forms import BotForm
from bots.models import Bot, Document, SampleQuestion
from bots.services import prompt_versions
from chatplatform.admin_base import TenantAdmin, viewer
from identity.models import Role, User
from identity.pages.settings.base import Part, are_saved_together, carry_out, submitted_values


def may(page: TenantAdmin, request: HttpRequest, right: str) -> bool:
    """Whether the viewer has a right such as `train` or `manage`."""
    return bool(getattr(page, f"has_{right}_permission")(request))


def may_test(by: User) -> bool:
    """Whether a person may open previews: anyone of a client but viewers."""
    return by.client_id is not None and by.role != Role.VIEWER


def tabs(page: TenantAdmin, request: HttpRequest, bot: Bot, active: str) -> list[dict[str, Any]]:
    """The tabs of a bot's pages that the viewer may open; `is_done`: the tab's setup is done."""
    is_manager = may(page, request, "manage")
    has_content = Document.objects.filter(
        bot=bot, chunk_count__gt=0, from_business_hours=False
    ).exists()
    has_behaviour = SampleQuestion.objects.filter(bot=bot).exists() or bool(
        bot.customer_info_fields or prompt_versions.find_current(bot.pk)
    )
    candidates = [
        ("content", gettext("Content"), "bots_bot_content", has_content, True),
        ("look", gettext("Appearance"), "bots_bot_look", bool(bot.welcome_message),
         may(page, request, "train")),
        ("behaviour", gettext("Behavior"), "bots_bot_behaviour", has_behaviour,
         may(page, request, "train")),
        ("test", gettext("Test"), "chats_try_bot", None, may_test(viewer(request))),
        ("install", gettext("Install"), "bots_bot_install", bot.seen_at is not None, is_manager),
        ("quality", gettext("Quality"), "bots_bot_quality", None, True),
    ]  # fmt: skip
    return [
        {
            "title": title,
            "link": reverse(f"admin:{path}", args=[bot.pk]),
            "active": name == active,
            "is_done": bool(is_done),
        }
        for name, title, path, is_done, is_open in candidates
        if is_open
    ]


def show(
    page: TenantAdmin, request: HttpRequest, bot: Bot, active: str, **context: Any
) -> HttpResponse:
    """Render a page of a bot; `active` is the name of its tab and, by default, of its template."""
    title = f"{bot.bot_name} · {context.pop('title')}"
    template = context.pop("template", f"admin/bots/{active}.html")
    context |= {
        "bot": bot,
        "may_test": may_test(viewer(request)),
        "tabs": tabs(page, request, bot, active),
        "are_saved_together": are_saved_together(context.get("parts", {}).values()),
    }
    return page.page(request, template, title, **context)


def check(page: TenantAdmin, request: HttpRequest, right: str) -> None:
    """Raise PermissionDenied if the viewer lacks a right."""
    if not may(page, request, right):
        raise PermissionDenied


def bind_forms(
    page: TenantAdmin,
    request: HttpRequest,
    subject: Any,
    forms: Mapping[str, type[BotForm]],
    *,
    then: str | None = None,
) -> tuple[dict[str, Part], HttpResponse | None]:
    """The forms to show, by name, and a redirect to `then` or the same page if a form was saved.

    Only forms that are needed and that the viewer may submit are shown. The redirect is None if no
    form was saved. The forms edit `subject`: the bot, or one of its documents or websites.
    """
    parts, shown, by = dict[str, Part](), list[str](), viewer(request)
    for name, form in forms.items():
        if may(page, request, form.right):
            data = submitted_values(request, name)
            files = None if data is None else request.FILES
            bound = form(subject, data, files, auto_id=f"{name}_%s")
            parts[name] = Part(
                name, form.heading, bound, partial(bound.submit, by=by),
                button=bound.button, done=bound.saved_message, intro=bound.intro,
                variant=bound.variant,
            )  # fmt: skip
            if bound.is_needed:
                shown.append(name)
    done = carry_out(request, [*parts.values()], then=then)
    return {name: parts[name] for name in shown}, done
