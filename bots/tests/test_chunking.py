"""Chunks of a text: complete, within the limits, and divided into sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.ingest import chunking
from bots.ingest.extraction.document import ExtractedText, Section
from bots.ingest.extraction.file_types import PLAIN


def extracted(*sections: Section) -> ExtractedText:
    return ExtractedText(title="t", mime_type=PLAIN, sections=sections, language="en")


TEXT = st.text(
    alphabet=st.sampled_from("aB.é?! \n-1、。กข漢字đ,:\t•…\"')"), min_size=0, max_size=3000
)
WORDS = st.lists(
    st.sampled_from(
        ["word", "Mr.", "3.5", "end.", "Next?", "\n", "\n\n", "漢字かな。", "x" * 1700]
    ),
    max_size=700,
).map(" ".join)


def squeezed(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TEXT | WORDS, st.none() | st.integers(1, 3)), min_size=1, max_size=3))
def test_pieces_cover_the_text_within_the_limits(parts: list[tuple[str, int | None]]) -> None:
    sections = [Section("Head", text, page) for text, page in parts]
    pieces = chunking.chunk(extracted(*sections))
    covered: list[str] = []
    for position, piece in enumerate(pieces):
        assert piece.position == position
        assert chunking.count_words(piece.text) <= chunking.MAX_WORDS
        assert len(piece.text) <= chunking.MAX_CHARACTERS
        assert squeezed("".join(piece.sentences)) == squeezed(piece.text)
        covered.append(squeezed(piece.text))
    # Each piece continues the source, or starts inside the text already covered (the overlap).
    source, reached = squeezed("".join(text for text, _ in parts)), 0
    for piece, text in zip(pieces, covered, strict=True):
        overlap = len(squeezed(piece.sentences[0]))
        if source.startswith(text, reached):
            reached += len(text)
            continue
        assert source.startswith(text, reached - overlap)
        reached += len(text) - overlap
    assert reached == len(source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Lee paid 3.50 dollars. He left.", ["Mr. Lee paid 3.50 dollars.", "He left."]),
        (
            "See https://a.example/b.html?x=1. Then go.",
            ["See https://a.example/b.html?x=1.", "Then go."],
        ),
        (
            "Ở TP. Hồ Chí Minh có 2 chi nhánh. Giá 25.000 đồng.",
            ["Ở TP. Hồ Chí Minh có 2 chi nhánh.", "Giá 25.000 đồng."],
        ),
        ("Use tools, e.g. a saw. Really? Yes!", ["Use tools, e.g. a saw.", "Really?", "Yes!"]),
        ("1. Open the box.\n2. Take it out.", ["1. Open the box.", "2. Take it out."]),
        ("- one\n- two", ["- one", "- two"]),
        ("今日は休みです。明日は開きます。", ["今日は休みです。", "明日は開きます。"]),
        (
            "A line that was broken at the width of the page and\ngoes on here.",
            ["A line that was broken at the width of the page and goes on here."],
        ),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert chunking.split_sentences(text) == expected


def test_heading_goes_into_the_embedded_text_only() -> None:
    (piece,) = chunking.chunk(extracted(Section("Returns", "Thirty days.")))
    assert piece.heading == "Returns"
    assert piece.text == "Thirty days."
    assert piece.embedded == "Returns\nThirty days."


def test_the_short_end_of_a_section_goes_with_what_stands_before() -> None:
    long = " ".join(f"Guests of room {n} park behind the house for nine euros." for n in range(8))
    end = "See the house rules for more."
    (piece,) = chunking.chunk(extracted(Section("Parking", f"{long}\n\n{end}")))
    assert piece.text == f"{long}\n\n{end}"
    other = Section("Other", end)
    assert len(chunking.chunk(extracted(Section("Parking", long), other))) == 2, (
        "not across headings"
    )


def test_one_sentence_overlaps_inside_a_paragraph() -> None:
    text = " ".join(f"Sentence number {n} has exactly these eight words." for n in range(60))
    pieces = chunking.chunk(extracted(Section("", text)))
    assert len(pieces) > 1
    for before, after in zip(pieces, pieces[1:], strict=False):
        assert after.sentences[0] == before.sentences[-1]


def test_a_sentence_over_two_pages_is_whole() -> None:
    pieces = chunking.chunk(
        extracted(Section("", "The fee is", 1), Section("", "five euros a day.", 2))
    )
    assert [(piece.page, piece.sentences) for piece in pieces] == [
        (1, ("The fee is five euros a day.",))
    ]
