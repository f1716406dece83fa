"""Summaries that the extractive engine quotes from a chat or a text."""

import pytest

from bots.engine import rule_based_summary
from bots.engine.types import Line


def conversation(*turns: str) -> tuple[Line, ...]:
    """A conversation of lines that start with `c: ` (customer) or `a: ` (assistant)."""
    roles = {"c": "customer", "a": "assistant"}
    return tuple(Line(roles[turn[0]], turn[3:]) for turn in turns)  # type: ignore[arg-type]


def digest_of(lines, **more):
    options = {"language": "en", "tags": (), "sentiment": None} | more
    return rule_based_summary.of_conversation(lines, **options)


def test_labels_in_the_chats_language_and_its_own_words():
    lines = conversation("c: Chào shop", "c: Tôi muốn đổi giày.", "a: Dạ được ạ.")
    result = digest_of(lines, language="vi-VN", tags=("đổi hàng",), sentiment="neutral")
    assert result.language == "vi"
    assert result.summary.splitlines() == [
        "Số tin nhắn: 3", "Yêu cầu đầu tiên: Tôi muốn đổi giày.",
        "Trả lời, mới nhất: Dạ được ạ.",
        "Nhãn: đổi hàng", "Cảm xúc: trung tính",
    ]  # fmt: skip
    assert result.resolution == ""


def test_thanks_behind_a_deed_do_not_reopen_the_chat():
    done = "We have shipped a new pair."
    asked = ("c: Hi", "c: My shoes are torn.", f"a: {done}")
    assert digest_of(conversation(*asked, "c: Thanks!")).resolution == done
    assert digest_of(conversation(*asked, "c: Thanks!", "a: You're welcome!")).resolution == done
    assert digest_of(conversation(*asked, "c: That is not what I asked.")).resolution == ""
    assert digest_of(conversation(*asked[:2], "a: Which pair is it?")).resolution == ""
    wrong = Line("assistant", done, is_answer=False)
    assert digest_of((*conversation(*asked[:2]), wrong)).resolution == ""
    assert digest_of((*conversation(*asked[:2]), wrong, Line("customer", "ok"))).resolution == ""


@pytest.mark.parametrize(
    ("turns", "question", "before"),
    [
        (("c: Hi", "c: Is it open?"), "Is it open?", ()),
        (("c: Is it open?", "a: Yes.", "c: And on Sundays?"), "And on Sundays?", ("Is it open?",)),
        (("c: My shoes are torn.", "c: Can I return them?", "c: hello?"),
         "My shoes are torn.\nCan I return them?", ()),
        (("c: Is it open?", "a: I ask a colleague.", "c: thank you"), "Is it open?", ()),
        (("c: Is it open?", "a: What?", "c: I want to talk to a human"), "Is it open?", ()),
        (("c: Hi",), "", ()),
    ],
)  # fmt: skip
def test_the_open_request_is_what_nobody_has_answered(turns, question, before):
    assert rule_based_summary.open_request(conversation(*turns), language="en") == (
        question, before,
    )  # fmt: skip


def test_a_language_without_labels_gets_english_ones():
    assert digest_of(conversation("c: Wo ist mein Paket?"), language="cs").language == "en"
    assert "Nachrichten: 1" in digest_of(conversation("c: Wo?"), language="de-AT").summary


def test_an_answered_question_is_not_open():
    assert digest_of(conversation("c: Where is it? And when?", "a: On its way.")).key_points == []
    assert digest_of(conversation("a: Hello.", "c: Where is it? Thanks.")).key_points == [
        "Open question: Where is it?"
    ]


def test_long_messages_are_cut():
    result = digest_of(conversation("c: " + "word " * 500))
    assert len(result.customer_intent) == rule_based_summary.MAX_QUOTE_CHARS
    assert result.customer_intent.endswith("…")


def test_an_empty_conversation():
    result = digest_of(())
    assert (result.summary, result.key_points, result.customer_intent) == ("Messages: 0", [], "")


@pytest.mark.parametrize(
    ("text", "max_words", "summary"),
    [
        ("One two three. Four five.", 3, "One two three."),
        ("One two three. Four five.", 5, "One two three. Four five."),
        ("One two three four.", 2, "One two"),
        ("One.\n\n\n\n", 9, "One."),
    ],
)
def test_a_text_is_cut_at_a_sentence(text, max_words, summary):
    assert rule_based_summary.of_text(text, max_words=max_words)[0] == summary
