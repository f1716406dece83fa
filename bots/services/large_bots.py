"""Searches bots that have too many passages for the memory of a process.

PostgreSQL finds a few hundred candidates for a question, by vectors (pgvector) and by words. An
index is built from these candidates and a random sample of the bot's passages, which shows what is
typical of the bot. It is searched like the index of a small bot, which contains all passages.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BooleanField, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL

from bots.language import embedding
from bots.language.embedding import SearchEncoder, Vectors
from bots.language.normalization import fold, tokens
from bots.models import Chunk, Document, DocumentStage
from bots.search.bm25_index import STOP
from bots.search.hybrid_index import Index, IndexedPassage, SearchResult, words_of
from bots.services import bots, encoders, stored_passages
from chatplatform import jobs
from chatplatform.sql import execute, fetch_row, fetch_rows

# The maximum number of candidates near the question's vector, and of those near the same vector
# without its common part.
_MAX_NEAREST = 60
# The maximum numbers of candidates with the question's rare words, and from important documents.
_MAX_BY_WORDS, _MAX_IMPORTANT = 40, 20
_SAMPLE_SIZE = 150
# The neighbors of this many nearest passages are candidates, too.
_WITH_NEIGHBORS = 10
# A word is rare if at most this share of the sample contains it; the number of words to search for.
_RARE_SHARE, _RARE_WORDS = 0.05, 4
# The maximum number of passages with a rare word that are ranked by how many of the question's
# words they contain.
_MAX_RANKED = 3_000
# How many index entries a search examines: pgvector's maximum, for a high recall (measured by
# bench/large_bots.py).
EF_SEARCH = 1_000
# The maximum number of entries that are scanned if most of the examined entries belong to other
# bots.
_MAX_SCANNED = 40_000
# The number of passages that are copied together, and the time after which a new job continues.
_BATCH, _RUN_SECONDS = 500, 20.0
# The share of a bot's passages that must be copied before the bot is searched in the database.
# Passages trained later are copied soon afterwards.
_MIN_COPIED_SHARE = 0.9

_VALID = """d.id = p.document_id AND (d.valid_from IS NULL OR d.valid_from <= %(now)s)
        AND (d.valid_to IS NULL OR d.valid_to > %(now)s)
        AND CASE WHEN d.draft IS NULL THEN NOT d.pending_review OR d.id = ANY (%(held)s)
            ELSE NOT d.id = ANY (%(held)s) END"""
_NEAR = f"""
SELECT p.chunk_id FROM bots_passage p JOIN bots_document d ON {_VALID}
WHERE p.bot_id = %(bot)s ORDER BY p.vector <#> %(vector)s::real[]::halfvec LIMIT %(limit)s
"""
_WITH_WORDS = f"""
SELECT found.chunk_id FROM (
    SELECT p.chunk_id, p.search_words FROM bots_passage p JOIN bots_document d ON {_VALID}
    WHERE p.bot_id = %(bot)s AND p.search_words && %(rare)s LIMIT %(max_ranked)s
) found
ORDER BY (
    SELECT count(*) FROM unnest(%(words)s::text[]) word WHERE word = ANY (found.search_words)
) DESC, found.chunk_id
LIMIT %(limit)s
"""
_IN_IMPORTANT = f"""
SELECT p.chunk_id FROM bots_document d JOIN bots_passage p ON {_VALID}
WHERE d.bot_id = %(bot)s AND d.is_important
ORDER BY (p.vector <#> %(vector)s::real[]::halfvec) + 0 LIMIT %(limit)s
"""
_NEIGHBORS = """
SELECT neighbor.id FROM bots_chunk c JOIN bots_chunk neighbor
    ON neighbor.document_id = c.document_id AND neighbor.is_draft = c.is_draft
    AND neighbor.position IN (c.position - 1, c.position + 1)
WHERE c.id = ANY (%s)
"""
_SET_OPTIONS = """
SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true)
"""
_SAMPLE = f"""
SELECT DISTINCT drawn.chunk_id FROM unnest(%(random_ids)s::bigint[]) random_id, LATERAL (
    SELECT p.chunk_id, p.document_id FROM bots_passage p
    WHERE p.bot_id = %(bot)s AND p.chunk_id >= random_id ORDER BY p.chunk_id LIMIT 1
) drawn, LATERAL (
    SELECT FROM bots_document d, (SELECT drawn.document_id) p WHERE {_VALID}
) valid
"""


def is_backfilled(bot_id: int) -> bool:
    """Whether the bot is large and most of its passages are in the database's search table.

    Until then, the bot is searched in memory.
    """
    count = _count(bot_id)
    if count <= settings.LARGE_BOT_PASSAGES or not _has_table():
        return False
    (copied,) = fetch_row("SELECT count(*) FROM bots_passage WHERE bot_id = %s", [bot_id])
    return bool(copied >= _MIN_COPIED_SHARE * count)


def enqueue_backfill(bot_id: int, *, client_id: int) -> None:
    """Enqueue the copying of a large bot's new passages into the database's search table."""
    if _count(bot_id) > settings.LARGE_BOT_PASSAGES and _has_table():
        key = str(bot_id)
        jobs.enqueue(
            "bots.backfill_search_table", client_id=client_id, dedupe_key=key, bot_id=bot_id
        )


def enqueue_missing() -> None:
    """Enqueue a backfill for each large bot whose passages are not all in the search table, for
    example because its client was moved or a job failed."""
    if not _has_table():
        return
    counted = Document.objects.values("bot_id", "client_id").annotate(passages=Sum("chunk_count"))
    for row in counted.filter(passages__gt=settings.LARGE_BOT_PASSAGES):
        encoder_id = encoders.in_use(row["bot_id"]).id
        if _missing(row["bot_id"], encoder_id, after_id=0, limit=1):
            enqueue_backfill(row["bot_id"], client_id=row["client_id"])


def backfill(bot_id: int) -> None:
    """Copy missing passages into the search table; after a while, a new job continues."""
    started, last, encoder_id = time.monotonic(), 0, encoders.in_use(bot_id).id
    while rows := _missing(bot_id, encoder_id, after_id=last):
        last = rows[-1].pk
        if time.monotonic() - started > _RUN_SECONDS:
            with jobs.commit():
                enqueue_backfill(bot_id, client_id=rows[0].client_id)
            return
        values = [
            (row.pk, bot_id, row.document_id, piece.vector.tolist() or None, *_words(piece))
            for row in rows
            for piece in [stored_passages.indexed(row, encoder_id=encoder_id)]
        ]
        with jobs.commit(), connection.cursor() as cursor:
            # Locked, so that no passage is deleted between this check and the insert.
            present = Chunk.objects.filter(pk__in=[value[0] for value in values])
            present_ids = set(present.select_for_update(of=("self",)).values_list("pk", flat=True))
            cursor.executemany(
                "INSERT INTO bots_passage VALUES (%s, %s, %s, %s::real[]::halfvec, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [value for value in values if value[0] in present_ids],
            )
    bots.bump_knowledge_version(bot_id)


class LargeIndex:
    """Used instead of an `Index` for a large bot; `held`: ids of held-back documents to include."""

    def __init__(
        self,
        bot_id: int,
        *,
        held: Sequence[int] = (),
        encoder: SearchEncoder = embedding.PACKAGED,
    ) -> None:
        self._encoder = encoder
        self._params: dict[str, Any] = {"bot": bot_id, "held": list(held)}
        self.sample = self._read(self._draw_sample())
        now = datetime.now(UTC)
        self._drafts = (
            stored_passages.drafts(bot_id, held, now=now, encoder_id=encoder.id) if held else []
        )
        shares = Counter(word for piece in self.sample for word in set(piece.words or ()))
        self._shares = {word: count / len(self.sample) for word, count in shares.items()}

    def search(
        self,
        question: str,
        *,
        language: str,
        limit: int = 5,
        leave_out: Callable[[IndexedPassage], bool] | None = None,
    ) -> SearchResult:
        """Like `Index.search`, but only among the candidates for the question and the sample."""
        vector = self._encoder.query(question)
        candidates = self._candidates(question, vector, language)
        sample_ids = {piece.id for piece in self.sample}
        pieces = [*self.sample, *self._read(candidates - sample_ids), *self._drafts]
        pieces.sort(key=lambda piece: (piece.document_id, piece.position))
        index = Index(pieces, self._encoder)
        return index.search(
            question, language=language, limit=limit, vector=vector, leave_out=leave_out
        )

    def _candidates(self, question: str, vector: Vectors | None, language: str) -> set[int]:
        candidates = set[int]()
        if vector is not None:
            own_vector = self._encoder.without_common_part(vector, language=language)
            nearest = self._ids(_NEAR, vector=own_vector, limit=_MAX_NEAREST)
            candidates.update(nearest, self._neighbors(nearest[:_WITH_NEIGHBORS]))
            candidates.update(self._ids(_NEAR, vector=vector, limit=_MAX_NEAREST))
            candidates.update(self._ids(_IN_IMPORTANT, vector=own_vector, limit=_MAX_IMPORTANT))
        words = {*tokens(question, language=language), *tokens(fold(question), language="")} - STOP
        by_share = sorted((self._shares.get(word, 0), word) for word in words)
        rare_words = [word for share, word in by_share if share <= _RARE_SHARE][:_RARE_WORDS]
        if rare_words:
            options = {"rare": rare_words, "words": list(words), "max_ranked": _MAX_RANKED}
            candidates.update(self._ids(_WITH_WORDS, limit=_MAX_BY_WORDS, **options))
        return candidates

    def _draw_sample(self) -> set[int]:
        """The ids of a random sample of passages, which stays the same until the bot's passages
        change."""
        bot = self._params["bot"]
        first, last = fetch_row(
            "SELECT min(chunk_id), max(chunk_id) FROM bots_passage WHERE bot_id = %s", [bot]
        )
        rng = random.Random(bot)
        random_ids = [rng.randint(first, last) for _ in range(_SAMPLE_SIZE)]
        return set(self._ids(_SAMPLE, random_ids=random_ids))

    def _ids(self, statement: str, **options: Any) -> list[int]:
        vector = options.get("vector")
        if vector is not None:
            options["vector"] = vector.tolist()
        params = self._params | {"now": datetime.now(UTC)} | options
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_SET_OPTIONS, [str(EF_SEARCH), str(_MAX_SCANNED)])
            cursor.execute(statement, params)
            return [pk for (pk,) in cursor.fetchall()]

    def _neighbors(self, ids: Sequence[int]) -> Iterable[int]:
        """The ids of the passages directly before and after the given ones in their documents."""
        return [pk for (pk,) in fetch_rows(_NEIGHBORS, [list(ids)])]

    def _read(self, ids: Iterable[int]) -> list[IndexedPassage]:
        words = dict(
            fetch_rows(
                "SELECT chunk_id, words FROM bots_passage WHERE chunk_id = ANY (%s)", [list(ids)]
            )
        )
        rows = stored_passages.in_order(Chunk.objects.filter(pk__in=words))
        return [
            stored_passages.indexed(row, words[row.pk], encoder_id=self._encoder.id) for row in rows
        ]


def _words(piece: IndexedPassage) -> tuple[list[str], list[str]]:
    words = words_of(piece)
    return words, sorted({*words, *tokens(fold(f"{piece.heading}\n{piece.text}"), language="")})


def _missing(bot_id: int, encoder_id: str, *, after_id: int, limit: int = _BATCH) -> list[Chunk]:
    """Passages that belong in the search table and are missing from it.

    These are passages with this encoder's vectors, if the vectors have 384 dimensions, and passages
    of trained documents that get no vector, such as rows of a long table. A large bot with vectors
    of another length is searched in memory.
    """
    is_copied = RawSQL(
        "EXISTS (SELECT FROM bots_passage p WHERE p.chunk_id = bots_chunk.id)", [], BooleanField()
    )
    is_encoded = Q(embedding_model=encoder_id, dimension=embedding.DIMENSION)
    gets_no_vector = Q(vector=b"", document__stage=DocumentStage.COMPLETE)
    rows = Chunk.objects.filter(~is_copied, bot_id=bot_id, is_draft=False, pk__gt=after_id)
    rows = rows.filter((is_encoded & ~Q(vector=b"")) | gets_no_vector)
    return list(stored_passages.in_order(rows).order_by("pk")[:limit])


def remove(passages: QuerySet[Chunk]) -> None:
    """Remove passages from the search table, before another encoder's vectors replace theirs."""
    if _has_table():
        statement, params = passages.values("pk").query.sql_with_params()
        execute(f"DELETE FROM bots_passage WHERE chunk_id IN ({statement})", params)


def _count(bot_id: int) -> int:
    counted = Document.objects.filter(bot_id=bot_id).aggregate(passages=Sum("chunk_count"))
    return counted["passages"] or 0


def _has_table() -> bool:
    (exists,) = fetch_row("SELECT to_regclass('bots_passage') IS NOT NULL")
    return bool(exists)
