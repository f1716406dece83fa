"""The business accounts that a token may use, and their phone numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from channels_app.providers import http
from channels_app.providers.chatapp import errors, notices
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.graph import consent
from channels_app.providers.graph.client import GraphApp, next_cursor
from channels_app.providers.json_values import as_text, dicts_in

APP = GraphApp("chatapp", "CHATAPP_API_URL", more_kinds=errors.KINDS, retries=errors.RETRIES)
_FIELDS = (
    "id,display_phone_number,verified_name,code_verification_status,platform_type,quality_rating,"
    "whatsapp_business_manager_messaging_limit"
)
_MANAGEMENT_SCOPE = "whatsapp_business_management"
_PAGE_SIZE, _MAX_PAGES = 100, 20


@dataclass(frozen=True)
class Number:
    """A phone number of a business account, and whether it is registered for sending."""

    id: str
    name: str
    business_account_id: str
    is_registered: bool
    quality: str = ""
    sending_limit: str = ""


def find_number(token: str, number_id: str, *, business_account_id: str = "") -> Number:
    """The number with this id, in the given business account or in any that the token may use.

    Raises a `request` error if there is none.
    """
    reached = business_accounts(inspect(token))
    for business_id in [business_account_id] if business_account_id else reached:
        for number in _all_numbers(token, business_id):
            if number.id == number_id:
                return number
    raise ProviderError(Kind.REQUEST, "This token gives no access to this phone number.")


def inspect(token: str) -> dict[str, Any]:
    """The provider's data about a token."""
    return consent.inspect(APP, token)


def business_accounts(token: dict[str, Any]) -> list[str]:
    """The ids of the business accounts to which the token gives our app access."""
    ids = [
        str(target)
        for scope in dicts_in(token.get("granular_scopes"))
        if scope.get("scope") == _MANAGEMENT_SCOPE
        for target in (scope.get("target_ids") or [])
    ]
    return list(dict.fromkeys(ids))


def _all_numbers(token: str, business_id: str) -> Iterator[Number]:
    after = None
    for _ in range(_MAX_PAGES):
        numbers, after = list_numbers(token, business_id, after=after, limit=_PAGE_SIZE)
        yield from numbers
        if after is None:
            return


def list_numbers(
    token: str, business_id: str, *, after: str | None, limit: int
) -> tuple[list[Number], str | None]:
    """One page of a business account's numbers, and the next cursor; None after the last page."""
    body = APP.call(
        "GET", f"{http.path_segment(business_id)}/phone_numbers", token=token,
        params={"fields": _FIELDS, "limit": limit, "after": after},
    ).body  # fmt: skip
    rows = dicts_in(body.get("data"))
    numbers = [_number(row, business_id) for row in rows if row.get("id")]
    return numbers, next_cursor(body)


def _number(row: dict[str, Any], business_id: str) -> Number:
    names = [row.get("verified_name"), row.get("display_phone_number")]
    is_registered = (
        row.get("platform_type") != "NOT_APPLICABLE"
        and row.get("code_verification_status") != "NOT_VERIFIED"
    )
    name = " ".join(str(item) for item in names if item)[:200]
    quality = as_text(row.get("quality_rating")).lower()[:20]
    return Number(
        str(row["id"]), name, business_id, is_registered,
        quality="" if quality == "unknown" else quality,
        sending_limit=notices.limit_of(row.get("whatsapp_business_manager_messaging_limit")),
    )  # fmt: skip
