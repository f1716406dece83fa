"""The forms of the site's pages about endpoints."""

from django import forms
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code
from webhooks import catalogue

_STATES = [
    ("gave_up", "Deliveries that ended without success"),
    ("missing", "Events that were never sent to it, as while it was off"),
    ("all", "Every event"),
]
_HOURS = [(1, "The last hour"), (24, "The last day"), (168, "The last week"), (719, "30 days")]


class EndpointForm(ServiceForm):
    url = forms.CharField(
        label="Address",
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "https://your-shop.com/hooks/chat"}),
        help_text="Where your server takes events, by https.",
    )
    description = forms.CharField(label="A note for yourself", max_length=200, required=False)
    event_types = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, humanize_code(name)) for name in catalogue.EVENTS],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="None chosen: every event, those of later versions too.",
    )


class ReplayForm(ServiceForm):
    state = forms.ChoiceField(label="What is sent again", choices=_STATES)
    hours = forms.TypedChoiceField(label="From when", choices=_HOURS, coerce=int)
