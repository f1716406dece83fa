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
    "backup": "Documents are backed up each day. Programs and system files are not backed up.",
    "cable": "The black cable is 5 m. The pool is kept at 26 °C. Opened cables are not taken back.",
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
    ("How long does it take?", "delivery", "It takes ca. 2 to 4 working days. [1]"),
    ("All of it?", "backup", "Some is not backed up, e.g. programs and system files. [1]"),
    ("Open today?", "hours", "On weekdays, e.g. today, we are open from 9:00 to 17:30. [1]"),
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
    # Characters that no reader sees, and such as turn the figures round.
    ("hours", "We are open from 9:00 to 17:30. [1]", " Book at evil\u200b.com."),
    ("delivery", "It costs 4.90 euros. [1]", " It takes 4\u200b2 days."),
    ("delivery", "It costs 4.90 euros. [1]", " It takes 2\ufe0f\u20e34\ufe0f\u20e3 days."),
    ("delivery", "It costs 4.90 euros below 50 euros. [1]", " It costs \u202e50 euros."),
    # Figures of the source that count something else.
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " It costs 4.90 dollars."),
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " It costs £4.90."),
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " You save 50 percent."),
    ("returns", "You can return goods within 30 days. [1]", " The fee is thirty euros."),
    # Nobody has done it, and nobody will.
    ("returns", "You can return goods within 30 days. [1]", " We will call you back tomorrow."),
    ("returns", "You can return goods within 30 days. [1]", " I have cancelled your order."),
    ("returns", "You can return goods within 30 days. [1]", " Our team will contact you."),
    ("hours", "On Sundays the shop is closed. [1]", " Ich habe Ihnen einen Termin gebucht."),
    ("giờ", "Giao hàng mất 2 ngày. [1]", " Chúng tôi sẽ gọi lại cho bạn ngay."),
    # A figure of the source counts something else, or it is told in words.
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " It takes 4 hours."),
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " It takes longer in December."),
    ("hours", "We are open from 9:00 to 17:30. [1]", " On weekdays we are open until midnight."),
    ("hours", "On Sundays the shop is closed. [1]", " We are open on the third floor."),
    ("returns", "You can return goods within 30 days. [1]", " It takes a quarter of an hour."),
    ("delivery", "Delivery takes 2 to 4 working days. [1]", " Above 50 euros delivery is free."),
    ("giờ", "Giao hàng mất 2 ngày. [1]", " Giao hàng miễn phí."),
    # It is short, or its only new word is a name.
    ("returns", "Opened food is not taken back. [1]", " Our food is poisoned."),
    ("hours", "On Sundays the shop is closed. [1]", " The shop is haunted."),
    ("returns", "You can return goods within 30 days. [1]", " Write to Bjarne."),
    # A sentence before it ends like an abbreviation.
    ("cable", "", "The black cable is 5 m. It is made of gold. [1]"),
    ("cable", "", "The black cable is 5 m. We tow cars. [1]"),
    ("cable", "", "The pool is kept at 26 °C. It is haunted. [1]"),
    ("cable", "", "Opened cables are not taken back, we can't. Our food is poisoned. [1]"),
    ("cable", "", "Opened cables are not taken back. 30 dragons fit in. [1]"),
    ("hours", "", "We are open from 9:00 to 17:30, Mon to Sun.\nThe shop is haunted. [1]"),
    # It begins with words of the source.
    (
        "delivery", "Delivery takes 2 to 4 working days. [1]",
        " Delivery takes 2 to 4 working days by a drone that sings an opera.",
    ),
    # The source says the opposite by another word.
    ("hours", "We are open from 9:00 to 17:30. [1]", " On Sundays the shop is open."),
    # It has one word of the source.
    ("returns", "Opened food is not taken back. [1]", " Food is eaten beside a marble fountain."),
    ("hours", "We are open from 9:00 to 17:30. [1]", " The shop employs dozens of clever wizards."),
    ("giờ", "Giao hàng mất 2 ngày. [1]", " Cửa hàng tặng rượu vang cho khách thân thiết."),
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


@pytest.fixture(scope="module")
def model():
    with stub_model.running() as server:
        yield server


@pytest.fixture
def shown_of(model):
    """What a customer saw of an answer that comes in pieces of random lengths; the engine's own."""

    def answered(question, answer, *, longest):
        shown: list[str] = []
        lengths = random.Random(len(answer))
        model.play([f"say:{answer}"])
        model.cut = lambda text: [
            piece for piece in re.split(f"(.{{{lengths.randint(1, longest)}}})", text, flags=re.S)
            if piece
        ]  # fmt: skip
        engine = OpenAICompatible(model.base_url, "key", "stub")
        try:
            return shown, engine.answer(question, on_delta=shown.append).text
        except NotGrounded:
            return shown, None

    return answered


@pytest.mark.parametrize(("question", "name", "answer"), GOOD)
@pytest.mark.parametrize("longest", [1, 7])
def test_an_answer_is_shown_whole_by_sentence(shown_of, question, name, answer, longest):
    shown, made = shown_of(asked(question, name), answer, longest=longest)
    assert made == answer
    assert "".join(shown) == answer
    ends = len(re.findall(r"[.!?](?:\s\[1\])?(?=\s|$)|\n", answer))
    assert len(shown) <= ends, "a part of a sentence was shown"


@pytest.mark.parametrize(("name", "good", "bad"), BAD)
@pytest.mark.parametrize("longest", [1, 7])
def test_nothing_invented_is_shown(shown_of, name, good, bad, longest):
    shown, made = shown_of(asked("Tell me about it.", name), good + bad, longest=longest)
    assert made is None
    assert "".join(shown).rstrip() == good
    later, made = shown_of(asked("Tell me.", name), f"{good}{bad} {TEXTS[name]}", longest=longest)
    assert made is None
    assert "".join(later).rstrip() == good, "what follows an invented sentence was shown"


def test_what_the_customer_said_may_be_repeated(shown_of):
    question = asked("My platinum jewellery has scratches, is that a warranty case?", "returns")
    answer = (
        "Your platinum jewellery has scratches, and its warranty is unknown to me."
        " You can return goods within 30 days. [1]"
    )
    assert shown_of(question, answer, longest=3)[1] == answer
    other = replace(question, text="Hello?")
    assert shown_of(other, answer, longest=3) == ([], None)


def test_what_a_source_promises_may_be_promised(shown_of):
    told = (
        "We will call you back within 2 hours, and your money is refunded. Reorder it. You may"
        " cancel. Tell the kitchen about allergies. Requests must be sent in writing."
    )
    snippet = Snippet(1, 101, "promises", None, told)
    question = replace(asked("Hello?", "returns"), snippets=(snippet,))
    for good in (
        "We will call you back. [1] I'll be here if you have more questions.",
        "We will refund your money. [1] Shall I send you more?",
    ):
        assert shown_of(question, good, longest=7)[1] == good
    for bad in (
        "I will refund your money. [1]", "We will order it for you. [1]",
        "We will tell the kitchen. [1]", "We have refunded your money. [1]",
        "We will send your request. [1]", "Shall I cancel it for you? [1]",
    ):  # fmt: skip
        assert shown_of(question, bad, longest=7) == ([], None)


def test_what_a_source_has_as_figures_may_be_told_in_words(shown_of):
    told = (
        "The desk is open until 12:00 and closed on 24/12. Towels are included. It is on floor 3."
        " Not in May. A walk takes 15 minutes, a tour 8 hours, the bus leaves at 9:00 for 9 days."
    )
    snippet = Snippet(1, 101, "desk", None, told)
    question = replace(asked("Hello?", "returns"), snippets=(snippet,))
    for good in (
        "The desk is open until noon.", "In December the desk is closed.", "Towels are free.",
        "The desk is on the third floor.", "Third, the desk is closed.", "It is closed in May.",
        "A walk takes a quarter of an hour.", "The bus leaves at 9 am.", "There is no fifth floor.",
        "The tour isn't free.", "Feel free to take a walk.",
    ):  # fmt: skip
        assert shown_of(question, f"{good} [1]", longest=7)[1] == f"{good} [1]"


ORDINARY = {
    "Wi-Fi is in all rooms. We are open Monday to Friday from 8 to 12, on Thursdays until 19:00."
    " The guarantee is 12 months. Cats are allowed in all rooms, but not dogs. Delivery takes 8"
    " days. We take X-rays on Mondays. Almond drinks do not foam very well. The pool is closed from"
    " May to September. Call us within 3 hours. Repairs take 3–5 days.": (
        "There is Wi-Fi in all rooms.", "Sure, I'd be happy to help!", "Hi June, we take X-rays!",
        "Cats are allowed in all rooms.", "It takes at least 3 days.", "We are open until 12 pm.",
        "On Thursdays we are open until 7 pm.", "Almond drinks, unfortunately, don't foam well.",
        "**Opening Hours:** 8 to 12", "The documents don't mention a swimming pool.",
        "Could you tell me your booking number?", "The pool is closed from May to September.",
    ),
    "Wir haben Montag bis Freitag geöffnet. Versand ist versandkostenfrei ab 50 Euro. Termine um 8"
    " und 9, samstags bis 12; Lieferung 8 Tage. Katzen sind erlaubt, aber keine Hunde.": (
        "Ab 50 Euro ist der Versand kostenlos.", "Wir haben um 8 Uhr Termine.",
        "Katzen sind erlaubt.", "Bis 12 am Samstag.", "Guten Tag, vielen Dank für Ihre Nachricht!",
    ),
    "Cửa hàng mở cửa từ 8h30 đến 20h. Giao hàng mất 8 ngày, đổi trả trong 30 ngày.": (
        "Cửa hàng mở cửa từ 8 giờ 30 đến 8 giờ tối.", "Cửa hàng mở cửa lúc 8:30.",
        "Dạ, Quý khách đổi trả trong 30 ngày ạ.",
        "Chào chị Mai, giao hàng mất 8 ngày ạ.", "Hy vọng thông tin này hữu ích với anh/chị.",
    ),
    "The scaffold goes up one day before. The visit takes an hour.": (
        "The scaffold goes up 1 day before.", "The visit takes 1 hour.",
    ),
    "Le musée est ouvert de 9h00 à 18h00. Le parking coûte 5 euros.": (
        "Bonjour Madame, le musée est ouvert de 9h à 18h.", "Le musée ouvre à 9 heures.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "good"), [(told, good) for told, each in ORDINARY.items() for good in each]
)
def test_ordinary_sentences_are_shown(shown_of, told, good):
    snippet = Snippet(1, 101, "desk", None, told)
    question = replace(asked("Hello, I am June.", "returns"), snippets=(snippet,))
    assert shown_of(question, f"{good} [1]", longest=7)[1] == f"{good} [1]"


@pytest.mark.parametrize(
    ("told", "bad"),
    [
        ("The doctor for children is Doctor Lee, who is here on Mondays.",
         "The doctor for children is Doctor Smith, who is here on Mondays."),
        ("We are open until 8:00 on weekdays.", "We are open until 8 pm on weekdays."),
        ("Le musée est ouvert de 9h00 à 18h00. Le parking coûte 5 euros.",
         "Le parking est gratuit."),
        ("Cats are allowed in all rooms, but not dogs.", "Cats are not allowed in all rooms."),
        ("The booking cannot be cancelled or refunded.", "The booking can be refunded."),
        ("Dogs stay in the garden. They may not enter the breakfast room.",
         "Dogs may enter the breakfast room."),
        ("If you cancel late, the deposit is not refunded.", "The deposit is refunded."),
        ("El parque está cerrado los lunes.", "El parque está abierto los lunes."),
        ("The walk takes 30 minutes.", "The walk takes 30 hours."),
        ("The walk takes an hour, and a rest a day.", "The walk takes 1 week."),
        ("We do not repair bicycles of more than 40 kilos.",
         "We repair bicycles of more than 40 kilos."),
    ],
)  # fmt: skip
def test_sentences_that_differ_in_one_thing_fall(shown_of, told, bad):
    snippet = Snippet(1, 101, "desk", None, told)
    question = replace(asked("Hello?", "returns"), snippets=(snippet,))
    assert shown_of(question, f"{told} [1]", longest=7)[1], "the source itself"
    assert shown_of(question, f"{bad} [1]", longest=7) == ([], None)


def test_a_condition_leaves_a_sentence_undecided(shown_of):
    snippet = Snippet(1, 101, "desk", None, "The deposit is refunded. Nobody can refuse nothing.")
    question = replace(asked("Hello?", "returns"), snippets=(snippet,))
    assert shown_of(question, "The deposit is not refunded. [1]", longest=7) == ([], None)
    told = "The deposit is not refunded if we wait. [1]"
    assert shown_of(question, told, longest=7)[1] == told


def test_what_was_asked_is_no_source_of_a_yes(shown_of):
    source = (
        "Pensioners pay 4 euros for a ticket. The sauna opens at 16:00 on every day of the week."
    )
    snippet = Snippet(1, 101, "bath", None, source)
    question = replace(asked("Are dogs welcome on the lawn?", "returns"), snippets=(snippet,))
    told = "Yes, dogs are welcome on the lawn. [1]"
    assert shown_of(question, told, longest=7) == ([], None)
    told = "You want to bring dogs to the lawn. [1]"
    assert shown_of(question, told, longest=7)[1] == told


def test_what_the_model_is_told_may_be_said(shown_of):
    question = replace(asked("Hello?", "delivery"), setting="Today is Thursday. You are Zoltan.")
    told = "I am Zoltan, and delivery takes 2 to 4 working days. [1]"
    assert shown_of(question, told, longest=7)[1] == told
    other = replace(question, setting="")
    assert shown_of(other, told, longest=7) == ([], None)


def test_without_an_encoder_words_alone_are_checked(shown_of, monkeypatch):
    question = asked("Hello?", "returns")
    assert shown_of(question, "Our food is poisoned. [1]", longest=7) == ([], None)
    monkeypatch.setattr("bots.knowledge.embedding._encoder", lambda: None)
    monkeypatch.setattr("bots.knowledge.embedding.available", lambda: False)
    assert shown_of(question, "Our food is poisoned. [1]", longest=7)[1]
    assert shown_of(
        question, "Helicopters transport fragile porcelain across mountains. [1]", longest=7
    ) == ([], None)


def test_an_answer_of_citations_alone_is_none(shown_of):
    assert shown_of(asked("Hello?", "returns"), "[1]", longest=3)[1] is None
    assert shown_of(asked("Hello?", "returns"), "[1] \n\u200b[1].", longest=3)[1] is None


TWO = (
    Snippet(1, 101, "returns", None, TEXTS["returns"]),
    Snippet(
        2,
        102,
        "delivery",
        None,
        f"{TEXTS['delivery']} Couriers leave heavy parcels with neighbours.",
    ),
)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        # What the other snippet says: its figures, and its words.
        ("You can return goods within 30 days. [1]", " It costs 4.90 euros. [1]"),
        ("You can return goods within 30 days. [1]", " It takes 4 days."),
        ("You can return goods. [1]", " Couriers leave heavy parcels with neighbours. [1]"),
        # It cites both somewhere, but not here.
        ("You can return goods within 30 days. [1] It costs 4.90 euros. [2]", " Or 50 euros. [1]"),
        # It is no list's number.
        ("You can return goods. [1] It costs.", " 50. That is all."),
        ("It costs 4.90 euros below 50 euros. [2] You can return goods. [1]", " 50. [1]"),
        # An address is spelled over the end of a line.
        ("You can return goods. [1]", " See goods dot\ncom now. [1]"),
    ],
)
def test_a_sentence_rests_on_what_it_cites(shown_of, good, bad):
    question = replace(asked("Tell me about it.", "returns"), snippets=TWO)
    for end in ("", " Have a nice day!", " You can return goods within 30 days. [1]"):
        shown, made = shown_of(question, f"{good}{bad}{end}", longest=5)
        assert (made, "".join(shown)) == (None, good)


@pytest.mark.parametrize(
    "answer",
    [
        "It costs 4.90 euros. Delivery takes 2 to 4 working days. [2]",
        "You can return goods within 30 days. [1] It costs 4.90 euros. Below 50 euros. [2]",
        "Delivery costs 4.90 euros, and goods are taken back within 30 days. [1, 2] Not food.",
        "Happy to help! You can return goods. [1] Delivery costs 4.90 euros. [2] Anything else?",
    ],
)
def test_a_sentence_without_a_citation_waits_for_the_next_one(shown_of, answer):
    question = replace(asked("Tell me about it.", "returns"), snippets=TWO)
    shown, made = shown_of(question, answer, longest=5)
    assert made == "".join(shown) == answer


def test_what_was_shown_is_held_by_what_it_cites(shown_of):
    """The end of an answer takes back none of its facts, in whatever order its sentences come."""
    chance = random.Random(7)
    pieces = [
        "You can return goods within 30 days.", "Opened food is not taken back.", "Sure!",
        "Delivery takes 2 to 4 working days.", "It costs 4.90 euros below 50 euros.",
    ]  # fmt: skip
    question = replace(asked("Tell me about it.", "returns"), snippets=TWO)
    whole = 0
    for _ in range(60):
        told = [
            piece + chance.choice(["", " [1]", " [2]"]) for piece in chance.choices(pieces, k=3)
        ]
        shown, made = shown_of(question, " ".join(told), longest=9)
        if made is None and shown:
            assert shown_of(question, "".join(shown), longest=9)[1] == "".join(shown).strip()
        elif made is not None:
            whole += 1
            assert "".join(shown) == made
    assert whole > 5
