"""List pages, and subscribe to their events; socialnet and photoapp share the subscription."""

from collections.abc import Iterator
from typing import Any

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.graph.client import GraphApp, next_cursor
from channels_app.providers.json_values import as_list, dicts_in

# The fields of both channels, since a new subscription of an app replaces its earlier one.
FIELDS = (
    "messages,messaging_postbacks,messaging_referrals,message_echoes,message_deliveries,"
    "message_reads,message_reactions,message_edits,messaging_feedback,"
    "messaging_policy_enforcement,standby,messaging_handovers"
)
# A person needs one of these tasks to send messages as the page.
_TASKS = {"MESSAGING", "MODERATE"}
_BATCH_SIZE, _MAX_PAGES = 100, 2_000


def listed(
    app: GraphApp, token: str, fields: str, *, cursor: str | None, limit: int
) -> tuple[list[dict[str, Any]], str | None]:
    """One batch of the pages as which the person may send messages, and the next cursor or None."""
    body = app.call(
        "GET", "me/accounts", token=token,
        params={"fields": f"id,name,tasks,{fields}", "limit": limit, "after": cursor},
    ).body  # fmt: skip
    rows = [row for row in dicts_in(body.get("data")) if row.get("id")]
    pages = [row for row in rows if _TASKS & set(map(str, as_list(row.get("tasks"))))]
    return pages, next_cursor(body)


def each(app: GraphApp, token: str, fields: str) -> Iterator[dict[str, Any]]:
    """The pages as which the person may send messages, among the person's first 2,000."""
    cursor = None
    for _ in range(_MAX_PAGES // _BATCH_SIZE):
        pages, cursor = listed(app, token, fields, cursor=cursor, limit=_BATCH_SIZE)
        yield from pages
        if cursor is None:
            return


def subscribe(app: GraphApp, page_id: str, page_token: Any) -> str:
    """Subscribe to a page's events, and return the page's token, which does not expire."""
    if not isinstance(page_token, str) or not page_token:
        raise ProviderError(Kind.PERMISSION, "The person has no access to this page's messages.")
    app.call(
        "POST", f"{http.path_segment(page_id)}/subscribed_apps", token=page_token,
        json={"subscribed_fields": FIELDS},
    )  # fmt: skip
    return page_token


def unsubscribe(app: GraphApp, page_id: str, token: str) -> None:
    """End the subscription to a page's events."""
    app.call("DELETE", f"{http.path_segment(page_id)}/subscribed_apps", token=token)
