"""What goes into an engine, what comes out, and how it says no."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of the bot's knowledge; `number` is what an answer cites it by, from 1."""

    number: int
    chunk_id: int
    document_id: int
    title: str
    url: str | None
    text: str
    # Right where it and another contradict each other.
    is_important: bool = False
    # The day since when it holds or is known, as 2026-11-21; empty: not known.
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One earlier message of the conversation."""

    role: Literal["customer", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A customer's turn. `instructions` is the bot's prompt, `language` a code such as "vi"."""

    text: str
    language: str
    instructions: str
    history: tuple[Line, ...]
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the server counted them, else estimated from the text."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer; `cited` holds the snippet numbers in the order of their mention."""

    text: str
    cited: tuple[int, ...]
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, as it wrote it: nobody has checked a word."""

    text: str
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class Health:
    """The outcome of a probe, for people: `detail` never holds a secret."""

    ok: bool
    detail: str
    duration_ms: int


class EngineError(Exception):
    """The base of an engine's refusals and failures; `usage` is what the attempt has cost."""

    def __init__(self, message: str, *, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class EngineUnavailable(EngineError):
    """No usable answer: out of reach, out of time, an error, a cut, nonsense or nothing."""


class RequestRefused(EngineUnavailable):
    """The server does not take such a request, perhaps for a parameter that it does not know."""


class Refused(EngineError):
    """The engine said that the snippets do not hold the answer."""


class NotGrounded(EngineError):
    """The answer cites nothing that exists, or states what the cited snippets do not."""
