"""Reduces a web page to what visitors see: removes hidden parts and banners, opens accordions."""

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from bots.ingest.extraction.document import STRUCK

_UNSEEN = frozenset({"template", "noscript", "script", "style"})
_STRUCK = frozenset({"del", "s", "strike"})
# These elements are never removed: a script may show a hidden page once it is loaded.
_PAGE = frozenset({"html", "body"})
# Browsers give these elements a color or a background of their own.
_COLORED = frozenset({"a", "button", "mark"})
_HEADS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "th", "legend"})
_NOT_TEXT = frozenset({"nav", "header", "footer", "form", "menu"})
_BOXES = frozenset(
    {"article", "aside", "div", "footer", "header", "li", "ol", "p", "section", "ul"}
)
# The closed parts of accordions and tabs count as visible, since visitors can open them.
_PANEL = re.compile(r"accordion|collaps|faq|answer|tab-?pane", re.IGNORECASE)
_TRIGGER = re.compile(r"accordion|collaps|faq|question", re.IGNORECASE)
_TRIGGER_ATTRIBUTES = ("aria-expanded", "aria-controls", "data-bs-target", "data-target")
_CONSENT = re.compile(
    r"(?:cookie|consent|gdpr|privacy)[\w-]{0,40}(?:banner|consent|notice|bar|popup|modal|law|dialog"
    r"|overlay|message|wall|layer)|onetrust|cookiebot|usercentrics|cmplz|didomi|cc-window|iubenda",
    re.IGNORECASE,
)
_NEWSLETTER = re.compile(
    r"newsletter|mailing-?list|mailchimp|mc[_-]embed|exit-?intent|e?mail-?(?:capture|sign-?up)"
    r"|subscribe-?(?:form|box|popup|modal)",
    re.IGNORECASE,
)
_FIGURE_START = re.compile(r"[€$£¥₫]?\d")
_MAX_BANNER_CHARACTERS = 1_500
# A trigger with at least this many words is a heading, as is one that ends in a question mark.
_MIN_HEADING_WORDS = 2


def show(tree: Any) -> None:
    """Remove what visitors do not see, and turn the titles of accordions into headings."""
    # Only the child process loads parsers.
    from bots.ingest.extraction import style_sheets  # noqa: PLC0415

    triggers = {element: None for element in tree.iter() if _is_trigger(element)}
    controlled = {name.lstrip("#") for item in triggers for name in _controls(item)}
    looks = style_sheets.looks(tree)
    invisible, tiny, blended = set[Any](), set[Any](), set[Any]()
    for element in [*tree.iter()]:
        look = looks.get(element, style_sheets.PLAIN)
        if look.is_struck or element.tag in _STRUCK:
            element.tail = STRUCK + (element.tail or "")
            _remove(element)
            continue
        is_unseen = not isinstance(element.tag, str) or element.tag in _UNSEEN
        if is_unseen or _is_banner(element):
            _remove(element)
            continue
        is_closed = _is_closed(element) or (look.is_empty and _is_box(element, looks))
        is_hidden = look.is_hidden or is_closed
        if is_hidden and (look.can_open or _is_panel(element, controlled, triggers)):
            # trafilatura would remove the panel as hidden.
            for name in ("hidden", "style", "aria-hidden"):
                element.attrib.pop(name, None)
        elif look.is_gone or is_closed:
            _remove(element)
        elif element.tag not in _PAGE:
            is_blended = False if element.tag in _COLORED else look.is_blended
            for affected, value in (
                (invisible, look.is_invisible), (tiny, look.is_tiny), (blended, is_blended),
            ):  # fmt: skip
                if element.getparent() in affected if value is None else value:
                    affected.add(element)
    for element in invisible | tiny | blended:
        _empty(element)
    for element in [*tree.iter("span")]:
        if _is_label_of_next(element):
            element.tail = " "
    large = set[Any]()
    for button in [*tree.iter("button")]:
        _remove_banner_of(button, large)
    for trigger in triggers:
        _as_heading(trigger)


def _remove(element: Any) -> None:
    if element.getparent() is not None and element.tag not in _PAGE:
        element.drop_tree()


def _empty(element: Any) -> None:
    """Remove the text of an element, but not of the elements inside it, which may be visible."""
    element.text = None
    for child in element:
        child.tail = None


def _is_label_of_next(span: Any) -> bool:
    """Whether only a style separates the word in a span from the figure in the next span."""
    after = span.getnext()
    if span.tail or after is None or after.tag != "span":
        return False
    word, figure = (span[-1].tail if len(span) else span.text) or "", after.text or ""
    return word[-1:].isalpha() and bool(_FIGURE_START.match(figure))


def _id_and_classes(element: Any) -> str:
    return f"{element.get('id', '')} {element.get('class', '')}"


def _is_trigger(element: Any) -> bool:
    """Whether a click on the element opens a part of the page."""
    if not isinstance(element.tag, str) or element.tag in {"html", "body", "input", "select"}:
        return False
    if any(element.get(name) for name in _TRIGGER_ATTRIBUTES):
        return True
    return element.tag == "button" and bool(_TRIGGER.search(_id_and_classes(element)))


def _controls(trigger: Any) -> Iterator[str]:
    for name in (*_TRIGGER_ATTRIBUTES[1:], "href"):
        yield from (trigger.get(name) or "").split()


def _is_closed(element: Any) -> bool:
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    return bool(element.tag == "dialog" and element.get("open") is None)


def _is_box(element: Any, looks: Mapping[Any, Any]) -> bool:
    """Whether a size of 0 hides all content: the element is a block without positioned parts."""
    return element.tag in _BOXES and not any(
        looks[inner].is_placed for inner in element.iterdescendants() if inner in looks
    )


def _is_panel(element: Any, controlled: set[str], triggers: Container[Any]) -> bool:
    before = element.getprevious()
    is_below = before is not None and any(item in triggers for item in before.iter())
    is_named = bool(_PANEL.search(_id_and_classes(element))) or element.get("role") == "tabpanel"
    return is_below or is_named or element.get("id") in controlled


def _is_banner(element: Any) -> bool:
    """Whether an element asks for consent to cookies, or offers a newsletter."""
    marks = f"{_id_and_classes(element)} {element.get('aria-label', '')}"
    is_dialog = element.get("role") in {"dialog", "alertdialog"}
    is_named = bool(_CONSENT.search(marks)) or (is_dialog and "cookie" in marks.lower())
    return (is_named or _is_newsletter(element, marks)) and _is_short_aside(element)


def _is_newsletter(element: Any, marks: str) -> bool:
    """Whether an element offers a newsletter, and has a field or is outside of the main text."""
    if not _NEWSLETTER.search(marks) or element.tag in {"a", "input", "button"}:
        return False
    is_inside = any(True for _ in element.iterancestors("main", "article"))
    return not is_inside or any(True for _ in element.iter("input"))


def _is_short_aside(element: Any) -> bool:
    is_main = element.tag in {"html", "body", "main", "article", "h1"} or any(
        True for _ in element.iter("main", "article", "h1")
    )
    return not is_main and len(" ".join(element.text_content().split())) < _MAX_BANNER_CHARACTERS


def _remove_banner_of(button: Any, large: set[Any]) -> None:
    """Remove the largest short element that contains `button` and mentions cookies.

    Nothing is removed from the main text.

    `large` collects elements that are not short, so that they are not measured again.
    """
    banner = None
    for element in button.iterancestors():
        if element in large:
            break
        if not _is_short_aside(element):
            large.add(element)
            break
        if "cookie" in element.text_content().lower():
            banner = element
    if banner is not None and not any(True for _ in banner.iterancestors("main", "article")):
        _remove(banner)


def _as_heading(trigger: Any) -> None:
    above = [element.tag for element in trigger.iterancestors()]
    text = " ".join(trigger.text_content().split())
    if not above or trigger.tag in _HEADS or not text or not _NOT_TEXT.isdisjoint(above):
        return
    if not _HEADS.isdisjoint(above):
        trigger.tag = "span"
    elif text.endswith(("?", "？")) or len(text.split()) >= _MIN_HEADING_WORDS:
        trigger.tag = "h6"
