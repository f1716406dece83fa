"""Search in a bot's documents, with indexes cached in this process."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from django.db.models import Min, Q

from bots.engine.types import Snippet
from bots.ingest import chunking
from bots.models import Bot, Document
from bots.search import question_splitting
from bots.search.hybrid_index import Hit, Index, IndexedPassage, SearchResult
from bots.search.question_splitting import Part
from bots.services import encoders, large_bots, stored_passages
from bots.services.large_bots import LargeIndex

# Limits of the cache. An index larger than `MAX_BYTES` is kept, but as the only one.
MAX_BOTS = 50
MAX_BYTES = 300_000_000
# An index takes this many bytes of memory per character of text and per passage, in addition to its
# vectors (measured by bench/index_memory.py).
_BYTES_PER_CHARACTER, _BYTES_PER_PASSAGE = 8, 6_000
# A model reads MIN_READ_PASSAGES passages for each question of a message, and further passages
# while all together have at most MAX_READ_WORDS words, divided equally among the questions.
MIN_READ_PASSAGES, MAX_READ_WORDS = 5, 420


AnyIndex = Index | LargeIndex


@dataclass(frozen=True, eq=False)
class _Entry:
    version: int
    index: AnyIndex
    size_bytes: int
    # The next time a document becomes valid or expires, when the index must be rebuilt.
    valid_until: datetime | None


class _Cache:
    """An LRU cache of the bots' indexes. Only one thread at a time builds a bot's index."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._building: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, bot: Bot) -> AnyIndex:
        """The index of the bot's valid documents, at least as new as its `knowledge_version`."""
        index = self._fresh(bot)
        if index:
            return index
        with self._lock:
            building = self._building.setdefault(bot.pk, threading.Lock())
        with building:
            # A thread that waited here finds the index that the other thread built.
            return self._fresh(bot) or self._build(bot)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def _fresh(self, bot: Bot) -> AnyIndex | None:
        with self._lock:
            entry = self._entries.get(bot.pk)
            # A caller with an outdated row of the bot gets the newer index.
            if entry is None or entry.version < bot.knowledge_version:
                return None
            if entry.valid_until and entry.valid_until <= datetime.now(UTC):
                return None
            self._entries.move_to_end(bot.pk)
            return entry.index

    def _build(self, bot: Bot) -> AnyIndex:
        now = datetime.now(UTC)
        index = _index_of(bot.pk)
        passages = index.sample if isinstance(index, LargeIndex) else index.passages
        entry = _Entry(
            version=bot.knowledge_version,
            index=index,
            size_bytes=sum(map(size_of, passages)),
            valid_until=_next_change(bot.pk, now=now),
        )
        with self._lock:
            self._entries[bot.pk] = entry
            self._entries.move_to_end(bot.pk)
            self._shrink()
            # Keep the dictionary small. Threads that wait for the lock have their own reference.
            self._building.pop(bot.pk, None)
        return entry.index

    def _shrink(self) -> None:
        total = sum(entry.size_bytes for entry in self._entries.values())
        while len(self._entries) > 1 and (len(self._entries) > MAX_BOTS or total > MAX_BYTES):
            _, dropped = self._entries.popitem(last=False)
            total -= dropped.size_bytes


_cache = _Cache()


def search(
    bot: Bot,
    question: str,
    *,
    language: str,
    limit: int = 5,
    leave_out: Callable[[IndexedPassage], bool] | None = None,
) -> SearchResult:
    """The passages of valid documents that best answer a question; `leave_out` excludes some."""
    index = _cache.get(bot)
    return index.search(question, language=language, limit=limit, leave_out=leave_out)


def index_with(bot: Bot, document_ids: Sequence[int]) -> AnyIndex:
    """The bot's index as it would be with these held-back documents; not cached."""
    return _index_of(bot.pk, held=document_ids)


def _index_of(bot_id: int, *, held: Sequence[int] = ()) -> AnyIndex:
    encoder = encoders.in_use(bot_id)
    if large_bots.is_backfilled(bot_id):
        return LargeIndex(bot_id, held=held, encoder=encoder)
    now = datetime.now(UTC)
    return Index(stored_passages.load(bot_id, now=now, held=held, encoder_id=encoder.id), encoder)


def find(
    bot: Bot,
    text: str,
    *,
    language: str,
    topics: Sequence[str],
    threshold: float,
    index: AnyIndex | None = None,
    limit: int = MIN_READ_PASSAGES,
) -> tuple[Part, ...]:
    """Search for each question of a message; `topics`: earlier questions, latest first.

    `index` replaces the bot's own index, to test a change. `limit`: how many passages per question.
    """
    searched = index or _cache.get(bot)
    return question_splitting.find(
        partial(searched.search, language=language, limit=limit),
        text,
        topics=topics,
        threshold=threshold,
    )


def snippets(results: Iterable[SearchResult]) -> tuple[Snippet, ...]:
    """The distinct passages of search results that an engine reads, numbered from 1.

    Each result gets an equal share of `MAX_READ_WORDS`; `_read` chooses its passages.
    """
    lists = [result.hits for result in results]
    max_words = MAX_READ_WORDS // max(1, len(lists))
    passages = {hit.passage.id: hit.passage for hits in lists for hit in _read(hits, max_words)}
    preferred = {hit.passage.id for hits in lists for hit in hits if hit.is_preferred}
    return tuple(
        Snippet(
            number,
            passage.document_id,
            passage.title,
            passage.url,
            passage.text,
            page=passage.page,
            is_important=passage.is_important or passage.id in preferred,
            dated=passage.dated,
            heading=passage.heading,
        )
        for number, passage in enumerate(passages.values(), 1)
    )


def _read(hits: Sequence[Hit], max_words: int) -> Iterator[Hit]:
    """The hits to read: the first five, all hits of important documents, and further hits while the
    passages up to them have at most `max_words` words."""
    words = 0
    for rank, hit in enumerate(hits):
        words += chunking.count_words(hit.passage.text)
        if rank < MIN_READ_PASSAGES or words <= max_words or hit.passage.is_important:
            yield hit


def clear_cache() -> None:
    """Drop all indexes of this process."""
    _cache.clear()


def _next_change(bot_id: int, *, now: datetime) -> datetime | None:
    """The next time a document becomes valid or expires; None if none will."""
    times = Document.objects.filter(bot_id=bot_id).aggregate(
        begins=Min("valid_from", filter=Q(valid_from__gt=now)),
        ends=Min("valid_to", filter=Q(valid_to__gt=now)),
    )
    return min(filter(None, times.values()), default=None)


def size_of(passage: IndexedPassage) -> int:
    """The approximate memory of a passage in an index, in bytes."""
    # The vector counts twice, since it is also in the index's matrix.
    vectors = 2 * passage.vector.nbytes + passage.sentence_vectors.nbytes
    return vectors + len(passage.text) * _BYTES_PER_CHARACTER + _BYTES_PER_PASSAGE
