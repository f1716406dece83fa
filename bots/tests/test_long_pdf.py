"""PDFs of many pages, which two processes read, and their texts in hexadecimal digits."""

import os
from pathlib import Path

import pytest

from bots.knowledge import extract
from bots.knowledge.extract.document import ExtractError
from bots.tests.test_extract import pdf_bytes


def pages_of_a_manual(count: int) -> list[bytes]:
    """Pages whose lines differ: what pages share is no text of theirs."""
    words = [b"a" * n for n in range(1, count + 1)]
    return [b"BT /F1 10 Tf 72 700 Td (It is %s here.) Tj ET" % word for word in words]


def test_a_long_pdf_is_read_by_two_processes_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "manual.pdf"
    path.write_bytes(pdf_bytes(*pages_of_a_manual(41)))
    forked: list[int] = []
    fork = os.fork

    def counted() -> int:
        forked.append(fork())
        return forked[-1]

    monkeypatch.setattr(os, "fork", counted)
    sections = extract.extract(path, file_name="manual.pdf").sections
    assert [(s.page, s.text.strip()) for s in sections] == [
        (n, f"It is {'a' * n} here.") for n in range(1, 42)
    ]
    (copy,) = forked
    with pytest.raises(ProcessLookupError):
        os.kill(copy, 0)


@pytest.mark.parametrize("damaged", [20, 21])
def test_a_page_that_cannot_be_read_fails_a_long_pdf_whichever_process_reads_it(
    tmp_path: Path, damaged: int
) -> None:
    pages = pages_of_a_manual(41)
    pages[damaged] = b"BT /F1 10 Tf 72 700 Td (Text) Tj ET <zz"
    file = tmp_path / "manual.pdf"
    file.write_bytes(pdf_bytes(*pages))
    with pytest.raises(ExtractError) as caught:
        extract.extract_in_child(file, file_name="manual.pdf")
    assert caught.value.code == "malformed"


@pytest.mark.parametrize(
    ("digits", "text"),
    [
        (b"68656c6C6f2e", "hello."),
        (b"68 65\n6c 6c 6f 2E", "hello."),
        (b"68656c6c6f5", "helloP"),  # a missing digit is zero
        (b"61" * 5000, "a" * 5000),
    ],
)
def test_a_text_in_hexadecimal_digits(tmp_path: Path, digits: bytes, text: str) -> None:
    path = tmp_path / "hex.pdf"
    path.write_bytes(pdf_bytes(b"BT /F1 10 Tf 72 700 Td <" + digits + b"> Tj ET"))
    (section,) = extract.extract(path, file_name="hex.pdf").sections
    assert section.text.strip() == text
