"""Measure how often the engine reads an important document, and how often it answers from it.

    python bench/important_documents.py [documents]

Needs no database. The corpus is several hundred short documents of one retailer (the same topics
at many branches, so that near-duplicates compete) and ten important notices. Each notice
contradicts a routine document, and six questions ask for it. Encoding takes a minute or two.
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bots.ingest import chunking, extraction
from bots.language import embedding
from bots.search import answer_extraction, hybrid_index

BRANCHES = [
    "Harbour", "Old Mill", "Station", "Riverside", "Cathedral", "Market Hall", "University",
    "Airport", "Lakeside", "Castle", "Garden City", "North Pier", "South Gate", "Hillcrest",
    "Canal", "Forest Park", "Stadium", "Westfield", "Eastbank", "Lighthouse",
]  # fmt: skip


@dataclass(frozen=True)
class Topic:
    """A topic of routine documents: `{b}` is the branch, `{n}` a number that differs by branch."""

    title: str
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    # Customers' questions, in different words than the texts.
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question, and the document with its answer."""

    text: str
    document_id: int
    is_important: bool


TOPICS = (
    Topic(
        "Returns", (14, 21, 28, 30),
        (
            "Goods bought at the {b} branch may be returned within {n} days of purchase. Bring the"
            " receipt and the original packaging. The refund goes to the card that paid.",
            "The {b} branch takes unused articles back for {n} days. Without a receipt you get a"
            " voucher instead of money. Sale items are excluded.",
        ),
        (
            "How long do I have to bring something back to {b}?",
            "Can I return shoes at {b} after three weeks?",
            "Until when does the {b} branch take unused things back?",
            "I bought a jacket at {b} and do not like it. How many days to return it?",
            "What is the return period at {b}?",
            "refund deadline {b} branch",
        ),
    ),
    Topic(
        "Opening hours", (7, 8, 9, 10),
        (
            "The {b} branch opens at {n} o'clock from Monday to Saturday and closes at eight in"
            " the evening. On Sundays it stays closed. Public holidays are announced at the door.",
            "Doors at {b} open at {n} in the morning. Last entry is a quarter of an hour before"
            " closing. The cafe opens an hour later.",
        ),
        (
            "When does the {b} shop open in the morning?",
            "What are your opening hours at {b}?",
            "Is {b} already open at half past eight?",
            "From what time can I come to the {b} branch?",
            "At what hour do the doors open at {b}?",
            "{b} opening time",
        ),
    ),
    Topic(
        "Delivery fee", (4, 5, 6, 9),
        (
            "Delivery from the {b} branch costs {n} euros inside the city. Orders above a hundred"
            " euros are delivered free of charge. Furniture is quoted separately.",
            "Our {b} van brings your order for a flat fee of {n} euros. The driver calls half an"
            " hour ahead. Upper floors without a lift cost extra.",
        ),
        (
            "How much is delivery from {b}?",
            "What do you charge for bringing an order home from {b}?",
            "Delivery price of the {b} branch?",
            "What does it cost if the {b} van brings my things?",
            "Do I have to pay for shipping when I order at {b}?",
            "{b} delivery fee",
        ),
    ),
    Topic(
        "Parking", (1, 2, 3, 4),
        (
            "Customers of the {b} branch park free for {n} hours. Stamp the ticket at the till."
            " Each further hour costs two euros.",
            "The garage next to {b} gives our customers {n} hours of free parking. Vans higher"
            " than two metres do not fit. Bicycles stand at the entrance.",
        ),
        (
            "How long can I park for free at {b}?",
            "Is there free parking at the {b} branch and for how many hours?",
            "Do I have to pay for the garage at {b}?",
            "Where do I stamp my parking ticket at {b} and how long is it good for?",
            "Can I leave my car at {b} while I shop?",
            "{b} free parking hours",
        ),
    ),
    Topic(
        "Repairs", (5, 7, 10, 12),
        (
            "The workshop of the {b} branch repairs tents and rucksacks within {n} working days."
            " A quote is free. Zips are replaced while you wait.",
            "Repairs handed in at {b} take about {n} working days. We text you when the piece is"
            " ready. Uncollected pieces are kept for half a year.",
        ),
        (
            "How long does a repair take at {b}?",
            "When will my tent be mended if I hand it in at {b}?",
            "How many days does the {b} workshop need to fix a rucksack?",
            "My rucksack is torn, how fast can {b} fix it?",
            "What is the waiting time for repairs at the {b} branch?",
            "{b} repair duration",
        ),
    ),
    Topic(
        "Gift cards", (12, 24, 36, 48),
        (
            "Gift cards sold at the {b} branch are valid for {n} months. They cannot be exchanged"
            " for cash. A lost card is replaced against the receipt.",
            "A voucher from {b} can be spent for {n} months from the day of purchase. The balance"
            " is printed on every receipt. Several cards may be combined.",
        ),
        (
            "When does a gift card from {b} expire?",
            "How long is a voucher bought at {b} valid?",
            "For how many months can I spend my {b} gift card?",
            "My gift card is from {b}, is it still good after two years?",
            "What is the validity of vouchers at the {b} branch?",
            "{b} gift card expiry",
        ),
    ),
    Topic(
        "Price match", (5, 7, 10, 14),
        (
            "The {b} branch matches a lower price that you find within {n} days. Show the offer"
            " of a shop in the same city. Clearance sales do not count.",
            "Seen it cheaper? {b} pays the difference for {n} days after purchase. The article"
            " must be the same in colour and size.",
        ),
        (
            "I found it cheaper elsewhere, does {b} refund the difference?",
            "Does the {b} branch match prices and for how long?",
            "How many days after buying can I claim a lower price at {b}?",
            "Will {b} pay me back if another shop sells it for less?",
            "What is the price guarantee at {b}?",
            "{b} price match days",
        ),
    ),
    Topic(
        "Ski rental", (15, 19, 22, 25),
        (
            "A set of skis, boots and poles costs {n} euros a day at the {b} branch. Helmets are"
            " included. Book at the weekend two days ahead.",
            "{b} rents touring skis for {n} euros a day. The deposit is taken by card. Waxing on"
            " return is free.",
        ),
        (
            "What does it cost to rent skis at {b} for a day?",
            "How much are rental skis at the {b} branch?",
            "Price of ski hire per day at {b}?",
            "I want to borrow skis at {b}, what do you charge?",
            "Is a helmet included when I rent skis at {b}, and what is the daily rate?",
            "{b} ski rental price",
        ),
    ),
    Topic(
        "Loyalty points", (2, 3, 5, 8),
        (
            "Members earn {n} points for every ten euros spent at the {b} branch. A hundred points"
            " are worth five euros. Points lapse after two years.",
            "At {b} each purchase of ten euros brings {n} points to your card. Points show the"
            " next morning. Gift cards earn none.",
        ),
        (
            "How many points do I get at {b}?",
            "How many loyalty points does the {b} branch give for ten euros?",
            "What do I earn on my member card when I shop at {b}?",
            "Does shopping at {b} give bonus points?",
            "How are member points counted at {b}?",
            "{b} loyalty points per purchase",
        ),
    ),
    Topic(
        "Dogs", (1, 2, 3, 4),
        (
            "Up to {n} dogs a customer may enter the {b} branch on a lead. Water bowls stand at"
            " the door. The cafe is closed to animals.",
            "{b} welcomes dogs: at most {n} for each visitor, always on a short lead. Assistance"
            " dogs may go everywhere.",
        ),
        (
            "May I bring my dogs to {b}?",
            "Are pets allowed in the {b} shop, and how many?",
            "How many dogs may I take into the {b} branch?",
            "Can my two spaniels come along to {b}?",
            "What are the rules for animals at {b}?",
            "{b} dogs allowed",
        ),
    ),
    Topic(
        "Fitting appointments", (20, 30, 45, 60),
        (
            "A boot fitting at the {b} branch takes {n} minutes and is booked online. Bring the"
            " socks that you will wear. The fitting is free when you buy.",
            "Plan {n} minutes for a fitting at {b}. Late arrivals are moved to the end of the"
            " day. Children are fitted without appointment.",
        ),
        ("How long does a boot fitting take at {b}?", "Do I need an appointment to fit boots at"
         " {b}?"),
    ),
    Topic(
        "Click and collect", (1, 2, 3, 4),
        (
            "Orders placed online are ready at the {b} branch after {n} hours. Show the code from"
            " the message. We keep them for a week.",
            "Collect at {b}: your parcel waits from {n} hours after the order. Somebody else may"
            " fetch it with the code.",
        ),
        ("When can I pick up my online order at {b}?", "How fast is click and collect at {b}?"),
    ),
    Topic(
        "Climbing courses", (6, 8, 10, 12),
        (
            "Climbing courses of the {b} branch take {n} people at most. Ropes and harnesses are"
            " lent. Children need the consent of a parent.",
            "The beginners' course at {b} is held on Saturdays for groups of {n}. It ends with a"
            " test. Rain moves it indoors.",
        ),
        ("How big are the climbing groups at {b}?", "What do I need for the climbing course at"
         " {b}?"),
    ),
    Topic(
        "Lost property", (14, 30, 60, 90),
        (
            "Things found in the {b} branch are kept for {n} days at the information desk. Then"
            " they go to the city. Describe what you lost by phone or mail.",
            "Lost something at {b}? We keep it for {n} days. Wallets go to the police the same"
            " evening.",
        ),
        ("I lost my scarf at {b}, how long do you keep it?", "Where is the lost property of {b}?"),
    ),
    Topic(
        "Invoices", (3, 5, 8, 10),
        (
            "Companies that buy at the {b} branch pay their invoice within {n} days. A purchase"
            " order number is printed on request. Reminders cost nothing the first time.",
            "{b} sends invoices by mail, payable in {n} days without discount. Copies are made"
            " for ten years back.",
        ),
        ("When must a company pay an invoice from {b}?", "Can I buy on invoice at {b}?"),
    ),
)  # fmt: skip

# Each notice contradicts the routine document of its topic and branch.
NOTICES = (
    "Until the end of January you may return goods at {b} within {n} days.",
    "During the works the {b} branch opens its doors at {n} o'clock in the morning.",
    "A delivery from {b} now costs {n} euros.",
    "Parking at {b} is now free for {n} hours.",
    "Repairs at {b} take {n} working days at present.",
    "Gift cards from {b}, old and new, are valid for {n} months.",
    "{b} now matches lower prices found within {n} days after purchase.",
    "Skis at {b} are rented for {n} euros a day this season.",
    "Purchases at {b} earn {n} points for every ten euros this month.",
    "For the time being {n} dogs may be brought to the {b} branch by each customer.",
)
NOTICE_NUMBERS = (45, 11, 13, 6, 17, 60, 33, 39, 15, 7)
OFF_TOPIC = (
    "What is the capital of France?", "How do I bake sourdough bread?", "Who wrote Hamlet?",
    "Can you book me a flight to Tokyo?", "How do I reset my bank password?",
    "Which medicine helps against a headache?", "Who won the world cup in 1998?",
    "How many moons does Jupiter have?", "Write me a poem about autumn leaves.",
    "What is the square root of 1764?",
)  # fmt: skip


def routine(count: int) -> Iterator[tuple[str, str]]:
    """`count` documents as (title, text), the same in every run."""
    dice = random.Random(20)
    pairs = [(topic, branch) for branch in BRANCHES for topic in TOPICS]
    for topic, branch in pairs[:count]:
        number = dice.choice(topic.numbers)
        text = dice.choice(topic.texts).format(b=branch, n=number)
        yield f"{topic.title}, {branch}", text


def notices(branches: int) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The important documents as (title, text, questions)."""
    for number, notice in enumerate(NOTICES):
        branch = BRANCHES[number * 2 % branches]
        news = notice.format(b=branch, n=NOTICE_NUMBERS[number])
        text = f"{news} This notice replaces what was said before. Ask the staff if in doubt."
        questions = tuple(question.format(b=branch) for question in TOPICS[number].questions)
        yield f"Notice: {TOPICS[number].title.lower()}, {branch}", text, questions


def corpus(documents: int) -> tuple[hybrid_index.Index, list[Question]]:
    """An index of `documents` routine texts and ten important ones, and the questions."""
    passages: list[hybrid_index.IndexedPassage] = []
    questions: list[Question] = []
    for document_id, (title, text) in enumerate(routine(documents)):
        passages += passages_of(title, text, document_id, is_important=False)
    branches = max(1, documents // len(TOPICS))
    replaced = {BRANCHES[n * 2 % branches] + TOPICS[n].title for n in range(len(NOTICES))}
    pairs = [(topic, branch) for branch in BRANCHES for topic in TOPICS][:documents]
    for document_id, (topic, branch) in enumerate(pairs):
        if branch + topic.title not in replaced and document_id % 4 == 0:
            questions.append(Question(topic.questions[0].format(b=branch), document_id, False))
    for number, (title, text, asked_in) in enumerate(notices(branches)):
        passages += passages_of(title, text, 10_000 + number, is_important=True)
        questions += [Question(wording, 10_000 + number, True) for wording in asked_in]
    return hybrid_index.Index(passages), questions


def passages_of(
    title: str, text: str, document_id: int, *, is_important: bool
) -> Iterator[hybrid_index.IndexedPassage]:
    """A document's passages, as training reads, splits and encodes them."""
    with tempfile.NamedTemporaryFile(suffix=".md") as file:
        file.write(f"# {title}\n\n{text}\n".encode())
        file.flush()
        extracted = extraction.extract(Path(file.name), file_name="notice.md")
    for piece in chunking.chunk(extracted):
        vectors = embedding.embed_passages([piece.embedded, *piece.sentences])
        assert vectors is not None, "this machine has no encoder"
        yield hybrid_index.IndexedPassage(
            id=document_id * 100 + piece.position,
            document_id=document_id,
            title=extracted.title,
            url=None,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            language="en",
            vector=vectors[0],
            sentences=piece.sentences,
            sentence_vectors=vectors[1:],
            is_important=is_important,
        )


@dataclass(frozen=True)
class Figures:
    """Shares of the questions, from 0 to 1."""

    important_read: float
    important_wins: float
    important_answered: float
    routine_read: float
    routine_answers: float
    routine_overruled: float
    off_topic_answered: float
    questions: int


def measure(index: hybrid_index.Index, questions: list[Question]) -> Figures:
    # For each question: its document's id, the ids read, and the ids cited.
    important, routine = (
        [(row.document_id, *_ask(index, row.text)) for row in questions if row.is_important == kind]
        for kind in (True, False)
    )
    return Figures(
        important_read=_share(pk in read for pk, read, _ in important),
        important_wins=_share(cited[0] == pk for pk, _, cited in important if cited),
        important_answered=_share(bool(cited) for *_, cited in important),
        routine_read=_share(pk in read for pk, read, _ in routine),
        routine_answers=_share(cited[0] == pk for pk, _, cited in routine if cited),
        routine_overruled=_share(cited[0] >= 10_000 for *_, cited in routine if cited),
        off_topic_answered=_share(bool(_ask(index, text)[1]) for text in OFF_TOPIC),
        questions=len(important),
    )


def _ask(index: hybrid_index.Index, text: str) -> tuple[set[int], list[int]]:
    """The documents that the engine reads, and those that its answer cites, in order."""
    result = index.search(text, language="en")
    reply = answer_extraction.extract(
        text, language="en", result=result, threshold=hybrid_index.DEFAULT_THRESHOLD
    )
    read = {hit.passage.document_id for hit in result.hits}
    return read, [cited.document_id for cited in reply.citations] if reply else []


def _share(outcomes: Iterator[bool]) -> float:
    results = list(outcomes)
    return sum(results) / len(results) if results else 0.0


def main(documents: int) -> None:
    started = time.monotonic()
    index, questions = corpus(documents)
    built = time.monotonic() - started
    figures = measure(index, questions)
    print(f"{documents} routine documents, {len(NOTICES)} important ones, built in {built:.0f} s")
    print(f"{figures.questions} questions with the answer in an important document:")
    print(f"  the engine reads that document:          {figures.important_read:.1%}")
    print(f"  the extractive engine answers:             {figures.important_answered:.1%}")
    print(f"  ... from that document first:            {figures.important_wins:.1%}")
    print("questions with the answer in a routine document:")
    print(f"  the engine reads that document:          {figures.routine_read:.1%}")
    print(f"  answered from it first:                  {figures.routine_answers:.1%}")
    print(f"  answered from an important one instead:  {figures.routine_overruled:.1%}")
    print(f"off-topic questions that are answered:     {figures.off_topic_answered:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
