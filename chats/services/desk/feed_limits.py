"""Limits on the number of open live feeds per person and per client. Valkey counts the feeds; if it
is unavailable, there is no limit."""

import uuid
from typing import Any, ClassVar

import redis
from django.conf import settings

from chatplatform.api.errors import ApiError
from chatplatform.live import valkey
from identity.models import User

# The maximum number of open feeds per person and per client. A person opens one feed in each
# browser window. The client's limit is enough for a hundred people with ten feeds each, and it
# grows with the client's rate limits.
OF_PERSON, OF_CLIENT = 10, 1_000
# For how many seconds a place is still kept once the next check of its feed is due.
_SPARE_SECONDS = 30
# Keeps a place, or takes it if no set is full. Returns 1 on success, 0 if a set is full. KEYS: sets
# of places, scored by the second at which each place becomes free. ARGV: the place, the seconds to
# keep it, and the limit of each set.
_KEEP = """
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


class Place:
    """The place that a live feed takes within the limits while it is open."""

    def __init__(self, user: User) -> None:
        assert user.client
        self._name = uuid.uuid4().hex
        self._keys = [f"feeds:person:{user.pk}", f"feeds:client:{user.client_id}"]
        self._limits = [OF_PERSON, max(1, round(OF_CLIENT * user.client.rate_limit_factor))]

    def take(self) -> None:
        """Take the place; 429 if none is free."""
        if not self.keep():
            raise TooManyFeeds

    def keep(self) -> bool:
        """Keep the place until after the next check of the feed. False if the place was lost and no
        other place is free."""
        seconds = round(settings.SSE_REAUTH_SECONDS) + _SPARE_SECONDS

        def keep(client: redis.Redis) -> Any:
            count = len(self._keys)
            return client.eval(_KEEP, count, *self._keys, self._name, seconds, *self._limits)

        return bool(_in_valkey(keep, default=True))

    def give_back(self) -> None:
        """Give the place back after its feed has ended."""

        def remove(client: redis.Redis) -> None:
            with client.pipeline(transaction=False) as pipe:
                for key in self._keys:
                    pipe.zrem(key, self._name)
                pipe.execute()

        _in_valkey(remove, None)
