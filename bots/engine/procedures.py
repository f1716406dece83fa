"""Parses the text of a procedure into steps, and decides the conditions that need no model.

A step is a line that begins with what to do:

    ask order_number: What's your order number?
    call find_order
    if {find_order.age_days} > 30:
        say: We take orders back within 30 days.
        end
    else:
        confirm: Refund order {order_number}?
    call refund
    say: Done.

The lines below an `if` or `else` belong to it if they are indented. Rules decide a condition that
compares a value or tests whether a call failed; a model decides any other condition.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Literal

from django.utils.translation import gettext

MAX_STEPS = 40
# The maximum number of choices, and of characters in a choice, as for customer-info fields.
MAX_CHOICES, MAX_CHOICE = 50, 100
# The maximum number of characters of a value that is filled into a text.
_MAX_VALUE_CHARS = 500
_NAME = r"[A-Za-z][A-Za-z0-9_]{0,39}"
_PLACE = re.compile(r"\{(" + _NAME + r"(?:-[A-Za-z0-9_-]+)?(?:\.[A-Za-z0-9_-]{1,40}){0,6})\}")
_LINE = re.compile(r"(?P<what>[a-z]+(?: over)?)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ASK = re.compile(rf"\s+({_NAME})\s*(?:\(([^()]*)\))?\s*:\s*(.+)", re.DOTALL)
_CALL = re.compile(r"\s+([A-Za-z0-9_-]{1,64})(?:\s+with\s+(.+))?", re.DOTALL)
_WITH = re.compile(rf"\s*({_NAME})\s*=\s*([^,]+?)\s*(?:,|$)")
_FAILED = re.compile(r"([A-Za-z0-9_-]{1,64})\s+failed", re.IGNORECASE)
_AGE = re.compile(r"\{([^{}]+)\}\s+is\s+older\s+than\s+(\d{1,4})\s+days?", re.IGNORECASE)
_COMPARISON = re.compile(r"\{([^{}]+)\}\s*(<=|>=|!=|=|<|>|is not\b|is\b)\s*(.+)", re.IGNORECASE)
_TYPES = frozenset({"text", "email", "phone", "number", "date"})
_OPERATORS = {"is": "=", "is not": "!="}

Kind = Literal["ask", "call", "if", "go", "confirm", "say", "hand over", "end"]


class WrongProcedure(ValueError):
    """The text is not a valid procedure; the message names the line and what is wrong."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(gettext("Line %(line)s: %(words)s") % {"line": line, "words": text})


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `go_to` is the index of the step that follows a `go` or a false `if`.

    It equals the number of steps if the procedure ends there.
    """

    kind: Kind
    line: int
    # What to ask, say or confirm; or the condition.
    text: str = ""
    # The name of the value to ask for, or of the function to call.
    name: str = ""
    type: str = "text"
    options: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    go_to: int = 0

    @property
    def as_field(self) -> dict[str, Any]:
        """The value to ask for, as a customer-info field that `slot_filling` can read."""
        label = self.name.replace("_", " ")
        options = [{"label": option, "value": option} for option in self.options]
        return {"name": self.name, "type": self.type, "label": {"en": label}, "options": options}


@dataclass(slots=True)
class _Line:
    number: int
    indent: int
    text: str


@lru_cache(maxsize=500)
def parse(text: str) -> tuple[Step, ...]:
    """The steps of a procedure; raises WrongProcedure."""
    lines = [
        _Line(number, len(line) - len(line.lstrip()), line.strip())
        for number, line in enumerate(text.expandtabs(4).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise WrongProcedure(1, gettext("Write at least one step."))
    if len(lines) > MAX_STEPS:
        message = gettext("A procedure has at most %(count)s steps.")
        raise WrongProcedure(lines[-1].number, message % {"count": MAX_STEPS})
    steps: list[Step] = []
    rest = _block(lines, 0, lines[0].indent, steps)
    if rest < len(lines):
        raise WrongProcedure(lines[rest].number, gettext("Indent it like the steps above it."))
    _check_references(steps)
    return tuple(steps)


def _block(lines: list[_Line], at: int, indent: int, steps: list[Step]) -> int:
    """Add the steps of the consecutive lines indented by `indent`, and of their nested blocks.

    Returns the index of the next line.
    """
    while at < len(lines) and lines[at].indent == indent:
        line = lines[at]
        condition = _rest_of(line.text, "if")
        if condition is None:
            steps.append(_step(line))
            at += 1
            continue
        if_index = len(steps)
        steps.append(Step("if", line.number, text=condition[0]))
        at = _branch(lines, at, condition[1], steps)
        other = _rest_of(lines[at].text, "else") if at < len(lines) else None
        if other is not None and lines[at].indent == indent:
            skip, number = len(steps), lines[at].number
            steps.append(Step("go", number))
            steps[if_index] = replace(steps[if_index], go_to=len(steps))
            at = _branch(lines, at, other[1], steps)
            steps[skip] = Step("go", number, go_to=len(steps))
        else:
            steps[if_index] = replace(steps[if_index], go_to=len(steps))
    return at


def _branch(lines: list[_Line], at: int, inline: str, steps: list[Step]) -> int:
    """Add the steps of an `if` or `else`: one after its colon, or several indented below it.

    Returns the index of the next line.
    """
    line = lines[at]
    if inline:
        steps.append(_step(_Line(line.number, line.indent, inline)))
        return at + 1
    if at + 1 >= len(lines) or lines[at + 1].indent <= line.indent:
        raise WrongProcedure(line.number, gettext("Indent the steps below it."))
    return _block(lines, at + 1, lines[at + 1].indent, steps)


def _rest_of(text: str, word: str) -> tuple[str, str] | None:
    """The condition and the step of a line that begins with `word`, which is `if` or `else`.

    The step is what follows the colon, "" if nothing does. None if the line begins with another
    word or is malformed.
    """
    if not re.match(rf"{word}\b", text, re.IGNORECASE):
        return None
    condition, mark, inline = text[len(word) :].partition(":")
    if not mark or (word == "if" and not condition.strip()) or (word == "else" and condition):
        return None
    return condition.strip(), inline.strip()


def _step(line: _Line) -> Step:
    found = _LINE.fullmatch(line.text)
    what = found["what"].lower() if found else ""
    rest = found["rest"] if found else ""
    match what:
        case "ask":
            return _ask(line, rest)
        case "call":
            return _call(line, rest)
        case "say" | "confirm":
            text = rest.strip().removeprefix(":").strip()
            if not text:
                message = gettext("Write what to %(what)s.")
                raise WrongProcedure(line.number, message % {"what": what})
            return Step("say" if what == "say" else "confirm", line.number, text=text)
        case "hand over" | "end" if not rest.strip(" ."):
            return Step("end" if what == "end" else "hand over", line.number)
    raise WrongProcedure(
        line.number, gettext("Begin with ask, call, confirm, say, if, else, hand over, or end.")
    )


def _ask(line: _Line, rest: str) -> Step:
    found = _ASK.fullmatch(rest)
    if not found:
        message = gettext("Write it like “ask order_number: What's your order?”")
        raise WrongProcedure(line.number, message)
    name, kind, text = found[1], (found[2] or "text").strip(), found[3].strip()
    options: tuple[str, ...] = ()
    if kind.lower().startswith("one of"):
        options = tuple(part.strip() for part in kind[6:].lstrip(": ").split(",") if part.strip())
        kind = "select"
        if not 2 <= len({option.casefold() for option in options}) == len(options) <= MAX_CHOICES:
            message = gettext("List 2 to %(count)s different choices.")
            raise WrongProcedure(line.number, message % {"count": MAX_CHOICES})
        if any(len(option) > MAX_CHOICE for option in options):
            message = gettext("A choice has at most %(count)s characters.")
            raise WrongProcedure(line.number, message % {"count": MAX_CHOICE})
    elif kind.lower() not in _TYPES:
        message = gettext("Write text, number, email, phone, date, or “one of: a, b” in brackets.")
        raise WrongProcedure(line.number, message)
    return Step("ask", line.number, text=text, name=name, type=kind.lower(), options=options)


def _call(line: _Line, rest: str) -> Step:
    found = _CALL.fullmatch(rest.rstrip(" ."))
    if not found:
        raise WrongProcedure(line.number, gettext("Write it like “call find_order”."))
    given = found[2] or ""
    arguments = {match[1]: match[2] for match in _WITH.finditer(given)}
    if given and _WITH.sub("", given).strip():
        text = gettext("Write values like “with order_id = {order_number}”.")
        raise WrongProcedure(line.number, text)
    return Step("call", line.number, name=found[1], arguments=arguments)


def _check_references(steps: list[Step]) -> None:
    """Raise WrongProcedure if a step refers to a value or a call that no earlier step provides."""
    known: set[str] = set()
    for step in steps:
        failed = _FAILED.fullmatch(step.text) if step.kind == "if" else None
        if failed and failed[1] not in known:
            message = gettext("No earlier step calls %(name)s.")
            raise WrongProcedure(step.line, message % {"name": failed[1]})
        for text in (step.text, *step.arguments.values()):
            for reference in _PLACE.findall(text):
                root = reference.partition(".")[0]
                if root not in known:
                    message = gettext(
                        "{%(name)s} has no value yet. Ask for it or call it in an earlier step."
                    )
                    raise WrongProcedure(step.line, message % {"name": root})
        if step.kind in {"ask", "call"}:
            known.add(step.name)


def called(steps: tuple[Step, ...]) -> Iterator[Step]:
    """The steps that call functions."""
    return (step for step in steps if step.kind == "call")


def fill(text: str, values: Mapping[str, Any]) -> str:
    """The text with each placeholder replaced by its value, or removed if it has no value."""
    return _PLACE.sub(lambda match: _shown(look_up(match[1], values)), text)


def argument(text: str, values: Mapping[str, Any]) -> Any:
    """The value of an argument: of any type if the argument is a single placeholder, else text."""
    whole = _PLACE.fullmatch(text)
    return look_up(whole[1], values) if whole else fill(text, values).strip("\"'")


def look_up(reference: str, values: Mapping[str, Any]) -> Any:
    """The value of a reference such as `find_order.items.0.name`; None if there is none."""
    root, *path = reference.split(".")
    found: Any = values.get(root)
    for step in path:
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def result_of(text: str) -> Any:
    """A function's result, parsed if it is JSON. Never None, which stands for a failed call."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if found is None else found


def decide(condition: str, values: Mapping[str, Any], *, today: date) -> bool | None:
    """Whether a condition holds; None if rules cannot decide it or the compared value is missing.

    A call counts as failed if it has no value.
    """
    if found := _FAILED.fullmatch(condition):
        return values.get(found[1]) is None
    if found := _AGE.fullmatch(condition):
        day = _day(look_up(found[1], values))
        return None if day is None else (today - day).days > int(found[2])
    if found := _COMPARISON.fullmatch(condition):
        left, right = look_up(found[1], values), fill(found[3], values).strip().strip("\"'")
        operator = _OPERATORS.get(found[2].lower(), found[2])
        return None if left is None else _compare(_shown(left), operator, right)
    return None


def is_failure(condition: str, name: str) -> bool:
    """Whether a condition asks if the call of the function `name` failed."""
    found = _FAILED.fullmatch(condition)
    return found is not None and found[1] == name


def _compare(left: str, operator: str, right: str) -> bool | None:
    pair: tuple[Any, Any] | None = _both(_number, left, right) or _both(_day, left, right)
    if operator in {"=", "!="}:
        is_same = pair[0] == pair[1] if pair else left.casefold() == right.casefold()
        return is_same is (operator == "=")
    if pair is None:
        return None
    first, second = pair
    return bool(
        {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}[
            operator
        ]
    )


def _both(read: Any, left: str, right: str) -> tuple[Any, Any] | None:
    first, second = read(left), read(right)
    return None if first is None or second is None else (first, second)


def _number(text: str) -> Decimal | None:
    if not re.fullmatch(r"-?\d{1,20}(\.\d{1,10})?", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:_MAX_VALUE_CHARS]
