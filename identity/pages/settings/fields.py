"""Fields of the forms of Settings: a week of opening hours, texts by language, and amounts that are
shown in another unit than they are stored in."""

import calendar
from collections.abc import Iterable
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info, gettext
from unfold.widgets import SWITCH_CLASSES, UnfoldAdminTextareaWidget

Entry = dict[str, Any]
MIDNIGHT, END_OF_DAY = "00:00", "24:00"
_SUGGESTED = [{"weekday": day, "opens": "09:00", "closes": "17:00"} for day in range(5)]


def language_name(code: str) -> str:
    """A language's name in the reader's language; the code if it is unknown."""
    for spelled in (code.lower(), f"{code.lower()}-hans"):  # Django knows no plain `zh`
        try:
            name = str(get_language_info(spelled)["name_translated"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(codes: Iterable[str]) -> list[tuple[str, str]]:
    """Languages to choose from, by name."""
    return sorted(((code, language_name(code)) for code in {*codes}), key=lambda item: item[1])


class ScaledField(forms.FloatField):
    """An amount that is shown in a unit of `unit` stored ones, such as minutes for seconds."""

    def __init__(self, *, unit: float, **kwargs: Any) -> None:
        self.unit = unit
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else f"{value / self.unit:.6g}"

    def clean(self, value: Any) -> Any:
        given = super().clean(value)
        if given is None:
            return None
        stored = given * self.unit
        return round(stored) if self.unit >= 1 else round(stored, 6)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(super().has_changed(self.prepare_value(initial), data))


class TextsWidget(forms.Widget):
    """A text area for each language."""

    use_fieldset = True

    def __init__(self) -> None:
        super().__init__()
        self.languages: list[str] = []

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, str]:
        return {code: data.get(f"{name}-{code}", "").strip() for code in self.languages}

    def id_for_label(self, id_: str) -> str:
        return f"{id_}-{self.languages[0]}"

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        area = UnfoldAdminTextareaWidget(attrs={"rows": 2, "maxlength": 2000, "dir": "auto"})
        areas = [
            (
                language_name(code),
                f"id_{name}-{code}",
                area.render(
                    f"{name}-{code}",
                    (value or {}).get(code, ""),
                    {"id": f"id_{name}-{code}", "lang": code},
                ),
            )
            for code in self.languages
        ]
        return render_to_string("admin/settings/texts.html", {"areas": areas})


class TextsField(forms.Field):
    """Texts by language. All languages that have a text are shown, since services replace all."""

    widget = TextsWidget

    def offer(self, languages: Iterable[str]) -> None:
        """Set the languages, the first of which is the default one."""
        self.widget.languages = list(dict.fromkeys(languages))

    def clean(self, value: Any) -> dict[str, str]:
        return {code: text for code, text in value.items() if text}


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
            raise forms.ValidationError(gettext("Open on at least one day, or around the clock."))
        found: list[Entry] = []
        for entry in value:
            day, opens, closes = entry["weekday"], entry["opens"], entry["closes"]
            if not opens or not closes or opens == closes:
                words = gettext("{day}: enter when you open and when you close.")
                raise forms.ValidationError(words.format(day=gettext(calendar.day_name[day])))
            if closes > opens:
                found.append(entry)
                continue
            found.append({**entry, "closes": END_OF_DAY})
            if closes != MIDNIGHT:
                after = (day + 1) % 7
                found.append({"weekday": after, "opens": MIDNIGHT, "closes": closes})
        return found
