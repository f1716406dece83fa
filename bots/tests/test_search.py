"""The index of one bot: order of hits, mixing of scores, important documents, the confidence."""

import time

import numpy as np
import pytest

from bots.language import embedding, intents, quantity_matching
from bots.language.embedding import Vectors
from bots.search import answer_extraction, hybrid_index
from bots.search.hybrid_index import Index, IndexedPassage

EMPTY = np.zeros(0, dtype=np.float32)


def plain(
    number: int,
    text: str,
    *,
    language: str = "en",
    vector: Vectors = EMPTY,
    is_important: bool = False,
    document: int = 1,
) -> IndexedPassage:
    return IndexedPassage(
        id=number,
        document_id=document,
        title="Guide",
        url=None,
        heading="",
        page=None,
        text=text,
        language=language,
        vector=vector,
        sentences=(text,),
        sentence_vectors=np.zeros((0, embedding.DIMENSION), dtype=np.float32),
        is_important=is_important,
    )


def asked(text: str) -> Vectors:
    vector = embedding.embed_query(text)
    assert vector is not None
    return vector


def test_a_text_that_is_near_to_any_question_does_not_lead() -> None:
    any_questions = ["When are you open?", "What does it cost?", "Who can help me?"]
    any_question = np.stack([asked(text) for text in any_questions]).mean(axis=0)
    question = asked("Is my bicycle welcome on the ferry?")
    own = question - asked("Is my dog welcome?")
    vague, fitting = any_question, any_question + 0.6 * own
    vectors = [vector / np.linalg.norm(vector) for vector in (vague, fitting)]
    vectors[1] *= 0.98 * (vectors[0] @ question) / (vectors[1] @ question)
    passages = [plain(n, f"Text {n}.", vector=vector) for n, vector in enumerate(vectors)]
    assert vectors[0] @ question > vectors[1] @ question, "the vague one is nearer as a whole"
    result = Index(passages).search_vector("bicycle ferry", question, language="en")
    assert result.hits[0].passage.id == 1


LETTERS = [
    "Product: Small letter\nWeight: up to 50 g\nPrice: 1.10",
    "Product: Large letter\nWeight: up to 500 g\nPrice: 1.80",
    "Product: Huge letter\nWeight: up to 2 kg\nPrice: 2.90",
    "Product: Crate letter\nWeight: from 500 g\nPrice: 9.90",
    "Product: Savings account\nInterest: low\nFee: none",
    "Product: Telephone with a cord\nColour: green\nGuarantee: none",
]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What does a letter of 400 grams cost?", 1),
        ("What does a letter of 40g cost?", 0),
        ("What does a letter of 0.5 kg cost?", 1),
    ],
)
def test_a_question_with_an_amount_finds_the_row_that_it_fits(question: str, number: int) -> None:
    vectors = embedding.embed_passages(LETTERS)
    assert vectors is not None
    passages = [plain(n, text, vector=vectors[n]) for n, text in enumerate(LETTERS)]
    assert Index(passages).search(question, language="en").hits[0].passage.id == number


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What does a letter cost?", []),
        ("Letters of 9,000 kg?", []),  # more than any row is for
        ("Room 12, 3 days", []),  # another measure
        ("a letter of 501 g", [2]),
        ("500 g", [1]),  # a row from 500 g on says no limit
        ("a year", []),
    ],
)
def test_rows_that_an_amount_fits(question: str, rows: list[int]) -> None:
    fits = quantity_matching.fitting(
        question, [quantity_matching.amounts(text) for text in LETTERS]
    )
    assert list(np.flatnonzero(fits)) == rows


def test_amounts_are_compared_across_units() -> None:
    assert quantity_matching.amounts("a year") == quantity_matching.amounts("12 months")
    assert (
        quantity_matching.amounts("1,000 g")
        == quantity_matching.amounts("1 kg")
        == quantity_matching.amounts("1.0 kilo")
    )


def test_amounts_count_in_rows_alone() -> None:
    vectors = embedding.embed_passages(LETTERS)
    assert vectors is not None
    texts = [text.replace("\n", ". ") for text in LETTERS]
    passages = [plain(n, text, vector=vectors[n]) for n, text in enumerate(texts)]
    found = [
        {hit.passage.id: round(hit.score, 3) for hit in Index(passages).search_vector(
            question, vectors[0], language="en").hits}
        for question in ("letters of 400 gram", "letters of 400 days")
    ]  # fmt: skip
    assert found[0] == found[1]


TEXTS = ["Parcels arrive on Monday.", "Refunds need a receipt.", "Dogs may enter the garden."]


def test_without_vectors_words_are_searched() -> None:
    index = Index([plain(n, text) for n, text in enumerate(TEXTS)])
    result = index.search("refund without receipt", language="en")
    assert result.hits[0].passage.id == 1
    assert result.vector is None
    assert result.confidence > index.search("weather in Paris", language="en").confidence


def test_empty_index_finds_nothing() -> None:
    result = Index([]).search("anything", language="en")
    assert result.hits == ()
    assert result.confidence == 0
    assert (
        answer_extraction.extract("anything", language="en", result=result, threshold=0.1) is None
    )


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_an_important_document_is_read_beside_the_best(limit: int) -> None:
    passages = [plain(n, text, is_important=n == 2) for n, text in enumerate(TEXTS)]
    hits = Index(passages).search("refund receipt", language="en", limit=limit).hits
    assert [hit.passage.id for hit in hits][0] == 1, "what is far from the question does not lead"
    assert 2 in [hit.passage.id for hit in hits]
    assert len(hits) == min(limit + 1, 3)
    assert Index(passages).search("refund receipt", language="en", limit=0).hits == ()


def test_important_documents_share_their_places_by_relevance() -> None:
    places = hybrid_index.MAX_IMPORTANT_HITS
    texts = [f"Refund rule {'refund ' * n}" for n in range(places + 3)]
    passages = [plain(n, text, is_important=True, document=n) for n, text in enumerate(texts)]
    # A second passage of a document does not displace another document.
    passages.append(plain(99, texts[-1], is_important=True, document=len(texts) - 1))
    plainly = [plain(100 + n, f"Refund {n} refund refund refund") for n in range(20)]
    index = Index([*passages, *plainly])
    hits = index.search("refund rule", language="en", limit=1).hits
    held = {hit.passage.document_id for hit in hits if hit.passage.is_important}
    ranked = index.search("refund rule", language="en", limit=50).hits
    nearest = sorted((h for h in ranked if h.passage.is_important), key=lambda h: -h.score)
    expected = dict.fromkeys(hit.passage.document_id for hit in nearest)
    assert held == set(list(expected)[:places])


def test_an_important_text_leads_if_scores_are_near() -> None:
    old, new = "Refunds take thirty days.", "Refunds take sixty days."
    for order in ((old, new), (new, old)):
        passages = [
            plain(n, text, is_important=text == new, document=n)
            for n, text in enumerate([*order, *TEXTS])
        ]
        result = Index(passages).search("how many days do refunds take", language="en")
        assert result.hits[0].passage.text == new
        reply = answer_extraction.extract(
            "how many days do refunds take", language="en", result=result, threshold=0.5
        )
        assert reply
        assert reply.text == new
        assert [cited.quote for cited in reply.citations] == [new]


def test_an_important_text_does_not_raise_the_confidence() -> None:
    without = [plain(n, text) for n, text in enumerate(TEXTS)]
    within = [plain(n, text, is_important=True) for n, text in enumerate(TEXTS)]
    for question in ("weather in Paris", "refund receipt"):
        result, other = (
            Index(passages).search(question, language="en") for passages in (without, within)
        )
        assert result.confidence == other.confidence
    off_topic = Index(within).search("weather in Paris", language="en")
    threshold = hybrid_index.DEFAULT_THRESHOLD
    assert (
        answer_extraction.extract(
            "weather in Paris", language="en", result=off_topic, threshold=threshold
        )
        is None
    )


def test_vietnamese_without_marks_is_matched() -> None:
    texts = ["Đổi hàng trong bảy ngày.", "Cửa hàng đóng cửa Chủ nhật.", "Phí giao hàng cố định."]
    index = Index([plain(n, text, language="vi") for n, text in enumerate(texts)])
    assert index.search("phi giao", language="vi").hits[0].passage.id == 2
    assert index.search("phí giao", language="vi").hits[0].passage.id == 2


def test_across_languages_only_vectors_count() -> None:
    near, far = np.eye(2, embedding.DIMENSION, dtype=np.float32)
    passages = [
        plain(0, "Zoo zoo.", language="vi", vector=far),
        plain(1, "Mèo.", language="vi", vector=near),
    ]
    result = Index(passages).search_vector("what is a zoo of cats", near, language="en")
    assert result.hits[0].passage.id == 1


@pytest.mark.parametrize("question", ["", "\x00", "?", "🙂", "\ud800", "a" * 5000])
def test_odd_questions_raise_nothing(question: str) -> None:
    result = Index([plain(n, text) for n, text in enumerate(TEXTS)]).search(question, language="en")
    assert len(result.hits) == 3
    assert result.confidence < hybrid_index.DEFAULT_THRESHOLD


@pytest.mark.full
def test_a_thousand_pieces_are_quick() -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(1000, embedding.DIMENSION)).astype(np.float32)
    words = [f"word{n}" for n in range(3000)]
    passages = [
        plain(n, " ".join(random.choice(words, 120)), vector=vectors[n]) for n in range(1000)
    ]
    started = time.process_time()
    index = Index(passages)
    assert time.process_time() - started < 2
    started = time.process_time()
    for _ in range(20):
        index.search_vector("word1 word2 word3 word4", vectors[0], language="en")
    assert (time.process_time() - started) / 20 < 0.03


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello!", "greeting"),
        ("Xin chào shop", "greeting"),
        ("thanks a lot", "thanks"),
        ("Cảm ơn bạn nhiều", "thanks"),
        ("bye", "goodbye"),
        ("Tạm biệt nhé", "goodbye"),
        ("hello, where is my order?", None),
        ("", None),
    ],
)
def test_small_talk(text: str, kind: str | None) -> None:
    assert intents.small_talk(text) == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("talk to a human", True),
        ("I want to speak with a real person please", True),
        ("cho tôi gặp nhân viên", True),
        ("chuyển tôi cho tư vấn viên", True),
        ("are you a human?", False),
        ("I don't want to talk to a human", False),
        ("what does the travel agent fee cost", False),
        ("", False),
    ],
)
def test_asks_for_person(text: str, *, expected: bool) -> None:
    assert intents.asks_for_person(text) is expected
