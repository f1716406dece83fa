"""Finds text of a web page that nobody sees: in boxes without a size, and white on white.

Whatever is uncertain counts as visible, since text that visitors see must not be lost. Like all
parsers, this module is loaded in the child process only.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tinycss2 import color4

from bots.ingest.extraction import style_sheets
from bots.ingest.extraction.document import ExtractError

# A page is looked at only if its styles match one of these.
_EMPTY_BOX = re.compile(r"(?:height|width)\s*:\s*[+-]?\.?0", re.IGNORECASE)
_WHITE = re.compile(r"color\s*:\s*(?:#f{3}|white|(?:rgb|hsl|hwb))", re.IGNORECASE)
# What may put a part of the page behind another part, and rules that may not apply.
_UNSURE = re.compile(
    r"position|transform|translate|scale|rotate|zoom|grid|float|inset|calc|-\d"
    r"|(?<!line-)height\s*:\s*\d|@(?!charset|font-face|media|page)",
    re.IGNORECASE,
)

_SIZES = ("height", "max-height", "width", "max-width")
_PROPERTIES = {
    **{name: name for name in ("display", "position", *_SIZES)},
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), "overflow"),
}
# Properties that keep a box open, or may open it.
_OPEN = re.compile(
    r"padding|min-|transition|animation|aspect-ratio|flex|inset|block-size|inline-size|all$"
)
# Properties that may give white letters a ground, an outline or another color.
_GROUND = re.compile(
    r"background|mask|shadow|filter|blend-mode|outline|text-fill|text-stroke|border-image"
    r"|animation|color-scheme|^all$"
)
# Values of these properties that do nothing.
_NOTHING = frozenset({"none", "transparent", "initial", "normal", "auto", "0", "0px"})
# Conversions between colors are not exact.
_FULL = 0.999

# Elements that have a size unless a style makes them inline, and styles that give one a size.
_BOXES = frozenset(
    {"article", "aside", "div", "footer", "header", "li", "ol", "p", "section", "ul"}
)
_BOX_DISPLAYS = frozenset({"block", "inline-block", "flex", "grid"})
# Elements to which browsers give a padding or a ground.
_FRAMED = frozenset({"button", "fieldset", "mark"})


class Unseen(NamedTuple):
    """The elements of a page that nobody sees."""

    boxes: frozenset[Any] = frozenset()  # with all that is in them
    white: frozenset[Any] = frozenset()  # without the elements in them


def find(tree: Any) -> Unseen:
    """The boxes without a size, and the elements whose letters are white on white."""
    own = (style for element in tree.iter() if (style := element.get("style")))
    text = "\n".join([*style_sheets.sheets(tree), *own])
    has_boxes = bool(_EMPTY_BOX.search(text))
    has_white = bool(_WHITE.search(text)) and not _UNSURE.search(text) and _is_static(tree)
    if not (has_boxes or has_white):
        return Unseen()
    try:
        values = style_sheets.values(tree, _read)
    except ExtractError:
        # The page has too many styles.
        return Unseen()
    boxes = frozenset(_boxes(tree, values)) if has_boxes else frozenset()
    return Unseen(boxes, _white(tree, values) if has_white else frozenset())


def _read(declaration: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """What a declaration says about boxes and colors."""
    name = declaration.lower_name
    tokens = [token for token in declaration.value if token.type not in {"whitespace", "comment"}]
    words = frozenset(map(style_sheets.word, tokens))
    is_white = bool(tokens) and all(map(_is_white, tokens))
    if name == "color":
        yield name, frozenset({"white"} if is_white else ())
    elif name in _PROPERTIES:
        yield _PROPERTIES[name], words
    if _OPEN.match(name) and not words <= _NOTHING:
        yield "open", words
    if _GROUND.search(name) and not (is_white or words <= _NOTHING):
        yield "ground", words


def _is_white(token: Any) -> bool:
    color = color4.parse_color(token)
    if color is None or color == "currentcolor":
        return False
    return color.space in {"srgb", "hsl", "hwb"} and all(
        part >= _FULL for part in color.to("srgb").coordinates
    )


def _boxes(tree: Any, values: dict[Any, style_sheets.Declared]) -> Iterator[Any]:
    """The boxes that have no height or width and cut off what is in them."""
    outside = set[Any]()  # the elements with a part that may be outside of them
    for element, value in values.items():
        if value.get("position", frozenset()) & {"absolute", "fixed"}:
            for above in element.iterancestors():
                if above in outside:
                    break
                outside.add(above)
    for element, value in values.items():
        if element not in outside and _is_empty(element, value):
            yield element


def _is_empty(element: Any, value: style_sheets.Declared) -> bool:
    display = value.get("display", frozenset())
    numbers = (style_sheets.number(value.get(name, ())) for name in _SIZES)
    return (
        (display <= _BOX_DISPLAYS if display else element.tag in _BOXES)
        and element.tag not in _FRAMED
        and not value.keys() & {"open", style_sheets.OPENING}
        and bool(value.get("overflow", frozenset()) & {"hidden", "clip"})
        and any(number is not None and number[0] == 0 for number in numbers)
    )


def _is_static(tree: Any) -> bool:
    """Whether a page is a whole document whose look depends on nothing but its own styles."""
    return bool(tree.getroottree().docinfo.doctype) and not any(map(_changes_look, tree.iter()))


def _changes_look(element: Any) -> bool:
    return (
        element.tag == "template"
        or (element.tag == "script" and "json" not in element.get("type", "").lower())
        or (element.tag == "link" and "stylesheet" in element.get("rel", "").lower())
        or (element.tag == "meta" and element.get("name", "").lower() == "color-scheme")
        or any(name.startswith("on") for name in element.keys())  # noqa: SIM118 - lxml
    )


def _white(tree: Any, values: dict[Any, style_sheets.Declared]) -> frozenset[Any]:
    """The elements whose letters are white, if nothing but the white page can be behind them.

    A page whose own letters are white has a ground that its styles do not tell.
    """
    white, doubtful = set[Any](), set[Any]()
    for element in tree.iter():
        value = values.get(element, {})
        above = element.getparent()
        is_white = "white" in value.get("color", ())
        if (
            above in doubtful
            or element.tag in _FRAMED
            or value.keys() & {"ground", style_sheets.OPENING}
            or not {"bgcolor", "background"}.isdisjoint(element.keys())
            or (is_white and element.tag in {"html", "body"})
        ):
            doubtful.add(element)
        elif is_white or (above in white and "color" not in value and not _is_colored(element)):
            white.add(element)
    return frozenset(white)


def _is_colored(element: Any) -> bool:
    return element.tag == "a" or element.get("color") is not None
