"""How the site says codes and shares; its pages write `{{ code|say }}`."""

from django import template

register = template.Library()


@register.filter
def say(code: object) -> str:
    """A code of the API, such as `customer_asked`, in words."""
    return str(code).replace("_", " ").replace(".", " ").capitalize() if code else "–"


@register.filter
def percent(share: float | None) -> str:
    """A share, 0..1, as a percentage."""
    return "–" if share is None else f"{100 * share:.0f} %"
