"""Test helpers: bots, their API keys, and trained documents."""

import functools
import hashlib
import importlib.metadata
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from bots.ingest import chunking, extraction
from bots.language import embedding
from bots.language.sentence_encoder import Encoder
from bots.models import Bot, Chunk, Document
from identity.models import Client
from identity.testing import Person, make_key


def make_bot(client: Client, **fields: Any) -> Any:
    named = {"bot_name": "Helper", "created_at": timezone.now()} | fields
    return Bot.objects.create(client=client, **named)


@pytest.fixture
def bot(client_a: Client) -> Any:
    return make_bot(client_a)


@pytest.fixture
def server(client_a: Client, bot: Any) -> Person:
    """Client A's server, with a secret key for the bot."""
    return make_key(client_a, "secret", bot.pk)


@pytest.fixture
def page(client_a: Client, bot: Any) -> Person:
    """A visitor's browser on client A's website, with a public key for the bot."""
    return make_key(client_a, "public", bot.pk)


def _cached_by_text(kind: str, encode: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    @functools.cache
    def cached(encoder: Encoder, text: str) -> Any:
        path = folder / hashlib.sha256(f"{kind}: {text}".encode()).hexdigest()
        if not path.exists():
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(encode(encoder, text).tobytes())
            Path(file.name).replace(path)  # Atomic, so that no process reads an unfinished file.
        return np.fromfile(path, dtype=np.float32)

    return lambda encoder, text: cached(encoder, text).copy()


@pytest.fixture(autouse=True, scope="session")
def quick_encoder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Cache vectors in `.pytest_cache` across runs, by the version of the library that computes
    them."""
    assert request.config.cache
    version = importlib.metadata.version("onnxruntime")
    folder = request.config.cache.mkdir(f"vectors-onnxruntime-{version}")
    passages = Encoder.passages
    query = _cached_by_text("query", Encoder.query, folder)
    passage = _cached_by_text(
        "passage", lambda encoder, text: next(passages(encoder, [text]))[1][0], folder
    )

    def one_by_one(encoder: Encoder, texts: list[str]) -> Iterator[Any]:
        yield from (([place], passage(encoder, text)[None]) for place, text in enumerate(texts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "query", query)
        patch.setattr(Encoder, "passages", one_by_one)
        yield


@functools.cache
def _passages(text: str) -> tuple[Any, list[tuple[Any, bytes, bytes]]]:
    """A text as training reads it, and its passages with their vectors; cached."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(text.encode())
        file.flush()
        extracted = extraction.extract(Path(file.name), file_name="shop.txt")

    def encoded(texts: Any) -> list[bytes]:
        vectors = embedding.embed_passages(texts)
        return [b""] * len(texts) if vectors is None else [vector.tobytes() for vector in vectors]

    pieces = chunking.chunk(extracted)
    vectors = encoded([piece.embedded for piece in pieces])
    sentences = [b"".join(encoded(piece.sentences)) for piece in pieces]
    return extracted, list(zip(pieces, vectors, sentences, strict=True))


def trained(bot: Any, text: str, title: str = "Shop") -> Any:
    """Create a trained document from a text, without an upload or a job."""
    extracted, passages = _passages(text)
    document = Document.objects.create(
        client_id=bot.client_id,
        bot=bot,
        file_name="shop.txt",
        title=title,
        mime_type="text/plain",
        size_bytes=len(text.encode()),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        status="trained",
        stage="complete",
        progress=100,
        chunk_count=len(passages),
        language=extracted.language,
    )
    for piece, vector, sentence_vectors in passages:
        Chunk.objects.create(
            client_id=bot.client_id,
            bot=bot,
            document=document,
            position=piece.position,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            sentences=list(piece.sentences),
            language=extracted.language,
            content_hash=piece.content_hash,
            embedding_model=embedding.MODEL_ID if vector else "",
            dimension=embedding.DIMENSION if vector else 0,
            vector=vector,
            sentence_vectors=sentence_vectors,
        )
    bot.knowledge_version += 1
    bot.save(update_fields=["knowledge_version"])
    return document
