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
_WHITE = re.compile(r"color\s*:\s*(?:#f{3}|white|(?:rgb|hsl|hwb|color|lab|lch|ok))", re.IGNORECASE)

_PROPERTIES = {
    **{name: name for name in ("display", "position", "color")},
    **{name: name for name in ("height", "max-height", "width", "max-width")},
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), "overflow"),
}
# What keeps a box open, or may open it.
_OPEN = re.compile(
    r"(?:padding|min-|transition|animation|aspect-ratio|flex|inset|block-size|inline-size|all)"
)
# What may give white letters a ground or an outline, or another color.
_GROUND = re.compile(
    r"(?:-webkit-)?(?:background(?:-color|-image)?|mask.*|.*shadow|.*filter|.*-blend-mode|outline"
    r"|text-(?:fill|stroke).*|border-image.*|animation.*|color-scheme|all)"
)
# Conversions between colors are not exact.
_FULL = 0.999
_NONE = frozenset({"none", "transparent", "initial", "unset", "normal", "light", "0", "0px"})
# What may move a part of the page onto another part, or let it reach out of its box.
_MOVES = re.compile(
    r"position|transform|translate|scale|rotate|zoom|grid|float|inset|calc|-\d"
    r"|(?<!line-)height\s*:\s*\d",
    re.IGNORECASE,
)
_BORDER = re.compile(r"border[^:;{}]*:[^;{}]*[1-9]", re.IGNORECASE)
_PICTURES = ("img", "picture", "video", "svg", "canvas", "iframe", "object", "embed")
# Elements to which browsers give a color or a ground of their own.
_COLORED = frozenset({"a", "table"})
_GROUNDED = frozenset({"button", "input", "mark", "meter", "option", "select", "textarea"})
# Rules in a layer or under a condition may not apply.
_AT_RULES = frozenset({"charset", "font-face", "keyframes", "media", "namespace", "page"})
_AT_RULE = re.compile(r"@(?:-[a-z]+-)?([a-z-]+)", re.IGNORECASE)
_DATA = re.compile(r"json|template", re.IGNORECASE)

# Elements that have a size of their own, unless a style makes them inline.
_BOXES = frozenset(
    """
    p div section article main ul ol dl li dd dt blockquote figure figcaption form header footer
    aside address pre h1 h2 h3 h4 h5 h6
    """.split()  # noqa: SIM905 - easier to read
)
# Browsers give these elements a padding of their own, in which letters are seen.
_PADDED = frozenset({*_GROUNDED, "fieldset", "td", "th"})
_BOX_DISPLAYS = frozenset({"block", "inline-block", "flex", "grid", "flow-root", "list-item"})
_SIZES = ("height", "max-height", "width", "max-width")


class Unseen(NamedTuple):
    """The elements of a page that nobody sees."""

    boxes: frozenset[Any] = frozenset()  # with all that is in them
    white: frozenset[Any] = frozenset()  # without the elements in them


def find(tree: Any) -> Unseen:
    """The boxes without a size, and the elements whose letters are white on white."""
    sheets = [*style_sheets.sheets(tree)]
    own = [style for element in tree.iter() if (style := element.get("style"))]
    text = "\n".join([*sheets, *own])
    has_boxes = bool(_EMPTY_BOX.search(text))
    has_white = bool(_WHITE.search(text)) and _is_whole(tree, sheets)
    if not (has_boxes or has_white):
        return Unseen()
    try:
        values = style_sheets.values(tree, _value)
    except ExtractError:
        # The page has too many styles.
        return Unseen()
    boxes = frozenset(_boxes(tree, values)) if has_boxes else frozenset()
    white = frozenset(_white(tree, values, text)) if has_white else frozenset()
    return Unseen(boxes, white)


def _value(declaration: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """What a declaration says about boxes and colors."""
    name = declaration.lower_name
    words = frozenset(filter(None, map(style_sheets.word, declaration.value)))
    if name == "color":
        yield name, frozenset({_color(declaration.value)})
    elif name in _PROPERTIES:
        yield _PROPERTIES[name], words
    if _OPEN.match(name) and not all(map(_is_nothing, words or {""})):
        yield "open", words
    if _GROUND.fullmatch(name) and not all(map(_is_no_ground, _tokens(declaration.value))):
        yield "ground", words


def _tokens(value: Any) -> list[Any]:
    return [token for token in value if token.type not in {"whitespace", "comment"}]


def _color(value: Any) -> str:
    tokens = _tokens(value)
    words = {style_sheets.word(token) for token in tokens}
    if words & {"inherit", "unset", "revert", "currentcolor"}:
        return "inherit"
    return "white" if len(tokens) == 1 and _is_white(tokens[0]) else "other"


def _is_white(token: Any) -> bool:
    color = color4.parse_color(token)
    if color is None or color == "currentcolor":
        return False
    return color.space in {"srgb", "hsl", "hwb"} and all(
        part >= _FULL for part in color.to("srgb").coordinates
    )


def _is_no_ground(token: Any) -> bool:
    return style_sheets.word(token) in _NONE or _is_white(token)


def _is_nothing(word: str) -> bool:
    number = style_sheets.number([word])
    return number is not None and number[0] == 0 or word in {"none", "initial", "auto"}


def _boxes(tree: Any, values: dict[Any, style_sheets.Declared]) -> Iterator[Any]:
    """The boxes that have no height or width and cut off what is in them."""
    outside = set[Any]()  # the elements with a part that may be outside of them
    for element, value in values.items():
        above = element if value.get("position", frozenset()) & {"absolute", "fixed"} else None
        above = above.getparent() if above is not None else None
        while above is not None and above not in outside:
            outside.add(above)
            above = above.getparent()
    for element in tree.iter():
        if element not in outside and _is_empty(element, values.get(element, {})):
            yield element


def _is_empty(element: Any, value: style_sheets.Declared) -> bool:
    display = value.get("display", frozenset())
    is_placed = bool(value.get("position", frozenset()) & {"absolute", "fixed"})
    is_box = is_placed or display <= _BOX_DISPLAYS and (element.tag in _BOXES or bool(display))
    numbers = (style_sheets.number(value.get(name, ())) for name in _SIZES)
    return (
        is_box
        and element.tag not in _PADDED
        and not value.keys() & {"open", style_sheets.OPENING}
        and bool(value.get("overflow", frozenset()) & {"hidden", "clip"})
        and any(number is not None and number[0] == 0 for number in numbers)
    )


def _is_whole(tree: Any, sheets: list[str]) -> bool:
    """Whether the page is a document whose look depends on nothing but its own styles."""
    doctype = tree.getroottree().docinfo.doctype
    if not doctype or tree.find(".//template") is not None:
        return False
    for element in tree.iter("link", "script", "meta"):
        kind = element.get("type") or ""
        is_sheet = element.tag == "link" and "stylesheet" in (element.get("rel") or "").lower()
        is_script = element.tag == "script" and not _DATA.search(kind)
        is_scheme = (element.get("name") or "").lower() == "color-scheme"
        if is_sheet or is_script or is_scheme:
            return False
    names = {name for element in tree.iter() for name in element.keys()}  # noqa: SIM118 - lxml
    at_rules = {name.lower() for sheet in sheets for name in _AT_RULE.findall(sheet)}
    return at_rules <= _AT_RULES and not any(name.startswith("on") for name in names)


def _white(tree: Any, values: dict[Any, style_sheets.Declared], text: str) -> Iterator[Any]:
    """The elements whose letters are white, if nothing but the white page can be behind them.

    Scripts and styles that are not read often show a page whose own color is white.
    """
    white, doubtful = set[Any](), set[Any]()
    has_ground = bool(_BORDER.search(text)) or any(True for _ in tree.iter(*_PICTURES))
    for element in tree.iter():
        value = values.get(element, {})
        above = element.getparent()
        is_ground = (
            "ground" in value
            or element.tag in _GROUNDED
            or not {"bgcolor", "background"}.isdisjoint(element.keys())
        )
        has_ground = has_ground or is_ground or style_sheets.OPENING in value
        color = next(iter(value.get("color", {_usual_color(element)})))
        is_page = element.tag in {"html", "body"} and color == "white"
        if is_ground or is_page or style_sheets.OPENING in value or above in doubtful:
            doubtful.add(element)
        elif color == "white" or (color == "inherit" and above in white):
            white.add(element)
    return iter(() if has_ground and _MOVES.search(text) else white)


def _usual_color(element: Any) -> str:
    return "other" if element.tag in _COLORED or element.get("color") else "inherit"
