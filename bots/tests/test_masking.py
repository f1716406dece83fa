import pytest

from bots.engine.masking import Mask


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Write to ann.b+x@shop.example.com.", "Write to [email1]."),
        ("Call +84 90 123 4567 now", "Call [phone1] now"),
        ("Call (030) 123-4567", "Call [phone1]"),
        ("Gọi 0901234567 hoặc 0901.234.567", "Gọi [phone1] hoặc [phone2]"),
        ("Card 4111 1111 1111 1111, cvv 123", "Card [card1], cvv 123"),
        ("Card 4111111111111111", "Card [card1]"),
        ("a@b.example and a@b.example", "[email1] and [email1]"),
    ],
)
def test_personal_data_is_hidden(text, hidden):
    mask = Mask()
    assert mask.hide(text) == hidden
    assert mask.reveal(hidden) == text


@pytest.mark.parametrize(
    "text",
    [
        "Order 48213 of 2026-11-21, 10:30", "21/11/2026", "It costs 1.000.000.000 dong",
        "It costs 1,000.50", "Version 10.2.3", "From nine to five", "12345678", "",
    ],
)  # fmt: skip
def test_other_texts_are_unchanged(text):
    assert Mask().hide(text) == text


def test_texts_of_one_conversation_share_their_placeholders():
    mask = Mask()
    assert mask.hide("I am zoe@mail.example") == "I am [email1]"
    assert mask.hide("Not bob@mail.example but zoe@mail.example") == "Not [email2] but [email1]"


@pytest.mark.parametrize("piece", ["x", "1", "1 ", "a@", "a.", "+(", "1-"])
@pytest.mark.timeout(60)  # quadratic time would take many minutes
def test_hostile_texts_end(piece):
    assert Mask().hide(piece * (50_000 // len(piece)))
