"""Finds the parts of a web page that its own style sheets and `style` attributes hide.

Like all parsers, this module is loaded in the child process only.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import cssselect2
import tinycss2
from tinycss2.color3 import parse_color

from bots.ingest.extraction.document import ExtractError

# The maximum number of characters in the style sheets of a page.
_MAX_CHARACTERS = 1_000_000
_MAX_SELECTORS = 5_000
_MAX_SELECTOR_CHARACTERS = 2_000
_MAX_NESTED = 5
# The maximum number of steps. A step goes from one element to another, or tries a selector on an
# element. This many steps take a few seconds.
MAX_STEPS = 4_000_000
# Wrapping an element counts as _WRAPPED steps. Copying _COPIED siblings counts as one step.
_WRAPPED, _COPIED = 5, 4

_NUMBER = re.compile(r"(-?[\d.]+(?:e[+-]?\d+)?)([a-z%]*)")
# Python refuses to parse integers of more than 4,300 digits.
_LONG_NUMBER = re.compile(r"\d{1000,}")
_SIZES = ("height", "max-height", "width", "max-width")
_PROPERTIES = {
    **{name: name for name in ("display", "visibility", "content-visibility", "opacity")},
    **{name: name for name in ("clip", "clip-path", "font-size", "transition", "animation")},
    **{name: name for name in ("left", "right", "top", "bottom", "text-indent")},
    **{name: name for name in ("margin-left", "margin-top", "position", *_SIZES)},
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), "overflow"),
    "text-decoration": "text-decoration",
    "text-decoration-line": "text-decoration",
    "transition-property": "transition",
    "animation-name": "animation",
}
_SHOWING = frozenset(
    {"display", "visibility", "opacity", "clip", "clip-path", "font-size", *_SIZES}
)
# Properties that can give a box a size although its height or width is 0, and the values with which
# they do not.
_OPEN = re.compile(r"padding|min-|flex|aspect-ratio|inset|block-size|inline-size|all$")
_NOTHING = frozenset({"none", "initial", "auto", "0", "0px"})
# Properties that decide whether text can be told from its background.
_CONTRAST = re.compile(r"color$|background|text-shadow|-webkit-text|(?:.*-)?filter|mix-blend")
# Properties that can place an element outside the page.
_PLACES = ("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top")
# An element with a negative offset of at least this much is outside the page.
_FAR_PIXELS = 900
# A unit such as `em` counts as this many pixels.
_PIXELS_PER_LETTER = 15
# An element with less opacity is invisible.
_MIN_OPACITY = 0.05
# States that an element has only while a visitor uses it, such as `:hover`, `.is-open` and
# `[open]`.
_STATE = re.compile(
    r"(?:is-|has-)?(?:active|checked|current|expanded|focus|focus-visible|focus-within|hover"
    r"|open|opened|selected|show|shown|target|visible|(?:aos-)?animated?|in-?view|loaded|ready"
    r"|revealed)",
    re.IGNORECASE,
)
_STATE_ATTRIBUTE = re.compile(r"(?:aria|data)-|open|checked|selected", re.IGNORECASE)

_ANY = tinycss2.parse_component_value_list("*")

# The width in pixels at which a desktop computer shows the page.
_WIDTH = 1_280
_LENGTH = r"(\d{1,5}(?:\.\d{1,5})?)(px|r?em)"
_MIN_WIDTH = re.compile(
    rf"min-(?:device-)?width\s*:\s*{_LENGTH}|(?<!-)width\s*>=?\s*{_LENGTH}|{_LENGTH}\s*<=?\s*width"
)
_MAX_WIDTH = re.compile(
    rf"max-(?:device-)?width\s*:\s*{_LENGTH}|(?<!-)width\s*<=?\s*{_LENGTH}|{_LENGTH}\s*>=?\s*width"
)
_FEATURE = re.compile(r"\(([^()]*)\)")
_MEDIUM = re.compile(r"(?:(?:not|only)\s+)?([a-z]+)")
_FEATURES = frozenset(
    """
    orientation:landscape hover:hover hover any-hover:hover pointer:fine pointer any-pointer:fine
    prefers-color-scheme:light prefers-reduced-motion:no-preference scripting:enabled scripting
    """.split()  # noqa: SIM905 - easier to read
)

# The words in the value of each property: identifiers, numbers with their units, and _CUT_OFF for a
# shape that cuts off everything.
Declared = dict[str, frozenset[str]]
_CUT_OFF = "cut-off"


class _Rule(NamedTuple):
    normal: Declared
    important: Declared
    # Whether the rule shows an element when a visitor hovers, clicks or the like.
    is_opening: bool = False


_OPENING_RULE = _Rule({}, {}, is_opening=True)
# Added for text that has another color in some state.
_RECOLORING_RULE = _Rule({}, {"blended": frozenset()})


class Look(NamedTuple):
    """How an element looks."""

    is_gone: bool = False
    is_struck: bool = False
    is_invisible: bool | None = None  # None: like its parent
    is_tiny: bool | None = None  # None: like its parent
    is_blended: bool | None = None  # its text has its background's color; None: like its parent
    is_empty: bool = False  # cut off at a height or width of 0, if it is a block
    is_placed: bool = False  # positioned, so it may be outside the boxes around it
    can_open: bool = False  # when a visitor hovers, clicks or the like

    @property
    def is_hidden(self) -> bool:
        return self.is_gone or self.is_empty or bool(self.is_invisible)


PLAIN = Look()


def _refuse() -> None:
    raise ExtractError("too_large", "The page has too many styles.")


class _Siblings(list[Any]):
    """The children of an element; reading them counts as steps of its root."""

    root: "_Element"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        self.root.count(len(found) // _COPIED if isinstance(index, slice) else 1)
        return found


class _Element(cssselect2.ElementWrapper):  # type: ignore[misc] # has no types
    """An element that counts the cost of selectors in its root.

    The selectors come from strangers' pages and may be very slow.
    """

    def __init__(self, element: Any, parent: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(element, parent, *arguments, **options)
        self.steps = 0
        self.root: _Element = self if parent is None else parent.root
        self.root.count(_WRAPPED)

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            _refuse()

    @property
    def ancestors(self) -> Iterator[Any]:
        return self._walk("parent")

    @property
    def previous_siblings(self) -> Iterator[Any]:
        return self._walk("previous")

    def _walk(self, direction: str) -> Iterator[Any]:
        element = getattr(self, direction)
        while element is not None:
            self.root.count(1)
            yield element
            element = getattr(element, direction)

    @cached_property
    def etree_children(self) -> _Siblings:
        children = _Siblings(super().etree_children)
        children.root = self.root
        return children


class _Matcher(cssselect2.Matcher):  # type: ignore[misc] # has no types
    @staticmethod
    def add_relevant_selectors(element: Any, selectors: Any, relevant_selectors: Any) -> None:
        element.root.count(len(selectors))
        cssselect2.Matcher.add_relevant_selectors(element, selectors, relevant_selectors)


def looks(tree: Any) -> dict[Any, Look]:
    """The look of each element that a style sheet or its own style affects."""
    matcher = _Matcher()
    names = _names(tree)
    for text in _sheets(tree):
        nodes = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
        for selector, rule in _rules(nodes):
            _add(matcher, selector, rule, names)
            if matcher.order > _MAX_SELECTORS:
                _refuse()
    elements = _Element.from_html_root(tree).iter_subtree() if matcher.order else ()
    matched = {
        element.etree_element: rules
        for element in elements
        if (rules := [item[3] for item in matcher.match(element)])
    }
    for element in tree.iter():
        text = element.get("style", "") if isinstance(element.tag, str) else ""
        if ":" in text:
            nodes = tinycss2.parse_blocks_contents(_LONG_NUMBER.sub("0", text))
            if own := _declared(nodes):
                matched.setdefault(element, []).append(own)
    return {element: _look(rules) for element, rules in matched.items()}


def _sheets(tree: Any) -> Iterator[str]:
    left = _MAX_CHARACTERS
    for style in tree.iter("style"):
        kind = (style.get("type") or "text/css").strip().lower()
        is_used = not any(True for _ in style.iterancestors("noscript", "template"))
        if is_used and kind == "text/css" and _matches_desktop(style.get("media") or "all"):
            text = style.text or ""
            left -= len(text)
            if left < 0:
                _refuse()
            yield _LONG_NUMBER.sub("0", text)


def _names(tree: Any) -> set[str]:
    """The classes and ids of the page, as ".class" and "#id"."""
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    classes = {name for element in elements for name in element.get("class", "").split()}
    return {f".{name}" for name in classes} | {f"#{element.get('id')}" for element in elements}


def _rules(nodes: Iterable[Any], above: str = "", depth: int = 0) -> Iterator[tuple[str, _Rule]]:
    """Yield the selectors and declarations of rules, in document order.

    Nested rules get their full selectors. Rules in a layer count as if they were outside it.
    """
    nodes = [*nodes]
    declared = _declared(nodes)
    if above and declared:
        yield above, declared
    for node in nodes if depth < _MAX_NESTED else ():
        if node.type == "qualified-rule":
            selector = _text(node.prelude)
            if above:
                inner = selector if "&" in selector else f"& {selector}"
                selector = inner.replace("&", f":is({above})")
            if len(selector) <= _MAX_SELECTOR_CHARACTERS or not above:
                yield from _rules(_inside(node), selector, depth + 1)
        elif node.type == "at-rule" and node.content is not None and _applies(node):
            yield from _rules(_inside(node), above, depth + 1)


def _inside(node: Any) -> Any:
    return tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)


def _text(tokens: Iterable[Any]) -> str:
    try:
        return str(tinycss2.serialize(tokens)).strip()
    except RecursionError:
        return ""


def _applies(rule: Any) -> bool:
    if rule.lower_at_keyword == "media":
        return _matches_desktop(_text(rule.prelude))
    if rule.lower_at_keyword == "supports":
        return not _text(rule.prelude).lower().startswith("not")
    return bool(rule.lower_at_keyword == "layer")


def _matches_desktop(media: str) -> bool:
    """Whether media queries such as "screen and (min-width: 20em)" match a desktop computer."""
    return any(map(_query_matches, re.split(r",|\bor\b", media.lower())))


def _query_matches(query: str) -> bool:
    query = query.strip()
    medium = _MEDIUM.match(query)
    features = {"".join(item.split()) for item in _FEATURE.findall(query) if "width" not in item}
    holds = (
        (medium is None or medium[1] in {"all", "screen", "not", "only"})
        and all(length <= _WIDTH for length in _lengths(_MIN_WIDTH, query))
        and all(length >= _WIDTH for length in _lengths(_MAX_WIDTH, query))
        and features <= _FEATURES
    )
    return holds != query.startswith("not")


def _lengths(pattern: re.Pattern[str], query: str) -> Iterator[float]:
    for match in pattern.finditer(query):
        number, unit = (part for part in match.groups() if part)
        yield float(number) * (1 if unit == "px" else 16)


def _declared(nodes: Iterable[Any]) -> _Rule | None:
    rule = _Rule({}, {})
    colors = dict[str, Any]()
    for node in nodes:
        if node.type == "declaration":
            (rule.important if node.important else rule.normal).update(_read(node))
            if _CONTRAST.match(node.lower_name):
                colors[node.lower_name.removesuffix("-color")] = _color(node)
    if colors:
        is_blended = [*colors.values()] == 2 * [colors.get("background")] != [None, None]
        rule.normal["blended"] = frozenset({"yes"} if is_blended else ())
    return rule if rule.normal or rule.important else None


def _read(declaration: Any) -> Iterator[tuple[str, frozenset[str]]]:
    name = declaration.lower_name
    tokens = [token for token in declaration.value if token.type not in {"whitespace", "comment"}]
    words = frozenset(map(_word, tokens))
    if name in _PROPERTIES:
        yield _PROPERTIES[name], words
    if _OPEN.match(name) and not words <= _NOTHING:
        yield "open", words


def _color(declaration: Any) -> Any:
    """The opaque color that is a declaration's whole value; None if it is anything else."""
    color = parse_color(_text(declaration.value))
    return color if isinstance(color, tuple) and color[3] == 1 else None


def _word(token: Any) -> str:
    if token.type == "ident":
        return str(token.lower_value)
    if token.type in {"number", "percentage", "dimension"}:
        unit = token.lower_unit if token.type == "dimension" else ""
        return f"{token.value:g}{'%' if token.type == 'percentage' else unit}"
    is_shape = token.type == "function" and _shows_nothing(token)
    return _CUT_OFF if is_shape else ""


def _shows_nothing(shape: Any) -> bool:
    """Whether a shape such as `rect(1px, 1px, 1px, 1px)` or `inset(50%)` cuts off everything."""
    sizes = [item for item in shape.arguments if item.type in {"number", "percentage", "dimension"}]
    if shape.lower_name == "inset":
        return any(item.type == "percentage" and item.value >= 50 for item in sizes[:1])
    return bool(sizes) and all(abs(item.value) <= 1 for item in sizes)


def _number(words: Iterable[str]) -> tuple[float, str] | None:
    """The first number among the words of a value, with its unit."""
    matches = filter(None, map(_NUMBER.fullmatch, words))
    return next(((float(match[1]), match[2]) for match in matches), None)


def _is_off_page(computed: Declared) -> bool:
    """Whether an element or its text is outside the page."""
    for name in _PLACES:
        offset, unit = _number(computed.get(name, ())) or (0, "")
        by_letter = unit in {"em", "rem", "ch"}
        if offset <= -(_FAR_PIXELS / _PIXELS_PER_LETTER if by_letter else _FAR_PIXELS):
            return unit != "%"
    return False


def _add(matcher: Any, selector: str, rule: _Rule, names: set[str]) -> None:
    """Add the selectors from a list that can match on a page with these classes and ids.

    If the rule shows elements in some state, an opening rule without the state is added as well.
    """
    declared = rule.normal | rule.important
    hides = _look([_Rule(declared, {})]).is_hidden
    shows = not hides and not declared.keys().isdisjoint(_SHOWING)
    for part in _parts(selector):
        is_opening = hides and _excludes_state(part)
        _add_one(matcher, part, rule._replace(is_opening=is_opening), names)
        if shows and (without := _without_states(part)) != part:
            _add_one(matcher, without, _OPENING_RULE, names)
        if "blended" in declared and (without := _without_states(part)) != part:
            _add_one(matcher, without, _RECOLORING_RULE, names)


def _parts(selector: str) -> Iterator[list[Any]]:
    tokens = tinycss2.parse_component_value_list(selector, skip_comments=True)
    for is_comma, group in groupby(tokens, key=lambda token: bool(token == ",")):
        part = [] if is_comma else [*group]
        while part and part[-1].type == "whitespace":
            part.pop()
        if part:
            yield part


def _add_one(matcher: Any, part: list[Any], rule: _Rule, names: set[str]) -> None:
    """Add a selector, unless it is for a part of an element, such as its first line."""
    pairs = zip(["", *part], part, strict=False)
    used = {f".{now.value}" for before, now in pairs if before == "." and now.type == "ident"}
    used |= {f"#{token.value}" for token in part if token.type == "hash"}
    if not used <= names:
        return
    try:
        compiled = cssselect2.compile_selector_list(part)
    # Like browsers, we ignore rules that we do not understand, and rules that nest too deeply.
    except (cssselect2.SelectorError, NotImplementedError, SyntaxError, RecursionError):
        return
    for item in compiled:
        if item.pseudo_element is None:
            matcher.add_selector(item, rule)


def _without_states(part: list[Any]) -> list[Any]:
    """A selector without the states of its elements: `.faq > p` for `.faq.is-open > p:hover`.

    A selector whose last part is only a state is returned unchanged.
    """
    kept: list[Any] = []
    for is_between, group in groupby(part, key=_is_combinator):
        tokens = [*group]
        simple = tokens if is_between else _without_state(tokens)
        kept += simple or _ANY
    return part if kept[-1:] == _ANY else kept


def _is_combinator(token: Any) -> bool:
    return token.type == "whitespace" or (
        token.type == "literal" and token.value in {">", "+", "~"}
    )


def _without_state(tokens: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for token in tokens:
        follows = bool(kept) and kept[-1].type == "literal" and kept[-1].value in {":", "."}
        is_state = token.type == "ident" and bool(_STATE.fullmatch(token.value))
        is_has = token.type == "function" and token.lower_name == "has"
        if follows and (is_state or is_has):
            kept.pop()
        elif token.type != "[] block" or not _STATE_ATTRIBUTE.match(_text(token.content)):
            kept.append(token)
    return kept


def _excludes_state(part: list[Any]) -> bool:
    """Whether a selector matches elements that are not in a state, such as `:not(.is-open)`."""
    functions = (token for token in part if token.type == "function" and token.lower_name == "not")
    return any(len(_without_state(item.arguments)) < len(item.arguments) for item in functions)


def _look(rules: list[_Rule]) -> Look:
    """The combined effect of all rules for an element; important rules win, then later rules."""
    computed: Declared = {}
    for rule in rules:
        computed |= rule.normal
    for rule in rules:
        computed |= rule.important
    display, visibility, content, decoration, overflow, position = (
        computed.get(name, frozenset())
        for name in ["display", "visibility", "content-visibility", "text-decoration"]
        + ["overflow", "position"]
    )
    is_invisible = None
    if visibility & {"hidden", "collapse", "visible", "initial"}:
        is_invisible = bool(visibility & {"hidden", "collapse"})
    opacity, font_size, *sizes = (
        _number(computed.get(name, ())) for name in ("opacity", "font-size", *_SIZES)
    )
    is_animated = bool(computed.keys() & {"transition", "animation"})
    is_transparent = opacity is not None and opacity[0] < _MIN_OPACITY and not is_animated
    is_cut_off = any(_CUT_OFF in computed.get(name, ()) for name in ("clip", "clip-path"))
    is_open = is_animated or "open" in computed or bool(display & {"inline", "contents"})
    is_cut = bool(overflow & {"hidden", "clip"})
    return Look(
        is_gone="none" in display
        or "hidden" in content
        or is_transparent
        or is_cut_off
        or _is_off_page(computed),
        is_struck="line-through" in decoration,
        is_invisible=is_invisible,
        is_tiny=None if "font-size" not in computed else _is_zero(font_size),
        is_blended=bool(computed["blended"]) if "blended" in computed else None,
        is_empty=is_cut and not is_open and any(map(_is_zero, sizes)),
        is_placed=bool(position & {"absolute", "fixed"}),
        can_open=any(rule.is_opening for rule in rules),
    )


def _is_zero(size: tuple[float, str] | None) -> bool:
    return size is not None and size[0] == 0
