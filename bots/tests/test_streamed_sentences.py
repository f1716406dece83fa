"""A model's answer reaches the customer by sentence, and never one that its sources do not hold."""

import random
import re
from dataclasses import replace

import pytest

from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import NotGrounded, Question, Snippet
from chatplatform.testing import stub_model

TEXTS = {
    "returns": (
        "You can return goods within 30 days. Write to help@shop.example or see"
        " https://shop.example/returns. Opened food is not taken back."
    ),
    "hours": "We are open from 9:00 to 17:30 on weekdays. On Sundays the shop is closed.",
    "delivery": "Delivery takes 2 to 4 working days and costs 4.90 euros below 50 euros.",
    "возврат": "Товар можно вернуть в течение 30 дней. Вскрытые продукты не принимаются.",
    "إرجاع": "يمكنك إرجاع البضائع خلال 30 يوما. لا نقبل إرجاع المواد الغذائية المفتوحة.",
    "giờ": "Cửa hàng mở cửa từ 9:00 đến 17:30. Giao hàng mất 2 ngày.",
}
# Question, which text is given, and what the model writes: all of it may be shown.
GOOD = [
    ("How long may I return goods?", "returns", "You can return goods within 30 days. [1]"),
    ("Whom do I write to?", "returns", "Write to help@shop.example. [1] They will help you."),
    ("Where can I read it?", "returns", "See https://shop.example/returns. [1]"),
    ("May I return food?", "returns", "No. Opened food is not taken back. [1]"),
    (
        "May I return goods?", "returns",
        "Thank you for your question! Yes, within 30 days. [1] Please let us know if you have any"
        " further questions. We are happy to help.",
    ),
    ("When are you open?", "hours", "1. From 9:00 to 17:30 on weekdays. [1]\n2. Never on Sundays."),
    ("Open on Sunday?", "hours", "I am sorry, the shop is closed on Sundays. [1] Have a nice day!"),
    ("Open at 5 pm?", "hours", "Yes: we are open until 17:30. [1]"),
    ("How much is delivery?", "delivery", "It costs 4.90 euros below 50 euros. [1]"),
    ("How long does it take?", "delivery", "It takes 2 to 4 working days. [1] I hope that helps."),
    ("Mấy giờ mở cửa?", "giờ", "Cửa hàng mở cửa từ 9:00 đến 17:30. [1] Cảm ơn bạn đã hỏi."),
    ("When do you open?", "giờ", "The shop opens at 9:00 and closes at 17:30. [1]"),
    ("Wann ist geöffnet?", "hours", "Wir haben werktags von 9:00 bis 17:30 geöffnet. [1] Gerne!"),
    ("Quand livrez-vous ?", "delivery", "La livraison prend 2 à 4 jours ouvrables. [1]"),
    (
        "Можно вернуть товар?", "возврат",
        "Товар можно вернуть в течение 30 дней. [1] Если у вас остались дополнительные вопросы,"
        " пожалуйста, обращайтесь. Приносим искренние извинения за неудобства.",
    ),
    (
        "متى؟", "إرجاع",
        "يمكنك إرجاع البضائع خلال 30 يوما. [1] يسعدني مساعدتك في أي استفسار إضافي."
        " نعتذر بشدة عن الإزعاج ونقدر تفهمك.",
    ),
    ("¿Cuánto cuesta el envío?", "delivery", "El envío cuesta 4.90 euros. [1] ¡Gracias!"),
]  # fmt: skip
# The same with what is invented: it and all behind it is held back.
BAD = [
    ("returns", "You can return goods within 30 days. [1]", " After 45 days we charge a fee."),
    ("returns", "You can return goods within 30 days. [1]", " See https://evil.example/claim now."),
    ("returns", "You can return goods within 30 days. [1]", " Call us at 0800 123456."),
    ("returns", "You can return goods within 30 days. [1]", " Write to boss@shop.example instead."),
    ("returns", "", "A refund takes 99 days. [1]"),
    (
        "returns", "Opened food is not taken back. [1]",
        " Our astronauts personally inspect every spaceship before the launch.",
    ),
    (
        "returns", "You can return goods within 30 days. [1]",
        " Jewellery made of platinum includes a lifetime warranty against scratches.",
    ),
    ("hours", "We are open from 9:00 to 17:30. [1]", " On Saturdays until 22:00."),
    ("hours", "On Sundays the shop is closed. [1]", "\n\nVisit www.other-shop.example on Sundays."),
    (
        "hours", "On Sundays the shop is closed. [1]",
        " The underground garage offers free parking beside the elevator.",
    ),
    ("hours", "", "The museum guide explains medieval paintings. We are open from 9:00. [1]"),
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " Express delivery costs 12 euros."),
    ("delivery", "It costs 4.90 euros below 50 euros. [1]", " Above that it costs 1.90 euros."),
    (
        "delivery", "Delivery takes 2 to 4 working days. [1]",
        " Helicopters transport fragile porcelain across the mountains.",
    ),
    (
        "возврат", "Товар можно вернуть в течение 30 дней. [1]",
        " Подземная парковка рядом с лифтом открыта для посетителей музея.",
    ),
    (
        "إرجاع", "يمكنك إرجاع البضائع خلال 30 يوما. [1]",
        " موقف السيارات تحت الأرض بجانب المصعد مجاني لزوار المتحف.",
    ),
    ("giờ", "Cửa hàng mở cửa từ 9:00. [1]", " Phí giao hàng là 35.000 đồng."),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _egress(settings):
    settings.EGRESS_ALLOW = []


def asked(question, name):
    snippet = Snippet(1, 101, name, None, TEXTS[name])
    return Question(
        text=question, language="en", instructions="You serve a shop.", history=(),
        snippets=(snippet,),
    )  # fmt: skip


def shown_of(question, answer, *, longest):
    """What a customer saw of an answer that comes in pieces of random lengths; the engine's own."""
    shown: list[str] = []
    lengths = random.Random(len(answer))
    with stub_model.running() as server:
        server.play([f"say:{answer}"])
        server.cut = lambda text: [
            piece for piece in re.split(f"(.{{{lengths.randint(1, longest)}}})", text, flags=re.S)
            if piece
        ]  # fmt: skip
        engine = OpenAICompatible(server.base_url, "key", "stub")
        try:
            made = engine.answer(question, on_delta=shown.append).text
        except NotGrounded:
            made = None
    return shown, made


@pytest.mark.parametrize(("question", "name", "answer"), GOOD)
@pytest.mark.parametrize("longest", [1, 7])
def test_an_answer_is_shown_whole_by_sentence(question, name, answer, longest):
    shown, made = shown_of(asked(question, name), answer, longest=longest)
    assert made == answer
    assert "".join(shown) == answer
    ends = len(re.findall(r"[.!?](?:\s\[1\])?(?=\s|$)|\n", answer))
    assert len(shown) <= ends, "a part of a sentence was shown"


@pytest.mark.parametrize(("name", "good", "bad"), BAD)
@pytest.mark.parametrize("longest", [1, 7])
def test_nothing_invented_is_shown(name, good, bad, longest):
    shown, made = shown_of(asked("Tell me about it.", name), good + bad, longest=longest)
    assert made is None
    assert "".join(shown).rstrip() == good
    later, made = shown_of(asked("Tell me.", name), f"{good}{bad} {TEXTS[name]}", longest=longest)
    assert made is None
    assert "".join(later).rstrip() == good, "what follows an invented sentence was shown"


def test_what_the_customer_said_may_be_repeated():
    question = asked("My platinum jewellery has scratches, is that a warranty case?", "returns")
    answer = (
        "Your platinum jewellery has scratches, and its warranty is unknown to me."
        " You can return goods within 30 days. [1]"
    )
    assert shown_of(question, answer, longest=3)[1] == answer
    other = replace(question, text="Hello?")
    assert shown_of(other, answer, longest=3) == ([], None)
