"""How many live feeds are open at once: those of a person, and of all people of a client.

They are counted in Valkey, over all processes. The place of a feed whose process died is free again
after a while; while Valkey is away nobody is counted.
"""

import uuid
from typing import Any, ClassVar

import redis
from django.conf import settings

from chatplatform import valkey
from chatplatform.api.errors import ApiError
from identity.models import User

# One in each of somebody's windows; and a hundred people of a client who all have ten. A client
# whose requests are allowed more often may have more of these too.
OF_PERSON, OF_CLIENT = 10, 1_000
# So long a place is kept beyond the next look at its feed.
_SPARE_SECONDS = 30
# Keeps a place, or takes one where all may have one more; whether it has one now. KEYS: sets of
# places, by the second in which each is free again. ARGV: the place, seconds, how many each holds.
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
    detail = "You, or all people of your client, have as many live feeds open as may be: close one."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "60"}


class Place:
    """The place of a live feed among those that are open."""

    def __init__(self, user: User) -> None:
        assert user.client
        self._name = uuid.uuid4().hex
        self._keys = [f"feeds:person:{user.pk}", f"feeds:client:{user.client_id}"]
        self._most = [OF_PERSON, max(1, round(OF_CLIENT * user.client.rate_limit_factor))]

    def take(self) -> None:
        """Take the place; 429 if there is none."""
        if not self.keep():
            raise TooManyFeeds

    def keep(self) -> bool:
        """Keep the place until after the next look at the feed; whether it still has one."""
        seconds = round(settings.FEED_CHECK_SECONDS) + _SPARE_SECONDS

        def keep(client: redis.Redis) -> Any:
            count = len(self._keys)
            return client.eval(_KEEP, count, *self._keys, self._name, seconds, *self._most)

        return bool(_in_valkey(keep, default=True))

    def give_back(self) -> None:
        """Free the place: its feed has ended."""

        def remove(client: redis.Redis) -> None:
            with client.pipeline(transaction=False) as pipe:
                for key in self._keys:
                    pipe.zrem(key, self._name)
                pipe.execute()

        _in_valkey(remove, None)
