"""What the sources of an answer hold, and whether a sentence adds to it or contradicts it."""

import re
from collections.abc import Iterable
from functools import cached_property

from bots.engine import facts, nearness, polarity, polite_words, promises
from bots.engine.facts_in_words import (
    FREE,
    FactInWords,
    mentioned_in_words,
    told_in_words,
    without_facts_in_words,
)
from bots.engine.sentences import sentences
from bots.knowledge import dictionaries, embedding, language
from bots.knowledge.words import fold, normalize

CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
# Wi-Fi, also with the hyphens that no line breaks behind.
_HYPHENATED = re.compile(r"\b([^\W\d_]+)[-\u2010\u2011]([^\W\d_]+)\b")
# Words for one thing that do not begin alike.
_SAME = frozenset({"wifi", "wlan", "wireless"})
# Words that begin alike are forms of one: return, returned, returning.
_STEM_LETTERS = 5
# A word of so many letters may go on: book, booked.
_SHORT = 4
# With so many telling words a sentence says something; in Vietnamese they are syllables.
_MIN_TELLING, _MIN_SYLLABLES = 3, 4
# A part of a sentence with so many telling words, all of its own, is an invention.
_MIN_NEW = 2
_TONES = frozenset("\u0300\u0301\u0303\u0309\u0323")
_CONTRACTED = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ll|ve|d|m)\b")
# A sentence with one telling word of its own, two, or more must be so near to one of its sources.
# Fitted on `bots/tests/phrases/model_sentences.toml`.
_NEAR = (0.88, 0.88, 0.95)
# Or so near to one that claims nothing, in whatever language.
_NEAR_POLITE = 0.89
# The same of a sentence in another language than its sources. Those are less near to each other.
_NEAR_TRANSLATED, _NEAR_POLITE_TRANSLATED = 0.81, 0.86
# It is compared with so many sentences, those that have most words in common with it; a translation
# has none, and with fewer telling words says too little.
_MOST_COMPARED, _MOST_TRANSLATED, _MIN_TRANSLATED = 12, 40, 2
# A word with a capital letter inside of a sentence is a name, where nouns have none.
_CAPITAL = re.compile(r"(?<=[^\W_][,;] |[^\W_]{2} )[A-ZÀ-ÖØ-ÞĐЁА-Я][\w’'-]+")
_WITH_NAMES = frozenset({"en", "fr", "es", "it", "pt", "nl", "vi", "ru"})
_NO_NAMES = frozenset(
    """
    ok faq am pm mr mrs ms dr id pdf url ai mon tue tues wed thu thur thurs fri sat sun madame
    monsieur sir madam sra sr señor señora cliente gentile quý khách anh chị
    """.split()  # noqa: SIM905 - easier to read
)
# A sentence that begins so says that what was asked is true.
_AFFIRMED = re.compile(
    r"\W*(?:yes|yeah|sure|certainly|absolutely|of course|ja|klar|natürlich|oui|bien sûr|sí|claro"
    r"|sì|sim|да|vâng|dạ|có|được|đúng)\b",
    re.IGNORECASE,
)
# What begins a part that may hang on a true sentence: "..., and a map of the lake".
_HANGS_ON = re.compile(
    r",(?!\d)|;|–|\(|\b(?:and|which|who|because|including|except|with|und|weil|inklusive|außer|mit|et"
    r"|car|avec|sauf|y|con|porque|salvo|và|vì|với|kèm)\b",
    re.IGNORECASE,
)
# No more of a customer's message is read for facts.
_MAX_QUESTION = 2_000
# An address may be spelled over so many characters before a sentence.
_REACH = 200
_POLITE = frozenset(fold(word)[:_STEM_LETTERS] for word in polite_words.WORDS)


class Evidence:
    """What an answer may rest on: the texts of its sources. `asked` is what it may repeat, and
    `question` the customer's own message, whose figures it may repeat beside others.

    Texts that are no prose, such as data of a function, have few words: one of them is enough.
    `may_compute`: figures may follow from those that the answer has named.
    """

    def __init__(
        self,
        texts: Iterable[str],
        *,
        asked: str = "",
        question: str = "",
        is_prose: bool = True,
        may_compute: bool = False,
    ) -> None:
        self._texts = tuple(texts)
        self._whole = "\n".join(self._texts)
        self._is_prose = is_prose
        held = facts.facts_of(self._whole)
        links = [link for kind, link in held if kind in {"link", "email"}]
        held |= {("link", part) for link in links for part in facts.parts_of(link)}
        # The groups of a telephone number are figures too, if it is none.
        phones = [phone.split() for kind, phone in held if kind == "phone"]
        self._phones = ["".join(groups) for groups in phones]
        figures = [*self._phones, *(group for groups in phones for group in groups)]
        self._facts = held | {("figure", facts.figure_of(figure)) for figure in figures}
        self._stems = _all_stems(self._texts)
        if (same := _all_stems(_SAME)) & self._stems:
            self._stems |= same
        stems = {stem for stem in self._stems if not stem.startswith("_")}
        self._short = {stem for stem in stems if len(stem) == _SHORT}
        self._beginnings = {stem[:_SHORT] for stem in stems}
        self._asked = asked
        question = normalize("NFKC", question)[:_MAX_QUESTION]
        self._own = facts.facts_of(question) | facts.spelled_figures([question])
        self._may_compute = may_compute
        self._asked_in_words = mentioned_in_words(asked) - {FREE}

    @cached_property
    def _languages(self) -> frozenset[str]:
        known = map(language.recognise, self._texts)
        return frozenset(code for code in known if code is not None)

    @cached_property
    def _spelled(self) -> set[facts.Fact]:
        # Most answers spell no figure: their sources are not read for it.
        return facts.spelled_figures(one for text in self._texts for one in sentences(text))

    @cached_property
    def _counted(self) -> tuple[set[facts.Fact], set[str]]:
        """The spans of time, and the figures that count nothing else."""
        text = facts.in_digits(one for text in self._texts for one in sentences(f"{text}\n"))
        spans = facts.spans_of(text)
        return spans, {figure for figure, _ in spans} - facts.uncounted_figures(text)

    @cached_property
    def _known(self) -> set[str]:
        """The whole words of the sources and of the chat, and what they are called as well."""
        known = {fold(word) for text in (*self._texts, self._asked) for word in _words(text)}
        return known | _SAME if known & _SAME else known

    def _joined(self, sentence: str) -> str:
        """A sentence without citations; what is one word in the sources has no hyphen in it."""
        sentence = CITATION.sub(" ", sentence)
        return _HYPHENATED.sub(
            lambda found: (
                found[1] + found[2] if fold(found[1] + found[2]) in self._known else found[0]
            ),
            sentence,
        )

    @cached_property
    def _ones(self) -> set[facts.Fact]:
        return facts.spelled_ones(self._whole)

    @cached_property
    def _in_words(self) -> set[FactInWords]:
        return mentioned_in_words(self._whole)

    @cached_property
    def _clauses(self) -> list[polarity.Told]:
        """The clauses of the sources."""
        return [
            _told_of(clause, code)
            for text in self._texts
            for code in [language.recognise(text) or ""]
            for clause in polarity.clauses(text, code)
        ]

    def holds_facts_of(self, text: str, *, before: str = "") -> bool:
        """Whether every link, address and figure of a text stands in the sources.

        `before` is what the answer says up to there.
        """
        answer, text, before = (
            CITATION.sub(" ", each) for each in (before + text, text, before[-_REACH:])
        )
        # "18 euros" may stand there as "eighteen euros", and the other way round.
        told = facts.facts_of(text) | facts.spelled_figures(
            map(facts.without_links, sentences(text))
        )
        # An address may be spelled over the end of a sentence.
        told |= facts.facts_of(before + text) - facts.facts_of(before)
        if before and not before.rstrip(" ").endswith("\n"):
            # Only at the beginning of a line is "12." a list's number.
            told |= facts.facts_of(f", {text}")
        told = {fact for fact in told if not self._has_phone(*fact)}
        if facts.spans_of(text) & self._ones:
            told -= {("figure", "1")}
        missing = told - self._facts
        if missing:
            missing -= self._spelled
        if missing and self._may_compute:
            named, counts = facts.facts_of(answer) & self._facts, told & (self._own | self._facts)
            missing -= facts.computed(named, counts)
        return (
            (not missing or self._are_customers(missing, told, text))
            and not self._counts_otherwise(text)
            and all(map(self._has_in_words, told_in_words(text)))
        )

    def _are_customers(self, missing: set[facts.Fact], told: set[facts.Fact], text: str) -> bool:
        """Whether figures are the customer's own, which a sentence repeats to apply a rule to them.

        It has a figure of the sources beside them, and they are no price, share or limit in it:
        "your 7-year-old pays 30 euros", but not "you can cancel until 3 days before".
        """
        rules = facts.figures_of_rules(text)
        return (
            missing <= self._own
            and all(kind == "figure" and figure not in rules for kind, figure in missing)
            and any(kind == "figure" for kind, _ in told - missing - self._own)
        )

    def _counts_otherwise(self, text: str) -> bool:
        """Whether a figure counts hours that only counts minutes in the sources."""
        told = facts.spans_of(facts.in_digits(sentences(text)))
        if not told:
            return False
        spans, counted = self._counted
        return any(figure in counted for figure, _ in told - spans)

    def _has_in_words(self, told: FactInWords) -> bool:
        return told in self._in_words | self._asked_in_words or any(
            ("figure", each) in self._facts | self._spelled for each in told.figures
        )

    def invents(self, sentence: str) -> bool:
        """Whether a sentence tells something that the sources do not say; a question tells nothing.

        They hold less than a third of it: its figures and its telling words count; polite words,
        days of the week and what was asked do not count against it. Or it has words of its own and
        means something else than any of their sentences, or a name that they do not have, or a
        part that has words of its own alone. In data one word is enough. Of a sentence in another
        language than theirs, which may be a translation, the meaning counts alone. What was asked
        counts if it is affirmed.
        """
        sentence = self._joined(sentence).strip()
        if self._is_prose and sentence.endswith(("?", "？")):
            return False
        spoken = self._language_of(sentence)
        if spoken is None:
            return self._is_prose and self._is_no_translation(sentence)
        told = _telling(sentence, spoken)
        held = {stem for stem in told if self._has(stem)}
        new = told - held - _all_stems([self._heard_before(sentence)]) - _POLITE
        # The facts were found in the sources before.
        count = len(held) + facts.count(sentence) + len(told_in_words(sentence))
        total = count + len(new)
        is_long = total >= (_MIN_SYLLABLES if spoken == "vi" else _MIN_TELLING)
        if not self._is_prose:
            return is_long and not count
        if is_long and 3 * count < total:
            return not _is_polite(sentence, spoken)
        return (
            self._has_new_name(sentence, spoken)
            or (bool(new) and self._means_else(sentence, spoken, len(new)))
            or self._has_new_part(sentence, spoken, new)
        )

    def _has_new_part(self, sentence: str, spoken: str, new: set[str]) -> bool:
        """Whether a part that hangs on the sentence has two telling words or more, all new."""
        least = _MIN_SYLLABLES if spoken == "vi" else _MIN_NEW
        for part in _HANGS_ON.split(sentence)[1:]:
            told = _telling(part, spoken) - _POLITE
            if len(told) < least or not told <= new:
                continue
            has_facts = facts.count(part) or facts.spelled_figures([part]) or told_in_words(part)
            if not has_facts and not _is_polite(part, spoken):
                return True
        return False

    def _heard_before(self, sentence: str) -> str:
        """What a sentence may repeat: what was said in the chat, unless it affirms it."""
        return "" if _AFFIRMED.match(sentence) else self._asked

    def _is_no_translation(self, sentence: str) -> bool:
        """Whether a sentence of another language tells something that no source means."""
        spoken = self._recognised(sentence)
        if spoken is None or not self._languages:
            return False
        heard = _all_stems([self._heard_before(sentence)])
        new = _telling(sentence, spoken) - heard - _POLITE
        if len(new) < (_MIN_SYLLABLES if spoken == "vi" else _MIN_TRANSLATED):
            return False
        texts = nearness.claims(self._texts)[:_MOST_TRANSLATED]
        return not (
            nearness.is_near(sentence, texts, _NEAR_TRANSLATED) or _is_polite(sentence, spoken)
        )

    def _has_new_name(self, sentence: str, spoken: str) -> bool:
        """Whether a word with a capital letter stands neither in the sources nor in the chat."""
        sentence = without_facts_in_words(sentence)
        found = set(_CAPITAL.findall(sentence)) if spoken in _WITH_NAMES else set()
        if len(found) > len(sentence.split()) / 2:
            return False  # a heading
        names = {
            word
            for name in found
            for word in _words(name)
            if len(word) > 1 and word not in _NO_NAMES and dictionaries.is_telling(word, spoken)
        }
        new = set(map(_stem, names)) - _all_stems([self._asked]) - _POLITE
        return any(not self._has(stem) for stem in new)

    def _means_else(self, sentence: str, spoken: str, new_words: int) -> bool:
        """Whether no sentence of the sources, and nothing that was asked, means what it means."""
        told = _all_stems([sentence])
        texts = [*nearness.claims(self._texts), *nearness.claims([self._heard_before(sentence)])]
        texts.sort(key=lambda one: -len(told & _all_stems([one])))
        near = _NEAR[min(new_words, len(_NEAR)) - 1]
        return not (
            nearness.is_near(sentence, texts[:_MOST_COMPARED], near) or _is_polite(sentence, spoken)
        )

    def shared_words(self, sentence: str) -> int:
        """How many telling words of a sentence in their language the sources have."""
        sentence = self._joined(sentence)
        told = _telling(sentence, self._language_of(sentence) or "")
        return sum(self._has(stem) for stem in told - _POLITE)

    def likeness(self, sentence: str) -> float:
        """The cosine of a sentence and the sentence of the sources that means most nearly it."""
        sentence = CITATION.sub(" ", sentence).strip()
        return nearness.nearest(sentence, nearness.claims(self._texts)[:_MOST_TRANSLATED], -1.0)[0]

    def may_rest(self, sentence: str) -> bool:
        """Whether a sentence that shares no telling word with the sources may tell what they say.

        It has figures, or is in another language and more than polite.
        """
        spoken, plain = self._recognised(sentence), CITATION.sub(" ", sentence)
        is_foreign = spoken is not None and spoken not in self._languages
        return facts.count(plain) > 0 or (is_foreign and not _is_polite(plain, spoken or ""))

    def contradicts(self, sentence: str) -> bool:
        """Whether the sources say the opposite: the same words, but negated, or not negated.

        Clauses are compared that have two words or more beside those of grammar, one of them
        telling, and stand in a clause of the sources, or half of them there and the rest before it
        in its sentence; or that have all words of a negated one. One word is enough of what there
        is. If any such clause agrees, or is unclear, nothing is contradicted. After a yes one word
        of its own does not count, and in another language than that of the sources a yes is wrong
        if the sentence that means most nearly the same is negated. In data nothing is looked for.
        """
        if not self._is_prose:
            return False
        sentence = self._joined(sentence)
        is_affirmed = bool(_AFFIRMED.match(sentence))
        spoken = self._recognised(sentence) or ""
        clauses = polarity.clauses(sentence, spoken)
        if spoken not in self._languages:
            is_plain = all(one.is_negated is False and not one.is_conditional for one in clauses)
            return bool(clauses) and is_affirmed and is_plain and self._denies(sentence)
        return any(self._is_contrary(each, spoken, is_affirmed=is_affirmed) for each in clauses)

    def _denies(self, sentence: str) -> bool:
        """Whether the sentence of the sources that means most nearly the same is negated."""
        texts = nearness.claims(self._texts)[:_MOST_TRANSLATED]
        _, nearest = nearness.nearest(sentence, texts, _NEAR_TRANSLATED)
        told = polarity.clauses(nearest, language.recognise(self._whole) or "")
        return bool(told) and all(clause.is_negated for clause in told)

    def is_promise(self, sentence: str) -> bool:
        """Whether it says that the bot or its people did or will do what no source speaks of.

        The bot itself does nothing, but by its functions, whatever the sources say: where they were
        called, nothing is looked for. What its people do is looked for in what the sources
        say, but for what they tell the customer to do; in another language than theirs it may be
        told, but not that it was done.
        """
        if not self._is_prose:
            return False
        sentence = CITATION.sub(" ", sentence)
        # A short sentence is seldom recognised among all languages.
        spoken = self._recognised(sentence)
        if spoken not in promises.LANGUAGES:
            spoken = language.recognise(sentence, expected=promises.LANGUAGES)
        return any(
            promise.is_bots
            or (
                promise.is_report
                if spoken not in self._languages
                else not self._has_deed(promise.deed)
            )
            for promise in promises.promises(sentence, spoken or "")
        )

    def _has_deed(self, deed: str) -> bool:
        at_a_word = re.compile(rf"(?<!\w){re.escape(deed)}", re.IGNORECASE)
        stem = _stem(deed)
        return any(
            at_a_word.search(habits) or stem in _all_stems([habits]) for habits in self._habits
        )

    @cached_property
    def _habits(self) -> list[str]:
        """The texts without what they tell the customer to do."""
        return [
            promises.without_deeds_of_customers(text, language.recognise(text) or "")
            for text in self._texts
        ]

    def _is_contrary(self, clause: polarity.Clause, spoken: str, *, is_affirmed: bool) -> bool:
        if clause.is_negated is None or clause.is_conditional:
            return False
        told = _told_of(clause, spoken)
        if not (_telling(clause.text, spoken) and told.says_enough):
            return False
        alike = {each.clause.is_negated for each in self._clauses if told.is_alike(each)}
        if is_affirmed and not alike:
            alike = {each.clause.is_negated for each in self._clauses if told.is_nearly_in(each)}
        return alike == {not clause.is_negated}

    def _language_of(self, sentence: str) -> str | None:
        """The language of a sentence, if the sources are in it too."""
        spoken = self._recognised(sentence)
        return spoken if spoken in self._languages else None

    def _recognised(self, sentence: str) -> str | None:
        sentence = CITATION.sub(" ", sentence)
        return language.recognise(sentence) or language.recognise(
            sentence, expected=sorted(self._languages)
        )

    def _has_phone(self, kind: str, phone: str) -> bool:
        """Whether it is a telephone number of the sources, or a part of one, however grouped."""
        digits = "".join(phone.split())
        return kind == "phone" and (
            any(digits in each for each in self._phones)
            or ("figure", facts.figure_of(digits)) in self._facts
        )

    def _has(self, stem: str) -> bool:
        """Whether the sources have a word like it: book, booked and booking are forms of one."""
        return (
            stem in self._stems
            or stem[:_SHORT] in self._short
            or (len(stem) == _SHORT and stem in self._beginnings)
        )


def _told_of(clause: polarity.Clause, spoken: str) -> polarity.Told:
    figures = set(_DIGITS.findall(clause.text))
    return polarity.Told(
        _stems(polarity.without_function_words(clause.text, spoken), spoken) | figures,
        _all_stems([clause.text]) | figures,
        _all_stems([clause.before]),
        clause,
        _MIN_SYLLABLES if spoken == "vi" else 2,
    )


def _is_polite(sentence: str, spoken: str) -> bool:
    near = _NEAR_POLITE if spoken == "en" else _NEAR_POLITE_TRANSLATED
    return embedding.available() and nearness.is_near(sentence, polite_words.SENTENCES, near)


def _words(text: str) -> list[str]:
    return _WORD.findall(normalize("NFC", _CONTRACTED.sub(" ", text.lower())))


def _stem(word: str) -> str:
    return fold(word)[:_STEM_LETTERS]


def _syllable(word: str) -> str:
    """A Vietnamese syllable, its tone at the end: "hòa" and "hoà" are the same."""
    letters = normalize("NFD", word)
    return "_" + "".join(sorted(letters, key=_TONES.__contains__))


def _all_stems(texts: Iterable[str]) -> set[str]:
    """The words of texts in the forms in which they are compared, also without their hyphen."""
    text = "\n".join(texts)
    joined = " ".join(part + rest for part, rest in _HYPHENATED.findall(text))
    words = {*_words(text), *_words(joined)}
    return {_stem(word) for word in words} | {_syllable(word) for word in words}


def _stems(text: str, spoken: str) -> set[str]:
    form = _syllable if spoken == "vi" else _stem
    return {form(word) for word in _words(text) if len(word) > 1}


def _telling(sentence: str, spoken: str) -> set[str]:
    """The words of a sentence that say what it is about."""
    text = without_facts_in_words(facts.without_links(CITATION.sub(" ", sentence)))
    told = (word for word in _words(text) if dictionaries.is_telling(word, spoken))
    return _stems(" ".join(told), spoken)
