"""The history of a row for its page: `{% activity_of page row as activity %}`."""

from typing import Any

from django import template

from chatplatform import row_history

register = template.Library()


@register.simple_tag(takes_context=True)
def activity_of(context: Any, page: Any, row: Any) -> row_history.Activity | None:
    """The entries about a row in the logs that the viewer may read."""
    return row_history.of_row(context["request"], page, row)
