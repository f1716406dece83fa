"""The phrases that the platform says and understands in each language, from its lexicon.

- `[says]`: sentences for customers
- `[labels]`: words in summaries for agents, and the names of the fields that every customer has
- `[hears]`: customers' phrases that may be a whole message
- `[person]`: how a customer asks for a human being
- `[info]`: how a customer answers the bot's question. It has words before and after the answer
  (`lead`, `tail`), clauses that refuse to answer (`refuse`), beginnings of clauses that are
  questions (`question`), and words that occur in sentences but not in names (`sentence`).
- `[actions]`: sentences which say that something was done for a customer (`reports`), and words
  for what was done (`done`). Where there are `outcomes`, a clause with one of them says what was
  done or agreed, unless a word of `open` denies it, makes it conditional or leaves the matter open.

Phrases are compared without capitals, accents and punctuation; in Thai, Chinese, Japanese and
Korean also without spaces. `~` stands for an ending, or for a beginning such as an article.

The patterns of `[person]`, `[info]` and `[actions]` are phrases with placeholders:
- `{who}`: one phrase of the list `who`
- `{of*}`: up to five phrases of the list `of`
- `{of?}`: one phrase of the list `of`, or none
- `a|b_c`: either "a" or "b c"
- `...`: up to four words of any kind, or up to twelve letters in languages without spaces

In `[person]`, a pattern of `asks` may occur anywhere in a clause. Apart from polite words, a
pattern of `clause` must be a whole clause, and a pattern of `message` a whole message. A clause
that contains a pattern of `never` does not ask for a person.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from bots.language import language_data
from bots.language.normalization import normalize
from chatplatform.call_once import call_once

SmallTalk = Literal["greeting", "thanks", "goodbye", "about_bot"]

# If a message is small talk of several kinds, the first of these counts.
_KINDS: tuple[SmallTalk, ...] = ("about_bot", "goodbye", "thanks", "greeting")
_UNSPACED = frozenset(language_data.by_language("writing", "unspaced"))
# Below this code point are Latin, Greek, Cyrillic, Hebrew and Arabic, whose marks may be left out
# when typing. In the scripts above it, such as Devanagari and Thai, marks are vowels and are kept.
_VOWEL_MARKS_START = 0x0700
_LETTERS = str.maketrans(
    {"đ": "d", "ł": "l", "ı": "i", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ٱ": "ا", "ـ": "",
     "’": "'", "ʼ": "'", "`": "'", "´": "'"}
)  # fmt: skip
_CLAUSE = re.compile(r"[.!?;:,…\n。！？；，、؟،؛।]+")
_SENTENCE = re.compile(r"[.!?;…\n。！？；؟؛।]+")
_NO_WORD = re.compile(r"[^a-z0-9']")  # for ASCII texts
_STRETCHED = re.compile(r"(.)\1{2,}")
_SLOT = re.compile(r"\{(\w+)([*?]?)\}")
_MAX_CHARACTERS, _MAX_SMALL = 300, 120
# The longest text before or after an answer, in words, or in letters of scripts without spaces.
_MAX_LEAD = 14
# A text with a single word of the list `sentence` is a sentence if it has at least this many words,
# or letters in scripts without spaces.
_SENTENCE_WORDS, _SENTENCE_LETTERS = 4, 6
# Makes the preceding character an emoji.
_VARIATION_SELECTOR_16 = "\ufe0f"
_ANSWER_PADDING = " \t\n.,;:!\"'()«»“”„。，、！：;-–"


@dataclass(frozen=True)
class NormalizedText:
    """A customer's message, with its words as `plain` returns them."""

    text: str
    message: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "NormalizedText":
        text = text[:_MAX_CHARACTERS].replace(_VARIATION_SELECTOR_16, "")
        message = plain(text)
        return cls(text, message, frozenset(message.split()))

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        return self._cut(_CLAUSE)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return self._cut(_SENTENCE)

    def _cut(self, between: re.Pattern[str]) -> tuple[str, ...]:
        return tuple(filter(None, map(plain, between.split(self.text))))


def plain(text: str) -> str:
    """The words of a text in lower case, without accents and extra spaces; "heyyy" is "hey"."""
    if text.isascii():
        simple = _NO_WORD.sub(" ", text.lower().replace("`", "'"))
    else:
        simple = _without_accents(text)
    words = (word.strip("'") for word in simple.split())
    return _STRETCHED.sub(r"\1", " ".join(filter(None, words)))


def _without_accents(text: str) -> str:
    text = normalize("NFKC", text).casefold().translate(_LETTERS)
    letters: list[str] = []
    base = ""
    for letter in normalize("NFD", text):
        category = unicodedata.category(letter)
        if category == "Mn" and base < chr(_VOWEL_MARKS_START):
            continue
        if category[0] != "M":
            base = letter
        if category != "Cf":
            letters.append(letter if category[0] in "LMN" or letter == "'" else " ")
    return normalize("NFC", "".join(letters)).translate(_LETTERS)


class Phrasebook:
    """The phrases of one language."""

    def __init__(self, code: str, data: dict[str, Any]) -> None:
        self.code = code
        self._is_unspaced = code in _UNSPACED
        self.says: dict[str, str] = data["says"]
        self.labels: dict[str, str] = data["labels"]
        self._hears: dict[str, list[str]] = {
            name: phrases + language_data.INTERNATIONAL["hears"].get(name, [])
            for name, phrases in data["hears"].items()
        }
        self._person: dict[str, list[str]] = data["person"]
        self._info: dict[str, list[str]] = data["info"]
        self._actions: dict[str, list[str]] = data.get("actions", {})
        self._respelt = str.maketrans(data.get("writing", {}).get("respelt", {}))

    def small_talk(self, normalized: NormalizedText) -> SmallTalk | None:
        """The kind of small talk that the message is; None if it says anything else."""
        message = self._joined(normalized.message)
        is_known = self._is_unspaced or normalized.words <= self._small_words
        if len(message) > _MAX_SMALL or not is_known:
            return None
        kinds = self._small_talk.items()
        return next((kind for kind, pattern in kinds if pattern.fullmatch(message)), None)

    def is_written_in(self, normalized: NormalizedText) -> bool:
        """Whether the message is small talk in this language's own words, or asks for a person."""
        has_own_words = self._is_unspaced or not self.own_words.isdisjoint(normalized.words)
        return (has_own_words and self.small_talk(normalized) is not None) or self.asks_for_person(
            normalized
        )

    def asks_for_person(self, normalized: NormalizedText) -> bool:
        """Whether the message asks for a human being."""
        message = self._joined(normalized.message)
        if not any(map(message.__contains__, self.persons)) or self.small_talk(normalized):
            return False
        clauses = [
            clause for clause in map(self._joined, normalized.clauses) if not self._is_aside(clause)
        ]
        if len(clauses) <= 1 and any(map(self._whole_message.fullmatch, (message, *clauses))):
            return True
        # A polite request after other sentences: "My boots are torn. A person, please."
        if any(map(self._asked_politely.fullmatch, map(self._joined, normalized.sentences))):
            return True
        # A wish may continue after a comma: "Stop the bot, human now."
        sentences = map(self._joined, normalized.sentences)
        return any(
            (self._asks.search(clause) or self._whole_clause.fullmatch(clause))
            and not self._never.search(clause)
            for clause in clauses
        ) or any(map(self._whole_clause.fullmatch, sentences))

    def yes_or_no(self, normalized: NormalizedText) -> bool | None:
        """Whether the whole message says yes or no; None if it says anything else."""
        message = self._joined(normalized.message)
        if len(message) > _MAX_SMALL:
            return None
        yes, no = (pattern.fullmatch(message) for pattern in self._yes_and_no)
        return bool(yes) if bool(yes) != bool(no) else None

    def wants_nothing_more(self, normalized: NormalizedText) -> bool:
        """Whether the whole message is a no, perhaps with thanks, a goodbye or other small talk."""
        message = self._joined(normalized.message)
        return len(message) <= _MAX_SMALL and bool(self._nothing_more.fullmatch(message))

    def is_satisfied(self, normalized: NormalizedText) -> bool:
        """Whether the whole message says that all is well: "ok", "great"."""
        message = self._joined(normalized.message)
        return len(message) <= _MAX_SMALL and bool(self._fine.fullmatch(message))

    def asks_something(self, normalized: NormalizedText) -> bool:
        """Whether a clause of the message asks a question or makes a request."""
        find = self._question.search if self._is_unspaced else self._question.match
        return any(find(self._joined(clause)) for clause in normalized.clauses)

    def is_sentence(self, text: str) -> bool:
        """Whether a text is a sentence, judging by its pronouns, verbs and negations."""
        words = self._joined(plain(text))
        if self._is_unspaced:
            hits = sum(word in words for word in self._info["sentence"])
            return hits > 1 or (hits == 1 and len(words) >= _SENTENCE_LETTERS)
        hits = sum(word in self._sentence_words for word in words.split())
        return hits > 1 or (hits == 1 and len(words.split()) >= _SENTENCE_WORDS)

    def introduces(self, text: str, names: Iterable[str]) -> bool:
        """Whether the words before an answer only introduce it, or contain one of these names.

        Always true in scripts without spaces.
        """
        others = set(plain(text).split()) - self._introducing_words
        named = {word for name in names for word in plain(name).split()}
        return self._is_unspaced or not others or not others.isdisjoint(named)

    def declines(self, normalized: NormalizedText) -> bool:
        """Whether the message refuses to tell what the bot asked for."""
        clauses = map(self._joined, normalized.clauses)
        return self.yes_or_no(normalized) is False or any(map(self._refuse.fullmatch, clauses))

    def is_polite(self, text: str) -> bool:
        """Whether a part of a message is only a yes, a greeting, thanks or other polite words."""
        return bool(self._all_polite.fullmatch(self._joined(plain(text))))

    def reports_action(self, words: str) -> bool:
        """Whether words, as `plain` returns them, report an action done for the customer."""
        return bool(self._actions) and bool(self._reports.search(self._joined(words)))

    def reports_outcome(self, normalized: NormalizedText) -> bool:
        """Whether a clause says what was done or agreed, and leaves nothing open."""
        clauses = map(self._joined, normalized.clauses) if "outcomes" in self._actions else ()
        return any(
            self._outcomes.search(clause) and not self._open.search(clause) for clause in clauses
        )

    def answer_in(self, text: str) -> tuple[str, bool]:
        """The answer without the words around it, and whether any words introduced it."""
        pieces = _graphemes(text) if self._is_unspaced else text.split()
        begin = self._longest(self._lead, [pieces[:count] for count in _counts(pieces)])
        pieces = pieces[begin:]
        end = self._longest(self._tail, [pieces[-count:] for count in _counts(pieces)])
        kept = pieces[: len(pieces) - end]
        return ("" if self._is_unspaced else " ").join(kept).strip(_ANSWER_PADDING), begin > 0

    def _longest(self, pattern: re.Pattern[str], parts: Sequence[Sequence[str]]) -> int:
        """The number of pieces of the longest part that as a whole matches the pattern; 0 if there
        is none."""
        between = "" if self._is_unspaced else " "
        sized = ((len(part), self._joined(plain(between.join(part)))) for part in parts)
        return max((size for size, words in sized if pattern.fullmatch(words)), default=0)

    def exact_yes_or_no(self, text: str) -> bool | None:
        """Whether a single phrase, spelled with all its accents, says yes or no.

        None if it says neither, or is ASCII.
        """
        text = normalize("NFC", text).casefold().strip(" .!,。！")
        if text.isascii():
            return None
        if text in self._hears["yes"]:
            return True
        return False if text in self._hears["no"] else None

    def _is_aside(self, clause: str) -> bool:
        """Whether a clause is only a yes, a no or polite words, and not the message's subject."""
        return self._all_polite.fullmatch(clause) is not None or any(
            pattern.fullmatch(clause) for pattern in self._yes_and_no
        )

    # --- patterns -------------------------------------------------------------------------------

    @cached_property
    def _small_talk(self) -> dict[SmallTalk, re.Pattern[str]]:
        anything = self._any(phrase for name in ("around", *_KINDS) for phrase in self._hears[name])
        return {
            kind: re.compile(f"{anything}{{0,4}}{self._any(self._hears[kind])}{anything}{{0,6}}")
            for kind in _KINDS
        }

    @cached_property
    def _small_words(self) -> frozenset[str]:
        names = ("around", *_KINDS)
        phrases = (phrase for name in names for phrase in self._hears[name])
        return frozenset(
            word
            for phrase in phrases
            for spelt in self._spellings(phrase)
            for word in spelt.split()
        )

    @cached_property
    def own_words(self) -> frozenset[str]:
        """Words of small talk in this language that are not international."""
        phrases = (phrase for name in _KINDS for phrase in self._hears[name])
        words = (word for phrase in phrases for word in plain(phrase).split())
        return frozenset(words) - _international_words()

    @cached_property
    def _sentence_words(self) -> frozenset[str]:
        return frozenset(map(plain, self._info["sentence"]))

    @cached_property
    def _introducing_words(self) -> frozenset[str]:
        """The words of the lists `lead` and `sentence`."""
        words = (
            plain(template.replace("_", " ").replace("|", " ")).split()
            for template in self._info["lead"]
        )
        return self._sentence_words | {word for item in words for word in item}

    @cached_property
    def _yes_and_no(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        around = self._any([*self._hears["around"], *self._hears["thanks"]])

        def whole(name: str) -> re.Pattern[str]:
            phrase = self._any(self._hears[name])
            return re.compile(f"{around}{{0,3}}{phrase}(?:{phrase}|{around}){{0,5}}")

        return whole("yes"), whole("no")

    @cached_property
    def _nothing_more(self) -> re.Pattern[str]:
        no = self._any(self._hears["no"])
        anything = self._any(p for name in ("around", *_KINDS, "no") for p in self._hears[name])
        return re.compile(f"{anything}{{0,3}}{no}{anything}{{0,6}}")

    @cached_property
    def _fine(self) -> re.Pattern[str]:
        fine, around = self._any(self._hears["fine"]), self._any(self._hears["around"])
        return re.compile(f"{around}{{0,2}}{fine}(?:{fine}|{around}){{0,4}}")

    @cached_property
    def persons(self) -> tuple[str, ...]:
        """The names for a human being; every request for a person contains one of them."""
        names = [*self._person["who"], *self._person.get("desk", [])]
        return tuple({self._joined(plain(name.replace("~", ""))).strip() for name in names})

    @cached_property
    def _asks(self) -> re.Pattern[str]:
        return re.compile(f"{self._start}{self._person_pattern('asks')}")

    @cached_property
    def _whole_clause(self) -> re.Pattern[str]:
        return re.compile(
            f"{self._polite}{{0,4}}{self._person_pattern('clause')}{self._polite}{{0,6}}"
        )

    @cached_property
    def _whole_message(self) -> re.Pattern[str]:
        return re.compile(
            f"{self._polite}{{0,4}}{self._person_pattern('message')}{self._polite}{{0,6}}"
        )

    @cached_property
    def _asked_politely(self) -> re.Pattern[str]:
        """Matches a pattern of `message` with a "please". Without the "please", the same words may
        be the answer to a question."""
        polite = {*self._hears["around"], *self._hears["thanks"]}
        please = [] if self._is_unspaced else [w for w in self._info["tail"] if w in polite]
        contains_please = f".*{self._start}{self._any(please)}" if please else "(?!)"
        return re.compile(f"(?={contains_please}){self._whole_message.pattern}")

    @cached_property
    def _never(self) -> re.Pattern[str]:
        return re.compile(f"{self._start}{self._person_pattern('never')}")

    @cached_property
    def _reports(self) -> re.Pattern[str]:
        return self._action_pattern("reports")

    @cached_property
    def _outcomes(self) -> re.Pattern[str]:
        return self._action_pattern("outcomes")

    @cached_property
    def _open(self) -> re.Pattern[str]:
        return re.compile(f"{self._start}{self._any(self._actions['open'])}")

    def _action_pattern(self, name: str) -> re.Pattern[str]:
        patterns = "|".join(map(self._pattern, self._actions[name]))
        return re.compile(f"{self._start}(?:{patterns})")

    @cached_property
    def _lead(self) -> re.Pattern[str]:
        return re.compile(f"{self._polite}{{0,3}}{self._info_pattern('lead')}{{1,2}}")

    @cached_property
    def _tail(self) -> re.Pattern[str]:
        return re.compile(f"{self._info_pattern('tail')}{{1,2}}")

    @cached_property
    def _refuse(self) -> re.Pattern[str]:
        return re.compile(
            f"{self._polite}{{0,3}}{self._info_pattern('refuse')}{self._polite}{{0,3}}"
        )

    @cached_property
    def _question(self) -> re.Pattern[str]:
        return re.compile(
            self._info_pattern("question") if self._is_unspaced
            else f"{self._polite}{{0,3}}{self._info_pattern('question')}"
        )  # fmt: skip

    def _info_pattern(self, name: str) -> str:
        return "(?:" + "|".join(map(self._pattern, self._info[name])) + ")"

    @cached_property
    def _polite(self) -> str:
        names = ("around", "greeting", "thanks", "yes")
        return self._any(phrase for name in names for phrase in self._hears[name])

    @cached_property
    def _all_polite(self) -> re.Pattern[str]:
        return re.compile(f"{self._polite}{{1,6}}")

    @property
    def _start(self) -> str:
        return "" if self._is_unspaced else "(?<![^ ])"

    def _joined(self, words: str) -> str:
        """Words as the patterns expect them: a space after each word, or no spaces at all."""
        return words.replace(" ", "") if self._is_unspaced else f"{words} "

    def _person_pattern(self, name: str) -> str:
        return "(?:" + "|".join(map(self._pattern, self._person[name])) + ")"

    def _pattern(self, template: str) -> str:
        return "".join(map(self._element, template.split()))

    def _element(self, token: str) -> str:
        if token == "...":
            return ".{0,12}?" if self._is_unspaced else "(?:[^ ]+ ){0,4}?"
        slot = _SLOT.fullmatch(token)
        if slot is None:
            return self._any(token.replace("_", " ").split("|"))
        times = {"": "", "?": "?", "*": "{0,5}"}[slot[2]]
        return self._any((self._person | self._info | self._actions)[slot[1]]) + times

    def _any(self, phrases: Iterable[str]) -> str:
        """A pattern for any one of the phrases, longest first."""
        written = ("".join(map(self._word, phrase.split())) for phrase in phrases)
        return "(?:" + "|".join(sorted(dict.fromkeys(written), key=len, reverse=True)) + ")"

    def _word(self, word: str) -> str:
        before = "[^ ]{0,3}" if word.startswith("~") else ""
        after = "[^ ]{0,6}" if word.endswith("~") else ""
        spelt = [re.escape(self._joined(core).rstrip()) for core in self._spellings(word)]
        core = f"(?:{'|'.join(spelt)})" if len(spelt) > 1 else spelt[0]
        return before + core + after + ("" if self._is_unspaced else " ")

    def _spellings(self, phrase: str) -> list[str]:
        """The spellings of a phrase, as `plain` returns them; in German also with `ue` for `ü`."""
        phrase = phrase.replace("~", " ")
        return list(dict.fromkeys([plain(phrase), plain(phrase.translate(self._respelt))]))


def _graphemes(text: str) -> list[str]:
    """The letters of a text, each with its combining marks."""
    graphemes: list[str] = []
    for letter in text:
        if graphemes and unicodedata.category(letter)[0] == "M":
            graphemes[-1] += letter
        else:
            graphemes.append(letter)
    return graphemes


def _counts(pieces: Sequence[str]) -> range:
    """The possible numbers of pieces before or after an answer, which has at least one itself."""
    return range(1, min(len(pieces) - 1, _MAX_LEAD) + 1)


def base_of(language: str) -> str:
    """The language without script and region: `pt` for `pt-BR`."""
    return language.split("-", maxsplit=1)[0]


@call_once
def all_books() -> dict[str, Phrasebook]:
    """The phrasebook of each language, by code."""
    return {code: Phrasebook(code, data) for code, data in language_data.LEXICONS.items()}


@call_once
def _international_words() -> frozenset[str]:
    phrases = (phrase for part in language_data.INTERNATIONAL["hears"].values() for phrase in part)
    return frozenset(word for phrase in phrases for word in plain(phrase).split())


def languages_of(text: str) -> list[str]:
    """The languages in which the message is small talk or asks for a person.

    A message of international words such as "ok" and "hello" has none.
    """
    normalized = NormalizedText.of(text)
    if normalized.words <= _international_words():
        return []
    by_word, by_person = _codes_by_hint()
    # Scripts without spaces have no words to look up, so their languages are tried for every text
    # that is not ASCII.
    hinted = set[str]() if text.isascii() else set(_UNSPACED)
    hinted.update(
        *(by_word[word] for word in normalized.words if word in by_word),
        *(codes for person, codes in by_person.items() if person in normalized.message),
    )
    return [
        code
        for code, book in all_books().items()
        if code in hinted and book.is_written_in(normalized)
    ]


def reports_action(text: str) -> bool:
    """Whether a text reports in any language that something was done for the customer."""
    words = plain(text)
    return any(book.reports_action(words) for book in all_books().values())


def reports_outcome(sentence: str) -> bool:
    """Whether a sentence says what was done or agreed, in one of the languages with `outcomes`."""
    normalized = NormalizedText.of(sentence)
    return any(book.reports_outcome(normalized) for book in all_books().values())


@call_once
def _codes_by_hint() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Map each word of small talk to its languages, and each name for a human being to its
    languages.

    Only the languages found by these words and names are tried, since trying all twenty would take
    too long.
    """
    by_word, by_person = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for code, book in all_books().items():
        for word in book.own_words:
            by_word[word].add(code)
        for person in book.persons:
            by_person[person].add(code)
    return dict(by_word), dict(by_person)
