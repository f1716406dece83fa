"""The pages that a browser sees: consent, what follows it, and the customers' page."""

import json
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from simulator.connect_instructions import Landing
from simulator.world import Account, App

_HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8>"
    '<meta name=viewport content="width=device-width, initial-scale=1">'
    '<link rel=icon href="data:,">'
    "<style>:root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:38rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.5rem;line-height:1.25}fieldset{border:1px solid #8886;border-radius:6px;"
    "margin:1rem 0}label{display:block}dd{margin:0 0 .5rem;overflow-wrap:anywhere}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8882;padding:.75rem;"
    "border-radius:6px;font-size:.8rem}"
    "button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}</style>"
)
_COPY = """<script>for (const button of document.querySelectorAll("button.copy"))
  button.onclick = () => {
    const pre = button.previousElementSibling;
    getSelection().selectAllChildren(pre);
    if (navigator.clipboard) navigator.clipboard.writeText(pre.textContent).then(
      () => { button.textContent = "Copied"; });
  };</script>"""


def _command(command: str) -> str:
    """A command to paste into a terminal, with a button that copies it."""
    return f'<pre>{escape(command)}</pre><button type="button" class="copy">Copy</button>{_COPY}'


def _to_customers(channel: str, account_id: str) -> str:
    href = escape(f"/#{channel}/{account_id}")
    return f'<p><a href="{href}">To the customers\' page</a></p>'


def problem(text: str) -> str:
    """What is wrong with a call of the browser, in a sentence."""
    return f"{_HEAD}<title>Sorry</title><h1>Sorry</h1><p>{escape(text)}</p>"


def came_back(channel: str, landing: Landing) -> str:
    """Where a person lands after a consent."""
    title = escape(landing.title)
    command = _command(landing.command) if landing.command else ""
    return (
        f"{_HEAD}<title>{title}</title><h1>{title}</h1><p>{escape(landing.hint)}</p>"
        f"{command}{_to_customers(channel, landing.account_id)}"
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
        f"{_HEAD}<title>Consent</title>"
        f"<h1>Allow app {escape(app.id)} ({app.key})?</h1>"
        "<p>This is the provider simulator. No real account is touched.</p>"
        f'<form method="post"><input type="hidden" name="asked" value="{escape(urlencode(asked))}">'
        f"<fieldset><legend>Accounts</legend>{boxes}</fieldset>{rights}"
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="refuse">Refuse</button></form>'
    )


def signed_up(code: str, finished: dict[str, str], command: str) -> str:
    """The end of chatapp's signup: the code and the ids go to the window that opened this one."""
    message = {"type": "WA_EMBEDDED_SIGNUP", "event": "FINISH", "data": finished}
    script = json.dumps({"signup": message, "code": code}).replace("<", "\\u003c")
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>"
        for name, value in {"code": code, **finished}.items()
    )
    return (
        f"{_HEAD}<title>Signed up</title><h1>Signed up; one step is left</h1>"
        "<p>Connect the number with the code, which is good for 30 seconds:</p>"
        f"{_command(command)}{_to_customers('chatapp', finished['phone_number_id'])}"
        f"<p>A page of yours that opened this one gets the same:</p><dl>{rows}</dl>"
        f"<script>const done = {script}; if (window.opener) {{"
        "window.opener.postMessage(JSON.stringify(done.signup), '*');"
        "window.opener.postMessage(JSON.stringify({code: done.code}), '*');}</script>"
    )


def customers() -> str:
    return (Path(__file__).parent / "customers.html").read_text()
