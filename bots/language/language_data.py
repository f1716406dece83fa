"""What the platform knows about each language: one TOML file per language (`lexicons/de.toml`).

To add a language, add a file. `international.toml` contains what people write in any language.
`phrasebook` explains the sections of phrases. The other sections are optional:

- `[writing]`: whether phrases are compared without spaces between words (`unspaced`), whether
  numbers are written like 1,234.5 (`decimal_point`), and other spellings of letters (`respelt`)
- `[search]`: words without a topic (`stop`), and words that do not change what a question asks
  (`filler`)
- `[questions]`: how questions begin and continue, and what customers ask any business (`generic`)
- `[sentences]`: what a full stop may follow without ending a sentence (`titles`, `abbreviations`,
  `long_abbreviations`, `before_figures`), and `months`, which may follow an ordinal number
- `[headings]`: words that mark questions and answers, and the `articles` of laws, with `#` for a
  number
- `[citations]`: how models name a source
- `[amounts]` and `[units]`: words for numbers, limits, prices and measures
"""

import re
import tomllib
from pathlib import Path
from typing import Any

_FILES = sorted(Path(__file__).parent.glob("lexicons/*.toml"))
LEXICONS: dict[str, dict[str, Any]] = {
    path.stem: tomllib.loads(path.read_text("utf-8")) for path in _FILES
}
INTERNATIONAL = LEXICONS.pop("international")


def by_language(section: str, name: str) -> dict[str, Any]:
    """An entry of a section in each language that has it, by language code."""
    found = {
        code: lexicon[section][name]
        for code, lexicon in LEXICONS.items()
        if name in lexicon.get(section, {})
    }
    assert found, f"no lexicon has {name} in [{section}]"
    return found


def words(section: str, name: str) -> list[str]:
    """The words of a list in all languages."""
    return [word for entries in by_language(section, name).values() for word in entries]


def numbered(section: str, name: str) -> str:
    """A regular expression for any entry of a list, with a number in place of each `#`."""
    written = (re.escape(entry).replace(r"\#", r"[\dIVX一二三四五六七八九十百]{1,6}[a-z]?")
               for entry in dict.fromkeys(words(section, name)))  # fmt: skip
    return f"(?:{'|'.join(written)})"


def pattern(section: str, name: str) -> str:
    """A regular expression for any entry of a list in any language, longest first."""
    distinct = dict.fromkeys(words(section, name))
    return f"(?:{'|'.join(sorted(distinct, key=len, reverse=True))})"
