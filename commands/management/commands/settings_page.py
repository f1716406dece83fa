"""`manage.py settings_page`: prints docs/settings.md; `make openapi` stores it in docs/."""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

# In the order of the page.
MODULES = ("settings", "settings_outgoing", "settings_observing", "settings_channels")
READER = re.compile(r"env\.(?!fault|find_unknown|end_if_wrong)\w+")
HEAD = """\
# Settings

Written by `make openapi` from `chatplatform/settings*.py`. Settings are environment variables. On
your own machine all of them are optional; a real site needs at least `SECRET_KEY`, `ALLOWED_HOSTS`,
`PUBLIC_URL`, `DATABASE_URL` and `REDIS_URL` ([going live](operations.md#going-live)). For
containers, `make env` writes a `.env` with new secrets.

An empty variable counts as left out. Each setting may also come from a file: `SECRET_KEY_FILE`
names one that holds the `SECRET_KEY`, as secrets of containers do. A process with a wrong setting
does not start: it prints a line for each, with what to write instead, and ends with 1. A misspelt
name, such as `ALLOWED_HOST`, counts as a wrong setting unless `DEBUG` is on.

Only `make run` reads:

- `HOST` (`127.0.0.1`): The address that the site listens on.
- `DEBUG_ON_NETWORK` (off): Whether other machines may reach `HOST` while `DEBUG` is on; set
  `ALLOWED_HOSTS` too.
"""


@dataclass
class _Entry:
    defaults: dict[str, str]
    text: str
    end: int


def page() -> str:
    """The page docs/settings.md."""
    folder = settings.BASE_DIR / "chatplatform"
    return HEAD + "".join(_section(folder.joinpath(f"{name}.py").read_text()) for name in MODULES)


def _section(source: str) -> str:
    lines = source.splitlines()
    parts: list[_Entry | str] = []
    for statement in ast.parse(source).body:
        defaults = dict(_reads(statement))
        if not defaults:
            continue
        comment = _comment_above(lines, statement.lineno)
        heading, text = re.fullmatch(r"(?:## (.+?)\n)?(.*)", comment, re.DOTALL).groups()  # type: ignore[union-attr]
        if heading:
            parts.append(f"\n## {heading}\n\n")
        last = parts[-1] if parts else ""
        if text:
            parts.append(_Entry(defaults, " ".join(text.split()), statement.end_lineno or 0))
        elif isinstance(last, _Entry) and statement.lineno == last.end + 1:
            last.defaults |= defaults
            last.end = statement.end_lineno or 0
        else:
            raise CommandError(f"{', '.join(defaults)} has no comment that begins with #:")
    return "".join(part if isinstance(part, str) else _item(part) for part in parts)


def _reads(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The variables that a statement reads, each with its default as text."""
    for node in ast.walk(statement):
        if not (isinstance(node, ast.Call) and READER.fullmatch(ast.unparse(node.func))):
            continue
        name = node.args[0]
        if isinstance(name, ast.Constant):
            default = next((word.value for word in node.keywords if word.arg == "default"), None)
            yield str(name.value), _as_text(default)


def _as_text(default: ast.expr | None) -> str:
    try:
        value = ast.literal_eval(default) if default else ""
    except ValueError:  # It is computed: the comment describes it.
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"`{','.join(value) if isinstance(value, list) else value}`" if value != "" else "none"


def _comment_above(lines: list[str], number: int) -> str:
    above = number - 2
    comment: list[str] = []
    while above >= 0 and lines[above].startswith("#"):
        if lines[above].startswith("#: "):
            comment.insert(0, lines[above][3:])
        above -= 1
    return "\n".join(comment)


def _item(entry: _Entry) -> str:
    text, _, in_words = entry.text.partition("Default: ")
    names = ", ".join(f"`{name}`" for name in entry.defaults)
    defaults = ", ".join(entry.defaults.values())
    if len(set(entry.defaults.values())) == 1:
        defaults = next(iter(entry.defaults.values()))
    default = in_words.rstrip(".") or defaults
    item = f"- {names} ({default}): {text.strip()}"
    return textwrap.fill(item, 100, subsequent_indent="  ", break_on_hyphens=False) + "\n"


class Command(BaseCommand):
    help = "Print the page of all settings."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(page(), ending="")
