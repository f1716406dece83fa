"""Scanned pages: read by character recognition where its packages are installed."""

import io
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from bots.ingest import extraction
from bots.ingest.extraction import ocr
from bots.ingest.extraction.document import ExtractedText
from bots.tests.test_extract import page, pdf_bytes

PRINTED = "The museum is closed on Tuesday."
LETTERS = "Tickets cost twelve euros."


def scan(*lines: str) -> bytes:
    """A page that is a picture, as a PDF."""
    picture = Image.new("L", (1_240, 1_754), "white")
    font = ImageFont.load_default(size=40)
    for number, line in enumerate(lines):
        ImageDraw.Draw(picture).text((120, 160 + 90 * number), line, fill="black", font=font)
    out = io.BytesIO()
    picture.save(out, "PDF", resolution=150)
    return out.getvalue()


def read(tmp_path: Path, data: bytes) -> ExtractedText:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    return extraction.extract(path, file_name="a.pdf")


def test_without_its_packages_scans_are_named(tmp_path: Path) -> None:
    data = pdf_bytes(page(PRINTED), b"", b"")
    with mock.patch.object(ocr, "is_installed", return_value=False):
        text = read(tmp_path, data)
    assert [(part.page, part.text) for part in text.sections] == [(1, PRINTED)]
    assert "(2/3)" in text.warning
    assert "rapidocr" not in sys.modules


def test_pages_without_text_are_recognized_and_said_to_be(tmp_path: Path) -> None:
    """The engine gives its boxes in any order; the page is read from the top."""
    boxes = [[[120, top], [700, top], [700, top + 40], [120, top + 40]] for top in (250, 160)]
    result = SimpleNamespace(boxes=np.array(boxes, dtype=float), txts=("Dogs are free.", LETTERS))
    engine = mock.Mock(return_value=result)
    with (
        mock.patch.object(ocr, "is_installed", return_value=True),
        mock.patch.object(ocr, "_engine", return_value=engine),
        # The child that reads a file is new; this process has run other tests for minutes.
        mock.patch.object(ocr, "_LAST_START_SECONDS", math.inf),
    ):
        text = read(tmp_path, pdf_bytes(page(PRINTED), b"", b"9 9 200 200 re f"))
    (picture,) = engine.call_args.args
    assert picture.shape[2] == 3
    assert engine.call_count == 1
    assert [(part.page, part.text.split("\n")) for part in text.sections] == [
        (1, [PRINTED]),
        (3, [LETTERS, "Dogs are free."]),
    ]
    without_text, scanned = text.warning.split("\n")
    assert without_text.endswith(": 2 (1/3)."), "there is nothing on it"
    assert scanned.endswith(": 3 (1/3).")


@pytest.mark.skipif(not ocr.is_installed(), reason="needs requirements-ocr.txt")
def test_a_scan_is_read_in_the_child_process(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(scan(PRINTED, LETTERS))
    text = extraction.extract_in_child(path, file_name="a.pdf")
    assert text.warning.endswith(": 1 (1/1).")
    assert " ".join(text.sections[0].text.split()) == f"{PRINTED} {LETTERS}"
