"""Count which of a model's answers are sent unchecked, judged, or refused by rules alone.

    .venv/bin/python bench/model_answers.py [--show]

The answers are in `bench/replies/answers.toml`: half of them good, half invented. A scripted server
plays the model that gives each answer, and a judge that approves all; an answer that the judge did
not see counts as sent. Each is requested with `verify_answer` on and off, good ones also without
their citations. `--show` prints good answers that rules refused and unchecked inventions.
"""

import argparse
import os
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
os.environ.setdefault("DEBUG", "true")

import django  # noqa: E402

django.setup()

from bots.engine.openai_compatible import OpenAICompatible  # noqa: E402
from bots.engine.types import NotGrounded, Question, Snippet  # noqa: E402
from chatplatform.testing import stub_model  # noqa: E402

CITATION = re.compile(r"\s?\[\d\]")
OUTCOMES = ("sent", "judged", "refused")


def question_of(case: dict[str, Any], *, verify_answer: bool) -> Question:
    return Question(
        text=case["question"],
        language=case["language"],
        instructions="",
        history=(),
        snippets=tuple(
            Snippet(number, number, "Info", None, text)
            for number, text in enumerate(case["passages"], start=1)
        ),
        verify_answer=verify_answer,
    )


def outcome(server: stub_model.StubModel, question: Question, answer: str) -> str:
    """The outcome of an answer; `judged` if the decision was the judge's."""
    server.play([f"say:{answer}"])
    server.confirmations.clear()
    engine = OpenAICompatible(server.base_url, "", "stub")
    try:
        engine.answer(question, on_delta=lambda _: None)
    except NotGrounded:
        return "refused"
    return "judged" if server.confirmations else "sent"


def answers_of(case: dict[str, Any]) -> list[tuple[str, str]]:
    """A case's answers, each with the table row in which it counts."""
    bare = [CITATION.sub("", answer) for answer in case["good"]]
    rows = [("good", answer) for answer in case["good"]]
    rows += [("good, not cited", answer) for answer in bare]
    return rows + [(f"invented: {kind}", answer) for kind, answer in case["invented"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    is_shown = parser.parse_args().show
    cases = tomllib.loads((ROOT / "bench" / "replies" / "answers.toml").read_text("utf-8"))["cases"]
    counts: Counter[tuple[str, bool, str]] = Counter()
    with stub_model.running() as server:
        for case in cases:
            for row, answer in answers_of(case):
                for verifies in (True, False):
                    question = question_of(case, verify_answer=verifies)
                    found = outcome(server, question, answer)
                    names = {row, "invented"} if row.startswith("invented") else {row}
                    counts.update((name, verifies, found) for name in names)
                    if is_shown and found == ("refused" if row.startswith("good") else "sent"):
                        print(f"{found}, {'on' if verifies else 'off'}: {row}: {answer}")
    print("| | on: judged | refused | off: sent | judged | refused |\n| --- " + "| ---: " * 5 + "|")
    for row in sorted({row for row, _, _ in counts}):
        on = (counts[row, True, name] for name in OUTCOMES[1:])
        off = (counts[row, False, name] for name in OUTCOMES)
        print(f"| {row} | {' | '.join(map(str, (*on, *off)))} |")


if __name__ == "__main__":
    main()
