"""Build the `lines` of a message from what providers send besides the customer's text."""

from collections.abc import Iterable
from typing import Any

from channels_app.providers.callback_parsing import parse_string
from channels_app.providers.json_values import as_dict, as_text, dicts_in
from chats.services.core.channel_context import Kind, Line

# The maximum number of lines, and the maximum lengths of a line's text and URL in characters.
_MAX_LINES, _MAX_TEXT, _MAX_URL = 20, 500, 2000
# Keys that the provider adds to the answers of a form.
_PROVIDER_KEYS = {"flow_token", "flow_id", "wa_flow_response_params", "version", "screen"}
# The kinds of lines about what led the customer here.
REFERRALS = {"advertisement", "link", "post_link"}


def line(kind: Kind, text: str = "", *, url: str = "") -> Line:
    """One line. A text that is too long is cut; a URL that is too long or not HTTP is left out."""
    built = Line(kind=kind)
    if shown := " ".join(text.split())[:_MAX_TEXT]:
        built["text"] = shown
    if url.startswith(("https://", "http://")) and len(url) <= _MAX_URL:
        built["url"] = url
    return built


def of_form(answers: Any) -> list[Line]:
    """A line that says that the customer filled in a form, and one for each answer; no line if no
    answer can be read."""
    found = of_answers(answers)
    return [line("form"), *found] if found else []


def of_answers(answers: Any) -> list[Line]:
    """A line for each answer, such as "Rating: Excellent"."""
    if isinstance(answers, str):
        answers = parse_string(answers)
    return [
        line("answer", f"{label_of(name)}: {shown}")
        for name, value in as_dict(answers).items()
        if name not in _PROVIDER_KEYS and (shown := shown_value(value))
    ][: _MAX_LINES - 1]


def label_of(name: str) -> str:
    """The label in a form field's name: "Rating" in `screen_0_Rating_0`."""
    words = name.replace("-", "_").split("_")
    if words[0].lower() == "screen" and len(words) > 1 and words[1].isdigit():
        words = words[2:]
    if len(words) > 1 and words[-1].isdigit():
        words = words[:-1]
    label = " ".join(filter(None, words)) or name
    return label[:1].upper() + label[1:]


def shown_value(value: Any) -> str:
    """An answer as text. A choice arrives with its number, such as `0_Excellent`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(filter(None, map(shown_value, value)))
    if isinstance(value, dict):
        return joined(shown_value(part) for part in value.values())
    text = str(value) if isinstance(value, float) else as_text(value)
    number, mark, rest = text.partition("_")
    return rest.replace("_", " ") if mark and number.isdigit() and rest else text


def of_referral(referral: Any) -> list[Line]:
    """Lines about what led the customer here: a product, an advertisement, a post or a link."""
    data = as_dict(referral)
    product = as_dict(data.get("product"))
    found = list[Line]()
    if shown := as_text(product.get("title")) or as_text(product.get("id")):
        found.append(line("product", shown))
    context = as_dict(data.get("ads_context_data"))
    title = first_text(context.get("ad_title"), data.get("headline"), data.get("body"))
    is_ad = bool(context) or as_text(data.get("source_type")) == "ad" or (
        as_text(data.get("source")).upper() == "ADS"
    )  # fmt: skip
    url = as_text(data.get("source_url")) or as_text(data.get("referer_uri"))
    if is_ad:
        found.append(line("advertisement", title or as_text(data.get("ad_id")), url=url))
    elif not found and (shown := title or as_text(data.get("ref"))):
        is_post = as_text(data.get("source_type")) == "post"
        found.append(line("post_link" if is_post else "link", shown, url=url))
    return found


def of_products(elements: Any) -> list[Line]:
    """A line for each product in a template: its name, and its subtitle, such as the price."""
    found = list[Line]()
    for element in dicts_in(elements)[:_MAX_LINES]:
        name = first_text(element.get("title"), element.get("retailer_id"), element.get("id"))
        if names := joined([name, as_text(element.get("subtitle"))]):
            found.append(line("product", names, url=as_text(element.get("url"))))
    return found


def of_link(url: str, *described: str, words: str) -> list[Line]:
    """A line for a link that the customer shared, with its title; none if it says no more than the
    customer's words."""
    title = joined(text for text in described if text != url)
    if not title and url in words:
        return []
    built = line("shared_link", title, url=url)
    return [built if "url" in built else line("shared_link", joined([title, url]))]


def of_contact(names: Iterable[Any]) -> list[Line]:
    """A contact card as one line; no line if it has no values."""
    words = joined(map(as_text, names))
    return [line("contact", words)] if words else []


def first_text(*values: Any) -> str:
    """The first value that is a nonempty string or an integer, as text; empty if none is."""
    return next(filter(None, map(as_text, values)), "")


def joined(words: Iterable[str]) -> str:
    """The words without repetitions, separated by commas."""
    return ", ".join(dict.fromkeys(word.strip() for word in words if word.strip()))
