"""The forms on the pages about functions."""

import re
from collections.abc import Collection
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy

from bots.engine import request_templates
from bots.language.normalization import normalize
from bots.models import Approval, Function
from bots.schemas.function_calling import FunctionCallingConfigDTO, FunctionDTO, FunctionHttpDTO
from chatplatform.forms import ServiceForm, Setting, SettingsForm
from chatplatform.templatetags.codes import humanize_code

# The number of rows that a form has for parameters and for secret headers.
PARAMETERS, HEADERS = 8, 3
_METHODS = [
    ("GET", gettext_lazy("Look up data (GET)")),
    ("POST", gettext_lazy("Create or send data (POST)")),
    ("PUT", gettext_lazy("Update data (PUT)")),
    ("PATCH", gettext_lazy("Update part of the data (PATCH)")),
    ("DELETE", gettext_lazy("Cancel or delete data (DELETE)")),
]
APPROVERS: dict[str, Any] = {
    Approval.NONE: gettext_lazy("No one (runs automatically)"),
    Approval.CUSTOMER: gettext_lazy("The customer, each time"),
    Approval.AGENT: gettext_lazy("A teammate, each time"),
}
_TYPES = [
    ("string", gettext_lazy("Text")),
    ("integer", gettext_lazy("Whole number")),
    ("number", gettext_lazy("Number")),
    ("boolean", gettext_lazy("Yes or no")),
]
# The default: a function needs approval if its HTTP method may change data.
_BY_METHOD: tuple[Any, Any] = (
    "",
    gettext_lazy("The customer, unless the function only looks up data (recommended)"),
)
_NEW = {"method": "GET", "timeout_seconds": 10}
_HEADER = re.compile(r"\s*([^:\s]+)\s*:\s*(.*?)\s*")


class FunctionForm(SettingsForm):
    """Adds or changes a function; its parameters are rows of fields instead of a JSON Schema."""

    schemas = (FunctionDTO, FunctionHttpDTO)
    settings = (
        Setting(
            "description", gettext_lazy("Description"),
            gettext_lazy(
                "Explain what it does and when to use it. The bot relies on this description."
            ), lines=3,
        ),
        Setting("method", gettext_lazy("Type"), choices=_METHODS),
        Setting(
            "url", gettext_lazy("URL"),
            mark_safe(gettext_lazy(
                "Use braces for values the bot asks for. <code>{customer.external_id}</code> is"
                " the customer's ID in your system."
            )),
            attrs={"placeholder": "https://your-shop.com/orders/{order_id}"},
        ),
        Setting(
            "requires_approval", gettext_lazy("Who approves calls?"), choices=[*APPROVERS.items()]
        ),
        Setting("timeout_seconds", gettext_lazy("Timeout (seconds)")),
        Setting(
            "body_template", gettext_lazy("Request body (JSON)"),
            mark_safe(gettext_lazy(
                "Leave empty to send all values. <code>{{order_id}}</code> is replaced with its"
                " value."
            )),
            lines=3,
        ),
    )  # fmt: skip
    bot_id = forms.TypedChoiceField(label=gettext_lazy("Bot"), coerce=int)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=64,
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("Look up an order")}),
    )
    headers = forms.CharField(
        label=gettext_lazy("Other headers, one per line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "Accept: application/json"}),
    )
    forgets_secrets = forms.BooleanField(
        label=gettext_lazy("Remove saved secret headers"), required=False
    )

    def __init__(
        self, *args: Any, bots: dict[int, str], function: Function | None, secrets: list[str]
    ) -> None:
        self._function, self.secrets = function, secrets
        super().__init__(*args, initial=_initial(function) if function else _NEW)
        self._add_rows()
        self.offer("bot_id", list(bots.items()))
        if function:
            del self.fields["bot_id"], self.fields["name"]
        else:
            self.offer("requires_approval", [_BY_METHOD, *APPROVERS.items()])
            self.fields["requires_approval"].required = False
        if not secrets:
            del self.fields["forgets_secrets"]

    def changed_together(self, name: str) -> Collection[str]:
        """For a field of a parameter, the fields of all parameters, since parameters are identified
        by their position; for the URL, the URL and the secret headers, since these belong to the
        URL to which they are sent; for other fields, only the field itself."""
        parts = ("url", "header_") if name == "url" else ("parameter_",)
        together = [field for field in self.fields if field.startswith(parts)]
        return together if name in together else (name,)

    @property
    def parameter_rows(self) -> list[list[Any]]:
        """The fields of each parameter's row."""
        names = ("name", "type", "about", "required")
        return [[self[f"parameter_{at}_{name}"] for name in names] for at in range(PARAMETERS)]

    @property
    def header_rows(self) -> list[list[Any]]:
        """The fields of each secret header's row."""
        return [
            [self[f"header_{at}_{name}"] for name in ("name", "value")] for at in range(HEADERS)
        ]

    @property
    def filled_rows(self) -> int:
        """The number of parameter rows to show initially: up to the last filled row, plus one."""
        rows = [at for at in range(PARAMETERS) if self[f"parameter_{at}_name"].value()]
        return min(max(rows, default=-1) + 2, PARAMETERS)

    @property
    def main_fields(self) -> list[Any]:
        names = ("bot_id", "name", "description", "method", "url", "requires_approval")
        return [self[name] for name in names if name in self.fields]

    @property
    def further_fields(self) -> list[Any]:
        return [self[name] for name in ("timeout_seconds", "headers", "body_template")]

    def clean_name(self) -> str:
        """The entered name as an identifier that models accept, such as `look_up_an_order`."""
        text = self.cleaned_data["name"].replace("đ", "d").replace("Đ", "D")
        plain = normalize("NFD", text).encode("ascii", "ignore").decode()
        code = re.sub(r"[^A-Za-z0-9-]+", "_", plain).strip("_").lower()
        if not code:
            raise ValidationError(gettext("Use at least one letter from A to Z."))
        return code

    def clean_headers(self) -> dict[str, str]:
        lines = [line for line in self.cleaned_data["headers"].splitlines() if line.strip()]
        found = [_HEADER.fullmatch(line) for line in lines]
        if not all(found):
            raise ValidationError(gettext("Enter each header as “Name: value”."))
        return {match[1]: match[2] for match in found if match}

    def clean(self) -> dict[str, Any]:
        """The `bot_id`, and the function's values for a `FunctionDTO`."""
        entered: dict[str, Any] = super().clean() or {}
        if self.errors:
            return entered
        http = {name: entered[name] for name in ("method", "url", "headers", "timeout_seconds")}
        values = {
            "name": self._function.name if self._function else entered["name"],
            "description": entered["description"],
            "http": http | {"body_template": entered["body_template"]},
            "parameters": self._parameters(entered),
        }
        if entered["requires_approval"]:
            values["requires_approval"] = entered["requires_approval"]
        secrets = {
            entered[f"header_{at}_name"]: entered[f"header_{at}_value"]
            for at in range(HEADERS)
            if entered[f"header_{at}_name"]
        }
        if secrets or entered.get("forgets_secrets"):
            values["secret_headers"] = secrets
        return {"bot_id": entered.get("bot_id"), "function": values}

    def _parameters(self, entered: dict[str, Any]) -> dict[str, Any]:
        """The JSON Schema of the parameter rows and the URL's placeholders.

        Details of the stored schema that the rows do not show are kept. A stored schema that does
        not fit the rows is returned unchanged.
        """
        before: dict[str, Any] = self._function.parameters if self._function else {}
        old_properties = before.get("properties", {})
        if not _fits_rows(before):
            return before
        properties, required = {}, []
        for at in range(PARAMETERS):
            name = entered[f"parameter_{at}_name"].strip().replace(" ", "_")
            if not name:
                continue
            description = entered[f"parameter_{at}_about"]
            kind = {"type": entered[f"parameter_{at}_type"] or "string"}
            kept = {
                key: item
                for key, item in old_properties.get(name, {}).items()
                if key != "description"
            }
            properties[name] = kept | kind | ({"description": description} if description else {})
            if entered[f"parameter_{at}_required"]:
                required.append(name)
        for name in _placeholders(entered["url"]) - set(properties):
            properties[name] = {"type": "string"}
            required.append(name)
        schema_base = {"type": "object", "additionalProperties": False} | before
        return schema_base | {"properties": properties, "required": required}

    def _add_rows(self) -> None:
        for at in range(PARAMETERS):
            number = {"number": at + 1}
            self._add_text(
                f"parameter_{at}_name", gettext("Value %(number)s name") % number, 64, "order_id"
            )
            kind = forms.ChoiceField(
                label=gettext("Value %(number)s type") % number,
                choices=_TYPES,
                required=False,
                widget=forms.Select(attrs={"aria-label": gettext("Type")}),
            )
            self.add_field(f"parameter_{at}_type", kind)
            self._add_text(
                f"parameter_{at}_about", gettext("Value %(number)s description") % number, 500,
                gettext("The number on the receipt"),
            )  # fmt: skip
            required = forms.BooleanField(label=gettext("Required"), required=False)
            self.add_field(f"parameter_{at}_required", required)
        for at in range(HEADERS):
            number = {"number": at + 1}
            name = gettext("Secret header %(number)s name") % number
            value = gettext("Secret header %(number)s value") % number
            self._add_text(f"header_{at}_name", name, 100, "Authorization")
            self._add_text(f"header_{at}_value", value, 2000, "Bearer …")

    def _add_text(self, name: str, label: str, max_length: int, placeholder: str) -> None:
        widget = forms.TextInput(attrs={"placeholder": placeholder, "aria-label": label})
        field = forms.CharField(label=label, max_length=max_length, required=False, widget=widget)
        self.add_field(name, field)


def _placeholders(url: str) -> set[str]:
    """The placeholders in a URL that become parameters; none if the URL is invalid, which the
    service reports."""
    try:
        return set(request_templates.url_names(url)) - request_templates.BOUND
    except request_templates.InvalidTemplate:
        return set()


def _fits_rows(schema: dict[str, Any]) -> bool:
    """Whether the form's rows can represent a schema; if not, the form leaves it unchanged."""
    values = schema.get("properties", {})
    types = [name for name, _ in _TYPES]
    return len(values) <= PARAMETERS and all(
        isinstance(value, dict) and value.get("type") in types for value in values.values()
    )


def _initial(function: Function) -> dict[str, Any]:
    """The initial values of a function's form."""
    names = ("description", "method", "url", "requires_approval", "timeout_seconds")
    values = {name: getattr(function, name) for name in (*names, "body_template")}
    values["headers"] = "\n".join(f"{name}: {value}" for name, value in function.headers.items())
    if not _fits_rows(function.parameters):
        return values
    required_names = function.parameters.get("required", [])
    for at, (name, schema) in enumerate(function.parameters.get("properties", {}).items()):
        row = f"parameter_{at}"
        values |= {
            f"{row}_name": name, f"{row}_type": schema["type"],
            f"{row}_about": schema.get("description", ""),
            f"{row}_required": name in required_names,
        }  # fmt: skip
    return values


class TryForm(ServiceForm):
    """Asks for the values with which to try out a function."""

    def __init__(self, *args: Any, function: Function) -> None:
        super().__init__(*args)
        required_names = function.parameters.get("required", [])
        for name, schema in function.parameters.get("properties", {}).items():
            self.add_field(name, _value_field(name, schema, is_needed=name in required_names))
        if f"{{{request_templates.CUSTOMER}}}" in function.url + function.body_template:
            label = gettext("The customer's ID in your system")
            self.add_field("customer", forms.CharField(label=label, max_length=200))

    def values(self) -> dict[str, Any]:
        """The arguments of the call; empty fields are left out."""
        entered = {name: value for name, value in self.cleaned_data.items() if name != "customer"}
        return {name: value for name, value in entered.items() if value not in {None, ""}}


def _value_field(name: str, schema: Any, *, is_needed: bool) -> forms.Field:
    described = schema if isinstance(schema, dict) else {}
    kind = described.get("type")
    label, description = humanize_code(name), described.get("description", "")
    if kind in ("integer", "number"):
        number = forms.IntegerField if kind == "integer" else forms.FloatField
        return number(required=is_needed, label=label, help_text=description)
    if kind == "boolean":
        return forms.BooleanField(required=False, label=label, help_text=description)
    return forms.CharField(required=is_needed, max_length=2000, label=label, help_text=description)


class SwitchForm(SettingsForm):
    schemas = (FunctionCallingConfigDTO,)
    settings = (
        Setting("is_enabled", gettext_lazy("Use functions")),
        Setting("max_calls_per_reply", gettext_lazy("Maximum calls per answer")),
    )
