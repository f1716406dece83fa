"""The settings page of privacy: what language models may read, how long conversations are kept, and
how to erase data."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.forms import Setting
from identity.pages.settings.base import ConfigForm, show_config


class PrivacyForm(ConfigForm):
    settings = (
        Setting(
            "mask_personal_data", gettext_lazy("Hide personal data from language models"),
            gettext_lazy(
                "For summaries, tags, sentiment, suggestions, and translations. Answers need the"
                " full text."
            ),
        ),
        Setting(
            "retention_days", gettext_lazy("Delete ended conversations after (days)"),
            gettext_lazy("Leave empty to keep them."),
        ),
    )  # fmt: skip


def page(site: Any, request: HttpRequest) -> HttpResponse:
    return show_config(
        site, request, gettext("Privacy"), {"privacy": PrivacyForm}, template="settings/privacy"
    )
