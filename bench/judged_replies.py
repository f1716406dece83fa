"""Measure whether customers would be pleased with the replies of a bot that has one document.

    .venv/bin/python bench/judged_replies.py [--held-out] [--only NAME] [--new]

There are four real documents and an invented one: the manual page of grep as a PDF, Cargo's FAQ as
HTML, the README of python-dotenv, the GNU GPL as a PDF of two columns, and a postal price list as
XLSX. `--held-out` adds two: the FAQ of XZ as plain text, and the manual of Ninja as a PDF. All but
the price list are taken from this machine; missing ones are listed and left out. The questions are
in `bench/documents/questions.json`; held-out ones are asked only with `--held-out`.

Each reply is printed as a customer reads it, with the judgment of `bench/documents/judged.json`
("pleased" or "not pleased", and why). Replies without a judgment are counted separately; `--new`
prints only these, as lines to judge and add to the file. An empty reply means that the bot hands
over to a person.
"""

import argparse
import gzip
import html
import importlib.metadata
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import answer_quality as answers
import xlsxwriter

SETS = Path(__file__).parent / "documents"
CARGO = "share/doc/rust/html/cargo/faq.html"
PROSE = "<style>body{column-count:2;text-align:justify;hyphens:auto;font:10pt serif}</style>"
LINES = "<style>pre{font:9pt monospace}</style>"


class Missing(Exception):
    """This machine lacks a document, or the program that prints it."""


def _run(*command: str) -> str:
    env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"{command[0]}: {error}") from error
    return done.stdout


def _printed(markup: str, title: str, path: Path) -> Path:
    """An HTML page printed by Chromium, with a running title and page numbers."""
    page = path.with_suffix(".print.html")
    page.write_text(
        f'<!doctype html><html lang="en"><title>{title}</title>{markup}</html>', "utf-8"
    )
    _run("chromium", "--headless", "--no-sandbox", f"--print-to-pdf={path}", str(page))
    return path


def manual(folder: Path) -> Path:
    """The manual page of grep, as a PDF."""
    text = _run("man", "--encoding=UTF-8", "grep")
    return _printed(f"{LINES}<pre>{html.escape(text)}</pre>", "grep", folder / "grep.pdf")


def faq(folder: Path) -> Path:
    """Cargo's FAQ as HTML (MIT or Apache-2.0)."""
    known = [Path(_run("rustc", "--print", "sysroot").strip()), Path("/usr")]
    found = next((root / CARGO for root in known if (root / CARGO).is_file()), None)
    if found is None:
        raise Missing(f"no {CARGO} (rust-docs)")
    path = folder / "faq.html"
    path.write_bytes(found.read_bytes())
    return path


def prices(folder: Path) -> Path:
    """A postal price list as a spreadsheet, invented for this benchmark."""
    listed = json.loads((SETS / "prices.json").read_text("utf-8"))
    path = folder / "prices.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet(listed["sheet"])
        for number, row in enumerate([listed["columns"], *listed["rows"]]):
            sheet.write_row(number, 0, row)
        sheet.set_column(3, 3, 10, book.add_format({"num_format": "0.00"}))
    return path


def readme(folder: Path) -> Path:
    """The README of python-dotenv, without its list of changes."""
    try:
        described = importlib.metadata.metadata("python-dotenv")
    except importlib.metadata.PackageNotFoundError as error:
        raise Missing("python-dotenv is not installed") from error
    text = described["Description"] or described.as_string().partition("\n\n")[2]
    path = folder / "README.md"
    path.write_text(text.partition("\n# Changelog")[0], "utf-8")
    return path


def licence(folder: Path) -> Path:
    """The GNU General Public License 3 as a PDF of two columns."""
    try:
        text = Path("/usr/share/common-licenses/GPL-3").read_text("utf-8")
    except OSError as error:
        raise Missing(f"{error} (package base-files)") from error
    paragraphs = (html.escape(part) for part in text.split("\n\n"))
    markup = PROSE + "".join(f"<p>{part}</p>" for part in paragraphs)
    return _printed(markup, "GNU General Public License", folder / "licence.pdf")


def notes(folder: Path) -> Path:
    """The FAQ of XZ Utils as plain text."""
    path = folder / "notes.txt"
    try:
        path.write_bytes(gzip.decompress(Path("/usr/share/doc/xz-utils/faq.txt.gz").read_bytes()))
    except OSError as error:
        raise Missing(f"{error} (package xz-utils)") from error
    return path


def guide(folder: Path) -> Path:
    """The manual of Ninja as a PDF with headings."""
    try:
        text = Path("/usr/share/doc/ninja-build/manual.html").read_text("utf-8")
    except OSError as error:
        raise Missing(f"{error} (package ninja-build)") from error
    body = re.search(r"<body.*?>(.*)</body>", text, re.DOTALL)
    return _printed(body[1] if body else text, "The Ninja build system", folder / "guide.pdf")


DOCUMENTS = {
    "manual": manual,
    "faq": faq,
    "prices": prices,
    "readme": readme,
    "licence": licence,
    "notes": notes,
    "guide": guide,
}


class Judge:
    """The judgments of replies, and the counts of a run."""

    def __init__(self, *, shows_new_alone: bool) -> None:
        rows = json.loads((SETS / "judged.json").read_text("utf-8"))
        self._judgements = {(row["document"], row["question"], row["reply"]): row for row in rows}
        self._shows_new_alone = shows_new_alone
        self.counts: Counter[tuple[str, str]] = Counter()

    def hear(self, document: str, question: str, reply: str) -> None:
        judged = self._judgements.get((document, question, reply))
        verdict = (
            "unjudged" if judged is None else "pleased" if judged["pleased"] else "not pleased"
        )
        self.counts[document, verdict] += 1
        if not self._shows_new_alone:
            why = f" ({judged['why']})" if judged and judged["why"] else ""
            print(f"\n[{document}] {question}\n{reply or '(handed over)'}\n-- {verdict}{why}")
        elif judged is None:
            row = {"document": document, "question": question, "reply": reply}
            print(json.dumps({**row, "pleased": None, "why": ""}, ensure_ascii=False))

    def off_topic(self, document: str, question: str, reply: str) -> None:
        self.counts[document, "off topic answered" if reply else "off topic handed over"] += 1
        if reply:
            print(f"\n[{document}] answered, off topic: {question}\n{reply}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--only", choices=DOCUMENTS)
    parser.add_argument("--new", action="store_true")
    options = parser.parse_args()
    judge, vectors = Judge(shows_new_alone=options.new), answers.Vectors()
    words: list[int] = []
    sets: dict[str, Any] = json.loads((SETS / "questions.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for name, make in DOCUMENTS.items():
            asked = sets[name]["held_out" if options.held_out else "asked"]
            if options.only not in {None, name} or not asked:
                continue
            try:
                path = make(Path(folder))
            except Missing as error:
                print(f"left out: {name}: {error}")
                continue
            bot = answers.Bot(answers.index_of({name: path}, vectors), "en")
            for question in asked:
                reply = bot.ask(question)
                judge.hear(name, question, reply.text if reply else "")
            words += bot.words
            for question in sets[name]["off_topic"]:
                reply = bot.ask(question)
                judge.off_topic(name, question, reply.text if reply else "")
    print("\n| document | pleased | not pleased | unjudged | off topic: handed over | answered |")
    print("| --- | --- | --- | --- | --- | --- |")
    verdicts = ["pleased", "not pleased", "unjudged", "off topic handed over", "off topic answered"]
    for name in [*DOCUMENTS, "all"]:
        names = DOCUMENTS if name == "all" else [name]
        counts = (sum(judge.counts[item, verdict] for item in names) for verdict in verdicts)
        print(f"| {name} | {' | '.join(map(str, counts))} |")
    print(answers.lengths(words))


if __name__ == "__main__":
    main()
