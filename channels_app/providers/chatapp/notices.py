"""Reads callbacks about accounts, numbers and templates: state, quality, limits and alerts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone

from channels_app.providers.callback_parsing import key_of
from channels_app.providers.events import ProviderNotice
from channels_app.providers.json_values import as_dict, as_text

# Values that mean "not set".
_NOTHING = {"", "none", "tier_not_set"}
_MAX_REASON, _MAX_DIGITS = 500, 12
_QUALITIES = {"flagged": "red", "unflagged": "green"}


def item(
    field: str, value: dict[str, Any], business_id: str, sent_at: datetime | None
) -> ProviderNotice | None:
    """The notice in a change with this `field`; None if it contains none."""
    read = _READERS.get(field)
    found = read(value) if read else None
    if found is None or found["value"] in _NOTHING:
        return None
    at = sent_at or timezone.now()
    names = [found.get(name, "") for name in ("kind", "template", "language", "number", "value")]
    return ProviderNotice(
        **found, account_id=business_id, at=at, key=key_of("news", *names, sent_at or repr(value))
    )


def limit_of(value: Any) -> str:
    """A limit on customers per day in digits: `2000` for both TIER_2K and 2000.

    `unlimited` if there is no limit, and empty if the value is not readable.
    """
    words = as_text(value).lower().removeprefix("tier_")
    if words in {"-1", "unlimited"}:
        return "unlimited"
    digits = words.removesuffix("k")
    if not digits.isdecimal() or len(digits) > _MAX_DIGITS:
        return ""
    return f"{digits}000" if words.endswith("k") else digits


def _word(value: Any) -> str:
    words = as_text(value).lower()[:60]
    return "" if words in _NOTHING else words


def _of_template(value: dict[str, Any], kind: str, now: str, before: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "value": _word(value.get(now)),
        "previous": _word(value.get(before)),
        "template": as_text(value.get("message_template_name"))[:512],
        "language": as_text(value.get("message_template_language"))[:20],
    }


def _template_status(value: dict[str, Any]) -> dict[str, Any]:
    refusal, other = as_dict(value.get("rejection_info")), as_dict(value.get("other_info"))
    reasons = (
        as_text(other.get("description")) or _word(other.get("title")),
        as_text(refusal.get("reason")),
        as_text(refusal.get("recommendation")),
    )
    reason = " ".join(filter(None, reasons)) or _word(value.get("reason"))
    return _of_template(value, "template_status", "event", "") | {"reason": reason[:_MAX_REASON]}


def _template_category(value: dict[str, Any]) -> dict[str, Any]:
    """A template's new category, or the one announced for the next day if nobody objects."""
    if value.get("correct_category"):
        found = _of_template(value, "template_category", "correct_category", "new_category")
        return found | {"reason": "announced"}
    return _of_template(value, "template_category", "new_category", "previous_category")


def _number_quality(value: dict[str, Any]) -> dict[str, Any]:
    event = _word(value.get("event"))
    number = "".join(filter(str.isdigit, as_text(value.get("display_phone_number"))))[:20]
    if event in _QUALITIES:
        return {"kind": "quality", "value": _QUALITIES[event], "number": number}
    limit = value.get("max_daily_conversations_per_business") or value.get("current_limit")
    return {
        "kind": "sending_limit", "value": limit_of(limit), "number": number,
        "previous": limit_of(value.get("old_limit")), "reason": event,
    }  # fmt: skip


def _capability(value: dict[str, Any]) -> dict[str, Any]:
    names = ("max_daily_conversations_per_business", "max_daily_conversation_per_phone")
    limit = next((value[name] for name in names if value.get(name)), None)
    return {"kind": "sending_limit", "value": limit_of(limit)}


def _name(value: dict[str, Any]) -> dict[str, Any]:
    number = "".join(filter(str.isdigit, as_text(value.get("display_phone_number"))))[:20]
    words = [as_text(value.get("requested_verified_name")), _word(value.get("rejection_reason"))]
    reasons = ": ".join(filter(None, words))
    return {
        "kind": "name", "value": _word(value.get("decision")), "number": number,
        "reason": reasons[:_MAX_REASON],
    }  # fmt: skip


def _review(value: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "review", "value": _word(value.get("decision"))}


def _alert(value: dict[str, Any]) -> dict[str, Any]:
    info = as_dict(value.get("alert_info")) or value
    reason = as_text(info.get("alert_description"))[:_MAX_REASON]
    kind = _word(info.get("alert_type")) or "alert"
    is_harmless = _word(info.get("alert_severity")) == "informational"
    return {"kind": "alert", "value": kind, "reason": reason, "is_harmless": is_harmless}


_READERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "message_template_status_update": _template_status,
    "message_template_quality_update": lambda value: _of_template(
        value, "template_quality", "new_quality_score", "previous_quality_score"
    ),
    "template_category_update": _template_category,
    "phone_number_quality_update": _number_quality,
    "business_capability_update": _capability,
    "phone_number_name_update": _name,
    "account_review_update": _review,
    "account_alerts": _alert,
}
