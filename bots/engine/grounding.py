"""The check of an answer: its citations exist, and it invents no link, figure or sentence."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property

from bots.engine.types import NotGrounded, Snippet, Usage
from bots.knowledge import dictionaries, language, number_words
from bots.knowledge.words import fold

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
# Endings that make a link in whatever case they are written, and also behind a spoken dot.
_ENDINGS = "com|net|org|info|biz|shop|app|dev|io|ai|co|vn|de|es|fr|uk|ru|cn"
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,15}://[^\s<>\"]+"
    r"|\b(?:javascript|vbscript|data|mailto|tel):[^\s<>\"]+"
    r"|\bwww\.[^\s<>\"]+"
    r"|(?<![\w-])(?P<host>(?:[\w-]+\.)+(?:xn--[\w-]+|[^\W\d_]{2,}))(?![^\W_])"
    r"(?P<rest>(?::\d+)?(?:[/?#][^\s<>\"]*)?)",
    re.IGNORECASE,
)
_ABBREVIATIONS = frozenset({"m.in", "p.ej", "p.es", "p.ex", "tp.hcm", "тыс.руб", "млн.руб"})
# How an address is written so that no program sees it.
_SPELLED = (
    (re.compile(r"\s*[\[({]\s*(?:at|ät)\s*[\])}]\s*", re.IGNORECASE), "@"),
    (
        re.compile(
            r"\s*[\[({]\s*(?:dot|punkt|punto|point|ponto|chấm|точка)\s*[\])}]\s*", re.IGNORECASE
        ),
        ".",
    ),
    (
        re.compile(
            r"(?<![\w-])(?!(?:the|an?|each|every|this|that|per)\s)([\w.-]*\w)\s+dot\s+(?=[^\W\d_]{2})",
            re.IGNORECASE,
        ),
        r"\1.",
    ),
    (
        re.compile(
            r"(?<=\w)\s+(?:punkt|punto|point|ponto|chấm|точка)\s+(?=(?:com|net|org|info|vn|ru)\b)",
            re.IGNORECASE,
        ),
        ".",
    ),
)
_LINK_END = ".,;:!?)]}*'’”»"
# A dot, comma, apostrophe or narrow space before exactly three digits groups thousands.
_GROUPING = re.compile(r"(?<=\d)[.,'’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)](?:\s|\Z)", re.MULTILINE)
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
# With so many telling words, and none of its sources, a sentence is invented.
_MIN_TELLING = 3
# What polite sentences around an answer are made of, by the first letters.
_POLITE = frozenset(
    fold(word)[:_STEM_LETTERS]
    for word in """
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
    """What an answer may rest on: the texts of its sources, and for its words the question too."""

    def __init__(self, texts: Iterable[str], *, question: str = "") -> None:
        self._texts = tuple(texts)
        facts = _facts("\n".join(self._texts))
        links = [link for kind, link in facts if kind in {"link", "email"}]
        self._facts = facts | {("link", part) for link in links for part in _parts(link)}
        self._stems = {_stem(word) for text in (*self._texts, question) for word in _words(text)}

    @cached_property
    def _languages(self) -> frozenset[str | None]:
        return frozenset(language.recognise(text) for text in self._texts)

    def holds_facts_of(self, text: str) -> bool:
        """Whether every link, address and figure of a text stands in the sources."""
        text = _CITATION.sub(" ", text)
        # "18 euros" may stand there as "eighteen euros", and the other way round.
        told = _facts(text) | _spelled_figures(map(_without_links, sentences(text)))
        return told <= self._facts or told <= self._facts | self._spelled

    @cached_property
    def _spelled(self) -> set[tuple[str, str]]:
        # Most answers spell no figure: their sources are not read for it.
        return _spelled_figures(one for text in self._texts for one in sentences(text))

    def invents(self, sentence: str) -> bool:
        """Whether a sentence tells something, and shares no telling word with the sources.

        A sentence in another language than theirs may be a translation: its words say nothing.
        """
        words = _words(_without_links(sentence))
        stems = {_stem(word) for word in words}
        if len(stems) < _MIN_TELLING:
            return False
        spoken = language.recognise(sentence)
        if spoken is None or spoken not in self._languages:
            return False
        told = {_stem(word) for word in words if dictionaries.is_telling(word, spoken)} - _POLITE
        return len(told) >= _MIN_TELLING and told.isdisjoint(self._stems)


def evidence_of(
    snippets: Iterable[Snippet], results: str | None = None, *, question: str = ""
) -> Evidence:
    """What snippets say, and what functions returned."""
    texts = (f"{s.title}\n{s.url or ''}\n{s.text}" for s in snippets)
    return Evidence((*texts, results or ""), question=question)


def sentences(text: str) -> list[str]:
    """The sentences of a text with what stands between them; the last one may go on."""
    ends = [match.end() for match in _END.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def _stem(word: str) -> str:
    return fold(word)[:_STEM_LETTERS]


def checked(
    text: str,
    snippets: tuple[Snippet, ...],
    usage: Usage,
    results: str | None = None,
    *,
    question: str = "",
) -> tuple[str, tuple[int, ...]]:
    """The answer without wrong citations, and the numbers that it cites; raises NotGrounded.

    `results` is what functions returned; with them an answer needs no snippet. `question` is what
    an answer may repeat without a source.
    """
    by_number = {snippet.number: snippet for snippet in snippets}
    mentioned = [int(n) for group in _CITATION.findall(text) for n in group.split(",")]
    cited = tuple(dict.fromkeys(number for number in mentioned if number in by_number))
    if not cited and results is None:
        raise NotGrounded("The answer cites no snippet that exists.", usage=usage)
    sources = evidence_of((by_number[number] for number in cited), results)
    if not sources.holds_facts_of(text):
        raise NotGrounded("The answer states what its snippets do not hold.", usage=usage)
    given = evidence_of(snippets, results, question=question)
    if any(given.invents(sentence) for sentence in sentences(text)):
        raise NotGrounded("The answer has a sentence that no snippet speaks of.", usage=usage)
    return _without_wrong_citations(text, set(by_number)), cited


def _without_wrong_citations(text: str, valid: set[int]) -> str:
    def corrected(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",") if int(number) in valid]
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""

    return _CITATION.sub(corrected, text).strip()


def _facts(text: str) -> set[tuple[str, str]]:
    """The links, e-mail addresses and figures of a text, in a comparable form."""
    text = unicodedata.normalize("NFKC", text)
    for spelled, plain in _SPELLED:
        text = spelled.sub(plain, text)
    emails = {("email", email.lower()) for email in _EMAIL.findall(text)}
    found, text = _split_links(_EMAIL.sub(" ", text))
    links = {("link", _link(link)) for link in found}
    text = _LIST_NUMBER.sub(" ", text)
    figures = {("figure", _figure(figure)) for figure in _FIGURE.findall(_GROUPING.sub("", text))}
    return emails | links | figures


def _spelled_figures(told: Iterable[str]) -> set[tuple[str, str]]:
    """The figures that sentences spell in words."""
    # Each sentence is read in its own language: "once" is eleven in Spanish alone.
    return {
        ("figure", str(value))
        for sentence in told
        for value in number_words.values(sentence, language.recognise(sentence))
    }


def _split_links(text: str) -> tuple[list[str], str]:
    """The links of a text, and the text without them."""
    links: list[str] = []

    def taken(match: re.Match[str]) -> str:
        link = match[0] if match["host"] is None else _host_link(match["host"], match["rest"])
        if not link:
            return match[0]
        links.append(link)
        return " " + match[0][len(link) :]

    return links, _LINK.sub(taken, text)


def _without_links(text: str) -> str:
    return _split_links(_EMAIL.sub(" ", text))[1]


def _host_link(host: str, rest: str) -> str:
    """The part of a host-like text that is a link; empty if it is none.

    "e.g." and "9.30 am" are none, and "room.The" lacks a blank.
    """
    if rest:
        return host + rest
    labels = host.split(".")
    while len(labels) > 1:
        last = labels[-1]
        if re.fullmatch(_ENDINGS, last, re.IGNORECASE):
            return ".".join(labels)
        if len(last) > 1 and (not last[0].isupper() or last.isupper()):
            break
        labels.pop()
    link = ".".join(labels)
    has_name = any(letter.isalpha() for label in labels[:-1] for letter in label)
    return link if has_name and link.lower() not in _ABBREVIATIONS else ""


def _parts(link: str) -> set[str]:
    """What a text may write for a link of its source: the host, the file, and all but a scheme."""
    bare = re.sub(r"^(?:[a-z][a-z0-9+.-]*://|mailto:)", "", link).removeprefix("www.")
    bare = bare.rpartition("@")[2] if "/" not in bare else bare
    return {bare, f"www.{bare}", *re.split(r"[/?#]", bare)}


def _link(link: str) -> str:
    # Paths are case-sensitive, but a link that differs in case only is not invented.
    return link.rstrip(_LINK_END).rstrip("/").lstrip("_-").lower()


def _figure(figure: str) -> str:
    """One form for equal numbers, such as 5,50 and 5.5, and for the digits of all scripts."""
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "." for c in figure)
    whole, dot, rest = plain.partition(".")
    rest = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{dot if rest else ''}{rest}"
