"""PDFs of many pages, and their texts in hexadecimal digits."""

from pathlib import Path

import pytest

from bots.ingest import extraction
from bots.tests.test_extract import pdf_bytes


def pages_of_a_manual(count: int) -> list[bytes]:
    """Pages whose lines differ: what pages share is no text of theirs."""
    words = [b"a" * n for n in range(1, count + 1)]
    return [b"BT /F1 10 Tf 72 700 Td (It is %s here.) Tj ET" % word for word in words]


def test_the_pages_of_a_long_pdf_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "manual.pdf"
    path.write_bytes(pdf_bytes(*pages_of_a_manual(41)))
    sections = extraction.extract(path, file_name="manual.pdf").sections
    assert [(s.page, s.text.strip()) for s in sections] == [
        (n, f"It is {'a' * n} here.") for n in range(1, 42)
    ]


@pytest.mark.parametrize(
    ("digits", "text"),
    [
        (b"68656c6C6f2e", "hello."),
        (b"68 65\n6c 6c 6f 2E", "hello."),
        (b"68656c6c6f5", "helloP"),  # a missing digit is zero
        (b"6120" * 2500, "a " * 2499 + "a"),
    ],
)
def test_a_text_in_hexadecimal_digits(tmp_path: Path, digits: bytes, text: str) -> None:
    path = tmp_path / "hex.pdf"
    path.write_bytes(pdf_bytes(b"BT /F1 10 Tf 72 700 Td <" + digits + b"> Tj ET"))
    (section,) = extraction.extract(path, file_name="hex.pdf").sections
    assert section.text.strip() == text
