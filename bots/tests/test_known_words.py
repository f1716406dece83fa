"""The word lists: what is a word of a language."""

import pytest

from bots.language import embedding, known_words
from bots.search.hybrid_index import Index
from bots.tests.test_search import plain


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("passport", "en", True),
        ("Thicket", "en", True),
        ("passprt", "en", False),
        ("Fahrkarte", "de", True),
        ("Fahrkarte", "en", False),
        ("été", "fr", True),
        ("хлеб", "ru", True),
        ("đường", "vi", False),
        ("word", "tlh", False),
        ("", "en", False),
    ],
)
def test_words(word: str, language: str, *, expected: bool) -> None:
    assert known_words.is_word(word, language) is expected


@pytest.mark.full
def test_every_list_can_be_read() -> None:
    for code in known_words.LANGUAGES:
        assert not known_words.is_word("qqqqzz", code)


@pytest.mark.skipif(not embedding.available(), reason="without an encoder nothing is corrected")
@pytest.mark.parametrize(
    ("question", "language", "corrected"),
    [
        ("How do I renew a passport?", "en", "How do I renew a passport?"),
        ("How do I renew a pasword?", "en", "How do I renew a password?"),
        ("a Thicket", "en", "a Thicket"),
        # Nothing is known of the words of this language.
        ("a Thicket", "vi", "a ticket"),
    ],
)
def test_real_words_stay(question: str, language: str, corrected: str) -> None:
    index = Index([plain(0, "Your password and your ticket are in the mail.")])
    assert index.corrected(question, language=language) == corrected
