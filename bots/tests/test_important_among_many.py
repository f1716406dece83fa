"""Important documents among many others: `bench/important_documents.py` in small, a lower bound."""

import pytest

from bench import important_documents


@pytest.mark.full
def test_important_documents_are_read_and_win() -> None:
    index, questions = important_documents.corpus(45)
    figures = important_documents.measure(index, questions)
    assert figures.questions >= 50
    assert figures.important_read >= 0.99
    assert figures.important_wins >= 0.8
    assert figures.routine_read >= 0.95
    assert figures.routine_overruled <= 0.1
    assert figures.off_topic_answered == 0
