"""Pages: listed, subscribed, unsubscribed; their customers' names and files."""

from typing import Any

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile
from channels_app.providers.graph import pages
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.socialnet import errors
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Profile,
    Tokens,
)

APP = GraphApp("socialnet", errors.KINDS, "SOCIALNET_API_URL")


def list_accounts(token: str, *, cursor: str | None, limit: int) -> AccountsPage:
    """The pages in whose name the person may message."""
    rows, following = pages.listed(APP, token, "picture{url}", cursor=cursor, limit=limit)
    accounts = [
        ListedAccount(str(row["id"]), str(row.get("name") or ""), _picture(row)) for row in rows
    ]
    return AccountsPage(accounts, following)


def connect(token: str, account_id: str) -> Connected:
    """Get the page's own token, which does not expire, and subscribe to its events."""
    path = http.path_segment(account_id)
    body = APP.call("GET", path, token=token, params={"fields": "id,name,access_token"}).body
    page_token = pages.subscribe(APP, account_id, body.get("access_token"))
    name = str(body.get("name") or "")[:200]
    return Connected(account_id, name, Tokens(page_token), {"page_id": account_id})


def disconnect(account: Account) -> None:
    """End the subscription to the page's events."""
    pages.unsubscribe(APP, account.id, account.token)


def profile(account: Account, user_id: str) -> Profile:
    """The customer's name and picture, as far as the provider shows them to the page."""
    body = APP.call(
        "GET", http.path_segment(user_id), token=account.token,
        params={"fields": "first_name,last_name,name,profile_pic"},
    ).body  # fmt: skip
    names = [body.get("first_name"), body.get("last_name")]
    name = body.get("name") or " ".join(str(each) for each in names if each)
    return Profile(name=str(name or ""), avatar_url=str(body.get("profile_pic") or ""))


def fetch(account: Account, file: InboundFile) -> bytes:
    """A customer's file. Its address is open: no credential goes along."""
    if not file.url:
        raise ProviderError(Kind.REQUEST, "The provider does not hand this kind of content over.")
    return http.download(file.url, channel=APP.channel, hosts=settings.SOCIALNET_MEDIA_HOSTS)


def _picture(row: dict[str, Any]) -> str | None:
    url = pages.as_dict(pages.as_dict(row.get("picture")).get("data")).get("url")
    return str(url) if url else None
