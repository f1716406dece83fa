"""Summaries that the embedded engine quotes from a chat or a text."""

import pytest

from bots.engine import extractive_summary
from bots.engine.types import Line


def conversation(*turns: str) -> tuple[Line, ...]:
    """A conversation of lines that start with `c: ` (customer) or `a: ` (assistant)."""
    roles = {"c": "customer", "a": "assistant"}
    return tuple(Line(roles[turn[0]], turn[3:]) for turn in turns)  # type: ignore[arg-type]


def digest_of(lines, **more):
    options = {"language": "en", "tags": (), "sentiment": None} | more
    return extractive_summary.of_conversation(lines, **options)


def test_labels_in_the_chats_language_and_its_own_words():
    lines = conversation("c: Chào shop", "c: Tôi muốn đổi giày.", "a: Dạ được ạ.")
    result = digest_of(lines, language="vi-VN", tags=("đổi hàng",), sentiment="neutral")
    assert result.language == "vi"
    assert result.summary.splitlines() == [
        "Số tin nhắn: 3", "Yêu cầu đầu tiên: Tôi muốn đổi giày.",
        "Khách, mới nhất: Tôi muốn đổi giày.", "Trả lời, mới nhất: Dạ được ạ.",
        "Nhãn: đổi hàng", "Cảm xúc: trung tính",
    ]  # fmt: skip
    assert result.resolution == "Dạ được ạ."


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
    assert len(result.customer_intent) == extractive_summary.MAX_QUOTE_CHARS
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
    assert extractive_summary.of_text(text, max_words=max_words)[0] == summary
