"""Which engine does the work, what its work costs, and the errors that callers see."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings

from bots.engine import Capability, Engine
from bots.engine.embedded import EmbeddedEngine
from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.text_tasks import Draft, Task
from bots.engine.types import EngineError
from bots.models import Bot, LanguageModel
from chatplatform.api.errors import ApiError, NotConfigured
from chatplatform.ids import uuid7
from chatplatform.sql import column_names
from identity.models import Client
from identity.services import credits

# Texts that models write for one client in this process at once: its slow model must not take all
# threads of a worker, where replies run too.
MAX_CALLS = 8
_SLOT_WAIT_SECONDS = 5
# Tokens of a task's own words, which come on top of the text.
_TASK_TOKENS = 500
_OWN_MODEL = f"""
SELECT {column_names(LanguageModel)} FROM bots_languagemodel
WHERE client_id = %s AND (bot_id IS NULL OR bot_id = %s)
ORDER BY bot_id NULLS LAST LIMIT 1
"""
_slots: dict[int, threading.BoundedSemaphore] = {}


class EngineNotConfigured(NotConfigured):
    """Only a model can do this, and none is set."""

    code = "engine_not_configured"
    detail = (
        "This needs a language model: a model of your own, or LLM_BASE_URL (and LLM_MODEL) on the"
        " server."
    )

    def __init__(self) -> None:
        super().__init__(setting="LLM_BASE_URL")


class EngineDown(ApiError):
    """The model did not give a usable answer; nothing was stored and nothing is charged."""

    code, status = "engine_unavailable", 503
    detail = "The language model gave no usable answer; try again."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "30"}


def engine_for(client: Client, bot: Bot | None = None) -> Engine:
    """The engine that works for a client and its bot: a model of the bot's own, else of the
    client's, else the platform's. The only reader of all three.
    """
    own = next(iter(LanguageModel.objects.raw(_OWN_MODEL, [client.pk, bot and bot.pk])), None)
    if own:
        return own_engine(own)
    if not settings.LLM_BASE_URL:
        return EmbeddedEngine()
    return OpenAICompatible(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_MODEL)


def own_engine(row: LanguageModel) -> OpenAICompatible:
    """The engine of a model of somebody's own, which reaches no private address."""
    return OpenAICompatible(
        row.base_url,
        row.api_key,
        row.model,
        price=row.credits_per_1000_tokens,
        is_operators=False,
    )


def why_no_functions(client: Client, bot: Bot) -> str | None:
    """The setting that function calling lacks; None if it works."""
    if Capability.CALL_FUNCTIONS in engine_for(client, bot).capabilities:
        return None
    return (
        "The embedded engine calls no functions: set a model of your own, or LLM_BASE_URL and"
        " LLM_MODEL."
    )


@dataclass
class PaidWork:
    """One piece of work for a client, charged at its end."""

    engine: Engine
    _charge: credits.Reservation

    @property
    def is_written(self) -> bool:
        """Whether a model does it; else the rules of the embedded engine do."""
        return Capability.WRITE in self.engine.capabilities

    def complete(self, task: Task[Draft]) -> Draft:
        """Have a text written; what the model counted is charged."""
        written = self.engine.complete(task, deadline_seconds=settings.LLM_DEADLINE_SECONDS)
        tokens = written.usage.prompt_tokens + written.usage.completion_tokens
        self._charge.used = credits.price_of_tokens(tokens, price=self.engine.price)
        return written.draft

    def make_free(self) -> None:
        """Charge nothing: the result is not needed any more."""
        self._charge.used = 0


@contextmanager
def paid_work(
    client: Client,
    *,
    bot: Bot | None = None,
    purpose: str,
    characters: int,
    needs_model: bool = False,
    key_id: int | None = None,
) -> Iterator[PaidWork]:
    """Work on a text of so many characters, charged if the block ends well.

    `key_id`: the key whose daily cap holds too. 402 if the balance, or the cap, does not suffice;
    503 if only a model could do it and there is none, or if the model fails. Store inside the
    block: what cannot be stored is not charged.
    """
    engine = engine_for(client, bot)
    is_written = Capability.WRITE in engine.capabilities
    if needs_model and not is_written:
        raise EngineNotConfigured
    # A token a character is more than any text takes: what is not used comes back.
    cost = (
        credits.price_of_tokens(characters + _TASK_TOKENS, price=engine.price)
        if is_written
        else credits.EMBEDDED_TASK
    )
    reference = f"{purpose}:{uuid7()}"
    with (
        _slot(client.pk, engine),
        _reported(),
        credits.charge(client.pk, cost=cost, reference=reference, key_id=key_id) as charge,
    ):
        yield PaidWork(engine, charge)


@contextmanager
def _slot(client_id: int, engine: Engine) -> Iterator[None]:
    if Capability.WRITE not in engine.capabilities:
        yield
        return
    slots = _slots.setdefault(client_id, threading.BoundedSemaphore(MAX_CALLS))
    if not slots.acquire(timeout=_SLOT_WAIT_SECONDS):
        raise EngineDown("The language model has too much to do; try again.")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def _reported() -> Iterator[None]:
    """Turn an engine's failure into 503 `engine_unavailable`."""
    try:
        yield
    except EngineError as exc:
        raise EngineDown from exc
