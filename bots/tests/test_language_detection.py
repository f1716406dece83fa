"""Language detection in short messages."""

import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from bots.language import detection


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long does the delivery take to my town?", "en"),
        ("Cửa hàng mở cửa lúc mấy giờ vậy?", "vi"),
        ("giá bao nhiêu", "vi"),
        ("¿Cuánto tarda el envío a mi ciudad?", "es"),
        ("Wie lange dauert die Lieferung nach Berlin?", "de"),
        ("営業時間は何時までですか", "ja"),
        ("你们几点关门", "zh"),
        ("เปิดกี่โมงครับ", "th"),
    ],
)
def test_detects(text: str, expected: str) -> None:
    assert detection.detect(text, default="fr") == expected


@pytest.mark.parametrize("text", ["", "ok", "hello", "12345 67 89", "🙂🙂", "\x00", "\ud800"])
def test_short_texts_get_the_default(text: str) -> None:
    assert detection.detect(text, default="vi") == "vi"
    assert detection.detect(text, default="en") == "en"


def test_only_supported_languages_are_returned() -> None:
    assert len(detection.LANGUAGES) == 20
    assert detection.detect("Lorem ipsum dolor sit amet consectetur", default="en") in (
        detection.LANGUAGES
    )


@pytest.mark.full
def test_concurrent_first_messages_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    detection._identifier.cache_clear()
    loaded = []
    real = importlib.import_module

    def count(name: str) -> object:
        loaded.append(name)
        return real(name)

    monkeypatch.setattr("bots.language.detection.importlib.import_module", count)
    text = "How long does the delivery take?"
    with ThreadPoolExecutor(8) as threads:
        languages = list(threads.map(lambda _: detection.detect(text, default="fr"), range(8)))
    assert languages == ["en"] * 8
    assert len(loaded) == 1


def test_a_list_of_names_and_figures_is_surely_in_no_other_language():
    assert detection.is_certainly_other("Vorrei un cappuccino e un latte macchiato.", "de")
    names = "Cappuccino 3,20 €, Latte Macchiato 3,80 €, Espresso 2,40 €"
    assert not detection.is_certainly_other(names, "de")
