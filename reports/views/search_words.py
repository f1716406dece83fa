"""What the command palette finds pages by, besides their titles: the labels of their forms, and
other words that people use for them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from bots.pages import settings_company
from bots.pages.bot import settings as bot_pages
from chatplatform.forms import SettingsForm
from chats.pages import automated_messages
from identity.pages.audit_labels import OTHER_WORDS
from identity.pages.settings import business_hours, conversations, notifications, plan, privacy


@dataclass(frozen=True)
class Card:
    """A card of a page, with the labels of its fields."""

    # The name of the page's URL, and the card's place on it.
    target: str
    anchor: str = ""
    title: Any = ""
    labels: list[Any] = field(default_factory=list)

    def found_by(self, term: str) -> Any:
        """The title or label in which a word begins with the term, or the title if one of the
        card's other words does; None if no word does."""
        starts = re.compile(rf"(?<!\w){re.escape(term)}", re.IGNORECASE).search
        own = next((text for text in (self.title, *self.labels) if starts(str(text))), None)
        if own is not None:
            return own
        others = _OTHER_WORDS.get((self.target, self.anchor), "")
        return self.title if starts(str(others)) else None


_LOOK, _BEHAVIOUR = "admin:bots_bot_look", "admin:bots_bot_behaviour"
# Words that are in no label of a card or, if no card is named, of a page.
_OTHER_WORDS = {
    (_LOOK, "appearance"): gettext_lazy("logo, picture, avatar, design"),
    (_LOOK, "welcome"): OTHER_WORDS["welcome_message"],
    ("admin:settings_hours", "hours"): OTHER_WORDS["business_hours"],
    ("admin:settings_handover", "handover"): gettext_lazy("translation, agents, escalation"),
    ("admin:settings_plan", ""): gettext_lazy(
        "credits, invoice, billing, payment, price, subscription"
    ),
    ("admin:identity_user_changelist", ""): gettext_lazy("invite, colleagues, agents, roles"),
    ("reports_adhoc", ""): gettext_lazy("statistics, agents, speed, times"),
    ("channels", ""): gettext_lazy("messaging apps, phone number, simulator"),
}  # fmt: skip


def settings_cards() -> Iterator[Card]:
    """Yield the cards of the Settings pages."""
    hours, handover = "admin:settings_hours", "admin:settings_handover"
    yield _card("admin:settings_company", "company", "", settings_company.CompanyForm)
    yield _card(hours, "hours", business_hours.HoursForm.heading, business_hours.HoursForm)
    yield _card(
        hours, "holidays", gettext_lazy("Holidays"),
        business_hours.CountryForm, business_hours.DayForm,
    )  # fmt: skip
    yield _card(
        handover, "handover", conversations.HandoverForm.heading, conversations.HandoverForm
    )
    yield _card(handover, "answers", conversations.AnswersForm.heading, conversations.AnswersForm)
    for name, (title, texts) in automated_messages.GROUPS.items():
        yield Card("admin:settings_messages", name, title, list(texts.values()))
    yield _card("admin:settings_after", "after", "", conversations.AfterConversationForm)
    yield _card(
        "admin:settings_notifications", "notifications", "", notifications.NotificationsForm
    )
    yield _card("admin:settings_privacy", "privacy", "", privacy.PrivacyForm)
    yield _card("admin:settings_plan", "order", gettext_lazy("Order credits"), plan.OrderForm)


def bot_cards() -> Iterator[Card]:
    """Yield the cards of a bot's Appearance and Behavior pages."""
    for target, page in ((_LOOK, bot_pages.LOOK), (_BEHAVIOUR, bot_pages.BEHAVIOUR)):
        for name, form in page.items():
            # The welcome message is on both pages.
            if target == _LOOK or name not in bot_pages.LOOK:
                yield _card(target, name, form.heading, form)


def _card(target: str, anchor: str, title: Any, *classes: type[forms.Form]) -> Card:
    labels = []
    for form in classes:
        labels += [item.label for item in getattr(form, "base_fields", {}).values() if item.label]
        if issubclass(form, SettingsForm):
            labels += [item.label for item in form.settings]
    return Card(target, anchor, title, labels)
