"""`make words`: brings the catalogues in `locale/` up to date and builds what pages load of them.

A catalogue gets the texts that the source contains: new ones without a translation, and those that
are gone are removed. `django.po` has the texts of the pages, `djangojs.po` those of the desk's and
the widget's scripts, which load them as a script for each language. English needs none. In a
language without a `django.po`, only the widget speaks.
"""

import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import django
import unfold
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
_STATIC = ROOT / "chats" / "static"
_TEXT = re.compile(r'\b(?:t|tn|msg)\(\s*"([^"]+)"')
_PLURAL = re.compile(r'\btn\(\s*"([^"]+)",\s*"([^"]+)"')
_SOURCES = (
    "bots", "channels_app", "chats", "chatplatform", "commands", "identity", "reports",
    "templates", "webhooks",
)  # fmt: skip
_FUNCTIONS = {
    "gettext": None, "gettext_lazy": None, "gettext_noop": None,
    "ngettext": (1, 2), "ngettext_lazy": (1, 2), "_": None,
    "pgettext": ((1, "c"), 2), "pgettext_lazy": ((1, "c"), 2),
}  # fmt: skip
_APPS = ("desk", "widget")
_DJANGO = ("conf", "contrib/admin", "contrib/auth")
Id = str | tuple[str, ...]
# A text, and its context if the same text has several meanings.
Text = tuple[Id, str | None]


def translations() -> list[Path]:
    """The files with the translations of the scripts' texts, one for each language."""
    return sorted(ROOT.glob("locale/*/LC_MESSAGES/djangojs.po"))


def catalogues(translation: Path) -> dict[Path, str]:
    """What to write, by path: the catalogues of desk and widget in the language of a file."""
    catalog = _read(translation)
    language = translation.parents[1].name.lower().replace("_", "-")
    return {
        _STATIC / app / "words" / f"{language}.js": _script(catalog, texts(app))
        for app in _apps(translation)
    }


def _apps(translation: Path) -> tuple[str, ...]:
    """The apps that speak the language of a file."""
    return _APPS if translation.with_name("django.po").exists() else ("widget",)


def texts(app: str) -> set[str]:
    """The texts that the scripts of the desk or of the widget contain."""
    return {text for path in _scripts(app) for text in _TEXT.findall(path.read_text())}


def page_texts() -> dict[Text, set[str]]:
    """The texts of pages, each with the paths of the files that contain it."""
    found: dict[Text, set[str]] = {}
    for folder in _SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".html", ".txt"} and "tests" not in path.parts:
                for text in _marked(path):
                    found.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    return found


def updated(path: Path) -> Catalog:
    """A catalogue with the texts that the source contains today."""
    old = _read(path)
    if path.name == "djangojs.po":
        used, borrowed = _script_texts(_apps(path)), set()
    else:
        used, borrowed = page_texts(), _texts_of_django_and_unfold()
    new = Catalog(locale=old.locale)
    if old.locale_identifier == "en":
        # English has other words for some texts of Django, and needs none for ours.
        used = {}
    for (text, context), files in used.items():
        new.add(text, locations=[(file, 1) for file in sorted(files)], context=context)
    for entry in old:
        if not entry.id:
            continue
        if (kept := new.get(_first(entry.id), entry.context)) is not None:
            kept.string = entry.string
        elif _first(entry.id) in borrowed:
            new.add(entry.id, entry.string)
    return new


def written(catalog: Catalog, header: str) -> str:
    """The content of a catalogue's file, below the header that it has."""
    file = io.BytesIO()
    write_po(file, catalog, width=0, sort_by_file=True, include_lineno=False, omit_header=True)
    return f"{header}\n\n{file.getvalue().decode().strip()}\n"


def _script_texts(apps: tuple[str, ...]) -> dict[Text, set[str]]:
    found: dict[Text, set[str]] = {}
    for app in apps:
        for path in _scripts(app):
            script = path.read_text()
            plurals = dict(_PLURAL.findall(script))
            for text in _TEXT.findall(script):
                key = (text, plurals[text]) if text in plurals else text
                found.setdefault((key, None), set()).add(str(path.relative_to(ROOT)))
    return found


def _scripts(app: str) -> list[Path]:
    paths = sorted((_STATIC / app).rglob("*.js"))
    return [path for path in paths if path.parent.name != "words"]


def _marked(path: Path) -> Iterator[Text]:
    """The texts that a module or a template marks for translation."""
    source = path.read_text()
    if path.suffix != ".py":
        # Python's tokens may not be indented as a template's lines are.
        lines = templatize(source, origin=str(path)).split("\n")
        source = "\n".join(line.strip() for line in lines)
    found = extract("python", io.BytesIO(source.encode()), keywords=_FUNCTIONS)
    for _, text, _, context in found:
        yield text, context


def _texts_of_django_and_unfold() -> set[str]:
    roots = [Path(django.__file__).parent / part for part in _DJANGO]
    files = [root / "locale" / "en" / "LC_MESSAGES" / "django.po" for root in roots]
    found = {_first(entry.id) for file in files for entry in _read(file)}
    for path in Path(unfold.__file__).parent.rglob("*"):
        if path.suffix in {".py", ".html"}:
            found |= {_first(text) for text, _ in _marked(path)}
    return found


def _first(text: Id | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def _script(catalog: Catalog, used: set[str]) -> str:
    translated = {}
    for message in catalog:
        text = _first(message.id)
        if text in used:
            translated[text] = message.string
    lines = json.dumps(translated, ensure_ascii=False, indent=0)
    # The expression of the plural forms is one of C, and means the same in JavaScript.
    plural = f"(n) => Number({catalog.plural_expr})"
    return f"globalThis.catalogue = {{ plural: {plural}, texts: {lines} }};\n"


if __name__ == "__main__":
    for path in sorted(ROOT.glob("locale/*/LC_MESSAGES/*.po")):
        path.write_text(written(updated(path), path.read_text().partition("\n\n")[0]))
        if path.name == "django.po":
            compiled = _read(path)
            # The same words make the same file.
            compiled.creation_date = datetime.fromtimestamp(0, UTC)
            with path.with_suffix(".mo").open("wb") as file:
                write_mo(file, compiled)
    for translation in translations():
        for path, script in catalogues(translation).items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(script)
