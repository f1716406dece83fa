"""Measure how well the extractive engine tags, on sentences written for this purpose.

    .venv/bin/python bench/tagging_quality.py [--misses]

`bench/insights/intents.json` has 24 tags with four examples and four other messages each, in
English and Vietnamese, and 40 messages that fit none. The authors of the engine wrote this set,
since no installed package has a public one, so the figures are probably too favorable.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")

from bots.engine import tagging  # noqa: E402
from bots.engine.tagging import KnownTag  # noqa: E402


def row(name: str, outcomes: Sequence[bool]) -> None:
    print(f"| {name} | {sum(outcomes)} of {len(outcomes)} | {sum(outcomes) / len(outcomes):.1%} |")


def measure(
    title: str, tags: list[KnownTag], sets: dict[str, list[str]], others: list[str], *, misses: bool
) -> None:
    suggested = [
        (name, text, tagging.suggest(text, tags)) for name, texts in sets.items() for text in texts
    ]
    row(f"{title}: right tag first", [bool(s) and s[0].name == n for n, _, s in suggested])
    row(f"{title}: among three", [n in {tag.name for tag in s} for n, _, s in suggested])
    stored = [(name, top[0].name) for name, _, s in suggested if (top := tagging.clear_winner(s))]
    row(f"{title}: stored by themselves", [bool(tagging.clear_winner(s)) for _, _, s in suggested])
    row(f"{title}: of these right", [name == given for name, given in stored])
    out = [bool(tagging.clear_winner(tagging.suggest(text, tags))) for text in others]
    row(f"{title}: stored though no tag fits", out)
    for name, text, tags_of_text in suggested if misses else []:
        if not tags_of_text or tags_of_text[0].name != name:
            print(f"    missed: {text} [{name}] -> {[tag.name for tag in tags_of_text]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true")
    misses = parser.parse_args().misses
    data = json.loads((ROOT / "bench/insights/intents.json").read_text("utf-8"))
    intents = data["intents"]
    sets = {name: texts["held_out"] for name, texts in intents.items()}
    with_examples = [KnownTag(name, texts["examples"]) for name, texts in intents.items()]
    names_only = [KnownTag(name) for name in intents]
    others = data["out_of_scope"]
    measure("four examples", with_examples, sets, others, misses=misses)
    measure("names only", names_only, sets, others, misses=misses)


if __name__ == "__main__":
    main()
