"""Who may call an operation, and who did."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest

from chatplatform.api.errors import NotAuthenticated

if TYPE_CHECKING:
    from identity.models import ApiKey, Client, User


@dataclass(frozen=True)
class Principal:
    """Who calls: a client, and the person or the key that speaks for it."""

    client: "Client"
    user: "User | None" = None
    key: "ApiKey | None" = None

    def __str__(self) -> str:
        if self.key:
            return f"key:{self.key.pk}"
        return f"user:{self.user.pk if self.user else None}"


@dataclass(frozen=True)
class Access:
    """Who may call an operation: how the caller is found, and how the document says it."""

    name: str
    security: tuple[str, ...]
    authenticate: Callable[[HttpRequest], Principal | None]
    refusal: type[NotAuthenticated] = NotAuthenticated


PUBLIC = Access("public", (), lambda request: None)
