"""The forms of the site's pages about endpoints."""

from django import forms
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code
from webhooks import catalogue

_STATES = [
    ("gave_up", "Deliveries that failed for good"),
    ("missing", "Events that were never sent, for example while the endpoint was off"),
    ("all", "Every event"),
]
_HOURS = [(1, "The last hour"), (24, "The last day"), (168, "The last week"), (719, "30 days")]


class EndpointForm(ServiceForm):
    url = forms.CharField(
        label="Address",
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "https://your-shop.com/hooks/chat"}),
        help_text="The https address at which your server receives events.",
    )
    description = forms.CharField(label="A note for yourself", max_length=200, required=False)
    event_types = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, humanize_code(name)) for name in catalogue.EVENTS],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="If none is chosen, all events are sent, including types that are added later.",
    )


class ReplayForm(ServiceForm):
    state = forms.ChoiceField(label="Events to send again", choices=_STATES)
    hours = forms.TypedChoiceField(label="From", choices=_HOURS, coerce=int)
