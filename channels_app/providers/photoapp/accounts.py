"""Accounts that are linked to a page: listed, subscribed; their customers and files."""

from typing import Any

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile
from channels_app.providers.graph import pages
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.photoapp import errors
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Profile,
    Tokens,
)

APP = GraphApp("photoapp", errors.KINDS, "PHOTOAPP_API_URL")
# Of accounts whose person signed in to the account itself: another app, at another host.
DIRECT_APP = GraphApp("photoapp", errors.KINDS, "PHOTOAPP_DIRECT_URL", "PHOTOAPP_DIRECT")
DIRECT = {"login": "direct"}
_LINKED = "instagram_business_account"


def list_accounts(token: str, *, cursor: str | None, limit: int) -> AccountsPage:
    """The accounts that are linked to the person's pages; a page without one is left out."""
    fields = f"{_LINKED}{{id,username,name,profile_picture_url}}"
    rows, following = pages.listed(APP, token, fields, cursor=cursor, limit=limit)
    accounts = [
        ListedAccount(
            str(account["id"]),
            _name(account),
            str(account.get("profile_picture_url") or "") or None,
        )
        for account in (pages.as_dict(row.get(_LINKED)) for row in rows)
        if account.get("id")
    ]
    return AccountsPage(accounts, following)


def connect(token: str, account_id: str) -> Connected:
    """Subscribe to the page of an account, by the id of either; its token sends for the account."""
    for row in pages.each(APP, token, f"access_token,{_LINKED}{{id,username,name}}"):
        account = pages.as_dict(row.get(_LINKED))
        page_id = str(row["id"])
        if account.get("id") and account_id in {page_id, str(account["id"])}:
            page_token = pages.subscribe(APP, page_id, row.get("access_token"))
            details = {"page_id": page_id}
            return Connected(str(account["id"]), _name(account), Tokens(page_token), details)
    raise ProviderError(Kind.REQUEST, "The person has no page with this account.")


def disconnect(account: Account) -> None:
    """End the subscription to the events of the page, or of the account itself."""
    pages.unsubscribe(app_of(account), node_of(account), account.token)


def app_of(account: Account) -> GraphApp:
    """Our app that an account was connected to."""
    return DIRECT_APP if account.details == DIRECT else APP


def node_of(account: Account) -> str:
    """In whose name an account is called: its page, or itself."""
    return account.id if account.details == DIRECT else str(account.details["page_id"])


def profile(account: Account, user_id: str) -> Profile:
    """The customer's name and picture, as far as the provider shows them to the account."""
    body = app_of(account).call(
        "GET", http.path_segment(user_id), token=account.token,
        params={"fields": "name,username,profile_pic"},
    ).body  # fmt: skip
    name = body.get("name") or body.get("username") or ""
    return Profile(name=str(name), avatar_url=str(body.get("profile_pic") or ""))


def fetch(account: Account, file: InboundFile) -> bytes:
    """A customer's file. Its address is open: no credential goes along."""
    if not file.url:
        raise ProviderError(Kind.REQUEST, "The provider does not hand this kind of content over.")
    return http.download(file.url, channel=APP.channel, hosts=settings.PHOTOAPP_MEDIA_HOSTS)


def _name(account: dict[str, Any]) -> str:
    return str(account.get("name") or account.get("username") or "")[:200]
