"""The site's forms. The API's services validate the values; errors appear next to the fields."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

import pydantic
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from unfold import widgets

from chatplatform.api.errors import ApiError, Invalid
from chatplatform.api.schemas import describe_error
from chatplatform.form_fields import ScaledField, StoredField, TextsField

Result = TypeVar("Result")
# The label of the button that saves a form; on a page with several forms, it saves all of them.
SAVE = gettext_lazy("Save")
# The theme's widget for each of Django's widgets.
_THEME: dict[type[forms.Widget], Callable[..., forms.Widget]] = {
    forms.TextInput: widgets.UnfoldAdminTextInputWidget,
    forms.EmailInput: widgets.UnfoldAdminEmailInputWidget,
    forms.PasswordInput: widgets.UnfoldAdminPasswordWidget,
    forms.NumberInput: widgets.UnfoldAdminIntegerFieldWidget,
    forms.Textarea: widgets.UnfoldAdminTextareaWidget,
    forms.Select: widgets.UnfoldAdminSelectWidget,
    forms.CheckboxInput: widgets.UnfoldBooleanSwitchWidget,
}

# Converts a chosen value to the type of the API's setting.
_COERCE: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": lambda chosen: chosen == "True",
}


def refusals(exc: pydantic.ValidationError | ApiError) -> list[tuple[tuple[Any, ...], str]]:
    """The errors from a schema or a service, each as the path of its field and a message."""
    if isinstance(exc, pydantic.ValidationError):
        return [(error["loc"], _error_text(error)) for error in exc.errors()]
    if isinstance(exc, Invalid):
        return [(tuple(error["loc"]), error["msg"]) for error in exc.errors]
    return [(exc.place, str(exc))]


def _error_text(error: Any) -> str:
    """The message of a pydantic error in plain words, without regular expressions."""
    if error["type"] == "string_pattern_mismatch":
        return gettext_noop("Check the format of this field.")
    described = describe_error(error)
    if described["type"] == "string_too_short":
        minimum = error["ctx"]["min_length"]
        return ngettext(
            "Enter at least {count} character", "Enter at least {count} characters", minimum
        ).format(count=minimum)
    if described["type"] == "string_too_long":
        maximum = error["ctx"]["max_length"]
        return ngettext(
            "Enter at most {count} character", "Enter at most {count} characters", maximum
        ).format(count=maximum)
    text = described["msg"].removeprefix("Value error, ")
    # A first word that is not a plain word, such as a URL, keeps its case.
    return text[:1].upper() + text[1:] if text.split(" ")[0].isalpha() else text


class ServiceForm(forms.Form):
    """A form in the site's theme that hands its values to a service.

    `initial` has the stored values. If two people edit at the same time, the second save keeps the
    first person's changes in all fields that the second person did not change.
    """

    bound_field_class = StoredField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            self._apply_theme(field)

    def carry_out(self, act: Callable[[dict[str, Any]], Result]) -> Result | None:
        """Call `act` with the values and return its result. If the values are refused, return None;
        the form then shows the errors."""
        if not self.is_valid():
            return None
        try:
            return act(self.cleaned_data)
        except (pydantic.ValidationError, ApiError) as exc:
            for place, text in refusals(exc):
                field_name = next((name for name in place if name in self.fields), None)
                self.add_error(field_name, gettext(text))
        except ValidationError as exc:
            self.add_error(None, exc)
        return None

    def only_changed(self, data: dict[str, Any]) -> dict[str, Any]:
        """The values of the fields that the person changed, for a service that accepts a subset."""
        return {name: value for name, value in data.items() if name in self.changed_data}

    def changed_together(self, name: str) -> Collection[str]:
        """The names of this field and of all fields that change with it: if one of these fields
        changed, this field counts as changed."""
        return (name,)

    def is_warning(self, result: Any) -> bool:
        """Whether the form was saved, but something in it will not work."""
        return False

    def offer(self, name: str, choices: list[tuple[Any, str]]) -> None:
        """Set the choices of a field, if they depend on the viewer."""
        field: Any = self.fields[name]
        field.choices = choices

    def add_field(self, name: str, field: forms.Field) -> None:
        """Add a field that depends on the viewer or on a row."""
        self.fields[name] = field
        self._apply_theme(field)

    def _apply_theme(self, field: forms.Field) -> None:
        themed = _THEME.get(type(field.widget))
        if themed is None:
            return
        widget = themed(attrs=field.widget.attrs)
        widget.is_required = field.required
        if isinstance(field, forms.ChoiceField):
            widget.choices = field.choices  # type: ignore[attr-defined]
        field.widget = widget


@dataclass(frozen=True)
class Setting:
    """An API setting on a form. Its type and limits come from the API's schema."""

    name: str
    label: Any
    help_text: Any = ""
    _: KW_ONLY
    choices: Sequence[tuple[Any, Any]] | None = None
    # The number of lines of a long text; 0 for an input of a single line.
    lines: int = 0
    # How many stored units make one unit on the form: 60 shows seconds as minutes.
    unit: float = 1
    widget: type[forms.Widget] | None = None
    attrs: Mapping[str, Any] | None = None

    def to_field(self, described: dict[str, Any]) -> forms.Field:
        """The form's field for a property of a JSON Schema."""
        options = described.get("anyOf") or described.get("oneOf") or [described]
        schema = next(item for item in reversed(options) if item["type"] != "null")
        kind = schema["type"]
        words: dict[str, Any] = {"label": self.label, "help_text": self.help_text}
        if kind == "object":
            (text,) = schema["patternProperties"].values()
            return TextsField(max_length=text["maxLength"], lines=self.lines or 2, **words)
        if kind == "boolean" and self.choices is None:
            return forms.BooleanField(required=False, **words)
        words["required"] = {"type": "null"} not in options and described.get("default") != ""
        if self.choices is not None:
            coerce = _COERCE[kind]
            return forms.TypedChoiceField(
                choices=self.choices, coerce=coerce, empty_value=None, **words
            )
        if kind == "string":
            widget = self.widget or (forms.Textarea if self.lines else forms.TextInput)
            attrs = dict(self.attrs or {}) | ({"rows": self.lines} if self.lines else {})
            longest = schema.get("maxLength")
            return forms.CharField(max_length=longest, widget=widget(attrs), **words)
        ends = {"min_value": schema.get("minimum"), "max_value": schema.get("maximum")}
        if self.unit != 1:
            ends = {name: end / self.unit for name, end in ends.items()}
            return ScaledField(unit=self.unit, **ends, **words)
        number = forms.IntegerField if kind == "integer" else forms.FloatField
        return number(**ends, **words)


class SettingsForm(ServiceForm):
    """A form of API settings, one for each row of `settings`; it may declare further fields."""

    # The schemas of the API that have the settings.
    schemas: ClassVar[tuple[type[pydantic.BaseModel], ...]] = ()
    settings: ClassVar[tuple[Setting, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        described = {
            name: item for schema in self.schemas for name, item in _properties(schema).items()
        }
        for setting in self.settings:
            self.add_field(setting.name, setting.to_field(described[setting.name]))
        self.order_fields(self.field_order or [item.name for item in self.settings])


@functools.cache
def _properties(schema: type[pydantic.BaseModel]) -> dict[str, dict[str, Any]]:
    """The JSON Schema of each field of a schema by name."""
    properties: dict[str, dict[str, Any]] = schema.model_json_schema()["properties"]
    return properties


class Files(forms.FileInput):
    """An input for several files, which may also be dropped on it."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or more files. The service validates each one."""

    widget = Files

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_empty_file=True, **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        return [super(FilesField, self).clean(file, initial) for file in data or [None]]
