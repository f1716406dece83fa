"""Fields of the site's forms that Django lacks: texts by language, and amounts in other units."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget


def language_name(code: str) -> str:
    """A language's name in the reader's language; the code if it is unknown."""
    for spelled in (code.lower(), f"{code.lower()}-hans"):  # Django knows no plain `zh`
        try:
            name = str(get_language_info(spelled)["name_translated"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(codes: Iterable[str]) -> list[tuple[Any, str]]:
    """Languages to choose from, each with its name, in the given order."""
    return [(code, language_name(code)) for code in dict.fromkeys(codes)]


class DateInput(UnfoldAdminTextInputWidget):
    """The browser's own input of a date."""

    input_type = "date"

    def format_value(self, value: Any) -> str | None:
        return None if value in (None, "") else str(value)


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

    def __init__(self, *, lines: int = 2, max_length: int) -> None:
        super().__init__()
        self.languages: list[str] = []
        self.area = {"rows": lines, "maxlength": max_length, "dir": "auto"}

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, str]:
        return {code: data.get(f"{name}_{code}", "").strip() for code in self.languages}

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_{self.languages[0]}"

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        areas = []
        for code in self.languages:
            own = {"id": f"{(attrs or {}).get('id', name)}_{code}", "lang": code}
            area = UnfoldAdminTextareaWidget(self.area | own)
            shown = area.render(f"{name}_{code}", (value or {}).get(code, ""))
            areas.append((language_name(code), own["id"], shown))
        return render_to_string("admin/texts.html", {"areas": areas})


class TextsField(forms.Field):
    """Texts by language. All languages that have a text are shown, since services replace all."""

    def __init__(self, *, lines: int = 2, max_length: int, **kwargs: Any) -> None:
        widget = TextsWidget(lines=lines, max_length=max_length)
        super().__init__(widget=widget, required=False, **kwargs)

    def offer(self, languages: Iterable[str]) -> None:
        """Set the languages, the first of which is the default one."""
        self.widget.languages = list(dict.fromkeys(languages))

    def clean(self, value: Any) -> dict[str, str]:
        return {code: text for code, text in value.items() if text}

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or {}) != self.clean(data or {}))
