"""Rate limits of callers: requests per minute, a visitor's messages per ten seconds, bytes per day.

Each limit is a sliding window of the library `limits`, stored in Valkey. One script counts a
request against all its quotas in one round trip. While Valkey is unavailable, each process counts
separately.
"""

import hashlib
import ipaddress
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from chatplatform.api.errors import TooManyRequests
from chatplatform.api.request_context import current_address
from chatplatform.live import valkey

WINDOW_SECONDS, BURST_SECONDS, DAY_SECONDS = 60, 10, 86_400
# Requests per minute.
PUBLIC_KEY_AND_ADDRESS = 300
# A known visitor's requests per minute that cause no reply, such as polls for a reply (12 a
# minute). They are counted per visitor because an office's visitors share one address.
VISITOR = 120
ADDRESS_VISITORS = 1_500
PUBLIC_KEY = 6_000
SECRET_KEY = 12_000
PERSON = 6_000
ANONYMOUS_ADDRESS = 1_200
# Requests per minute for the site's pages, counted separately from requests to the API. A page
# that shows running work reloads every few seconds; the desk uses the API.
PERSON_PAGES = 600
ADDRESS_PAGES = 1_200
# A visitor's requests per minute that may cause a reply.
VISITORS_REPLIES = 20
# Replies to a visitor per `BURST_SECONDS`. Without this limit, many visitors could each send a
# minute's messages at once, which is more than two cores can store.
VISITORS_BURST = 5
# Bytes of files per day: for a visitor two and a half times the largest message, and for an address
# four times as much. The limit for a public key depends on the disk and is a setting.
VISITORS_BYTES = 250_000_000
ADDRESS_BYTES = 1_000_000_000
# Requests per minute that may cause a reply, shared by all visitors of a public key at one address,
# since one person can become a new visitor at will, or keep many tokens. `NEWCOMERS` is for
# visitors without a token: in an office, each person is a newcomer only once.
NEWCOMERS = 20
ADDRESS_REPLIES = 60
# The names of quotas that apply to callers with a key.
KEY_QUOTAS = {
    "key",
    "page",
    "visitor",
    "address_visitors",
    "replies",
    "burst",
    "newcomers",
    "visitors",
}


@dataclass(frozen=True)
class Quota:
    """`holder` may use `amount` in `window` seconds; the headers call the quota `name`.

    `cost` is how much this request counts: 1, or the bytes of its files.
    """

    name: str
    holder: str
    amount: int
    window: int = WINDOW_SECONDS
    cost: int = 1

    @property
    def item(self) -> RateLimitItem:
        return RateLimitItemPerSecond(self.amount, self.window, namespace=self.name)


@dataclass(frozen=True)
class QuotaStatus:
    """The state of a caller's quota after this request."""

    quota: Quota
    is_exceeded: bool
    remaining: int
    # Seconds until the current window's requests begin to count less, or, if the quota is exceeded,
    # until a request is allowed again.
    exact_seconds: float

    @property
    def seconds(self) -> int:
        return max(1, math.ceil(self.exact_seconds))


class RateLimitResult:
    """The quotas that a request counted against, and their state."""

    def __init__(self, statuses: Sequence[QuotaStatus]) -> None:
        self.statuses = statuses

    @property
    def refusal(self) -> TooManyRequests | None:
        waits = [status.seconds for status in self.statuses if status.is_exceeded]
        return TooManyRequests(max(waits)) if waits else None

    def later(self, passed: float) -> "RateLimitResult | None":
        """The result after `passed` seconds; None if an exceeded quota may allow a request then."""
        statuses = [
            replace(status, exact_seconds=status.exact_seconds - passed) for status in self.statuses
        ]
        is_over = any(status.is_exceeded and status.exact_seconds <= 0 for status in statuses)
        return None if is_over else RateLimitResult(statuses)

    def write_to(self, response: HttpResponseBase) -> None:
        """Set the headers of draft-ietf-httpapi-ratelimit-headers."""
        policy = [f'"{s.quota.name}";q={s.quota.amount};w={s.quota.window}' for s in self.statuses]
        left = [f'"{s.quota.name}";r={s.remaining};t={s.seconds}' for s in self.statuses]
        response["RateLimit-Policy"] = ", ".join(policy)
        response["RateLimit"] = ", ".join(left)


def scaled(amount: int, factor: float = 1) -> int:
    """A limit, scaled by a client's factor and this installation's RATE_LIMIT_SCALE."""
    return max(1, round(amount * factor * settings.RATE_LIMIT_SCALE))


def of_address(address: str) -> tuple[Quota, ...]:
    """The quota of a caller without a valid credential, counted by address."""
    return (Quota("address", counted_address(address), scaled(ANONYMOUS_ADDRESS)),)


def of_page(request: HttpRequest) -> tuple[Quota, ...]:
    """The quota for the site's pages, which belongs to the signed-in person or else the address."""
    reader: Any = getattr(request, "viewed_by", getattr(request, "user", None))
    if reader is None or not reader.is_authenticated:
        address = counted_address(current_address())
        return (Quota("pages", address, scaled(ADDRESS_PAGES)),)
    factor = reader.client.rate_limit_factor if reader.client else 1
    return (Quota("pages", f"user:{reader.pk}", scaled(PERSON_PAGES, factor)),)


def counted_address(address: str) -> str:
    """The address by which requests are counted: for IPv6 the /64 network, which usually belongs to
    one household."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))


def count(quotas: Sequence[Quota]) -> RateLimitResult:
    """Count a request against each quota, or against none if one is exceeded."""
    statuses = _in_valkey(lambda client: _windows().count(client, quotas), None)
    return RateLimitResult(statuses or _count_locally(quotas))


def undo_count(quotas: Sequence[Quota]) -> None:
    """Undo the count of a request that failed. While Valkey is unavailable, the request stays
    counted."""
    if quotas:
        _in_valkey(lambda client: _windows().undo_count(client, quotas), None)


# Counts a request against each quota, or against none if one is exceeded: otherwise one visitor's
# refused requests would use up what all visitors share. The script uses the library's counters.
# KEYS: for each quota the counters of the previous and current window. ARGV: for each quota the
# amount, the window (ms) and the cost.
_COUNT = """
local rows, is_free = {}, 1
for at = 1, #KEYS, 2 do
    local before, now, first = KEYS[at], KEYS[at + 1], (at - 1) / 2 * 3
    local amount, window = tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
    local cost, left = tonumber(ARGV[first + 3]), redis.call('pttl', now)
    if left > 0 and left < window then
        redis.call('rename', now, before)
        left = left + window
        redis.call('set', now, 0, 'PX', left)
    end
    local earlier = tonumber(redis.call('get', before) or 0)
    local earlier_left = math.max(0, redis.call('pttl', before))
    local current = tonumber(redis.call('get', now) or 0)
    local used = math.floor(earlier * earlier_left / window) + current
    local fits = used + cost <= amount and 1 or 0
    is_free = math.min(is_free, fits)
    rows[#rows + 1] = {fits, earlier, earlier_left, current, left, now, window, cost}
end
for _, row in ipairs(is_free == 1 and rows or {}) do
    if row[5] > 0 then
        redis.call('incrby', row[6], row[8])
    else
        row[5] = 2 * row[7]
        redis.call('set', row[6], row[8], 'PX', row[5])
    end
    row[4] = row[4] + row[8]
end
return rows
"""
_COUNT_SHA = hashlib.sha1(_COUNT.encode(), usedforsecurity=False).hexdigest()
# Does nothing if the window has ended.
_GIVE_BACK = "if redis.call('exists', KEYS[1]) == 1 then redis.call('decrby', KEYS[1], ARGV[1]) end"
_in_valkey = valkey.BestEffort("requests are counted in each process alone")


class _Windows(RedisStorage):
    """The library's windows, read and counted in one round trip for all quotas of a request."""

    def count(self, client: redis.Redis, quotas: Sequence[Quota]) -> list[QuotaStatus]:
        keys = [key for quota in quotas for key in self._keys(quota)]
        figures = [
            figure for item in quotas for figure in (item.amount, item.window * 1000, item.cost)
        ]
        try:
            [rows] = valkey.round_trip([("EVALSHA", _COUNT_SHA, len(keys), *keys, *figures)])
        except redis.exceptions.NoScriptError:
            rows = client.eval(_COUNT, len(keys), *keys, *figures)
        return [_status_of(quota, *row[:5]) for quota, row in zip(quotas, rows, strict=True)]

    def undo_count(self, client: redis.Redis, quotas: Sequence[Quota]) -> None:
        with client.pipeline(transaction=False) as pipeline:
            for quota in quotas:
                pipeline.eval(_GIVE_BACK, 1, self._keys(quota)[1], quota.cost)
            pipeline.execute()

    def _keys(self, quota: Quota) -> tuple[str, str]:
        key = quota.item.key_for(quota.holder)
        return (
            self.prefixed_key(self._previous_window_key(key)),
            self.prefixed_key(self._current_window_key(key)),
        )


@cache
def _windows() -> _Windows:
    return _Windows(settings.REDIS_URL, connection_pool=valkey.shared().connection_pool)


def _status_of(  # noqa: PLR0917 - a row of `_COUNT`
    quota: Quota, fits: int, earlier: int, earlier_ms: int, current: int, left_ms: int
) -> QuotaStatus:
    earlier_left = earlier_ms / 1000
    seconds = max(0.0, left_ms / 1000 - quota.window)
    used = earlier * earlier_left / quota.window + current
    limit = quota.amount - (quota.cost - 1)
    if not fits and earlier and current < limit:
        # A request is allowed as soon as enough of the previous window has passed.
        seconds = earlier_left - (limit - current) * quota.window / earlier
    remaining = max(0, quota.amount - math.floor(used)) if fits else 0
    return QuotaStatus(quota, not fits, remaining, seconds)


@cache
def _local_limiter() -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(MemoryStorage())


def _count_locally(quotas: Sequence[Quota]) -> list[QuotaStatus]:
    limiter = _local_limiter()
    free = [limiter.test(quota.item, quota.holder, cost=quota.cost) for quota in quotas]
    if all(free):
        free = [limiter.hit(quota.item, quota.holder, cost=quota.cost) for quota in quotas]
    statuses = []
    for quota, is_free in zip(quotas, free, strict=True):
        remaining = limiter.get_window_stats(quota.item, quota.holder).remaining
        statuses.append(QuotaStatus(quota, not is_free, remaining if is_free else 0, quota.window))
    return statuses
