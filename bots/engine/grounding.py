"""The check of an answer: it cites its sources, and neither adds to them nor contradicts them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property

from bots.engine import facts, polarity
from bots.engine.facts_in_words import (
    FactInWords,
    mentioned_in_words,
    told_in_words,
    without_facts_in_words,
)
from bots.engine.promises import promises
from bots.engine.types import NotGrounded, Snippet, Usage
from bots.knowledge import dictionaries, embedding, language
from bots.knowledge.words import fold

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_CITED = r"(?:\s*\[\d[\d,\s]*\])*"
# A sentence has ended when the next one has begun: until then a citation may follow.
_END = re.compile(
    rf"[.!?…؟।]+[\"'”’»)*_]*{_CITED}(?=\s+[^\s\[])"
    rf"|[。！？]+[”’」』]*{_CITED}(?=\s*[^\s\[])"
    r"|\n(?=\s*[^\s\[])"
)
_WORD = re.compile(r"[^\W\d_]+")
# Words that begin alike are forms of one: return, returned, returning.
_STEM_LETTERS = 5
# A word of so many letters may go on: book, booked.
_SHORT = 4
# With so many telling words a sentence says something; in Vietnamese they are syllables.
_MIN_TELLING, _MIN_SYLLABLES = 3, 4
_TONES = frozenset("\u0300\u0301\u0303\u0309\u0323")
_CONTRACTED = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ll|ve|d|m)\b")
# A sentence with one telling word of its own, two, or more must be so near to one of its sources.
# Fitted on `bots/tests/phrases/model_sentences.toml`.
_NEAR = (0.88, 0.88, 0.95)
# Or so near to one that claims nothing, in whatever language.
_NEAR_POLITE = 0.89
# The same of a sentence in another language than its sources. Those are less near to each other.
_NEAR_TRANSLATED, _POLITE_TRANSLATED = 0.81, 0.86
_MIN_CLAIM = 20  # bytes
# It is compared with so many sentences, those that have most words in common with it; a translation
# has none, and with fewer telling words says too little.
_MOST_COMPARED, _MOST_TRANSLATED, _MIN_TRANSLATED = 12, 40, 2
_POLITE_SENTENCES = (
    "I am happy to help you.", "Thank you for your question.", "Thank you for your patience.",
    "Is there anything else I can do for you?", "I hope this answers your question.",
    "Please let me know if you have any other questions.", "I am sorry for the inconvenience.",
    "Please contact us if you need help.", "We look forward to seeing you.",
    "Have a nice day!", "Enjoy your stay with us!", "I wish you a pleasant journey.",
    "Good luck and have fun!",
)  # fmt: skip
# A word with a capital letter inside of a sentence is a name, where nouns have none.
_CAPITAL = re.compile(r"(?<=[^\W_][,;] |[^\W_]{2} )[A-ZÀ-ÖØ-ÞĐЁА-Я][\w’'-]+")
_WITH_NAMES = frozenset({"en", "fr", "es", "it", "pt", "nl", "vi", "ru"})
_NO_NAMES = frozenset({"ok", "faq", "am", "pm", "mr", "mrs", "ms", "dr", "id", "pdf", "url"})
# An address may be spelled over so many characters before a sentence.
_REACH = 200
# What says little of a matter, by the first letters: the days of the week, that something costs,
# and what polite sentences around an answer are made of.
_POLITE = frozenset(
    fold(word)[:_STEM_LETTERS]
    for word in """
    monda tuesd wedne thurs frida satur sunda weeke monta diens mittw donne freit samst sonnt woche
    lundi mardi mercr jeudi vendr samed diman lunes marte mierc jueve viern sabad domin luned giove
    vener sabat domen maand dinsd woens vrijd zater zonda terca quart quint понед вторн среда среду
    четве пятни суббо воскр
    cost costs pay paid price koste preis zahle bezah coûte payer paie paien prix cuest pagar paga
    preci custa preço costa prezz kost prijs betal стоит стоим плати цена
    unfor leide malhe lamen infel purtr helaa сожал
    addit apolo appre assis assur clari detai enjoy furth glad grate hesit incon inqui kindl patie
    provi queri reach regar reque respo suppo under welco
    anlie ander antwo bedau behil frage freue gerne gedul helfe hilfe konta kunde melde unter verfü
    verst weite wende zöger
    amabl apoya atenc ayuda bienv conse conta corte desea desee dispo duda dudas encan excel grati
    infor lamen moles pacie placi pregu servi trans
    aider aimab assis autre bienv compl conna cordi dispo hésit infor insta merci plais quest remer
    renseig service souha votre
    acord aiuta aiuto assis bisog contat dispo dubbi esita grazi ulter vostr
    agrad ajuda atend desej dúvid espero gosta obrig prazer
    aarze bedan bereik graag helpen hulp verde vrage vragen
    благо готов допол желаю здрав извин инфор искре испол консу конта настр неудо обращ оказа
    остал ответ подде подро пожал поним помог помощ понад прино приня приве прият радос рады
    разоб свяжи служб сотру терпе увере удово уточн хорош
    أسئلة استفس الأسئ الاست الازع الإزع التفا التوا الرجا السلا المزي المسا المعل أهلا إضافي
    بشدة بطرح بمزيد بمساع تتردد تحية تعاون تفضل تفهمك تواصل توضيح جزيلا خدمتك دائما سؤالك سعداء
    سعيد سعيدا شكرا صبرك عليكم لتواص للتوا لمساع مرحبا مساعد مفيدة موفقا نتمنى نشكرك نعتذر نقدر
    وبركا وتعاو وثقتك ورحمة وسهلا وموفق ونقدر يرجى يسرنا يسعدن
    """.split()  # noqa: SIM905 - easier to read
)


class Evidence:
    """What an answer may rest on: the texts of its sources. `asked` is what it may repeat.

    Texts that are no prose, such as data of a function, have few words: one of them is enough.
    """

    def __init__(self, texts: Iterable[str], *, asked: str = "", is_prose: bool = True) -> None:
        self._texts = tuple(texts)
        self._is_prose = is_prose
        held = facts.facts_of("\n".join(self._texts))
        links = [link for kind, link in held if kind in {"link", "email"}]
        held |= {("link", part) for link in links for part in facts.parts_of(link)}
        # The groups of a telephone number are figures too, if it is none.
        phones = [phone.split() for kind, phone in held if kind == "phone"]
        self._phones = ["".join(groups) for groups in phones]
        figures = [*self._phones, *(group for groups in phones for group in groups)]
        self._facts = held | {("figure", facts.figure_of(figure)) for figure in figures}
        self._spans = facts.spans_of("\n".join(self._texts))
        self._stems = _all_stems(self._texts)
        stems = {stem for stem in self._stems if not stem.startswith("_")}
        self._short = {stem for stem in stems if len(stem) == _SHORT}
        self._beginnings = {stem[:_SHORT] for stem in stems}
        self._asked_text = asked
        self._asked = _all_stems([asked])

    @cached_property
    def _languages(self) -> frozenset[str]:
        known = map(language.recognise, self._texts)
        return frozenset(code for code in known if code is not None)

    @cached_property
    def _spelled(self) -> set[facts.Fact]:
        # Most answers spell no figure: their sources are not read for it.
        return facts.spelled_figures(one for text in self._texts for one in sentences(text))

    @cached_property
    def _in_words(self) -> set[FactInWords]:
        return mentioned_in_words("\n".join(self._texts))

    @cached_property
    def _clauses(self) -> list[tuple[set[str], set[str], bool | None]]:
        """The stems of the sources' clauses, and of what stands before each in its sentence."""
        return [
            (_all_stems([clause.text]), _all_stems([clause.before]), clause.is_negated)
            for text in self._texts
            for clause in polarity.clauses(text, language.recognise(text) or "")
        ]

    def holds_facts_of(self, text: str, *, before: str = "") -> bool:
        """Whether every link, address and figure of a text stands in the sources.

        `before` is what the answer says up to there.
        """
        text, before = (_CITATION.sub(" ", each) for each in (text, before[-_REACH:]))
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
        return (
            (told <= self._facts or told <= self._facts | self._spelled)
            and not self._counts_otherwise(text)
            and all(map(self._has_in_words, told_in_words(text)))
        )

    def _counts_otherwise(self, text: str) -> bool:
        """Whether a figure counts hours that counts minutes in the sources."""
        new = facts.spans_of(text) - self._spans
        return any(figure == known for figure, _ in new for known, _ in self._spans)

    def _has_in_words(self, told: FactInWords) -> bool:
        return told in self._in_words or any(
            ("figure", each) in self._facts | self._spelled for each in told.figures
        )

    def invents(self, sentence: str) -> bool:
        """Whether a sentence tells something that the sources do not say.

        They hold less than a third of it: its figures and its telling words count; polite words,
        days of the week and what was asked do not count against it. Or it has words of its own and
        means something else than any of their sentences, or a name that they do not have. In data
        one word is enough. Of a sentence in another language than theirs, which may be a
        translation, the meaning counts alone.
        """
        spoken = self._language_of(sentence)
        if spoken is None:
            return self._is_prose and self._is_no_translation(sentence)
        told = _telling(sentence, spoken)
        held = {stem for stem in told if self._has(stem)}
        new = told - held - self._asked - _POLITE
        # The facts were found in the sources before.
        count = len(held) + facts.count(_CITATION.sub(" ", sentence)) + len(told_in_words(sentence))
        total = count + len(new)
        if total >= (_MIN_SYLLABLES if spoken == "vi" else _MIN_TELLING):
            if not self._is_prose:
                return not count
            if 3 * count < total:
                return True
        return self._is_prose and (
            self._has_new_name(sentence, spoken)
            or (bool(new) and self._means_else(sentence, len(new)))
        )

    def _is_no_translation(self, sentence: str) -> bool:
        """Whether a sentence of another language tells something that no source means."""
        spoken = self._recognised(sentence)
        if spoken is None or not self._languages:
            return False
        new = _telling(sentence, spoken) - self._asked - _POLITE
        if len(new) < (_MIN_SYLLABLES if spoken == "vi" else _MIN_TRANSLATED):
            return False
        texts = _claims(self._texts)
        return _is_far(sentence, texts[:_MOST_TRANSLATED], _NEAR_TRANSLATED, _POLITE_TRANSLATED)

    def _has_new_name(self, sentence: str, spoken: str) -> bool:
        """Whether it names somebody or something that neither the sources nor the chat name."""
        sentence = without_facts_in_words(sentence)
        names = set(_CAPITAL.findall(sentence)) if spoken in _WITH_NAMES else set()
        if len(names) > len(sentence.split()) / 2:
            return False  # a heading
        new = {_stem(name) for name in names if name.lower() not in _NO_NAMES}
        return any(not self._has(stem) for stem in new - self._asked - _POLITE)

    def _means_else(self, sentence: str, new_words: int) -> bool:
        """Whether no sentence of the sources, and nothing that was asked, means what it means."""
        told = _all_stems([sentence])
        texts = _claims([*self._texts, self._asked_text])
        texts.sort(key=lambda one: -len(told & _all_stems([one])))
        near = _NEAR[min(new_words, len(_NEAR)) - 1]
        return _is_far(sentence, texts[:_MOST_COMPARED], near, _NEAR_POLITE)

    def contradicts(self, sentence: str) -> bool:
        """Whether the sources say the opposite: the same words, but negated, or not negated.

        Clauses are compared that have two telling words or more, all of whose words stand in a
        clause of the sources, or half of them there and the rest before it in its sentence. If any
        such clause agrees, or is unclear, nothing is contradicted. In data nothing is looked for.
        """
        spoken = self._language_of(sentence) if self._is_prose else None
        return spoken is not None and any(
            self._is_contrary(clause, spoken)
            for clause in polarity.clauses(_CITATION.sub(" ", sentence), spoken)
        )

    def is_promise(self, sentence: str) -> bool:
        """Whether it says that the bot or its people did or will do what no source speaks of.

        The bot itself does nothing, but by its functions: where they were called, nothing is
        looked for. What its people do is looked for in the language of the sources alone.
        """
        if not self._is_prose:
            return False
        spoken = self._recognised(sentence)
        return any(
            not any(promise.text in text.lower() for text in self._texts)
            and (
                promise.is_bots or (spoken in self._languages and not self._has_deed(promise.deed))
            )
            for promise in promises(_CITATION.sub(" ", sentence), spoken or "")
        )

    def _has_deed(self, deed: str) -> bool:
        at_a_word = re.compile(rf"(?<!\w){re.escape(deed)}", re.IGNORECASE)
        return any(map(at_a_word.search, self._texts)) or self._has(_stem(deed))

    def _is_contrary(self, clause: polarity.Clause, spoken: str) -> bool:
        is_unclear = clause.is_negated is None or clause.is_conditional
        if is_unclear or any(map(str.isdecimal, clause.text)):
            return False
        told = _stems(polarity.without_function_words(clause.text, spoken), spoken)
        telling = _telling(clause.text, spoken)
        if len(telling) < 2 or (spoken == "vi" and len(told) < _MIN_SYLLABLES):
            return False
        alike = [
            is_negated
            for stems, before, is_negated in self._clauses
            if told <= stems
            or (told <= stems | before and len(told & stems) >= max(2, len(told) / 2))
        ]
        return set(alike) == {not clause.is_negated}

    def _language_of(self, sentence: str) -> str | None:
        """The language of a sentence, if the sources are in it too."""
        spoken = self._recognised(sentence)
        return spoken if spoken in self._languages else None

    def _recognised(self, sentence: str) -> str | None:
        sentence = _CITATION.sub(" ", sentence)
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


class Check:
    """Follows an answer by sentence: what may be shown, and why it must not go on.

    A sentence rests on the snippets that it cites. One that cites none rests on those that were
    cited before it; if these do not hold it, or there are none, it waits for the next sentence that
    cites, and rests on that one's snippets too. `results` is what functions returned: every
    sentence may rest on it. `asked` is what an answer may repeat without a source.
    """

    def __init__(
        self, snippets: Iterable[Snippet], results: str | None = None, *, asked: str = ""
    ) -> None:
        self._snippets = {snippet.number: snippet for snippet in snippets}
        self._results = results
        self._asked = asked
        self._evidence: dict[tuple[int, ...], Evidence] = {}
        self._text = ""
        # The sentences that wait, and what came before each.
        self._waiting: list[tuple[str, str]] = []
        self.cited: tuple[int, ...] = ()
        self.fault = ""

    def take(self, sentence: str) -> str:
        """Add the answer's next sentence; returns what may be shown now, without wrong citations.

        Nothing may be shown after a `fault`.
        """
        if self.fault:
            return ""
        earlier, own, told = self.cited, self._numbers(sentence), (sentence, self._text)
        self.cited = tuple(dict.fromkeys(earlier + own))
        self._text += sentence
        if own:
            self.fault = self._fault_of(self._waiting, self.cited) or self._fault_of([told], own)
            may_show = not self.fault
        else:
            may_rest = bool(earlier) or self._results is not None
            may_show = may_rest and not self._waiting and not self._fault_of([told], earlier)
        self._waiting.append(told)
        return self._pass_on() if may_show else ""

    def end(self) -> None:
        """The answer is whole: what still waits has no source but those that were cited."""
        if not re.search(r"\w", _CITATION.sub("", self._text)):
            self.fault = "The answer says nothing."
        elif not self.cited and self._results is None:
            self.fault = "The answer cites no snippet that exists."
        self.fault = self.fault or self._fault_of(self._waiting, self.cited)

    def _numbers(self, sentence: str) -> tuple[int, ...]:
        mentioned = (int(n) for group in _CITATION.findall(sentence) for n in group.split(","))
        return tuple(dict.fromkeys(number for number in mentioned if number in self._snippets))

    def _fault_of(self, told: Iterable[tuple[str, str]], numbers: tuple[int, ...]) -> str:
        """What is wrong with sentences that rest on these snippets; empty if nothing is."""
        if numbers not in self._evidence:
            snippets = map(self._snippets.__getitem__, numbers)
            self._evidence[numbers] = evidence_of(snippets, self._results, asked=self._asked)
        evidence = self._evidence[numbers]
        for sentence, before in told:
            if not evidence.holds_facts_of(sentence, before=before):
                return "The answer states what its snippets do not hold."
            if evidence.is_promise(sentence):
                return "The answer promises what no snippet speaks of."
            if evidence.invents(sentence):
                return "The answer has a sentence that no snippet speaks of."
            if evidence.contradicts(sentence):
                return "The answer contradicts its snippets."
        return ""

    def _pass_on(self) -> str:
        text = "".join(sentence for sentence, _ in self._waiting)
        self._waiting.clear()
        return _without_wrong_citations(text, set(self._snippets))


def evidence_of(
    snippets: Iterable[Snippet], results: str | None = None, *, asked: str = ""
) -> Evidence:
    """What snippets say, and what functions returned."""
    texts = (f"{s.title}\n{s.heading}\n{s.url or ''}\n{s.text}" for s in snippets)
    return Evidence((*texts, results or ""), asked=asked, is_prose=not results)


def sentences(text: str) -> list[str]:
    """The sentences of a text with what stands between them; the last one may go on."""
    ends = [match.end() for match in _END.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _claims(texts: Iterable[str]) -> list[str]:
    """The sentences of texts. Short ones are near to any: only together, as rows of a list."""
    found, short = [], ""
    for sentence in (one.strip() for text in texts for one in sentences(text)):
        if len(sentence.encode()) >= _MIN_CLAIM:
            found.append(sentence)
            short = ""
        elif len((short := f"{short} {sentence}").encode()) > _MIN_CLAIM:
            found.append(short)
            short = ""
    return found


def _is_far(sentence: str, texts: Iterable[str], near: float, polite: float) -> bool:
    """Whether it is nearer than this to none of the texts, and to no polite sentence.

    Of the encoder, which takes some 20 ms for a sentence that it did not read lately; False
    without it.
    """
    vector = embedding.embed_query(_CITATION.sub(" ", sentence).strip())
    if vector is None:
        return False
    return not (_is_near(vector, texts, near) or _is_near(vector, _POLITE_SENTENCES, polite))


def _is_near(vector: embedding.Vectors, texts: Iterable[str], least: float) -> bool:
    others = map(embedding.embed_query, texts)
    return any(other is not None and float(vector @ other) >= least for other in others)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", _CONTRACTED.sub(" ", text.lower())))


def _stem(word: str) -> str:
    return fold(word)[:_STEM_LETTERS]


def _syllable(word: str) -> str:
    """A Vietnamese syllable, its tone at the end: "hòa" and "hoà" are the same."""
    letters = unicodedata.normalize("NFD", word)
    return "_" + "".join(sorted(letters, key=_TONES.__contains__))


def _all_stems(texts: Iterable[str]) -> set[str]:
    """The words of texts in the forms in which they are compared."""
    words = {word for text in texts for word in _words(text)}
    return {_stem(word) for word in words} | {_syllable(word) for word in words}


def _stems(text: str, spoken: str) -> set[str]:
    form = _syllable if spoken == "vi" else _stem
    return {form(word) for word in _words(text) if len(word) > 1}


def _telling(sentence: str, spoken: str) -> set[str]:
    """The words of a sentence that say what it is about."""
    text = without_facts_in_words(facts.without_links(_CITATION.sub(" ", sentence)))
    told = (word for word in _words(text) if dictionaries.is_telling(word, spoken))
    return _stems(" ".join(told), spoken)


def checked(
    text: str,
    snippets: tuple[Snippet, ...],
    usage: Usage,
    results: str | None = None,
    *,
    asked: str = "",
) -> tuple[str, tuple[int, ...]]:
    """The answer without wrong citations, and the numbers that it cites; raises NotGrounded.

    `results` is what functions returned; with them an answer needs no snippet. `asked` is what an
    answer may repeat without a source.
    """
    check = Check(snippets, results, asked=asked)
    for sentence in sentences(text):
        check.take(sentence)
    check.end()
    if check.fault:
        raise NotGrounded(check.fault, usage=usage)
    return _without_wrong_citations(text, {s.number for s in snippets}).strip(), check.cited


def _without_wrong_citations(text: str, valid: set[int]) -> str:
    def corrected(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",") if int(number) in valid]
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""

    return _CITATION.sub(corrected, text)
