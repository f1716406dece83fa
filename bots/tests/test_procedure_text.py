"""The text of a procedure, and the conditions that need no model."""

from datetime import date

import pytest

from bots.engine import procedures

REFUND = """\
ask order_number: What's your order number?
call find_order with order_id = {order_number}
if {find_order.age_days} > 30:
    say: Too late.
    end
else:
    confirm: Refund {order_number}?
call refund
say: Done.
"""


def kinds(text):
    return [step.kind for step in procedures.parse(text)]


def test_lines_become_steps_with_their_jumps():
    steps = procedures.parse(REFUND)
    assert [step.kind for step in steps] == [
        "ask", "call", "if", "say", "end", "go", "confirm", "call", "say",
    ]  # fmt: skip
    assert (steps[2].go_to, steps[5].go_to) == (6, 7)
    assert steps[1].arguments == {"order_id": "{order_number}"}
    assert [step.line for step in steps] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_condition_may_have_its_step_behind_it_and_others_inside():
    assert kinds("if the sun shines: say: Hello.\nend") == ["if", "say", "end"]
    nested = "if a:\n  if b:\n    say: x\n  else: say: y\nhand over"
    assert kinds(nested) == ["if", "if", "say", "go", "say", "hand over"]
    inner = procedures.parse(nested)
    assert (inner[0].go_to, inner[1].go_to, inner[3].go_to) == (5, 4, 5)


def test_what_is_asked_for_has_a_type():
    ask = procedures.parse("Ask size (one of: S, M, L): Which size?")[0]
    assert (ask.type, ask.options) == ("select", ("S", "M", "L"))
    assert procedures.parse("ask mail (email): Your mail?")[0].as_field["type"] == "email"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("dance", 1),
        ("say:", 1),
        ("ask order_number", 1),
        ("ask x (colour): Which?", 1),
        ("ask x (one of: a): Which?", 1),
        ("ask x (one of: a, A): Which?", 1),
        (f"ask x (one of: a, {'b' * 101}): Which?", 1),
        ("say: Hi\nif find failed: end", 2),
        ("say: x\n  say: y", 2),
        ("if it rains:\nsay: y", 1),
        ("say: {unknown}", 1),
        ("say: Hi\nconfirm: {find.x}?\ncall find", 2),
        ("call find with order", 1),
        ("else:\n  end", 1),
        ("end now", 1),
        ("", 1),
        ("say: x\n" * 41, 41),
    ],
)
def test_wrong_texts_name_their_line(text, line):
    with pytest.raises(procedures.WrongProcedure, match=f"Line {line}:"):
        procedures.parse(text)


VALUES = {
    "n": 31, "size": "M", "find": {"age": 30, "on": "2026-10-01", "ok": True, "items": [{"n": "x"}]}
}  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("{n} > 30", True),
        ("{n} <= 30", False),
        ("{find.age} > 30", False),
        ("{find.age} = 30.0", True),
        ("{size} is m", True),
        ("{size} is not M", False),
        ("{find.ok} is yes", True),
        ("{find.on} is older than 30 days", True),
        ("{find.on} is older than 90 days", False),
        ("{find.on} < 2026-10-02", True),
        ("{find.items.0.n} = x", True),
        ("find failed", False),
        ("refund failed", True),
        ("{find.missing} > 3", None),
        ("{size} > 3", None),
        ("the customer is angry", None),
    ],
)
def test_conditions_that_need_no_judgement(condition, holds):
    assert procedures.decide(condition, VALUES, today=date(2026, 11, 29)) is holds


def test_a_call_that_returned_null_has_not_failed():
    values = {"refund": procedures.result_of("null")}
    assert procedures.decide("refund failed", values, today=date(2026, 11, 29)) is False


def test_values_are_filled_in_as_text():
    assert procedures.fill("{n} {find.items.0.n}{find.no} {brace", VALUES) == "31 x {brace"
    assert procedures.argument("{find.items}", VALUES) == [{"n": "x"}]
    assert procedures.argument('"by {n}"', VALUES) == "by 31"
