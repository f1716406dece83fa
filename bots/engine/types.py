"""What goes into an engine, what comes out, and its errors."""

from dataclasses import dataclass
from typing import Literal

from bots.knowledge.question_splitting import Part

# How much of a passage a citation shows.
MAX_CITED_CHARS = 500


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer, and the words of it that count."""

    document_id: int
    title: str
    url: str | None
    page: int | None
    quote: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of the bot's knowledge; `number` is what an answer cites it by, from 1."""

    number: int
    document_id: int
    title: str
    url: str | None
    text: str
    page: int | None = None
    # Prevails over snippets that contradict it.
    is_important: bool = False
    # The day since when it is valid or known, as 2026-11-21; empty: not known.
    dated: str = ""
    # Of the part of the document where it stands; empty: none.
    heading: str = ""

    @property
    def citation(self) -> Citation:
        """How an answer cites the snippet as a whole."""
        return Citation(
            self.document_id, self.title, self.url, self.page, quote=self.text[:MAX_CITED_CHARS]
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One earlier message of the conversation."""

    role: Literal["customer", "assistant"]
    text: str
    # False: a reply that solves nothing: it says that it does not know, or was rated as wrong.
    is_answer: bool = True


@dataclass(frozen=True, slots=True)
class Wording:
    """The platform's sentences around a quotation, in the customer's language."""

    # What is said of a `{question}` that no document answers, beside others.
    part_unknown: str = ""
    # Above a quotation that a model found no answer in, and above one in another language.
    found: str = ""
    found_foreign: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A customer's question; `instructions` is the bot's prompt, `language` a code such as "vi".

    `found` is what the snippets were made of, question by question, for the engine that quotes by
    sentence; `threshold` is what a gate must reach; `is_doubted`: a model found no answer there. A
    prompt may ask for another model, and for a `temperature` of 0..2; None: as little randomness as
    possible. `setting` says for whom a model writes, and when; it is no source of figures.
    `verify_answer`: a judge must confirm the answer before any of it is shown.
    """

    text: str
    language: str
    instructions: str
    history: tuple[Line, ...]
    snippets: tuple[Snippet, ...]
    found: tuple[Part, ...] = ()
    threshold: float = 0.0
    wording: Wording = Wording()
    is_doubted: bool = False
    model: str = ""
    temperature: float | None = None
    setting: str = ""
    verify_answer: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as counted by the server, else estimated from the text."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer with its sources, in the order of their mention; `usage`: of a model."""

    text: str
    citations: tuple[Citation, ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of a model, unchecked."""

    text: str
    usage: Usage
    model: str


class EngineError(Exception):
    """The base of an engine's refusals and failures; `usage` is what the attempt cost."""

    def __init__(self, message: str, *, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class EngineUnavailable(EngineError):
    """No usable answer: out of reach, out of time, an error, a cut, nonsense or nothing."""


class RequestRefused(EngineUnavailable):
    """The server rejects such a request, perhaps because of a parameter that it does not know."""


class Refused(EngineError):
    """The snippets do not hold the answer, says the engine."""


class NotGrounded(EngineError):
    """The answer says nothing, or a judge does not confirm that its sources hold it."""
