"""The table of error codes in docs/api.md names every code that the API answers, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import get_resolver

from chatplatform.api.errors import CODES, ApiError, Invalid, NotConfigured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \| ", re.MULTILINE)


def kinds_of(kind: type[ApiError]) -> Iterator[type[ApiError]]:
    for more_special in kind.__subclasses__():
        yield more_special
        yield from kinds_of(more_special)


@pytest.fixture
def answered() -> set[tuple[str, int]]:
    """Every code with its status. A 422 of `Invalid` has no code; each `NotConfigured` its own."""
    assert get_resolver().url_patterns, "the modules of all operations are imported"
    kinds = {kind for kind in kinds_of(ApiError) if kind not in {Invalid, NotConfigured}}
    assert len(kinds) > 50
    return {(kind.code, kind.status) for kind in kinds} | {
        (code, status) for status, code in CODES.items()
    }


def test_the_table_of_error_codes_is_complete(answered: set[tuple[str, int]]) -> None:
    rows = [(code, int(status)) for code, status in ROW.findall(PAGE.read_text())]
    assert len(rows) == len(set(rows)), "each code has one row"
    assert set(rows) == answered
    assert rows == sorted(rows, key=lambda row: (row[1], row[0])), "by status, then by code"
