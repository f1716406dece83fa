"""Templates of a business account: list them, and fill them with values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channels_app.providers import http
from channels_app.providers.chatapp.accounts import APP
from channels_app.providers.graph.client import next_cursor
from channels_app.providers.json_values import as_dict, as_text, dicts_in
from channels_app.providers.types import Account

_FIELDS = "id,name,language,status,category,quality_score,components"
_PAGE_SIZE = 100
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# Buttons that need more than a text value in each message.
_UNSUPPORTED_BUTTONS = {"FLOW", "CATALOG", "MPM", "SPM"}
_KNOWN = {"HEADER", "BODY", "FOOTER", "BUTTONS"}
# For each header format with a file: the kind of file, as in the `type` of a message's content.
HEADER_FILES = {"IMAGE": "image", "VIDEO": "video", "DOCUMENT": "file"}


@dataclass(frozen=True)
class Button:
    """A button that needs a value: the end of its URL, or a code to copy."""

    position: int
    label: str
    is_code: bool = False

    def component(self, value: str) -> dict[str, Any]:
        """The component of a send that fills this button with the value."""
        kind = "copy_code" if self.is_code else "url"
        given = (
            {"type": "coupon_code", "coupon_code": value}
            if self.is_code
            else {"type": "text", "text": value}
        )
        return {
            "type": "button", "sub_type": kind, "index": str(self.position), "parameters": [given],
        }  # fmt: skip


@dataclass(frozen=True)
class Template:
    """A template in one language. `problem` says why it cannot be sent; empty if it can be.

    The button of a one-time password needs no value of its own: it gets the body's first value.
    """

    name: str
    language: str
    status: str
    category: str
    quality: str
    header: str
    # The kind of file that the header needs; empty if it needs none.
    header_file: str
    body: str
    footer: str
    buttons: Sequence[Button]
    problem: str

    @property
    def text(self) -> str:
        """The whole text, with the variables unfilled."""
        return "\n".join(filter(None, [self.header, self.body, self.footer]))

    @property
    def variables(self) -> list[str]:
        """The names of the variables: first the header's, then the body's, then the labels of the
        buttons that need a value."""
        labels = () if self._is_password else (button.label for button in self.buttons)
        return [*_names(self.header), *_names(self.body), *labels]

    @property
    def _is_password(self) -> bool:
        return self.category == "authentication"

    def filled(self, values: Sequence[str]) -> str:
        """The text with the values filled in, as the customer reads it."""
        of_header, of_body, _ = self._split(values)
        words = [_fill(self.header, of_header), _fill(self.body, of_body), self.footer]
        return "\n".join(filter(None, words))

    def components(self, values: Sequence[str]) -> list[dict[str, Any]]:
        """The components of a send that fill the template with the values."""
        of_header, of_body, of_buttons = self._split(values)
        texts = [
            {"type": kind, "parameters": [_parameter(*item) for item in of_kind.items()]}
            for kind, of_kind in (("header", of_header), ("body", of_body))
            if of_kind
        ]
        pairs = zip(self.buttons, of_buttons, strict=True)
        return [*texts, *(button.component(value) for button, value in pairs)]

    def _split(self, values: Sequence[str]) -> tuple[dict[str, str], dict[str, str], list[str]]:
        """The values for the header and the body, by variable, and the values for the buttons."""
        header, body = _names(self.header), _names(self.body)
        end = len(header) + len(body)
        of_body = dict(zip(body, values[len(header) : end], strict=True))
        of_buttons = list(values[end:])
        if self._is_password:
            of_buttons = [next(iter(of_body.values()), "")] * len(self.buttons)
        return dict(zip(header, values[: len(header)], strict=True)), of_body, of_buttons


def list_(account: Account, *, cursor: str | None, limit: int) -> tuple[list[Template], str | None]:
    """One page of the templates, in the provider's order, and the next cursor; None after the last
    page."""
    body = _call(account, limit=limit, after=cursor)
    return _templates(body), next_cursor(body)


def find(account: Account, name: str, language: str) -> Template | None:
    """The template with this name in this language; None if there is none."""
    # The provider also returns templates with longer names that begin with `name`.
    found = _templates(_call(account, name=name, limit=_PAGE_SIZE))
    return next((row for row in found if (row.name, row.language) == (name, language)), None)


def _call(account: Account, **params: Any) -> dict[str, Any]:
    business_id = http.path_segment(str(account.details["business_account_id"]))
    return APP.call(
        "GET", f"{business_id}/message_templates", token=account.token,
        params={"fields": _FIELDS, **params},
    ).body  # fmt: skip


def _templates(body: dict[str, Any]) -> list[Template]:
    rows = dicts_in(body.get("data"))
    return [_template(row) for row in rows if row.get("name") and row.get("language")]


def _template(row: dict[str, Any]) -> Template:
    components = dicts_in(row.get("components"))
    by_type = {as_text(component.get("type")).upper(): component for component in components}
    words = {name: as_text(by_type.get(name, {}).get("text")) for name in _KNOWN}
    status = as_text(row.get("status")).upper()
    header_file = HEADER_FILES.get(as_text(by_type.get("HEADER", {}).get("format")).upper(), "")
    return Template(
        name=as_text(row["name"]),
        language=as_text(row["language"]),
        status=status.lower(),
        category=as_text(row.get("category")).lower(),
        quality=as_text(as_dict(row.get("quality_score")).get("score")).lower(),
        header="" if header_file else words["HEADER"],
        header_file=header_file,
        body=words["BODY"],
        footer=words["FOOTER"],
        buttons=_buttons(by_type.get("BUTTONS", {})),
        problem=_problem(status, by_type),
    )


def _buttons(component: dict[str, Any]) -> list[Button]:
    """The buttons that need a value."""
    found = []
    for position, button in enumerate(dicts_in(component.get("buttons"))):
        kind = as_text(button.get("type")).upper()
        needs_value = kind in {"COPY_CODE", "OTP"} or bool(_names(as_text(button.get("url"))))
        if needs_value:
            label = as_text(button.get("text")) or "Code"
            found.append(Button(position, label, is_code=kind == "COPY_CODE"))
    return found


def _problem(status: str, by_type: dict[str, dict[str, Any]]) -> str:
    if status != "APPROVED":
        return f"Its status at the provider: {status.lower() or 'not approved'}."
    if by_type.get("HEADER", {}).get("format", "TEXT") not in {"TEXT", *HEADER_FILES}:
        return "Its header needs a location."
    buttons = dicts_in(by_type.get("BUTTONS", {}).get("buttons"))
    if any(button.get("type") in _UNSUPPORTED_BUTTONS for button in buttons):
        return "One of its buttons opens a form or a catalog."
    return "It has parts that can't be sent from here." if by_type.keys() - _KNOWN else ""


def _names(text: str) -> list[str]:
    """The variables of a text, each once: numbers sorted, names in order of appearance."""
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def _fill(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def _parameter(name: str, value: str) -> dict[str, str]:
    named = {} if name.isdecimal() else {"parameter_name": name}
    return {"type": "text", "text": value, **named}
