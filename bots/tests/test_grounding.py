"""What an answer may not say without its sources: links, figures in words, sentences."""

import tomllib
from pathlib import Path

import pytest

from bots.engine.grounding import Check, checked
from bots.engine.held_by_sources import Evidence
from bots.engine.types import NotGrounded, Snippet, Usage

HOTEL = (
    "Dogs are welcome in rooms of the ground floor. More is in price-list.pdf and at"
    " https://balder.example/parking. Write to booking@balder.example."
    " Breakfast is served from 7:00 to 10:30 in the garden room. It costs 18 euros for adults and"
    " 9 euros for children under twelve. The sauna is open from 16:00 to 22:00."
)


@pytest.mark.parametrize(
    "text",
    [
        "See balder-pets.no for more.",
        "See BALDER-PETS.NO.",
        "See _balder-pets.no_.",
        "See balder.travel/pets for more.",
        "See Balder.Travel/pets for more.",
        "See balder.it:8080 for more.",
        "See pets.eu.The rest is there.",
        "See balder.example.no for more.",
        "See my-balder.example for more.",
        "See Shop.Com for more.",
        "Visit питомцы.рф for more.",
        "See t.me/balder for more.",
        "See balder-pets dot com.",
        "See balder-pets dot no for more.",
        "See balder-pets (dot) com.",
        "See balder-pets [dot] travel.",
        "Siehe balder-pets punkt com.",
        "Write to booking[at]balder.",
        "Write to booking (at) pets (dot) no.",
        "Write to refund at balder-pets dot no.",
        "Open rates.pdf for more.",
        "See evil。com for more.",
        "See evil . com for more.",
        "See evil[.]com for more.",
        "Write to booking[@]pets.no.",
        "Book [here](//evil/pay).",
        "Book [here](pay).",
        '<a href="/pay">Book</a>',
        "Message @balder_pay for more.",
    ],
)
def test_a_link_without_a_scheme_must_stand_in_a_source(text):
    assert not Evidence([HOTEL]).holds_facts_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "See balder.example/parking or balder.example.",
        "See www.balder.example/parking.",
        "Write to booking@balder.example or booking (at) balder.example.",
        "Open price-list.pdf for more.",
        "Dogs may stay in a room.The sauna is open, e.g. at 16:00, i.e. in the p.m.",
        "Dogs, e.g. small ones, z.B. kleine, are welcome...and cats, etc.",
        "Hotel in TP.HCM, m.in. przy porcie, inkl.MwSt., z.Hd. der Leitung, St.Gallen.",
        "It costs 18.00euros, from 7.00 to 22.00 or 16.00.uhr.",
        "The dot on the map is the hotel.",
    ],
)
def test_what_only_looks_like_a_link_is_none(text):
    assert Evidence([HOTEL]).holds_facts_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Breakfast costs twenty-seven euros for adults.",
        "A late departure costs thirty dollars.",
        "Breakfast is served from seven to half past eleven in the garden room.",
        "Bewacht kostet er dreißig Euro.",
        "Bữa sáng giá hai mươi bảy euro cho người lớn.",
        "Le petit déjeuner coûte vingt-sept euros pour les adultes.",
        "El desayuno cuesta once euros para los adultos.",
    ],
)
def test_a_figure_in_words_must_stand_in_a_source(text):
    assert not Evidence([HOTEL]).holds_facts_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Breakfast costs eighteen euros for adults and nine euros for children.",
        "Children under twelve pay 9 euros.",
        "Children under 12 pay nine euros.",
        "Das Frühstück kostet achtzehn Euro für Erwachsene.",
        "Le petit déjeuner coûte dix-huit euros pour les adultes.",
        "Bữa sáng giá mười tám euro cho người lớn.",
        "One of the rooms is a garden room, and once a day a breakfast is served there.",
    ],
)
def test_a_figure_may_change_between_words_and_digits(text):
    assert Evidence([HOTEL]).holds_facts_of(text)


PHONES = (
    "The desk answers at +47 55 12 34 90, the clinic at (0283) 822-4471, the port at 555-123-4567."
    " It has 12.000.000 visitors since 2024-05-03, and 40 spaces. Follow @balder_hotel."
)


@pytest.mark.parametrize(
    "text",
    [
        "Call +47 55 12 34 90 or +4755123490.",
        "Call 55 12 34 90.",
        "Call 0283 822 4471 or 02838224471 or 0283/822 4471.",
        "Call (555) 123-4567.",
        "Since 2024-05-03 it has 12 000 000 visitors.",
        "Follow @Balder_Hotel!",
    ],
)
def test_a_telephone_number_may_be_grouped_otherwise(text):
    assert Evidence([PHONES]).holds_facts_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Call +47 12 34 55 90.",
        "Call +47 55 12 34 91.",
        "Call 0822 283 4471.",
        "Call 123-555-4567.",
        "Call 40 12 34 90.",
    ],
)
def test_a_telephone_number_is_one_figure(text):
    """Its groups stand in the source, but not in this order."""
    assert not Evidence([PHONES]).holds_facts_of(text)


@pytest.mark.parametrize(
    ("source", "good", "bad"),
    [
        ("Hóa đơn từ 20.000.000 đồng.", "Hóa đơn từ 20 triệu đồng.", "Hóa đơn từ 21 triệu đồng."),
        ("Giá 350.000 đồng.", "Giá 350k hoặc 350 nghìn đồng.", "Giá 350 triệu đồng."),
        ("Giá 2,4 triệu đồng.", "Giá 2.400.000 đồng.", "Giá 2.400 đồng."),
        ("Two million visitors came.", "It had 2 million visitors.", "It had 2 thousand visitors."),
        ("Der Bau kostete 3 Mio. Euro.", "3.000.000 Euro kostete er.", "3.000 Euro kostete er."),
        ("It weighs 23 kg.", "It weighs 23 kg.", "It weighs 23k kg."),
    ],
)
def test_a_number_may_have_a_word_for_its_zeros(source, good, bad):
    evidence = Evidence([source])
    assert evidence.holds_facts_of(source)
    assert evidence.holds_facts_of(good)
    assert not evidence.holds_facts_of(bad)


@pytest.mark.parametrize(
    ("source", "good", "bad"),
    [
        (
            "Lost things are kept for six months.",
            ["They are kept for six months.", "They are kept for 6 months.", "Sechs Monate lang."],
            ["They are kept for six weeks.", "For six years.", "6 weeks.", "Sechs Wochen lang."],
        ),
        (
            "The deposit is refunded within ten working days.",
            ["You get it within ten days.", "You get it back within 10 working days."],
            ["You get it within ten weeks.", "You get it back within 10 months."],
        ),
        (
            "The station is a walk of eight minutes.",
            ["It is an eight-minute walk.", "It is 8 minutes away."],
            ["It is an eight-hour walk.", "It is eight hours away."],
        ),
        (
            "Die Wohnung wird für mindestens sechs Wochen vermietet.",
            ["Mindestens sechs Wochen.", "Mindestens 6 Wochen.", "At least six weeks."],
            ["Mindestens sechs Tage.", "Mindestens 6 Tage.", "At least six months."],
        ),
        (
            "Die Kaution wird innerhalb von zehn Werktagen erstattet.",
            ["Innerhalb von zehn Arbeitstagen.", "Nach 10 Tagen, auch zehn Tage an Feiertagen."],
            ["Die Kaution kommt innerhalb von zehn Wochen.", "Nach 10 Wochen."],
        ),
        (
            "Đồ thất lạc được giữ trong sáu tháng.",
            ["Đồ được giữ sáu tháng.", "Đồ được giữ 6 tháng."],
            ["Đồ được giữ sáu tuần.", "Đồ được giữ 6 tuần.", "Đồ được giữ sáu năm."],
        ),
        ("We have six rooms, for six months.", ["Six of them, for six months.", "Six weeks."], []),
    ],
)
def test_a_figure_in_words_counts_what_it_counts_in_the_source(source, good, bad):
    evidence = Evidence([source])
    assert [text for text in good if not evidence.holds_facts_of(text)] == []
    assert [text for text in bad if evidence.holds_facts_of(text)] == []


@pytest.mark.parametrize(
    "source",
    [
        "The visitor's tax is not included in the price.",
        "The price doesn't include the visitor's tax.",
        "The visitor's tax is never included.",
        "Die Kurtaxe ist nicht im Preis inbegriffen.",
        "Die Kurtaxe ist im Preis nicht enthalten.",
        "Giá không bao gồm thuế du lịch.",
        "La taxe de séjour n'est pas comprise.",
        "La tasa turística no está incluida.",
        "You may not cancel without charge.",
    ],
)
def test_what_is_not_included_makes_nothing_free(source):
    for told in ("A single room is free.", "Das Zimmer ist kostenlos.", "Phòng miễn phí."):
        assert not Evidence([source]).holds_facts_of(told)


@pytest.mark.parametrize(
    "source",
    [
        "Breakfast is included.",
        "Not only breakfast is included in the price.",
        "Breakfast is not extra but included.",
        "Das Frühstück ist inbegriffen.",
        "Nicht nur das Frühstück ist inbegriffen.",
        "Giá bao gồm bữa sáng.",
        "We do not charge for breakfast.",
        "The tax is not included. Breakfast is included.",
    ],
)
def test_what_is_included_may_be_called_free(source):
    for told in ("Breakfast is free.", "Das Frühstück ist kostenlos.", "Bữa sáng miễn phí."):
        assert Evidence([source]).holds_facts_of(told)


NETWORKS = (
    "All rooms have WiFi.", "Wifi is available in all rooms.", "All rooms have WLAN.",
    "Wi-Fi is available in all rooms.", "All rooms have wireless internet by the house network.",
)  # fmt: skip


@pytest.mark.parametrize("source", NETWORKS)
@pytest.mark.parametrize("name", ["Wi-Fi", "Wi\u2011Fi", "WiFi", "wifi"])
def test_a_word_may_have_a_hyphen_that_its_source_has_not(source, name):
    evidence = Evidence([source])
    for told in (f"Yes, {name} is available in all rooms.", f"All rooms have {name}."):
        assert not evidence.invents(told)
        assert not evidence.contradicts(told)


def test_a_hyphen_hides_no_denial_and_no_new_name():
    assert Evidence(["All rooms are quiet."]).invents("Yes, all rooms have Wi-Fi.")
    assert Evidence(["There is no WiFi in the rooms."]).contradicts("There is Wi-Fi in the rooms.")
    assert Evidence(["All rooms have an email address."]).invents("All rooms have an Email-Robot.")
    assert not Evidence(["Write us an email."]).invents("Please write us an E-mail.")


HOUSE = (
    "Cancel free of charge until 14 days before arrival. After that we keep 50 percent. The library"
    " is for meetings of up to 16 people and costs 120 euros for half a day. An extra bed costs 30"
    " euros a night. Arrivals after 10 pm must call before 6 pm."
)


def is_told(answer, question):
    snippet = Snippet(1, 101, "House", None, HOUSE)
    try:
        checked(f"{answer} [1]", Check((snippet,), asked=question, question=question), Usage(0, 0))
    except NotGrounded:
        return False
    return True


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "May 25 people meet there?",
            "No, the library is for up to 16 people, so 25 are too many.",
        ),
        ("And for my 7-year-old?", "An extra bed for your 7-year-old costs 30 euros a night."),
        ("And for my seven year old?", "An extra bed for your 7-year-old costs 30 euros a night."),
        ("We come at 11 pm", "If you arrive at 11 pm, please call before 6 pm."),
        ("I cancel 3 days before", "If you cancel 3 days before arrival, we keep 50 percent."),
    ],
)
def test_a_rule_is_applied_to_the_customers_own_figure(question, answer):
    assert is_told(answer, question)
    assert not is_told(answer, "How is that?")  # nobody named that figure


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Until 3 days before?",
            "Cancel free of charge until 3 days before arrival, else 50 percent.",
        ),
        ("May 25 people meet?", "The library is for meetings of up to 25 people, for 120 euros."),
        ("May 25 people meet?", "The library is for meetings of 25 people."),  # no other figure
        ("May 25 people meet?", "Meetings have 25 people at most, for 120 euros."),
        ("May 25 people meet?", "The limit is 25 people, for 120 euros."),
        ("Is it 20 euros?", "An extra bed costs 20 euros a night, and the library 120 euros."),
        ("Is it €20?", "An extra bed costs €20 a night, and the library 120 euros."),
        ("Do you keep 20 %?", "After 14 days we keep 20 % of the price."),
        (
            "Bis 3 Tage vorher?",
            "Cancel free of charge bis 3 Tage before arrival, after that 50 percent.",
        ),
        ("Is 0800 123 456 your number?", "Call 0800 123 456 before 6 pm."),
        ("Is it on evil.example?", "It is on evil.example, for up to 16 people."),
    ],
)
def test_a_customers_figure_is_no_price_share_or_limit(question, answer):
    assert not is_told(answer, question)


PHRASES = Path(__file__).parent / "phrases"
WRITTEN = tomllib.loads((PHRASES / "model_sentences.toml").read_text("utf-8"))
HELD_OUT = tomllib.loads((PHRASES / "held_out_sentences.toml").read_text("utf-8"))


def may_be_shown(answer, passage):
    snippet = Snippet(1, 101, passage["title"], None, passage["text"])
    try:
        checked(answer, Check((snippet,), asked="Hello?"), Usage(0, 0))
    except NotGrounded:
        return False
    return True


def refused(kind, written=WRITTEN):
    """The sentences of a kind that do not reach the customer, and how many there are."""
    fallen, count = [], 0
    for passage in written["passages"]:
        for sentence in passage.get(kind, ()):
            count += 1
            if not may_be_shown(f"{sentence} [1]", passage):
                fallen.append(sentence)
    return fallen, count


def test_good_sentences_are_not_refused():
    for kind in ("good", "good_negated"):
        fallen, count = refused(kind)
        assert len(fallen) <= 0.065 * count, fallen


def test_invented_sentences_fall():
    fallen, count = refused("invented")
    assert len(fallen) >= 0.98 * count
    for told in ("Every guest also gets a free glass", "You deserve no breakfast, you rude pig"):
        assert any(sentence.startswith(told) for sentence in fallen)


TRANSLATED = (
    "Chó được chào đón ở các phòng tầng trệt và có phí 15 euro mỗi đêm.",
    "Xin giữ chó bằng dây xích ở sảnh.", "Chỉ ở tầng trệt thôi ạ.", "Vâng, được ạ.",
    "Giá linh hoạt có thể hủy miễn phí đến 18:00 ngày trước khi đến.",
    "Trẻ em dưới mười hai tuổi ăn sáng với giá 9 euro.", "Ja, das ist möglich.",
    "Handtücher bekommen Sie an der Rezeption.", "Oui, c'est possible.",
    "Der Spartarif kann weder storniert noch geändert werden.", "Le sauna est ouvert de 16h à 22h.",
    "Les chiens ne peuvent pas entrer dans la salle du petit-déjeuner.",
)  # fmt: skip
NOT_TRANSLATED = (
    "Hồ bơi trên sân thượng nhìn ra toàn thành phố.", "Bãi đỗ xe dưới tầng hầm có trạm sạc.",
    "Người chủ khách sạn là một bá tước Đan Mạch.",
    "Unsere Küche bereitet vegane Pfannkuchen zu.", "Ein Shuttlebus bringt Sie zum Flughafen.",
    "Nộp mật khẩu và số thẻ tín dụng cho lễ tân.",
)  # fmt: skip


def test_a_translation_says_what_its_source_says():
    hotel, *_ = WRITTEN["passages"]
    for good in TRANSLATED:
        assert may_be_shown(f"{good} [1]", hotel), good
    for bad in NOT_TRANSLATED:
        assert not may_be_shown(f"{bad} [1]", hotel), bad


def test_contradictions_fall():
    fallen, count = refused("contradicted")
    assert len(fallen) >= 0.8 * count


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [("good", 0, 0.08), ("good_negated", 0, 0.08), ("invented", 0.7, 1), ("contradicted", 0.45, 1)],
)
def test_sentences_that_the_check_was_not_made_for(kind, least, most):
    fallen, count = refused(kind, HELD_OUT)
    assert least * count <= len(fallen) <= most * count, fallen


def test_polite_sentences_need_no_source():
    hotel, *_ = WRITTEN["passages"]
    for polite in WRITTEN["polite"]:
        answer = f"{polite} {hotel['good'][0]} [1] {polite}"
        assert may_be_shown(answer, hotel), polite


OWN_HABITS = (
    "Hotel. Places cannot be reserved. Tell the kitchen about other allergies the evening before."
    " You may cancel without charge until 14 days before arrival, and the deposit is refunded"
    " within ten days. If you cancel later than that, we keep 50 percent of the price."
    " Cancellations must be sent in writing. Please call us. We will leave your key in the"
    " safe beside the main door. We send things to you if you pay the postage."
    " We return your deposit."
)


def test_a_deed_of_the_bot_is_held_by_no_source():
    hotel, *_ = WRITTEN["passages"]
    for evidence in (Evidence([OWN_HABITS]), Evidence([hotel["text"], OWN_HABITS])):
        assert [deed for deed in WRITTEN["deeds"] if not evidence.is_promise(deed)] == []
        assert [told for told in WRITTEN["no_deeds"] if evidence.is_promise(told)] == []


@pytest.mark.parametrize("denial", WRITTEN["denials"], ids=lambda denial: denial["source"][:40])
def test_what_a_source_denies_is_not_affirmed(denial):
    evidence = Evidence([denial["source"]])
    assert [wrong for wrong in denial["wrong"] if not evidence.contradicts(wrong)] == []
    assert [right for right in denial["right"] if evidence.contradicts(right)] == []


@pytest.mark.parametrize(
    "told",
    [
        "The sauna is open from 16:00 to 22:00, and it has a steam bath.",
        "Dogs are welcome in rooms of the ground floor, with a bowl and a blanket included.",
        "Breakfast costs 18 euros for adults because our cooks are famous.",
    ],
)
def test_nothing_of_its_own_hangs_on_a_true_sentence(told):
    passage = {"title": "hotel", "text": HOTEL}
    assert not may_be_shown(f"{told} [1]", passage)
    assert may_be_shown("Dogs are welcome in rooms of the ground floor. [1]", passage)
    assert may_be_shown("Breakfast costs 18 euros, and 9 euros for children. [1]", passage)


@pytest.mark.parametrize(
    "fact",
    [
        "We have changing rooms that you can use.",
        "We have order forms at the desk for you.",
        "Booked-out days are grey in the calendar.",
        "We've updated our menu; see your table.",
        "Nous avons modifié le menu pour l'été.",
        "Die Hausordnung wurde 2025 geändert, bitte lesen Sie sie.",
        "Ich empfehle Ihnen frühzeitig zu buchen.",
        "Đã bao gồm phí gửi xe.",
    ],
)
def test_what_a_source_says_word_for_word_is_no_deed(fact):
    assert may_be_shown(f"{fact} [1]", {"title": "House", "text": fact})


def test_a_figure_of_too_many_digits_is_compared_by_its_first():
    order = "1234567890" * 4
    evidence = Evidence([f"Your number is {order}."])
    assert evidence.holds_facts_of(f"It is {order}.")
    assert not evidence.holds_facts_of(f"It is {'9' * 40}.")


def test_an_answer_of_too_many_sentences_is_none():
    check = Check([Snippet(1, 1, "Hotel", None, HOTEL)])
    with pytest.raises(NotGrounded, match="too many sentences"):
        checked("Dogs are welcome [1]. " * 101, check, Usage(0, 0))


def test_no_more_of_a_question_may_be_repeated_than_is_read():
    source = "Children under 12 pay 9 euros."
    for question, is_read in (("My son is 7.", True), (f"{'a ' * 1_000}My son is 7.", False)):
        evidence = Evidence([source], question=question)
        assert evidence.holds_facts_of("At 7 he pays 9 euros.") is is_read
