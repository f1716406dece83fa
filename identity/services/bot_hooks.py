"""The functions for bots that the app `identity` calls. Bots are in a higher app, so `bots.apps`
installs the implementation."""

from typing import Protocol

from chatplatform.hooks import Hook
from identity.models import Client, User


class BotLookup(Protocol):
    """Implemented by the module `bots.services.bots`."""

    def exists(self, client: Client, bot_id: int) -> bool:
        """Whether the client has this bot."""

    def allowed_hosts(self, bot_id: int) -> list[str]:
        """The hosts (`*.` for all subdomains) whose pages may use the bot's public key."""

    def any_allows(self, origin: str) -> bool:
        """Whether pages of `origin` may use the public key of at least one bot."""

    def names(self, client: Client) -> dict[int, str]:
        """The names of the client's bots, by their ids."""

    def languages(self, client: Client) -> list[str]:
        """The languages that the client has set, or those of its enabled bots if it has set none.
        The client's default language comes first."""

    def allow_hosts(self, client: Client, bot_id: int, hosts: str, *, by: User | None) -> None:
        """Set the hosts whose pages may use the bot's public key; 404 if the client has no such
        bot, 422 if the hosts are invalid."""

    def keep_days(self, client_id: int, before: str, after: str) -> None:
        """Keep the days from and until which content is valid when the client's time zone changes
        from `before` to `after`."""


bots = Hook[BotLookup]()
