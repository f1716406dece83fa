"""Template filters that show values as text: codes, locations and shares."""

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext, gettext_noop

register = template.Library()
_ABBREVIATION = re.compile(r"\b(api|id|ip|url)\b", re.IGNORECASE)
_CODE = re.compile(r"[a-z]+([._][a-z]+)+")
# Fields with text that people wrote: it may look like a code but is shown unchanged.
_WRITTEN = re.compile(
    r"(\w+_)?name|model|question|shortcut|reference|allowed_domain|\w+_messages?\..+"
)

# Words for codes that would say too little if they were just spelled out.
_WORDS = {
    "answered": gettext_noop("Answered"),
    "below_gate": gettext_noop("Confidence too low"),
    "nothing_to_quote": gettext_noop("No answer in your content"),
    "no_answer": gettext_noop("The bot had no answer"),
    "model_refused": gettext_noop("The model found no answer in your content"),
    "engine_failed": gettext_noop("The model failed"),
    "agents_reply": gettext_noop("Your team answers for this bot"),
    "files_only": gettext_noop("Files only, no text"),
    "unreadable": gettext_noop("The bot can't deal with this kind of message"),
    "bot_disabled": gettext_noop("The bot was off"),
    "customer_asked": gettext_noop("Asked for a person"),
    "staff_request": gettext_noop("Requested by a teammate"),
    "credits_used_up": gettext_noop("Out of credits"),
    "approval_needed": gettext_noop("Waiting for approval"),
    "customer_declined": gettext_noop("Customer declined"),
    "agent_declined": gettext_noop("Agent declined"),
    "handoff_not_wanted": gettext_noop("No answer, and handover is off"),
    "info_given": gettext_noop("Customer provided a detail"),
    "info_declined": gettext_noop("Customer declined to give a detail"),
    "info_wrong": gettext_noop("Customer's answer wasn't valid"),
    "agent_silent": gettext_noop("The agent didn't reply in time"),
    "agent_gone": gettext_noop("The agent is no longer available"),
    "user.view_started": gettext_noop("Platform staff started viewing as this person"),
    "user.view_ended": gettext_noop("Platform staff stopped viewing as this person"),
    "overtaken": gettext_noop("No longer needed"),
    "answered_elsewhere": gettext_noop("Answered in the channel's app"),
}


@register.filter
def humanize_code(code: object) -> str:
    """A code of the API in words: `customer_asked` becomes "Customer asked"."""
    if not code:
        return "–"
    words = _WORDS.get(str(code))
    if words:
        return gettext(words)
    plain = str(code).replace("_", " ").replace(".", " ").capitalize()
    return _ABBREVIATION.sub(lambda found: found[0].upper(), plain)


@register.filter
def location_text(location: Mapping[str, Any]) -> str:
    """A location as city, region and country, or as latitude and longitude."""

    def joined(*names: str) -> str:
        return ", ".join(str(location[name]) for name in names if location.get(name) is not None)

    return joined("city", "region", "country") or joined("latitude", "longitude")


@register.filter
def percent(share: float | None) -> str:
    """A share, 0..1, as a percentage."""
    return "–" if share is None else f"{100 * share:.0f}%"


def change_words(changes: dict[str, Any]) -> str:
    """The changes of an audit entry in words."""
    return "; ".join(_change(name, value) for name, value in changes.items())


def _change(name: str, value: Any) -> str:
    if name == "fields" and isinstance(value, list):
        return f"Changed: {', '.join(_value(item) for item in value)}"
    is_written = _WRITTEN.fullmatch(name)
    values = value if isinstance(value, list) and len(value) == 2 else [value]
    words = [str(item or "–") if is_written else _value(item) for item in values]
    return f"{humanize_code(name)}: {' → '.join(words)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value) or "–"
    if isinstance(value, dict):
        return change_words(value)
    text = str("–" if value in {None, ""} else value)
    return humanize_code(text).lower() if _CODE.fullmatch(text) else text
