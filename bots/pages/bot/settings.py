"""A bot's Appearance, Behavior and Quality pages, and the preview of its widget."""

from typing import Any

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm, languages_of
from bots.models import Bot, GoldenQuestion, GoldenRun, LanguageModel, ModelPurpose
from bots.pages.bot import (
    base,
    behavior_forms,
    contact_forms,
    content_warnings,
    hours_forms,
    procedure_forms,
    widget_forms,
)
from bots.schemas.bot import SETUP_STEPS
from bots.services import bots, engines, widget_config
from chatplatform.admin_base import TenantAdmin, viewer
from chatplatform.form_fields import language_choices
from chatplatform.templatetags.codes import humanize_code

LOOK: dict[str, type[BotForm]] = {
    "appearance": widget_forms.AppearanceForm,
    "welcome": widget_forms.WelcomeForm,
    "window": widget_forms.WindowForm,
    "invitation": widget_forms.InvitationForm,
    "banner": widget_forms.BannerForm,
    "terms": widget_forms.TermsForm,
}
BEHAVIOUR: dict[str, type[BotForm]] = {
    "languages": behavior_forms.LanguagesForm,
    "questions": behavior_forms.QuestionsForm,
    "contact": contact_forms.ContactForm,
    "details": contact_forms.OtherFieldsForm,
    "hours": hours_forms.HoursForm,
    "holidays": hours_forms.HolidaysForm,
    "instructions": behavior_forms.InstructionsForm,
    "versions": behavior_forms.VersionsForm,
    "procedures": procedure_forms.ProceduresForm,
    "review": behavior_forms.ReviewForm,
    "answering": behavior_forms.AnsweringForm,
}
# The sections of each page: name, title, forms, and an optional template to show after the forms.
_LOOK_SECTIONS = [
    ("branding", gettext_lazy("Branding"), ("appearance", "banner"), ""),
    ("messages", gettext_lazy("Messages"), ("welcome", "invitation", "terms"), ""),
    ("chat_window", gettext_lazy("Chat window"), ("window",), ""),
]
_BEHAVIOUR_SECTIONS = [
    (
        "greeting", gettext_lazy("Languages and welcome"), ("languages", "questions"),
        "admin/bots/behaviour_welcome.html",
    ),
    ("customers", gettext_lazy("Customer details"), ("contact", "details"), ""),
    ("opening", gettext_lazy("Business hours"), ("hours", "holidays"), ""),
    ("prompt", gettext_lazy("Instructions"), ("instructions", "versions", "review"), ""),
    ("steps", gettext_lazy("Procedures"), ("procedures",), ""),
    (
        "availability", gettext_lazy("Availability"), ("answering",),
        "admin/bots/behaviour_company.html",
    ),
]  # fmt: skip
# Settings that only the API changes; the Behavior page shows them grayed out.
SET_BY_API = SETUP_STEPS
# The Content-Security-Policy of the widget's frame, except that only our own pages may embed it.
_PREVIEW_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https: http:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def look(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The Appearance page: how the widget looks, next to a preview of it."""
    return _show(page, request, bot, "look", LOOK, _LOOK_SECTIONS, title=gettext("Appearance"))


def behaviour(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The Behavior page: how the bot answers, and what it asks customers for."""
    client_models = LanguageModel.objects.filter(client=bot.client, purpose=ModelPurpose.CHAT)
    by = viewer(request)
    may_change = by.client_id == bot.client_id and by.is_admin
    described = bots.describe(bot.client, bot.pk)
    return _show(
        page, request, bot, "behaviour", BEHAVIOUR, _BEHAVIOUR_SECTIONS,
        title=gettext("Behavior"),
        language_gaps=content_warnings.languages(bot),
        welcome=bot.welcome_message.get(bot.default_language),
        edit_welcome=f"{reverse('admin:bots_bot_look', args=[bot.pk])}#welcome",
        model=client_models.filter(bot=bot).first() or client_models.filter(bot=None).first(),
        has_default_model=engines.platform_has_model(),
        models=reverse("admin:bots_languagemodel_changelist"),
        config=bot.client.config,
        confidence=round(bot.client.config.answer_threshold * 100),
        handover=reverse("admin:settings_handover") if may_change else "",
        functions=f"{reverse('admin:bots_function_changelist')}?bot__id__exact={bot.pk}",
        set_by_api=[(humanize_code(name), getattr(described, name)) for name in SET_BY_API],
    )  # fmt: skip


def quality(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The Quality page: links to the tools that check the bot's answers."""
    of_bot = f"?bot__id__exact={bot.pk}"
    golden = GoldenQuestion.objects.filter(bot=bot).count()
    latest = GoldenRun.objects.filter(bot=bot).order_by("-id").first()
    cards = [
        (gettext("Unanswered questions"), gettext("Questions the bot couldn't answer."),
         "admin:chats_questiongroup_changelist", None),
        (gettext("Test questions"), gettext("Questions the bot must answer correctly."),
         "admin:bots_goldenquestion_changelist", golden),
        (gettext("Test runs"), gettext("Test results after each change."),
         "admin:bots_goldenrun_changelist", None),
        (gettext("Replays"),
         gettext("Ask the bot a past day's questions again and compare. Customers don't see it."),
         "admin:chats_replay_changelist", None),
    ]  # fmt: skip
    return base.show(
        page, request, bot, "quality",
        title=gettext("Quality"),
        cards=[(title, text, f"{reverse(name)}{of_bot}", count)
               for title, text, name, count in cards],
        latest=latest,
    )  # fmt: skip


def preview(page: TenantAdmin, request: HttpRequest, bot: Bot) -> HttpResponse:
    """The preview next to the forms: the widget's chat panel with the bot's configuration."""
    requested = request.GET.get("language", "")
    language = (
        requested if requested in languages_of(bot, bot.welcome_message) else bot.default_language
    )
    config = widget_config.for_bot(bot, language=language)
    reply = page.page(
        request, "admin/bots/preview.html", bot.bot_name, bot=bot,
        config=config.model_dump(mode="json"),
        language=language,
        widget_language=_widget_language(language),
        is_before="before" in request.GET,
    )  # fmt: skip
    reply["Content-Security-Policy"] = _PREVIEW_POLICY
    return reply


def _widget_language(language: str) -> str:
    """The language without its region if the widget has built-in texts in it; otherwise `en`."""
    code = language.partition("-")[0]
    return code if finders.find(f"widget/translations/{code}.js") else "en"


def _show(
    page: TenantAdmin,
    request: HttpRequest,
    bot: Bot,
    active: str,
    forms: dict[str, type[BotForm]],
    sections: list[Any],
    **context: Any,
) -> HttpResponse:
    base.check(page, request, "train")
    parts, done = base.bind_forms(page, request, bot, forms)
    if done:
        return done
    preview_path = reverse("admin:bots_bot_preview", args=[bot.pk])
    codes = languages_of(bot, bot.welcome_message)
    context["previews"] = [
        (name, f"{preview_path}?language={code}") for code, name in language_choices(codes)
    ]
    if any(field.get("ask_before_chat") for field in bot.customer_info_fields):
        form = f"{preview_path}?language={bot.default_language}&before"
        context["previews"].append((gettext("Contact details"), form))
    context["sections"] = [
        {"name": name, "title": title, "parts": shown, "template": template}
        for name, title, names, template in sections
        if (shown := [parts[form_name] for form_name in names if form_name in parts]) or template
    ]
    return base.show(page, request, bot, active, parts=parts, **context)
