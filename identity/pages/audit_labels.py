"""The labels that the audit log shows for the subjects of its events and for changed settings."""

import functools
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy

from chatplatform.forms import SettingsForm
from chatplatform.templatetags.codes import humanize_code
from identity.services import audit

# By the noun of a subject, such as `user` in `user:12`: its label, its model, and the columns that
# may contain the row's name. The first column that is not empty is shown.
_NOUNS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "api_key": (gettext_lazy("API key"), "identity.ApiKey", ("name",)),
    "bot": (gettext_lazy("Bot"), "bots.Bot", ("bot_name",)),
    "channel_connection": (
        gettext_lazy("Channel"), "channels_app.ChannelConnection", ("account_name",),
    ),
    "client": (gettext_lazy("Company"), "identity.Client", ("name",)),
    "customer": (gettext_lazy("Customer"), "chats.Customer", ("name", "email", "phone")),
    "document": (gettext_lazy("Content"), "bots.Document", ("title", "file_name")),
    "golden_run": (gettext_lazy("Test run"), "bots.GoldenRun", ("bot__bot_name",)),
    "language_model": (gettext_lazy("Language model"), "bots.LanguageModel", ("model",)),
    "prompt": (gettext_lazy("Instructions"), "bots.Prompt", ("bot__bot_name",)),
    "saved_reply": (gettext_lazy("Saved reply"), "chats.SavedReply", ("shortcut",)),
    "user": (gettext_lazy("Teammate"), "identity.User", ("full_name", "email")),
    "web_url": (gettext_lazy("Website"), "bots.WebUrl", ("url",)),
    "webhook": (gettext_lazy("Webhook"), "webhooks.WebhookConfig", ("url",)),
}  # fmt: skip
# The models of nouns that occur only in actions such as `subscription.updated`.
_MODELS = {
    "function_calling": "bots.FunctionCalling", "mcp_server": "bots.McpServer",
    "subscription": "identity.Subscription",
}  # fmt: skip
_lazy_label = lazy(humanize_code, str)
# The maximum number of rows per noun that a search by name finds.
_MAX_FOUND = 100


def subjects(rows: Iterable[Any]) -> dict[tuple[int, str], str]:
    """The labels of the events' subjects, by the event's client and subject. A subject is left out
    if it no longer exists, has no name or belongs to another client."""
    wanted: dict[str, dict[str, Any]] = {}
    events = list(rows)
    for event in events:
        noun, _, row_id = event.subject.partition(":")
        if noun in _NOUNS and (key := _key(noun, row_id)) is not None:
            wanted.setdefault(noun, {})[event.subject] = key
    names = {noun: _names(noun, list(keys.values())) for noun, keys in wanted.items()}
    labels = {}
    for event in events:
        noun = event.subject.partition(":")[0]
        key = wanted.get(noun, {}).get(event.subject)
        owner, name = names.get(noun, {}).get(key, (None, ""))
        if name and event.client_id in {owner, audit.PLATFORM}:
            # The query of a URL may contain a token.
            shown = name.partition("?")[0] if noun == "webhook" else name
            labels[event.client_id, event.subject] = f"{_NOUNS[noun][0]} {shown}"
    return labels


def filter_by_subject_text(client_id: int | None, word: str) -> Q:
    """A filter for the events whose subject has this word in its label or name. If `client_id` is
    None, the names of all clients' rows are searched."""
    condition = Q(pk__in=[])
    for noun, (label, model, columns) in _NOUNS.items():
        if word.lower() in str(label).lower():
            condition |= Q(subject__startswith=f"{noun}:")
        if noun == "client":
            continue
        has_word = Q()
        for column in columns:
            has_word |= Q(**{f"{column}__icontains": word})
        rows = apps.get_model(model)._base_manager.filter(has_word)
        rows = rows.filter(client_id=client_id) if client_id else rows
        keys = rows.order_by("-pk").values_list("pk", flat=True)[:_MAX_FOUND]
        condition |= Q(subject__in=[f"{noun}:{key}" for key in keys])
    return condition


# The modules whose forms label the settings of each noun. They are strings, because some modules
# are in higher apps.
_FORMS = {
    "config": ("business_hours", "conversations", "notifications"),
    "email_notification": ("notifications",),
    "bot": ("widget_forms", "behavior_forms", "hours_forms", "install_forms"),
    "banner": ("widget_forms",),
}
_PACKAGES = {"bot": "bots.pages.bot", "banner": "bots.pages.bot"}


@functools.cache
def settings(noun: str) -> dict[str, tuple[Any, dict[Any, Any]]]:
    """The label and the choices of each setting of a noun, by the setting's name. If no form shows
    a setting, its label is made from the column's name."""
    package = _PACKAGES.get(noun, "identity.pages.settings")
    forms = [
        form
        for name in _FORMS.get(noun, ())
        for form in vars(import_module(f"{package}.{name}")).values()
        if isinstance(form, type) and issubclass(form, SettingsForm)
    ]
    model = _NOUNS[noun][1] if noun in _NOUNS else _MODELS.get(noun)
    columns = apps.get_model(model)._meta.concrete_fields if model else ()
    declared: dict[str, tuple[Any, dict[Any, Any]]] = {
        column.name: (_lazy_label(column.verbose_name), {})
        for column in columns
        # Skip the primary key: in the change `welcome_message.id`, `id` is the language code of
        # Indonesian.
        if not column.primary_key
    }
    declared |= {
        name: (field.label, {}) for form in forms for name, field in form.base_fields.items()
    }
    return declared | {
        setting.name: (setting.label, dict(setting.choices or ()))
        for form in forms
        for setting in form.settings
    }


# Other words that people search for settings by.
OTHER_WORDS = {
    "welcome_message": gettext_lazy("greeting, hello, first message"),
    "business_hours": gettext_lazy("opening hours, working hours, closed"),
}


def settings_matching(word: str) -> set[str]:
    """The names of the settings whose label, or another word for them, contains the word."""
    labels: dict[str, list[Any]] = {}
    for noun in _FORMS:
        for name, (label, _) in settings(noun).items():
            labels.setdefault(name, [OTHER_WORDS.get(name, "")]).append(label)
    return {
        name
        for name, texts in labels.items()
        if any(word.lower() in str(text).lower() for text in texts)
    }


def _key(noun: str, row_id: str) -> Any:
    try:
        return apps.get_model(_NOUNS[noun][1])._meta.pk.to_python(row_id)
    except ValidationError:
        return None


def _names(noun: str, keys: list[Any]) -> dict[Any, tuple[int | None, str]]:
    """The client and the name of each of these rows, by key."""
    _, model, columns = _NOUNS[noun]
    owner = "pk" if noun == "client" else "client_id"
    rows = apps.get_model(model)._base_manager.filter(pk__in=keys)
    return {
        key: (client_id, next((name for name in names if name), ""))
        for key, client_id, *names in rows.values_list("pk", owner, *columns)
    }
