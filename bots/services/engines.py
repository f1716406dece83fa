"""Chooses the engine for a client or bot, charges for its work, and defines its API errors."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, Value
from django.db.models.expressions import Combinable
from django.utils.translation import gettext_noop

from bots.engine import Capability, Engine, text_tasks
from bots.engine.extractive import ExtractiveEngine
from bots.engine.groundedness import SourceCheck
from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.sentences import statements
from bots.engine.text_tasks import Draft, Task, Written
from bots.engine.types import EngineError, Line, Recording, Snippet
from bots.models import Bot, LanguageModel, ModelPurpose
from chatplatform.api.errors import ApiError, NotConfigured
from chatplatform.ids import uuid7
from chatplatform.sql import column_names
from identity.models import Client
from identity.services import credits

# The maximum number of concurrent model calls per client and process, so that a client's slow model
# does not occupy all threads of a worker, which also runs replies.
MAX_CALLS = 8
_SLOT_WAIT_SECONDS = 5
# Tokens reserved for a task's instructions, in addition to the text.
_TASK_TOKENS = 500
_OWN_MODEL = f"""
SELECT {column_names(LanguageModel)} FROM bots_languagemodel
WHERE client_id = %s AND purpose = 'chat' AND (bot_id IS NULL OR bot_id = %s)
ORDER BY bot_id NULLS LAST LIMIT 1
"""
_slots: dict[int, threading.BoundedSemaphore] = {}


class EngineNotConfigured(NotConfigured):
    """This needs a language model, and none is configured."""

    code = "engine_not_configured"
    detail = gettext_noop(
        "This needs a language model. Connect your own, or set LLM_BASE_URL (and LLM_MODEL) on"
        " the server."
    )

    def __init__(self) -> None:
        super().__init__(setting="LLM_BASE_URL")


class EngineDown(ApiError):
    """The model gave no usable answer; nothing was stored or charged."""

    code, status = "engine_unavailable", 503
    detail = gettext_noop("The language model didn't return a usable answer. Try again.")
    headers: ClassVar[dict[str, str]] = {"Retry-After": "30"}


def engine_for(client: Client, bot: Bot | None = None) -> Engine:
    """The engine for a bot or client: the bot's own model, else the client's model, else the
    platform's model. If there is no model, the extractive engine.

    This is the only place that chooses between them.
    """
    own = next(iter(LanguageModel.objects.raw(_OWN_MODEL, [client.pk, bot and bot.pk])), None)
    if own:
        return own_engine(own)
    if not settings.LLM_BASE_URL:
        return ExtractiveEngine()
    return OpenAICompatible(
        settings.LLM_BASE_URL,
        settings.LLM_API_KEY,
        settings.LLM_MODEL,
        reads_pictures=settings.LLM_READS_PICTURES,
        transcription_model=settings.LLM_TRANSCRIPTION_MODEL,
    )


def platform_has_model() -> bool:
    """Whether the platform provides a model to its clients."""
    return bool(settings.LLM_BASE_URL)


def has_model() -> Combinable:
    """An expression for queries of bots: whether a language model is available to the bot."""
    if platform_has_model():
        return Value(True)
    models = LanguageModel.objects.filter(
        client_id=OuterRef("client_id"), purpose=ModelPurpose.CHAT
    )
    return Exists(models.filter(Q(bot=None) | Q(bot=OuterRef("pk"))))


def own_engine(row: LanguageModel) -> OpenAICompatible:
    """The engine of a model that a client connected; it may not reach private addresses."""
    return OpenAICompatible(
        row.base_url,
        row.api_key,
        row.model,
        price=row.credits_per_1000_tokens,
        is_operator_url=False,
        reads_pictures=row.reads_pictures,
        transcription_model=row.transcription_model,
    )


def missing_function_setting(client: Client, bot: Bot) -> str | None:
    """A sentence that says which setting function calling needs; None if the bot's engine can call
    functions."""
    if Capability.CALL_FUNCTIONS in engine_for(client, bot).capabilities:
        return None
    return (
        "The extractive engine calls no functions: set a model of your own, or LLM_BASE_URL and"
        " LLM_MODEL."
    )


@dataclass
class MeteredWork:
    """The work on one result for a client, charged when it ends.

    Its tasks may take `LLM_DEADLINE_SECONDS` in total.
    """

    engine: Engine
    _charge: credits.Reservation
    _tokens: int = 0
    _ends_at: float = field(
        default_factory=lambda: time.monotonic() + settings.LLM_DEADLINE_SECONDS
    )

    @property
    def uses_model(self) -> bool:
        """Whether a model does the work, rather than the rules of the extractive engine."""
        return Capability.WRITE in self.engine.capabilities

    def complete(self, task: Task[Draft]) -> Draft:
        """Have the model carry out a task, and charge the tokens used."""
        return self._settle(self.engine.complete(task, deadline_seconds=self._seconds_left))

    def confirms(self, text: str, sources: Sequence[str]) -> bool:
        """Whether the sources support every statement of a text, by their words and by the model's
        judgment. False also if the model does not judge."""
        found, check = statements(text), SourceCheck(sources)
        is_supported = all(map(check.mostly_supports, found))
        return is_supported and self.confirmed(found, results="\n".join(sources)) == found

    def confirmed(
        self,
        said: Sequence[str],
        *,
        lines: Sequence[Line] = (),
        snippets: Sequence[Snippet] = (),
        results: str = "",
    ) -> list[str]:
        """The statements that the model, asked as a judge, confirms (see `text_tasks.judge`). None
        of them if the model does not judge."""
        if not said:
            return []
        task = text_tasks.judge(said, lines=lines, snippets=snippets, results=results)
        try:
            held = self.complete(task).held
        except EngineError:
            return []
        return [text for number, text in enumerate(said, start=1) if number in held]

    def transcribe(self, recording: Recording) -> str:
        """Have the model transcribe a recording; charges the tokens used, or 1,000 for each started
        minute if the server counts none."""
        return self._settle(
            self.engine.transcribe(recording, deadline_seconds=self._seconds_left)
        ).text

    def _settle(self, written: Written[Draft]) -> Draft:
        self._tokens += written.usage.prompt_tokens + written.usage.completion_tokens
        self._charge.used = credits.price_of_tokens(self._tokens, price=self.engine.price)
        return written.draft

    @property
    def _seconds_left(self) -> float:
        return self._ends_at - time.monotonic()

    def waive_charge(self) -> None:
        """Charge nothing, since the result is no longer needed."""
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
) -> Iterator[MeteredWork]:
    """Yield the work on a text of `characters` characters, which is charged if the block ends
    without an error.

    `key_id`: the key whose daily cap also applies. 402 if the balance or the cap is too low; 503 if
    the task needs a model and there is none, or if the model fails or is overloaded. Store the
    result inside the block, so that nothing is charged if storing fails.
    """
    engine = engine_for(client, bot)
    uses_model = Capability.WRITE in engine.capabilities
    if needs_model and not uses_model:
        raise EngineNotConfigured
    # Reserve one token per character, which is more than any text needs; the rest is released.
    cost = (
        credits.price_of_tokens(characters + _TASK_TOKENS, price=engine.price)
        if uses_model
        else credits.EXTRACTIVE_TASK
    )
    reference = f"{purpose}:{uuid7()}"
    with (
        _slot(client.pk, engine),
        _reported(),
        credits.charge(client.pk, cost=cost, reference=reference, key_id=key_id) as charge,
    ):
        yield MeteredWork(engine, charge)


@contextmanager
def _slot(client_id: int, engine: Engine) -> Iterator[None]:
    if Capability.WRITE not in engine.capabilities:
        yield
        return
    slots = _slots.setdefault(client_id, threading.BoundedSemaphore(MAX_CALLS))
    if not slots.acquire(timeout=_SLOT_WAIT_SECONDS):
        raise EngineDown("The language model is overloaded. Try again.")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def _reported() -> Iterator[None]:
    """Turn an engine's error into 503 `engine_unavailable`."""
    try:
        yield
    except EngineError as exc:
        raise EngineDown from exc
