"""What customers write besides questions, in every language, and what is no such thing."""

import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bots.language import detection, intents, language_data, phrasebook, slot_filling
from bots.language.phrasebook import NormalizedText

FOLDER = Path(__file__).parent / "phrases"
UNDERSTOOD = tomllib.loads((FOLDER / "understood.toml").read_text("utf-8"))
HELD = tomllib.loads((FOLDER / "held_words.toml").read_text("utf-8"))
ORDINARY = tomllib.loads((FOLDER / "ordinary_questions.toml").read_text("utf-8"))
BOOKS = phrasebook.all_books()


def texts(code, kind):
    assert UNDERSTOOD[code][kind]
    return UNDERSTOOD[code][kind]


def test_there_is_a_complete_book_for_each_language():
    assert sorted(BOOKS) == sorted(UNDERSTOOD) == sorted(detection.LANGUAGES)
    english = BOOKS["en"]
    for book in BOOKS.values():
        assert book.says.keys() == english.says.keys()
        assert book.labels.keys() == english.labels.keys()
        assert all(
            text == text.strip() != "" for text in (*book.says.values(), *book.labels.values())
        )
        assert book.says["confirm"].count("{action}") == 1
        assert book.says["about_bot"].count("{company}") == 1
        # The channels cut a longer title of a survey, and its button.
        assert len(book.says["survey_question"]) <= 65
        assert len(book.says["survey_button"]) <= 20


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_no_two_languages_share_their_sentences(code):
    for other in BOOKS.keys() - {code}:
        for name, text in BOOKS[code].says.items():
            assert text != BOOKS[other].says[name], (other, name)


@pytest.mark.parametrize("code", detection.LANGUAGES)
@pytest.mark.parametrize("kind", ["greeting", "thanks", "goodbye", "about_bot"])
def test_small_talk_is_understood(code, kind):
    for text in texts(code, kind):
        assert intents.small_talk(text, language=code) == kind, text
        assert not intents.asks_for_person(text), text


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_a_request_for_a_person_is_understood(code):
    for text in texts(code, "person"):
        assert intents.asks_for_person(text), text
        assert intents.small_talk(text) is None, text


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_yes_and_no_are_understood_in_their_language(code):
    for text in texts(code, "yes"):
        assert intents.yes_or_no(text, language=code) is True, text
        assert BOOKS[code].small_talk(NormalizedText.of(text)) is None or code == "ja", text
    for text in texts(code, "no"):
        assert intents.yes_or_no(text, language=code) is False, text
        assert not intents.asks_for_person(text), text


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_what_is_said_when_asked_for_anything_else_is_understood(code):
    for text in texts(code, "yes"):
        assert intents.anything_else_answer(text, language=code) is not None, text
    for text in texts(code, "no"):
        assert intents.anything_else_answer(text, language=code) == "goodbye", text
    assert intents.anything_else_answer("👍", language=code) == "goodbye"
    for text in ORDINARY.get(code, []):
        assert intents.anything_else_answer(text, language=code) is None, text


@pytest.mark.parametrize("code", sorted(ORDINARY))
def test_ordinary_questions_are_nothing_but_questions(code):
    assert len(ORDINARY[code]) == 20
    for text in ORDINARY[code]:
        # Whoever wonders whether the bot is a person asks for none.
        assert intents.small_talk(text, language=code) in {None, "about_bot"}, text
        assert not intents.asks_for_person(text), text
        for spoken in detection.LANGUAGES:
            assert intents.yes_or_no(text, language=spoken) is None, text


def test_the_ordinary_questions_are_two_hundred_in_ten_languages():
    assert (len(ORDINARY), sum(map(len, ORDINARY.values()))) == (10, 200)


EMAIL: dict[str, Any] = {"name": "email", "type": "email", "label": {"en": "E-mail"}}


def said_to_a_field(text, code):
    return slot_filling.read(EMAIL, text, language=code).kind


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_words_that_an_ordinary_message_holds_decide_nothing(code):
    for text in HELD[code]["ordinary"]:
        assert intents.small_talk(text, language=code) is None, text
        assert not intents.asks_for_person(text), text
        assert said_to_a_field(text, code) == "other", text


@pytest.mark.parametrize("code", detection.LANGUAGES)
def test_the_same_words_are_still_understood(code):
    for kind in ("greeting", "thanks"):
        for text in HELD[code][kind]:
            assert intents.small_talk(text, language=code) == kind, text
    for text in HELD[code]["person"]:
        assert intents.asks_for_person(text), text
    for text in HELD[code]["refusal"]:
        assert said_to_a_field(text, code) == "declined", text


def test_the_messages_that_hold_such_words_are_many_in_each_family_of_languages():
    families = (
        "en de nl", "fr es it pt", "pl ru uk", "id ms", "tr", "ar", "hi", "th", "vi", "ja", "ko",
        "zh",
    )  # fmt: skip
    assert sorted(" ".join(families).split()) == sorted(HELD) == sorted(detection.LANGUAGES)
    assert sum(len(kinds["ordinary"]) for kinds in HELD.values()) >= 200
    for family in families:
        meant = [HELD[code][kind] for code in family.split() for kind in HELD[code]]
        assert sum(map(len, meant)) - sum(len(HELD[c]["ordinary"]) for c in family.split()) >= 20


@pytest.mark.parametrize(
    ("text", "spoken", "expected"),
    [
        ("tak", "pl", True), ("tak", "id", False), ("Co?", "pl", None), ("có", "pl", True),
        ("co", "vi", True), ("ya", "es", None), ("yes", "th", True), ("да", "en", True),
        ("k", "en", None), ("si", "en", None), ("はい", "zh-TW", True), ("ok", "xx", True),
    ],
)  # fmt: skip
def test_a_word_means_what_it_means_in_the_language_of_the_chat(text, spoken, expected):
    assert intents.yes_or_no(text, language=spoken) is expected


def test_a_word_of_two_languages_is_read_in_the_language_of_the_chat():
    assert intents.small_talk("chao", language="vi") == "greeting"
    assert intents.small_talk("chao", language="es-MX") == "goodbye"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("halo admin", False), ("admin", True), ("สวัสดี แอดมิน", False),
        # Without its vowel it would be a person.
        ("ขอคืน", False), ("ขอคน", True),
        # Each clause says what it says.
        ("I don't want a bot, I want a human", True), ("I want no human", False),
        ("No, a human please", True), ("Not a human?", False),
        ("A manager, an agent: what does each of them cost?", False),
        # After another sentence, only a polite request: alone, it answers the question before it.
        ("Who changed my order? An agent, please.", True), ("谁修改了我的订单？客服", False),
        ("誰が返事しますか。担当者。", False),
    ],
)  # fmt: skip
def test_what_is_a_request_for_a_person(text, expected):
    assert intents.asks_for_person(text) is expected


@pytest.mark.parametrize(
    "text", ["", " ", "?", "🙂🙂", "\x00", "\ud800", "'", "~", "{who}", "\u0627\u064b" * 500]
)
def test_odd_messages_are_nothing(text):
    assert intents.small_talk(text) is None
    assert not intents.asks_for_person(text)
    assert intents.yes_or_no(text, language="de") is None
    assert phrasebook.languages_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "customer service " * 100, "ok " * 500, "real live human " * 100, "talk to a " * 100,
        "客服" * 500, "คน" * 500, "사람 " * 300, "a " * 5_000, "hi hello " * 100,
        "từ nhân viên " * 90, "mit einem " * 200 + "menschen", "من " * 400 + "موظف",
    ],
)  # fmt: skip
def test_no_message_takes_long(text):
    intents.asks_for_person(text)
    started = time.process_time()
    intents.small_talk(text)
    intents.asks_for_person(text)
    intents.yes_or_no(text, language="en")
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("text", "expected", "recognized"),
    [
        ("Hallo", ("en", "de"), "de"), ("Hallo", ("nl",), "nl"), ("Danke", ("en",), "de"),
        ("Ciao", ("en",), "it"), ("Merci", ("en",), "fr"), ("hello", ("de", "en"), None),
        ("ok", ("vi",), None), ("no thanks", ("pl",), None), ("thanks bro", ("id",), None),
        ("hello sir", ("hi",), None), ("thanks, bye", ("de",), None), ("hi shop", ("en",), "vi"),
        ("สวัสดี", ("en",), "th"), ("شكرا", ("en",), "ar"), ("नमस्ते", ("en",), "hi"),
        ("спасибо", ("en",), "ru"), ("дякую", ("ru",), "uk"), ("営業時間", ("ja",), "ja"),
        ("営業時間", ("en",), "zh"), ("Mitarbeiter bitte", ("en",), "de"),
        ("iPhone 15 Pro Max", ("de", "en"), None), ("terima kasih", ("ms",), "ms"),
        ("Как добавить сотрудника в аккаунт?", ("en",), "ru"),
        ("Como adiciono um contato?", ("pt-BR",), "pt"), ("onde fica a loja", ("pt",), "pt"),
        ("onde fica a loja", ("en",), None), ("berapa harga barang ini", ("en",), "id"),
        ("berapa harga barang ini", ("en", "ms"), "ms"),
    ],
)  # fmt: skip
def test_the_language_of_short_messages(text, expected, recognized):
    assert detection.recognize(text, expected=expected) == recognized


@pytest.mark.parametrize("code", sorted(ORDINARY))
def test_the_language_of_questions_is_recognized(code):
    for text in ORDINARY[code]:
        assert detection.detect(text, default="en") == code, text


@pytest.mark.parametrize(
    "text", ["tôi không muốn cho", "mình không muốn đưa số", "Không thích cho ạ"]
)
def test_who_will_not_give_it_declines_in_vietnamese(text):
    assert said_to_a_field(text, "vi") == "declined"


def test_every_entry_of_a_lexicon_is_read():
    code = "".join(
        path.read_text() for path in Path(language_data.__file__).parents[1].rglob("*.py")
    )
    names = {
        name
        for entries in language_data.LEXICONS.values()
        for section in ("writing", "search", "questions", "sentences", "headings", "amounts")
        for name in entries.get(section, {})
    }
    assert len(names) > 20
    assert [name for name in names if not re.search(rf"[\"']{name}[\"']", code)] == []
