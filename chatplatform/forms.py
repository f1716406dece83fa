"""The site's forms. Services validate the values, as for the API; errors appear beside fields."""

from collections.abc import Callable
from typing import Any, TypeVar

import pydantic
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_noop, ngettext
from unfold import widgets

from chatplatform.api.errors import ApiError, Invalid
from chatplatform.api.shapes import describe_error

Made = TypeVar("Made")
# The theme's widget for each of Django's.
_THEME: dict[type[forms.Widget], Callable[..., forms.Widget]] = {
    forms.TextInput: widgets.UnfoldAdminTextInputWidget,
    forms.EmailInput: widgets.UnfoldAdminEmailInputWidget,
    forms.PasswordInput: widgets.UnfoldAdminPasswordWidget,
    forms.NumberInput: widgets.UnfoldAdminIntegerFieldWidget,
    forms.Textarea: widgets.UnfoldAdminTextareaWidget,
    forms.Select: widgets.UnfoldAdminSelectWidget,
    forms.CheckboxInput: widgets.UnfoldBooleanSwitchWidget,
}


def refusals(exc: pydantic.ValidationError | ApiError) -> list[tuple[tuple[Any, ...], str]]:
    """The errors of a shape or a service, each as the path of its field and a message."""
    if isinstance(exc, pydantic.ValidationError):
        return [(error["loc"], _words(error)) for error in exc.errors()]
    if isinstance(exc, Invalid):
        return [(tuple(error["loc"]), error["msg"]) for error in exc.errors]
    return [(exc.place, str(exc))]


def _words(error: Any) -> str:
    """An error of pydantic in words for people, to whom a pattern says nothing."""
    if error["type"] == "string_pattern_mismatch":
        return gettext_noop("This is empty, or not in the form that is asked for.")
    described = describe_error(error)
    if described["type"] == "string_too_short":
        least = error["ctx"]["min_length"]
        return ngettext("At least {count} character", "At least {count} characters", least).format(
            count=least
        )
    if described["type"] == "string_too_long":
        most = error["ctx"]["max_length"]
        return ngettext("At most {count} character", "At most {count} characters", most).format(
            count=most
        )
    words = described["msg"].removeprefix("Value error, ")
    # An address at the beginning keeps its letters.
    return words[:1].upper() + words[1:] if words.split(" ")[0].isalpha() else words


class ServiceForm(forms.Form):
    """A form in the site's theme that hands its values to a service."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            self._dress(field)

    def carry_out(self, act: Callable[[dict[str, Any]], Made]) -> Made | None:
        """Call `act` with the values and return its result; None if they are refused. The form then
        shows the errors."""
        if not self.is_valid():
            return None
        try:
            return act(self.cleaned_data)
        except (pydantic.ValidationError, ApiError) as exc:
            for place, words in refusals(exc):
                beside = next((name for name in place if name in self.fields), None)
                self.add_error(beside, gettext(words))
        except ValidationError as exc:
            self.add_error(None, exc)
        return None

    def offer(self, name: str, choices: list[tuple[Any, str]]) -> None:
        """Set the choices of a field, if they depend on the viewer."""
        field: Any = self.fields[name]
        field.choices = choices

    def _dress(self, field: forms.Field) -> None:
        themed = _THEME.get(type(field.widget))
        if themed is None:
            return
        widget = themed(attrs=field.widget.attrs)
        widget.is_required = field.required
        if isinstance(field, forms.ChoiceField):
            widget.choices = field.choices  # type: ignore[attr-defined]
        field.widget = widget


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
