"""Facts that a text tells without a figure: months, noon, the third, a quarter, that it is free.

What is refused for lack of such a fact is rarely said by chance; words that mean something else as
often ("second", "half", "March" in small letters) are left out.
"""

import re
from typing import NamedTuple


def _dated(*names: str) -> str:
    """A month that is also a person's name, or a sauce: beside a figure or a preposition."""
    before = (
        r"\d ",
        r"\d\. ",
        *(
            rf"\b(?i:{word}) "
            for word in [
                "in",
                "im",
                "of",
                "from",
                "to",
                "and",
                "until",
                "since",
                "von",
                "bis",
                "und",
                "en",
            ]
        ),
    )
    either = "|".join(names)
    return "|".join([*(rf"(?<={each})(?:{either})" for each in before), rf"(?:{either})(?= \d)"])


# By the number of the month: its names, as their languages write them.
_MONTHS = {
    "1": rf"January|{_dated('Jan')}|Januar|Jänner|janvier|enero|gennaio|janeiro|januari"
    r"|январ[яьюе]",
    "2": r"February|Feb|Februar|février|febrero|febbraio|fevereiro|februari|феврал[яьюе]",
    "3": r"March|März|mars|marzo|março|maart|марта?|марте",
    "4": rf"{_dated('April')}|avril|abril|aprile|апрел[яьюе]",
    "5": rf"{_dated('May', 'Mai', 'mai', 'mayo')}|maggio|maio|(?<=\d )мая|(?<=\bв )мае",
    "6": rf"{_dated('June')}|Juni|juin|junio|giugno|junho|июн[яьюе]",
    "7": r"July|Juli|juillet|julio|luglio|julho|июл[яьюе]",
    "8": rf"{_dated('August')}|Aug|août|agosto|augustus|августа?|августе",
    "9": r"September|Sept?|septembre|sep?tiembre|settembre|setembro|сентябр[яьюе]",
    "10": r"October|Oct|Oktober|octobre|octubre|ottobre|outubro|октябр[яьюе]",
    "11": r"November|Nov|novembre|noviembre|novembro|ноябр[яьюе]",
    "12": r"December|Dec|Dezember|Dez|décembre|diciembre|dicembre|dezembro|декабр[яьюе]",
}
# By what is told: its words, and the figures that a source may have in their place.
_OTHERS = {
    "noon": (r"noon|midday|mittags|(?<![-\w])midi|mediodía|mezzogiorno|meio-dia|полд\w+", "12"),
    "midnight": (
        "midnight|mitternacht|minuit|medianoche|mezzanotte|meia-noite|middernacht|nửa đêm"
        r"|полно[чщ]\w*",
        "0 24 12",
    ),
    "3rd": (r"(?<!\ba )third|dritte[nrs]?|troisième|terzo|terza|derde|трет\w+", "3"),
    "4th": (r"fourth|vierte[nrs]?|quatrième|vierde|четверт(?:ый|ом|ая|ой)", "4"),
    "5th": (r"fifth|fünfte[nrs]?|cinquième|quint[oa]|vijfde|пят(?:ый|ом|ая|ой)", "5"),
    "6th": (r"sixth|sechste[nrs]?|sixième|sest[oa]|zesde", "6"),
    "7th": (r"seventh|siebte[nrs]?|septième|zevende", "7"),
    "8th": (r"eighth|achte[nrs]|huitième|achtste", "8"),
    "9th": (r"ninth|neunte[nrs]?|neuvième|negende", "9"),
    "10th": (r"tenth|zehnte[nrs]?|dixième|tiende", "10"),
    "quarter": (r"quarters?|viertel\w*|trois quarts|tre quarti|tres cuartos", "4 15 25 45 75"),
}
_SAID = {
    **{kind: re.compile(rf"\b(?:{names})\b", re.I) for kind, (names, _) in _OTHERS.items()},
    # In small letters they are other words: to march.
    **{
        f"month {number}": re.compile(rf"(?<!\w)(?:{names})(?!\w)")
        for number, names in _MONTHS.items()
    },
}
# "Third, ..." counts what is told.
_COUNTING = re.compile(r"^\W*\w+(?=[,:])")
_FREE = re.compile(
    r"(?<!\bfeel )(?<!\bgluten )(?<!\bsmoke )(?<!\bsugar )(?<!\blactose )(?<!\bduty )(?<![-\w])"
    r"free(?![-\w]| (?:to|time|on|at|spaces?|seats?|slots?|tables?|places?|rooms?|from|up)\b"
    r"| of (?!charge))"
    r"|\bfreeship\b|\b(?:complimentary|gratis|gratuit\w*|costs? nothing|\w*kostenlos\w*"
    r"|\w*kostenfrei\w*|umsonst|gebührenfrei\w*|portofrei\w*|unentgeltlich\w*"
    r"|sans (?:frais|supplément)|sin (?:coste|costo|cargo)s?|senza (?:costi|spese)|grátis"
    r"|kostelo\w+|miễn phí|бесплатн\w*|без доплат\w*)\b",
    re.IGNORECASE,
)
# What a source may say in its place: that nothing is charged, or that a price includes it.
_NO_CHARGE = re.compile(
    r"\b(?:no|without)(?: \w+)? (?:charges?|costs?|fees?)\b"
    r"|\bat (?:our|no) (?:cost|expense)\b|\bon us\b"
    r"|\b(?:keine?|ohne)(?: \w+)? (?:gebühr\w*|\w*kosten|aufpreis)\b|\bübernehmen wir\b"
    r"|(?:n['’]t|\bnot|\bnever)(?: be)? charged?\b|\bno se cobran?\b|\bpris(?:es?)? en charge\b"
    r"|\bkhông (?:mất|tốn|tính|thu)(?: \w+)? (?:tiền|phí)\b|\bза наш сч[её]т\b"
    r"|\b(?:inclu[dsía]\w*|inbegriffen|inklusive|compris\w*|bao gồm|включ\w*|offert\w*|tặng)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bnicht|\bkein\w*|\bnie|\bpas|\bjamais|\bno|\bnon|\bnunca|\bnão|\bniet"
    # "Not small but free", "not only breakfast is included".
    r"|\bkhông|\bchưa|\bне)\s+(?:(?!(?:but|only|just|sondern|nur|mais|seulement|sino|s[oó]lo|mà|chỉ"
    r"|но|только)\b)\w+\s+){0,3}$",
    re.IGNORECASE,
)


class FactInWords(NamedTuple):
    """`kind` is what is told; a source may have one of the `figures` in its place."""

    kind: str
    figures: frozenset[str]


FREE = FactInWords("free", frozenset({"0"}))
_FIGURES = {kind: figures for kind, (_, figures) in _OTHERS.items()} | {
    f"month {number}": number for number in _MONTHS
}
_OF_SAID = {kind: FactInWords(kind, frozenset(each.split())) for kind, each in _FIGURES.items()}
# So far before a word its negation is looked for.
_REACH = 80


def told_in_words(text: str) -> set[FactInWords]:
    """What a text tells; not what it denies: "there is no third boat"."""
    text = _COUNTING.sub("", text)
    told = {_OF_SAID[kind] for kind, said in _SAID.items() if _is_told(said, text)}
    return told | ({FREE} if _is_told(_FREE, text) else set())


def mentioned_in_words(text: str) -> set[FactInWords]:
    """What a source speaks of, also to deny it; that something is free only if it says so."""
    found = {_OF_SAID[kind] for kind, said in _SAID.items() if said.search(text)}
    is_free = _is_told(_FREE, text) or _is_told(_NO_CHARGE, text)
    return found | ({FREE} if is_free else set())


def without_facts_in_words(text: str) -> str:
    """The text without the words of `told_in_words`."""
    for said in (*_SAID.values(), _FREE):
        text = said.sub(" ", text)
    return text


def _is_told(said: re.Pattern[str], text: str) -> bool:
    return any(
        not _NOT_BEFORE.search(text[max(0, found.start() - _REACH) : found.start()])
        for found in said.finditer(text)
    )
