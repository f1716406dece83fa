"""Limits on the number of open live feeds per person and per client, counted in Valkey. If it is
unavailable, there is no limit."""

import uuid
from typing import Any, ClassVar

import redis
from django.conf import settings

from chatplatform.api.errors import ApiError
from chatplatform.live import valkey
from identity.models import User

# A person opens one feed in each browser window. The client's limit is enough for a hundred people
# with ten feeds each, and it grows with the client's rate limits.
MAX_PER_PERSON, MAX_PER_CLIENT = 10, 1_000
# A slot expires this many seconds after its feed's next check is due.
_SPARE_SECONDS = 30
# Renews a slot, or acquires it if no set is full. Returns 1 on success, 0 if a set is full. KEYS:
# sets of slots, scored by the second at which each expires. ARGV: the slot, its lifetime in
# seconds, and the limit of each set.
_RENEW = """
local now = tonumber(redis.call('time')[1])
for at, key in ipairs(KEYS) do
    redis.call('zremrangebyscore', key, '-inf', now)
    local is_new = not redis.call('zscore', key, ARGV[1])
    if is_new and redis.call('zcard', key) >= tonumber(ARGV[2 + at]) then
        return 0
    end
end
for _, key in ipairs(KEYS) do
    redis.call('zadd', key, now + ARGV[2], ARGV[1])
    redis.call('expire', key, ARGV[2])
end
return 1
"""
_in_valkey = valkey.BestEffort("live feeds are not counted")


class TooManyFeeds(ApiError):
    code, status = "too_many_feeds", 429
    detail = "You or your client have too many live feeds open: close one."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "60"}


class FeedSlot:
    """The slot of an open live feed. It counts towards both limits."""

    def __init__(self, user: User) -> None:
        assert user.client
        self._name = uuid.uuid4().hex
        self._keys = [f"feeds:person:{user.pk}", f"feeds:client:{user.client_id}"]
        self._limits = [
            MAX_PER_PERSON,
            max(1, round(MAX_PER_CLIENT * user.client.rate_limit_factor)),
        ]

    def acquire(self) -> None:
        """Acquire the slot; 429 if none is free."""
        if not self.renew():
            raise TooManyFeeds

    def renew(self) -> bool:
        """Renew the slot, so that it outlasts the feed's next check. False if it has expired and no
        other slot is free."""
        seconds = round(settings.SSE_REAUTH_SECONDS) + _SPARE_SECONDS

        def renew(client: redis.Redis) -> Any:
            count = len(self._keys)
            return client.eval(_RENEW, count, *self._keys, self._name, seconds, *self._limits)

        return bool(_in_valkey(renew, default=True))

    def release(self) -> None:
        """Release the slot of an ended feed."""

        def remove(client: redis.Redis) -> None:
            with client.pipeline(transaction=False) as pipe:
                for key in self._keys:
                    pipe.zrem(key, self._name)
                pipe.execute()

        _in_valkey(remove, None)
