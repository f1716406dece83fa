"""The forms of a bot's own business hours and holidays."""

import re
from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from identity.models import User
from identity.shapes.configs import BusinessHours, DayHours, Holiday

_COMPANYS, _NONE, _OWN = "company", "none", "own"
_SAME = (_COMPANYS, gettext_lazy("Same as the company"))
_SPAN = re.compile(r"(\d{1,2})(?:[:.h](\d\d))?\s*[-–—]\s*(\d{1,2})(?:[:.h](\d\d))?")
_HOLIDAY = re.compile(r"(\d{4}-\d\d-\d\d)\s*(?:\(([^)]*)\))?\s*(.*)")


def _spans(text: str) -> list[tuple[str, str]]:
    """The hours in a text such as "09:00–12:00, 13–18"; raises an error that shows the form."""
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        match = _SPAN.fullmatch(part)
        if match is None:
            raise forms.ValidationError(gettext("Enter hours such as 09:00–18:00."))
        hour, minute, last_hour, last_minute = (int(group or 0) for group in match.groups())
        found.append((f"{hour:02}:{minute:02}", f"{last_hour:02}:{last_minute:02}"))
    return found


def _in_words(entries: list[dict[str, Any]]) -> str:
    return ", ".join(f"{entry['opens']}–{entry['closes']}" for entry in entries)


def _choice(stored: list[Any] | None) -> str:
    return _COMPANYS if stored is None else _OWN if stored else _NONE


def _chosen(choice: str, own: list[Any]) -> list[Any] | None:
    return own if choice == _OWN else None if choice == _COMPANYS else []


class HoursForm(BotForm):
    heading = gettext_lazy("Business hours for this bot")
    choice = forms.ChoiceField(
        label=gettext_lazy("Hours"),
        choices=[
            _SAME, (_NONE, gettext_lazy("Always open")), (_OWN, gettext_lazy("Custom hours")),
        ],
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        hours = self.bot.business_hours
        days = {day: [item for item in hours or [] if item["weekday"] == day] for day in WEEKDAYS}
        return {"choice": _choice(hours)} | {
            f"day_{day}": _in_words(entries) for day, entries in days.items()
        }

    def add_fields(self) -> None:
        for day, name in WEEKDAYS.items():
            box = forms.TextInput(attrs={"placeholder": gettext("Closed")})
            field = forms.CharField(label=name, required=False, max_length=200, widget=box)
            self.add_field(f"day_{day}", field)
        self.fields["day_0"].help_text = gettext(
            "For example, 09:00–18:00 or 09:00–12:00, 13:00–18:00. Leave empty if closed."
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for day in WEEKDAYS:
            try:
                data[f"day_{day}"] = _spans(data.get(f"day_{day}", ""))
            except forms.ValidationError as exc:
                self.add_error(f"day_{day}", exc)
        return data

    def submit(self, data: dict[str, Any], by: User) -> Any:
        own = [
            BusinessHours(weekday=day, opens=opens, closes=closes)
            for day in WEEKDAYS
            for opens, closes in data[f"day_{day}"]
        ]
        if data["choice"] == _OWN and not own:
            raise forms.ValidationError(gettext("Enter hours for at least one day."))
        return super().submit({"business_hours": _chosen(data["choice"], own)}, by)


class HolidaysForm(BotForm):
    heading = gettext_lazy("Holidays for this bot")
    choice = forms.ChoiceField(
        label=gettext_lazy("Holidays"),
        choices=[_SAME, (_NONE, gettext_lazy("None")), (_OWN, gettext_lazy("Custom holidays"))],
    )
    days = forms.CharField(
        label=gettext_lazy("Days"),
        required=False,
        max_length=40_000,
        widget=forms.Textarea(
            attrs={"rows": 4, "placeholder": "2026-12-25 Christmas\n2026-12-24 (09:00–12:00)"}
        ),
        help_text=gettext_lazy(
            "One per line: date, hours in parentheses if you're open, and name."
        ),
    )

    def stored(self) -> dict[str, Any]:
        lines = []
        for entry in self.bot.holidays or []:
            hours = f"({_in_words(entry['hours'])})" if entry["hours"] else ""
            lines.append(" ".join(filter(None, [entry["date"], hours, entry["name"]])))
        return {"choice": _choice(self.bot.holidays), "days": "\n".join(lines)}

    def clean_days(self) -> list[Holiday]:
        return [_holiday(line) for line in self.cleaned_data["days"].splitlines() if line.strip()]

    def submit(self, data: dict[str, Any], by: User) -> Any:
        return super().submit({"holidays": _chosen(data["choice"], data["days"])}, by)


def _holiday(line: str) -> Holiday:
    match = _HOLIDAY.fullmatch(line.strip())
    try:
        if match is None:
            raise ValueError(line)
        day, hours, name = match.groups()
        spans = [DayHours(opens=opens, closes=closes) for opens, closes in _spans(hours or "")]
        return Holiday(date=day, name=name, hours=spans)
    except ValueError as exc:
        words = gettext("Enter a date such as 2026-12-25 instead of “%(line)s”.")
        raise forms.ValidationError(words % {"line": line.strip()[:60]}) from exc
