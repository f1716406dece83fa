"""The HTML pages: consent, the end of a signup, and the customers' page."""

import json
from html import escape
from pathlib import Path
from urllib.parse import urlencode

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
    """An error page with a sentence."""
    return f"{_HEAD}<title>Sorry</title><h1>Sorry</h1><p>{escape(text)}</p>"


def consent(app: App, asked: dict[str, str], accounts: list[Account]) -> str:
    """The consent page, where a person chooses accounts; the form returns `asked`."""
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


def customers() -> str:
    return (Path(__file__).parent / "customers.html").read_text()
