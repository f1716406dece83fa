"""The settings page on which a company rewrites the platform's messages to customers."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from bots.services import supported_languages
from chatplatform.admin_base import viewer
from chatplatform.form_fields import language_name
from chatplatform.forms import ServiceForm
from chats.schemas.automated_messages import MAX_TEXT, PlatformWord
from chats.services.core import automated_message_texts
from identity.pages.settings.base import Part, own_client, show, submitted_values

# The messages of each form, with their labels.
GROUPS: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "small_talk": (
        gettext_lazy("Small talk"),
        {
            "greeting": gettext_lazy("Reply to a greeting"),
            "thanks": gettext_lazy("Reply to thanks"),
            "goodbye": gettext_lazy("Reply to a goodbye"),
            "about_bot": gettext_lazy("Reply to “Who are you?”"),
            "person_possible": gettext_lazy("Added when customers can reach your team"),
        },
    ),
    "answers": (
        gettext_lazy("Answers"),
        {
            "unknown": gettext_lazy("No answer, asking to rephrase"),
            "nearest": gettext_lazy("Above suggested topics"),
            "person_button": gettext_lazy("Button to reach your team"),
            "part_unknown": gettext_lazy("No answer to one of several questions"),
            "found": gettext_lazy("Intro to a quote from your content"),
            "found_foreign": gettext_lazy("Intro to a quote in another language"),
        },
    ),
    "people": (
        gettext_lazy("Handover"),
        {
            "before_person": gettext_lazy("Asking for details before handing over"),
            "handover": gettext_lazy("Handing over"),
            "handover_no_answer": gettext_lazy("Handing over, no answer found"),
            "no_person": gettext_lazy("Handover unavailable"),
        },
    ),
    "functions": (
        gettext_lazy("Functions"),
        {
            "confirm": gettext_lazy("Asking to confirm"),
            "declined": gettext_lazy("Customer declined"),
            "call_failed": gettext_lazy("Call failed"),
            "approval_needed": gettext_lazy("Waiting for an agent's approval"),
            "done": gettext_lazy("Agent approved"),
            "agent_declined": gettext_lazy("Agent rejected"),
        },
    ),
    "details": (
        gettext_lazy("Customer details"),
        {
            "ask_info": gettext_lazy("Asking for details"),
            "info_noted": gettext_lazy("Customer shared details"),
            "info_declined": gettext_lazy("Customer declined to share details"),
            "not_email": gettext_lazy("Invalid email address"),
            "not_phone": gettext_lazy("Invalid phone number"),
            "not_number": gettext_lazy("Invalid number"),
            "not_date": gettext_lazy("Invalid date"),
            "not_option": gettext_lazy("Invalid option"),
        },
    ),
    "survey": (
        gettext_lazy("Ratings in messaging apps"),
        {
            "survey_question": gettext_lazy("Question"),
            "survey_note": gettext_lazy("Text below the question"),
            "survey_button": gettext_lazy("Button"),
        },
    ),
}


def _form(
    data: Any, *, group: str, language: str, words: Mapping[str, PlatformWord]
) -> ServiceForm:
    """The form for a group's messages in one language. For an empty field, customers get the
    platform's text, which is the placeholder."""
    fields, initial = dict[str, forms.Field](), dict[str, str]()
    for name, label in GROUPS[group][1].items():
        default = (words[name].default or {}).get(language.partition("-")[0], "")
        area = forms.Textarea(attrs={"rows": 2, "lang": language, "placeholder": default})
        initial[name] = words[name].own.get(language, "")
        fields[name] = forms.CharField(
            label=label, widget=area, max_length=MAX_TEXT, required=False
        )
    form_class: type[ServiceForm] = type("MessagesForm", (ServiceForm,), fields)
    return form_class(data, initial=initial)


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page with the platform's messages in one of the company's languages."""
    client, by = own_client(request), viewer(request)
    words: dict[str, PlatformWord] = {
        word.name: word for word in automated_message_texts.of_config(client.config).words
    }
    languages = [language.code for language in supported_languages.of_client(client).languages]
    languages += sorted({code for word in words.values() for code in word.own} - {*languages})
    requested = request.GET.get("language", "")
    language = requested if requested in languages else client.default_language

    def save(data: dict[str, Any]) -> object:
        return automated_message_texts.change(client.config, data, language=language, by=by)

    parts = [
        Part(
            group,
            title,
            _form(submitted_values(request, group), group=group, language=language, words=words),
            save,
        )
        for group, (title, _) in GROUPS.items()
    ]
    return show(
        site, request, gettext("Messages"), parts, template="settings/messages",
        languages=[(code, language_name(code), code == language) for code in languages],
    )  # fmt: skip
