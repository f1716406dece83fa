"""Figures that are written in words, such as twenty-seven, dreißig and hai mươi bảy."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bots.knowledge.words import normalize

# By language: a value, and the words for it. One is an article in many languages, so that it counts
# inside of larger numbers alone. Words of a line "only" mean something else in other languages.
_WORDS = {
    "en": """1 one 2 two 3 three 4 four 5 five 6 six 7 seven 8 eight 9 nine 11 eleven
        12 twelve dozen 13 thirteen 14 fourteen 15 fifteen 16 sixteen 17 seventeen 18 eighteen
        19 nineteen 20 twenty 30 thirty 40 forty fourty 50 fifty 60 sixty 70 seventy 80 eighty
        90 ninety 100 hundred 1000 thousand 1000000 million 1000000000 billion
        only 10 ten""",
    "de": """1 ein eins eine einen 2 zwei zwo 3 drei 4 vier 5 fünf 6 sechs 7 sieben 8 acht 9 neun
        10 zehn 12 zwölf 16 sechzehn 17 siebzehn 20 zwanzig 30 dreißig dreissig 40 vierzig
        50 fünfzig 60 sechzig 70 siebzig 80 achtzig 90 neunzig 100 hundert 1000 tausend
        1000000 million millionen 1000000000 milliarde milliarden only 11 elf""",
    "fr": """1 un une 2 deux 3 trois 4 quatre 5 cinq 6 six 8 huit 10 dix 11 onze
        12 douze 13 treize 14 quatorze 15 quinze 16 seize 20 vingt vingts 30 trente 40 quarante
        50 cinquante 60 soixante 70 septante 80 huitante 90 nonante 1000 mille
        1000000 million millions 1000000000 milliard milliards only 7 sept 9 neuf 100 cent cents""",
    "es": """1 un uno una 3 tres 4 cuatro 5 cinco 6 seis 7 siete 8 ocho 9 nueve 10 diez dieci
        12 doce 13 trece 14 catorce 15 quince 16 dieciséis 20 veinte veinti 22 veintidós
        23 veintitrés 26 veintiséis 30 treinta 40 cuarenta 50 cincuenta 60 sesenta 70 setenta
        80 ochenta 90 noventa 100 cien ciento 200 doscientos doscientas 300 trescientos trescientas
        400 cuatrocientos cuatrocientas 500 quinientos quinientas 600 seiscientos seiscientas
        700 setecientos setecientas 800 ochocientos ochocientas 900 novecientos novecientas
        1000000 millón millones only 2 dos 11 once 1000 mil""",
    "it": """1 un uno una 3 tre 4 quattro 5 cinque 7 sette 8 otto 9 nove 10 dieci 11 undici
        12 dodici 13 tredici 14 quattordici 15 quindici 16 sedici 17 diciassette 18 diciotto
        19 diciannove 20 venti 30 trenta 40 quaranta quarant 50 cinquanta cinquant
        60 sessanta sessant 70 settanta settant 80 ottanta ottant 90 novanta novant 100 cento
        1000 mille 1000000 milione milioni only 2 due 3 tre 9 nove
        20 vent 30 trent 1000 mila""",
    "nl": """1 een één 2 twee 3 drie 4 vier 5 vijf 6 zes 7 zeven 8 acht 9 negen 12 twaalf
        13 dertien 14 veertien 20 twintig 30 dertig 40 veertig 50 vijftig 60 zestig 70 zeventig
        80 tachtig 90 negentig 100 honderd 1000 duizend 1000000 miljoen only 10 tien 11 elf""",
    "pt": """1 um uma 2 dois duas 3 três 4 quatro 5 cinco 6 seis 7 sete 8 oito 9 nove 10 dez
        11 onze 12 doze 13 treze 14 quatorze catorze 15 quinze 16 dezesseis dezasseis
        17 dezessete dezassete 18 dezoito 19 dezenove dezanove 20 vinte 30 trinta 40 quarenta
        50 cinquenta 60 sessenta 70 setenta 80 oitenta 90 noventa 100 cem cento
        200 duzentos duzentas 300 trezentos trezentas 400 quatrocentos quatrocentas
        500 quinhentos quinhentas 600 seiscentos 700 setecentos 800 oitocentos 900 novecentos
        1000000 milhão milhões only 9 nove 1000 mil""",
    "ru": """1 один одна одну 2 два две двух двум 3 три трёх трех трём трем 4 четыре четырёх четырех
        5 пять пяти 6 шесть шести 7 семь 8 восемь восьми 9 девять девяти 10 десять десяти
        11 одиннадцать одиннадцати 12 двенадцать двенадцати 13 тринадцать тринадцати
        14 четырнадцать четырнадцати 15 пятнадцать пятнадцати 16 шестнадцать шестнадцати
        17 семнадцать семнадцати 18 восемнадцать восемнадцати 19 девятнадцать девятнадцати
        20 двадцать двадцати 30 тридцать тридцати 40 сорок сорока 50 пятьдесят пятидесяти
        60 шестьдесят шестидесяти 70 семьдесят семидесяти 80 восемьдесят восьмидесяти
        90 девяносто девяноста 100 сто ста 200 двести двухсот 300 триста трёхсот трехсот
        400 четыреста четырехсот 500 пятьсот пятисот 600 шестьсот шестисот 700 семьсот семисот
        800 восемьсот восьмисот 900 девятьсот девятисот 1000 тысяча тысячи тысяч тысячу
        1000000 миллион миллиона миллионов""",
    "ar": """2 اثنان اثنين اثنتان اثنتين 3 ثلاثة ثلاث 4 أربعة أربع 5 خمسة خمس 6 ستة 7 سبعة سبع
        8 ثمانية ثماني 9 تسعة تسع 10 عشرة 20 عشرون عشرين 30 ثلاثون ثلاثين 40 أربعون أربعين
        50 خمسون خمسين 60 ستون ستين 70 سبعون سبعين 80 ثمانون ثمانين 90 تسعون تسعين
        100 مئة مائة 200 مئتان مئتين مائتان مائتين 1000 ألف آلاف 1000000 مليون""",
    "vi": """1 một mốt 4 bốn 5 lăm 6 sáu 7 bảy bẩy 8 tám 9 chín 10 mười
        1000 nghìn ngàn 1000000 triệu 1000000000 tỷ tỉ only 2 hai 3 ba""",
}  # fmt: skip
# Behind a number alone these are figures, and the first of them tells years from fives.
_VIETNAMESE_TENS, _VIETNAMESE_HUNDRED = "mươi", "trăm"
# What has a number word in it and is no figure: shares, days of the week, both.
_NO_FIGURES = re.compile(
    r"\bpour cents?\b|\bper cento?\b|\bpor cien(?:to)?\b|\bpor cento\b|\bphần trăm\b"
    r"|\bthứ (?:hai|ba|bốn|năm|sáu|bảy)\b|\bcả (?:hai|ba)\b"
)
_JOINING = frozenset({"and", "et", "y", "e", "und", "en", "و"})
# Inside of one word these stand between a unit and the tens behind it: siebenundzwanzig.
_REVERSING = frozenset({"und", "en", "ën"})
_TOKEN = re.compile(r"[^\W\d_]+|[^\w\s-]|\d+")


class _Number(NamedTuple):
    value: int
    # The languages in which alone the word is a number; empty if it is one wherever it stands.
    only: frozenset[str] = frozenset()


class _Found(NamedTuple):
    """A value, and where it stands in the text."""

    value: int
    start: int
    end: int


def _numbers() -> dict[str, _Number]:
    numbers: dict[str, _Number] = {}
    for code, words in _WORDS.items():
        value, only = 0, False
        for word in words.split():
            if word == "only":
                only = True
            elif word.isdecimal():
                value = int(word)
            elif only:
                known = numbers.get(word)
                others = known.only if known and known.only else frozenset()
                numbers[word] = _Number(value, others | {code})
            else:
                numbers.setdefault(word, _Number(value))
    return numbers


_NUMBERS = _numbers()
# Compounds that are one word: German, Dutch, Italian, Spanish.
_PART = re.compile("|".join(sorted([*_NUMBERS, *_REVERSING], key=len, reverse=True)))
_COMPOUND = re.compile(rf"(?>{_PART.pattern})++")


def values(text: str, language: str | None) -> set[int]:
    """The values from two on of the numbers that are written in words.

    `language` is that of the text, if it is known: "once" is eleven in Spanish alone. A number is
    read as a whole: "two hundred" is 200, and neither 2 nor 100. "năm" is read with tens or
    hundreds behind it alone, as it is a year otherwise.
    """
    return {found.value for found in _read(_plain(text), language)}


def in_digits(text: str, language: str | None) -> str:
    """A text in small letters, whose numbers in words are written in digits: the same `values`."""
    text = _plain(text)
    parts, done = [], 0
    for value, start, end in _read(text, language):
        # Two values may stand in one word.
        if start >= done:
            parts += [text[done:start], str(value)]
            done = end
    return "".join([*parts, text[done:]])


def _plain(text: str) -> str:
    return _NO_FIGURES.sub(".", normalize("NFKC", text).lower())


def _read(text: str, language: str | None) -> Iterator[_Found]:
    return (found for found in _read_all(text, language) if found.value > 1)


def _read_all(text: str, language: str | None) -> Iterator[_Found]:
    tokens = list(_TOKEN.finditer(text))
    total = current = start = end = 0
    is_reversed = is_joined = False
    for place, match in enumerate(tokens):
        token = match[0]
        following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
        parts = _parts_of(token, following, language)
        if not parts:
            # A joining word may stand inside of a number: two hundred and five.
            if token in _JOINING and current and not is_joined:
                is_joined = True
                continue
            yield _Found(total + current, start, end)
            total = current = 0
        for part in parts:
            start = start if total + current else match.start()
            end_before, end = end, match.end()
            if part is None:
                is_reversed = True
                continue
            # Fünfzehn, vijftien.
            is_reversed = is_reversed or (part == 10 and len(parts) > 1)
            if part == 10 and token == _VIETNAMESE_TENS:
                current = (current or 1) * 10
            elif part in (100, 1000) or part >= 1_000_000:
                if part == 100 and current < 100:
                    current = (current or 1) * 100
                else:
                    total, current = total + (current or 1) * part, 0
            elif part == 20 and current % 100 == 4 and token.startswith("vingt"):
                current += 76
            elif _fits(current, part, is_reversed=is_reversed):
                current += part
            else:
                yield _Found(total + current, start, end_before)
                total, current, start = 0, part, match.start()
            is_reversed = False
        is_joined = False
    yield _Found(total + current, start, end)


def _fits(current: int, part: int, *, is_reversed: bool) -> bool:
    """Whether a number goes on with a part: a hundred with three, sixty with ten in French."""
    if is_reversed and 0 < current % 100 < 10 and part in range(10, 100, 10):
        return True
    if part < 10:
        return current % 10 == 0
    return current % 100 == 0 or (part < 20 and current % 100 in (60, 80))


def _parts_of(token: str, following: str, language: str | None) -> list[int | None]:
    """The values of a word's parts, None for what reverses two of them; empty for no number."""
    if token == _VIETNAMESE_TENS:
        return [10]
    if token == _VIETNAMESE_HUNDRED:
        return [100]
    if token == "năm" and following in (_VIETNAMESE_TENS, _VIETNAMESE_HUNDRED, "nghìn", "triệu"):
        return [5]
    if token in _NUMBERS:
        number = _NUMBERS[token]
        return [number.value] if not number.only or language in number.only else []
    if token.startswith("و") and token[1:] in _NUMBERS:
        return [None, _NUMBERS[token[1:]].value]
    if not _COMPOUND.fullmatch(token):
        return []
    parts = _PART.findall(token)
    if parts[-1] in _REVERSING or parts[0] in _REVERSING:
        return []
    return [None if part in _REVERSING else _NUMBERS[part].value for part in parts]
