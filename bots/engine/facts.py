"""The facts of a text: its links, addresses, telephone numbers, figures and what they count."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from itertools import combinations, combinations_with_replacement

from bots.knowledge import language, number_words
from bots.knowledge.words import normalize

Fact = tuple[str, str]
# They turn round what follows: a reader sees 49 where 94 stands.
_OVERRIDE = re.compile("[\u202d\u202e]")
# What no reader sees inside of a figure or a link: zero-width and direction marks, and what makes
# a digit a picture.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff\u20e3]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)*+")
# Endings that make a link in whatever case they are written, and also behind a spoken dot.
_ENDINGS = "com|net|org|info|biz|shop|app|dev|io|ai|co|vn|de|es|fr|uk|ru|cn"
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,15}://[^\s<>\"]+"
    r"|\b(?:javascript|vbscript|data|mailto|tel):[^\s<>\"]+"
    r"|\bwww\.[^\s<>\"]+"
    # The target of a link in Markdown or HTML, whatever it is.
    r"|(?:(?<=\]\()|(?<=href=[\"'])|(?<=src=[\"']))[^\s<>\"')]+"
    r"|(?<![\w-])(?P<host>(?:[\w-]++\.){1,10}(?:xn--[\w-]++|[^\W\d_]{2,}+))(?![^\W_])"
    r"(?P<rest>(?::\d+)?(?:[/?#][^\s<>\"]*)?)",
    re.IGNORECASE,
)
_ABBREVIATIONS = frozenset({"m.in", "p.ej", "p.es", "p.ex", "tp.hcm", "тыс.руб", "млн.руб"})
# All spaces before a sign, looked at from the first of them alone.
_SPACE = r"(?:(?<!\s)\s++)?"
# How an address is written so that no program sees it.
_SPELLED = (
    (re.compile(rf"{_SPACE}[\[({{]\s*+([.@])\s*+[\])}}]\s*+"), r"\1"),
    (
        re.compile(rf"(?<=\w)(?:\s+\.\s*|\s*。\s*)(?=(?:{_ENDINGS})\b)", re.IGNORECASE | re.ASCII),
        ".",
    ),
    (re.compile(rf"{_SPACE}[\[({{]\s*+(?:at|ät)\s*+[\])}}]\s*+", re.IGNORECASE), "@"),
    (
        re.compile(
            rf"{_SPACE}[\[({{]\s*+(?:dot|punkt|punto|point|ponto|chấm|точка)\s*+[\])}}]\s*+",
            re.IGNORECASE,
        ),
        ".",
    ),
    (
        re.compile(
            r"(?<![\w.-])(?!(?:the|an?|each|every|this|that|per)\s)([\w.-]*\w)\s+dot\s+(?=[^\W\d_]{2})",
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
# No figure has more digits: the rest of a longer one is not looked at.
_LONG_FIGURE = re.compile(r"(\d(?:[.,:]?\d){29})(?:[.,:]?\d)++")
# A telephone number is one figure, in whatever groups it is written.
_PHONE = re.compile(
    r"(?<![\w.,:])(?:\+|\(?0|\(?\d{2,4}\)?[ -]\d{2,4}[ -](?=\d{2,4}(?!\d)))"
    r"(?:(?:[ /-]|\)[ /-]?| ?\()?\d){1,30}(?![\d:%]|[.,]\d)"
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MIN_PHONE_DIGITS = 7
_HANDLE = re.compile(r"(?<!\w)@\w[\w.]*\w")
# What a figure counts: money and shares, by their names in the languages that are checked.
_UNITS = {
    "%": r"%|٪|per ?cent\w*|pro[cz]ent\w*|pour cent|por cien(?:to)?|por cento|phần trăm|процент\w*",
    "€": r"€|euros?|eur|евро|يورو",
    "$": r"\$|dollars?|usd|dólar(?:es)?|dollari|доллар\w*|دولار|đô la",
    "£": r"£|pounds?|gbp|pfund|libras?|sterline|фунт\w*|bảng anh",
    "đ": r"₫|(?<=\d)\s?đ|đồng|vnđ|vnd|dong",
    "¥": r"¥|yen|yuan|jpy|cny|rmb|円|元",
    "₽": r"₽|руб(?:л\w*)?|rub|rubles?",
    "kr": r"kr|kroner|kronor|nok|sek|dkk",
    "fr": r"chf|franken|francs?|franchi",
    "zł": r"zł|złot\w*|pln",
    "₹": r"₹|rupees?|inr",
}
_UNIT = {
    unit: re.compile(rf"(?<![^\W\d_])(?:{names})(?![^\W\d_])", re.IGNORECASE)
    for unit, names in _UNITS.items()
}
# A number before such a word is written out: "20 triệu" is 20000000.
_TIMES = {
    1_000: "k|nghìn|ngàn|thousand|tausend|tsd|mil|тыс|тысяч[аи]?",
    1_000_000: r"triệu|tr|millions?|mio|millionen|millones|milh(?:ão|ões)|milion[ei]|miljoen|млн"
    r"|миллион\w*",
    1_000_000_000: r"tỷ|tỉ|billion|milliarden?|mrd|milliards?|miliard[oi]|miljard|млрд|миллиард\w*",
}
_MULTIPLIED = {
    times: re.compile(rf"(?<![\d.,:])(\d{{1,4}}(?:[.,]\d{{1,2}})?)\s?(?:{words})\b", re.IGNORECASE)
    for times, words in _TIMES.items()
}
# What a figure counts, of time. "30 tháng 6" is a day of a month.
_SPANS = {
    "second": r"seconds?|secs?|sekunden?|secondes?|segundos?|second[oi]|giây|секунд\w*",
    "minute": r"minutes?|mins?|minuten?|minutos?|minut[oi]|phút|минут\w*|мин|دقيقة|دقائق",
    "hour": r"hours?|hrs?|h|[ap]\.?m|uhr|stunden?|std|heures?|horas?|or[ae]|uur|giờ|tiếng|час\w*"
    r"|ساع\w+",
    "day": r"(?:work|week)?days?|(?:werk|arbeits|kalender|bank)?tage?n?|jours?|días?|dias?"
    r"|giorn[oi]|(?:werk)?dag(?:en)?|ngày|дн\w+|день|сут\w+|يوم\w*"
    r"|أيام",
    "week": r"weeks?|wochen?|semaines?|semanas?|settiman[ae]|we(?:ek|ken)|tuần|недел\w*|أسبوع\w*"
    r"|أسابيع",
    "month": r"months?|monate?n?|mois|mes(?:es)?|mes[ei]|maand(?:en)?|tháng(?!\s*\d)|месяц\w*"
    r"|شهر\w*|أشهر",
    # "an" is a French year behind one alone: 10 Minuten an Werktagen.
    "year": r"years?|jahre?n?|ans|(?<=\b1 )an|(?<=\bun )an|années?|años?|anos?|ann[oi]|jaar|jaren"
    r"|năm(?!\s*\d)|лет|год\w*|سنة|سنوات",
}
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?![\d:])")
# 9h30, 9 giờ 30.
_SPELLED_CLOCK = re.compile(
    r"(?<![\d:.,])(\d{1,2})\s?(?:giờ|uhr|h)\s?(\d{2})(?!\d|[:.,]\d|\s?%)", re.IGNORECASE
)
# One word may stand between: 3 working days, but not 3 a day.
_BETWEEN = (
    r"(?!(?:the|an?|per|of|each|every|pro|par|por|al?|le|la|je|am|der|die|mỗi|một|в)\b)[^\W\d_]+"
)
_COUNTED = {
    unit: re.compile(
        rf"(?<![\d:.,])(\d+(?:[.,]\d+)*)(?:[\s-](?:{_BETWEEN}[\s-])?)?(?:{names})\b", re.IGNORECASE
    )
    for unit, names in _SPANS.items()
}
_ONE = {
    unit: re.compile(
        rf"\b(?:an?|one|eine?[mnr]?|une?|una|uno|um|uma|één|een|một)\s(?:{names})\b", re.I
    )
    for unit, names in _SPANS.items()
}
_HALF_DAY = re.compile(
    r"(?<![\d:.,])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap]\.?m\b\.?)"
    # German: bis 12 am Samstag.
    r"(?!\s(?:Mo|Di|Mi|Do|Fr|Sa|So|Vor|Nach|Abend|Morgen|Wochenende|\d))"
    r"|(?<![\d:.,])(?P<hour_vi>\d{1,2})(?:\s?giờ|h|:)\s?(?P<minute_vi>\d\d)?\s?(?P<half_vi>sáng|chiều|tối)\b",
    re.IGNORECASE,
)
# What stands before the figure of a rule: until 14 days, up to 16 people.
_LIMIT_WORDS = (
    "until|till|to|within|least|most|from|before|after|by|than|over|under|only|bis|ab|innerhalb"
    "|binnen|mindestens|höchstens|maximal|vor|nach|über|unter|nur|jusqu'à|jusqu’à|à|dès|sous|moins"
    "|plus|avant|après|hasta|desde|menos|más|antes|después|até|fino|entro|đến|trong|trước|sau|đa"
    "|thiểu|từ|trên|dưới|до|с|от|после|более|менее"
)
# And what stands behind it: 25 people at most.
_LIMITS_BEHIND = (
    "at (?:the )?(?:most|least)|maximum|höchstens|maximal|or (?:less|fewer|more)"
    "|au (?:maximum|plus|moins)|como (?:máximo|mínimo)|tối (?:đa|thiểu)"
)
_FIGURE_OF_A_RULE = re.compile(
    rf"(?<![^\W\d_])(?:{_LIMIT_WORDS})(?:\s(?:the|de|den|dem|le|la|les|el|los|o))?"
    rf"\s({_FIGURE.pattern})"
    rf"|({_FIGURE.pattern})\s?(?:{'|'.join(_UNITS.values())})(?![^\W\d_])"
    rf"|({_FIGURE.pattern})(?:\s[^\W\d_]+)?\s(?:{_LIMITS_BEHIND})(?![^\W\d_])"
    rf"|\b(?:limit|maximum|minimum)\s(?:is|of)\s({_FIGURE.pattern})"
    rf"|[€$£¥₽₹]\s?({_FIGURE.pattern})",
    re.IGNORECASE,
)
# More is no count of nights, people or things that a customer asks about.
_MOST_COUNTED = 60
_MOST_COMBINED = 12
_LIST_NUMBER = re.compile(r"^[^\S\n]*+\d{1,2}[.)](?:\s|\Z)", re.MULTILINE)


def facts_of(text: str) -> set[Fact]:
    """The links, addresses, telephone numbers, figures and units of a text, comparable."""
    marks = {("mark", mark) for mark in _OVERRIDE.findall(text)}
    text = _written_out(_UNSEEN.sub("", text))
    units = {("unit", unit) for unit, names in _UNIT.items() if names.search(text)}
    for spelled, plain in _SPELLED:
        text = spelled.sub(plain, text)
    emails = {("email", email.lower()) for email in _EMAIL.findall(text)}
    found, text = _split_links(_EMAIL.sub(" ", text))
    links = {("link", _link(link)) for link in found}
    handles = {("handle", handle.lower()) for handle in _HANDLE.findall(text)}
    found, text = _split_phones(text)
    phones = {("phone", " ".join(re.findall(r"\d+", phone))) for phone in found}
    text = _LIST_NUMBER.sub(" ", text)
    figures = {("figure", figure_of(figure)) for figure in _FIGURE.findall(_GROUPING.sub("", text))}
    return marks | units | emails | links | handles | phones | figures


def count(text: str) -> int:
    """How many facts a text tells; what a figure counts is none beside it."""
    return sum(kind != "unit" for kind, _ in facts_of(text))


def figures_of_rules(text: str) -> set[str]:
    """The figures of a text that are a price, a share or a limit."""
    found = _FIGURE_OF_A_RULE.findall(_GROUPING.sub("", _written_out(text)))
    return {figure_of(figure) for groups in found for figure in groups if figure}


def computed(named: set[Fact], counts: set[Fact]) -> set[Fact]:
    """The figures that follow from named ones: each times one or two of the counts, the sums of two
    of these, and each with a share of it added or taken off.

    A count is a whole number up to 60, such as nights and people. Of more than twelve named figures
    or counts nothing follows: any figure would.
    """
    values = [Decimal(one) for kind, one in named if kind == "figure" and one.count(".") < 2]
    wholes = [one for kind, one in counts if kind == "figure" and one.isdecimal()]
    ones = [Decimal(one) for one in wholes if int(one) <= _MOST_COUNTED]
    if max(len(values), len(ones)) > _MOST_COMBINED:
        return set()
    pairs = combinations_with_replacement(ones, 2)  # two rooms for two nights
    times = {Decimal(1), *ones, *(one * other for one, other in pairs)}
    found = {value * count for value in values for count in times}
    found |= {one + other for one, other in combinations(found, 2)}
    if ("unit", "%") in named:
        kept = {1 + sign * share / 100 for share in values for sign in (-1, 1)}
        found |= {value * part * count for value in values for part in kept for count in times}
    return {("figure", figure_of(f"{value:f}")) for value in found}


def spans_of(text: str) -> set[Fact]:
    """The figures of a text that count seconds to years, each with what it counts."""
    spans, text = set[Fact](), _written_out(text)
    for hour, minute in _CLOCK.findall(text):
        spans |= {(figure_of(hour), "hour"), (figure_of(minute), "minute")}
    for unit, counted in _COUNTED.items():
        spans |= {(figure_of(figure), unit) for figure in counted.findall(text)}
    return spans


def spelled_ones(text: str) -> set[Fact]:
    """The spans of time of which a text has one, in words: "an hour" is 1 hour."""
    return {("1", unit) for unit, counted in _ONE.items() if counted.search(text)}


def uncounted_figures(text: str) -> set[str]:
    """The figures of a text that stand there at least once without a span of time."""
    text = _written_out(text)
    for counted in (_CLOCK, *_COUNTED.values()):
        text = counted.sub(" ", text)
    return set(map(figure_of, _FIGURE.findall(text)))


def spelled_figures(told: Iterable[str]) -> set[Fact]:
    """The figures that sentences spell in words."""
    # Each sentence is read in its own language: "once" is eleven in Spanish alone.
    return {
        ("figure", str(value))
        for sentence in told
        for value in number_words.values(_written_out(sentence), language.recognise(sentence))
    }


def in_digits(told: Iterable[str]) -> str:
    """Sentences with the figures in digits that they spell in words, for `spans_of`."""
    return "".join(
        number_words.in_digits(_written_out(sentence), language.recognise(sentence))
        for sentence in told
    )


def _written_out(text: str) -> str:
    """A text whose numbers have their zeros as digits."""
    text = _LONG_FIGURE.sub(r"\1", normalize("NFKC", text))
    text = _HALF_DAY.sub(_of_whole_day, text)
    text = _SPELLED_CLOCK.sub(r"\1:\2", text)
    for times, words in _MULTIPLIED.items():
        # The parts between the matches: text and number in turn.
        parts = words.split(text)
        parts[1::2] = (f"{float(each.replace(',', '.')) * times:.0f}" for each in parts[1::2])
        text = "".join(parts)
    return text


def _of_whole_day(match: re.Match[str]) -> str:
    """7 pm is 19:00."""
    hour, minute, half = (match[name] or match[f"{name}_vi"] for name in ("hour", "minute", "half"))
    hour, minute = int(hour), minute or "00"
    if hour > 12:
        return match[0]
    return f"{hour % 12 + (0 if half[0].lower() in 'as' else 12)}:{minute}"


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


def _split_phones(text: str) -> tuple[list[str], str]:
    """The telephone numbers of a text, and the text without them."""
    phones: list[str] = []

    def taken(match: re.Match[str]) -> str:
        digits = sum(map(str.isdecimal, match[0]))
        if digits < _MIN_PHONE_DIGITS or _DATE.fullmatch(match[0]):
            return match[0]
        phones.append(match[0])
        return " "

    return phones, _PHONE.sub(taken, text)


def without_links(text: str) -> str:
    """The text without its links and e-mail addresses."""
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


def parts_of(link: str) -> set[str]:
    """What a text may write for a link of its source: the host, the file, and all but a scheme."""
    bare = re.sub(r"^(?:[a-z][a-z0-9+.-]*://|mailto:)", "", link).removeprefix("www.")
    bare = bare.rpartition("@")[2] if "/" not in bare else bare
    return {bare, f"www.{bare}", *re.split(r"[/?#]", bare)}


def _link(link: str) -> str:
    # Paths are case-sensitive, but a link that differs in case only is not invented.
    return link.rstrip(_LINK_END).rstrip("/").lstrip("_-").lower()


def figure_of(figure: str) -> str:
    """One form for equal numbers, such as 5,50 and 5.5, and for the digits of all scripts."""
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "." for c in figure)
    whole, dot, rest = plain.partition(".")
    rest = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{dot if rest else ''}{rest}"
