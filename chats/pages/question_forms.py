"""The forms of the site's pages about conversations."""

from django import forms
from django.utils.translation import gettext_lazy

from bots.forms import day_field
from bots.pages.bot.content_forms import ANSWER_HELP, VALID_UNTIL_HELP
from bots.schemas.written import MAX_ANSWER, MAX_QUESTION
from chatplatform.forms import ServiceForm


class AskForm(ServiceForm):
    question = forms.CharField(
        label=gettext_lazy("Your question"),
        max_length=8000,
        widget=forms.TextInput(attrs={"autofocus": "", "autocomplete": "off"}),
    )


class AnswerForm(ServiceForm):
    question = forms.CharField(
        label=gettext_lazy("Question"),
        max_length=MAX_QUESTION,
        help_text=gettext_lazy(
            "Customers may see this as a source, so leave out names and personal details."
        ),
    )
    answer = forms.CharField(
        label=gettext_lazy("Answer"),
        max_length=MAX_ANSWER,
        widget=forms.Textarea(attrs={"rows": 4, "autofocus": ""}),
        help_text=ANSWER_HELP,
    )
    valid_until = day_field(gettext_lazy("Valid until"), VALID_UNTIL_HELP)
    # The id of the document whose answer the form edits; empty for a new answer.
    edits = forms.IntegerField(required=False, widget=forms.HiddenInput)
