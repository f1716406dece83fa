"""The settings page of email notifications."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm, Setting, SettingsForm
from identity.pages.settings.base import (
    Part,
    linked,
    own_client,
    show,
    submitted_values,
)
from identity.schemas.configs import EmailNotificationRequest
from identity.services import mails


class NotificationsForm(SettingsForm):
    schemas = (EmailNotificationRequest,)
    settings = (
        Setting("on_unanswered", gettext_lazy("A customer waits too long")),
        Setting(
            "unanswered_after_minutes", gettext_lazy("Wait limit (minutes)"),
            linked(
                gettext_lazy("For emails. Alerts use the target wait time:"),
                gettext_lazy("Handover"), "admin:settings_handover",
            ),
        ),
        Setting("on_handoff", gettext_lazy("A bot hands over a conversation")),
        Setting("on_assigned", gettext_lazy("A conversation is assigned to an agent")),
        Setting(
            "on_channel_error", gettext_lazy("A channel stops working"),
            gettext_lazy(
                "Or its quality or limits drop, for example because a template is paused."
            ),
        ),
        Setting("on_low_credit", gettext_lazy("Credits run low")),
        Setting(
            "to_assignee", gettext_lazy("Also email the assigned agent"),
            gettext_lazy(
                "Sent in the agent's language when their customer waits too long or a conversation"
                " is assigned to them."
            ),
        ),
    )  # fmt: skip
    recipients = forms.CharField(
        label=gettext_lazy("Recipients"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "email"}),
        help_text=gettext_lazy("Email addresses, separated by commas. Up to 20."),
    )
    field_order = ("recipients",)

    def clean_recipients(self) -> list[str]:
        given: str = self.cleaned_data["recipients"]
        return given.replace(",", " ").replace(";", " ").split()


@calls_out
def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page of email notifications, with a button to send a test mail."""
    client, by = own_client(request), viewer(request)
    row = mails.get_notification(client, client.pk)
    initial = {item.name: getattr(row, item.name) for item in NotificationsForm.settings}
    # Until the settings are saved for the first time, the form suggests the viewer's own address.
    initial["recipients"] = ", ".join(row.recipients if row.pk else [by.email])
    form = NotificationsForm(submitted_values(request, "notifications"), initial=initial)

    def save(data: dict[str, Any]) -> object:
        return mails.update_notification(row, EmailNotificationRequest(**data), by=by)

    test = Part(
        "test", gettext("Try it"), ServiceForm(submitted_values(request, "test")),
        lambda _data: mails.send_test(row),
        button=gettext_lazy("Send test"),
        done=gettext_lazy("Test email sent."),
        intro=gettext("Sends a test email to your saved recipients."),
        variant="default",
    )  # fmt: skip
    parts = [Part("notifications", gettext("Send an email when"), form, save), test]
    return show(site, request, gettext("Notifications"), parts)
