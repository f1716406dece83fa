"""Reads HTML: the markup gives the structure, and trafilatura finds the main content."""

import importlib
import re
from collections.abc import Iterable, Iterator
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

from bots.ingest.extraction import encodings, page_visibility
from bots.ingest.extraction.document import (
    Content,
    Headings,
    Section,
    SectionBuilder,
    clean,
    labeled_row,
    mark_code_lines,
    names_below,
    remove_strikethrough,
    table_lines,
)

_SKIPPED = frozenset("script style noscript template nav head svg button select iframe".split())  # noqa: SIM905 - as below
_METADATA = frozenset({"title", "meta", "link", "script", "style", "base", "noscript", "template"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# A term counts as the heading of its description, with a level below h6.
_TERMS = {"dt": 7, "summary": 7}
_BLOCKS = frozenset(
    """
    p div section article main body html ul ol dl li dd table tbody thead tfoot tr td th caption
    pre blockquote address figure figcaption form fieldset center header footer aside details hr
    label h1 h2 h3 h4 h5 h6 dt summary
    """.split()  # noqa: SIM905 - easier to read
)
_CELLS = frozenset({"div", "p", "span"})
_ITEMS = frozenset({"body", "main", "ul", "ol", "dl"})
_BOLD = frozenset({"b", "strong"})
MAX_HEADING_WORDS = 40
# The start number of an ordered list has at most this many digits.
_MAX_START_DIGITS = 5
# Links with fewer letters are not a table of contents.
_MIN_CONTENTS_LETTERS = 7
# A figure with its unit or currency: "18", "€ 18.50", "EUR 18", "18 euros", "9:30 - 12:00".
_FIGURE = re.compile(r"(?:[A-Z]{3} ?)?[^\w\n]{0,3}\d[\d\W]{0,20}(?:[^\W\d]{1,6}\.?)?")
# The number of a section or step.
_ORDINAL = re.compile(r"(?:\d{1,3}\.){0,3}\d{1,3}[.)]?")
_MAX_LABEL_WORDS = 12
# A table of figures without table markup has at least this many columns.
_MIN_GRID_COLUMNS = 3
_NUMBERED = re.compile(r"\d{1,9}[.)]\s")
# The maximum number of columns or rows that a cell of a table spans.
_MAX_SPAN = 100


class Block(NamedTuple):
    """A piece of the web page: a heading with its level, a paragraph or a list item."""

    text: str
    level: int = 0
    is_item: bool = False
    # The text as the web page shows it, if it differs, or the label of a figure.
    shown: str = ""
    # The element in which a figure and its label are siblings.
    container: Any = None


def read_html(path: Path) -> Content:
    import trafilatura  # noqa: PLC0415  only the child process loads parsers

    page = path.read_bytes()
    tree = visible_tree(clean(encodings.decode(page, encodings.declared(page))))
    title = " ".join((tree.findtext(".//title") or "").split())
    # An aside inside the main text belongs to it; trafilatura would drop it.
    for aside in tree.iterfind(".//main//aside"):
        aside.tag = "div"
    blocks = [*join_labels(blocks_of(tree))]
    main = trafilatura.extract(
        tree,
        include_comments=False,
        include_tables=True,
        favor_recall=True,
    )
    kept = _letters(main or "")
    # On short pages and unusual layouts trafilatura drops too much.
    if len(kept) * 4 >= len(_letters("".join(block.text for block in blocks))):
        blocks = [
            block for block in blocks if block.level or _letters(block.shown or block.text) in kept
        ]
    return Content(title, sections(blocks, title))


def visible_tree(text: str) -> Any:
    """The element tree of a page, without the parts that visitors do not see."""
    html: Any = importlib.import_module("lxml.html")  # has no types
    # lxml refuses a str that declares an encoding.
    data = re.sub(r"^\s*<\?xml[^>]*>", "", text).encode()
    tree = html.document_fromstring(
        data, parser=html.HTMLParser(encoding="utf-8", default_doctype=False)
    )
    _end_head(tree)
    page_visibility.show(tree)
    return tree


def _end_head(tree: Any) -> None:
    """Move everything but metadata from the head to the body.

    libxml2 knows only the elements of HTML 4. If a page has no `body` tag, elements such as `main`
    do not end the head.
    """
    head, body = tree.find("head"), tree.find("body")
    if head is None:
        return
    shown = [child for child in head if isinstance(child.tag, str) and child.tag not in _METADATA]
    if shown and body is None:
        body = tree.makeelement("body")
        tree.append(body)
    for index, child in enumerate(shown):
        body.insert(index, child)


def join_labels(blocks: Iterable[Block]) -> Iterator[Block]:
    """Join figures to their labels, and drop blocks without letters or digits.

    A figure below a heading is labeled by the heading and stays single. The number of a section
    before its heading is dropped.
    """
    listed = [block for block in blocks if any(map(str.isalnum, block.text))]
    groups = [[*group] for _, group in groupby(listed, key=_label_container)]
    above = ""
    for group, below in zip(groups, [*groups[1:], []], strict=False):
        figure = group[0] if len(group) == 1 and _is_figure(group[0]) else None
        if figure is None:
            yield from _lines(group) if _label_container(group[0]) is not None else group
        elif above or not (below and below[0].level and _ORDINAL.fullmatch(figure.text)):
            yield figure._replace(shown=above)
        above = group[-1].text if group[-1].level else ""


def _label_container(block: Block) -> Any:
    """The container of a block that may be a figure or its label; None for all others."""
    is_sentence = block.text.endswith((".", "!", "?", "…", "。")) and not _is_figure(block)
    is_short = len(block.text.split()) <= _MAX_LABEL_WORDS
    return block.container if is_short and not is_sentence and not block.level else None


def _is_figure(block: Block) -> bool:
    return not block.level and not block.shown and bool(_FIGURE.fullmatch(block.text))


def _lines(group: list[Block]) -> Iterator[Block]:
    """Join figures to the labels before them, or after them if the group begins with a figure."""
    is_before = _is_figure(group[0])
    lines: list[list[Block]] = []
    for block in group:
        follows = bool(lines) and _is_figure(lines[-1][-1] if is_before else block)
        lines += [] if follows else [[]]
        lines[-1].append(block)
    for line in lines:
        label = line[-1 if is_before else 0]
        texts = [block.text for block in line]
        if len(line) == 1:
            yield label
        elif is_before:
            yield label._replace(text=" ".join(texts), shown=label.shown or label.text)
        else:
            text = f"{texts[0].removesuffix(':')}: {', '.join(texts[1:])}"
            yield label._replace(text=text, shown=label.shown or label.text)


def _letters(text: str) -> str:
    """The letters and digits of a text, for comparing texts regardless of spaces and markup."""
    return "".join(letter for letter in text if letter.isalnum())


def sections(blocks: Iterable[Block], title: str) -> list[Section]:
    built, headings = SectionBuilder(), Headings(title)
    was_item = False
    for block in blocks:
        if block.level:
            built.start_section(headings.below(block.level, block.text))
        else:
            glue = "\n" if was_item and block.is_item else "\n\n"
            has_mark = not block.is_item or _NUMBERED.match(block.text)
            built.add(block.text if has_mark else f"- {block.text}", glue=glue)
        was_item = block.is_item
    return built.build()


def blocks_of(element: Any, *, is_item: bool = False) -> Iterator[Block]:
    """The blocks inside an element, in document order."""
    inline: list[str] = [element.text or ""]
    is_whole = True
    for child in element:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag and tag not in _SKIPPED and (tag in _BLOCKS or _contains_blocks(child)):
            yield from _joined(inline, element, is_item=is_item)
            inline, is_whole = [], False
            yield from _of_block(child, tag, is_item=is_item)
        elif tag and tag not in _SKIPPED:
            inline.append("\0" if tag == "br" else "".join(_words(child)))
        inline.append(child.tail or "")
    yield from _joined(inline, _container(element) if is_whole else element, is_item=is_item)


def _of_block(element: Any, tag: str, *, is_item: bool) -> Iterator[Block]:
    level = _HEADINGS.get(tag) or _TERMS.get(tag)
    text = _line(element).rstrip("¶")
    # A heading may link to itself, but is never a table of contents.
    if level is None and _is_contents(element, text):
        return
    if level is None and tag == "p" and _is_bold_heading(element, text):
        level = 8
    if level and len(text.split()) <= MAX_HEADING_WORDS:
        yield Block(text, level)
    elif tag == "table" and not _is_layout(element):
        yield from _rows(element)
    elif rows := _grid_of_figures(element):
        lines = table_lines(rows)
        for line, row in zip(lines, rows[-len(lines) :], strict=True):
            yield Block(line.removeprefix("- "), is_item=True, shown=row.get(0, ""))
    elif tag == "pre":
        code = "".join(_words(element)).replace("\0", "\n")
        yield Block(mark_code_lines(remove_strikethrough(code)))
    else:
        blocks = blocks_of(element, is_item=tag == "li" or (is_item and tag != "dd"))
        yield from _numbered(element, blocks) if tag == "li" else blocks


def _numbered(item: Any, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks of a list item, with the number that an ordered list shows before it."""
    parent = item.getparent()
    first = next(blocks, None)
    if first is not None:
        if parent is not None and parent.tag == "ol" and not first.level:
            start = parent.get("start", "1").strip()
            before = int(item.xpath("count(preceding-sibling::li)"))
            is_valid = start.isdecimal() and len(start) <= _MAX_START_DIGITS
            number = (int(start) if is_valid else 1) + before
            first = first._replace(text=f"{number}. {first.text}", shown=first.shown or first.text)
        yield first
    yield from blocks


def _container(element: Any) -> Any:
    """The nearest ancestor that has several children or is a body or list."""
    above = element.getparent()
    while above is not None and len(above) == 1 and above.tag not in _ITEMS:
        above = above.getparent()
    return above


def _joined(inline: list[str], container: Any, *, is_item: bool) -> Iterator[Block]:
    lines = (" ".join(line.split()) for line in "".join(inline).split("\0"))
    text = remove_strikethrough("\n".join(line for line in lines if line))
    if text:
        yield Block(text, is_item=is_item, container=container)


def _words(element: Any) -> Iterator[str]:
    """The text of an element, with NUL for <br>; `clean` has removed all other NULs."""
    if element.tag == "br":
        yield "\0"
    elif isinstance(element.tag, str) and element.tag not in _SKIPPED:
        yield element.text or ""
        for child in element:
            yield from _words(child)
            yield child.tail or ""


def _line(element: Any) -> str:
    return remove_strikethrough(" ".join("".join(_words(element)).replace("\0", " ").split()))


def _contains_blocks(element: Any) -> bool:
    return any(isinstance(below.tag, str) and below.tag in _BLOCKS for below in element.iter())


def _is_bold_heading(element: Any, text: str) -> bool:
    """Whether a paragraph is all bold and ends in a question mark or colon."""
    bold = "".join("".join(_words(child)) for child in element.iter(*_BOLD))
    return text.endswith(("?", "？", ":")) and _letters(bold) == _letters(text)


def _is_contents(element: Any, text: str) -> bool:
    """Whether an element consists mostly of links to anchors, like a table of contents."""
    links = element.iterfind(".//a[@href]")
    leading = (link for link in links if "#" in link.get("href"))
    linked = "".join(_letters("".join(_words(link))) for link in leading)
    return len(linked) >= _MIN_CONTENTS_LETTERS and 5 * len(linked) >= 4 * len(_letters(text))


def _is_layout(table: Any) -> bool:
    """Whether a table only places blocks side by side."""
    return any(_has_layout_content(cell) for cell in table.iter("td"))


def _has_layout_content(cell: Any) -> bool:
    below = [child.tag for child in cell.iter() if child is not cell]
    return any(tag in _BLOCKS for tag in below if isinstance(tag, str)) and len(below) > 1


def _rows(table: Any) -> Iterator[Block]:
    """The rows of a data table, each cell with the name of its column."""
    header: dict[int, str] = {}
    rows: list[tuple[dict[int, str], str]] = []
    is_above = True
    for names, cells, shown in _grid(table):
        if is_above and names == {"th"} and len(cells) > 1:
            header = names_below(header, cells)
        elif any(cells.values()):
            is_above = False
            rows.append((cells, shown))
    if not header and max((len(cells) for cells, _ in rows), default=0) > 2:
        for line in table_lines([{n: text for n, text in row.items() if text} for row, _ in rows]):
            yield Block(line.removeprefix("- "), is_item=True)
        return
    for cells, shown in rows:
        text = labeled_row(header, cells).replace("\n", ", ")
        yield Block(text, is_item=True, shown=shown)


def _grid(table: Any) -> Iterator[tuple[set[str], dict[int, str], str]]:
    """The tags, the texts by column and the shown text of each row.

    The text of a cell fills all columns and rows that it spans; the shown text contains it once.
    """
    spanning: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        cells: dict[int, str] = {}
        names: set[str] = set()
        shown, column = "", 0
        for cell in row.iterchildren("td", "th"):
            column = next(n for n in count(column) if n not in cells and n not in spanning)
            text = _line(cell)
            names.add(cell.tag)
            shown += text
            for covered in range(column, column + _span(cell, "colspan")):
                cells[covered] = text
                spanning[covered] = (_span(cell, "rowspan"), text)
        cells |= {column: text for column, (_, text) in spanning.items() if column not in cells}
        spanning = {column: (n - 1, text) for column, (n, text) in spanning.items() if n > 1}
        yield names, dict(sorted(cells.items())), shown


def _grid_of_figures(element: Any) -> list[dict[int, str]]:
    """The rows of an element that only styles make a table; [] if it is not one.

    Its children are the cells: the names of the columns, then rows of a name and figures.
    """
    if (element.text or "").strip() or any(map(_is_no_cell, element)):
        return []
    cells = [_line(child) for child in element]
    first = next((n for n, text in enumerate(cells) if not any(map(str.isalpha, text))), 0)
    columns = first - 1
    if columns < _MIN_GRID_COLUMNS or len(cells) % columns or len(cells) < 3 * columns:
        return []
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    is_table = all(any(map(str.isalpha, row[0])) for row in rows[1:]) and all(
        _FIGURE.fullmatch(text) or not any(map(str.isalnum, text))
        for row in rows[1:]
        for text in row[1:]
    )
    named = [{n: text for n, text in enumerate(row) if text} for row in rows]
    return named if is_table else []


def _is_no_cell(child: Any) -> bool:
    is_cell = child.tag in _CELLS and not (child.tail or "").strip()
    return not is_cell or any(below.tag in _BLOCKS for below in child)


def _span(cell: Any, name: str) -> int:
    value = cell.get(name, "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() else 1
