"""How many requests a caller may make in a minute, and a visitor in a few seconds.

Sliding windows of the library `limits`, in Valkey: whatever a request counts for is counted in one
pipelined round trip. While Valkey is away, each process counts for itself.
"""

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

from chatplatform import valkey
from chatplatform.api.errors import TooManyRequests
from chatplatform.api.request_context import current_address

WINDOW_SECONDS, BURST_SECONDS, DAY_SECONDS = 60, 10, 86_400
# Requests in a minute.
PUBLIC_KEY_AND_ADDRESS = 300
PUBLIC_KEY = 6_000
SECRET_KEY = 12_000
PERSON = 6_000
ANONYMOUS_ADDRESS = 1_200
# Pages of the site, beside what its person, or anybody at its address, asks of the API. A page with
# work under way asks again each second or two, and the desk lives on the API.
PERSONS_PAGES = 600
ADDRESS_PAGES = 1_200
VISITORS_REPLIES = 20
# And in `BURST_SECONDS`: a minute's messages at once, of each visitor of a flood, are more than two
# cores can store meanwhile.
VISITORS_BURST = 5
# Bytes of files that visitors send in a day: a visitor two and a half of the largest messages, an
# address what four such visitors send. A page's are in the settings: they depend on the disk.
VISITORS_BYTES = 250_000_000
ADDRESS_BYTES = 1_000_000_000
# Of one page's visitors at one address, together: whoever begins anew is a new visitor each time,
# and whoever keeps the tokens is many. Each of an office's people needs one of NEWCOMERS, once.
NEWCOMERS = 20
ADDRESS_REPLIES = 60
# The names of the quotas of those who call with a key.
OF_KEYS = {"key", "page", "replies", "burst", "newcomers", "visitors"}


@dataclass(frozen=True)
class Quota:
    """`amount` requests in a `window` of whoever `holder` names; answers call it `name`.

    `cost`: what this request counts for, if its bytes are counted.
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
class Standing:
    """Where a caller stands with a quota after this request."""

    quota: Quota
    is_exceeded: bool
    remaining: int
    # Until the requests of the passing window begin to count less; or until one is free again.
    exact_seconds: float

    @property
    def seconds(self) -> int:
        return max(1, math.ceil(self.exact_seconds))


class Allowance:
    """What a request counted for, and what is left of it."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        self.standings = standings

    @property
    def refusal(self) -> TooManyRequests | None:
        waits = [each.seconds for each in self.standings if each.is_exceeded]
        return TooManyRequests(max(waits)) if waits else None

    def later(self, passed: float) -> "Allowance | None":
        """The same after some seconds; None if more may be allowed by then."""
        standings = [
            replace(each, exact_seconds=each.exact_seconds - passed) for each in self.standings
        ]
        is_over = any(each.is_exceeded and each.exact_seconds <= 0 for each in standings)
        return None if is_over else Allowance(standings)

    def write_to(self, response: HttpResponseBase) -> None:
        """Set the headers of draft-ietf-httpapi-ratelimit-headers."""
        policy = [f'"{s.quota.name}";q={s.quota.amount};w={s.quota.window}' for s in self.standings]
        left = [f'"{s.quota.name}";r={s.remaining};t={s.seconds}' for s in self.standings]
        response["RateLimit-Policy"] = ", ".join(policy)
        response["RateLimit"] = ", ".join(left)


def scaled(amount: int, factor: float = 1) -> int:
    """A limit as this site, and this client, have it."""
    return max(1, round(amount * factor * settings.RATE_LIMIT_SCALE))


def of_address(address: str) -> tuple[Quota, ...]:
    """The quota of a caller of whom only the address is known."""
    return (Quota("address", counted_address(address), scaled(ANONYMOUS_ADDRESS)),)


def of_page(request: HttpRequest) -> tuple[Quota, ...]:
    """The quota of a page's reader: of whoever has signed in to the site, else of the address."""
    reader: Any = getattr(request, "viewed_by", getattr(request, "user", None))
    if reader is None or not reader.is_authenticated:
        address = counted_address(current_address())
        return (Quota("pages", address, scaled(ADDRESS_PAGES)),)
    factor = reader.client.rate_limit_factor if reader.client else 1
    return (Quota("pages", f"user:{reader.pk}", scaled(PERSONS_PAGES, factor)),)


def counted_address(address: str) -> str:
    """The address to count by; of IPv6 the /64 network, since one household has all of it."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))


def count(quotas: Sequence[Quota]) -> Allowance:
    """Count a request for each quota; for none of them, if one is exceeded."""
    standings = _in_valkey(lambda client: _windows().count(client, quotas), None)
    return Allowance(standings or _count_here(quotas))


def give_back(quotas: Sequence[Quota]) -> None:
    """Count a request for nothing that came to nothing; while Valkey is away it stays counted."""
    if quotas:
        _in_valkey(lambda client: _windows().give_back(client, quotas), None)


# A window that has ended is not begun anew.
_GIVE_BACK = "if redis.call('exists', KEYS[1]) == 1 then redis.call('decrby', KEYS[1], ARGV[1]) end"
_in_valkey = valkey.BestEffort("requests are counted in each process alone")


class _Windows(RedisStorage):
    """The library's windows; its scripts run together."""

    def count(self, client: redis.Redis, quotas: Sequence[Quota]) -> list[Standing]:
        try:
            standings = self._run(quotas)
        except redis.exceptions.NoScriptError:
            for script in (self.lua_acquire_sliding_window, self.lua_sliding_window):
                client.script_load(script.script)
            standings = self._run(quotas)
        counted = [each.quota for each in standings if not each.is_exceeded]
        if len(counted) < len(standings):
            # Else refused requests of one visitor would use up what all visitors share.
            with client.pipeline(transaction=False) as pipeline:
                for quota in counted:
                    pipeline.decrby(self._keys(quota)[1], quota.cost)
                pipeline.execute()
        return standings

    def give_back(self, client: redis.Redis, quotas: Sequence[Quota]) -> None:
        with client.pipeline(transaction=False) as pipeline:
            for quota in quotas:
                pipeline.eval(_GIVE_BACK, 1, self._keys(quota)[1], quota.cost)
            pipeline.execute()

    def _run(self, quotas: Sequence[Quota]) -> list[Standing]:
        acquire, look = self.lua_acquire_sliding_window.sha, self.lua_sliding_window.sha
        # Not the library's own calls: each is a round trip, and asks first for its script.
        commands: list[tuple[Any, ...]] = []
        for quota in quotas:
            keys = self._keys(quota)
            commands += [
                ("EVALSHA", acquire, 2, *keys, quota.amount, quota.window, quota.cost),
                ("EVALSHA", look, 2, *keys, quota.window),
            ]
        answers = valkey.round_trip(commands)
        return [
            _standing(quota, bool(acquired), window)
            for quota, acquired, window in zip(quotas, answers[::2], answers[1::2], strict=True)
        ]

    def _keys(self, quota: Quota) -> tuple[str, str]:
        key = quota.item.key_for(quota.holder)
        return (
            self.prefixed_key(self._previous_window_key(key)),
            self.prefixed_key(self._current_window_key(key)),
        )


@cache
def _windows() -> _Windows:
    return _Windows(settings.REDIS_URL, connection_pool=valkey.shared().connection_pool)


def _standing(quota: Quota, acquired: bool, window: Sequence[bytes | int | None]) -> Standing:  # noqa: FBT001
    earlier, earlier_ms, current, current_ms = (int(value or 0) for value in window)
    earlier_left = max(0, earlier_ms) / 1000
    until_next = max(0.0, current_ms / 1000 - quota.window)
    used = earlier * earlier_left / quota.window + current
    seconds = until_next
    most = quota.amount - (quota.cost - 1)
    if not acquired and earlier and current < most:
        # One is free again as soon as enough of the window before has passed.
        seconds = earlier_left - (most - current) * quota.window / earlier
    remaining = max(0, quota.amount - math.floor(used)) if acquired else 0
    return Standing(quota, not acquired, remaining, seconds)


@cache
def _here() -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(MemoryStorage())


def _count_here(quotas: Sequence[Quota]) -> list[Standing]:
    limiter = _here()
    free = [limiter.test(quota.item, quota.holder, cost=quota.cost) for quota in quotas]
    if all(free):
        free = [limiter.hit(quota.item, quota.holder, cost=quota.cost) for quota in quotas]
    standings = []
    for quota, is_free in zip(quotas, free, strict=True):
        remaining = limiter.get_window_stats(quota.item, quota.holder).remaining
        standings.append(Standing(quota, not is_free, remaining if is_free else 0, quota.window))
    return standings
