"""Formats numbers as a spreadsheet shows them, by their number format (ECMA-376, 18.8.31)."""

import decimal
import operator
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

# The formats to which a file refers by number only; dates get the ISO form.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "0", 4: "0.00", 5: "0", 6: "0", 7: "0.00", 8: "0.00", 9: "0%",
    10: "0.00%", 37: "0", 38: "0", 39: "0.00", 40: "0.00", 45: "mm:ss", 46: "[h]:mm:ss",
    **dict.fromkeys((14, 15, 16, 17), "yyyy-mm-dd"),
    **dict.fromkeys((18, 19, 20, 21), "hh:mm"),
    22: "yyyy-mm-dd hh:mm",
}  # fmt: skip
# The longest format that spreadsheet programs allow.
MAX_CHARACTERS = 255
# Enough digits for any value in a format of that length.
_EXACT = decimal.Context(prec=1_000)
# A format that hides every value.
HIDDEN = ";;;"
# The parts of a format: text, a currency, a condition or color, blanks, and placeholders for
# digits.
_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.'
    r"|(?P<general>general|@)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)"
    r"|(?P<text>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*')
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_ELAPSED_PART = re.compile(r'"([^"]*)"|\\(.)|\[?(h+|m+|s+)\]?', re.IGNORECASE)
_DATE_LETTERS, _TIME_LETTERS = frozenset("yd"), frozenset("hs")
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001
# The number of the last possible date, 9999-12-31.
_LAST_DAY = 2_958_465


def format_number(value: str, code: str, epoch: datetime) -> str:
    """The text that a cell with this format shows for a number; dates and times in ISO form."""
    number = float(value)
    if not abs(number) < 1e15:
        return value
    section, number = _section(code, number)
    if not section:
        return "" if code else _plain(number)
    if _ELAPSED.search(section) and number >= 0:
        return _elapsed(number, section)
    letters = frozenset(match["text"].lower() for match in _PART.finditer(section) if match["text"])
    if letters & (_DATE_LETTERS | _TIME_LETTERS):
        return _moment(number, letters, epoch)
    if "/" in letters or "e" in letters:
        return _plain(number)
    return " ".join(_formatted(number, section).split())


def _moment(number: float, letters: frozenset[str], epoch: datetime) -> str:
    if not 0 <= number <= _LAST_DAY - (epoch - EPOCH).days:
        return _plain(number)
    moment = epoch + timedelta(minutes=round(number * 1_440))
    date = f"{moment:%Y-%m-%d}" if letters & _DATE_LETTERS else ""
    return f"{date} {moment:%H:%M}".strip() if letters & _TIME_LETTERS else date


def _section(code: str, number: float) -> tuple[str, float]:
    """The section of a format that applies to this number, and the number that it shows."""
    sections = _split(code)
    if any(map(_CONDITION.search, sections)):
        for section in sections:
            condition = _CONDITION.search(section)
            if not condition or _COMPARISONS[condition[1]](number, float(condition[2])):
                return section, number
    if len(sections) > 2 and number == 0:
        return sections[2], number
    if len(sections) > 1 and number < 0:
        return sections[1], -number
    return (sections[0] if sections else ""), number


def _split(code: str) -> list[str]:
    sections, position = [], 0
    while position <= len(code):
        match = _SECTION.match(code, position)
        assert match is not None
        sections.append(match[0])
        position = match.end() + 1
    return sections


def _elapsed(days: float, section: str) -> str:
    """A duration, such as 36:00."""
    seconds = round(days * 86_400)
    largest = section[_ELAPSED.search(section).start() + 1].lower()  # type: ignore[union-attr]
    units = {"h": seconds // 3_600, "m": seconds // 60, "s": seconds}
    if largest == "h":
        units["m"] %= 60
    if largest != "s":
        units["s"] %= 60

    def part(match: re.Match[str]) -> str:
        letters = match[3]
        return f"{units[letters[0].lower()]:0{len(letters)}d}" if letters else match[1] or match[2]

    return " ".join(_ELAPSED_PART.sub(part, section).split())


def _formatted(number: float, section: str) -> str:
    parts = list(_PART.finditer(section))
    kinds = [match.lastgroup for match in parts]
    value = Decimal(_plain(abs(number)))
    value *= Decimal(100) ** kinds.count("percent")
    digits = [at for at, kind in enumerate(kinds) if kind == "digit"]
    point = kinds.index("point") if "point" in kinds else len(parts)
    whole_at = [at for at in digits if at < point]
    # Each comma after the last digit of the integer part divides by 1,000.
    last = max(whole_at, default=0)
    scale = kinds[last:].count("comma")
    value /= Decimal(1_000) ** scale
    decimal_places = [parts[at][0] for at in digits if at > point]
    if "general" not in kinds:
        value = value.quantize(Decimal(1).scaleb(-len(decimal_places)), ROUND_HALF_UP, _EXACT)
    whole, _, decimals = f"{value:f}".partition(".")
    min_decimals = max(
        (n + 1 for n, placeholder in enumerate(decimal_places) if placeholder == "0"), default=0
    )
    decimals = decimals.rstrip("0").ljust(min_decimals, "0")
    if not value and not any(parts[at][0] == "0" for at in whole_at):
        whole = ""
    whole = whole.zfill(sum(parts[at][0] == "0" for at in whole_at))
    placed: dict[int, str] = {}
    for at in reversed(whole_at):
        placed[at] = whole if at == whole_at[0] else whole[-1:]
        whole = whole[:-1]
    text = "".join(
        _as_text(match, placed.get(at, ""), decimals, number) for at, match in enumerate(parts)
    )
    return f"-{text}" if number < 0 and value else text


def _as_text(match: re.Match[str], digits: str, decimals: str, number: float) -> str:
    kind = match.lastgroup
    if kind == "general":
        return _plain(abs(number))
    if kind == "point":
        return f".{decimals}" if decimals else ""
    if kind == "digit":
        return digits
    return (match[kind] or "") if kind not in {None, "comma"} else ""


def _plain(number: float) -> str:
    """Write a number without binary noise: 19.99 is stored as 19.989999999999998."""
    number = round(number, 10)
    return str(int(number)) if number.is_integer() else f"{number:.10f}".rstrip("0")
