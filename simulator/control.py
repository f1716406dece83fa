"""The control API in JSON, with which tests and people control and inspect the simulator."""

import base64
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from simulator import (
    customer_actions,
    defaults,
    faults,
    html_pages,
    oauth,
    subscriptions,
)
from simulator.call_subject import segments
from simulator.http import Request, Response, html, ok
from simulator.state import Behaviour, Simulator
from simulator.world import (
    CHANNEL_OF_KIND,
    DAY,
    Account,
    Json,
    Message,
    Subscription,
)

_ADVICE = "see docs/channel-simulator.md"
ENDS = ("expired", "revoked", "password", "role")


class BadControl(ValueError):
    """A request that the control API cannot fulfill."""


def handle(sim: Simulator, request: Request) -> Response:
    parts = segments(request.path)
    if not parts and request.method == "GET":
        return html(html_pages.customers())
    if parts[:1] != ["control"]:
        return html("<h1>404</h1>", 404)
    route = _ROUTES.get((request.method, "/".join(parts[1:2])))
    if route is None or len(parts) > 2:
        known = sorted(f"{method} /control/{name}" for method, name in _ROUTES)
        return ok({"error": f"unknown; {_ADVICE}", "known": known}, 404)
    if request.method != "GET" and request.content_type != "application/json":
        # Pages of other sites cannot send this content type without a CORS preflight.
        return ok({"error": "Content-Type must be application/json"}, 415)
    try:
        return ok(route(sim, request.params))
    except KeyError as error:
        return ok({"error": f"there is no {error}"}, 400)
    except (ValueError, TypeError) as error:
        return ok({"error": str(error)}, 400)


def _index(sim: Simulator, values: Json) -> Any:
    return {
        "routes": sorted(f"{method} /control/{name}" for method, name in _ROUTES),
        "kinds": customer_actions.KINDS,
        "modes": vars(sim.deliveries.modes),
        "behaviour": vars(sim.behaviour),
    }


def _state(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        return {
            "now": sim.world.now,
            "media": sim.settings.bases.media,
            "accounts": [_account(sim, account) for account in sim.world.accounts.values()],
            "customers": [vars(customer) for customer in sim.world.customers.values()],
            "waiting": sim.deliveries.waiting,
            "skipped": dict(sim.deliveries.skipped),
        }


def _account(sim: Simulator, account: Account) -> Json:
    targets = sim.deliveries.targets(account, "messages") if account.kind != "waba" else []
    return asdict(account) | {
        "channel": account.channel,
        "is_subscribed": bool(targets),
        "token": sim.world.bot_token(account) if account.kind == "bot" else "",
        "apps": [app_id for app_id, _ in targets],
    }


def _environment(sim: Simulator, values: Json) -> Any:
    return defaults.environment(sim.origin, sim.settings)


# Customers


def _act(sim: Simulator, values: Json) -> Any:
    inside = dict(values)
    names = {name: str(inside.pop(name, "")) for name in ("channel", "account", "user", "kind")}
    if not names["user"] or not names["kind"]:
        raise BadControl("account, user and kind are required")
    with sim.world.lock:
        account = customer_actions.account_of(sim, names["account"], names["channel"])
        message = customer_actions.act(sim, account, names["user"], names["kind"], inside)
        thread = sim.world.thread(account, sim.world.customer(names["user"]))
        return {"message_id": message.id if message else None, "user_id": thread.user_id}


def _thread(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        account = customer_actions.account_of(sim, str(values.get("account", "")))
        thread = sim.world.thread(account, sim.world.customer(str(values.get("user", ""))))
        rows = [_message(message, sim.world.now) for message in thread.messages]
        return {
            "user_id": thread.user_id, "is_gone": thread.is_gone, "typing": thread.typing,
            "messages": rows,
        }  # fmt: skip


def _message(message: Message, now: float) -> Json:
    return asdict(message) | {"status": message.status(now)}


# What happened


def _calls(sim: Simulator, values: Json) -> Any:
    wanted = {
        name: str(values[name])
        for name in ("channel", "account", "what", "method", "base", "fault")
        if values.get(name)
    }
    after, path = int(values.get("after", 0)), str(values.get("path", ""))
    return sim.calls_where(
        lambda call: (
            call.id > after
            and path in call.path
            and all(getattr(call, name) == value for name, value in wanted.items())
        ),
        int(values.get("latest", 0)),
    )


def _deliveries(sim: Simulator, values: Json) -> Any:
    after = int(values.get("after", 0))
    channel, state = values.get("channel"), values.get("state")
    account = values.get("account")
    with sim.world.lock:
        found = [
            item
            for item in sim.deliveries.log
            if item.id > after
            and channel in (None, item.channel)
            and state in (None, item.state)
            and (account is None or account in item.accounts)
        ]
        return [item.as_json() for item in found[-int(values.get("latest", 0)) :]]


# How it behaves


def _add_fault(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        fault = faults.make(next(sim.numbers), values)
        sim.faults.append(fault)
        return fault.as_json()


def _clear_faults(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.faults.clear()
    return {"ok": True}


def _modes(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.set_modes(values)
        return vars(sim.deliveries.modes)


def _release(sim: Simulator, values: Json) -> Any:
    return {"events": sim.deliveries.release()}


def _behaviour(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.behaviour = Behaviour(**(vars(sim.behaviour) | values))
        return vars(sim.behaviour)


def _clock(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.world.clock.advance(float(values.get("advance", 0)))
        sim.deliveries.wake()
        return {"now": sim.world.now}


# Accounts, apps and tokens


def _add_accounts(sim: Simulator, values: Json) -> Any:
    """Add `count` accounts of a kind, with numbered names."""
    kind, count = str(values.get("kind", "page")), int(values.get("count", 1))
    if kind not in CHANNEL_OF_KIND:
        raise BadControl(f"kind must be one of {', '.join(CHANNEL_OF_KIND)}")
    with sim.world.lock:
        first = next(item for item in defaults.ACCOUNTS if item.kind == kind)
        added = []
        for _ in range(count):
            name = f"{values.get('name', 'Shop')} {len(sim.world.accounts) + 1}"
            account_id = first.id[:4] + sim.world.random_digits(len(first.id) - 4)
            parent = str(values.get("parent") or first.parent)
            username = sim.world.random_digits(12) if kind == "number" else f"shop{account_id[-6:]}"
            account = Account(account_id, kind, name, parent, username, list(first.tasks))
            sim.world.accounts[account_id] = account
            added.append(_account(sim, account))
        return added


_CHANGEABLE = {"tasks", "is_registered", "pin", "hook_is_on"}


def _change_account(sim: Simulator, values: Json) -> Any:
    changed = dict(values)
    with sim.world.lock:
        account = sim.world.accounts.get(str(changed.pop("account", "")))
        if account is None or not changed.keys() <= _CHANGEABLE:
            raise BadControl(f"name an account, and any of {', '.join(sorted(_CHANGEABLE))}")
        for name, value in changed.items():
            setattr(account, name, value)
        return _account(sim, account)


def _handshake(sim: Simulator, values: Json) -> Any:
    """Verify an app's callback URL, like the provider's console when somebody saves the URL."""
    hook = next(iter(sim.world.app_by_key(str(values.get("channel", ""))).hooks.values()))
    problem = subscriptions.handshake(sim, hook.url, hook.verify_token)
    return {"is_accepted": not problem, "problem": problem}


def _issue(sim: Simulator, values: Json) -> Any:
    """Issue a token without a consent page: for a person, or with `account` for that account."""
    key, account_id = str(values.get("app", "")), str(values.get("account", ""))
    with sim.world.lock:
        if key == "telegram":
            bot = sim.world.accounts.get(account_id) or sim.world.of_kind("bot")[0]
            return {"access_token": sim.world.bot_token(bot)}
        if key not in oauth.TARGETS:
            raise BadControl(f"app must be one of {', '.join(oauth.TARGETS)}")
        if account_id and account_id not in sim.world.accounts:
            raise BadControl(f"no account {account_id!r}")
        return oauth.without_consent(sim, key, account_id)


def _end_tokens(sim: Simulator, values: Json) -> Any:
    """End all tokens that match the given app (as `channel`), account, kind and value."""
    how = str(values.get("how", "revoked"))
    if how not in ENDS:
        raise BadControl(f"how must be one of {', '.join(ENDS)}")
    with sim.world.lock:
        chosen = [
            token
            for token in sim.world.tokens.values()
            if values.get("channel") in (None, sim.world.apps[token.app_id].key)
            and values.get("account") in (None, token.subject)
            and values.get("value") in (None, token.value)
            and values.get("kind") in (None, token.kind)
        ]
        for token in chosen:
            sim.world.kill(token, how)
        return {"tokens": len(chosen)}


def _subscribe(sim: Simulator, values: Json) -> Any:
    """Subscribe an app to an account without a call from the platform."""
    with sim.world.lock:
        account = customer_actions.account_of(sim, str(values.get("account", "")))
        if account.kind == "bot":
            raise BadControl("the platform connects a bot by its token")
        app = sim.world.app_by_key(str(values.get("app") or account.channel))
        owner = account if account.kind in {"page", "oa"} else sim.world.accounts[account.parent]
        owner.subscriptions[app.id] = Subscription(sorted(subscriptions.FIELDS))
        return _account(sim, account)


def _upload(sim: Simulator, values: Json) -> Any:
    """Store a customer's file from base64; return its id (for chatapp and telegram) and URL."""
    try:
        data = base64.b64decode(str(values.get("data", "")), validate=True)
    except ValueError:
        raise BadControl("data must be base64") from None
    mime = str(values.get("type", "application/octet-stream"))
    name = str(values.get("name") or "file").replace("/", "_")
    with sim.world.lock:
        stored = sim.world.store(data, mime, name=name, lifetime=7 * DAY)
        return {"file_id": stored.id, "url": sim.media_url(stored.id, name)}


_ROUTES: dict[tuple[str, str], Callable[[Simulator, Json], Any]] = {
    ("GET", ""): _index,
    ("GET", "state"): _state,
    ("GET", "environment"): _environment,
    ("POST", "act"): _act,
    ("GET", "thread"): _thread,
    ("GET", "calls"): _calls,
    ("GET", "deliveries"): _deliveries,
    ("POST", "faults"): _add_fault,
    ("DELETE", "faults"): _clear_faults,
    ("POST", "modes"): _modes,
    ("POST", "release"): _release,
    ("POST", "behaviour"): _behaviour,
    ("POST", "clock"): _clock,
    ("POST", "accounts"): _add_accounts,
    ("PUT", "accounts"): _change_account,
    ("POST", "handshake"): _handshake,
    ("POST", "tokens"): _issue,
    ("DELETE", "tokens"): _end_tokens,
    ("POST", "subscribe"): _subscribe,
    ("POST", "files"): _upload,
}
