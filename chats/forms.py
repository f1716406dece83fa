"""The forms of the site's pages about conversations."""

from django import forms

from bots.shapes.written import MAX_ANSWER, MAX_QUESTION
from chatplatform.forms import ServiceForm


class AskForm(ServiceForm):
    question = forms.CharField(
        label="Your question",
        max_length=8000,
        widget=forms.TextInput(attrs={"autofocus": "", "autocomplete": "off"}),
    )


class AnswerForm(ServiceForm):
    question = forms.CharField(
        label="Question",
        max_length=MAX_QUESTION,
        help_text="People who get the answer may see the question as its source: leave out a"
        " customer's name and numbers.",
    )
    answer = forms.CharField(
        label="Answer",
        max_length=MAX_ANSWER,
        widget=forms.Textarea(attrs={"rows": 4, "autofocus": ""}),
        help_text="Everybody who asks nearly the same gets this answer.",
    )
