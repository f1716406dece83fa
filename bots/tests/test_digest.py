import pytest

from bots.engine import digest
from bots.engine.types import Line


def said(*turns: str) -> tuple[Line, ...]:
    """`c: ` and `a: ` lines as a conversation."""
    roles = {"c": "customer", "a": "assistant"}
    return tuple(Line(roles[turn[0]], turn[3:]) for turn in turns)  # type: ignore[arg-type]


def of(lines, **more):
    given = {"language": "en", "tags": (), "sentiment": None} | more
    return digest.of_conversation(lines, **given)


def test_labels_in_the_chats_language_and_its_own_words():
    lines = said("c: Chào shop", "c: Tôi muốn đổi giày.", "a: Dạ được ạ.")
    found = of(lines, language="vi-VN", tags=("đổi hàng",), sentiment="neutral")
    assert found.language == "vi"
    assert found.summary.splitlines() == [
        "Số tin nhắn: 3", "Yêu cầu đầu tiên: Tôi muốn đổi giày.",
        "Khách, mới nhất: Tôi muốn đổi giày.", "Trả lời, mới nhất: Dạ được ạ.",
        "Nhãn: đổi hàng", "Cảm xúc: trung tính",
    ]  # fmt: skip
    assert found.resolution == "Dạ được ạ."


def test_a_language_without_labels_gets_english_ones():
    assert of(said("c: Wo ist mein Paket?"), language="de").language == "en"


def test_an_answered_question_is_not_open():
    assert of(said("c: Where is it? And when?", "a: On its way.")).key_points == []
    assert of(said("a: Hello.", "c: Where is it? Thanks.")).key_points == [
        "Open question: Where is it?"
    ]


def test_long_messages_are_cut():
    found = of(said("c: " + "word " * 500))
    assert len(found.customer_intent) == digest.MAX_QUOTE_CHARS
    assert found.customer_intent.endswith("…")


def test_nothing_said():
    found = of(())
    assert (found.summary, found.key_points, found.customer_intent) == ("Messages: 0", [], "")


@pytest.mark.parametrize(
    ("text", "max_words", "summary"),
    [
        ("One two three. Four five.", 3, "One two three."),
        ("One two three. Four five.", 5, "One two three. Four five."),
        ("One two three four.", 2, "One two"),
        ("One.\n\n\n\n", 9, "One."),
    ],
)
def test_a_text_begins_where_it_begins(text, max_words, summary):
    assert digest.of_text(text, max_words=max_words)[0] == summary
