"""What happened to the row of a page: `{% activity_of page row as activity %}`."""

from typing import Any

from django import template

from chatplatform import row_history

register = template.Library()


@register.simple_tag(takes_context=True)
def activity_of(context: Any, page: Any, row: Any) -> row_history.Activity | None:
    """What the logs that the reader may read say of a row."""
    return row_history.of_row(context["request"], page, row)
