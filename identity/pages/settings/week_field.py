"""A form field for the opening hours of a week."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.template.loader import render_to_string
from django.utils.dates import WEEKDAYS
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import SWITCH_CLASSES

Entry = dict[str, Any]
MIDNIGHT, END_OF_DAY = "00:00", "24:00"
_MODES = [
    ("always", gettext_lazy("Always open")),
    ("hours", gettext_lazy("Custom hours")),
]
_SUGGESTED = [{"weekday": day, "opens": "09:00", "closes": "17:00"} for day in range(5)]


@dataclass(frozen=True)
class Week:
    """The chosen mode and the hours, as the widget shows and submits them."""

    mode: Any
    hours: list[Entry]


class WeekWidget(forms.Widget):
    """A choice between modes, and a row for each weekday with a switch and hours."""

    use_fieldset = True
    modes: Sequence[tuple[str, Any]] = ()
    # The hours to show if none are stored.
    suggested: Sequence[Entry] = _SUGGESTED

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Week:
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
        return Week(data.get(name), hours)

    def id_for_label(self, id_: str) -> str:
        return id_

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        hours = value.hours or self.suggested
        days = []
        for day, weekday in WEEKDAYS.items():
            spans = [_displayed_hours(entry) for entry in hours if entry["weekday"] == day]
            days.append(
                {
                    "name": weekday,
                    "number": day,
                    "is_open": bool(spans),
                    # These hours appear when a closed day is switched on.
                    "spans": spans or [("09:00", "17:00")],
                }
            )
        context = {
            "name": name,
            "days": days,
            "modes": self.modes,
            "mode": value.mode,
            "attrs": flatatt(attrs or {}),
            "switch": " ".join(SWITCH_CLASSES),
        }
        return render_to_string("admin/settings/week.html", context)


def _displayed_hours(entry: Entry) -> tuple[str, str]:
    """The hours of an entry, with 00:00 for 24:00, which browsers do not accept."""
    closes = entry["closes"]
    return entry["opens"], MIDNIGHT if closes == END_OF_DAY else closes


class WeekField(forms.Field):
    """Opening hours by weekday. An empty list means always open. None means that a bot uses its
    client's hours."""

    widget = WeekWidget

    def __init__(self, *, may_inherit: bool = False, **options: Any) -> None:
        super().__init__(**options)
        inherited = [("company", gettext_lazy("Same as the company"))] if may_inherit else []
        self.widget.modes = [*inherited, *_MODES]

    def suggest(self, hours: list[Entry] | None) -> None:
        """Show these hours, if any, where none are stored."""
        self.widget.suggested = hours or _SUGGESTED

    def prepare_value(self, value: Any) -> Week:
        """The stored hours as the widget shows them."""
        if isinstance(value, Week):
            return value
        mode = "company" if value is None else "hours" if value else "always"
        return Week(mode, value or [])

    def clean(self, value: Week) -> list[Entry] | None:
        return self.to_python(value)

    def to_python(self, value: Any) -> list[Entry] | None:
        """The hours as they are stored. Hours that end after midnight become two entries."""
        if value.mode == "company":
            return None
        if value.mode == "always":
            return []
        if not value.hours:
            raise forms.ValidationError(gettext("Choose at least one open day, or “Always open”."))
        entries: list[Entry] = []
        for entry in value.hours:
            day, opens, closes = entry["weekday"], entry["opens"], entry["closes"]
            if not opens or not closes or opens == closes:
                text = gettext("{day}: enter both an opening and a closing time.")
                raise forms.ValidationError(text.format(day=WEEKDAYS[day]))
            if closes > opens:
                entries.append(entry)
                continue
            entries.append({**entry, "closes": END_OF_DAY})
            if closes != MIDNIGHT:
                after = (day + 1) % 7
                entries.append({"weekday": after, "opens": MIDNIGHT, "closes": closes})
        return entries
