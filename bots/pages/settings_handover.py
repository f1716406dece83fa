"""The settings page for when conversations go to people, who gets them, and how bots answer."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext

from bots.models import Bot
from bots.services import engines
from identity.pages.settings.base import show_config
from identity.pages.settings.conversations import AnswersForm, HandoverForm


class CheckedHandoverForm(HandoverForm):
    """Warns a person who turns on translation that bots without a language model lack it."""

    def is_warning(self, result: object) -> bool:
        if "auto_translate" not in self.changed_data or not self.cleaned_data["auto_translate"]:
            return False
        own = Bot.objects.filter(client=self.config.client_id)
        return own.alias(has_model=engines.has_model()).filter(has_model=False).exists()

    def saved_message(self, result: object) -> str:
        text = super().saved_message(result)
        if not self.is_warning(result):
            return text
        return format_html(
            '{} {} <a class="underline" href="{}">{}</a>',
            text,
            gettext("But nothing is translated without a language model."),
            reverse("admin:bots_languagemodel_set_model"),
            gettext("Connect a model"),
        )


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """Show and save these settings."""
    forms = {"handover": CheckedHandoverForm, "answers": AnswersForm}
    return show_config(site, request, gettext("Handover and assignment"), forms)
