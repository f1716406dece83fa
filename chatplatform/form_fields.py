"""Form fields that Django lacks: pictures, dates, texts by language, amounts in other units, and
fields that know whether a person changed the value that the form showed."""

import hashlib
import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info, gettext
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget


def language_name(code: str) -> str:
    """A language's name in the reader's language; the code if it is unknown."""
    for spelling in (code.lower(), f"{code.lower()}-hans"):  # Django has no plain `zh`
        try:
            name = str(get_language_info(spelling)["name_translated"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(codes: Iterable[str]) -> list[tuple[Any, str]]:
    """Languages to choose from, each with its name, in the given order."""
    return [(code, language_name(code)) for code in dict.fromkeys(codes)]


def picture_field(label: Any, stored: Any, alt: str = "") -> forms.FileField:
    """A field for uploading a picture, which shows the stored picture. Create one for each form."""
    text = gettext("PNG, JPEG, or WebP, up to 5 MB.")
    if stored:
        image = '{}<img src="/media/{}" alt="{}" class="stored-image">'
        text = format_html(image, text, stored.name, alt)
    attrs = {"accept": "image/png,image/jpeg,image/webp"}
    return forms.FileField(
        label=label, required=False, help_text=text, widget=forms.FileInput(attrs)
    )


class DateInput(UnfoldAdminTextInputWidget):
    """The browser's date input."""

    input_type = "date"

    def format_value(self, value: Any) -> str | None:
        return None if value in (None, "") else str(value)


class ScaledField(forms.FloatField):
    """An amount that is shown divided by `unit`: with 60, stored seconds are shown as minutes."""

    def __init__(self, *, unit: float, **kwargs: Any) -> None:
        self.unit = unit
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else f"{value / self.unit:.6g}"

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        if cleaned is None:
            return None
        stored = cleaned * self.unit
        return round(stored) if self.unit >= 1 else round(stored, 6)


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
            area_attrs = {"id": f"{(attrs or {}).get('id', name)}_{code}", "lang": code}
            area = UnfoldAdminTextareaWidget(self.area | area_attrs)
            html = area.render(f"{name}_{code}", (value or {}).get(code, ""))
            areas.append((code, language_name(code), area_attrs["id"], html))
        return render_to_string("admin/texts.html", {"areas": areas})


class TextsField(forms.Field):
    """Texts by language. The form has to show every language that has a text: the service replaces
    all texts, so a text that is not shown would be lost."""

    def __init__(self, *, lines: int = 2, max_length: int, **kwargs: Any) -> None:
        widget = TextsWidget(lines=lines, max_length=max_length)
        super().__init__(widget=widget, required=False, **kwargs)

    def offer(self, languages: Iterable[str]) -> None:
        """Set the languages; the first is the default language."""
        self.widget.languages = list(dict.fromkeys(languages))

    def prepare_value(self, value: Any) -> dict[str, str]:
        return {code: (value or {}).get(code, "") for code in self.widget.languages}

    def clean(self, value: Any) -> dict[str, str]:
        return {code: text for code, text in value.items() if text}


class StoredField(forms.BoundField):
    """A field whose initial value is stored. If the person did not change the value that the form
    showed, `data` is the value that is stored now, which somebody else may have changed.

    A hidden input next to the field holds hashes ("marks") of the value that the form showed.
    """

    form: Any

    def __str__(self) -> SafeString:
        return super().__str__() + self.marks_input

    __html__ = __str__

    @property
    def marks_input(self) -> SafeString:
        """The hidden input with the marks, for templates that render the widget themselves."""
        if not self._has_marks:
            return SafeString()
        marks = " ".join(f"{part}={mark}" for part, mark in self._marks(self._stored).items())
        hidden = '<input type="hidden" name="{}" value="{}">'
        return format_html(hidden, self.html_initial_name, marks)

    @property
    def data(self) -> Any:
        given = super().data
        if not self._has_marks:
            return given
        if isinstance(given, dict):
            parts = self.changed_parts
            return {part: given[part] if part in parts else self._stored[part] for part in given}
        return given if self._has_changed() else self._stored

    @cached_property
    def changed_parts(self) -> set[str]:
        """The languages whose text the person changed; for any other field, `""` if it changed."""
        given = super().data
        if not self._has_marks:
            return {""} if given else set()
        sent, current = self.form.data.get(self.html_initial_name), self._marks(given)
        if sent is None:
            shown_marks = self._marks(self._stored)
        else:
            shown_marks = dict(mark.partition("=")[::2] for mark in sent.split())
        # For a language that the form did not show, the previous text counts as empty: the language
        # was stored after the form was shown, or was added in the browser.
        return {
            part
            for part, mark in current.items()
            if shown_marks.get(part, part and _mark(self.field, "")) != mark
        }

    def _has_changed(self) -> bool:
        if not self._has_marks:
            return bool(super()._has_changed())  # type: ignore[misc]
        together = self.form.changed_together(self.name)
        return any(self.form[name].changed_parts for name in together)

    @property
    def _has_marks(self) -> bool:
        widget = self.field.widget
        is_left_out = isinstance(widget, forms.FileInput | forms.PasswordInput | forms.HiddenInput)
        return bool(self.form.initial) and not is_left_out

    @property
    def _stored(self) -> Any:
        return self.field.prepare_value(self.initial)

    def _marks(self, value: Any) -> dict[str, str]:
        parts = value if isinstance(value, dict) else {"": value}
        return {part: _mark(self.field, content) for part, content in parts.items()}


def _mark(field: forms.Field, value: Any) -> str:
    """A short hash of a value; the same for values that differ only in how a browser sends them."""
    try:
        value = field.to_python(value)
    except ValidationError:
        return "invalid"
    if isinstance(value, str):
        value = value.replace("\r\n", "\n").strip()
    if isinstance(value, list):
        value = sorted(json.dumps(item, sort_keys=True) for item in value)
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()[:16]
