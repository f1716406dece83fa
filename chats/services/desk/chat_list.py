"""Lists chats. PostgreSQL filters, orders and renders them as JSON. Each combination of filters has
its own statement, so that PostgreSQL can prepare it once (docs/decisions/0028)."""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from django.utils import timezone

from bots.services import widget_config
from chatplatform.api.errors import Invalid
from chatplatform.api.pagination import decode_cursor, encode_cursor, list_key, wrong_cursor
from chatplatform.sql import fetch_row
from chats.models import Conversation, Priority
from chats.schemas.conversation import ChatsQuery
from chats.services.core import customers, row_json, tags
from chats.services.desk import inbox
from identity.auth import Principal

# The filters that compare the column of the same name.
_EQUAL = (
    "status", "assign_type", "priority", "bot_id", "customer_id", "channel", "assignee_id",
    "sentiment", "language",
)  # fmt: skip
# The Boolean filters, each with its condition for true and its condition for false.
_FLAGS = {
    "mine": ("assignee_id = %(me)s", "assignee_id IS DISTINCT FROM %(me)s"),
    "is_assigned": ("assign_type = 'agent'", "assign_type <> 'agent'"),
    "is_unread": ("unread_count > 0", "unread_count <= 0"),
    "is_waiting": ("waiting_since IS NOT NULL", "waiting_since IS NULL"),
}


class _Key(NamedTuple):
    """A value by which a list is ordered: its SQL, and a function that reads it from a cursor."""

    sql: str
    read: Callable[[Any], Any]


_ACTIVITY = "coalesce(last_message_at, created_at)"
_PRIORITIES = ", ".join(f"'{name}'" for name in Priority.values)
_KEYS = {
    "id": _Key("id", uuid.UUID),
    "activity": _Key(_ACTIVITY, datetime.fromisoformat),
    # For a waiting chat, 10^17 minus the start of the wait, in microseconds since 1970; the longest
    # wait has the highest value. For any other chat, the time of its latest activity in
    # microseconds, which is always lower, so these chats follow.
    "urgency": _Key(
        "coalesce(100000000000000000 - (extract(epoch FROM waiting_since) * 1000000)::bigint,"
        f" (extract(epoch FROM {_ACTIVITY}) * 1000000)::bigint)",
        int,
    ),
    "rank": _Key(f"array_position(ARRAY[{_PRIORITIES}], priority::text) - 1", int),
}
_ORDERS = {
    "newest": ("activity", "id"),
    "longest_wait": ("urgency", "id"),
    "priority": ("rank", "urgency", "id"),
}
# One chat more than the limit is read, to know whether there is a next page.
_LIST = """
SELECT string_agg(shown, ',' ORDER BY number), count(*) > %(limit)s, {last}
FROM (
    SELECT number, {names}, CASE WHEN number <= %(limit)s THEN {as_json} END AS shown
    FROM (
        SELECT chats_conversation.*, {keys}, row_number() OVER (ORDER BY {order}) AS number
        FROM chats_conversation WHERE {where} ORDER BY {order} LIMIT %(limit)s + 1
    ) chats_conversation
) numbered
"""


def list_page(caller: Principal, query: ChatsQuery, *, for_desk: bool = False) -> dict[str, Any]:
    """A list page of the chats that the caller may see and that match all filters of the query.
    With `for_desk`, each chat comes with its newest message that contains all words of the search
    and, if it is in the queue, with what its customer wants."""
    order, key = _ORDERS[query.sort], list_key(query)
    cursor_order = [f"-{name}" for name in order]
    where, values = _conditions(caller, query)
    if query.cursor:
        position = decode_cursor(query.cursor, Conversation, cursor_order, key=key)
        try:
            values |= {name: _KEYS[name].read(at) for name, at in zip(order, position, strict=True)}
        except (TypeError, ValueError) as exc:
            raise wrong_cursor() from exc
        keys, places = ", ".join(_KEYS[name].sql for name in order), ", ".join(map(_param, order))
        where.append(f"({keys}) < ({places})")
    as_json = row_json.CHAT
    if for_desk:
        terms = {f"term_{number}": term for number, term in enumerate(inbox.terms_of(query.q))}
        as_json = row_json.listed_chat(tuple(map(_param, terms)), buttons="%(buttons)s::text[]")
        values |= terms | {"buttons": list(widget_config.person_buttons().values())}
    shown, has_next, *last = fetch_row(
        _statement(order, where, as_json), values | {"limit": query.limit}
    )
    at = [value if isinstance(value, int) else str(value) for value in last]
    return {
        "items": row_json.fragment(f"[{shown or ''}]"),
        "next_cursor": encode_cursor(Conversation, cursor_order, at, key=key) if has_next else None,
    }


def _statement(order: Sequence[str], where: Sequence[str], as_json: str) -> str:
    return _LIST.format(
        last=", ".join(
            f"(array_agg({name}) FILTER (WHERE number = %(limit)s))[1]" for name in order
        ),
        names=", ".join(order),
        as_json=as_json,
        keys=", ".join(f"{_KEYS[name].sql} AS {name}" for name in order if name != "id"),
        order=", ".join(f"{_KEYS[name].sql} DESC" for name in order),
        where=" AND ".join(where),
    )


def _param(name: str) -> str:
    return f"%({name})s"


def _conditions(caller: Principal, query: ChatsQuery) -> tuple[list[str], dict[str, Any]]:
    """The SQL conditions for the caller's access and the query's filters, and their parameters."""
    where = ["client_id = %(client)s", "is_preview" if query.previews else "NOT is_preview"]
    values: dict[str, Any] = {"client": caller.client_id}
    if caller.key:
        assert not caller.is_public_key
        where.append("NOT is_preview")
        if caller.key.bot_id:
            where.append("bot_id = %(bot)s")
            values["bot"] = caller.key.bot_id
    if query.previews and caller.user and not caller.user.is_admin:
        where.append(
            "customer_id IN (SELECT id FROM chats_customer"
            " WHERE client_id = %(client)s AND external_id = %(previewer)s)"
        )
        values["previewer"] = customers.previewer_id(caller.user)
    if query.mine is not None and caller.user is None:
        raise Invalid.field("query", "mine", msg="An API key has no chats of its own.")
    for name in _EQUAL:
        if (value := getattr(query, name)) is not None:
            where.append(f"{name} = {_param(name)}")
            values[name] = value
    for name, (is_true, is_false) in _FLAGS.items():
        if (value := getattr(query, name)) is not None:
            where.append(is_true if value else is_false)
    if query.mine is not None:
        values["me"] = caller.user and caller.user.pk
    if query.tag is not None:
        where.append("tags @> %(tags)s::varchar[]")
        values["tags"] = list(tags.canonical_names(caller.client_id, [query.tag]))
    if query.min_wait_seconds is not None:
        where.append("waiting_since <= %(since)s")
        values["since"] = timezone.now() - timedelta(seconds=query.min_wait_seconds)
    if query.created_from:
        where.append("created_at >= %(created_from)s")
        values["created_from"] = query.created_from
    if query.created_to:
        where.append("created_at < %(created_to)s")
        values["created_to"] = query.created_to
    if query.q:
        subquery, params = _named(*inbox.search(caller.client, query.q).query.sql_with_params())
        where.append(f"id IN ({subquery})")
        values |= params
    return where, values


def _named(statement: str, params: Sequence[Any]) -> tuple[str, Mapping[str, Any]]:
    """A statement of the ORM, rewritten to have the named parameters `q0`, `q1`, …, and the values
    of these parameters."""
    names = (f"q{number}" for number in count())
    text = re.sub("%%|%s", lambda part: "%%" if part[0] == "%%" else _param(next(names)), statement)
    return text, {f"q{number}": value for number, value in enumerate(params)}
