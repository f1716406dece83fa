"""Finds the visible text of a PDF by drawing each page and looking for the text in the picture.

Hidden text leaves no trace in the picture, whether it is on a layer that is off, white on white,
covered, clipped, transparent or not drawn at all. The recognized text of a scan counts as visible,
because it lies on the scan's picture. If pdf_oxide would draw something differently from PDF
viewers, pypdf changes it first.
"""

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from bots.ingest.extraction import pdf_layout

# The pixels per inch at which a page is drawn, the maximum number of pixels of its longer side, and
# the number of points in an inch.
_DPI, _MAX_SIDE_PIXELS, _POINTS = 36, 1_500, 72
# A text is visible if one color channel of its pixels varies by at least this much, of 255.
_CONTRAST = 10
# The part of a line's height, from its base line, that a bar over its letters hides completely.
_LOW_PART = 0.1, 0.45
# A bar may leave this many pixels uncovered at each end of a text. They are ignored if the text is
# wider than the second number of pixels.
_EDGE, _WIDE = 2, 12
# Matches a run of pixels of one color that is too long to be a gap between letters.
_RUN = re.compile(rb"(.)\1{9}", re.DOTALL)
# Letters of less than this height and width, in points, are too small to read.
_TINY, _TINY_WIDTH = 2, 0.7
# Half the thickness of a drawn rule, in points.
_HALF_RULE = 1
# Text with fewer letters and digits is not checked: it may be drawn beside its box.
_MIN_LETTERS = 2
# The last of the Latin, Greek and Cyrillic letters, for which pdf_oxide has a font of its own.
_LAST_DRAWN = "\u052f"
# The flags of fields that are hidden, and of fields that appear only in print.
_HIDDEN_FIELD = 0b10_0010
# Larger pictures are not unpacked: all text on them counts as visible.
_MAX_PIXELS = 1_000_000
_NOISE = 64


def has_fields(reader: Any) -> bool:
    """Whether the file has a form, and none of its fields is hidden."""
    if "/AcroForm" not in reader.root_object:
        return False
    fields = (note for page in reader.pages for note in _all(page, "/Annots"))
    with suppress(*_errors(), TypeError):
        return not any(field.get("/F", 0) & _HIDDEN_FIELD for field in fields)
    return False


def prepare(reader: Any, damaged: set[int]) -> bool:
    """Change what pdf_oxide would draw too slowly, or differently from PDF viewers.

    Returns whether anything was changed; if so, the file must be rewritten.
    """
    from pypdf import generic  # noqa: PLC0415  only the child process loads parsers

    is_changed = _name_layers(reader)
    seen = set[int]()
    pages = (page for number, page in enumerate(reader.pages) if number not in damaged)
    for item in (item for page in pages for item in _drawn_objects(page, seen)):
        if item.get("/Subtype") == "/Image":
            if _pixels(item) > _MAX_PIXELS:
                _replace_picture(item)
                is_changed = True
        elif "/OC" in item:
            # pdf_oxide respects the layers of content, but not the layers of form objects.
            holder = item
            for name in ("/Resources", "/Properties"):
                inner = generic.DictionaryObject()
                holder = holder.setdefault(generic.NameObject(name), inner).get_object()
            holder[generic.NameObject("/OfForm")] = item.raw_get("/OC")
            _rewrite(item, b"/OC /OfForm BDC " + item.get_data() + b" EMC")
            is_changed = True
    return is_changed


def _name_layers(reader: Any) -> bool:
    """Give each layer a name of its own, and switch off the layers that viewers do not show.

    Returns whether the file has layers.
    """
    from pypdf import generic  # noqa: PLC0415  only the child process loads parsers

    layers = _get(reader.root_object, "/OCProperties")
    shown = _get(layers, "/D")
    if shown is None:
        return False
    for number, group in enumerate(_all(layers, "/OCGs")):
        group[generic.NameObject("/Name")] = generic.TextStringObject(f"layer {number}")
    by_view = (usage for usage in _all(shown, "/AS") if usage.get("/Event") == "/View")
    unseen = (
        group
        for usage in by_view
        for group in _all(usage, "/OCGs")
        if (_get(_get(group, "/Usage"), "/View") or {}).get("/ViewState") == "/OFF"
    )
    off = [group.indirect_reference for group in (*_all(shown, "/OFF"), *unseen)]
    shown[generic.NameObject("/OFF")] = generic.ArrayObject(off)
    return True


def _drawn_objects(page: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the form objects and pictures of a page, including those inside form objects.

    Objects in `seen` are left out, and the others are added to it.
    """
    holders = [page]
    while holders:
        resources = _get(holders.pop(), "/Resources")
        for item in (_get(resources, "/XObject") or {}).values():
            found = item.get_object()
            if id(found) not in seen and hasattr(found, "get_data"):
                seen.add(id(found))
                holders.append(found)
                yield found


def _get(holder: Any, name: str) -> Any:
    value = holder.get(name) if isinstance(holder, dict) else None
    value = None if value is None else value.get_object()
    return value if isinstance(value, dict) else None


def _all(holder: Any, name: str) -> Iterator[Any]:
    """The dictionaries in the list that `holder` has under `name`."""
    value = holder.get(name)
    value = None if value is None else value.get_object()
    items = (item.get_object() for item in value) if isinstance(value, list) else ()
    yield from (item for item in items if isinstance(item, dict))


def _pixels(picture: Any) -> int:
    sizes = (picture.get(name, 0).get_object() for name in ("/Width", "/Height") if name in picture)
    width, height = (*(size for size in sizes if isinstance(size, int)), 0, 0)[:2]
    return width * height


def _replace_picture(picture: Any) -> None:
    """Replace a large picture with small gray noise, on which all text counts as visible."""
    from pypdf import generic  # noqa: PLC0415  only the child process loads parsers

    for name in picture.keys() - {"/Type", "/Subtype", "/Filter"}:
        del picture[name]
    for name, value in {"/Width": _NOISE, "/Height": _NOISE, "/BitsPerComponent": 8}.items():
        picture[generic.NameObject(name)] = generic.NumberObject(value)
    picture[generic.NameObject("/ColorSpace")] = generic.NameObject("/DeviceGray")
    _rewrite(picture, hashlib.shake_128(b"").digest(_NOISE**2))


def _rewrite(stream: Any, data: bytes) -> None:
    from pypdf import generic  # noqa: PLC0415  only the child process loads parsers

    if isinstance(stream, generic.EncodedStreamObject):
        stream.pop("/DecodeParms", None)
        stream[generic.NameObject("/Filter")] = generic.NameObject("/FlateDecode")
        stream.decoded_self = generic.DecodedStreamObject()
    stream.set_data(data)


class _PageArea(NamedTuple):
    """The visible part of a page, in points, and the page's rotation."""

    left: float
    bottom: float
    right: float
    top: float
    turn: int

    def on(self, picture: Any, box: Sequence[float]) -> tuple[range, range]:
        """The columns and rows that a box covers in a picture of the page."""
        x, y, width, height = box
        across = (x - self.left) / (self.right - self.left)
        up = (y - self.bottom) / (self.top - self.bottom)
        width, height = width / (self.right - self.left), height / (self.top - self.bottom)
        xs, ys = sorted((across, across + width)), sorted((1 - up, 1 - up - height))
        for _ in range(self.turn // 90 % 4):
            xs, ys = sorted(1 - y for y in ys), xs
        return _pixel_range(xs, picture.width), _pixel_range(ys, picture.height)


# The columns that rules cover in each row of a picture.
_Ruled = dict[int, list[range]]


def _ruled(picture: Any, area: _PageArea, drawn: pdf_layout.Rules) -> _Ruled:
    """Where a picture shows rules. A rule through hidden text must not make it count as visible."""
    ruled: _Ruled = {}
    for y, start, end in drawn.thin if picture is not None else ():
        box = (start, y - _HALF_RULE, end - start, 2 * _HALF_RULE)
        columns, rows = area.on(picture, box)
        for row in rows:
            ruled.setdefault(row, []).append(columns)
    return {row: sorted(parts, key=lambda part: part.start) for row, parts in ruled.items()}


def _pixel_range(span: Sequence[float], size: int) -> range:
    return range(max(0, int(span[0] * size)), min(size, int(span[1] * size) + 1))


def _area_of(page: Any) -> _PageArea:
    shown, whole = page.cropbox, page.mediabox
    left, bottom = (float(max(shown[at], whole[at])) for at in (0, 1))
    right, top = (float(min(shown[at], whole[at])) for at in (2, 3))
    return _PageArea(left, bottom, right, top, page.rotation)


class VisibleText:
    """Finds the visible text of a PDF's pages."""

    def __init__(self, reader: Any, document: Any) -> None:
        self._reader = reader
        self._document = document
        # Fonts with visible letters on an earlier page, which this machine can therefore draw.
        self._drawn_fonts = set[str]()

    def spans(
        self, number: int, spans: Iterable[Any], drawn: pdf_layout.Rules
    ) -> tuple[list[Any], pdf_layout.Rules]:
        """The visible spans of a page, and its rules with the bars over words of these spans."""
        spans = [span for span in spans if span.text.strip() and not _is_tiny(span)]
        if not spans or number >= len(self._reader.pages):
            return spans, drawn
        area = _area_of(self._reader.pages[number])
        if min(area.right - area.left, area.top - area.bottom) <= 0:
            return spans, drawn
        picture = _render_page(self._document, number, area)
        ruled = _ruled(picture, area, drawn)
        unseen = [
            span
            for span in spans
            if _letters(span) >= _MIN_LETTERS and not _is_visible(picture, area, span, ruled)
        ]
        unseen = self._unseen_without_groups(number, unseen, area, ruled)
        hidden = {id(span) for span in unseen}
        self._drawn_fonts |= {span.font_name for span in spans if id(span) not in hidden}
        hidden -= {id(span) for span in self._with_missing_fonts(spans, unseen)}
        spans = [span for span in spans if id(span) not in hidden]
        # A page with a picture may be a scan, whose words may be misplaced: it is not searched for
        # bars.
        if not any(True for _ in _drawn_objects(self._reader.pages[number], set())):
            drawn = replace(drawn, bars=tuple(_bars(picture, area, spans)))
        return spans, drawn

    def _unseen_without_groups(
        self, number: int, spans: list[Any], area: _PageArea, ruled: _Ruled
    ) -> list[Any]:
        """The spans that are invisible even if transparency groups are left out.

        pdf_oxide draws transparency groups opaque, so they may cover visible text.
        """
        page = self._reader.pages[number]
        if not spans or not any(map(_is_group, _drawn_objects(page, set()))):
            return spans
        with suppress(*_errors()):
            picture = _render_page(_without_groups(self._reader, page), 0, area)
            return [span for span in spans if not _is_visible(picture, area, span, ruled)]
        return []

    def _with_missing_fonts(self, spans: Sequence[Any], unseen: Sequence[Any]) -> Sequence[Any]:
        """The unseen spans whose fonts seem to be missing on this machine; they count as visible.

        No letter of such a font was visible on any page so far. In addition, the text is in a
        script that few fonts have, or spans in such fonts have most of the page's letters.
        """
        unknown = [span for span in unseen if span.font_name not in self._drawn_fonts]
        if 2 * sum(map(_letters, unknown)) > sum(map(_letters, spans)):
            return unknown
        return [span for span in unknown if max(span.text) > _LAST_DRAWN]


def _letters(span: Any) -> int:
    return sum(map(str.isalnum, span.text))


def _is_tiny(span: Any) -> bool:
    _, _, width, height = span.bbox
    return bool(height < _TINY and abs(width) < _TINY_WIDTH * len(span.text))


def _errors() -> tuple[type[Exception], ...]:
    from pypdf import errors  # noqa: PLC0415  only the child process loads parsers

    return errors.PyPdfError, NotImplementedError, RuntimeError


def _render_page(document: Any, number: int, area: _PageArea) -> Any:
    """The picture of a page; None if it cannot be drawn."""
    size = max(area.right - area.left, area.top - area.bottom)
    dpi = min(_DPI, max(1, int(_MAX_SIDE_PIXELS * _POINTS / size)))
    with suppress(RuntimeError):
        return document.render_pixmap(number, dpi)
    return None


def _is_visible(picture: Any, area: _PageArea, span: Any, ruled: _Ruled) -> bool:
    """Whether a text is visible: its pixels differ in color. True if there is no picture."""
    if picture is None:
        return True
    columns, rows = area.on(picture, _between_edges(span))
    if len(columns) > _WIDE:
        columns = columns[_EDGE:-_EDGE]
    return _varies(picture, columns, rows, ruled)


def _between_edges(span: Any) -> Sequence[float]:
    """The box of a span, or of the lower part of its letters if it is upright.

    The edges of a bar that hides the letters may lie in their box, but not in this part.
    """
    if span.page_bbox != span.bbox:
        return span.page_bbox  # type: ignore[no-any-return]
    return _low_part(span, span.bbox[0], pdf_layout.width_of(span))


def _low_part(span: Any, left: float, width: float) -> Sequence[float]:
    _, y, _, size = span.bbox
    low, high = _LOW_PART
    return left, y + low * size, width, (high - low) * size


def _varies(picture: Any, columns: range, rows: range, ruled: _Ruled) -> bool:
    lowest, highest = [255] * 3, [0] * 3
    parts = ((row, part) for row in rows for part in _outside(columns, ruled.get(row, ())))
    for at, part in parts:
        start = 4 * picture.width * at
        pixels = picture.data[start + 4 * part.start : start + 4 * part.stop]
        for channel in range(3):
            values = pixels[channel::4]
            lowest[channel] = min(lowest[channel], *values)
            highest[channel] = max(highest[channel], *values)
            if highest[channel] - lowest[channel] >= _CONTRAST:
                return True
    return False


def _bars(picture: Any, area: _PageArea, spans: Iterable[Any]) -> Iterator[pdf_layout.Level]:
    """The bars over words of visible spans, where the picture has one color.

    Only spans with a long run of one color are looked at.
    """
    for span in spans if picture is not None else ():
        columns, rows = area.on(picture, _between_edges(span))
        start = 4 * picture.width * ((rows.start + rows.stop) // 2)
        line = picture.data[start + 4 * columns.start : start + 4 * columns.stop : 4]
        if not _RUN.search(line):
            continue
        for word, left, right in pdf_layout.words(span):
            is_long = sum(map(str.isalnum, word)) >= _MIN_LETTERS and max(word) <= _LAST_DRAWN
            columns, rows = area.on(picture, _low_part(span, left, right - left))
            if is_long and not _varies(picture, columns[1:-1], rows, {}):
                yield span.bbox[1] + sum(_LOW_PART) / 2 * span.bbox[3], left, right


def _outside(columns: range, ruled: Iterable[range]) -> Iterator[range]:
    """The parts of `columns` that no rule covers."""
    start = columns.start
    for rule in ruled:
        if start < min(rule.start, columns.stop):
            yield range(start, min(rule.start, columns.stop))
        start = max(start, rule.stop)
    if start < columns.stop:
        yield range(start, columns.stop)


def _is_group(drawn: Any) -> bool:
    return drawn.get("/Subtype") == "/Form" and "/Group" in drawn


def _without_groups(reader: Any, page: Any) -> Any:
    """A document with a copy of only this page, whose transparency groups are emptied."""
    import pypdf  # noqa: PLC0415  only the child process loads parsers

    writer = pypdf.PdfWriter()
    writer.add_page(page)
    copy_layers(reader, writer)
    for drawn in _drawn_objects(writer.pages[0], set()):
        if _is_group(drawn):
            _rewrite(drawn, b"")
    return _opened(writer)


def copy_layers(reader: Any, writer: Any) -> None:
    """Copy which layers are on; the pages must have been copied already."""
    from pypdf import generic  # noqa: PLC0415  only the child process loads parsers

    layers = reader.root_object.get("/OCProperties")
    if layers is not None:
        copy = layers.get_object().clone(writer)
        writer.root_object[generic.NameObject("/OCProperties")] = copy


def _opened(writer: Any) -> Any:
    import pdf_oxide  # noqa: PLC0415  only the child process loads parsers

    out = io.BytesIO()
    writer.write(out)
    return pdf_oxide.PdfDocument.from_bytes(out.getvalue())
