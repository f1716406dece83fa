"""The control API: what a test or a person tells the simulator, and asks it. JSON both ways."""

import base64
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from simulator import (
    connect_instructions,
    customer_actions,
    defaults,
    faults,
    html_pages,
    oauth,
    subscriptions,
)
from simulator.call_subject import segments
from simulator.faults import BadFault
from simulator.http import Request, Response, html, ok
from simulator.messenger_inbound import BadAction
from simulator.state import Behaviour, Limits, Simulator
from simulator.world import (
    CHANNEL_OF_KIND,
    DAY,
    Account,
    Json,
    Message,
    Subscription,
    Token,
)

_ADVICE = "see docs/channel-simulator.md"
ENDS = ("expired", "revoked", "password", "role")


class BadControl(ValueError):
    """The control API cannot do this."""


def handle(sim: Simulator, request: Request) -> Response:
    parts = segments(request.path)
    if not parts and request.method == "GET":
        return html(html_pages.customers())
    if parts[:1] == ["back"] and parts[1:] and parts[1] in customer_actions.KINDS:
        with sim.world.lock:
            return html(
                html_pages.came_back(
                    parts[1], connect_instructions.came_back(sim, parts[1], request.query)
                )
            )
    if parts[:1] != ["control"]:
        return html("<h1>404</h1>", 404)
    route = _ROUTES.get((request.method, "/".join(parts[1:2])))
    if route is None or len(parts) > 2:
        known = sorted(f"{method} /control/{name}" for method, name in _ROUTES)
        return ok({"error": f"unknown; {_ADVICE}", "known": known}, 404)
    if request.method != "GET" and request.content_type != "application/json":
        # A page of another site cannot send this type without being asked first.
        return ok({"error": "Content-Type must be application/json"}, 415)
    try:
        return ok(route(sim, request.params))
    except (BadControl, BadAction, BadFault, TypeError) as error:
        return ok({"error": str(error)}, 400)


def _index(sim: Simulator, values: Json) -> Any:
    return {
        "routes": sorted(f"{method} /control/{name}" for method, name in _ROUTES),
        "kinds": customer_actions.KINDS,
        "faults": list(faults.KINDS),
        "modes": vars(sim.deliveries.modes),
        "behaviour": vars(sim.behaviour),
        "limits": vars(sim.limits),
    }


def _state(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        return {
            "now": sim.world.now,
            "media": sim.settings.bases.media,
            "accounts": [_account(sim, each) for each in sim.world.accounts.values()],
            "customers": [vars(each) for each in sim.world.customers.values()],
            "apps": [
                {"key": app.key, "id": app.id, "hooks": {n: h.url for n, h in app.hooks.items()}}
                for app in sim.world.apps.values()
            ],
            "waiting": sim.deliveries.waiting,
            "skipped": dict(sim.deliveries.skipped),
        }


def _account(sim: Simulator, account: Account) -> Json:
    targets = sim.deliveries.targets(account, "messages") if account.kind != "waba" else []
    return asdict(account) | {
        "channel": account.channel,
        "is_subscribed": bool(targets),
        "apps": [app_id for app_id, _ in targets],
    }


def _environment(sim: Simulator, values: Json) -> Any:
    return defaults.environment(sim.origin, sim.settings)


def _steps(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        return connect_instructions.steps(
            sim, customer_actions.account_of(sim, str(values.get("account", "")))
        )


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


def _add_customer(sim: Simulator, values: Json) -> Any:
    key = str(values.get("key", ""))
    if not key:
        raise BadControl("key is required")
    with sim.world.lock:
        customer = sim.world.customer(key)
        customer.name = str(values.get("name") or customer.name)
        customer.hides_number = bool(values.get("hides_number", customer.hides_number))
        return vars(customer)


def _thread(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        account = customer_actions.account_of(sim, str(values.get("account", "")))
        thread = sim.world.thread(account, sim.world.customer(str(values.get("user", ""))))
        rows = [_message(message, sim.world.now) for message in thread.messages]
        return {
            "id": thread.id, "user_id": thread.user_id, "follows": thread.follows,
            "is_gone": thread.is_gone, "typing": thread.typing, "messages": rows,
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
            each
            for each in sim.deliveries.log
            if each.id > after
            and channel in (None, each.channel)
            and state in (None, each.state)
            and (account is None or account in each.accounts)
        ]
        return [each.as_json() for each in found[-int(values.get("latest", 0)) :]]


def _clear_log(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.calls.clear()
        sim.deliveries.log.clear()
    return {"ok": True}


# How it behaves


def _faults(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        return [fault.as_json() for fault in sim.faults]


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
    """Of one account, or of all that have none of their own."""
    changed = dict(values)
    account_id = str(changed.pop("account", ""))
    with sim.world.lock:
        old = sim.behaviours.get(account_id, sim.behaviour)
        new = Behaviour(**(vars(old) | changed))
        if account_id:
            sim.behaviours[customer_actions.account_of(sim, account_id).id] = new
        else:
            sim.behaviour = new
        return vars(new)


def _limits(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.limits = Limits(**(vars(sim.limits) | values))
        return vars(sim.limits)


def _clock(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        sim.world.clock.advance(float(values.get("advance", 0)))
        sim.deliveries.wake()
        return {"now": sim.world.now}


def _reset(sim: Simulator, values: Json) -> Any:
    sim.reset(keep_connections=bool(values.get("keep_connections")))
    return {"ok": True}


# Accounts, apps and tokens


def _add_accounts(sim: Simulator, values: Json) -> Any:
    """`count` more accounts of a kind, named and numbered."""
    kind, count = str(values.get("kind", "page")), int(values.get("count", 1))
    if kind not in CHANNEL_OF_KIND:
        raise BadControl(f"kind must be one of {', '.join(CHANNEL_OF_KIND)}")
    with sim.world.lock:
        first = next(each for each in defaults.ACCOUNTS if each.kind == kind)
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


_CHANGEABLE = {"name", "tasks", "is_registered", "pin", "allows_access", "hook_is_on"}


def _change_account(sim: Simulator, values: Json) -> Any:
    changed = dict(values)
    with sim.world.lock:
        account = sim.world.accounts.get(str(changed.pop("account", "")))
        if account is None or not changed.keys() <= _CHANGEABLE:
            raise BadControl(f"name an account, and any of {', '.join(sorted(_CHANGEABLE))}")
        for name, value in changed.items():
            setattr(account, name, value)
        return _account(sim, account)


def _change_app(sim: Simulator, values: Json) -> Any:
    changed = dict(values)
    key = str(changed.pop("app", ""))
    with sim.world.lock:
        app = next((each for each in sim.world.apps.values() if each.key == key), None)
        if app is None or not changed.keys() <= {"redirect_uris", "requires_proof", "callback_url"}:
            raise BadControl("name an app; redirect_uris, requires_proof, callback_url can change")
        if url := changed.pop("callback_url", None):
            for hook in app.hooks.values():
                hook.url = str(url)
        for name, value in changed.items():
            setattr(app, name, value)
        return {"app": app.key, "hooks": {name: hook.url for name, hook in app.hooks.items()}}


def _handshake(sim: Simulator, values: Json) -> Any:
    """Check the callback address of a channel's app, as the console does when it is saved."""
    channel = str(values.get("channel", ""))
    if channel not in {"socialnet", "photoapp", "chatapp", "localapp"}:
        raise BadControl("channel is required")
    app = sim.world.app_by_key(channel)
    hook = next(iter(app.hooks.values()))
    if channel == "localapp":
        problem = subscriptions.probe(sim, dict(values.get("body", {})))
    else:
        token = str(values.get("verify_token", hook.verify_token))
        problem = subscriptions.handshake(sim, hook.url, token)
    return {"is_accepted": not problem, "problem": problem, "url": hook.url}


def _tokens(sim: Simulator, values: Json) -> Any:
    with sim.world.lock:
        return [_token(each) for each in sim.world.tokens.values()]


def _token(token: Token) -> Json:
    scopes = sorted(token.scopes)
    return asdict(token) | {"scopes": scopes}


def _issue(sim: Simulator, values: Json) -> Any:
    """A token without a consent page. `kind`: user_short, user_long, page, system, photo_long, …"""
    key = str(values.get("app") or values.get("channel", ""))
    account_id = str(values.get("account", ""))
    with sim.world.lock:
        if key not in oauth.TARGETS:
            raise BadControl(f"app must be one of {', '.join(oauth.TARGETS)}")
        if account_id and account_id not in sim.world.accounts:
            raise BadControl(f"no account {account_id!r}")
        scopes = set(values.get("scopes") or oauth.SCOPES[key])
        return oauth.without_consent(sim, key, account_id, scopes, str(values.get("kind", "")))


def _end_tokens(sim: Simulator, values: Json) -> Any:
    """Tokens of an app, an account or one value die; or lose a permission (`scope`)."""
    how, scope = str(values.get("how", "revoked")), values.get("scope")
    if how not in ENDS:
        raise BadControl(f"how must be one of {', '.join(ENDS)}")
    with sim.world.lock:
        app_ids = {
            app.id for app in sim.world.apps.values() if values.get("channel") in (None, app.key)
        }
        chosen = [
            token
            for token in list(sim.world.tokens.values())
            if token.app_id in app_ids
            and values.get("account") in (None, token.subject)
            and values.get("value") in (None, token.value)
            and values.get("kind") in (None, token.kind)
        ]
        for token in chosen:
            if scope:
                token.scopes.discard(str(scope))
            else:
                sim.world.kill(token, how)
        return {"tokens": len(chosen)}


def _subscribe(sim: Simulator, values: Json) -> Any:
    """Subscribe an app to an account without a call of the platform."""
    with sim.world.lock:
        account = customer_actions.account_of(sim, str(values.get("account", "")))
        app = sim.world.app_by_key(str(values.get("app") or account.channel))
        owner = account if account.kind in {"page", "oa"} else sim.world.accounts[account.parent]
        owner.subscriptions[app.id] = Subscription(sorted(subscriptions.FIELDS))
        return _account(sim, account)


def _upload(sim: Simulator, values: Json) -> Any:
    """A customer's own file, as base64: returns its id (chatapp) and address (the others)."""
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
    ("GET", "connecting"): _steps,
    ("POST", "act"): _act,
    ("GET", "thread"): _thread,
    ("POST", "customers"): _add_customer,
    ("GET", "calls"): _calls,
    ("GET", "deliveries"): _deliveries,
    ("DELETE", "log"): _clear_log,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _add_fault,
    ("DELETE", "faults"): _clear_faults,
    ("POST", "modes"): _modes,
    ("POST", "release"): _release,
    ("POST", "behaviour"): _behaviour,
    ("POST", "limits"): _limits,
    ("POST", "clock"): _clock,
    ("POST", "reset"): _reset,
    ("POST", "accounts"): _add_accounts,
    ("PUT", "accounts"): _change_account,
    ("PUT", "apps"): _change_app,
    ("POST", "handshake"): _handshake,
    ("GET", "tokens"): _tokens,
    ("POST", "tokens"): _issue,
    ("DELETE", "tokens"): _end_tokens,
    ("POST", "subscribe"): _subscribe,
    ("POST", "files"): _upload,
}
