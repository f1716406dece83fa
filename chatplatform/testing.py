"""What tests are written with: Ann, Ben and Cara, builders, and the jobs run in this process.

Ann owns client A, Ben is her agent, Cara owns client B and must see nothing of A.
"""

import functools
import hashlib
import importlib
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core.cache import cache
from django.test import Client as Browser
from django.utils.module_loading import import_string

from chatplatform import jobs
from chatplatform.celery import app
from chatplatform.models import Job, JobState
from identity.models import ApiKey, Client, ClientConfig, Role, User

PASSWORD = "correct-horse-battery"
JSON = "application/json"


@dataclass
class Person:
    """A caller: `.get`, `.post`, `.put`, `.delete` with its credential in the header."""

    headers: dict[str, str] = field(default_factory=dict)
    user: User | None = None
    key: ApiKey | None = None

    def __post_init__(self) -> None:
        self.browser = Browser(raise_request_exception=False)

    @property
    def client(self) -> Client:
        holder = self.user or self.key
        assert holder
        assert holder.client
        return holder.client

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> Any:
        return self.browser.get(path, query, headers={**self.headers, **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("post", path, body, headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("put", path, body, headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.browser.delete(path, headers={**self.headers, **headers})

    def upload(self, path: str, **fields: Any) -> Any:
        """A multipart body: file objects, lists of them, and plain fields."""
        return self.browser.post(path, fields, headers=self.headers)

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        send: Callable[..., Any] = getattr(self.browser, method)
        data = body if isinstance(body, (bytes, str)) or body is None else body
        return send(path, data, content_type=JSON, headers={**self.headers, **headers})


def make_client(name: str = "Acme") -> Client:
    client = Client.objects.create(name=name, code=f"{name.lower()}-{uuid.uuid4().hex[:6]}")
    ClientConfig.objects.create(client=client)
    import_string("identity.services.credits.open_account")(client, included=1000)
    return client


def make_person(client: Client, role: str = Role.OWNER, name: str = "Ann") -> Person:
    """A signed-in person of `client`."""
    user = User.objects.create_user(
        f"{name.lower()}-{uuid.uuid4().hex[:6]}@example.com",
        PASSWORD,
        client=client,
        full_name=name,
        role=role,
    )
    issue = import_string("identity.services.tokens.issue")
    return Person({"Authorization": f"Bearer {issue(user).access_token}"}, user=user)


def make_key(client: Client, scope: str = "secret", bot_id: int | None = None) -> Person:
    """A caller with an API key of `client`."""
    create = import_string("identity.services.api_keys.create")
    key, secret = create(client, name="test", scope=scope, bot_id=bot_id)
    return Person({"API-KEY": secret}, key=key)


def run_jobs(limit: int = 200) -> int:
    """Run due jobs here and now, as the relay and a worker would; how many ran."""
    app.loader.import_default_modules()
    ran = 0
    while ran < limit:
        Job.objects.filter(state=JobState.QUEUED).update(dispatched_at=None)
        due = jobs.take_due(20)
        if not due:
            break
        ran += sum(jobs.run(job_id) for job_id, _ in due)
    return ran


@contextmanager
def run_before(dotted: str, callback: Callable[[], Any]) -> Iterator[None]:
    """Run `callback` once, just before the function named `dotted` is called."""
    real = import_string(dotted)
    called: list[bool] = []

    def first_callback(*args: Any, **kwargs: Any) -> Any:
        if not called:
            called.append(True)
            callback()
        return real(*args, **kwargs)

    with mock.patch(dotted, first_callback):
        yield
    assert called, f"{dotted} was not called"


@pytest.fixture(autouse=True)
def _no_cache_between_tests() -> None:
    cache.clear()


@pytest.fixture
def client_a(db: None) -> Client:
    return make_client("Acme")


@pytest.fixture
def client_b(db: None) -> Client:
    return make_client("Bravo")


@pytest.fixture
def ann(client_a: Client) -> Person:
    return make_person(client_a, Role.OWNER, "Ann")


@pytest.fixture
def ben(client_a: Client) -> Person:
    return make_person(client_a, Role.AGENT, "Ben")


@pytest.fixture
def cara(client_b: Client) -> Person:
    return make_person(client_b, Role.OWNER, "Cara")


@pytest.fixture
def nobody() -> Person:
    """A caller without a credential."""
    return Person()


def make_bot(client: Client, **fields: Any) -> Any:
    bot_model = import_string("bots.models.Bot")
    return bot_model.objects.create(
        client=client, bot_name=fields.pop("bot_name", "Helper"), **fields
    )


@pytest.fixture
def bot(client_a: Client) -> Any:
    return make_bot(client_a)


@pytest.fixture
def server(client_a: Client, bot: Any) -> Person:
    """Client A's own server: a secret key for the bot."""
    return make_key(client_a, "secret", bot.pk)


@pytest.fixture
def page(client_a: Client, bot: Any) -> Person:
    """A web page of client A: a public key for the bot."""
    return make_key(client_a, "public", bot.pk)


def make_chat(bot: Any, **fields: Any) -> Any:
    """A conversation of a customer of its own, at the bot unless said otherwise."""
    models = importlib.import_module("chats.models")
    customer = models.Customer.objects.create(
        client_id=bot.client_id, name=fields.pop("customer_name", "Zoe")
    )
    fields = {"language": "en", **fields}
    return models.Conversation.objects.create(
        client_id=bot.client_id, bot=bot, customer=customer, **fields
    )


@functools.cache
def _passages(text: str) -> tuple[Any, list[tuple[Any, bytes, bytes]]]:
    """A text as training reads, cuts and encodes it; once a process."""
    extract, chunking, embedding = (
        importlib.import_module(f"bots.knowledge.{name}")
        for name in ("extract", "chunking", "embedding")
    )
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(text.encode())
        file.flush()
        extracted = extract.extract(Path(file.name), file_name="shop.txt")

    def encoded(texts: Any) -> list[bytes]:
        vectors = embedding.embed_passages(texts)
        return [b""] * len(texts) if vectors is None else [one.tobytes() for one in vectors]

    pieces = chunking.chunk(extracted)
    vectors = encoded([piece.embedded for piece in pieces])
    sentences = [b"".join(encoded(piece.sentences)) for piece in pieces]
    return extracted, list(zip(pieces, vectors, sentences, strict=True))


def trained(bot: Any, text: str, title: str = "Shop") -> Any:
    """A document that the bot knows, without the upload and the job."""
    models = importlib.import_module("bots.models")
    embedding = importlib.import_module("bots.knowledge.embedding")
    extracted, passages = _passages(text)
    document = models.Document.objects.create(
        client_id=bot.client_id,
        bot=bot,
        file_name="shop.txt",
        title=title,
        mime_type="text/plain",
        size_bytes=len(text.encode()),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        status="trained",
        progress=100,
        chunk_count=len(passages),
        language=extracted.language,
    )
    for piece, vector, sentence_vectors in passages:
        models.Chunk.objects.create(
            client_id=bot.client_id,
            bot=bot,
            document=document,
            position=piece.position,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            sentences=list(piece.sentences),
            language=extracted.language,
            embedding_model=embedding.MODEL_ID if vector else "",
            dimension=embedding.DIMENSION if vector else 0,
            vector=vector,
            sentence_vectors=sentence_vectors,
        )
    bot.knowledge_version += 1
    bot.save(update_fields=["knowledge_version"])
    return document
