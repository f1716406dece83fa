"""Consent pages, one-time codes, and the tokens for which codes are exchanged."""

import base64
import hashlib
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from simulator import html_pages, http
from simulator.call_subject import bearer, segments, without_version
from simulator.defaults import PERSON_ID
from simulator.http import Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import DAY, HOUR, Account, App, Code, Subscription, Token

CODE_SECS = 600
SIGNUP_CODE_SECS = 30
SHORT_SECS, LONG_SECS = 2 * HOUR, 60 * DAY
DIRECT_SHORT_SECS = HOUR
ACCESS_SECS, REFRESH_SECS = 90_000, 90 * DAY
SCOPES = {
    "socialnet": [
        "pages_show_list", "pages_messaging", "pages_manage_metadata", "pages_read_engagement",
        "business_management",
    ],
    "photoapp": [
        "instagram_basic", "instagram_manage_messages", "pages_manage_metadata", "pages_show_list",
        "business_management", "pages_messaging",
    ],
    "photoapp_direct": ["instagram_business_basic", "instagram_business_manage_messages"],
    "chatapp": [
        "whatsapp_business_management", "whatsapp_business_messaging", "business_management",
    ],
    "localapp": [],
}  # fmt: skip
# The kind of account that a person chooses on each app's consent page.
TARGETS = {
    "socialnet": "page", "photoapp": "page", "photoapp_direct": "photo", "chatapp": "number",
    "localapp": "oa",
}  # fmt: skip


def handle(sim: Simulator, base: str, request: Request) -> Response:
    parts = segments(request.path)
    if parts[-1:] == ["access_token"]:
        if base == "localapp_oauth":
            return _localapp_tokens(sim, request)
        return _direct_token(sim, request)
    is_dialog = without_version(request.path) == ["dialog", "oauth"]
    if is_dialog or parts[-1:] == ["authorize"] or parts == ["v4", "oa", "permission"]:
        return _consent(sim, base, request)
    return http.html("<h1>404</h1>", 404)


# Consent


def _consent(sim: Simulator, base: str, request: Request) -> Response:
    asked = request.query if request.method == "GET" else _asked(request)
    client_id = asked.get("app_id" if base == "localapp_oauth" else "client_id", "")
    app = sim.world.apps.get(str(client_id))
    redirect_uri = str(asked.get("redirect_uri", ""))
    problem = _problem(base, app, asked, redirect_uri)
    if app is None or problem:
        return http.html(html_pages.problem(problem), 400)
    if request.method == "GET":
        accounts = sim.world.of_kind(TARGETS[app.key])
        return http.html(html_pages.consent(app, asked, accounts))
    if request.params.get("decision") != "allow":
        return _refusal(base, redirect_uri, asked)
    return _allowed(sim, app, redirect_uri, asked, request)


def _asked(request: Request) -> dict[str, str]:
    """The query of the consent page, which the page's form submits again."""
    return dict(parse_qsl(str(request.form.get("asked", "")), keep_blank_values=True))


def _problem(base: str, app: App | None, asked: dict[str, str], redirect_uri: str) -> str:
    if app is None or (base == "localapp_oauth") != (app.key == "localapp"):
        return "Invalid app ID."
    # chatapp's signup dialog gives the code to the page that opened it, without a redirect.
    if not redirect_uri and app.key != "chatapp":
        return "redirect_uri is missing."
    if redirect_uri and urlsplit(redirect_uri).scheme not in {"http", "https"}:
        return "redirect_uri is not an address."
    if base == "direct_auth" and asked.get("response_type") != "code":
        return "response_type must be code."
    if base == "localapp_oauth" and not asked.get("code_challenge"):
        return "code_challenge is missing."
    return ""


def _scopes(app: App, asked: dict[str, str]) -> set[str]:
    wanted = {name for name in str(asked.get("scope", "")).replace(" ", ",").split(",") if name}
    # With a login configuration there are no scopes in the query: the app gets all its scopes.
    return wanted or set(SCOPES[app.key])


def _refusal(base: str, redirect_uri: str, asked: dict[str, str]) -> Response:
    if base == "localapp_oauth":
        values = {"error": "-14002", "error_reason": "user_denied"}
    else:
        values = {
            "error": "access_denied",
            "error_reason": "user_denied",
            "error_description": "Permissions error",
        }
    if not redirect_uri:
        return http.html(html_pages.problem("You refused: nothing is connected."))
    return http.redirect(_with(redirect_uri, values, asked))


def _allowed(
    sim: Simulator, app: App, redirect_uri: str, asked: dict[str, str], request: Request
) -> Response:
    offered = sim.world.of_kind(TARGETS[app.key])
    chosen = [item for item in offered if f"target_{item.id}" in request.form]
    if not chosen:
        return http.html(html_pages.problem("Go back and choose at least one account."), 400)
    code = _new_code(sim, app, redirect_uri, _scopes(app, asked), chosen)
    code.challenge = str(asked.get("code_challenge", ""))
    if not redirect_uri:
        number = chosen[0]
        signup = {"code": code.value, "phone_number_id": number.id, "waba_id": number.parent}
        return http.html(html_pages.signed_up(signup))
    values = {"code": code.value}
    if app.key == "localapp":
        values = {"oa_id": chosen[0].id, **values}
    return http.redirect(_with(redirect_uri, values, asked))


def _new_code(
    sim: Simulator, app: App, redirect_uri: str, scopes: set[str], chosen: list[Account]
) -> Code:
    world = sim.world
    subject = chosen[0].id if app.key in {"photoapp_direct", "localapp"} else PERSON_ID
    lifetime = SIGNUP_CODE_SECS if app.key == "chatapp" else CODE_SECS
    targets = [item.id for item in chosen]
    if app.key == "chatapp":
        targets = sorted({item.parent for item in chosen})
    code = Code(
        "AQ" + world.random_text(40), app.key, app.id, subject, redirect_uri, scopes, targets,
        world.now + lifetime,
    )  # fmt: skip
    world.codes[code.value] = code
    return code


def _with(redirect_uri: str, values: dict[str, str], asked: dict[str, str]) -> str:
    if asked.get("state"):
        values = {**values, "state": asked["state"]}
    parts = urlsplit(redirect_uri)
    query = "&".join(filter(None, (parts.query, urlencode(values))))
    return urlunsplit(parts._replace(query=query))


# Graph tokens


def graph_token(sim: Simulator, request: Request) -> Response:
    """`/oauth/access_token`: a token in exchange for a code or a short-lived token."""
    app = _graph_app(sim, request)
    grant = request.text("grant_type")
    if grant == "fb_exchange_token":
        token = _long_token(sim, app, request.text("fb_exchange_token"))
    else:
        token = _token_for_code(sim, app, request)
    answer = {"access_token": token.value, "token_type": "bearer"}
    if token.expires_at is None:
        return ok(answer)
    return ok({**answer, "expires_in": int(token.expires_at - sim.world.now)})


def _graph_app(sim: Simulator, request: Request) -> App:
    app = sim.world.apps.get(request.text("client_id"))
    if app is None or app.key in {"localapp", "photoapp_direct"}:
        raise graph_error(101, "Error validating application. Cannot get application info.")
    if request.text("client_secret") != app.secret:
        raise graph_error(1, "Error validating client secret.", status=400)
    return app


def _token_for_code(sim: Simulator, app: App, request: Request) -> Token:
    code = _live_code(sim, app, request)
    code.is_used = True
    if app.key == "chatapp":
        return sim.world.issue(
            "system", app.id, code.subject, scopes=code.scopes, targets=code.targets, lifetime=None
        )
    return sim.world.issue(
        "user_short", app.id, code.subject, scopes=code.scopes, targets=code.targets,
        lifetime=SHORT_SECS,
    )  # fmt: skip


def _live_code(sim: Simulator, app: App, request: Request) -> Code:
    code = sim.world.codes.get(request.text("code"))
    if code is None or code.app_id != app.id:
        raise graph_error(100, "Invalid verification code format.")
    if code.is_used:
        raise graph_error(100, "This authorization code has been used.", 36009)
    if code.expires_at < sim.world.now:
        raise graph_error(100, "This authorization code has expired.", 36007)
    if code.redirect_uri != request.text("redirect_uri"):
        raise graph_error(
            100, "Error validating verification code. Please make sure your redirect_uri is "
            "identical to the one you used in the OAuth dialog request", 36008,
        )  # fmt: skip
    return code


def _long_token(sim: Simulator, app: App, value: str) -> Token:
    token = live(sim, value)
    if token.app_id != app.id or not token.kind.startswith("user"):
        raise graph_error(190, "Malformed access token", 467)
    return sim.world.issue(
        "user_long", app.id, token.subject, scopes=token.scopes, targets=token.targets,
        lifetime=LONG_SECS,
    )  # fmt: skip


def page_token(sim: Simulator, user: Token, page: Account) -> Token:
    """The page token derived from a person's token. It expires after an hour if the person's token
    is short-lived, else never."""
    for token in sim.world.tokens.values():
        if (token.parent, token.subject, token.kind) == (user.value, page.id, "page"):
            return token
    return sim.world.issue(
        "page", user.app_id, page.id, scopes=user.scopes, targets=[page.id],
        lifetime=HOUR if user.kind == "user_short" else None, parent=user.value,
    )  # fmt: skip


_SUBCODES = {"expired": 463, "password": 460, "revoked": 458, "role": 492}
_REASONS = {
    "expired": "Error validating access token: Session has expired",
    "password": "Error validating access token: The session has been invalidated because the "
    "user changed their password",
    "revoked": "Error validating access token: The user has not authorized application",
    "role": "Error validating access token: the user has no role on the page",
}


def live(sim: Simulator, value: str) -> Token:
    """The token with this value; raises the provider's error if the token is not accepted."""
    if not value:
        raise graph_error(104, "An access token is required to request this resource.", status=400)
    token = sim.world.tokens.get(value)
    if token is None or token.kind in {"access", "refresh"}:
        raise graph_error(190, "Invalid OAuth access token - Cannot parse access token")
    _age(sim, token)
    if token.dead:
        raise graph_error(190, _REASONS[token.dead], _SUBCODES[token.dead])
    return token


def _age(sim: Simulator, token: Token) -> None:
    if token.expires_at is not None and token.expires_at <= sim.world.now:
        token.dead = token.dead or "expired"


def debug_token(sim: Simulator, request: Request) -> Response:
    app = _app_of_own_token(sim, bearer(request))
    token = sim.world.tokens.get(request.text("input_token"))
    if app is None or token is None or token.app_id != app.id:
        raise graph_error(100, "The access token does not belong to this app.")
    _age(sim, token)
    scopes = [{"scope": name, "target_ids": token.targets} for name in sorted(token.scopes)]
    return ok({"data": {
        "app_id": token.app_id, "is_valid": not token.dead, "granular_scopes": scopes,
        "scopes": sorted(token.scopes),
        "expires_at": int(token.expires_at or 0),
    }})  # fmt: skip


def _app_of_own_token(sim: Simulator, value: str) -> App | None:
    """The app whose id and secret this token consists of; None if there is none."""
    app_id, _, secret = value.partition("|")
    app = sim.world.apps.get(app_id)
    return app if app and app.secret == secret else None


# photoapp, direct login


def _direct_token(sim: Simulator, request: Request) -> Response:
    app = sim.world.apps.get(request.text("client_id"))
    if request.method != "POST" or app is None or app.key != "photoapp_direct":
        raise _direct_error("Invalid platform app")
    if request.text("client_secret") != app.secret:
        raise _direct_error("Error validating client secret")
    if request.text("grant_type") != "authorization_code":
        raise _direct_error("Invalid grant type")
    code = sim.world.codes.get(request.text("code").removesuffix("#_"))
    if code is None or code.app_id != app.id or code.expires_at < sim.world.now or code.is_used:
        raise _direct_error("This authorization code has been used or has expired")
    if code.redirect_uri != request.text("redirect_uri"):
        raise _direct_error("Error validating verification code: redirect_uri differs")
    code.is_used = True
    token = sim.world.issue(
        "photo_short", app.id, code.subject, scopes=code.scopes, targets=code.targets,
        lifetime=DIRECT_SHORT_SECS,
    )  # fmt: skip
    permissions = ",".join(sorted(token.scopes))
    answer = {"access_token": token.value, "user_id": int(code.subject), "permissions": permissions}
    return ok(answer)


def _direct_error(message: str) -> http.ProviderError:
    body = {"error_type": "OAuthException", "code": 400, "error_message": message}
    return http.ProviderError(ok(body, 400))


def direct_exchange(sim: Simulator, request: Request) -> Response:
    """`/access_token` and `/refresh_access_token` of the direct host."""
    token = live(sim, bearer(request))
    if request.path.endswith("/refresh_access_token"):
        is_due = sim.world.now - token.issued_at >= DAY
        if request.text("grant_type") != "ig_refresh_token" or token.kind != "photo_long":
            raise graph_error(100, "Unsupported grant type or token")
        if not is_due:
            raise graph_error(100, "The token is younger than 24 hours")
    elif (
        request.text("grant_type") != "ig_exchange_token"
        or token.kind != "photo_short"
        or request.text("client_secret") != sim.world.apps[token.app_id].secret
    ):
        raise graph_error(100, "Unsupported grant type, token or client secret")
    new = sim.world.issue(
        "photo_long", token.app_id, token.subject, scopes=token.scopes, targets=token.targets,
        lifetime=LONG_SECS,
    )  # fmt: skip
    return ok({"access_token": new.value, "token_type": "bearer", "expires_in": int(LONG_SECS)})


# localapp


def _localapp_tokens(sim: Simulator, request: Request) -> Response:
    app = sim.world.apps.get(request.text("app_id"))
    if request.method != "POST" or app is None or app.key != "localapp":
        return _localapp_error(-14001, "Invalid app id")
    if request.headers.get("secret_key") != app.secret:
        return _localapp_error(-14004, "Invalid secret key")
    grant = request.text("grant_type")
    if grant == "refresh_token":
        return _refreshed(sim, app, request.text("refresh_token"))
    if grant != "authorization_code":
        return _localapp_error(-14005, "Invalid grant type")
    code = sim.world.codes.get(request.text("code"))
    if code is None or code.app_id != app.id or code.is_used or code.expires_at < sim.world.now:
        return _localapp_error(-14006, "Invalid or expired authorization code")
    digest = hashlib.sha256(request.text("code_verifier").encode()).digest()
    if base64.urlsafe_b64encode(digest).decode().rstrip("=") != code.challenge:
        return _localapp_error(-14010, "Invalid code verifier")
    code.is_used = True
    account = sim.world.accounts[code.subject]
    account.subscriptions[app.id] = Subscription([])
    account.hook_is_on = True
    return _pair(sim, app, account.id)


def _refreshed(sim: Simulator, app: App, value: str) -> Response:
    old = sim.world.tokens.get(value)
    if old is None or old.kind != "refresh" or old.app_id != app.id:
        return _localapp_error(-14014, "Invalid refresh token")
    _age(sim, old)
    if old.dead:
        return _localapp_error(-14014, "The refresh token was used or has expired")
    # A refresh token can be used once. Using it ends both tokens of the old pair.
    for token in sim.world.tokens.values():
        if token.parent == old.parent and token.subject == old.subject:
            token.dead = token.dead or "revoked"
    return _pair(sim, app, old.subject)


def _pair(sim: Simulator, app: App, oa_id: str) -> Response:
    pair = sim.world.random_text(12)
    access, refresh = (
        sim.world.issue(
            kind, app.id, oa_id, scopes=set(), targets=[oa_id], lifetime=lifetime, parent=pair
        )
        for kind, lifetime in (("access", ACCESS_SECS), ("refresh", REFRESH_SECS))
    )
    return ok({
        "access_token": access.value, "refresh_token": refresh.value,
        "expires_in": str(ACCESS_SECS), "refresh_token_expires_in": str(int(REFRESH_SECS)),
    })  # fmt: skip


def _localapp_error(code: int, reason: str) -> Response:
    return ok({
        "error": code, "error_name": reason, "error_reason": reason, "error_description": reason,
    })  # fmt: skip


# Without a consent page


def without_consent(sim: Simulator, key: str, account_id: str) -> dict[str, str]:
    """Issue the tokens that a consent would give: for a person, or for the account with this id."""
    world, app, scopes = sim.world, sim.world.app_by_key(key), set(SCOPES[key])
    account = world.accounts.get(account_id)
    if key == "localapp":
        account = account or world.of_kind("oa")[0]
        account.subscriptions[app.id] = Subscription([])
        answer = _pair(sim, app, account.id).json()
        return {name: str(answer[name]) for name in ("access_token", "refresh_token")}
    if key == "photoapp_direct":
        account = account or world.of_kind("photo")[0]
        token = world.issue(
            "photo_long", app.id, account.id, scopes=scopes, targets=[account.id],
            lifetime=LONG_SECS,
        )  # fmt: skip
        return {"access_token": token.value}
    is_chatapp = key == "chatapp"
    token = world.issue(
        "system" if is_chatapp else "user_long", app.id, PERSON_ID, scopes=scopes,
        targets=[item.id for item in world.of_kind("waba" if is_chatapp else "page")],
        lifetime=None if is_chatapp else LONG_SECS,
    )  # fmt: skip
    if account is not None and not is_chatapp:
        token = page_token(sim, token, world.accounts[account.parent or account.id])
    return {"access_token": token.value}
