"""Reads scanned pages by optical character recognition, if requirements-ocr.txt is installed."""

import importlib.util
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median
from typing import Any

from bots.ingest.extraction.pdf_layout import Line

# The child process's limits of memory and CPU time if requirements-ocr.txt is installed.
MEMORY_MB, SECONDS = 2_048, 300
# No page is started after this many seconds of CPU time.
_LAST_START_SECONDS = 240
# The resolution at which pages are rendered, in pixels per inch, and the number of points per inch.
_DPI, _POINTS = 150, 72
# A pixel with a color value below this (of 255) is ink.
_INK = 160
# The margin that is kept around the ink, in pixels.
_MARGIN = 40
# The font size as a share of the height of a line's box.
_FONT_SHARE = 0.8


def is_installed() -> bool:
    return all(map(importlib.util.find_spec, ("rapidocr", "onnxruntime")))


def read(document: Any, numbers: Iterable[int]) -> dict[int, list[Line]]:
    """The lines of the pages `numbers`, by page number.

    Pages without lines, and pages for which no CPU time is left, are left out.
    """
    found: dict[int, list[Line]] = {}
    engine = None
    for number in numbers:
        if time.process_time() > _LAST_START_SECONDS:
            break
        engine = engine or _engine()
        lines = list(_lines(engine, document.render_pixmap(number, _DPI)))
        if lines:
            # All lines of a page get one size: the height of a box depends on its letters, so some
            # lines would be taken for headings.
            size = median(line.size for line in lines)
            found[number] = [replace(line, size=size) for line in lines]
    return found


def _engine() -> Any:
    rapidocr: Any = importlib.import_module("rapidocr")
    return rapidocr.RapidOCR(params={"Global.log_level": "error"})


def _lines(engine: Any, picture: Any) -> Iterator[Line]:
    import numpy as np  # noqa: PLC0415  comes with the engine

    pixels = np.frombuffer(picture.data, dtype=np.uint8).reshape(picture.height, picture.width, 4)
    is_ink = pixels[:, :, :3].min(axis=2) < _INK
    rows, columns = (np.flatnonzero(is_ink.any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return
    # The picture is cropped to the ink: on a large page with few words, the engine finds none.
    above, before = max(0, rows[0] - _MARGIN), max(0, columns[0] - _MARGIN)
    printed = pixels[above : rows[-1] + _MARGIN, before : columns[-1] + _MARGIN, 2::-1]
    result = engine(np.ascontiguousarray(printed))
    points = _POINTS / _DPI
    for box, text in zip(result.boxes if result.txts else (), result.txts or (), strict=True):
        (left, top), (right, bottom) = box.min(axis=0).tolist(), box.max(axis=0).tolist()
        y, height = picture.height - above - bottom, _FONT_SHARE * (bottom - top)
        left, right = before + left, before + right
        yield Line(text, left * points, y * points, height * points, right * points)
