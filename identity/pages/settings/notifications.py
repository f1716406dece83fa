"""Who gets which mail, and how customers' data is kept."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm
from identity.pages.settings.frame import ConfigForm, Part, own_client, save_config, sent, show
from identity.services import mails
from identity.shapes.configs import EmailNotificationRequest


class NotificationsForm(ServiceForm):
    recipients = forms.CharField(
        label=gettext_lazy("Mails go to"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "email"}),
        help_text=gettext_lazy("E-mail addresses, separated by commas; at most 20."),
    )
    on_unanswered = forms.BooleanField(
        label=gettext_lazy("A customer waits too long"), required=False
    )
    unanswered_after_minutes = forms.IntegerField(
        label=gettext_lazy("Too long means (minutes)"), min_value=1, max_value=10_080
    )
    on_handoff = forms.BooleanField(
        label=gettext_lazy("A bot hands a conversation over"), required=False
    )
    on_assigned = forms.BooleanField(
        label=gettext_lazy("A conversation is assigned to an agent"), required=False
    )
    on_channel_error = forms.BooleanField(
        label=gettext_lazy("A channel stops working"), required=False
    )
    on_low_credit = forms.BooleanField(label=gettext_lazy("Credits run low"), required=False)
    to_assignee = forms.BooleanField(
        label=gettext_lazy("Also mail the agent who has the conversation"),
        required=False,
        help_text=gettext_lazy("About waiting customers and assignments, in the agent's language."),
    )

    def clean_recipients(self) -> list[str]:
        given: str = self.cleaned_data["recipients"]
        return given.replace(",", " ").replace(";", " ").split()


class PrivacyForm(ConfigForm):
    mask_personal_data = forms.BooleanField(
        label=gettext_lazy("Hide personal data from language models"),
        required=False,
        help_text=gettext_lazy(
            "For summaries, tags, sentiment and suggestions. Translations and answers to customers"
            " need the whole text."
        ),
    )
    retention_days = forms.IntegerField(
        label=gettext_lazy("Delete ended conversations after (days)"),
        min_value=1,
        max_value=36_500,
        required=False,
        help_text=gettext_lazy("Leave empty to keep them."),
    )


@calls_out
def page(site: Any, request: HttpRequest) -> HttpResponse:
    """Who gets which mail, and a test."""
    client, by = own_client(request), viewer(request)
    row = mails.get_notification(client, client.pk)
    shown = {name: getattr(row, name) for name in NotificationsForm.base_fields}
    # Whoever opens the page first is offered their own address.
    shown["recipients"] = ", ".join(row.recipients if row.pk else [by.email])

    def save(data: dict[str, Any]) -> object:
        return mails.update_notification(row, EmailNotificationRequest(**data), by=by)

    parts = [
        Part(
            "notifications",
            gettext("Send a mail when"),
            NotificationsForm(sent(request, "notifications"), initial=shown),
            save,
        ),
        Part(
            "test",
            gettext("Try it"),
            ServiceForm(sent(request, "test")),
            lambda _data: mails.send_test(row),
            button=gettext_lazy("Send a test"),
            done=gettext_lazy("Sent. Check the inboxes."),
            intro=gettext("Everyone on the saved list gets a test mail."),
            variant="default",
        ),
    ]
    return show(site, request, gettext("Notifications"), parts)


def privacy(site: Any, request: HttpRequest) -> HttpResponse:
    """What language models may read, how long conversations are kept, and how to erase data."""
    form = PrivacyForm(sent(request, "privacy"), own_client(request).config)
    part = Part("privacy", "", form, save_config(request))
    return show(site, request, gettext("Privacy"), [part], template="settings/privacy")
