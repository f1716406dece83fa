"""The forms of the site's pages about webhooks, and the labels of event types."""

from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code

# The label of every type of event, in groups.
EVENT_GROUPS: tuple[tuple[Promise, dict[str, Promise]], ...] = (
    (gettext_lazy("Conversations"), {
        "conversation.created": gettext_lazy("A conversation starts"),
        "conversation.handed_off": gettext_lazy("The bot hands over to your team"),
        "conversation.assigned": gettext_lazy("A conversation is assigned"),
        "conversation.unassigned": gettext_lazy("A conversation is unassigned"),
        "conversation.prioritized": gettext_lazy("A conversation's priority changes"),
        "conversation.snoozed": gettext_lazy("A conversation is snoozed"),
        "conversation.ended": gettext_lazy("A conversation ends"),
        "conversation.reopened": gettext_lazy("A conversation is reopened"),
    }),
    (gettext_lazy("Messages"), {
        "message.created": gettext_lazy("A message is added to a conversation"),
        "message.delivered": gettext_lazy("A message is delivered"),
        "message.read": gettext_lazy("A message is read"),
        "message.updated": gettext_lazy("A message is edited"),
        "message.failed": gettext_lazy("A message can't be delivered"),
    }),
    (gettext_lazy("Customers and ratings"), {
        "customer.updated": gettext_lazy("Customer details change"),
        "customer.merged": gettext_lazy("Two customers are merged"),
        "feedback.created": gettext_lazy("A customer leaves a rating"),
        "feedback.updated": gettext_lazy("A customer changes a rating"),
    }),
    (gettext_lazy("After a conversation"), {
        "summary.created": gettext_lazy("A summary is ready"),
        "tags.updated": gettext_lazy("Tags change"),
        "sentiment.updated": gettext_lazy("Sentiment is detected"),
    }),
    (gettext_lazy("Content, channels, and account"), {
        "document.trained": gettext_lazy("Content is ready"),
        "document.failed": gettext_lazy("Content can't be read"),
        "channel.connected": gettext_lazy("A channel is connected"),
        "channel.disconnected": gettext_lazy("A channel is disconnected"),
        "channel.notified": gettext_lazy("A provider sends an account or template update"),
        "credits.low": gettext_lazy("Credits run low"),
        "notification.created": gettext_lazy("Your team is notified"),
        "webhook.test": gettext_lazy("Test"),
    }),
)  # fmt: skip
_EVENT_LABELS = {name: words for _, group in EVENT_GROUPS for name, words in group.items()}
_STATES = [
    ("undelivered", gettext_lazy("All undelivered events")),
    ("gave_up", gettext_lazy("Permanently failed")),
    ("missing", gettext_lazy("Not sent, for example while the webhook was off")),
    ("all", gettext_lazy("All events")),
]
_HOURS = [
    (1, gettext_lazy("Last hour")), (24, gettext_lazy("Last day")),
    (48, gettext_lazy("Last two days")), (168, gettext_lazy("Last week")),
    (719, gettext_lazy("30 days")),
]  # fmt: skip


def event_label(event_type: str) -> str:
    """The label of a type of event."""
    return str(_EVENT_LABELS.get(event_type) or humanize_code(event_type))


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
        choices=list(_EVENT_LABELS.items()),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    @property
    def event_groups(self) -> list[tuple[Promise, list[tuple[str, Promise, bool]]]]:
        """Each group's title, and its events, each with name, label and whether it is chosen."""
        chosen: Any = self["event_types"].value() or ()
        return [
            (title, [(name, words, name in chosen) for name, words in group.items()])
            for title, group in EVENT_GROUPS
        ]


class ReplayForm(ServiceForm):
    state = forms.ChoiceField(label=gettext_lazy("Events to resend"), choices=_STATES)
    hours = forms.TypedChoiceField(
        label=gettext_lazy("From"), choices=_HOURS, coerce=int, initial=168
    )
