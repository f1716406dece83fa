"""Fills a function's URL and body with the arguments that a model chose.

In a URL, `{name}` is replaced by the percent-encoded argument. In a body, which is JSON,
`{{name}}` is replaced by a JSON value, or by text if it is inside a string. An argument cannot
change what surrounds it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

# Placeholders that are filled from the conversation; arguments must not have these names.
CUSTOMER, CHAT = "customer.external_id", "chat.id"
BOUND = frozenset({CUSTOMER, CHAT})
MAX_URL_CHARS = 4_000
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
_IN_URL = re.compile(r"\{(" + _NAME + r")\}")
_IN_BODY = re.compile(r"\{\{\s*(" + _NAME + r")\s*\}\}")
# Matches a JSON string, or a placeholder outside of strings.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|' + _IN_BODY.pattern)
# Marks a placeholder that was outside of strings; templates must not contain this character.
_BARE = "\ue000"
_ORIGIN = re.compile(r"^[^:/?#]+://[^/?#]*")
_PATH_MARKS = re.compile(r"[/\\]")


class InvalidTemplate(ValueError):
    """The template is not valid; the message says why."""


class InvalidArgument(ValueError):
    """An argument does not fit its placeholder; the message is written for the model."""


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed body template and the names of its placeholders."""

    tree: Any
    names: frozenset[str]


def url_names(template: str) -> frozenset[str]:
    """The names of a URL's placeholders; raises InvalidTemplate."""
    start = _ORIGIN.match(template)
    if start is None:
        raise InvalidTemplate("must begin with a scheme and a host")
    if "{" in start[0] or "}" in start[0]:
        raise InvalidTemplate("must have no placeholder before its path")
    bare = _IN_URL.sub("", template)
    if "{" in bare or "}" in bare:
        raise InvalidTemplate("has a brace that is no placeholder such as {order_id}")
    if "#" in bare:
        raise InvalidTemplate("must have no fragment")
    return frozenset(_IN_URL.findall(template))


def sample_url(template: str) -> str:
    """The URL with sample arguments, so that its host can be checked."""
    return _IN_URL.sub("x", template)


def origin(template: str) -> str:
    """The scheme, host and port in lower case; empty if the template has none.

    A function's stored secret headers must not be sent to another origin.
    """
    match = _ORIGIN.match(template)
    return match[0].lower() if match else ""


def url(template: str, values: Mapping[str, Any]) -> str:
    """Fill a URL template with values; raises InvalidArgument."""
    path, mark, query = template.partition("?")
    start = len(origin(path))
    segments = [_segment(part, values) for part in path[start:].split("/")]
    query = _IN_URL.sub(lambda m: quote(_plain(m[1], values.get(m[1])), safe=""), query)
    filled = f"{path[:start]}{'/'.join(segments)}{mark}{query}"
    if len(filled) > MAX_URL_CHARS:
        raise InvalidArgument("The arguments are too long for the URL.")
    return filled


def _segment(template: str, values: Mapping[str, Any]) -> str:
    for name in _IN_URL.findall(template):
        text = _plain(name, values.get(name))
        if not text:
            raise InvalidArgument(f"{name} is needed.")
        if {".", ".."} & set(_PATH_MARKS.split(text)):
            raise InvalidArgument(f"{name} must not hold the path segments . and ..")
    filled = _IN_URL.sub(lambda m: quote(_plain(m[1], values[m[1]]), safe=""), template)
    if filled in {".", ".."} and filled != template:
        # Each argument was checked above, but two together may form a dot segment.
        raise InvalidArgument("The arguments must not make up a path segment . or ..")
    return filled


def _plain(name: str, value: Any) -> str:
    """Convert a text, number or boolean to text, and None to an empty text.

    Raises InvalidArgument for other values and for control characters.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        raise InvalidArgument(f"{name} must be a text, a number or a boolean here.")
    text = "" if value is None else str(value)
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise InvalidArgument(f"{name} must not hold control characters.")
    return text


def read_body(template: str) -> Body:
    """Parse a body template; raises InvalidTemplate."""
    if _BARE in template:
        raise InvalidTemplate("holds a character of the private use area")
    text = _TOKEN.sub(lambda m: m[0] if m[0][0] == '"' else f'"{_BARE}{m[1]}"', template)
    try:
        tree = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidTemplate(
            f"is not JSON with {{{{name}}}} for its arguments: {error}"
        ) from error
    return Body(tree, frozenset(_names(tree)))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if _IN_BODY.search(key) or key.startswith(_BARE):
                raise InvalidTemplate("must have no placeholder in the name of a field")
            yield from _names(value)
    elif isinstance(node, list):
        for item in node:
            yield from _names(item)
    elif isinstance(node, str):
        yield from [node[1:]] if node.startswith(_BARE) else _IN_BODY.findall(node)


def body(template: Body, values: Mapping[str, Any]) -> bytes:
    """Fill a body template with values and return it as JSON."""
    # The JSON is ASCII, since UTF-8 cannot encode the "\ud800" that a template may contain.
    return json.dumps(_filled(template.tree, values)).encode()


def _filled(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(item, values) for item in node]
    if not isinstance(node, str):
        return node
    if node.startswith(_BARE):
        return values.get(node[1:])
    return _IN_BODY.sub(lambda m: _inside(values.get(m[1])), node)


def _inside(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
