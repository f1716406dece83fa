"""Measure the extractive engine's answers, on texts of packages that are installed on this machine.

    .venv/bin/python bench/answer_quality.py [--held-out] [--misses]

The questions are in `bench/answers/`. Every second question of a row is held out, and measured
only with `--held-out`. Texts that are not installed are listed and left out. The texts' vectors are
cached in the folder for temporary files, which does not change the figures.
"""

import argparse
import gettext
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")

from bots.ingest import chunking, extraction  # noqa: E402
from bots.language import detection, embedding, intents  # noqa: E402
from bots.language.normalization import fold  # noqa: E402
from bots.search import answer_extraction, hybrid_index, question_splitting  # noqa: E402

SETS = ROOT / "bench" / "answers"
THRESHOLD = hybrid_index.DEFAULT_THRESHOLD
LETTERS = "abcdefghijklmnopqrstuvwxyz"


# --- the texts ----------------------------------------------------------------------------------


def texts(folder: Path) -> dict[str, Path]:
    """The files of the sources that this machine has; prints the names of the others."""
    found = {}
    for name, source in json.loads((SETS / "sources.json").read_text()).items():
        path = folder / (name + (Path(source["path"]).suffix.replace(".gz", ".txt") or ".txt"))
        path = path.with_suffix(".txt") if path.suffix not in {".html", ".csv"} else path
        try:
            path.write_text(_text_of(source), "utf-8")
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"left out: {name} (package {source.get('package')}): {error}")
            continue
        found[name] = path
    return found


def _text_of(source: dict[str, Any]) -> str:
    if "manual" in source:
        command = ["man", "--encoding=UTF-8", source["manual"]]
        env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
        return subprocess.run(command, env=env, capture_output=True, check=True, text=True).stdout
    if "templates" in source:
        return "\n\n".join(map(_template, source["templates"]))
    if "catalogue" in source:
        catalogue: Any = gettext.translation(source["catalogue"], "/usr/share/locale", ["vi"])
        words = [
            text for text in catalogue._catalog.values() if len(text) > 350 and "POT-" not in text
        ]
        return "\n\n".join(words[1:])
    path = Path(source["path"])
    data = (path if path.is_absolute() else SETS / path).read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")


def _template(package: str) -> str:
    text = Path(f"/var/lib/dpkg/info/{package}.templates").read_text("utf-8")
    parts = re.findall(r"^Description-vi\.UTF-8: (.*)\n((?: .*\n)*)", text, re.MULTILINE)
    return "\n\n".join(
        f"{head}\n\n" + re.sub(r"^ \.?", "", body, flags=re.M) for head, body in parts
    )


# --- a bot --------------------------------------------------------------------------------------


class Vectors:
    """A cache of texts' vectors, by content."""

    def __init__(self) -> None:
        path = Path(tempfile.gettempdir()) / "chatplatform-bench-vectors.sqlite3"
        self._rows = sqlite3.connect(path)
        self._rows.execute("create table if not exists vectors (key text primary key, value blob)")

    def of(self, texts: Sequence[str]) -> Any:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Any:
        key = hashlib.sha256(f"{embedding.MODEL_ID}\n{text}".encode()).hexdigest()
        row = self._rows.execute("select value from vectors where key = ?", [key]).fetchone()
        if row is None:
            vectors = embedding.embed_passages([text])
            if vectors is None:
                raise SystemExit("there is no encoder for this machine")
            row = (vectors[0].tobytes(),)
            self._rows.execute("insert into vectors values (?, ?)", [key, row[0]])
            self._rows.commit()
        return np.frombuffer(row[0], np.float32)


def index_of(files: dict[str, Path], vectors: Vectors) -> hybrid_index.Index:
    """The index of a bot that was trained with these files."""
    passages: list[hybrid_index.IndexedPassage] = []
    for number, (name, path) in enumerate(files.items()):
        extracted = extraction.extract(path, file_name=path.name)
        for piece in chunking.chunk(extracted):
            rows = vectors.of([piece.embedded, *piece.sentences])
            passages.append(
                hybrid_index.IndexedPassage(
                    id=len(passages),
                    document_id=number,
                    title=name,
                    url=None,
                    heading=piece.heading,
                    page=piece.page,
                    text=piece.text,
                    language=extracted.language,
                    vector=rows[0],
                    sentences=piece.sentences,
                    sentence_vectors=rows[1:],
                )  # fmt: skip
            )
    return hybrid_index.Index(passages)


class Bot:
    """A bot that answers in one language."""

    def __init__(self, index: hybrid_index.Index, code: str) -> None:
        self.index, self.code, self.seconds = index, code, []
        # The length of each reply.
        self.words: list[int] = []

    def ask(self, text: str, before: str = "") -> Any:
        started = time.perf_counter()
        spoken = detection.detect(text, default=self.code, offered=[self.code])
        parts = question_splitting.find(
            lambda part: self.index.search(part, language=spoken),
            text,
            topics=[before] if before else [],
            threshold=THRESHOLD,
        )
        reply = answer_extraction.extract_all(parts, language=spoken, threshold=THRESHOLD)
        self.seconds.append(time.perf_counter() - started)
        self.words += [chunking.count_words(reply.text)] if reply else []
        return reply


def lengths(words: list[int]) -> str:
    """How long replies are, in words."""
    long = sum(count > answer_extraction.MAX_WORDS for count in words)
    return (
        f"p50 {sorted(words)[len(words) // 2]} words"
        f" | above {answer_extraction.MAX_WORDS}: {100 * long / len(words):.0f} %"
    )


# --- the rows -----------------------------------------------------------------------------------


def half(rows: Sequence[Any], *, is_held_out: bool) -> list[Any]:
    return list(rows[1::2] if is_held_out else rows[::2])


def holds(reply: Any, words: str) -> bool:
    """Whether the reply contains these whole words."""
    plain = " ".join(words.lower().split())
    text = " ".join(reply.text.lower().split()) if reply else ""
    return bool(re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", text))


def mistyped(question: str) -> str:
    """The question with two typing errors, always the same."""
    chance = random.Random(question)
    words = question.split()
    long = [number for number, word in enumerate(words) if len(word.strip("?,.")) >= 4]
    for number in chance.sample(long, min(2, len(long))):
        word = words[number]
        at = chance.randrange(1, len(word.strip("?,.")) - 1)
        words[number] = chance.choice(
            [
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + chance.choice(LETTERS) + word[at + 1 :],
            ]
        )
    return " ".join(words)


class Table:
    def __init__(self, *, shows_misses: bool) -> None:
        self._shows_misses = shows_misses

    def row(self, name: str, outcomes: Sequence[tuple[str, bool]]) -> None:
        right = sum(is_right for _, is_right in outcomes)
        share = 100 * right / max(1, len(outcomes))
        print(f"| {name} | {right} of {len(outcomes)} | {share:.1f} % |")
        if self._shows_misses:
            for text, is_right in outcomes:
                if not is_right:
                    print(f"    missed: {text}")


def clean_rows(
    table: Table, name: str, bot: Bot, rows: Sequence[Any], change: Callable[[str], str] = str
) -> None:
    replies = [
        (bot.ask(change(question)), question, source, words) for question, source, words in rows
    ]
    table.row(f"{name}: answered", [(q, reply is not None) for reply, q, _, _ in replies])
    cited = [
        (q, reply is not None and any(c.title == source for c in reply.citations))
        for reply, q, source, _ in replies
    ]
    table.row(f"{name}: right source cited", cited)
    held = [
        (f"{change(q)} [{words}] -> {reply.text if reply else None}", holds(reply, words))
        for reply, q, _, words in replies
    ]
    table.row(f"{name}: held", held)


def measure(table: Table, bot: Bot, sets: dict[str, Any], *, is_held_out: bool) -> None:
    def rows(name: str) -> list[Any]:
        return half(sets[name], is_held_out=is_held_out)

    code = bot.code
    clean_rows(table, f"{code}, clean", bot, rows("clean"))
    clean_rows(table, f"{code}, two typos", bot, rows("clean"), mistyped)
    if code == "vi":
        clean_rows(table, "vi, without marks", bot, rows("clean"), fold)
    off = rows("off_topic")
    table.row(
        f"{code}, other topics: handed over",
        [(f"{q} -> {bot.ask(q)}", bot.ask(q) is None) for q in off],
    )
    follow = rows("follow_ups")
    table.row(
        f"{code}, follow-ups: held",
        [(f"{a} / {b} -> {bot.ask(b, a)}", holds(bot.ask(b, a), words)) for a, b, words in follow],
    )
    away = rows("off_follow_ups")
    table.row(
        f"{code}, other topics as follow-ups: handed over",
        [(f"{a} / {b} -> {bot.ask(b, a)}", bot.ask(b, a) is None) for a, b in away],
    )
    several = rows("several")
    table.row(
        f"{code}, several questions: all held",
        [
            (f"{q} -> {bot.ask(q)}", all(holds(bot.ask(q), w) for w in words))
            for q, words in several
        ],
    )
    talk = rows("small_talk")
    table.row(
        f"{code}, small talk: understood",
        [
            (
                q,
                bool(
                    intents.small_talk(q, language=code)
                    or intents.anything_else_answer(q, language=code)
                ),
            )
            for q in talk
        ],
    )
    persons = [(q, intents.asks_for_person(q)) for q in rows("person")]
    others = [(q, not intents.asks_for_person(q)) for q in rows("no_person")]
    table.row(f"{code}, wish for a person", [*persons, *others])


def measure_pdf(
    table: Table, folder: Path, sets: dict[str, Any], vectors: Vectors, *, is_held_out: bool
) -> None:
    """Questions to a bot whose only text is a PDF of two columns with a running title."""
    page, printed = folder / "two.html", folder / "groups.pdf"
    markup = Path("/usr/share/doc/base-passwd/users-and-groups.html")
    if not markup.is_file() or not shutil.which("chromium"):
        print("left out: the PDF with two columns (packages base-passwd, chromium)")
        return
    style = "<style>body{column-count:2;text-align:justify;hyphens:auto}</style><x "
    page.write_text(markup.read_text("latin-1").replace("<HEAD", f"<HEAD>{style}", 1))
    command = ["chromium", "--headless", "--no-sandbox", f"--print-to-pdf={printed}", str(page)]
    subprocess.run(command, check=True, capture_output=True)
    bot = Bot(index_of({"groups": printed}, vectors), "en")
    rows = [row for row in half(sets["clean"], is_held_out=is_held_out) if row[1] == "groups"]
    clean_rows(table, "PDF of two columns", bot, rows)
    off = half(sets["off_topic"], is_held_out=is_held_out)
    outcomes = [(q, bot.ask(q) is None) for q in off]
    table.row("PDF of two columns, other topics: handed over", outcomes)


def measure_other_language(
    table: Table,
    files: dict[str, Path],
    sets: dict[str, Any],
    vectors: Vectors,
    *,
    is_held_out: bool,
) -> None:
    """Vietnamese questions to a bot whose texts are all English."""
    sources = json.loads((SETS / "sources.json").read_text())
    english = {name: path for name, path in files.items() if sources[name]["language"] == "en"}
    bot = Bot(index_of(english, vectors), "vi")
    rows = half(sets["other_language"], is_held_out=is_held_out)
    asked_for = [(question, source, bot.ask(question)) for question, source in rows]
    cited = [(q, bool(reply) and reply.citations[0].title == name) for q, name, reply in asked_for]
    table.row("vi, of English texts: right source cited first", cited)
    off = half(sets["off_topic"], is_held_out=is_held_out)
    outcomes = [(q, bot.ask(q) is None) for q in off]
    table.row("vi, of English texts, other topics: handed over", outcomes)


def measure_many_languages(table: Table, vectors: Vectors, *, is_held_out: bool) -> None:
    """Questions in many languages to a bot whose only text is an English one."""
    bot = Bot(index_of({"hotel": SETS / "hotel.md"}, vectors), "vi")
    sets = json.loads((SETS / "other_languages.json").read_text("utf-8"))
    asked = [
        (q, words, bot.ask(q)) for _, q, words in half(sets["questions"], is_held_out=is_held_out)
    ]
    cited = [
        (q, bool(reply) and any(words in citation.quote for citation in reply.citations))
        for q, words, reply in asked
    ]
    table.row("17 languages, of an English text: right passage cited", cited)
    off = half(sets["off_topic"], is_held_out=is_held_out)
    outcomes = [(q, bot.ask(q) is None) for _, q in off]
    table.row("17 languages, of an English text, other topics: handed over", outcomes)


LAYOUTS: dict[str, Callable[[list[str]], str]] = {
    "headings": lambda fact: f"## {fact[0]}\n\n{fact[1]}\n\n",
    "lines apart": lambda fact: f"{fact[1]}\n\n",
    "short lines together": lambda fact: f"{fact[1]}\n",
}


def measure_near_topic(table: Table, folder: Path, vectors: Vectors, *, is_held_out: bool) -> None:
    """Questions in ten languages near the topic of English texts with short facts."""
    examples = Path(hybrid_index.__file__).with_name("confidence_examples.toml")
    companies = tomllib.loads(examples.read_text("utf-8"))["companies"]
    companies = companies[2:] if is_held_out else companies[:2]
    for layout, written in LAYOUTS.items():
        cited, handed_over = [], []
        for company in companies:
            path = folder / "facts.md"
            path.write_text("".join(map(written, company["facts"])))
            bot = Bot(index_of({company["name"]: path}, vectors), "vi")
            for code, question, number in company["questions"]:
                bot.code = code
                reply, words = bot.ask(question), company["facts"][number][1]
                cited.append((f"{question} -> {reply and reply.text}", holds(reply, words)))
            for code, question in company["unknown"]:
                bot.code = code
                reply = bot.ask(question)
                handed_over.append((f"{question} -> {reply and reply.text}", reply is None))
        name = f"ten languages, of short facts ({layout})"
        table.row(f"{name}: answered", cited)
        table.row(f"{name}, near the topic: handed over", handed_over)


def measure_plain_texts(table: Table, folder: Path, vectors: Vectors, *, is_held_out: bool) -> None:
    """Questions in ten languages to bots that each have one English text without headings."""
    texts = tomllib.loads((SETS / "plain_texts.toml").read_text("utf-8"))["texts"]
    for layout in ("paragraphs", "one paragraph"):
        cited, handed_over = [], []
        for text in half(texts, is_held_out=is_held_out):
            document, path = text["document"], folder / "plain.md"
            path.write_text(document if layout == "paragraphs" else " ".join(document.split()))
            bot = Bot(index_of({"plain": path}, vectors), "vi")
            for code, question, words in text["questions"]:
                bot.code = code
                reply = bot.ask(question)
                quotes = [citation.quote for citation in reply.citations] if reply else []
                cited.append((question, any(words in quote for quote in quotes)))
            for code, question in text["off_topic"]:
                bot.code = code
                handed_over.append((question, bot.ask(question) is None))
        name = f"ten languages, of plain English texts ({layout})"
        table.row(f"{name}: right passage cited", cited)
        table.row(f"{name}, other topics: handed over", handed_over)


def measure_corrected(table: Table, vectors: Vectors, *, is_held_out: bool) -> None:
    """Answers that correct a document, asked in other words; and the documents alone, before and
    after the one that answers is gone."""
    companies = tomllib.loads((SETS / "corrected_answers.toml").read_text("utf-8"))["companies"]
    for company in companies:
        code, corrected = company["language"], company["corrected"]
        facts = [_piece(n, code, *fact, vectors) for n, fact in enumerate(company["facts"])]
        pairs = [
            _piece(len(facts) + n, code, question, answer, vectors, is_pair=True)
            for n, (question, answer, _) in enumerate(corrected)
        ]
        bot, before = (
            Bot(hybrid_index.Index([*facts, *pairs]), code),
            Bot(hybrid_index.Index(facts), code),
        )
        asked = [
            (question, answer)
            for _, answer, others in half(corrected, is_held_out=is_held_out)
            for question in others
        ]
        near = half(company["near"], is_held_out=is_held_out)
        replies = [(question, answer, bot.ask(question)) for question, answer in asked]
        table.row(
            f"{code}, corrected answers in other words: given",
            [(f"{q} -> {reply and reply.text}", holds(reply, a)) for q, a, reply in replies],
        )
        table.row(
            f"{code}, the old text is not given with them",
            [(q, reply is None or reply.text == a) for q, a, reply in replies if holds(reply, a)],
        )
        answers = tuple(answer for _, answer, _ in corrected)
        others = [(q, bot.ask(q)) for q in near]
        table.row(
            f"{code}, neighbouring questions: no corrected answer leads",
            [(q, reply is None or not reply.text.startswith(answers)) for q, reply in others],
        )
        questions = [*(question for question, _ in asked), *near]
        sources = {q: before.ask(q) for q in questions}
        table.row(f"{code}, short texts: answered", [(q, bool(sources[q])) for q in questions])
        gone = [
            (q, Bot(_without(facts, reply.citations[0].document_id), code).ask(q))
            for q, reply in sources.items()
            if reply
        ]
        table.row(
            f"{code}, the text that answers is gone: handed over",
            [(f"{q} -> {reply and reply.text}", reply is None) for q, reply in gone],
        )


def _without(pieces: Sequence[hybrid_index.IndexedPassage], document_id: int) -> hybrid_index.Index:
    return hybrid_index.Index([piece for piece in pieces if piece.document_id != document_id])


def _piece(
    number: int, code: str, heading: str, text: str, vectors: Vectors, *, is_pair: bool = False
) -> hybrid_index.IndexedPassage:
    """A text of one passage, or a question with its answer, as training stores it."""
    sentences = tuple(re.split(r"(?<=\.) ", text))
    made = vectors.of([chunking.embedded(heading, text), *([] if is_pair else sentences)])
    return hybrid_index.IndexedPassage(
        id=number,
        document_id=number,
        title=heading,
        url=None,
        heading=heading,
        page=None,
        text=text,
        language=code,
        vector=made[0],
        sentences=sentences,
        sentence_vectors=made[:1] if is_pair else made[1:],
        answers=heading if is_pair else "",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    table, vectors = Table(shows_misses=options.misses), Vectors()
    with tempfile.TemporaryDirectory() as folder:
        files = texts(Path(folder))
        index = index_of(files, vectors)
        print(f"{len(files)} texts, {len(index.passages)} passages")
        measure_many_languages(table, vectors, is_held_out=options.held_out)
        measure_near_topic(table, Path(folder), vectors, is_held_out=options.held_out)
        measure_plain_texts(table, Path(folder), vectors, is_held_out=options.held_out)
        measure_corrected(table, vectors, is_held_out=options.held_out)
        for code, name in (("en", "english"), ("vi", "vietnamese")):
            sets = json.loads((SETS / f"{name}.json").read_text("utf-8"))
            sets["clean"] = [row for row in sets["clean"] if row[1] in files]
            bot = Bot(index, code)
            measure(table, bot, sets, is_held_out=options.held_out)
            is_held_out = options.held_out
            if code == "en":
                measure_pdf(table, Path(folder), sets, vectors, is_held_out=is_held_out)
            else:
                measure_other_language(table, files, sets, vectors, is_held_out=is_held_out)
            seconds = sorted(bot.seconds)
            p50, p95 = (seconds[int(len(seconds) * share)] for share in (0.5, 0.95))
            print(f"| {code}, reply | p50 {p50:.3f} s | p95 {p95:.3f} s |")
            print(f"| {code}, reply | {lengths(bot.words)} |")


if __name__ == "__main__":
    main()
