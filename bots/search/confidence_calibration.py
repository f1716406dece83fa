"""Fits an encoder's confidence weights, which turn the features of a search into a confidence.

The examples are companies with short facts, questions in eleven languages that the facts answer,
and questions on similar topics that no fact answers. The last company is held out for measuring.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.language.embedding import ConfidenceWeights, SearchEncoder, Weights
from bots.search.hybrid_index import DEFAULT_THRESHOLD, Index, IndexedPassage, SearchResult

# The assumed share of questions that documents answer. The examples are weighted to match it.
_ANSWERED = 0.75
# The L2 penalty, which keeps the weights finite if the examples are perfectly separable.
_RIDGE = 0.002
# The number of steps of Newton's method.
_ROUNDS = 30


class _CalibrationExample(NamedTuple):
    """The search result for a question, whether a fact answers it, and whether that fact ranks
    first."""

    result: SearchResult
    is_known: bool
    is_right: bool


def fit(encoder: SearchEncoder) -> ConfidenceWeights:
    """The confidence weights of an encoder, fitted on about 350 vectors. Raises EncoderDown."""
    *companies, held_out = _companies()
    alone = [row for company in companies for row in _ask(encoder, company)]
    among = [row for company in companies for row in _ask(encoder, company, *companies, held_out)]
    kinds = {
        "few": [row for row in alone if not row.result.features.is_cross_language],
        "many": [row for row in among if not row.result.features.is_cross_language],
        "foreign": [row for row in alone + among if row.result.features.is_cross_language],
    }
    return ConfidenceWeights(**{kind: _weights(rows) for kind, rows in kinds.items()})


def measure(encoder: SearchEncoder) -> tuple[float, float]:
    """The recall and the false positive rate for the company that is held out.

    The recall is the share of its answerable questions that are answered correctly. The false
    positive rate is the share of its unanswerable questions that are answered anyway.
    """
    rows = list(_ask(encoder, _companies()[-1]))
    answered = [row for row in rows if row.result.reaches(DEFAULT_THRESHOLD)]
    known = sum(row.is_known for row in rows)
    return (
        sum(row.is_right for row in answered) / known,
        sum(not row.is_known for row in answered) / (len(rows) - known),
    )


def _companies() -> list[dict[str, Any]]:
    text = Path(__file__).with_name("confidence_examples.toml").read_text("utf-8")
    companies: list[dict[str, Any]] = tomllib.loads(text)["companies"]
    return companies


def _questions(company: dict[str, Any]) -> Iterator[tuple[str, str, int | None]]:
    """Yield each question's language, text, and the index of the fact that answers it, or None."""
    yield from company["questions"]
    yield from ((code, text, None) for code, text in company["unknown"])
    yield from (("en", text, number) for text, number in company["english"])
    yield from (("en", text, None) for text in company["english_unknown"])


def _ask(
    encoder: SearchEncoder, company: dict[str, Any], *among: dict[str, Any]
) -> Iterator[_CalibrationExample]:
    """Search for a company's questions in its facts, or in the facts of the companies `among`."""
    facts = [fact for each in among or [company] for fact in each["facts"]]
    index = Index(_passages(encoder, facts), encoder)
    asked = list(_questions(company))
    vectors = encoder.queries([text for _, text, _ in asked])
    for (language, text, number), vector in zip(asked, vectors, strict=True):
        result = index.search_vector(text, vector, language=language, limit=1)
        best = facts[result.hits[0].passage.id]
        is_right = number is not None and best == company["facts"][number]
        yield _CalibrationExample(result, number is not None, is_right)


def _passages(encoder: SearchEncoder, facts: list[list[str]]) -> list[IndexedPassage]:
    vectors = encoder.passages([f"{heading}\n{text}" for heading, text in facts])
    return [
        IndexedPassage(
            id=number, document_id=0, title="Facts", url=None, heading=heading, page=None,
            text=text, language="en", vector=vector, sentences=(text,),
            sentence_vectors=vector[np.newaxis],
        )
        for number, ((heading, text), vector) in enumerate(zip(facts, vectors, strict=True))
    ]  # fmt: skip


def _weights(rows: list[_CalibrationExample]) -> Weights:
    """The weights of a logistic regression, found by Newton's method."""
    found = [row.result.features for row in rows]
    features = np.array([[row.nearness, row.coverage, row.above_next] for row in found])
    mean, std = features.mean(axis=0), features.std(axis=0) + 1e-6
    columns = np.column_stack([(features - mean) / std, np.ones(len(rows))])
    right = np.array([row.is_right for row in rows], dtype=float)
    known = np.array([row.is_known for row in rows])
    share = np.where(known, _ANSWERED / known.sum(), (1 - _ANSWERED) / (~known).sum())
    ridge = _RIDGE * np.diag([1.0, 1.0, 1.0, 0.0])
    weights: NDArray[np.float64] = np.zeros(4)
    for _ in range(_ROUNDS):
        predicted = 1 / (1 + np.exp(-columns @ weights))
        gradient = columns.T @ (share * (predicted - right)) + ridge @ weights
        hessian = (columns.T * (share * predicted * (1 - predicted))) @ columns + ridge
        weights = weights - np.linalg.solve(hessian + 1e-9 * np.eye(4), gradient)
    scaled = weights[:3] / std
    nearness, coverage, above_next = scaled.round(3).tolist()
    constant = round(float(weights[3] - scaled @ mean), 3)
    return Weights(nearness, coverage, above_next, constant)
