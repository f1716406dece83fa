"""The bodies of callbacks: events in each provider's envelope, with deviations on demand."""

import copy
import json
from dataclasses import dataclass
from typing import Protocol

from simulator.world import OBJECT_OF_KIND, Account, Json, World


@dataclass(frozen=True)
class Event:
    """An event. `item` is a `messaging` object, the value of a change, a whole localapp event, or a
    telegram update."""

    account: Account
    field: str
    item: Json
    app_id: str
    url: str
    at: float


class Wishes(Protocol):
    """The fields of `Modes` that affect a body."""

    unknown_fields: bool
    missing_optional: bool
    strangers: bool


def body(events: list[Event], wishes: Wishes, world: World) -> str:
    kind = events[0].account.kind
    if kind == "oa":
        # This provider sends plain UTF-8.
        return json.dumps(_localapp(events[0], wishes), ensure_ascii=False)
    if kind == "bot":
        return json.dumps(_update(events[0], wishes))
    entries = (
        _changes(events, wishes) if kind in {"number", "waba"} else _messagings(events, wishes)
    )
    if wishes.strangers:
        entries = [_stranger(kind, world), _stranger(kind, world, events[0].account), *entries]
    if wishes.unknown_fields:
        for entry in entries:
            entry["x_new"] = {"of": ["the", "provider"]}
    value = {"object": OBJECT_OF_KIND[kind], "entry": entries}
    # Non-ASCII characters become \u escapes, and exactly this text is signed.
    return json.dumps(value, separators=(",", ":"))


def _messagings(events: list[Event], wishes: Wishes) -> list[Json]:
    """One entry per account. A submitted survey has its own entry, without an id."""
    entries: list[Json] = []
    by_account: dict[str, Json] = {}
    for event in events:
        item = copy.deepcopy(event.item)
        if wishes.missing_optional:
            if not item.keys() & {"message", "postback", "reaction"}:
                item.pop("timestamp", None)
            item.get("delivery", {}).pop("mids", None)
            item.get("postback", {}).pop("mid", None)
        if wishes.unknown_fields:
            item["x_new"] = 1
            if isinstance(item.get("message"), dict):
                item["message"]["x_new"] = [None, {"deep": True}]
        if "messaging_feedback" in item:
            entries.append({"time": int(event.at * 1000), "messaging": [item]})
            continue
        entry = by_account.get(event.account.id)
        if entry is None:
            entry = {"id": event.account.id, "time": int(event.at * 1000), "messaging": []}
            if wishes.missing_optional:
                del entry["time"]
            by_account[event.account.id] = entry
            entries.append(entry)
        entry["messaging"].append(item)
    return entries


def _changes(events: list[Event], wishes: Wishes) -> list[Json]:
    """One entry per business account, with one change per event."""
    by_account: dict[str, Json] = {}
    for event in events:
        value = copy.deepcopy(event.item)
        if wishes.missing_optional:
            value.pop("contacts", None)
            for status in value.get("statuses", []):
                for name in ("conversation", "pricing", "biz_opaque_callback_data"):
                    status.pop(name, None)
        if wishes.unknown_fields:
            value["x_new"] = 1
            for message in value.get("messages", []):
                message["x_new"] = {"deep": True}
        waba = event.account.parent or event.account.id
        entry = by_account.setdefault(waba, {"id": waba, "changes": []})
        entry["changes"].append({"field": event.field, "value": value})
    return list(by_account.values())


def _localapp(event: Event, wishes: Wishes) -> Json:
    value = copy.deepcopy(event.item)
    if wishes.missing_optional:
        value.pop("user_id_by_app", None)
    if wishes.unknown_fields:
        value["x_new"] = {"deep": True}
    return value


def _update(event: Event, wishes: Wishes) -> Json:
    value = copy.deepcopy(event.item)
    for inside in (each for each in value.values() if isinstance(each, dict)):
        if wishes.missing_optional:
            inside.get("from", {}).pop("last_name", None)
        if wishes.unknown_fields:
            inside["x_new"] = {"deep": True}
    return value | ({"x_new": 1} if wishes.unknown_fields else {})


def _stranger(kind: str, world: World, account: Account | None = None) -> Json:
    """An event of an unknown kind, for `account`, or else for an account that nobody connected."""
    number = account.id if account else world.random_digits(13)
    if kind in {"number", "waba"}:
        metadata = {"display_phone_number": "1555", "phone_number_id": number}
        value = {"messaging_product": "whatsapp", "metadata": metadata, "hovercrafts": [{"id": 1}]}
        waba = (account.parent or account.id) if account else number
        return {"id": waba, "changes": [{"field": "hovercraft", "value": value}]}
    now = int(world.now * 1000)
    item = {
        "sender": {"id": "1"},
        "recipient": {"id": number},
        "timestamp": now,
        "hovercraft": {"eels": True},
    }
    return {"id": number, "time": now, "messaging": [item]}
