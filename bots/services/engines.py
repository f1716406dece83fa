"""Which engine does the work, and how it says that it cannot."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from django.conf import settings

from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import EngineError
from bots.engine.writer import Writer
from chatplatform.errors import ApiError


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


@contextmanager
def reporting() -> Iterator[None]:
    """Turn an engine's failure into 503 `engine_unavailable`."""
    try:
        yield
    except EngineError as exc:
        raise EngineDown from exc
