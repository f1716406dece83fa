"""Shows values as text: codes, locations and shares in templates, and changes in the audit log."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.translation import get_language_info, gettext, gettext_noop

from chatplatform.templatetags.action_words import ACTIONS, LABELS
from chatplatform.templatetags.dates import full_time

register = template.Library()
_ABBREVIATION = re.compile(r"\b(api|http|id|ip|url)\b", re.IGNORECASE)
_MILLISECONDS = re.compile(r" ms$")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+\d\d:\d\d)")
# A time in this year means never.
_FOREVER = 9999
# The seconds in each unit that may end a field's name; below, the unit that may end a label.
_UNITS = {"_seconds": 1, "_minutes": 60, "_hours": 3600, "_days": 86_400}
_UNIT = re.compile(r" (\([^()]*\)|seconds|minutes|hours|days)$")
_CODE = re.compile(r"[a-z]+([._][a-z]+)+")
# What one can do about an error, and another server's words.
_IN_BRACKETS = re.compile(r"(.*?\.) \((.+)\)", re.DOTALL)
# Fields with free text, which may look like a code but is shown unchanged.
_FREE_TEXT = re.compile(
    r"(\w+_)?name|model|question|shortcut|reference|allowed_domain|\w+_messages?\..+"
)

# Words for codes that would be unclear if just spelled out.
_CODE_LABELS = {
    "answered": gettext_noop("Answered"),
    "below_gate": gettext_noop("Confidence too low"),
    "nothing_to_quote": gettext_noop("No answer in your content"),
    "no_answer": gettext_noop("The bot had no answer"),
    "model_refused": gettext_noop("The model found no answer in your content"),
    "engine_failed": gettext_noop("The model failed"),
    "agents_reply": gettext_noop("Your team answers instead of the bot"),
    "files_only": gettext_noop("Files only, no text"),
    "unreadable": gettext_noop("The bot can't answer this type of message"),
    "bot_disabled": gettext_noop("The bot was disabled"),
    "customer_asked": gettext_noop("Asked for a person"),
    "staff_request": gettext_noop("Requested by a teammate"),
    "credits_used_up": gettext_noop("Out of credits"),
    "approval_needed": gettext_noop("Waiting for approval"),
    "procedure": gettext_noop("Procedure"),
    "procedure_changed": gettext_noop("The procedure was changed"),
    "customer_declined": gettext_noop("Customer declined"),
    "agent_declined": gettext_noop("Agent rejected"),
    "handoff_not_wanted": gettext_noop("No answer, and handover is off"),
    "info_given": gettext_noop("Customer shared details"),
    "info_declined": gettext_noop("Customer declined to share details"),
    "info_wrong": gettext_noop("Customer's answer wasn't valid"),
    "agent_silent": gettext_noop("The agent didn't reply in time"),
    "agent_gone": gettext_noop("The agent is no longer available"),
    # The states and categories that messaging providers report.
    "approved": gettext_noop("Approved"),
    "rejected": gettext_noop("Rejected"),
    "paused": gettext_noop("Paused"),
    "disabled": gettext_noop("Disabled"),
    "flagged": gettext_noop("Flagged"),
    "green": gettext_noop("Green"),
    "yellow": gettext_noop("Yellow"),
    "red": gettext_noop("Red"),
    "unlimited": gettext_noop("Unlimited"),
    "service": gettext_noop("Service"),
    "utility": gettext_noop("Utility"),
    "marketing": gettext_noop("Marketing"),
    "authentication": gettext_noop("Authentication"),
    # Outcomes of golden runs and a reason for a handover.
    "overtaken": gettext_noop("No longer needed"),
    "held": gettext_noop("On hold"),
    "published": gettext_noop("Published"),
    "answered_elsewhere": gettext_noop("Continued outside this inbox"),
} | ACTIONS


@register.filter
def humanize_code(code: object) -> str:
    """An API code in words: `not_found` becomes "Not found"."""
    if not code:
        return "–"
    text = _CODE_LABELS.get(str(code))
    if text:
        return gettext(text)
    plain = str(code).replace("_", " ").replace(".", " ").capitalize()
    plain = _MILLISECONDS.sub(" (ms)", plain)
    return translated_label(_ABBREVIATION.sub(lambda found: found[0].upper(), plain))


def error_text(message: str, code: str) -> str:
    """The stored English message of an error in the reader's language; its code in words if there
    is no message."""
    return stored_text(message) if message else humanize_code(code)


@register.filter
def stored_text(message: str) -> str:
    """A stored English message in the reader's language, its lines in one. What follows a colon or
    stands in brackets at the end, such as a number or another server's words, is translated only if
    it is ours, too."""
    if found := _IN_BRACKETS.fullmatch(message):
        return f"{stored_text(found[1])} ({stored_text(found[2])})"
    lines = message.splitlines()
    return " ".join(": ".join(map(gettext, line.split(": "))) for line in lines)


def translated_label(text: str) -> str:
    """A spelled-out name or state in the reader's language, by its label in `LABELS` if any."""
    return gettext(LABELS.get(text, text))


@register.filter
def location_text(location: Mapping[str, Any]) -> str:
    """A location as city, region and country, or as latitude and longitude."""

    def joined(*names: str) -> str:
        return ", ".join(str(location[name]) for name in names if location.get(name) is not None)

    return joined("city", "region", "country") or joined("latitude", "longitude")


@register.filter
def percent(share: float | None) -> str:
    """A share from 0 to 1 as a percentage."""
    return "–" if share is None else f"{100 * share:.0f}%"


def codes_matching(word: str) -> list[str]:
    """The codes whose words in `_CODE_LABELS` contain this word."""
    return [code for code, label in _CODE_LABELS.items() if word.lower() in gettext(label).lower()]


def describe_changes(
    changes: dict[str, Any], settings: Mapping[str, tuple[Any, Mapping[Any, Any]]] | None = None
) -> str:
    """The changes of an audit entry in words. `settings` contains the labels of fields and of their
    choices."""
    return "; ".join(_change(name, value, settings or {}) for name, value in changes.items())


def _change(name: str, value: Any, settings: Mapping[str, tuple[Any, Mapping[Any, Any]]]) -> str:
    if name == "fields" and isinstance(value, list):
        return ", ".join(_title(str(item), settings) for item in value)
    is_free_text = _FREE_TEXT.fullmatch(name)
    values = value if isinstance(value, list) and len(value) == 2 else [value]
    _, choices = settings.get(name.rpartition(".")[2], ("", {}))
    unit = next((size for ending, size in _UNITS.items() if name.endswith(ending)), 0)

    def word(item: Any) -> str:
        if isinstance(item, str | int) and item in choices:
            return str(choices[item])
        if unit and type(item) is int:
            return _duration(item * unit)
        return str(item or "–") if is_free_text else _value(item)

    title = _title(name, settings)
    title = _UNIT.sub("", title) if unit else title
    if len(values) == 2 and (words := _list_change(name, *values, word=word)):
        return f"{title}: {words}"
    return f"{title}: {' → '.join(map(word, values))}"


def _list_change(name: str, old: Any, new: Any, *, word: Callable[[Any], str]) -> str:
    """What was added to a list of words or codes, and what was removed from it; empty if it was
    neither, or if these are no such lists."""
    before, after = ([] if items in (None, "") else items for items in (old, new))
    if not (isinstance(before, list) and isinstance(after, list)):
        return ""
    if not all(isinstance(item, str | int) for item in [*before, *after]):
        return ""

    def joined(items: list[Any]) -> str:
        codes = name == "languages"
        return ", ".join((_language(str(item)) if codes else "") or word(item) for item in items)

    added = joined([item for item in after if item not in before])
    removed = joined([item for item in before if item not in after])
    texts = [
        gettext("added %(items)s") % {"items": added} if added else "",
        gettext("removed %(items)s") % {"items": removed} if removed else "",
    ]
    return ", ".join(filter(None, texts))


def _title(name: str, settings: Mapping[str, tuple[Any, Mapping[Any, Any]]]) -> str:
    """A field's label on its page; a translated text's label includes the language."""
    field, _, part = name.partition(".")
    if not part or part in settings:
        return str(settings.get(part or field, ("",))[0]) or humanize_code(part or field)
    label = str(settings.get(field, ("",))[0])
    return f"{label or humanize_code(field)} ({_language(part) or humanize_code(part)})"


def _language(code: str) -> str:
    """The name of a language; empty if the code is unknown."""
    try:
        name = str(get_language_info(code)["name_translated"])
    except KeyError:
        return ""
    return name[:1].upper() + name[1:]


def _duration(seconds: int) -> str:
    """A duration in the largest unit that needs no fraction."""
    if seconds and seconds % 86_400 == 0:
        return gettext("%(n)s d") % {"n": seconds // 86_400}
    if seconds and seconds % 3600 == 0:
        return gettext("%(n)s h") % {"n": seconds // 3600}
    if seconds % 60 == 0:
        return gettext("%(n)s min") % {"n": seconds // 60}
    return gettext("%(n)s s") % {"n": seconds}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value) or "–"
    if isinstance(value, dict):
        if value and all(isinstance(text, str) and _language(key) for key, text in value.items()):
            texts = ((_language(key), _value(text)) for key, text in value.items())
            return "; ".join(f"{language}: {text}" for language, text in texts)
        return describe_changes(value)
    text = str("–" if value in {None, ""} else value)
    if _TIME.fullmatch(text):
        at = datetime.fromisoformat(text)
        return "–" if at.year == _FOREVER else full_time(timezone.localtime(at))
    return humanize_code(text).lower() if _CODE.fullmatch(text) else text
