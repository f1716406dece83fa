"""The forms of the site's pages about webhooks, and the groups of event types."""

from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code

# Every type of event, in groups; its words are in `ACTIONS`, since logs show it too.
EVENT_GROUPS: tuple[tuple[Promise, tuple[str, ...]], ...] = (
    (gettext_lazy("Conversations"), (
        "conversation.created", "conversation.handed_off", "conversation.assigned",
        "conversation.unassigned", "conversation.prioritized", "conversation.snoozed",
        "conversation.ended", "conversation.reopened",
    )),
    (gettext_lazy("Messages"), (
        "message.created", "message.delivered", "message.read", "message.updated", "message.failed",
    )),
    (gettext_lazy("Customers and ratings"), (
        "customer.updated", "customer.merged", "feedback.created", "feedback.updated",
    )),
    (gettext_lazy("After a conversation"), (
        "summary.created", "tags.updated", "sentiment.updated",
    )),
    (gettext_lazy("Content, channels, and account"), (
        "document.trained", "document.failed", "channel.connected", "channel.disconnected",
        "channel.notified", "credits.low", "notification.created", "webhook.test",
    )),
)  # fmt: skip
_STATES = [
    ("undelivered", gettext_lazy("All undelivered events")),
    ("gave_up", gettext_lazy("Permanently failed")),
    ("missing", gettext_lazy("Not sent, for example while the webhook was off")),
    ("all", gettext_lazy("All events")),
]
_HOURS = [
    (1, gettext_lazy("Last hour")), (24, gettext_lazy("Last day")),
    (48, gettext_lazy("Last two days")), (168, gettext_lazy("Last week")),
    (719, gettext_lazy("Last 30 days")),
]  # fmt: skip


class EndpointForm(ServiceForm):
    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "https://your-shop.com/hooks/chat"}),
        help_text=gettext_lazy("The HTTPS URL where your server receives events."),
    )
    description = forms.CharField(label=gettext_lazy("Description"), max_length=200, required=False)
    event_types = forms.MultipleChoiceField(
        label=gettext_lazy("Events"),
        choices=lambda: [
            (name, humanize_code(name)) for _, names in EVENT_GROUPS for name in names
        ],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    @property
    def event_groups(self) -> list[tuple[Promise, list[tuple[str, str, bool]]]]:
        """Each group's title, and its events, each with name, label and whether it is chosen."""
        chosen: Any = self["event_types"].value() or ()
        return [
            (title, [(name, humanize_code(name), name in chosen) for name in names])
            for title, names in EVENT_GROUPS
        ]


class ReplayForm(ServiceForm):
    state = forms.ChoiceField(label=gettext_lazy("Events to resend"), choices=_STATES)
    hours = forms.TypedChoiceField(
        label=gettext_lazy("From"), choices=_HOURS, coerce=int, initial=168
    )
