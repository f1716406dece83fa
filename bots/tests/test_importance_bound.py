"""The extractive engine: an important passage wins if its score is close enough to the best."""

import numpy as np
import pytest

from bots.search import answer_extraction
from bots.search.hybrid_index import Features, Hit, IndexedPassage, SearchResult

FEATURES = Features(0, 0, 0, is_cross_language=False, is_folded=False, passages=2)


def hit(number: int, text: str, cosine: float, *, is_important: bool) -> Hit:
    """A passage of one sentence with this cosine to the question."""
    vector = np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)
    passage = IndexedPassage(
        id=number,
        document_id=number,
        title="",
        url=None,
        heading="",
        page=None,
        text=text,
        language="en",
        vector=vector,
        sentences=(text,),
        sentence_vectors=vector[np.newaxis],
        is_important=is_important,
    )
    return Hit(passage, score=1, cosine=cosine, coverage=0)


@pytest.mark.parametrize(("below", "answers"), [(0.2, "important"), (0.3, "best")])
def test_an_important_passage_wins_within_its_bound(below: float, answers: str) -> None:
    # A sentence's score is 4 for its cosine; each place further down takes 0.08.
    cosine = 0.9 - (below - 0.08) / 4
    result = SearchResult(
        hits=(
            hit(1, "This is the best sentence.", 0.9, is_important=False),
            hit(2, "This is the important sentence.", cosine, is_important=True),
        ),
        confidence=1,
        features=FEATURES,
        vector=np.array([1, 0], dtype=np.float32),
    )
    quoted = answer_extraction.extract("Which?", language="en", result=result, threshold=0.5)
    assert quoted is not None
    assert quoted.text == f"This is the {answers} sentence."
