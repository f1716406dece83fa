"""Splits a message into questions, and searches for a short follow-up together with its topic."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bots.language import language_data
from bots.language.normalization import QUESTION_MARKS, tokens
from bots.search import hybrid_index
from bots.search.hybrid_index import SearchResult

MAX_PARTS = 4
# A longer message is not a follow-up such as "and on Sundays?".
MAX_FOLLOW_UP_WORDS = 8
# Enough for eight long words. A longer text, such as a run of digits, is not worth encoding twice.
MAX_FOLLOW_UP_CHARACTERS = 200
# A passage that answers a follow-up must cover this share, by weight, of the follow-up's own words.
_OWN_COVER = 0.5
# A passage found for topic and follow-up must also cover this share of the topic's words. If no
# passage covers both, and the follow-up only points at its topic ("may they come to breakfast?"), a
# passage found for the follow-up alone must cover this share of the follow-up's words.
_MIN_COVER = 0.1
# The maximum number of passages found for topic and follow-up that a model reads.
_WITH_TOPIC = 3

_SENTENCE = re.compile(r"[^?？؟.!\n]*(?:[.!](?!\s|$)[^?？؟.!\n]*)*[?？؟.!\n]?")
_AND = re.compile(
    rf"(?:[,;]|(?<!\s))\s++{language_data.pattern('questions', 'conjunctions')}\s++"
    rf"(?:{language_data.pattern('questions', 'adverbs')}\s++)?"
    rf"(?={language_data.pattern('questions', 'interrogatives')}\b)",
    re.IGNORECASE,
)
# Matches the beginning of a follow-up, such as "and". The Spanish "y" (and) must not match in
# "Y a-t-il ...?", nor the Vietnamese "hay" (or) in "¿Hay ...?".
_OPENER = re.compile(
    rf"^\W*{language_data.pattern('questions', 'openers')}\b"
    rf"(?!{language_data.pattern('questions', 'not_openers')})[\s,]*",
    re.IGNORECASE,
)
# Matches phrases in which a word such as "there" refers to nothing: "Is there a pool?".
_THERE_IS = re.compile(rf"\b{language_data.pattern('questions', 'there_is')}\b", re.IGNORECASE)
_MIN_WORDS = 3
_INTERROGATIVE = re.compile(
    rf"^\W*{language_data.pattern('questions', 'interrogatives')}\b", re.IGNORECASE
)
# Words that refer to something in an earlier question.
_POINTING = frozenset(language_data.words("questions", "pointing"))
# Words that name nothing by themselves.
_EMPTY = _POINTING | frozenset(language_data.words("questions", "empty"))
_STOP = [frozenset(words) for words in language_data.by_language("search", "stop").values()]


@dataclass(frozen=True, eq=False)
class Part:
    """A question of a message, and what was found for it.

    A follow-up has three results:
    - `result`: what may be quoted
    - `alone`: what was found for the follow-up only; if it passes, the model is asked
    - `with_topic`: what was found for topic and follow-up together; the model reads it too
    """

    text: str
    result: SearchResult
    alone: SearchResult | None = None
    with_topic: SearchResult | None = None

    def passes(self, threshold: float) -> bool:
        return self.result.reaches(threshold)


def find(
    find_one: Callable[[str], SearchResult],
    text: str,
    *,
    topics: Sequence[str] = (),
    threshold: float,
) -> tuple[Part, ...]:
    """The questions of a message, each with what was found for it.

    If none of several questions has a result that reaches `threshold`, the message counts as one.
    `topics` are earlier questions that were answered, the latest first.
    """
    texts = split(text)
    if len(texts) < 2:
        return (_found(find_one, text, topics, threshold),)
    parts: list[Part] = []
    before = list(topics)
    for item in texts:
        parts.append(_found(find_one, item, before, threshold))
        before.insert(0, item)
    if any(part.passes(threshold) for part in parts):
        return tuple(parts)
    return (Part(text, find_one(text)),)


def split(text: str) -> list[str]:
    """The questions of a message; the whole message if it has fewer than two."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    questions = [
        part.strip()
        for sentence in sentences
        if sentence.endswith(QUESTION_MARKS)
        for part in _conjoined(sentence)
    ]
    return questions[:MAX_PARTS] if len(questions) > 1 else [text]


def _conjoined(sentence: str) -> list[str]:
    parts = _AND.split(sentence)
    return parts if all(len(part.split()) >= _MIN_WORDS for part in parts) else [sentence]


def is_complete(text: str) -> bool:
    """Whether a text is a question that can be understood alone: not "any news?"."""
    asks = any(mark in text for mark in QUESTION_MARKS) or bool(_INTERROGATIVE.match(text))
    return asks and _is_topic(text) and len(_own_words(text)) > 1


def may_follow_up(text: str) -> bool:
    """Whether a message is so short that it may depend on an earlier one."""
    return any(len(part.split()) <= MAX_FOLLOW_UP_WORDS for part in split(text))


def refers_back(text: str) -> bool:
    """Whether a message has so few words of its own that it may continue an earlier question."""
    return any(map(_is_short, split(text)))


def _found(
    find_one: Callable[[str], SearchResult], text: str, topics: Sequence[str], threshold: float
) -> Part:
    alone = Part(text, find_one(text))
    topic = next((topic for topic in topics if _is_topic(topic)), None)
    if topic is None or not _is_short(text):
        return alone
    # "And on Sundays?" is about the topic; "how long?" may be a question of its own.
    if alone.passes(threshold) and not _is_open(text):
        return alone
    both = find_one(f"{topic}\n{_OPENER.sub('', text)}")
    own = _own_words(text)
    if both.features.is_cross_language:
        filtered = _agreed(both, alone.result)
    else:
        # Words that repeat the topic don't count as the follow-up's own.
        filtered = _about(both, own - _own_words(topic) or own, min_share=_OWN_COVER)
        filtered = _about(filtered, _own_words(topic), min_share=_MIN_COVER)
    if not filtered.hits and _is_open(text):
        # The confidence can't tell a new topic ("And the pool?") from a follow-up, and is high for
        # any passage about returns if "when do I return it?" is asked. So words must be covered.
        min_share = _OWN_COVER if _OPENER.match(text) else _MIN_COVER
        filtered = _about(alone.result, own, min_share=min_share)
    elif not filtered.hits:
        filtered = alone.result
    return Part(text, filtered, alone.result, replace(both, hits=both.hits[:_WITH_TOPIC]))


def _agreed(both: SearchResult, alone: SearchResult) -> SearchResult:
    """The result `both` if its first hit is also the first hit of `alone` and is likely to answer;
    else `both` without hits.

    A passage in another language shares no words with the question, so words can't decide.
    """
    is_agreed = bool(both.hits) and alone.reaches(hybrid_index.MIN_FOREIGN_CONFIDENCE)
    is_agreed = is_agreed and both.hits[0].passage.id == alone.hits[0].passage.id
    return both if is_agreed else replace(both, hits=())


def _is_open(text: str) -> bool:
    """Whether a message continues another one: "and …", "what about it?"."""
    words = tokens(_THERE_IS.sub(" ", text), language="")
    return bool(_OPENER.match(text)) or not _POINTING.isdisjoint(words)


def _is_topic(text: str) -> bool:
    """Whether a question names something to which a later question may refer."""
    return bool(_own_words(text)) and not (_is_open(text) and _is_short(text))


def _is_short(text: str) -> bool:
    if len(text) > MAX_FOLLOW_UP_CHARACTERS:
        return False
    own = _own_words(text)
    return len(text.split()) <= MAX_FOLLOW_UP_WORDS and (
        len(own) <= 2 or (_is_open(text) and len(own) <= 4)
    )


def _own_words(text: str) -> set[str]:
    """The words of a text that name something.

    Only one language's stop words are removed: the list that leaves the fewest words. "Shop" is a
    stop word in Vietnamese, but not in English.
    """
    words = set(tokens(_OPENER.sub("", text), language="")) - _EMPTY
    return min((words - stop for stop in _STOP), key=len)


def _about(result: SearchResult, own: set[str], *, min_share: float) -> SearchResult:
    """Keep the hits that cover at least `min_share` of the weight of the words `own`; all hits if
    there are no such words."""
    if not own:
        return result
    weights = {
        word: weight
        for word, weight in result.weights.items()
        if any(word in result.terms_of(item, language=code) for item in own for code in ("", "en"))
    }
    hits = tuple(
        hit
        for hit in result.hits
        if hybrid_index.coverage(
            weights,
            result.terms_of(
                f"{hit.passage.heading}\n{hit.passage.text}", language=hit.passage.language
            ),
        )
        >= min_share
    )
    return replace(result, hits=hits)
