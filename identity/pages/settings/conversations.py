"""Handover and assignment, how bots answer, and what happens after a conversation."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.forms import Setting
from identity.models import AssignStrategy
from identity.pages.settings.frame import ConfigForm, show_config

_ASKS_AGAIN: list[tuple[Any, Any]] = [
    ("", gettext_lazy("In the chat on your website and in messaging apps")),
    (True, gettext_lazy("In all conversations")),
    (False, gettext_lazy("Never")),
]
_STRATEGIES = [
    (AssignStrategy.MANUAL, gettext_lazy("Agents pick conversations themselves")),
    (AssignStrategy.ROUND_ROBIN, gettext_lazy("Agents take turns")),
    (AssignStrategy.LEAST_BUSY, gettext_lazy("The agent with the fewest open conversations first")),
]


class HandoverForm(ConfigForm):
    heading = gettext_lazy("When, and to whom")
    settings = (
        Setting(
            "handoff_on_request", gettext_lazy("Hand over when the customer asks for a person")
        ),
        Setting("handoff_on_no_answer", gettext_lazy("Hand over when the bot has no answer")),
        Setting(
            "ask_again_before_handoff", gettext_lazy("First ask the customer once to rephrase"),
            choices=_ASKS_AGAIN,
        ),
        Setting(
            "answer_while_waiting",
            gettext_lazy("The bot keeps answering while a customer waits for a person"),
        ),
        Setting(
            "assign_strategy", gettext_lazy("Who gets a waiting conversation"),
            choices=_STRATEGIES,
        ),
        Setting(
            "agent_capacity", gettext_lazy("Most open conversations per agent"),
            gettext_lazy("Agents may still take more themselves."),
        ),
        Setting(
            "first_response_target_seconds",
            gettext_lazy("A customer should wait at most (minutes)"), unit=60,
        ),
        Setting(
            "auto_translate", gettext_lazy("Translate between agents and customers"),
            gettext_lazy(
                "Agents read and write your default language, customers theirs. Costs credits."
            ),
        ),
    )  # fmt: skip


class AnswersForm(ConfigForm):
    heading = gettext_lazy("How bots answer")
    settings = (
        Setting(
            "answer_threshold", gettext_lazy("Confidence (%)"),
            gettext_lazy("Below it the bot does not answer from your content."), unit=0.01,
        ),
        Setting(
            "confirm_answers", gettext_lazy("Check every answer that a language model writes"),
            gettext_lazy(
                "The model is asked again whether your content supports what it wrote, because an"
                " invented answer can sound right. Each answer takes longer and costs a second"
                " request. Without a model this changes nothing."
            ),
        ),
        Setting(
            "fallback_to_extractive", gettext_lazy("Quote your content when the model fails"),
            gettext_lazy("Otherwise the conversation goes to your team."),
        ),
        Setting(
            "burst_wait_ms", gettext_lazy("Wait for further messages before answering (seconds)"),
            gettext_lazy(
                "Customers who send several short messages get one answer. 0: an answer for each."
            ),
            unit=1000,
        ),
    )  # fmt: skip


class AfterForm(ConfigForm):
    settings = (
        Setting("ask_feedback", gettext_lazy("Ask the customer for a rating")),
        Setting("feedback_edit_minutes", gettext_lazy("A rating can be changed for (minutes)")),
        Setting(
            "auto_summary", gettext_lazy("Summarise the conversation"),
            gettext_lazy("Summaries, tags and sentiment cost credits."),
        ),
        Setting("auto_tag", gettext_lazy("Tag it by topic")),
        Setting("auto_sentiment", gettext_lazy("Estimate the customer's sentiment")),
        Setting(
            "inactivity_end_minutes", gettext_lazy("End a silent conversation after (hours)"),
            gettext_lazy("0: never."), unit=60,
        ),
        Setting(
            "reopen_window_minutes", gettext_lazy("A new message reopens it for (hours)"),
            gettext_lazy("0: a new message starts a new conversation."), unit=60,
        ),
        Setting(
            "reuse_open", gettext_lazy("One open conversation per customer and bot"),
            gettext_lazy("For customers that your own system identifies."),
        ),
    )  # fmt: skip


def handover(site: Any, request: HttpRequest) -> HttpResponse:
    """When conversations go to people, to whom, and how sure a bot must be to answer."""
    forms = {"handover": HandoverForm, "answers": AnswersForm}
    return show_config(site, request, gettext("Handover and assignment"), forms)


def after(site: Any, request: HttpRequest) -> HttpResponse:
    """What happens when a conversation has ended."""
    return show_config(site, request, gettext("After a conversation"), {"after": AfterForm})
