"""`make words`: updates the catalogs in `locale/`, and builds the scripts that pages load.

New texts in the source are added to each catalog without a translation, and texts that no longer
exist are removed; at the end it prints what lacks a translation. `django.po` has the texts of the
pages. `djangojs.po` has the texts of the desk's and the widget's scripts, which load them from one
script per language. English needs no catalog. A language without a `django.po` is a language of the
widget only.
"""

import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import django
import unfold
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
_STATIC = ROOT / "chats" / "static"
# The scripts that desk and widget share.
_COMMON = "chatplatform/static/common"
_TEXT = re.compile(r'\b(tn?|msg)\(\s*"([^"]+)"(?:,\s*"([^"]+)")?')
_SOURCES = (
    "bots", "channels_app", "chats", "chatplatform", "commands", "identity", "reports",
    "templates", "webhooks",
)  # fmt: skip
_FUNCTIONS = {
    "gettext": None, "gettext_lazy": None, "gettext_noop": None,
    "ngettext": (1, 2), "ngettext_lazy": (1, 2), "_": None,
    "pgettext": ((1, "c"), 2), "pgettext_lazy": ((1, "c"), 2), "ExtractError": (2,),
    "warning_line": None,
}  # fmt: skip
_SKIPPED_FOLDERS = {"static", "tests", "translations"}
_APPS = ("desk", "widget")
_DJANGO = ("conf", "contrib/admin", "contrib/auth")


def _template(file: Any, keywords: Any, tags: Any, options: Any) -> Iterator[Any]:
    """A Babel extraction method for Django's templates."""
    # Python does not accept tokens that are indented like a template's lines.
    lines = templatize(file.read().decode()).split("\n")
    source = "\n".join(line.strip() for line in lines)
    return extract_python(io.BytesIO(source.encode()), keywords, tags, options)


def _script(file: Any, keywords: Any, tags: Any, options: Any) -> Iterator[Any]:
    """A Babel extraction method for scripts; Babel's own does not read template strings."""
    for name, text, plural in _TEXT.findall(file.read().decode()):
        yield 1, "ngettext" if name == "tn" else "gettext", (text, plural), []


_METHODS: Any = [
    ("**.py", "python"), ("**.js", _script), ("**.html", _template), ("**.txt", _template),
]  # fmt: skip


def translations() -> list[Path]:
    """The paths of the catalogs with the scripts' texts, one per language."""
    return sorted(ROOT.glob("locale/*/LC_MESSAGES/djangojs.po"))


def catalogues(translation: Path) -> dict[Path, str]:
    """The content of the scripts to write, by path: the desk's and the widget's texts in the
    language of a catalog."""
    catalog = _read(translation)
    language = translation.parents[1].name.lower().replace("_", "-")
    return {
        _STATIC / app / "translations" / f"{language}.js": _as_script(catalog, texts(app))
        for app in _apps(translation)
    }


def _apps(translation: Path) -> tuple[str, ...]:
    """The apps that are offered in a catalog's language: desk and widget, or only the widget."""
    return _APPS if translation.with_name("django.po").exists() else ("widget",)


def texts(app: str) -> set[str]:
    """The texts that the scripts of the desk or of the widget contain."""
    return _ids(_marked(ROOT, f"chats/static/{app}", _COMMON))


def updated(path: Path) -> Catalog:
    """A catalog, updated to the texts that the source contains now."""
    catalog = _read(path)
    if path.name == "djangojs.po":
        found = _marked(ROOT, *(f"chats/static/{app}" for app in _apps(path)), _COMMON)
    else:
        # The English catalog only rewords some of Django's texts.
        found = _marked(ROOT, *(_SOURCES if catalog.locale_identifier != "en" else ()))
        borrowed = _texts_of_django_and_unfold()
        for entry in catalog:
            if entry.id and entry.id not in found and _first(entry.id) in borrowed:
                found.add(entry.id)
    catalog.update(found, no_fuzzy_matching=True)
    return catalog


def written(catalog: Catalog, header: str) -> str:
    """The content of a catalog's file, with the given header."""
    file = io.BytesIO()
    write_po(
        file, catalog, width=0, sort_by_file=True, include_lineno=False, omit_header=True,
        ignore_obsolete=True,
    )  # fmt: skip
    return f"{header}\n\n{file.getvalue().decode().strip()}\n"


def _texts_of_django_and_unfold() -> set[str]:
    roots = [Path(django.__file__).parent / part for part in _DJANGO]
    found = [_read(root / "locale" / "en" / "LC_MESSAGES" / "django.po") for root in roots]
    return set().union(*map(_ids, [*found, _marked(Path(unfold.__file__).parent, ".")]))


def _marked(root: Path, *folders: str) -> Catalog:
    """The texts marked for translation in the modules, templates or scripts of these folders."""
    found = Catalog()
    for folder in folders:
        for name, _, text, _, context in _extracted(root / folder):
            found.add(text, locations=[(f"{folder}/{name}", 1)], context=context)
    for entry in found:
        entry.locations.sort()
    return found


@cache
def _extracted(folder: Path) -> tuple[Any, ...]:
    """What Babel finds in a folder; catalogs of several languages share it."""
    found = extract_from_dir(
        folder, _METHODS, keywords=_FUNCTIONS,
        directory_filter=lambda path: Path(path).name not in _SKIPPED_FOLDERS,
    )  # fmt: skip
    return tuple(found)


def _ids(catalog: Catalog) -> set[str]:
    return {_first(entry.id) for entry in catalog if entry.id}


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def _as_script(catalog: Catalog, used: set[str]) -> str:
    translated = {}
    for message in catalog:
        text = _first(message.id)
        if text in used:
            translated[text] = message.string
    lines = json.dumps(translated, ensure_ascii=False, indent=0)
    # The plural expression is in C, and means the same in JavaScript.
    plural = f"(n) => Number({catalog.plural_expr})"
    return f"globalThis.catalogue = {{ plural: {plural}, texts: {lines} }};\n"


def untranslated(catalog: Catalog) -> list[str]:
    """The texts of a catalog that lack a translation, or one of its forms."""
    return [
        _first(entry.id)
        for entry in catalog
        if not all(entry.string if isinstance(entry.string, (tuple, list)) else [entry.string])
    ]


if __name__ == "__main__":
    to_translate: dict[str, list[str]] = {}
    for path in sorted(ROOT.glob("locale/*/LC_MESSAGES/*.po")):
        catalog = updated(path)
        path.write_text(written(catalog, path.read_text().partition("\n\n")[0]))
        to_translate.setdefault(path.parents[1].name, []).extend(untranslated(catalog))
        if path.name == "django.po":
            compiled = _read(path)
            # A fixed date, so that the same texts result in the same file.
            compiled.creation_date = datetime.fromtimestamp(0, UTC)
            with path.with_suffix(".mo").open("wb") as file:
                write_mo(file, compiled)
    for translation in translations():
        for path, script in catalogues(translation).items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(script)
    for language, found in to_translate.items():
        if found:
            print(f"{language}: {len(found)} without a translation", *found[:20], sep="\n  ")  # noqa: T201
