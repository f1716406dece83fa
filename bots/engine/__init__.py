"""Engines answer customers and write texts; each is one module that implements `Engine`."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from bots.engine.text_tasks import Draft, Task, TranscriptDraft, Written
from bots.engine.tools import Toolbox
from bots.engine.types import Answer, Question, Recording


class Capability(StrEnum):
    """An ability that only some engines have."""

    WRITE = "write"  # completes text tasks and composes its answers
    CALL_FUNCTIONS = "call_functions"
    READ_PICTURES = "read_pictures"
    TRANSCRIBE = "transcribe"


class Engine(Protocol):
    """Answers only from a `Question` and its toolbox; its own failures are all `EngineError`s."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    @property
    def price(self) -> int:
        """Credits per 1,000 tokens; 0 for an engine that counts no tokens."""

    def answer(
        self,
        question: Question,
        *,
        on_delta: Callable[[str], None],
        deadline_seconds: float,
        toolbox: Toolbox | None = None,
    ) -> Answer:
        """Answer the question; `on_delta` gets the pieces of the text as they arrive.

        The pieces are provisional: discard them after an error, and when the toolbox is called.
        """

    def complete(self, task: Task[Draft], *, deadline_seconds: float) -> Written[Draft]:
        """Write the text that the task asks for; needs `Capability.WRITE`."""

    def transcribe(
        self, recording: Recording, *, deadline_seconds: float
    ) -> Written[TranscriptDraft]:
        """Transcribe a recording; needs `Capability.TRANSCRIBE`."""
