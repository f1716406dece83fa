"""Extracts the values of customer-info fields from a customer's messages, by rules alone.

A value may be part of a sentence ("my mail is bob@example.com"). It is validated like a value from
the API.
"""

import importlib
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Literal, TypeVar

import phonenumbers

from bots.language import language_data, phrasebook
from bots.language.normalization import UNSPACED, normalize
from bots.language.phrasebook import NormalizedText, Phrasebook
from chatplatform.call_once import call_once

# The fields that every customer has, with the type of each.
CONTACT = {"name": "text", "email": "email", "phone": "phone"}
MAX_TEXT = 500
_WHOLE_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+")
T = TypeVar("T")
Field = Mapping[str, Any]
AnswerKind = Literal["given", "wrong", "declined", "other"]

# The maximum length of an invalid answer, in words, and in characters of scripts without spaces. A
# longer text is about something else.
_MAX_ATTEMPT, _MAX_ATTEMPT_UNSPACED = 3, 12
# The maximum length of an answer to a text field, in the same two units.
_MAX_TEXT_WORDS, _MAX_TEXT_UNSPACED = 25, 60
# The maximum number of words of a name or place. Longer texts are answers only if they contain
# digits, as postal addresses do.
_MAX_NAME_WORDS = 8
# The maximum number of words around an email address or phone number that the bot has not asked
# for, if no words introduce it.
_MAX_SURROUNDING_WORDS = 2
# If there are more words around a requested value, the message also says something else.
_MAX_SENTENCE = 8
# The kinds of answers in ascending order; if several messages answer, the highest kind counts.
_PRIORITY: tuple[AnswerKind, ...] = ("other", "wrong", "declined", "given")
# Numbers with fewer digits are rarely telephone numbers.
_MIN_DIGITS = 6
# The country whose rules apply to national telephone numbers if the client's country is unknown.
# German numbers may have almost any length.
_ANY_COUNTRY = "DE"
# The number of characters of a message that are searched for values.
_MAX_READ = 2_000
_QUESTION_MARK = re.compile(r"[?？؟]")
_SENTENCE = re.compile(r"(?<=[.!?。！？؟])\s+|\n+")
_PART = re.compile(r"[,!.;:،，。！]\s*")
# A match begins at the start of a word, and the part before the @ is short, so that a long text
# takes linear time.
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9])(?<![A-Za-z0-9][._%+'-])"
    r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
)
_NUMBER = re.compile(r"[-−]?[0-9]+(?:[., '\u00a0\u202f][0-9]{3})*(?:[.,][0-9]+)?")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})\s?[./-]\s?(\d{1,2})\s?[./-]\s?(\d{4})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[./年-]\s?(\d{1,2})\s?[./月-]\s?(\d{1,2})(?!\d)")
# Languages that write 1,234.5; all others write 1.234,5.
_DECIMAL_POINT_LANGUAGES = frozenset(language_data.by_language("writing", "decimal_point"))
_DATE_SETTINGS = {"REQUIRE_PARTS": ["day", "month", "year"], "STRICT_PARSING": True}
# Thai dates have years of the Buddhist era, which are 543 higher. Years from 2400 on count as years
# of the Buddhist era.
_BUDDHIST_ERA, _BUDDHIST_ERA_START = 543, 2400
# Korean counts as unspaced too, because its spaces are often left out.
_UNSPACED = re.compile(rf"{UNSPACED.pattern}|[\uac00-\ud7af]")


@dataclass(frozen=True)
class SlotAnswer:
    """How a message answers the requested field, and the value if it gives one."""

    kind: AnswerKind
    value: Any = None
    # Whether the message contains nothing else.
    has_nothing_else: bool = True


@dataclass(frozen=True)
class SlotResult:
    """How messages answer the requested field, and all values of fields that they give."""

    kind: AnswerKind
    values: Mapping[str, Any]
    # Whether the messages contain nothing else.
    has_nothing_else: bool


def extract(
    asked: Field | None,
    fields: Sequence[Field],
    texts: Sequence[str],
    *,
    language: str,
    country: str = "",
    is_asked_again: bool = False,
) -> SlotResult:
    """Read the answer to the field `asked`, and values of other fields, from messages of one turn.

    `country` is the client's country, for telephone numbers without a country code.
    `is_asked_again`: the customer has ignored the question once, so almost any words may now answer
    a text field.
    """
    kind: AnswerKind = "other"
    values, has_nothing_else, asks = dict[str, Any](), True, False
    for text in (item[:_MAX_READ] for item in texts):
        reading = (
            read(asked, text, language=language, country=country, is_asked_again=is_asked_again)
            if asked
            else SlotAnswer("other")
        )
        is_given = reading.kind == "given"
        if asked and is_given:
            values.setdefault(asked["name"], reading.value)
        kind = max(kind, reading.kind, key=_PRIORITY.index)
        others = [field for field in fields if field["name"] not in values]
        unasked, is_alone = read_unprompted(others, text, language=language)
        values |= unasked
        is_whole = is_alone or (is_given and reading.has_nothing_else)
        has_nothing_else = has_nothing_else and is_whole
        asks = asks or (reading.kind != "declined" and asks_something(text, language=language))
    if asks and kind != "given":
        kind = "other"
    return SlotResult(kind, values, bool(values) and has_nothing_else and not asks)


def read(
    field: Field, text: str, *, language: str, country: str = "", is_asked_again: bool = False
) -> SlotAnswer:
    """How a message answers the field that the bot has just asked for."""
    book, normalized = _book(language), NormalizedText.of(text)
    asks = asks_something(text, language=language)
    value = _find(field, _in_ascii_digits(text), book, country=country, asks=asks)
    if field["type"] == "text" and value and not is_asked_again:
        value = None if _is_off_topic(field, text, value, book) else value
    if value is not None and problem(field, value, country=country) is None:
        beside = _size(text) - _size(str(value))
        return SlotAnswer(
            "given", value, has_nothing_else=field["type"] == "text" or beside <= _MAX_SENTENCE
        )
    is_one_clause = len(normalized.clauses) == 1 and not _QUESTION_MARK.search(text)
    if (not asks or is_one_clause) and _declines(normalized, language):
        return SlotAnswer("declined")
    if asks:
        return SlotAnswer("other")
    if field["type"] == "text" or book.small_talk(normalized) or not _is_attempt(field, text, book):
        return SlotAnswer("other")
    return SlotAnswer("wrong")


def read_unprompted(
    fields: Sequence[Field], text: str, *, language: str
) -> tuple[dict[str, str], bool]:
    """The email address and phone number that a message clearly gives.

    Also returns whether the message says nothing else. A sentence clearly gives an address or a
    number if it contains only one of them, and either introduces it ("my mail is …") or says hardly
    anything else.
    """
    book, given, has_nothing_else = _book(language), dict[str, str](), True
    for sentence in filter(str.strip, _SENTENCE.split(_in_ascii_digits(text))):
        found = _contact_in(sentence, book)
        field = next((field for field in fields if found and field["type"] == found[0]), None)
        if found is None or field is None or field["name"] in given:
            has_nothing_else = has_nothing_else and book.is_polite(sentence)
        elif problem(field, found[1]) is None:
            given[field["name"]] = found[1]
            has_nothing_else = has_nothing_else and found[2]
    return given, bool(given) and has_nothing_else and not asks_something(text, language=language)


def asks_something(text: str, *, language: str) -> bool:
    """Whether a message contains a question or a request."""
    if _QUESTION_MARK.search(text):
        return True
    normalized = NormalizedText.of(text)
    return any(book.asks_something(normalized) for book in {_book(language), _book("en")})


# --- values ---------------------------------------------------------------------------------------


def _find(field: Field, text: str, book: Phrasebook, *, country: str, asks: bool) -> Any:
    """The value of a field in a text, not validated yet; None if there is none."""
    match field["type"]:
        case "email":
            return _only(_EMAIL.findall(text))
        case "phone":
            return _only(_phones(text, country))
        case "number":
            return _number(text, book.code)
        case "date":
            return _date(_bare(text, field, book), book.code)
        case "select":
            return _option(field, _bare(text, field, book), book)
    return None if asks else _text_answer(field, text, book)


def _text_answer(field: Field, text: str, book: Phrasebook) -> str | None:
    """The answer to a text field; None if the text cannot be one."""
    normalized = NormalizedText.of(text)
    bare = _bare(text, field, book)
    if (
        not bare
        or book.small_talk(normalized)
        or _declines(normalized, book.code)
        or book.is_polite(text)
    ):
        return None
    is_short = len(bare) <= _MAX_TEXT_UNSPACED if _is_unspaced(bare) else (
        len(bare.split()) <= _MAX_TEXT_WORDS
    )  # fmt: skip
    return bare if is_short and any(letter.isalnum() for letter in bare) else None


def _is_off_topic(field: Field, text: str, value: str, book: Phrasebook) -> bool:
    """Whether a possible answer to a text field is about something else, such as a parcel."""
    is_long = len(value.split()) > _MAX_NAME_WORDS and not any(map(str.isdecimal, value))
    if is_long or book.is_sentence(value):
        return True
    before = _strip_pleasantries(_in_ascii_digits(text), field, book).partition(value)[0]
    return not book.introduces(before, [field["name"], *_labels(field, book)])


def _bare(text: str, field: Field, book: Phrasebook) -> str:
    """A text without polite parts, the field's label, and words that introduce or end an answer."""
    text = _strip_pleasantries(text, field, book)
    return book.answer_in(text)[0] or text


def _strip_pleasantries(text: str, field: Field, book: Phrasebook) -> str:
    """A text without polite parts and the field's label."""
    text = text.strip()
    while (cut := _PART.search(text)) and book.is_polite(text[: cut.start()]):
        text = text[cut.end() :]
    while (parts := list(_PART.finditer(text))) and book.is_polite(text[parts[-1].end() :]):
        text = text[: parts[-1].start()]
    for label in _labels(field, book):
        begins = re.match(rf"(?:{re.escape(label.rstrip('?'))})\s*[:=：]?\s+(?=\S)", text, re.I)
        text = text[begins.end() :] if begins else text
    return text


def _labels(field: Field, book: Phrasebook) -> list[str]:
    """The names of a field in a chat: its labels, and the platform's label for a contact field."""
    built_in = [book.labels[field["name"]]] if field["name"] in CONTACT else []
    return [*field["label"].values(), *built_in]


@lru_cache(maxsize=16)  # each message is searched for several fields
def _phones(text: str, country: str = "") -> tuple[str, ...]:
    """The possible telephone numbers in a text, national or international."""
    matcher = phonenumbers.PhoneNumberMatcher(
        text, country or _ANY_COUNTRY, leniency=phonenumbers.Leniency.POSSIBLE
    )
    found = (match.raw_string for match in matcher)
    return tuple(number for number in found if sum(map(str.isdecimal, number)) >= _MIN_DIGITS)


def _number(text: str, language: str) -> float | int | None:
    written = _only(_NUMBER.findall(text))
    if written is None:
        return None
    written = re.sub(r"[ '\u00a0\u202f]", "", written.replace("−", "-"))
    decimal = "." if language in _DECIMAL_POINT_LANGUAGES else ","
    marks = [mark for mark in written if mark in ".,"]
    if len(marks) == 1 and not re.search(r"[.,]\d{3}$", written):
        decimal = marks[0]
    elif len(set(marks)) == 2:
        decimal = marks[-1]
    plain = written.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    try:
        value = float(plain)
    except ValueError:
        return None
    return int(value) if value.is_integer() and len(plain) < 16 else value


def _date(text: str, language: str) -> str | None:
    by_year, by_day = _YEAR_FIRST.search(text), _DAY_FIRST.search(text)
    if by_year:
        return _iso(*map(int, by_year.groups()))
    if by_day:
        first, second, year = map(int, by_day.groups())
        is_unclear = language == "en" and first != second and max(first, second) <= 12
        if second > 12:
            first, second = second, first
        return None if is_unclear else _iso(year, second, first)
    if len(text) > 60:
        return None
    from_digit = re.search(r"[0-9].*", text)
    known = list(dict.fromkeys([language, "en"]))
    for words in filter(None, (text, from_digit and from_digit[0])):
        found = _dateparser().parse(words, languages=known, settings=_DATE_SETTINGS)
        if found:
            return _iso(found.year, found.month, found.day)
    return None


def _iso(year: int, month: int, day: int) -> str | None:
    if year >= _BUDDHIST_ERA_START:
        year -= _BUDDHIST_ERA
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


@call_once
def _dateparser() -> Any:
    # Importing it takes a second and is seldom needed. The package has no types.
    return importlib.import_module("dateparser")


def _option(field: Field, text: str, book: Phrasebook) -> str | None:
    """The only option whose label or value equals the text or occurs in it."""
    answer = f" {phrasebook.plain(text)} "
    by_name = [
        (f" {phrasebook.plain(option[key])} ", option["value"])
        for option in field.get("options") or []
        for key in ("label", "value")
    ]
    exact = {value for name, value in by_name if name == answer}
    inside = {
        value
        for name, value in by_name
        if name.strip() and (name in answer or (_is_unspaced(text) and name.strip() in answer))
    }
    return _only(list(exact or inside))


def _contact_in(sentence: str, book: Phrasebook) -> tuple[str, str, bool] | None:
    """The type and value of the only contact detail in a sentence; None if it is not clear.

    Also returns whether the sentence says nothing else.
    """
    mails, numbers = _EMAIL.findall(sentence), _phones(_EMAIL.sub(" ", sentence))
    phones = [number for number in numbers if number.startswith("+")]
    if len(mails) + len(phones) != 1:
        return None
    kind, value = ("email", mails[0]) if mails else ("phone", phones[0])
    before, _, after = sentence.partition(value)
    # "x" replaces the contact detail, whose punctuation would be read as words.
    _, is_introduced = book.answer_in(f"{_last_part(before)} x")
    beside = _size(before) + _size(after)
    asks = bool(_QUESTION_MARK.search(sentence))
    if not is_introduced and (asks or beside > _MAX_SURROUNDING_WORDS):
        return None
    has_nothing_else = not _size(after) or book.is_polite(after)
    return kind, value, has_nothing_else and (is_introduced or beside <= _MAX_SURROUNDING_WORDS)


# --- words ----------------------------------------------------------------------------------------


def _declines(normalized: NormalizedText, language: str) -> bool:
    return any(book.declines(normalized) for book in {_book(language), _book("en")})


def _is_attempt(field: Field, text: str, book: Phrasebook) -> bool:
    """Whether a text without a valid value looks like an attempt to give one."""
    marks = {"email": r"@", "phone": r"\d{3}", "number": r"\d", "date": r"\d"}
    mark = marks.get(field["type"])
    if mark and re.search(mark, text):
        return True
    is_introduced = book.answer_in(text)[1]
    if field["type"] in {"email", "phone"}:
        is_word = " " not in text.strip() and text.isascii()
        return is_word or (is_introduced and any(letter.isdecimal() for letter in text))
    if _is_unspaced(text):
        return is_introduced or len(text) <= _MAX_ATTEMPT_UNSPACED
    return is_introduced or _size(text) <= _MAX_ATTEMPT


def _size(text: str) -> int:
    """The number of words in a text; in scripts without spaces, about one per four letters."""
    words = phrasebook.plain(text).split()
    return sum(len(word) // 4 + 1 if _is_unspaced(word) else 1 for word in words)


def _last_part(text: str) -> str:
    between = r"[,;،，、]\s*|\s+" if _is_unspaced(text) else r"[,;،]\s*"
    return re.split(between, text.rstrip())[-1]


def _is_unspaced(text: str) -> bool:
    return bool(_UNSPACED.search(text))


def _book(language: str) -> Phrasebook:
    books = phrasebook.all_books()
    return books.get(phrasebook.base_of(language)) or books["en"]


def _only(found: Sequence[T]) -> T | None:
    distinct = list(dict.fromkeys(found))
    return distinct[0] if len(distinct) == 1 else None


def _in_ascii_digits(text: str) -> str:
    """The text in NFKC form, where `．` is `.`, with the digits of all scripts as 0 to 9."""
    text = normalize("NFKC", text)[:_MAX_READ]
    return "".join(
        str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in text
    )


def problem(stored: Mapping[str, Any], value: Any, *, country: str = "") -> str | None:
    """What is wrong with a value, as a sentence; None if it is valid."""
    kind = stored["type"]
    if kind == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number and math.isfinite(value) else "Must be a number."
    if not isinstance(value, str):
        return "Must be text."
    if len(value) > MAX_TEXT:
        return f"Must have at most {MAX_TEXT} characters."
    if kind == "select":
        values = [option["value"] for option in stored.get("options") or []]
        return None if value in values else "Must be one of the options."
    if kind == "date":
        return None if _is_date(value) else "Must be a date such as 2026-11-21."
    if kind == "email":
        return None if _WHOLE_EMAIL.fullmatch(value) else "Must be an email address."
    if kind == "phone":
        return None if _phones(value, country) == (value.strip(),) else "Must be a phone number."
    return None


def _is_date(value: str) -> bool:
    try:
        # `fromisoformat` also accepts 20261121, which is not a valid value here.
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
