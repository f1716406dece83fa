"""The field of a week of opening hours."""

import calendar
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from unfold.widgets import SWITCH_CLASSES

Entry = dict[str, Any]
MIDNIGHT, END_OF_DAY = "00:00", "24:00"
_SUGGESTED = [{"weekday": day, "opens": "09:00", "closes": "17:00"} for day in range(5)]


class WeekWidget(forms.Widget):
    """Seven rows, each with a switch and the hours from and to; or open around the clock."""

    use_fieldset = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Entry] | None:
        """The hours as they were entered; None: around the clock."""
        if data.get(name) == "always":
            return None
        hours = []
        for day in range(7):
            if f"{name}-{day}" not in data:
                continue
            spans = zip(
                data.getlist(f"{name}-{day}-opens"), data.getlist(f"{name}-{day}-closes"),
                strict=False,
            )  # fmt: skip
            hours += [
                {"weekday": day, "opens": opens[:5], "closes": closes[:5]}
                for opens, closes in spans
                if opens or closes
            ]
        return hours

    def id_for_label(self, id_: str) -> str:
        return id_

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        hours = value or _SUGGESTED
        days = []
        for day in range(7):
            spans = [_shown(entry) for entry in hours if entry["weekday"] == day]
            days.append(
                {
                    "name": gettext(calendar.day_name[day]),
                    "number": day,
                    "is_open": bool(spans),
                    # What stands there once the day is switched on.
                    "spans": spans or [("09:00", "17:00")],
                }
            )
        context = {
            "name": name,
            "days": days,
            "is_always": not value,
            "attrs": flatatt(attrs or {}),
            "switch": " ".join(SWITCH_CLASSES),
        }
        return render_to_string("admin/settings/week.html", context)


def _shown(entry: Entry) -> tuple[str, str]:
    """The hours of an entry; browsers know no 24:00."""
    closes = entry["closes"]
    return entry["opens"], MIDNIGHT if closes == END_OF_DAY else closes


class WeekField(forms.Field):
    """Opening hours by weekday; an empty list: around the clock."""

    widget = WeekWidget

    def clean(self, value: list[Entry] | None) -> list[Entry]:
        """Hours that end after midnight become two entries, as services want them."""
        if value is None:
            return []
        if not value:
            raise forms.ValidationError(gettext("Choose at least one open day, or “Always open”."))
        found: list[Entry] = []
        for entry in value:
            day, opens, closes = entry["weekday"], entry["opens"], entry["closes"]
            if not opens or not closes or opens == closes:
                words = gettext("{day}: enter both an opening and a closing time.")
                raise forms.ValidationError(words.format(day=gettext(calendar.day_name[day])))
            if closes > opens:
                found.append(entry)
                continue
            found.append({**entry, "closes": END_OF_DAY})
            if closes != MIDNIGHT:
                after = (day + 1) % 7
                found.append({"weekday": after, "opens": MIDNIGHT, "closes": closes})
        return found
