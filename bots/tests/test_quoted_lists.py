"""How passages of one section are quoted: lists whole, and in the order of the document."""

import pytest

from bots.ingest import chunking
from bots.ingest.extraction.document import ExtractedText, Section
from bots.language import embedding
from bots.search import answer_extraction
from bots.search.hybrid_index import Index, IndexedPassage

DUTIES = [
    f"{letter}) The {who} must keep the {what} in a dry room and show it to the warden of the "
    f"harbour whenever the warden asks for it between the hours of nine and five."
    for letter, who, what in (
        ("a", "owner", "licence"), ("b", "skipper", "logbook"), ("c", "cook", "certificate"),
    )
]  # fmt: skip
BOATS = (
    "You may hire a sailing boat for a day or longer, provided that you have sailed before and "
    "that all of these conditions are met by the people on board:"
)
OTHER = "It is read by every build, and written by the first one and by an update."

COMMIT = "Should I keep the lock file in git to find the commit that broke the build?"
OTHERS = [
    Section("Ferry", "The ferry leaves every hour."),
    Section("Café", "Soup is served at noon."),
]


def alike(*counts: int) -> list[str]:
    """Two passages that answer it alike, with so many more sentences."""
    return [
        " ".join([f"Keep the {name} in git to find the commit that broke the build.", *[OTHER] * n])
        for name, n in zip(("Lock file", "lock file"), counts, strict=True)
    ]


# Two that are too long to be quoted as one, and what of them has room in a reply.
WHOLE, CUT = alike(4, 4), alike(2, 1)


def answer(question: str, *sections: Section, threshold: float = 0.1) -> str:
    pieces = chunking.chunk(ExtractedText("Harbour", "text/plain", (*sections, *OTHERS), "en"))
    vectors = embedding.embed_passages([piece.embedded for piece in pieces])
    assert vectors is not None
    passages = []
    for piece, vector in zip(pieces, vectors, strict=True):
        sentences = embedding.embed_passages(list(piece.sentences))
        assert sentences is not None
        passages.append(
            IndexedPassage(
                id=100 - piece.position, document_id=1, title="Harbour", url=None,
                heading=piece.heading, page=None, text=piece.text, language="en", vector=vector,
                sentences=piece.sentences, sentence_vectors=sentences, position=piece.position,
            )
        )  # fmt: skip
    result = Index(passages).search(question, language="en")
    quoted = answer_extraction.extract(question, language="en", result=result, threshold=threshold)
    assert quoted
    return quoted.text


@pytest.mark.full
def test_a_list_that_goes_on_in_the_next_passage_is_quoted_whole() -> None:
    boats = Section("Boats", "\n\n".join([BOATS, *DUTIES]))
    reply = answer("Which conditions must be met to hire a sailing boat?", boats)
    assert reply == boats.text
    assert chunking.count_words(reply) > answer_extraction.MAX_WORDS


def test_the_list_of_another_section_is_not_hung_on() -> None:
    boats = Section("Boats", BOATS.removesuffix(":") + ".")
    rules = Section("Harbour", "\n\n".join(["The harbour has rules:", *DUTIES]))
    assert answer("May I hire a sailing boat for a day?", boats, rules) == boats.text


def test_a_long_list_is_not_broken_off() -> None:
    """Its passage is longer than a quote; what follows the list is left out."""
    papers = ("licence", "logbook", "certificate", "passport", "timetable", "map")
    items = [f"- The {paper} is kept dry, and is shown to the warden whenever she asks for it."
             for paper in papers]  # fmt: skip
    boats = Section("Boats", "\n".join(["To hire a sailing boat you need these papers:", *items]))
    assert chunking.count_words(boats.text) <= chunking.MAX_WORDS
    reply = answer("Which papers do I need to hire a sailing boat?", boats)
    assert [item in reply for item in items] == [True] * len(items)


@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_passages_of_one_section_stand_in_the_order_of_the_document(
    places: tuple[int, int],
) -> None:
    section = Section("Lock file", "\n\n".join(WHOLE[place] for place in places))
    assert answer(COMMIT, section) == "\n\n".join(CUT[place] for place in places)


@pytest.mark.parametrize(
    ("passages", "quotes"),
    [(alike(1, 1), alike(1, 1)), (WHOLE, alike(1, 2))],
    ids=["whole", "cut"],
)
def test_of_passages_of_two_sections_the_best_leads(passages: list[str], quotes: list[str]) -> None:
    replies = {
        answer(COMMIT, *(Section(f"Part {place}", passages[place]) for place in places))
        for places in ((0, 1), (1, 0))
    }
    assert replies == {"\n\n".join(reversed(quotes))}, "the better one is in part 1"


def test_the_rest_of_an_item_goes_with_it() -> None:
    papers = ("licence", "logbook", "certificate", "passport", "timetable", "map", "flag")
    items = [f"- The {paper} is kept dry in the boat. But it is shown to the warden on Sundays."
             for paper in papers]  # fmt: skip
    text = "\n".join(["To hire a sailing boat you need these papers:", *items])
    prices = "Prices stand on another page.\n\n- Soup is served at noon."
    reply = answer(
        "What is needed to hire a sailing boat?", Section("Boats", f"{text}\n\n{prices}")
    )
    assert reply == text, "to the end of the list, and no further"


def test_no_price_list_is_hung_on() -> None:
    packing = "We pack with care:\n- " + "\n- ".join(f"paper of {n} layers" for n in range(14))
    rows = "\n".join(f"- Weight: up to {n} kg, Price: {n}.50 euros" for n in range(1, 9))
    section = Section("Parcels", f"{packing}\n\n{rows}")
    assert "Price" not in answer("Do you pack with care?", section)


def test_a_paragraph_that_two_quotes_hold_is_said_once() -> None:
    where = "in a dry room of the lighthouse, at the end of the pier, behind the slipway"
    duties = [duty.replace("in a dry room", where) for duty in DUTIES]
    boats = Section("Boats", "\n\n".join([BOATS, *duties]))
    paragraphs = answer("Which conditions are met?", boats).split("\n\n")
    assert len(paragraphs) == len(set(paragraphs)) > 1


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What must the skipper show to the warden?", 1),
        ("Must the cook keep the certificate in a dry room?", 2),
    ],
)
def test_of_a_list_the_one_item_that_is_asked_for_is_quoted(question: str, item: int) -> None:
    boats = Section("Boats", "\n\n".join([BOATS, *DUTIES]))
    assert answer(question, boats) == DUTIES[item]


@pytest.mark.parametrize("heading", ["How do I reset the router?", "The router"])
def test_numbered_steps_are_quoted_together(heading: str) -> None:
    steps = Section(heading, "\n".join([
        "1. Hold the small button of the router for ten seconds.", "2. Wait for the green lamp.",
        "3. If the router does not reset, repeat step 1 and call the hotline.",
    ]))  # fmt: skip
    assert answer("How do I reset the router?", steps) == steps.text


def test_numbered_steps_that_exceed_a_quote_are_quoted_from_the_first() -> None:
    steps = [f"{number}. Hold the {name} button of the router until the lamp is {name}, and then "
             f"let go of it." for number, name in enumerate(
                 ("red", "blue", "grey", "brown", "black", "white", "green"), 1)]  # fmt: skip
    steps[5] = "6. If you do not reset the router with these steps, call the hotline of our shop."
    section = Section("The router", "\n".join(steps))
    assert chunking.count_words(section.text) > answer_extraction.MAX_WORDS
    assert answer("How do I reset the router?", section) == section.text


@pytest.mark.parametrize("bullet", ["-", "•"])
@pytest.mark.parametrize("introduction", ["We accept:\n", ""])
@pytest.mark.parametrize("name", ["Maestro debit cards", "Maestro"])
def test_a_list_of_names_is_quoted_whole(bullet: str, introduction: str, name: str) -> None:
    items = "\n".join(f"{bullet} {item}" for item in ("Visa", name, "Amex"))
    cards = Section("Paying", introduction + items)
    assert answer("Which cards do you accept?", cards) == cards.text


def test_what_follows_a_list_is_not_part_of_its_last_item() -> None:
    cards = Section("Paying", "- Visa credit cards\n- Amex credit cards\n\nWe do not take cash.")
    assert answer("Do you take cash?", cards) == cards.text


@pytest.mark.full
def test_of_a_very_long_list_so_many_items_are_quoted_as_there_is_room_for() -> None:
    duties = [DUTIES[0].replace("licence", f"paper {number}") for number in range(12)]
    boats = Section("Boats", "\n".join([BOATS, *duties]))
    reply = answer("Which conditions must be met to hire a sailing boat?", boats)
    assert answer_extraction.MAX_WORDS < chunking.count_words(reply) <= answer_extraction.LIST_WORDS
    assert reply.splitlines() == boats.text.splitlines()[: len(reply.splitlines())]
    assert len(set(reply.splitlines())) == len(reply.splitlines())
