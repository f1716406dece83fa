"""The HTML pages: consent, the end of a signup, the demo server, and the customers' page."""

import json
import time
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from simulator.calls import Call
from simulator.world import Account, App

_HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8>"
    '<meta name=viewport content="width=device-width, initial-scale=1">'
    '<link rel=icon href="data:,">'
    "<style>:root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:38rem;margin:2rem auto;padding:0 1rem}"
    "label{display:block}pre{white-space:pre-wrap;overflow-wrap:anywhere}</style>"
)


def problem(text: str) -> str:
    """An error page with one sentence."""
    return f"{_HEAD}<title>Sorry</title><h1>Sorry</h1><p>{escape(text)}</p>"


def consent(app: App, asked: dict[str, str], accounts: list[Account]) -> str:
    """The consent page, where a person chooses accounts; its form submits `asked` again."""
    boxes = "".join(
        f'<label><input type="checkbox" name="target_{item.id}" {"checked" * (number == 0)}>'
        f" {escape(item.name)} <small>{escape(item.username or item.id)}</small></label>"
        for number, item in enumerate(accounts)
    )
    return (
        f"{_HEAD}<title>Consent</title><h1>Allow app {escape(app.id)} ({app.key})?</h1>"
        "<p>This is the provider simulator. No real account is touched.</p>"
        f'<form method="post"><input type="hidden" name="asked" value="{escape(urlencode(asked))}">'
        f"<fieldset><legend>Accounts</legend>{boxes}</fieldset>"
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="refuse">Refuse</button></form>'
    )


def signed_up(signup: dict[str, str]) -> str:
    """The end of chatapp's signup: the values that the provider's window returns."""
    shown = escape(json.dumps(signup, indent=2), quote=False)
    return (
        f"{_HEAD}<title>Signed up</title><h1>Signed up</h1>"
        "<p>Connect the number with the code, which is good for 30 seconds:</p>"
        f'<pre>{shown}</pre><p><a href="/#chatapp">To the customers\' page</a></p>'
    )


def demo_server(origin: str, calls: Sequence[Call], orders: Mapping[str, Mapping[str, str]]) -> str:
    """The page of the demo server: the URLs to call, its orders, and the calls that it received."""
    addresses = "".join(
        f"<li>{words}: <code>{origin}/server/{path}</code></li>"
        for words, path in (
            ("For webhooks", "webhooks"),
            ("For a function that looks up an order (GET)", "orders/{order_id}"),
            ("For a function that cancels an order (DELETE)", "orders/{order_id}"),
        )
    )
    rows = "".join(
        f"<li>{number}: {escape(order['items'])}, {escape(order['status'])}</li>"
        for number, order in orders.items()
    )
    received = "".join(
        f"<details{' open' * (at == 0)}><summary>{time.strftime('%H:%M:%S', time.gmtime(call.at))}"
        f" UTC · {call.method} {escape(call.path)} → {call.status}</summary>"
        f"<pre>{escape(json.dumps(_shown(call), indent=2, ensure_ascii=False))}</pre></details>"
        for at, call in enumerate(calls)
    )
    return (
        f"{_HEAD}<title>Demo server</title><h1>Demo server</h1>"
        "<p>It stands in for your own server. Copy one of these addresses into a webhook or a"
        f" function, and see here what comes.</p><ul>{addresses}</ul>"
        f"<h2>Orders</h2><ul>{rows}</ul>"
        f'<h2>Received</h2><p><a href="/server/">Look again</a> · <a href="/">Channel simulator</a>'
        f"</p>{received or '<p>Nothing yet.</p>'}"
    )


def _shown(call: Call) -> dict[str, object]:
    return {"headers": call.headers, "body": call.body, "answer": call.answer}


def customers() -> str:
    return (Path(__file__).parent / "customers.html").read_text()
