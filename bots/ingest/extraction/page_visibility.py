"""Reduces a web page to what visitors see: removes hidden parts and banners, opens accordions."""

import re
from collections.abc import Container, Iterator
from typing import Any

_HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
# Comments and at-rules, such as those for other media, are ignored.
_NOT_PLAIN = re.compile(
    r"/\*.*?(?:\*/|\Z)|@[^{};@]++\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}", re.DOTALL
)
_SIMPLE_SELECTOR = re.compile(r"\w*([.#])([\w-]+)")
_UNSEEN = frozenset({"template", "noscript", "del", "s", "strike", "script", "style"})
_HEADS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "th", "legend"})
_NOT_TEXT = frozenset({"nav", "header", "footer", "form", "menu"})
# The closed parts of accordions and tabs count as visible, since visitors can open them.
_PANEL = re.compile(r"accordion|collaps|faq|answer|tab-?pane", re.IGNORECASE)
_TRIGGER = re.compile(r"accordion|collaps|faq|question", re.IGNORECASE)
_TRIGGER_ATTRIBUTES = ("aria-expanded", "aria-controls", "data-bs-target", "data-target")
_CONSENT = re.compile(
    r"(?:cookie|consent|gdpr|privacy)[\w-]{0,40}(?:banner|consent|notice|bar|popup|modal|law|dialog"
    r"|overlay|message|wall|layer)|onetrust|cookiebot|usercentrics|cmplz|didomi|cc-window|iubenda",
    re.IGNORECASE,
)
_MAX_BANNER_CHARACTERS = 1_500
_SHORT = 2


def show(tree: Any) -> None:
    """Remove what visitors do not see, and turn the questions of accordions into headings."""
    triggers = {element: None for element in tree.iter() if _is_trigger(element)}
    controlled = {name.lstrip("#") for item in triggers for name in _controls(item)}
    hidden = _hidden_names(tree)
    for element in [*tree.iter()]:
        is_text = isinstance(element.tag, str)
        if not is_text or element.tag in _UNSEEN or _is_banner(element):
            _remove(element)
        elif _is_hidden(element, hidden):
            if _is_panel(element, controlled, triggers):
                # trafilatura would remove the panel as hidden.
                for name in ("hidden", "style", "aria-hidden"):
                    element.attrib.pop(name, None)
            else:
                _remove(element)
    large = set[Any]()
    for button in [*tree.iter("button")]:
        _remove_banner_of(button, large)
    for trigger in triggers:
        _as_heading(trigger)


def _remove(element: Any) -> None:
    if element.getparent() is not None and element.tag not in {"html", "body"}:
        element.drop_tree()


def _marks(element: Any) -> str:
    return f"{element.get('id', '')} {element.get('class', '')}"


def _is_trigger(element: Any) -> bool:
    """Whether a click on the element opens a part of the page."""
    if not isinstance(element.tag, str) or element.tag in {"html", "body", "input", "select"}:
        return False
    if any(element.get(name) for name in _TRIGGER_ATTRIBUTES):
        return True
    return element.tag == "button" and bool(_TRIGGER.search(_marks(element)))


def _controls(trigger: Any) -> Iterator[str]:
    for name in (*_TRIGGER_ATTRIBUTES[1:], "href"):
        yield from (trigger.get(name) or "").split()


def _hidden_names(tree: Any) -> set[str]:
    """The classes and ids, as ".class" and "#id", that the page's embedded style sheets hide."""
    names: set[str] = set()
    for style in tree.iter("style"):
        for selectors, declarations in _RULE.findall(_NOT_PLAIN.sub("", style.text or "")):
            if _HIDES.search(declarations):
                matches = (
                    _SIMPLE_SELECTOR.fullmatch(item.strip()) for item in selectors.split(",")
                )
                names |= {match[1] + match[2] for match in matches if match}
    return names


def _is_hidden(element: Any, names: set[str]) -> bool:
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    own = {f".{name}" for name in element.get("class", "").split()} | {f"#{element.get('id')}"}
    return bool(_HIDES.search(element.get("style", ""))) or not names.isdisjoint(own)


def _is_panel(element: Any, controlled: set[str], triggers: Container[Any]) -> bool:
    before = element.getprevious()
    is_below = before is not None and any(item in triggers for item in before.iter())
    is_named = bool(_PANEL.search(_marks(element))) or element.get("role") == "tabpanel"
    return is_below or is_named or element.get("id") in controlled


def _is_banner(element: Any) -> bool:
    """Whether an element is a cookie consent banner."""
    marks = f"{_marks(element)} {element.get('aria-label', '')}"
    is_dialog = element.get("role") in {"dialog", "alertdialog"}
    is_named = bool(_CONSENT.search(marks)) or (is_dialog and "cookie" in marks.lower())
    return is_named and _is_short_aside(element)


def _is_short_aside(element: Any) -> bool:
    is_main = element.tag in {"html", "body", "main", "article", "h1"} or any(
        True for _ in element.iter("main", "article", "h1")
    )
    return not is_main and len(" ".join(element.text_content().split())) < _MAX_BANNER_CHARACTERS


def _remove_banner_of(button: Any, large: set[Any]) -> None:
    """Remove the largest short element around a button that mentions cookies."""
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
    elif text.endswith(("?", "？")) or len(text.split()) >= _SHORT:
        trigger.tag = "h6"
