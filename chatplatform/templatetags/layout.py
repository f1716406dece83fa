"""Template tags for the layout of a page: tabs, titles, and the simulator's URL."""

from typing import Any

from django import template
from django.conf import settings
from django.template import RequestContext

from chatplatform import navigation

register = template.Library()


@register.inclusion_tag("admin/tabs.html", takes_context=True)
def page_tabs(context: RequestContext) -> dict[str, Any]:
    """The tabs of the page's section, or the page's own `tabs`."""
    own_tabs = context.get("tabs")
    return {"tabs": navigation.tabs(context["request"]) if own_tabs is None else own_tabs}


@register.simple_tag(takes_context=True)
def section_title(context: RequestContext) -> str:
    """The title of the page's section."""
    return navigation.current_titles(context["request"])[0]


@register.simple_tag(takes_context=True)
def page_title(context: RequestContext) -> str:
    """The title of the page: for a list the title in the navigation, for a row the row's name."""
    if context.get("original") is not None:
        return str(context["original"])
    listed = navigation.current_titles(context["request"])[1] if context.get("cl") else ""
    return listed or str(context.get("title") or "")


@register.simple_tag
def simulator_url() -> str:
    """The URL of the channel simulator; empty outside of development."""
    return str(settings.SIMULATOR_URL if settings.DEVELOPMENT else "").rstrip("/")
