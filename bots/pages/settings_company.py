"""The Company page of Settings: name, time zone and languages."""

from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from bots.language import phrasebook
from bots.schemas.bot import BotLanguageConfigDto
from bots.services import supported_languages
from chatplatform.admin_base import viewer
from chatplatform.form_fields import language_choices, language_name
from chatplatform.forms import Setting, SettingsForm
from identity.pages.settings.base import Part, own_client, show, submitted_values
from identity.schemas.clients import CompanyName
from identity.schemas.configs import ClientConfigDto
from identity.services import clients, configs, time_zones


class CompanyForm(SettingsForm):
    schemas = (CompanyName,)
    settings = (Setting("name", gettext_lazy("Name")),)
    timezone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        help_text=gettext_lazy(
            "Used for business hours and reports. Each option shows its current time."
        ),
    )
    languages = forms.MultipleChoiceField(
        label=gettext_lazy("Customer languages"),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=gettext_lazy("New bots start with these. You can change them for each bot."),
    )
    default_language = forms.ChoiceField(
        label=gettext_lazy("Default language"),
        help_text=gettext_lazy(
            "Used for emails and for customers who write in any other language."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Add the default language to the languages."""
        data = self.cleaned_data
        if not self.errors:
            data["languages"] = sorted({*data["languages"], data["default_language"]})
        return data


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """Show and save the company's name, time zone and languages."""
    client, by = own_client(request), viewer(request)
    current = supported_languages.of_client(client)
    languages = [language.code for language in current.languages]
    form = CompanyForm(
        submitted_values(request, "company"),
        initial={
            "name": client.name,
            "timezone": client.timezone,
            "languages": languages,
            "default_language": client.default_language,
        },
    )
    codes = sorted({*phrasebook.all_books(), *languages}, key=language_name)
    offered = language_choices(codes)
    form.offer("languages", offered)
    form.offer("default_language", offered)
    form.offer("timezone", time_zones.choices(client.timezone, now=timezone.now()))

    def save(data: dict[str, Any]) -> object:
        language_items = [{"code": code} for code in data["languages"]]
        with transaction.atomic():
            clients.update(client, CompanyName(name=data["name"]), by=by)
            configs.update(client.config, ClientConfigDto(timezone=data["timezone"]), by=by)
            chosen = (data["default_language"], data["languages"])
            if chosen != (current.default_language, sorted(languages)):
                body = BotLanguageConfigDto(default_language=chosen[0], languages=language_items)
                supported_languages.update(client, body=body, by=by)
        return client

    return show(site, request, gettext("Company"), [Part("company", "", form, save)])
