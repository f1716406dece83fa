"""Who may call an operation, and what is known of the caller here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpRequest

from chatplatform.api.errors import NotAuthenticated


class Caller(Protocol):
    """Who calls, as far as an operation needs it; `str()` names the caller. See identity.auth."""

    @property
    def client_id(self) -> int: ...


@dataclass(frozen=True)
class Access:
    """Who may call an operation: how the caller is found, and how the document says it."""

    name: str
    security: tuple[str, ...]
    authenticate: Callable[[HttpRequest], Caller | None]
    refusal: type[NotAuthenticated] = NotAuthenticated
    # Whether web pages of this origin may call it (CORS); None: no page of another site.
    admits_origin: Callable[[str], bool] | None = None


PUBLIC = Access("public", (), lambda request: None)
