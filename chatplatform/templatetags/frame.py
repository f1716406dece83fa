"""Template tags for the frame of a page: tabs, titles, the simulator's URL, and list headings."""

from typing import Any

from django import template
from django.conf import settings
from django.template import RequestContext
from django.utils.translation import gettext

from chatplatform import navigation
from chatplatform.templatetags.codes import humanize_code

register = template.Library()


@register.inclusion_tag("admin/tabs.html", takes_context=True)
def page_tabs(context: RequestContext) -> dict[str, Any]:
    """The tabs of the page's section, or the page's own `tabs`."""
    own_tabs = context.get("tabs")
    return {"tabs": navigation.tabs(context["request"]) if own_tabs is None else own_tabs}


@register.simple_tag(takes_context=True)
def section_title(context: RequestContext) -> str:
    """The title of the page's section."""
    return navigation.place(context["request"])[0]


@register.simple_tag(takes_context=True)
def page_title(context: RequestContext) -> str:
    """The title of the page: for a list the title in the navigation, for a row the row's name."""
    if context.get("original") is not None:
        return str(context["original"])
    listed = navigation.place(context["request"])[1] if context.get("cl") else ""
    return listed or str(context.get("title") or "")


@register.simple_tag
def simulator_url() -> str:
    """The URL of the channel simulator; empty outside of development."""
    return str(settings.SIMULATOR_URL if settings.DEVELOPMENT else "").rstrip("/")


@register.simple_tag
def translate_headings(headings: list[dict[str, Any]]) -> str:
    """Translate the headings of a list, which for plain columns are the fields' names."""
    for heading in headings:
        # The checkbox that selects all rows is markup.
        if heading["text"] and "action-toggle" not in heading["text"]:
            text = str(heading["text"])
            heading["text"] = humanize_code(text) if text.islower() else gettext(text)
    return ""
