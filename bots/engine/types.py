"""The input, output and errors of engines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bots.ingest.image_reencoding import Picture
from bots.search.answer_extraction import Citation, section_of
from bots.search.question_splitting import Part

# The maximum number of characters of a passage that a citation shows.
MAX_CITED_CHARS = 500


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of the bot's content; answers cite it by its `number`, counted from 1."""

    number: int
    document_id: int
    title: str
    url: str | None
    text: str
    page: int | None = None
    # Whether the snippet prevails over snippets that contradict it.
    is_important: bool = False
    # The day from which its document is valid, such as 2026-11-21; empty if it has no start date.
    dated: str = ""
    # The heading above it in the document; empty if there is none.
    heading: str = ""

    @property
    def citation(self) -> Citation:
        """The citation of the whole snippet."""
        return Citation(
            self.document_id,
            self.title,
            self.url,
            self.page,
            quote=self.text[:MAX_CITED_CHARS],
            section=section_of(self.heading, self.title),
            number=self.number,
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the conversation."""

    role: Literal["customer", "assistant"]
    text: str
    # False for the bot's canned replies, and for replies that were rated poor.
    is_answer: bool = True
    # Whether the bot wrote it.
    is_from_bot: bool = False


# The platform's sentences around quotations. `part_unknown` says that one question of a message
# (`{question}`) has no answer while others have. `found` introduces a quotation from snippets in
# which a model found no answer. `found_foreign` introduces a quotation in another language.
SentenceName = Literal["part_unknown", "found", "found_foreign"]


def no_sentence(_: SentenceName) -> str:
    """The default: no sentences around quotations."""
    return ""


@dataclass(frozen=True, slots=True)
class Question:
    """A customer's question; `instructions` come from the bot, `language` is a code such as "vi".

    For the extractive engine:
    - `found`: the search results behind the snippets, one for each question of the message
    - `threshold`: the confidence that a result must reach
    - `is_doubted`: a model found no answer in the snippets
    - `sentence`: gives the platform's sentences around a quotation, in the customer's language

    For engines with a model:
    - `model`: used instead of the engine's own model
    - `temperature`: 0..2; None means 0, or the model's default at OpenAI
    - `setting`: a text that says whom the model represents
    - `now`: a text with the current time; neither it nor `setting` is a source of an answer
    - `fence`: a random word in the delimiters around untrusted text, constant per chat; if empty,
      each request uses a new word
    - `verify_answer`: a judge must confirm the answer before any of it is shown
    - `pictures`: sent with the message, whose text may then be empty
    """

    text: str
    language: str
    instructions: str
    history: tuple[Line, ...]
    snippets: tuple[Snippet, ...]
    found: tuple[Part, ...] = ()
    threshold: float = 0.0
    sentence: Callable[[SentenceName], str] = no_sentence
    is_doubted: bool = False
    model: str = ""
    temperature: float | None = None
    setting: str = ""
    now: str = ""
    fence: str = ""
    verify_answer: bool = False
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A sound file to transcribe.

    `language` is a guess at the spoken language, a code such as "vi"; empty if unknown.
    """

    data: bytes
    file_name: str
    mime_type: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of tokens used, as the server reports it; estimated if the server does not."""

    prompt_tokens: int
    completion_tokens: int

    def plus(self, other: "Usage | None") -> "Usage":
        """The sum of both usages; None counts as 0."""
        if other is None:
            return self
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer, and its sources in the order of their first mention.

    `usage` is None if no model wrote the answer.
    """

    text: str
    citations: tuple[Citation, ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """An unchecked text that a model wrote."""

    text: str
    usage: Usage
    model: str


class EngineError(Exception):
    """The base class of an engine's refusals and failures.

    `usage`: the tokens of the failed attempt, None if unknown.
    """

    def __init__(self, message: str, *, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class Interrupted(Exception):
    """Raised by a toolbox to stop the model: a call needs approval, or a procedure takes over.

    `usage`: the tokens used until then; the engine sets it.
    """

    usage: Usage | None = None


class EngineUnavailable(EngineError):
    """The engine returned no usable text, for example because its server is unreachable."""


class RequestRefused(EngineUnavailable):
    """The server rejected the request, perhaps because of a parameter that it does not know."""


class Refused(EngineError):
    """The engine found no answer in the snippets."""


class NotGrounded(EngineError):
    """The answer is unusable, or the judge rejected it."""
