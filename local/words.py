"""`make words`: builds the catalogues that the desk and the widget load.

A catalogue is a script with the translations of one language for the texts that the scripts of the
desk or of the widget contain. English needs none.
"""

import json
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
_STATIC = ROOT / "chats" / "static"
_TEXT = re.compile(r'\b(?:t|tn|msg)\(\s*"([^"]+)"')


def translations() -> list[Path]:
    """The files with the translations of the scripts' texts, one for each language."""
    return sorted(ROOT.glob("locale/*/LC_MESSAGES/djangojs.po"))


def catalogues(translation: Path) -> dict[Path, str]:
    """What to write, by path: the catalogues of desk and widget in the language of a file."""
    with translation.open("rb") as file:
        catalog = read_po(file)
    language = translation.parents[1].name.lower().replace("_", "-")
    return {
        _STATIC / app / "words" / f"{language}.js": _script(catalog, texts(app))
        for app in ("desk", "widget")
    }


def texts(app: str) -> set[str]:
    """The texts that the scripts of the desk or of the widget contain."""
    paths = [path for path in (_STATIC / app).rglob("*.js") if path.parent.name != "words"]
    return {text for path in paths for text in _TEXT.findall(path.read_text())}


def _script(catalog: Catalog, used: set[str]) -> str:
    translated = {}
    for message in catalog:
        text = message.id if isinstance(message.id, str) else message.id[0]
        if text in used:
            translated[text] = message.string
    lines = json.dumps(translated, ensure_ascii=False, indent=0)
    # The expression of the plural forms is one of C, and means the same in JavaScript.
    plural = f"(n) => Number({catalog.plural_expr})"
    return f"globalThis.catalogue = {{ plural: {plural}, texts: {lines} }};\n"


if __name__ == "__main__":
    for translation in translations():
        for path, script in catalogues(translation).items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(script)
