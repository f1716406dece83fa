"""Measure the speed, the recall and the size of a large bot's search.

    python -m local.datastores exec -- python bench/large_bots.py [--passages 100000]

The passages are copies of the passages of `bench/answer_quality.py`. Each copy's vector is moved
toward another passage's vector, and slightly at random. They are loaded without training. The exact
result comes from the same statement without the index. `--bots 2` divides the passages among two
bots, whose rows are mixed in the index, and asks both at once.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import answer_quality as answers
import django
import numpy as np

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from bots.language import embedding  # noqa: E402
from bots.models import Bot, Chunk, Document  # noqa: E402
from bots.search import hybrid_index  # noqa: E402
from bots.services import large_bots  # noqa: E402
from identity.models import Client, ClientConfig  # noqa: E402

NEAREST, QUESTIONS, BLOCK = 60, 60, 10_000
# The size of a vector's random displacement in each dimension.
MOVED = 0.01
INDEXES = ("passage_vector", "passage_words")
# A row of COPY (FORMAT BINARY): the number of fields, then each field after its length.
ROW = np.dtype(
    [("fields", ">i2"), ("l1", ">i4"), ("id", ">i8"), ("l2", ">i4"), ("base", ">i8"),
     ("l3", ">i4"), ("dimension", ">i2"), ("unused", ">i2"),
     ("vector", ">f2", embedding.DIMENSION)]
)  # fmt: skip
COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)


def texts() -> list[hybrid_index.IndexedPassage]:
    with tempfile.TemporaryDirectory() as folder:
        return list(answers.index_of(answers.texts(Path(folder)), answers.Vectors()).passages)


def learnt(pieces: Sequence[hybrid_index.IndexedPassage], code: str) -> Bot:
    """A bot of a client of its own, trained with the original texts."""
    client = Client.objects.create(name="Bench", code=code)
    ClientConfig.objects.create(client=client)
    bot = Bot.objects.create(client=client, bot_name="Helper")
    titles = dict.fromkeys(piece.title for piece in pieces)
    documents = {
        title: Document.objects.create(
            client=client,
            bot=bot,
            file_name=title,
            title=title,
            size_bytes=1,
            status="trained",
            sha256=title,
        )
        for title in titles
    }
    places = dict.fromkeys(titles, 0)
    for piece in pieces:
        Chunk.objects.create(
            client=client, bot=bot, document=documents[piece.title], position=places[piece.title],
            heading=piece.heading, text=piece.text, sentences=list(piece.sentences),
            language=piece.language, embedding_model=embedding.MODEL_ID,
            dimension=embedding.DIMENSION, vector=piece.vector.tobytes(),
            sentence_vectors=piece.sentence_vectors.tobytes(),
        )  # fmt: skip
        places[piece.title] += 1
    large_bots.backfill(bot.pk)
    return bot


def blocks(count: int, first: int, vectors: Any, ids: Sequence[int]) -> Iterator[bytes]:
    chance = np.random.default_rng(7)
    for start in range(0, count, BLOCK):
        rows = np.zeros(min(BLOCK, count - start), ROW)
        chosen = chance.integers(len(ids), size=len(rows))
        share = chance.uniform(0.5, 1, (len(rows), 1))
        others = vectors[chance.integers(len(ids), size=len(rows))]
        moved = share * vectors[chosen] + (1 - share) * others
        moved += chance.normal(0, MOVED, moved.shape)
        rows["fields"], rows["l1"], rows["l2"], rows["l3"] = 3, 8, 8, 4 + 2 * embedding.DIMENSION
        rows["id"] = first + start + np.arange(len(rows))
        rows["base"] = np.array(ids)[chosen]
        rows["dimension"] = embedding.DIMENSION
        rows["vector"] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        yield rows.tobytes()


def load(count: int) -> dict[str, float]:
    """Copy passages until the bots have `count` together; return the seconds of each step."""
    seconds = {}
    rows = list(Chunk.objects.order_by("pk"))
    vectors = np.stack([np.frombuffer(bytes(row.vector), np.float32) for row in rows])
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = ANY (%s)", [list(INDEXES)]
        )
        definitions = [definition for (definition,) in cursor.fetchall()]
        cursor.execute(f"DROP INDEX {', '.join(INDEXES)}")
        cursor.execute("CREATE UNLOGGED TABLE made (id bigint, base bigint, vector halfvec(384))")
        began = time.perf_counter()
        with cursor.copy("COPY made FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(COPY_HEAD)
            for block in blocks(count - len(rows), rows[-1].pk + 1, vectors, [r.pk for r in rows]):
                copy.write(block)
            copy.write(b"\xff\xff")
        cursor.execute(
            "INSERT INTO bots_chunk (id, client_id, bot_id, document_id, position, heading, text,"
            " sentences, language, content_hash, embedding_model, dimension, vector,"
            " sentence_vectors) SELECT made.id, c.client_id, c.bot_id, c.document_id, made.id,"
            " heading, text, sentences, language, '', embedding_model, dimension, c.vector, ''"
            " FROM made JOIN bots_chunk c ON c.id = made.base"
        )
        cursor.execute(
            "INSERT INTO bots_passage SELECT made.id, p.bot_id, p.document_id, made.vector,"
            " p.words, p.search_words FROM made JOIN bots_passage p ON p.chunk_id = made.base"
        )
        # Remove the originals: as centers of their copies they would make the index a dead end.
        cursor.execute(
            "DELETE FROM bots_passage p USING made WHERE p.chunk_id = made.base; DROP TABLE made"
        )
        cursor.execute(
            "UPDATE bots_document d SET chunk_count ="
            " (SELECT count(*) FROM bots_chunk c WHERE c.document_id = d.id)"
        )
        seconds["rows"] = time.perf_counter() - began
        cursor.execute("SET maintenance_work_mem = '3GB'")
        cursor.execute("SET max_parallel_maintenance_workers = 2")
        for definition in definitions:
            began = time.perf_counter()
            cursor.execute(definition)
            seconds[definition.split()[2]] = time.perf_counter() - began
        cursor.execute("ANALYZE bots_passage, bots_chunk")
    return seconds


def timed(act: Callable[[], Any], times: list[float]) -> Any:
    began = time.perf_counter()
    result = act()
    times.append(time.perf_counter() - began)
    return result


def nearest(index: large_bots.LargeIndex, vector: Any, *, is_exact: bool) -> set[int]:
    with transaction.atomic(), connection.cursor() as cursor:
        if is_exact:
            cursor.execute("SET LOCAL enable_indexscan = off")
        return set(index._ids(large_bots._NEAR, vector=vector, limit=NEAREST))


def shown(times: Sequence[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(ordered) * 1e3:.1f} ms, {p95 * 1e3:.1f} ms"


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def measure(bot: Bot, questions: Sequence[str], efs: Sequence[int]) -> None:
    before = megabytes()
    opening: list[float] = []
    index = timed(lambda: large_bots.LargeIndex(bot.pk), opening)
    print(f"| opening the index in a worker | {opening[0] * 1e3:.0f} ms |")
    vectors = [embedding.embed_query(question) for question in questions]
    exact_times: list[float] = []
    exact = [timed(lambda v=v: nearest(index, v, is_exact=True), exact_times) for v in vectors]
    print(f"| {NEAREST} nearest, exact: p50, p95 | {shown(exact_times)} |")
    for ef in efs:
        large_bots.EF_SEARCH = ef
        times: list[float] = []
        for vector in vectors:
            nearest(index, vector, is_exact=False)  # into memory
        found = [timed(lambda v=v: nearest(index, v, is_exact=False), times) for v in vectors]
        recall = statistics.mean(len(a & b) / len(b) for a, b in zip(found, exact, strict=True))
        print(f"| {NEAREST} nearest, by the index, ef {ef}: p50, p95; recall | {shown(times)};"
              f" {recall:.3f} |")  # fmt: skip
    large_bots.EF_SEARCH = efs[-1]
    whole: list[float] = []
    began = time.process_time()
    for question in questions:
        timed(lambda q=question: index.search(q, language="en"), whole)
    spent = (time.process_time() - began) / len(questions)
    print(f"| a whole search: p50, p95; CPU of the worker | {shown(whole)}; {spent * 1e3:.0f} ms |")
    print(f"| memory of the worker for it | {megabytes() - before:.0f} MB |")


def ask(bot_id: int, questions: Sequence[str]) -> None:
    """Ask a bot questions in an endless loop."""
    index = large_bots.LargeIndex(bot_id)
    while True:
        for question in questions:
            index.search(question, language="en")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--ef", type=int, nargs="+", default=[100, 400, large_bots.EF_SEARCH])
    parser.add_argument("--bots", type=int, default=1)
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    pieces = texts()
    bots = [learnt(pieces, f"bench{number}") for number in range(options.bots)]
    print(f"| {options.passages:,} passages, load {os.getloadavg()[0]:.1f} | |\n| --- | --- |")
    for step, taken in load(options.passages).items():
        print(f"| making {step} | {taken:.0f} s |")
    with connection.cursor() as cursor:
        for name in ("bots_passage", *INDEXES):
            cursor.execute("SELECT pg_relation_size(%s::regclass) / 1e6", [name])
            print(f"| size of {name} | {cursor.fetchone()[0]:.0f} MB |")
    sets = json.loads((answers.SETS / "english.json").read_text())
    asked = [row[0] for row in sets["clean"]]
    questions = random.Random(17).sample(asked, min(QUESTIONS, len(asked)))
    # Separate processes, as workers are.
    others = [
        multiprocessing.get_context("spawn").Process(
            target=ask, args=(bot.pk, questions), daemon=True
        )
        for bot in bots[1:]
    ]
    for other in others:
        other.start()
    measure(bots[0], questions, options.ef)
    for other in others:
        other.terminate()


if __name__ == "__main__":
    main()
