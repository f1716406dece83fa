"""Engines: what answers a customer and writes texts. Each is one module behind `Engine`."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from bots.engine.text_tasks import Draft, Task, Written
from bots.engine.tools import Toolbox
from bots.engine.types import Answer, Question


class Capability(StrEnum):
    """What not every engine can do."""

    WRITE = "write"  # completes text tasks, and composes its answers
    CALL_FUNCTIONS = "call_functions"


class Engine(Protocol):
    """Answers from what it is given; every failure is an `EngineError`."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    @property
    def price(self) -> int:
        """Credits for 1,000 tokens, if it counts any."""

    def answer(
        self,
        question: Question,
        *,
        on_delta: Callable[[str], None],
        deadline_seconds: float,
        toolbox: Toolbox | None = None,
    ) -> Answer:
        """The answer, whose pieces go to `on_delta` as they come; they are provisional.

        After an error, and before a call of the toolbox, the pieces so far do not count.
        """

    def complete(self, task: Task[Draft], *, deadline_seconds: float) -> Written[Draft]:
        """The text that the task asks for; needs `Capability.WRITE`."""
