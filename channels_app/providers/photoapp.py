"""photoapp: professional accounts, used through their linked page or by a direct login."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from channels_app.providers import http, text
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.graph import consent, pages
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.graph.provider import Messenger
from channels_app.providers.json_values import as_dict
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Profile,
    Tokens,
)

# Direct logins use another app at other hosts.
_DIRECT_APP = GraphApp("photoapp", "PHOTOAPP_DIRECT_URL", "PHOTOAPP_DIRECT")
_DIRECT_AUTH = GraphApp("photoapp", "PHOTOAPP_DIRECT_AUTH_URL", "PHOTOAPP_DIRECT")
_DIRECT = {"login": "direct"}
_DIRECT_FIELDS = (
    "messages,messaging_postbacks,messaging_seen,message_reactions,messaging_referral,message_edit,"
    "standby"
)
_LINKED = "instagram_business_account"


class Photoapp(Messenger):
    """Sends cannot carry our id, so their echoes are matched by `mid` or text."""

    channel = "photoapp"
    app = GraphApp("photoapp", "PHOTOAPP_API_URL")
    # A direct login's token is valid for 60 days; a page's token does not expire.
    refresh_before = timedelta(days=10)
    scopes: Sequence[str] = (
        "instagram_basic", "instagram_manage_messages", "pages_manage_metadata", "pages_show_list",
        "pages_messaging", "business_management",
    )  # fmt: skip
    needed = ("instagram_manage_messages", "pages_manage_metadata", "pages_messaging")
    max_text = 1000  # bytes of UTF-8, not characters
    text_size = staticmethod(text.utf8_bytes)
    upload_fields = {"platform": "instagram"}

    def app_of(self, account: Account) -> GraphApp:
        return _DIRECT_APP if account.details == _DIRECT else self.app

    def node_of(self, account: Account) -> str:
        """The id of the account's page or, for a direct login, of the account itself."""
        return account.id if account.details == _DIRECT else str(account.details["page_id"])

    def app_ids(self) -> set[str]:
        return {settings.PHOTOAPP_APP_ID, settings.PHOTOAPP_DIRECT_APP_ID}

    def secrets(self) -> Sequence[str]:
        """The secrets of the direct login's app, the pages' app, and socialnet's app.

        Pages may use socialnet's app; the direct login has a separate app.
        """
        own = [settings.PHOTOAPP_DIRECT_APP_SECRET] if settings.PHOTOAPP_DIRECT_APP_SECRET else []
        if settings.PHOTOAPP_APP_SECRET or not own:
            own.append(self.app.setting("APP_SECRET"))
        return [secret for secret in (*own, settings.SOCIALNET_APP_SECRET) if secret]

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """Renew a direct login's token for 60 days. It must be valid, and at least a day old."""
        if account.details != _DIRECT:
            # A page's token belongs to another app at another host.
            raise ProviderError(Kind.REQUEST, "A page's token is never renewed.")
        return _exchange(
            "refresh_access_token", grant_type="ig_refresh_token", access_token=account.token
        )

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """The accounts that are linked to the person's pages."""
        fields = f"{_LINKED}{{id,username,name,profile_picture_url}}"
        rows, following = pages.listed(self.app, token, fields, cursor=cursor, limit=limit)
        accounts = [
            ListedAccount(
                str(account["id"]),
                _name(account),
                str(account.get("profile_picture_url") or "") or None,
            )
            for account in (as_dict(row.get(_LINKED)) for row in rows)
            if account.get("id")
        ]
        return AccountsPage(accounts, following)

    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the events of an account's page; calls will use the page's token.

        `account_id` is the id of the account or of the page.
        """
        for row in pages.each(self.app, token, f"access_token,{_LINKED}{{id,username,name}}"):
            account = as_dict(row.get(_LINKED))
            page_id = str(row["id"])
            if account.get("id") and account_id in {page_id, str(account["id"])}:
                page_token = pages.subscribe(self.app, page_id, row.get("access_token"))
                details = {"page_id": page_id}
                return Connected(
                    str(account["id"]), _name(account), Tokens(page_token), details,
                    missing_permissions=self.missing_permissions(token),
                )  # fmt: skip
        raise ProviderError(Kind.REQUEST, "The person has no page with this account.")

    def profile(self, account: Account, user_id: str) -> Profile:
        body = self.app_of(account).call(
            "GET", http.path_segment(user_id), token=account.token,
            params={"fields": "name,username,profile_pic"},
        ).body  # fmt: skip
        name = body.get("name") or body.get("username") or ""
        return Profile(name=str(name), avatar_url=str(body.get("profile_pic") or ""))


class PhotoappDirect(Photoapp):
    """The direct login: a person signs in to the account itself, without a page."""

    scopes = ("instagram_business_basic", "instagram_business_manage_messages")

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        dialog = f"{settings.PHOTOAPP_DIRECT_AUTH_URL.rstrip('/')}/authorize"
        return consent.url(
            _DIRECT_AUTH, dialog, scopes=self.scopes, redirect_uri=redirect_uri, state=state
        )

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """Exchange a code for a token that is valid for an hour, and that token for one that is
        valid for about 60 days."""
        secret = _DIRECT_APP.setting("APP_SECRET")
        values = {
            "client_id": _DIRECT_APP.setting("APP_ID"), "client_secret": secret,
            "grant_type": "authorization_code", "redirect_uri": redirect_uri,
            # The provider appends "#_" to the URL of its redirect.
            "code": code.removesuffix("#_"),
        }  # fmt: skip
        form = ("application/x-www-form-urlencoded", urlencode(values).encode())
        short = consent.tokens_from(_DIRECT_AUTH.call("POST", "access_token", form=form).body)
        return _exchange(
            "access_token", grant_type="ig_exchange_token", client_secret=secret,
            access_token=short.access_token,
        )  # fmt: skip

    def find(self, token: str) -> Connected:
        """The account that a token is for; does not subscribe to its events."""
        fields = {"fields": "user_id,username,name"}
        body = _DIRECT_APP.call("GET", "me", token=token, params=fields).body
        account_id = str(body.get("user_id") or "")
        if not account_id:
            raise ProviderError(Kind.TEMPORARY, "The provider's response contains no account id.")
        return Connected(account_id, _name(body), Tokens(token), _DIRECT)

    def subscribe(self, account: Connected) -> None:
        """Subscribe to the account's events."""
        _DIRECT_APP.call(
            "POST", f"{http.path_segment(account.id)}/subscribed_apps",
            token=account.tokens.access_token, params={"subscribed_fields": _DIRECT_FIELDS},
        )  # fmt: skip


def _exchange(path: str, **query: Any) -> Tokens:
    return consent.tokens_from(_DIRECT_APP.call("GET", path, params=query).body)


def _name(account: dict[str, Any]) -> str:
    return str(account.get("name") or account.get("username") or "")[:200]
