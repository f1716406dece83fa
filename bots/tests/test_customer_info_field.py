"""Update Customer Info Field, Get Customer Info Field, and the check of customers' answers."""

from typing import Any

import pytest

from bots.models import Bot
from bots.services import customer_info_fields
from bots.testing import make_bot
from chatplatform.api.errors import Invalid

CITY: dict[str, Any] = {
    "name": "city", "label": {"en": "City"}, "type": "select", "required": True,
    "options": [{"label": "Hanoi", "value": "hn"}, {"label": "Hue", "value": "hue"}],
    "ask_before_chat": True, "ask_before_person": False, "question": {"en": "Where do you live?"},
}  # fmt: skip
ORDER = {"name": "order_number", "label": {"en": "Order", "vi": "Đơn hàng"}, "type": "text"}
WHOLE_ORDER = {
    **ORDER, "required": False, "options": [], "ask_before_chat": False,
    "ask_before_person": False, "question": {},
}  # fmt: skip


def path(bot):
    return f"/ai/{bot.pk}/customer-info-field"


def test_write_and_read(ann, bot):
    assert ann.get(path(bot)).json() == {"fields": []}
    reply = ann.put(path(bot), {"fields": [CITY, ORDER]})
    assert reply.status_code == 200
    assert reply.json() == {"fields": [CITY, WHOLE_ORDER]}
    assert ann.get(path(bot)).json() == reply.json()
    assert ann.put(path(bot), {"fields": []}).json() == {"fields": []}


@pytest.mark.parametrize(
    "wrong",
    [
        [ORDER, ORDER],
        [{**ORDER, "name": "Order"}],
        [{**ORDER, "name": "order number"}],
        [{**ORDER, "name": ""}],
        [{**ORDER, "label": {}}],
        [{**ORDER, "label": {"en": " "}}],
        [{**ORDER, "label": {"de": "Auftrag"}}],
        [{**ORDER, "type": "file"}],
        [{**ORDER, "options": CITY["options"]}],
        [{**CITY, "options": []}],
        [{**CITY, "options": [*CITY["options"], CITY["options"][0]]}],
        [{**CITY, "options": [{"label": "", "value": "x"}]}],
        [{**ORDER, "name": f"f{n}"} for n in range(31)],
        [{**ORDER, "more": 1}],
        None,
    ],
)
def test_a_wrong_list_changes_nothing(ann, wrong):
    bot = make_bot(ann.client, languages=["en", "vi"], customer_info_fields=[WHOLE_ORDER])
    assert ann.put(path(bot), {"fields": wrong}).status_code == 422
    assert Bot.objects.get().customer_info_fields == [WHOLE_ORDER]


def field(kind, **more):
    return {"name": "it", "label": {"en": "It"}, "type": kind, **more}


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("text", ["x", "é" * 500], ["x" * 501, 1, ["x"]]),
        ("email", ["a@b.example"], ["a", "a@b", "a b@c.example", 1]),
        (
            "phone",
            [
                "+84 90 123 4567",
                "0901234567",
                "020/1234567",
                "090 123 45 67",
                "(030) 12 34 56",
                "+1 212 555 0123 ext. 12",
                "٠٢٠١٢٣٤٥٦٧",
                "０９０１２３４５６７",
            ],
            ["call me", "12", "+" * 20, "0" * 30, "020-1234567 or so", 491701234567],
        ),
        ("number", [1, 0, -2.5], ["1", True, float("inf"), float("nan")]),
        ("date", ["2026-11-21"], ["20261121", "2026-02-30", "tomorrow", 20261121]),
        ("select", ["hn"], ["Hanoi", "x", 1]),
    ],
)
def test_answers_are_checked_by_type(kind, good, bad):
    fields = [field(kind, options=CITY["options"] if kind == "select" else [])]
    for value in [*good, None, ""]:
        customer_info_fields.check(fields, {"it": value})
    for value in bad:
        with pytest.raises(Invalid) as caught:
            customer_info_fields.check(fields, {"it": value})
        assert [item["loc"] for item in caught.value.errors] == [
            ["body", "customer", "attributes", "it"]
        ]


def test_required_answers():
    fields = [field("text", required=True, ask_before_chat=True), ORDER]
    customer_info_fields.check(fields, {})
    customer_info_fields.check(fields, {"it": "x", "their_own": [1]}, known={})
    customer_info_fields.check(fields, {}, known={"it": "x"})
    for attributes, known in (({"it": None}, None), ({"it": ""}, {"it": "x"}), ({}, {})):
        with pytest.raises(Invalid) as caught:
            customer_info_fields.check(fields, attributes, at=("body", "attributes"), known=known)
        (error,) = caught.value.errors
        assert (error["loc"], error["type"]) == (["body", "attributes", "it"], "missing")
    # A field asked for during the chat is not required before it.
    later = [field("text", required=True, ask_before_chat=False)]
    customer_info_fields.check(later, {}, known={})
