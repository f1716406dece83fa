"""No text of a stranger or a model costs more time than its length: a function a time."""

import importlib
import inspect
import json
import pkgutil
import time
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import numpy as np
import pytest
from lxml import html

import bots.engine
import bots.ingest
import bots.language
import bots.search
from bots.engine import (
    masking,
    procedures,
    prompting,
    rule_based_summary,
    sentences,
    sentiment,
    streaming_guardrail,
    tagging,
    text_tasks,
    tools,
    verifiable_facts,
)
from bots.engine.groundedness import SourceCheck
from bots.engine.types import Line, Question, Snippet
from bots.ingest import chunking, extraction, url_normalization
from bots.ingest.extraction import markdown, page_visibility
from bots.ingest.extraction.document import ExtractedText
from bots.language import (
    detection,
    embedding,
    intents,
    known_words,
    normalization,
    phrasebook,
    quantity_matching,
    slot_filling,
)
from bots.language.sentence_encoder import Encoder
from bots.search import answer_extraction, hybrid_index, question_splitting, table_rows
from bots.tests import hostile_texts
from chatplatform import csv_files

# Of processor time. What takes longer is compared with half of its text, which tells what is
# quadratic (four times as long) from a slow machine.
BUDGET_SECONDS = 0.3
MAX_GROWTH = 3
# Too much on any machine, also for what is linear.
MAX_SECONDS = 1.5
SOURCE = (
    "Delivery takes 3 days and costs 5 euros. We do not send parcels abroad. If you cancel two days"
    " before, you get your money back. Call +49 30 1234567 or write to shop@example.com."
)
LANGUAGES = ("en", "de", "fr", "es", "vi")
FIELDS = [
    {"name": kind, "type": kind, "label": {"en": "Your answer"}, "question": {}, "options": [
        {"label": "Small", "value": "s"}]}
    for kind in ("text", "email", "phone", "number", "date", "select")
]  # fmt: skip
Call = Callable[[str], Any]


def _streamed(text: str) -> None:
    """An answer that comes letter by letter, of which a source has every word."""
    source = Snippet(1, 1, "Shop", None, text)
    followed = streaming_guardrail.StreamingGuardrail(Question(text, "en", "", (), (source,)))
    for letter in f"{text}. [1]":
        followed.feed(letter)
    followed.end(is_cut=False)


def _looked_up(text: str) -> None:
    check = SourceCheck([SOURCE])
    check.unsupported_facts(text), check.supports(text), check.mostly_supports(text)
    SourceCheck([text]).supports("We have sent 3 parcels for 200 euros to shop.example by January.")


def _masked(text: str) -> None:
    mask = masking.Mask()
    mask.reveal(mask.hide(text))


def _listened(text: str) -> None:
    for field in FIELDS:  # each is a turn of its own
        slot_filling.extract(field, FIELDS, [text], language="ja")


def _markdown(text: str) -> None:
    sections = markdown.read(extraction.document.clean(text)).sections
    chunking.chunk(ExtractedText("", "text/markdown", tuple(sections), "en"))


def _styled(text: str) -> None:
    tree = html.fromstring("<html><style></style><p>Tea</p></html>")
    style = tree.find(".//style")
    style.text = text = extraction.document.clean(text)
    style.attrib["class"] = text.strip()
    page_visibility.show(tree)


def _plain(text: str) -> None:
    extracted = extraction.from_text("Shop", text, default_language="en")
    chunking.chunk(extracted)


def _each_language(function: Callable[[str, str], Any]) -> Call:
    return lambda text: [_all(function(text, code)) for code in LANGUAGES]


def _in_english(function: Callable[..., Any]) -> Call:
    return lambda text: function(text, language="en")


def _all(result: Any) -> Any:
    return list(result) if isinstance(result, Iterator) else result


@pytest.fixture(scope="module")
def index() -> hybrid_index.Index:
    """An index of two passages, one of them a row of a table."""
    vector = np.ones(embedding.DIMENSION, dtype=np.float32)
    pieces = ((SOURCE, "en"), ("Weight: up to 2 kg\nPrice: 4.50 euros", "en"), ("Giao hàng", "vi"))
    return hybrid_index.Index([
        hybrid_index.IndexedPassage(
            number, 1, "Shop", None, "Delivery", None, text, code, vector,
            (text,), np.ones((1, embedding.DIMENSION), dtype=np.float32),
        )
        for number, (text, code) in enumerate(pieces)
    ])  # fmt: skip


def _answered(index: hybrid_index.Index, text: str) -> None:
    def find_one(part: str) -> hybrid_index.SearchResult:
        return index.search(part, language="en")

    parts = question_splitting.find(find_one, text, topics=["How long is delivery?"], threshold=0)
    answer_extraction.extract_all(parts, language="en", threshold=0)


CALLS: dict[Callable[..., Any], Call] = {
    table_rows.readable: lambda text: table_rows.readable(
        f"{text} | x", [f"- a | b\n- {text} | 1"]
    ),
    **{
        item: item
        for item in (
            verifiable_facts.facts_of, verifiable_facts.figures_of, verifiable_facts.readable,
            verifiable_facts.digits_of, sentences.sentences,
            sentences.statements, intents.asks_for_person, tools.truncate_result, tools.storable,
            phrasebook.reports_action, phrasebook.reports_outcome,
            chunking.count_words, chunking.is_row, chunking.split_sentences, detection.guess,
            detection.recognize, phrasebook.plain, phrasebook.languages_of,
            quantity_matching.amounts, question_splitting.split, question_splitting.may_follow_up,
            question_splitting.is_complete,
            question_splitting.refers_back, normalization.fold,
            normalization.same_question_key, url_normalization.normalized, url_normalization.origin,
            url_normalization.is_root, url_normalization.file_stem, embedding.is_word,
            streaming_guardrail.normalize_citations, prompting.citation_request,
            embedding.embed_query, csv_files.escape_formula,
        )
    },
    **{item: _each_language(item) for item in (
        known_words.is_word,
    )},
    **{item: _in_english(item) for item in (
        intents.small_talk, intents.yes_or_no, intents.anything_else_answer, intents.is_satisfied,
        rule_based_summary.has_nothing_to_answer, normalization.tokens, slot_filling.asks_something,
    )},
    procedures.fill: lambda text: procedures.fill(text, {"order": text}),
    procedures.argument: lambda text: procedures.argument(text, {"order": text}),
    procedures.look_up: lambda text: procedures.look_up(text, {text: text}),
    procedures.result_of: procedures.result_of,
    procedures.decide: lambda text: procedures.decide(
        text, {"order": text}, today=date(2026, 11, 29)
    ),
    procedures.is_failure: lambda text: procedures.is_failure(text, text),
    text_tasks.decide: lambda text: text_tasks.decide(
        text, {"order": text}, [], today="2026-11-29"
    ),
    intents.intent_of: lambda text: intents.intent_of([text], language="en"),
    streaming_guardrail.StreamingGuardrail: _streamed,
    SourceCheck: _looked_up,
    masking.Mask: _masked,
    slot_filling.extract: _listened,
    slot_filling.problem: lambda text: [slot_filling.problem(item, text) for item in FIELDS],
    markdown.read_markdown: _markdown,
    page_visibility.show: _styled,
    extraction.from_text: _plain,
    extraction.from_pair: lambda text: extraction.from_pair(text, text, default_language="en"),
    detection.detect: lambda text: detection.detect(text, default="en", offered=("vi",)),
    normalization.normalize: lambda text: [
        normalization.normalize(form, text) for form in ("NFC", "NFD", "NFKC")
    ],
    quantity_matching.fitting: lambda text: quantity_matching.fitting(text, [{"mass": [2.0]}]),
    embedding.embed_passages: lambda text: embedding.embed_passages([text]),
    url_normalization.joined: lambda text: url_normalization.joined("https://a.example/b", text),
    url_normalization.same_site: lambda text: url_normalization.same_site(text, text),
    rule_based_summary.of_text: lambda text: rule_based_summary.of_text(text, max_words=50),
    sentiment.analyze: lambda text: sentiment.analyze([text]),
    tagging.suggest: lambda text: tagging.suggest(text, []),
    tagging.nearest: lambda text: tagging.nearest(text, [SOURCE]),
    embedding.is_nearer: lambda text: embedding.is_nearer(
        text, [(SOURCE, "vi")], [SOURCE], language="en"
    ),
    embedding.is_near: lambda text: embedding.is_near(text, [SOURCE], 0.9),
    detection.is_certainly_other: lambda text: detection.is_certainly_other(text, "en"),
    prompting.language_request: lambda text: prompting.language_request(text, "en"),
    prompting.fenced: lambda text: prompting.fenced("TEXT", text, "x"),
    text_tasks.translate: lambda text: text_tasks.translate(text, to="vi").read(text),
    text_tasks.rewrite: lambda text: text_tasks.rewrite(text, style="shorter", to="vi").read(
        json.dumps({"text": text, "source_language": "en"})
    ),
    text_tasks.summarize_text: lambda text: text_tasks.summarize_text(
        text, max_words=9, language="en"
    ),
    rule_based_summary.of_conversation: lambda text: rule_based_summary.of_conversation(
        [Line("customer", text), Line("assistant", text)], language="en", tags=(), sentiment=None
    ),
}  # fmt: skip
# Of what a client configures, or of single words and figures that others have cut out.
NO_TEXTS = {
    "argument_schemas.parse", "request_templates.url_names", "request_templates.sample_url",
    "request_templates.origin", "request_templates.url", "request_templates.read_body",
    "chunking.embedded", "phrasebook.base_of",
    "child_process.run", "language_data.by_language", "language_data.pattern",
    "language_data.words", "language_data.numbered", "language_names.english_name",
    "answer_extraction.extract", "answer_extraction.section_of",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The encoder's own time is bounded by its tokens."""
    sentiment.analyze([SOURCE])  # fitted once, to real vectors
    vector = np.ones(embedding.DIMENSION, dtype=np.float32)
    monkeypatch.setattr(Encoder, "query", lambda encoder, text: vector)
    monkeypatch.setattr(
        Encoder, "passages", lambda encoder, texts: [(list(range(len(texts))), vector)]
    )
    monkeypatch.setattr(Encoder, "count_tokens", lambda encoder, text: len(text) // 4 + 4)
    _clear_vectors()
    yield
    _clear_vectors()


def _clear_vectors() -> None:
    embedding._encoded.cache_clear()
    embedding._mean_question.cache_clear()


def _slow(name: str, call: Call, texts: Iterator[str]) -> list[str]:
    """The texts that cost more than their length."""
    return [
        f"{name}: {whole:.2f} s for {text[:30]!r}, half of it {half:.2f} s"
        for text in texts
        if _seconds(call, text) > BUDGET_SECONDS
        for whole, half in [
            (_least_seconds(call, text), _least_seconds(call, text[: len(text) // 2]))
        ]
        if whole > min(MAX_SECONDS, MAX_GROWTH * half)
    ]


def _least_seconds(call: Call, text: str) -> float:
    return min(_seconds(call, text) for _ in range(3))


def _seconds(call: Call, text: str) -> float:
    begun = time.process_time()
    call(text)
    return time.process_time() - begun


# Each of these showed a function that was quadratic, or worse.
WORST = (
    "0", "1 1 ", "1.", "123.", "12:30", "einen", "a@", ". ", "[", "[1†", "<!--x-->", "/* ", "<s>",
    "\n", " ", "all ", "a, ",
    "delivry ", "\u0327\u0301", "\ufdfa", "we have sent ",
)  # fmt: skip


@pytest.mark.full
def test_no_text_costs_more_than_its_length(index: hybrid_index.Index) -> None:
    calls = {_name(function): call for function, call in CALLS.items()}
    for name, call in (calls | {"search": lambda text: _answered(index, text)}).items():
        call(SOURCE)  # what is loaded and compiled at the first use
        assert not _slow(name, call, (hostile_texts.filled(unit) for unit in WORST))


@pytest.mark.drill
@pytest.mark.timeout(7_200)
def test_no_text_of_many_costs_more_than_its_length(index: hybrid_index.Index) -> None:
    calls = {_name(function): call for function, call in CALLS.items()}
    for name, call in (calls | {"search": lambda text: _answered(index, text)}).items():
        call(SOURCE)
        assert not _slow(name, call, hostile_texts.texts())


def test_every_function_that_takes_a_text_is_tried() -> None:
    found = {
        _name(function)
        for package in (bots.engine, bots.ingest, bots.language, bots.search)
        for module in _modules(package)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        and str in [item.annotation for item in inspect.signature(function).parameters.values()][:1]
    }  # fmt: skip
    assert len(found) > 30
    missing = found - {_name(function) for function in CALLS} - NO_TEXTS
    assert not missing, f"Add to CALLS how to call {missing}: strangers' texts must cost little."


def _modules(package: Any) -> Iterator[Any]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not found.name.endswith((".extraction", ".crawler")):
            yield importlib.import_module(found.name)


def _name(function: Any) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
