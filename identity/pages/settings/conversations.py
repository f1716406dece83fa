"""Two settings pages: one for handover, assignment and bot answers, and one for what happens after
a conversation."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.forms import Setting
from identity.models import AssignStrategy
from identity.pages.settings.base import ConfigForm, linked, show_config

_REPHRASE_CHOICES: list[tuple[Any, Any]] = [
    ("", gettext_lazy("In website chat and messaging apps")),
    (True, gettext_lazy("In all conversations")),
    (False, gettext_lazy("Never")),
]
# Values of `answer_threshold`. `docs/training.md` says how often bots answer with each value, and
# how often they are wrong.
_THRESHOLD_CHOICES: list[tuple[Any, Any]] = [
    (0.6, gettext_lazy("Answers more")),
    (0.77, gettext_lazy("Balanced")),
    (0.9, gettext_lazy("Hands over more")),
]
_STRATEGIES = [
    (AssignStrategy.MANUAL, gettext_lazy("Agents pick conversations themselves")),
    (AssignStrategy.ROUND_ROBIN, gettext_lazy("Agents take turns")),
    (AssignStrategy.LEAST_BUSY, gettext_lazy("Agent with the fewest open conversations")),
]


class HandoverForm(ConfigForm):
    heading = gettext_lazy("Handover")
    settings = (
        Setting(
            "handoff_on_request", gettext_lazy("Hand over when the customer asks for a person")
        ),
        Setting("handoff_on_no_answer", gettext_lazy("Hand over when the bot has no answer")),
        Setting(
            "ask_again_before_handoff", gettext_lazy("Ask the customer to rephrase first"),
            choices=_REPHRASE_CHOICES,
        ),
        Setting(
            "answer_while_waiting",
            gettext_lazy("Let the bot keep answering while a customer waits"),
        ),
        Setting(
            "assign_strategy", gettext_lazy("Assignment"),
            choices=_STRATEGIES,
        ),
        Setting(
            "agent_capacity", gettext_lazy("Maximum open conversations per agent"),
            gettext_lazy(
                "Beyond this number, none are assigned automatically. Agents can still take more"
                " themselves."
            ),
        ),
        Setting(
            "first_response_target_seconds",
            gettext_lazy("Target wait time (minutes)"),
            linked(
                gettext_lazy("For alerts and colors. Emails use a separate limit:"),
                gettext_lazy("Notifications"), "admin:settings_notifications",
            ),
            unit=60,
        ),
        Setting(
            "auto_translate", gettext_lazy("Translate between agents and customers"),
            linked(
                gettext_lazy(
                    "Agents use your default language, and customers use theirs. Uses credits and"
                    " needs a language model:"
                ),
                gettext_lazy("Language models"), "admin:bots_languagemodel_changelist",
            ),
        ),
    )  # fmt: skip


class AnswersForm(ConfigForm):
    heading = gettext_lazy("Bot answers")
    settings = (
        Setting(
            "answer_threshold", gettext_lazy("When the bot isn't sure"),
            gettext_lazy(
                "The more the bot answers, the more often its answers miss the point. The more it"
                " hands over, the more your team has to answer."
            ),
            choices=_THRESHOLD_CHOICES,
        ),
        Setting(
            "confirm_answers", gettext_lazy("Double-check AI answers against your content"),
            gettext_lazy(
                "The model checks whether your content supports its answer. Answers take longer"
                " and use an extra request. Requires a language model."
            ),
        ),
        Setting(
            "fallback_to_extractive", gettext_lazy("Quote your content when the model fails"),
            gettext_lazy("Otherwise, the conversation goes to your team."),
        ),
        Setting(
            "read_attachments",
            gettext_lazy("Let the bot read images and listen to voice notes"),
            gettext_lazy(
                "They're sent to your language model if it supports them. Otherwise, they"
                " go to your team."
            ),
        ),
        Setting(
            "burst_wait_ms", gettext_lazy("Wait for more messages before answering (seconds)"),
            gettext_lazy(
                "Customers who send several short messages get one answer. Enter 0 to answer each"
                " message."
            ),
            unit=1000,
        ),
    )  # fmt: skip

    def __init__(self, request: HttpRequest, name: str) -> None:
        super().__init__(request, name)
        threshold = self.config.answer_threshold
        if threshold not in dict(_THRESHOLD_CHOICES):
            label = gettext("Custom ({percent}%)").format(percent=f"{threshold * 100:.0f}")
            self.offer("answer_threshold", [*_THRESHOLD_CHOICES, (threshold, label)])


class AfterConversationForm(ConfigForm):
    settings = (
        Setting("ask_feedback", gettext_lazy("Ask the customer for a rating")),
        Setting(
            "feedback_edit_minutes", gettext_lazy("Time limit for changing a rating (minutes)"),
        ),
        Setting(
            "auto_summary", gettext_lazy("Summarize the conversation"),
            gettext_lazy("Summaries, tags, and sentiment use credits."),
        ),
        Setting("auto_tag", gettext_lazy("Tag the conversation by topic")),
        Setting("auto_sentiment", gettext_lazy("Detect the customer's sentiment")),
        Setting(
            "inactivity_end_minutes", gettext_lazy("End inactive conversations after (hours)"),
            gettext_lazy("Enter 0 to keep them open."), unit=60,
        ),
        Setting(
            "reopen_window_minutes", gettext_lazy("Reopen on a new message within (hours)"),
            gettext_lazy("Enter 0 to start a new conversation each time."), unit=60,
        ),
        Setting(
            "reuse_open", gettext_lazy("One open conversation per customer and bot"),
            gettext_lazy("Applies to customers identified by your system."),
        ),
    )  # fmt: skip


def after_conversation(site: Any, request: HttpRequest) -> HttpResponse:
    """The settings page for what happens after a conversation."""
    return show_config(
        site, request, gettext("After a conversation"), {"after": AfterConversationForm}
    )
