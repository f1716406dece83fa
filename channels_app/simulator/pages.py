"""The pages that a browser sees: consent, the end of a signup, and the customers' page."""

import json
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from channels_app.simulator.world import Account, App

_STYLE = (
    "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;"
    "margin:3rem auto;padding:0 1rem}"
    "fieldset{border:1px solid #ccc;border-radius:6px;margin:1rem 0}label{display:block}"
    "button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}</style>"
)


def consent(app: App, asked: dict[str, str], accounts: list[Account], scopes: list[str]) -> str:
    """Which accounts and permissions an app gets; `asked` returns with the form."""
    # An Official Account or a direct login is one account; of pages there may be several.
    alone = (
        " onchange=\"document.querySelectorAll('[name^=target_]')"
        '.forEach(other => other.checked = other === this)"'
        if app.key in {"localapp", "photoapp_direct"}
        else ""
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="target_{each.id}"{alone} {"checked" * (number == 0)}>'
        f" {escape(each.name)} <small>{escape(each.username or each.id)}</small></label>"
        for number, each in enumerate(accounts)
    )
    permissions = "".join(
        f'<label><input type="checkbox" name="scope_{escape(name)}" checked> {escape(name)}</label>'
        for name in scopes
    )
    rights = f"<fieldset><legend>Permissions</legend>{permissions}</fieldset>" if scopes else ""
    return (
        f"<!doctype html><meta charset=utf-8><title>Consent</title>{_STYLE}"
        f"<h1>Allow app {escape(app.id)} ({app.key})?</h1>"
        "<p>This is the provider simulator. No real account is touched.</p>"
        f'<form method="post"><input type="hidden" name="asked" value="{escape(urlencode(asked))}">'
        f"<fieldset><legend>Accounts</legend>{boxes}</fieldset>{rights}"
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="refuse">Refuse</button></form>'
    )


def signed_up(code: str, finished: dict[str, str]) -> str:
    """The end of chatapp's signup: the code and the ids go to the window that opened this one."""
    message = {"type": "WA_EMBEDDED_SIGNUP", "event": "FINISH", "data": finished}
    script = json.dumps({"signup": message, "code": code}).replace("<", "\\u003c")
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>"
        for name, value in {"code": code, **finished}.items()
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>Signed up</title>{_STYLE}"
        f"<h1>Signed up</h1><p>The code lives for 30 seconds.</p><dl>{rows}</dl>"
        f"<script>const done = {script}; if (window.opener) {{"
        "window.opener.postMessage(JSON.stringify(done.signup), '*');"
        "window.opener.postMessage(JSON.stringify({code: done.code}), '*');}</script>"
    )


def customers() -> str:
    return (Path(__file__).parent / "customers.html").read_text()
