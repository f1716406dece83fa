"""Sends signs through all that reaches native code with strangers' words.

Run as a module, in a process whose heap is checked: one that is written beyond its memory dies.
`all` takes every sign there is, else those that NFKC makes more of, and some of every category.
"""

import importlib
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

import orjson
from pydantic import TypeAdapter

from bots.engine import masking, verifiable_facts
from bots.language import detection, phrasebook
from bots.language.normalization import normalize
from bots.tests import hostile_texts

# What follows a sign in a text decides what becomes of it.
BEHIND = ("", "a", "\u0301", "\x00", "\ud800")
_OF_A_CATEGORY = 5


def some_signs() -> Iterable[str]:
    """Those that NFKC makes more of, and some of every category."""
    by_category = defaultdict[str, list[str]](list)
    for sign in map(chr, range(0x110000)):
        by_category[unicodedata.category(sign)].append(sign)
    for signs in by_category.values():
        yield from signs[:: len(signs) // _OF_A_CATEGORY + 1]
    yield from hostile_texts.signs_that_grow()


def send(text: str) -> None:
    """A text through every native call."""
    detection._ranked(text)
    phrasebook.plain(text)
    masking.Mask().hide(text)
    verifiable_facts.facts_of(text)
    sound = text.encode("utf-8", "replace").decode()
    assert orjson.loads(orjson.dumps(sound)) == sound
    assert TypeAdapter(str).validate_json(orjson.dumps(sound)) == sound


def main(signs: Iterable[str]) -> None:
    for sign in signs:
        send(sign * 40)
    dateparser = importlib.import_module("dateparser")
    for sign in sorted(hostile_texts.signs_that_grow(), key=_grown)[-4:]:
        for behind in BEHIND:
            text = (sign + behind) * 300
            send(text)
            dateparser.parse(f"1 {text[:40]}", languages=["en"])


def _grown(sign: str) -> int:
    return len(normalize("NFKC", sign))


if __name__ == "__main__":
    main(map(chr, range(0x110000)) if "all" in sys.argv else some_signs())
