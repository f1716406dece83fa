"""Pages: listed, subscribed, unsubscribed; their customers' names and files."""

from typing import Any

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.socialnet import errors
from channels_app.providers.values import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Profile,
    Tokens,
)

APP = GraphApp("socialnet", errors.KINDS, "SOCIALNET_API_URL")
FIELDS = (
    "messages,messaging_postbacks,messaging_referrals,message_echoes,message_deliveries,"
    "message_reads,message_reactions,message_edits,messaging_feedback,"
    "messaging_policy_enforcement,standby,messaging_handovers"
)
# A person without one of these tasks may not message for the page.
_TASKS = {"MESSAGING", "MODERATE"}


def list_accounts(token: str, *, cursor: str | None, limit: int) -> AccountsPage:
    """The pages in whose name the person may message."""
    body = APP.call(
        "GET", "me/accounts", token=token,
        params={"fields": "id,name,tasks,picture{url}", "limit": limit, "after": cursor},
    ).body  # fmt: skip
    rows = [row for row in _list(body.get("data")) if isinstance(row, dict) and row.get("id")]
    pages = [
        ListedAccount(str(row["id"]), str(row.get("name") or ""), _picture(row))
        for row in rows
        if _TASKS & set(map(str, _list(row.get("tasks"))))
    ]
    paging = body.get("paging")
    after = _dict(_dict(paging).get("cursors")).get("after")
    # Without `next` there is nothing more, even if there is a cursor.
    return AccountsPage(pages, str(after) if _dict(paging).get("next") and after else None)


def connect(token: str, account_id: str) -> Connected:
    """Get the page's own token, which does not expire, and subscribe to its events."""
    path = http.path_segment(account_id)
    body = APP.call("GET", path, token=token, params={"fields": "id,name,access_token"}).body
    page_token = body.get("access_token")
    if not isinstance(page_token, str) or not page_token:
        raise ProviderError(Kind.PERMISSION, "The person has no access to this page's messages.")
    APP.call(
        "POST", f"{path}/subscribed_apps", token=page_token, json={"subscribed_fields": FIELDS}
    )
    name = str(body.get("name") or "")[:200]
    return Connected(account_id, name, Tokens(page_token), {"page_id": account_id})


def disconnect(account: Account) -> None:
    """End the subscription to the page's events."""
    APP.call("DELETE", f"{http.path_segment(account.id)}/subscribed_apps", token=account.token)


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
    url = _dict(_dict(row.get("picture")).get("data")).get("url")
    return str(url) if url else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
