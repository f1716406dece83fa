"""Sign callbacks. A signature covers the body exactly as it is sent."""

import hashlib
import hmac
import json


def graph_signature(body: str, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()


def graph(body: str, secret: str, mode: str) -> dict[str, str]:
    """The signature header for a body. `mode` is `right`, `wrong` (signed with another secret) or
    `missing`."""
    if mode == "missing":
        return {}
    return {"X-Hub-Signature-256": graph_signature(body, secret + "!" * (mode == "wrong"))}


def telegram(secret: str, mode: str) -> dict[str, str]:
    """The header with a bot's own secret; `mode` is as in `graph`."""
    if mode == "missing":
        return {}
    return {"X-Telegram-Bot-Api-Secret-Token": secret + "x" * (mode == "wrong")}


def localapp_signature(app_id: str, body: str, timestamp: str, key: str) -> str:
    return hashlib.sha256(f"{app_id}{body}{timestamp}{key}".encode()).hexdigest()


def localapp(body: str, app_id: str, key: str, mode: str) -> dict[str, str]:
    """The signature headers of a body, with the modes of `graph`, and also `bare` (without `mac=`)
    and `header_time` (signed with the time in a header)."""
    if mode == "missing":
        return {}
    timestamp = str(json.loads(body).get("timestamp", ""))
    headers = {}
    if mode == "header_time":
        timestamp = str(int(timestamp or 0) + 1)
        headers["X-ZEvent-Timestamp"] = timestamp
    used_key = key + "!" * (mode == "wrong")
    signature = localapp_signature(app_id, body, timestamp, used_key)
    prefix = "" if mode == "bare" else "mac="
    return {**headers, "X-ZEvent-Signature": prefix + signature}
