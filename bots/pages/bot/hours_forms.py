"""The forms for a bot's own business hours and holidays."""

import re
from typing import Any

import pydantic
from django import forms
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from chatplatform.forms import refusals
from identity.models import User
from identity.pages.settings.week_field import WeekField
from identity.schemas.configs import Holiday

_SPAN = re.compile(r"(\d{1,2})(?:[:.h](\d\d))?\s*[-–—]\s*(\d{1,2})(?:[:.h](\d\d))?")
_HOLIDAY = re.compile(r"(\d{4}-\d\d-\d\d)?\s*(?:\(([^)]*)\))?\s*(.*)")


class HoursForm(BotForm):
    heading = gettext_lazy("Business hours for this bot")
    business_hours = WeekField(label=gettext_lazy("Hours"), may_inherit=True)

    def add_fields(self) -> None:
        week: Any = self.fields["business_hours"]
        week.suggest(self.bot.custom_hours)

    def stored(self) -> dict[str, Any]:
        return {"business_hours": self.bot.business_hours}


class HolidaysForm(BotForm):
    heading = gettext_lazy("Holidays for this bot")
    choice = forms.ChoiceField(
        label=gettext_lazy("Holidays"),
        choices=[
            ("company", gettext_lazy("Same as the company")),
            ("none", gettext_lazy("None")),
            ("own", gettext_lazy("Custom holidays")),
        ],
    )
    days = forms.CharField(
        label=gettext_lazy("Days"),
        required=False,
        max_length=40_000,
        widget=forms.Textarea(
            attrs={"rows": 4, "placeholder": "2026-12-25 Christmas\n2026-12-24 (09:00–12:00)"}
        ),
        help_text=gettext_lazy(
            "One day per line: the date, then any opening hours in parentheses, then an optional"
            " name."
        ),
    )

    def stored(self) -> dict[str, Any]:
        days = self.bot.holidays
        lines = []
        for entry in days or []:
            hours = ", ".join(f"{span['opens']}–{span['closes']}" for span in entry["hours"])
            lines.append(" ".join(filter(None, [entry["date"], hours and f"({hours})",
                                                entry["name"]])))  # fmt: skip
        choice = "company" if days is None else "own" if days else "none"
        return {"choice": choice, "days": "\n".join(lines)}

    def clean_days(self) -> list[Holiday]:
        return [_holiday(line) for line in self.cleaned_data["days"].splitlines() if line.strip()]

    def submit(self, data: dict[str, Any], by: User) -> Any:
        days = {"company": None, "none": []}.get(data["choice"], data["days"])
        return self.change({"holidays": days}, by)


def _holiday(line: str) -> Holiday:
    """Parse a line such as "2026-12-24 (9–12) Christmas Eve"; raises ValidationError."""
    match = _HOLIDAY.fullmatch(line.strip())
    day, hours, name = match.groups() if match else ("", "", "")
    spans = [_span(text.strip()) for text in (hours or "").split(",") if text.strip()]
    try:
        return Holiday.model_validate({"date": day, "name": name, "hours": spans})
    except pydantic.ValidationError as exc:
        location, message = refusals(exc)[0]
        enter_hours = gettext("Enter hours such as 09:00–18:00.")
        messages = {
            "date": gettext("Enter a date such as 2026-12-25 instead of “%(line)s”.")
            % {"line": line.strip()[:60]},
            "hours": f"{day}: {enter_hours}",
        }
        raise forms.ValidationError(
            messages.get(location[0], f"{day}: {gettext(message)}")
        ) from exc


def _span(text: str) -> dict[str, str]:
    """The hours in a text such as "09:00–12:00" or "13–18". Any other text is returned as both
    times, which the `Holiday` schema refuses."""
    match = _SPAN.fullmatch(text)
    if match is None:
        return {"opens": text, "closes": text}
    hour, minute, last_hour, last_minute = (int(group or 0) for group in match.groups())
    return {"opens": f"{hour:02}:{minute:02}", "closes": f"{last_hour:02}:{last_minute:02}"}
