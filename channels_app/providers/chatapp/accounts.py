"""Business accounts and their numbers: listed, registered, subscribed; customers' files."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from channels_app.providers import http
from channels_app.providers.chatapp import errors
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Tokens,
)

APP = GraphApp("chatapp", errors.KINDS, "CHATAPP_API_URL", retries=errors.RETRIES)
_FIELDS = "id,display_phone_number,verified_name,code_verification_status,platform_type"
_MANAGES = "whatsapp_business_management"
_AT_ONCE, _MOST_PAGES = 100, 20


@dataclass(frozen=True)
class Number:
    """A number, the business account that has it, and whether it must be registered to send."""

    id: str
    name: str
    business_account_id: str
    is_registered: bool


def list_accounts(token: str, *, cursor: str | None, limit: int) -> AccountsPage:
    """The numbers of all business accounts that the token reaches, one account after the other.

    The cursor holds the business account and the provider's own cursor in it.
    """
    business_ids = _business_accounts(_inspect(token))
    business_id, _, after = (cursor or "").partition(":")
    if business_id in business_ids:
        business_ids = business_ids[business_ids.index(business_id) :]
    elif cursor:
        return AccountsPage([])
    if not business_ids:
        return AccountsPage([])
    numbers, following = _numbers(token, business_ids[0], after=after or None, limit=limit)
    if following:
        next_cursor: str | None = f"{business_ids[0]}:{following}"
    else:
        next_cursor = f"{business_ids[1]}:" if len(business_ids) > 1 else None
    return AccountsPage([ListedAccount(each.id, each.name) for each in numbers], next_cursor)


def find_number(token: str, number_id: str, *, business_account_id: str = "") -> Number:
    """A number that the token reaches, of this business account if one is named."""
    reached = _business_accounts(_inspect(token))
    for business_id in [business_account_id] if business_account_id else reached:
        for number in _all_numbers(token, business_id):
            if number.id == number_id:
                return number
    raise ProviderError(Kind.REQUEST, "The token reaches no such number.")


def connect(token: str, number: Number, *, pin: str) -> Connected:
    """Register the number if it has to be, and subscribe to its business account's events."""
    if not number.is_registered:
        APP.call(
            "POST", f"{http.path_segment(number.id)}/register", token=token,
            json={"messaging_product": "whatsapp", "pin": pin},
        )  # fmt: skip
    APP.call("POST", _subscription(number.business_account_id), token=token, json={})
    ends_at = _inspect(token).get("expires_at")
    lasts = None
    if isinstance(ends_at, int) and 0 < ends_at < 10**10:
        lasts = datetime.fromtimestamp(ends_at, UTC) - timezone.now()
    details = {"business_account_id": number.business_account_id}
    return Connected(number.id, number.name, Tokens(token, lasts), details)


def disconnect(account: Account) -> None:
    """End the subscription to the business account's events. The number stays registered."""
    business_id = str(account.details["business_account_id"])
    APP.call("DELETE", _subscription(business_id), token=account.token)


def fetch(account: Account, file: InboundFile) -> bytes:
    """A customer's file: its address lives five minutes, and is given for the token alone."""
    if not file.media_id:
        raise ProviderError(Kind.REQUEST, "The provider does not hand this kind of content over.")
    found = APP.call(
        "GET", http.path_segment(file.media_id), token=account.token,
        params={"phone_number_id": account.id},
    ).body  # fmt: skip
    return http.download(
        str(found.get("url") or ""), channel=APP.channel, hosts=settings.CHATAPP_MEDIA_HOSTS,
        headers={"Authorization": f"Bearer {account.token}"},
    )  # fmt: skip


def _inspect(token: str) -> dict[str, Any]:
    """What the provider says of a token, asked in the name of our app."""
    own = f"{APP.setting('APP_ID')}|{APP.setting('APP_SECRET')}"
    data = APP.call("GET", "debug_token", token=own, params={"input_token": token}).body.get("data")
    if not isinstance(data, dict) or data.get("is_valid") is False:
        raise ProviderError(Kind.TOKEN, "The provider does not accept this token any more.")
    return data


def _business_accounts(token: dict[str, Any]) -> list[str]:
    """The business accounts that the person chose for our app."""
    granted = token.get("granular_scopes")
    ids = [
        str(target)
        for scope in (granted if isinstance(granted, list) else [])
        if isinstance(scope, dict) and scope.get("scope") == _MANAGES
        for target in (scope.get("target_ids") or [])
    ]
    return list(dict.fromkeys(ids))


def _all_numbers(token: str, business_id: str) -> Iterator[Number]:
    after = None
    for _ in range(_MOST_PAGES):
        numbers, after = _numbers(token, business_id, after=after, limit=_AT_ONCE)
        yield from numbers
        if after is None:
            return


def _numbers(
    token: str, business_id: str, *, after: str | None, limit: int
) -> tuple[list[Number], str | None]:
    body = APP.call(
        "GET", f"{http.path_segment(business_id)}/phone_numbers", token=token,
        params={"fields": _FIELDS, "limit": limit, "after": after},
    ).body  # fmt: skip
    rows, paging = body.get("data"), body.get("paging")
    numbers = [
        _number(row, business_id)
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and row.get("id")
    ]
    if not isinstance(paging, dict) or not paging.get("next"):
        return numbers, None
    cursors = paging.get("cursors")
    following = cursors.get("after") if isinstance(cursors, dict) else None
    return numbers, str(following) if following else None


def _number(row: dict[str, Any], business_id: str) -> Number:
    names = [row.get("verified_name"), row.get("display_phone_number")]
    is_registered = (
        row.get("platform_type") != "NOT_APPLICABLE"
        and row.get("code_verification_status") != "NOT_VERIFIED"
    )
    name = " ".join(str(each) for each in names if each)[:200]
    return Number(str(row["id"]), name, business_id, is_registered)


def _subscription(business_id: str) -> str:
    return f"{http.path_segment(business_id)}/subscribed_apps"
