"""A model's answer is streamed up to its first doubt; what is in doubt, the judge decides."""

import random
import re
from dataclasses import replace

import pytest

from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import NotGrounded, Question, Snippet
from chatplatform.testing import stub_model

SNIPPETS = (
    Snippet(
        1, 101, "Returns", "https://shop.example/returns",
        "You can return goods within 30 days. Write to help@shop.example or call +47 55 12 34 90."
        " Opened food is not taken back.",
    ),
    Snippet(
        2, 102, "Delivery", None,
        "Delivery takes 2 to 4 working days and costs 1,004.90 dong."
        " We are open from 9:00 to 17:30.",
    ),
)  # fmt: skip
QUESTION = Question("I am 67. May I return goods?", "en", "", (), SNIPPETS)
TRUE = "You can return goods within 30 days. [1]"
DOUBTED = [
    "See https://evil.example/claim now. [1]",
    "See shop.example.no. [1]",
    "See evil\u200b.com. [1]",
    "Pay [here](//evil/pay). [1]",
    "Write to boss@shop.example. [1]",
    "Message @shop_pay. [1]",
    "Call +47 55 12 34 91. [1]",
    "Call 0800 123456. [1]",
    "It takes 45 days. [1]",
    "It takes 4\ufe0f\u20e35\ufe0f\u20e3 days. [1]",
    "It costs \u202e30 dong. [1]",
    # The figure of another snippet, and no list's number.
    "It takes 4 days. [1]",
    "50. [1]",
    "I have cancelled your order. [1]",
    "Your order has now been refunded. [1]",
    "Ich habe Ihre Bestellung storniert. [1]",
    "J'ai annulé votre commande. [1]",
    "He cancelado su pedido. [1]",
    "Em đã hủy đơn hàng cho bạn rồi. [1]",
    "ご注文をキャンセルしました。[1]",
]
UNDOUBTED = [
    "See shop.example/returns or www.shop.example. [1]",
    "Call 55 12 34 90 or 4755123490. [1]",
    "It costs 1004.9 dong. [2]",
    "We open at 9 and close at 17:30. [2]",
    "1. Within ٣٠ days. [1]\n2. We open at 9. [2]",
    "At 67 you have 30 days too. [1]",
    "Delivery takes 4 days. [2] You can return goods within 30 days.",
    "Goods, e.g. food, z. B. Obst, i.e. all.The rest is there. [1]",
    "You may cancel your order, and your order can be changed. [1]",
]


@pytest.fixture(scope="module")
def model():
    with stub_model.running() as server:
        yield server


@pytest.fixture
def ask(model):
    """The engine's answer, or None if it is refused, and the pieces that a customer saw."""

    def answered(text, *, size=3, confirms=True, question=QUESTION):
        model.play([f"say:{text}"])
        model.confirms = confirms
        model.confirmations.clear()
        model.requests.clear()
        model.cut = lambda text: [text[at : at + size] for at in range(0, len(text), size)]
        shown: list[str] = []
        engine = OpenAICompatible(model.base_url, "", "stub")
        try:
            return engine.answer(question, on_delta=shown.append).text, shown
        except NotGrounded:
            return None, shown

    return answered


@pytest.mark.parametrize("doubted", DOUBTED)
def test_a_doubt_stops_the_stream_and_asks_the_judge(ask, model, doubted):
    text = f"{TRUE} {doubted} {TRUE}"
    for size, confirms in ((1, False), (50, True)):
        made, shown = ask(text, size=size, confirms=confirms)
        assert made == (text if confirms else None)
        assert shown[0].rstrip() == TRUE
        assert "".join(shown) == (text if confirms else shown[0])
        assert len(model.confirmations) == len(model.requests) == 1


@pytest.mark.parametrize("text", UNDOUBTED)
def test_what_the_sources_have_is_shown_unjudged(ask, model, text):
    made, shown = ask(text)
    assert made == "".join(shown) == text
    assert model.confirmations == []


def test_a_figure_of_another_snippet_gets_its_citation_where_that_holds_the_sentence(ask, model):
    made, _ = ask(f"{TRUE} We are open from 9:00 to 17:30.")
    assert made == f"{TRUE} We are open from 9:00 to 17:30. [2]"
    assert model.confirmations == []


@pytest.mark.parametrize("text", ["[1]", "[1] \n\u200b[1]."])
def test_an_answer_of_citations_alone_is_none(ask, model, text):
    assert ask(text) == (None, [])
    assert model.confirmations == []


@pytest.mark.full
def test_what_was_shown_is_the_beginning_of_the_answer(ask):
    """The same answer in whatever pieces, and nothing shown that the final text takes back."""
    chance = random.Random(7)
    pieces = [
        "You can return goods within 30 days.", "Sure!", "It takes 45 days.", "- Food e.g. fruit",
        "Delivery takes 2 to 4 working days.", "Open until 17:30 (on Mondays).", "See evil.com.",
    ]  # fmt: skip
    citations = ["", "", " [1]", " [2]", " (1)", " [Source 2].", "【1】", " [9]"]
    streamed = 0
    for _ in range(40):
        text = " ".join(
            piece + chance.choice(citations) + chance.choice(["", "\n", "\n\n"])
            for piece in chance.choices(pieces, k=3)
        )
        confirms = chance.random() < 0.5
        question = replace(QUESTION, verify_answer=chance.random() < 0.2)
        whole = ask(text, size=4_000, confirms=confirms, question=question)
        made, shown = ask(text, size=chance.randint(1, 9), confirms=confirms, question=question)
        assert made == whole[0], text
        assert made is None or "".join(shown).strip() == made
        assert not re.search(r"\[9\]|【|Source", made or "")
        assert not (question.verify_answer and len(shown) > 1)
        streamed += len(shown) > 1
    assert streamed > 5
