"""Which engine does the work, and how it says that it cannot."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings

from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import EngineError
from bots.engine.writer import Draft, Made, Writer
from chatplatform.api.errors import ApiError
from chatplatform.ids import uuid7
from identity.services import credits

# Calls to a model that this process makes at once: a slow model must not take all its threads.
MAX_CALLS = 8
_SLOT_WAIT_SECONDS = 5
# Tokens of a task's own words, which come on top of the text.
_TASK_TOKENS = 500
_slots = threading.BoundedSemaphore(MAX_CALLS)


class EngineNotConfigured(ApiError):
    """Only a model can do this, and none is set; field `setting` names what to set."""

    code, status = "engine_not_configured", 503
    detail = "This needs a language model: set LLM_BASE_URL (and LLM_MODEL) on the server."

    def __init__(self) -> None:
        super().__init__(setting="LLM_BASE_URL")


class EngineDown(ApiError):
    """The model did not give a usable answer; nothing was stored and nothing is charged."""

    code, status = "engine_unavailable", 503
    detail = "The language model gave no usable answer; try again."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "30"}


def writer() -> Writer | None:
    """The configured model; None where the embedded engine does what it can."""
    if not settings.LLM_BASE_URL:
        return None
    engine = OpenAICompatible(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_MODEL)
    return Writer(engine, deadline_seconds=settings.LLM_DEADLINE_SECONDS)


def needed_writer() -> Writer:
    """The configured model; 503 `engine_not_configured` without one."""
    found = writer()
    if found is None:
        raise EngineNotConfigured
    return found


@dataclass
class Session:
    """One paid piece of work: by the model where there is a `writer`, else embedded."""

    writer: Writer | None
    held: credits.Held

    @property
    def name(self) -> str:
        return self.writer.name if self.writer else "embedded"

    def pay(self, made: Made[Draft]) -> Draft:
        """Charge what the model counted, and give what it wrote."""
        tokens = made.usage.prompt_tokens + made.usage.completion_tokens
        self.held.used = credits.of_tokens(tokens)
        return made.draft

    def waive(self) -> None:
        """Charge nothing: what was made is not needed any more."""
        self.held.used = 0


@contextmanager
def session(
    client_id: int, *, purpose: str, characters: int, needs_model: bool = False
) -> Iterator[Session]:
    """Work on a text of so many characters, charged where the block ends well.

    402 where the balance does not suffice; 503 where only a model could do it and there is none,
    or where the model fails. Store inside the block: what cannot be stored is not charged.
    """
    model = needed_writer() if needs_model else writer()
    # A token a character is more than any text takes: what is not used comes back.
    cost = credits.of_tokens(characters + _TASK_TOKENS) if model else credits.EMBEDDED_TASK
    reference = f"{purpose}:{uuid7()}"
    with (
        _slot(model),
        _reporting(),
        credits.charge(client_id, cost=cost, reference=reference) as held,
    ):
        yield Session(model, held)


@contextmanager
def _slot(model: Writer | None) -> Iterator[None]:
    if model is None:
        yield
        return
    if not _slots.acquire(timeout=_SLOT_WAIT_SECONDS):
        raise EngineDown("The language model has too much to do; try again.")
    try:
        yield
    finally:
        _slots.release()


@contextmanager
def _reporting() -> Iterator[None]:
    """Turn an engine's failure into 503 `engine_unavailable`."""
    try:
        yield
    except EngineError as exc:
        raise EngineDown from exc
