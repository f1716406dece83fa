"""What identity must know about bots, which are in a higher app; `bots.apps` installs it."""

from typing import Protocol

from chatplatform.hooks import Hook
from identity.models import Client, User


class BotLookup(Protocol):
    """Implemented by the module `bots.services.bots`."""

    def exists(self, client: Client, bot_id: int) -> bool:
        """Whether the client has this bot."""

    def allowed_hosts(self, bot_id: int) -> list[str]:
        """Hosts (`*.` for all subdomains) whose pages may use the bot's public key."""

    def any_allows(self, origin: str) -> bool:
        """Whether a page of `origin` may use the public key of any bot at all."""

    def names(self, client: Client) -> dict[int, str]:
        """The names of the client's bots, by their ids."""

    def languages(self, client: Client) -> list[str]:
        """The languages of the client, or of its bots if it has set none; the default one first."""

    def allow_hosts(self, client: Client, bot_id: int, hosts: str, *, by: User | None) -> None:
        """Set the hosts whose pages may use the bot's public key; 404, or 422 for no hosts."""


bots = Hook[BotLookup]()
