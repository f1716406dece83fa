"""Handover and assignment, how bots answer, and what happens after a conversation."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from identity.models import AssignStrategy, ClientConfig
from identity.pages.settings.fields import ScaledField
from identity.pages.settings.frame import ConfigForm, Part, own_client, save_config, sent, show

ASKS_AGAIN_CHOICES = [
    ("", gettext_lazy("In the chat on your website and in messaging apps")),
    ("true", gettext_lazy("In all conversations")),
    ("false", gettext_lazy("Never")),
]
STRATEGIES = [
    (AssignStrategy.MANUAL, gettext_lazy("Agents pick conversations themselves")),
    (AssignStrategy.ROUND_ROBIN, gettext_lazy("Agents take turns")),
    (AssignStrategy.LEAST_BUSY, gettext_lazy("The agent with the fewest open conversations first")),
]


class HandoverForm(ConfigForm):
    handoff_on_request = forms.BooleanField(
        label=gettext_lazy("Hand over when the customer asks for a person"), required=False
    )
    handoff_on_no_answer = forms.BooleanField(
        label=gettext_lazy("Hand over when the bot has no answer"), required=False
    )
    ask_again_before_handoff = forms.TypedChoiceField(
        label=gettext_lazy("First ask the customer once to rephrase"),
        choices=ASKS_AGAIN_CHOICES,
        coerce=lambda chosen: chosen == "true",
        empty_value=None,
        required=False,
    )
    answer_while_waiting = forms.BooleanField(
        label=gettext_lazy("The bot keeps answering while a customer waits for a person"),
        required=False,
    )
    assign_strategy = forms.ChoiceField(
        label=gettext_lazy("Who gets a waiting conversation"), choices=STRATEGIES
    )
    agent_capacity = forms.IntegerField(
        label=gettext_lazy("Most open conversations per agent"),
        min_value=1,
        max_value=1000,
        help_text=gettext_lazy("Agents may still take more themselves."),
    )
    first_response_target_seconds = ScaledField(
        label=gettext_lazy("A customer should wait at most (minutes)"),
        unit=60,
        min_value=1 / 60,
        max_value=10_080,
    )
    auto_translate = forms.BooleanField(
        label=gettext_lazy("Translate between agents and customers"),
        required=False,
        help_text=gettext_lazy(
            "Agents read and write your default language, customers theirs. Costs credits."
        ),
    )

    def __init__(self, data: Any, config: ClientConfig) -> None:
        chosen = config.ask_again_before_handoff
        shown = "" if chosen is None else str(chosen).lower()
        super().__init__(data, config, ask_again_before_handoff=shown)


class AnswersForm(ConfigForm):
    answer_threshold = ScaledField(
        label=gettext_lazy("Confidence (%)"),
        unit=0.01,
        min_value=0,
        max_value=100,
        help_text=gettext_lazy("Below it the bot does not answer from your content."),
    )
    confirm_answers = forms.BooleanField(
        label=gettext_lazy("Check every answer that a language model writes"),
        required=False,
        help_text=gettext_lazy(
            "The model is asked again whether your content supports what it wrote, because an"
            " invented answer can sound right. Each answer takes longer and costs a second request."
            " Without a model this changes nothing."
        ),
    )
    fallback_to_extractive = forms.BooleanField(
        label=gettext_lazy("Quote your content when the model fails"),
        required=False,
        help_text=gettext_lazy("Otherwise the conversation goes to your team."),
    )
    burst_wait_ms = ScaledField(
        label=gettext_lazy("Wait for further messages before answering (seconds)"),
        unit=1000,
        min_value=0,
        max_value=60,
        help_text=gettext_lazy(
            "Customers who send several short messages get one answer. 0: an answer for each."
        ),
    )


class AfterForm(ConfigForm):
    ask_feedback = forms.BooleanField(
        label=gettext_lazy("Ask the customer for a rating"), required=False
    )
    feedback_edit_minutes = forms.IntegerField(
        label=gettext_lazy("A rating can be changed for (minutes)"),
        min_value=0,
        max_value=525_600,
    )
    auto_summary = forms.BooleanField(
        label=gettext_lazy("Summarise the conversation"),
        required=False,
        help_text=gettext_lazy("Summaries, tags and sentiment cost credits."),
    )
    auto_tag = forms.BooleanField(label=gettext_lazy("Tag it by topic"), required=False)
    auto_sentiment = forms.BooleanField(
        label=gettext_lazy("Estimate the customer's sentiment"), required=False
    )
    inactivity_end_minutes = ScaledField(
        label=gettext_lazy("End a silent conversation after (hours)"),
        unit=60,
        min_value=0,
        max_value=8_760,
        help_text=gettext_lazy("0: never."),
    )
    reopen_window_minutes = ScaledField(
        label=gettext_lazy("A new message reopens it for (hours)"),
        unit=60,
        min_value=0,
        max_value=8_760,
        help_text=gettext_lazy("0: a new message starts a new conversation."),
    )
    reuse_open = forms.BooleanField(
        label=gettext_lazy("One open conversation per customer and bot"),
        required=False,
        help_text=gettext_lazy("For customers that your own system identifies."),
    )


def handover(site: Any, request: HttpRequest) -> HttpResponse:
    """When conversations go to people, to whom, and how sure a bot must be to answer."""
    config, save = own_client(request).config, save_config(request)
    form, answers = (
        HandoverForm(sent(request, "handover"), config),
        AnswersForm(sent(request, "answers"), config),
    )
    parts = [
        Part("handover", gettext("When, and to whom"), form, save),
        Part("answers", gettext("How bots answer"), answers, save, variant="default"),
    ]
    return show(site, request, gettext("Handover and assignment"), parts)


def after(site: Any, request: HttpRequest) -> HttpResponse:
    """What happens when a conversation has ended."""
    form = AfterForm(sent(request, "after"), own_client(request).config)
    part = Part("after", "", form, save_config(request))
    return show(site, request, gettext("After a conversation"), [part])
