"""Measure the memory of a worker whose cache holds the indexes of many bots.

    .venv/bin/python bench/index_memory.py [--bots 50] [--passages 100]

Each bot has `--passages` passages of texts that are installed on this machine, read and encoded as
in `bench/answer_quality.py`. Every bot is asked three questions, one of them mistyped, since an
index builds some of its data only for mistyped questions. Prints the resident memory of this
process, step by step, and the size that the worker's cache assumes: the cache drops bots above a
number and a size.
"""

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

import answer_quality as answers
import django

django.setup()

from bots.language import embedding  # noqa: E402
from bots.search import hybrid_index  # noqa: E402
from bots.services import retrieval  # noqa: E402
from chatplatform import celery  # noqa: E402

QUESTIONS = (
    "Which editor does git open if I set nothing?",
    "Whcih editor deos git open if I set nothing?",
    "What is the capital of France?",
)


def shown(step: str) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(f"| {step} | {pages * resource.getpagesize() / 1e6:.0f} MB |")


def bot(corpus: hybrid_index.Index, count: int, chance: random.Random) -> hybrid_index.Index:
    """The index of a bot with `count` random passages, copied so that bots share no memory."""
    chosen = chance.choices(corpus.passages, k=count)
    return hybrid_index.Index(
        [
            hybrid_index.IndexedPassage(
                id=number,
                document_id=passage.document_id,
                title=passage.title,
                url=None,
                heading=passage.heading,
                page=passage.page,
                text="".join(list(passage.text)),
                language=passage.language,
                vector=passage.vector.copy(),
                sentences=tuple("".join(list(sentence)) for sentence in passage.sentences),
                sentence_vectors=passage.sentence_vectors.copy(),
            )
            for number, passage in enumerate(chosen)
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=50)
    parser.add_argument("--passages", type=int, default=100)
    options = parser.parse_args()
    print("| step | resident memory |\n| --- | --- |")
    celery.app.loader.import_default_modules()
    shown("worker with its code")
    embedding.embed_query("How much memory is it?")
    shown("and the encoder")
    with tempfile.TemporaryDirectory() as folder:
        corpus = answers.index_of(answers.texts(Path(folder)), answers.Vectors())
    shown(f"and {len(corpus.passages)} passages, from which the bots take theirs")
    chance, bots = random.Random(17), []
    started = time.perf_counter()
    for _ in range(options.bots):
        bots.append(bot(corpus, options.passages, chance))
    seconds = time.perf_counter() - started
    shown(f"and {options.bots} bots of {options.passages} passages")
    for index in bots:
        for question in QUESTIONS:
            index.search(question, language="en")
    shown("and three questions to each of them")
    size = sum(retrieval.size_of(passage) for index in bots for passage in index.passages)
    sentences = sum(len(passage.sentences) for index in bots for passage in index.passages)
    print(f"\n{sentences} sentences; built in {seconds:.1f} s; taken for {size / 1e6:.0f} MB,")
    print(f"of {retrieval.MAX_BYTES / 1e6:.0f} MB that a worker's cache may hold")


if __name__ == "__main__":
    main()
