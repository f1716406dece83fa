"""Templates of a business account: list them, and fill them with values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channels_app.providers import http
from channels_app.providers.chatapp.accounts import APP
from channels_app.providers.graph.client import next_cursor
from channels_app.providers.json_values import as_text, dicts_in
from channels_app.providers.types import Account

_FIELDS = "id,name,language,status,category,components"
_AT_ONCE = 100
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# Buttons that need a value in each message.
_ASKING_BUTTONS = {"COPY_CODE", "OTP", "FLOW", "CATALOG", "MPM"}
_KNOWN = {"HEADER", "BODY", "FOOTER", "BUTTONS"}


@dataclass(frozen=True)
class Template:
    """A template in one language; `problem` says why it cannot be sent from here, if so."""

    name: str
    language: str
    status: str
    category: str
    header: str
    body: str
    footer: str
    problem: str

    @property
    def text(self) -> str:
        """The whole text, with the variables unfilled."""
        return "\n".join(filter(None, [self.header, self.body, self.footer]))

    @property
    def variables(self) -> list[str]:
        """The names of its variables, those of the header first."""
        return [*_names(self.header), *_names(self.body)]

    def filled(self, values: Sequence[str]) -> str:
        """The text with the values, as the customer reads it."""
        of_header, of_body = self._split(values)
        words = [_fill(self.header, of_header), _fill(self.body, of_body), self.footer]
        return "\n".join(filter(None, words))

    def components(self, values: Sequence[str]) -> list[dict[str, Any]]:
        """The values in the format of a send."""
        pairs = zip(("header", "body"), self._split(values), strict=True)
        return [
            {"type": kind, "parameters": [_parameter(*item) for item in of_kind.items()]}
            for kind, of_kind in pairs
            if of_kind
        ]

    def _split(self, values: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """The values of the header and of the body, by name."""
        names = _names(self.header)
        of_header = dict(zip(names, values[: len(names)], strict=True))
        return of_header, dict(zip(_names(self.body), values[len(names) :], strict=True))


def list_(account: Account, *, cursor: str | None, limit: int) -> tuple[list[Template], str | None]:
    """A list page of the templates, in the provider's order, and the next cursor."""
    body = _call(account, limit=limit, after=cursor)
    return _templates(body), next_cursor(body)


def find(account: Account, name: str, language: str) -> Template | None:
    """The template of this name in this language."""
    # The provider also returns templates with longer names that begin with this one.
    found = _templates(_call(account, name=name, limit=_AT_ONCE))
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
    return Template(
        as_text(row["name"]), as_text(row["language"]), status.lower(),
        as_text(row.get("category")).lower(), words["HEADER"], words["BODY"], words["FOOTER"],
        _problem(status, by_type),
    )  # fmt: skip


def _problem(status: str, by_type: dict[str, dict[str, Any]]) -> str:
    if status != "APPROVED":
        return f"The provider says that it is {status.lower() or 'not approved'}."
    if by_type.get("HEADER", {}).get("format", "TEXT") != "TEXT":
        return "It needs a file or a place in its header."
    buttons = dicts_in(by_type.get("BUTTONS", {}).get("buttons"))
    if any(
        button.get("type") in _ASKING_BUTTONS or _names(as_text(button.get("url")))
        for button in buttons
    ):
        return "It needs a value in a button."
    return "It has parts that are not sent from here." if by_type.keys() - _KNOWN else ""


def _names(text: str) -> list[str]:
    """The variables of a text, each once: numbers sorted, names in order of appearance."""
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def _fill(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def _parameter(name: str, value: str) -> dict[str, str]:
    named = {} if name.isdecimal() else {"parameter_name": name}
    return {"type": "text", "text": value, **named}
