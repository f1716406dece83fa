"""The engine for models behind any OpenAI-compatible endpoint.

The model is told to answer only from the snippets and to cite them. Its answer is streamed sentence
by sentence until one is in doubt (see `streaming_guardrail`). If there is a doubt, a judge decides
whether the snippets support the answer; the judge is the same model, asked again. If the answer
must be verified, the judge is always asked, and nothing is streamed before the verdict. Every error
of the server is raised as EngineUnavailable.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bots.engine import Capability, prompting, text_tasks, tools
from bots.engine.prompting import fenced
from bots.engine.sentences import statements
from bots.engine.streaming_guardrail import StreamingGuardrail
from bots.engine.text_tasks import Draft, Task, TranscriptDraft, Written
from bots.engine.types import (
    Answer,
    Completion,
    EngineUnavailable,
    Interrupted,
    Line,
    NotGrounded,
    Question,
    Recording,
    Refused,
    RequestRefused,
    Usage,
)
from chatplatform import egress
from chatplatform.observing import tracing

# A little more than an answer of MAX_ANSWER_CHARS needs in most languages, so that the server stops
# soon after that length.
MAX_ANSWER_TOKENS = 1_500
MAX_STREAM_BYTES = 4_000_000
# The number of tokens assumed for a picture or a minute of a recording if the server reports none.
TOKENS_PER_MEDIA_FILE = 1_000
# If the server reports more prompt or completion tokens than this for one request, this many are
# charged: the report must be wrong.
MAX_TOKENS = 2_000_000
_RETRY_PAUSE_SECONDS = 0.3
_PATH = "/chat/completions"
# Some reasoning models write their thoughts into the text, between these tags; some servers drop
# the opening tag.
_THOUGHTS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# Matches what may be the beginning of such a tag at the end of a piece of text.
_PARTIAL_TAG = re.compile(r"</?[a-z]{0,9}\Z", re.IGNORECASE)


class OpenAICompatible:
    """A chat model at `base_url`.

    `is_operator_url`: the operator has set the URL, so its host may have a private address.
    `price`: credits per 1,000 tokens. `transcription_model` is the name of the server's model for
    recordings; empty if there is none.
    """

    name = "openai_compatible"

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        price: int = 1,
        is_operator_url: bool = True,
        reads_pictures: bool = False,
        transcription_model: str = "",
    ) -> None:
        capabilities = {Capability.WRITE, Capability.CALL_FUNCTIONS}
        capabilities |= {Capability.READ_PICTURES} if reads_pictures else set()
        capabilities |= {Capability.TRANSCRIBE} if transcription_model else set()
        self.capabilities = frozenset(capabilities)
        self._transcription_model = transcription_model
        self._base_url = base_url
        self._api_key = api_key
        self._model = model
        self.price = price
        self._is_operator_url = is_operator_url

    def answer(
        self,
        question: Question,
        *,
        on_delta: Callable[[str], None],
        deadline_seconds: float = 45,
        toolbox: tools.Toolbox | None = None,
    ) -> Answer:
        """Stream an answer to `on_delta` and return the checked answer; raises an EngineError.

        The streamed text is provisional: discard it after an EngineError, and when the toolbox
        makes a call. `deadline_seconds` covers everything, including retries and function calls.
        Exceptions from `on_delta` or the toolbox are raised unchanged, except that an Interrupted
        gets the usage so far.
        """
        if not question.snippets and toolbox is None:
            raise Refused("There are no snippets to answer from.")
        ends_at = time.monotonic() + deadline_seconds
        fence = question.fence or secrets.token_hex(4)
        messages = prompting.messages(question, fence, rules=tools.RULES if toolbox else "")
        exchange = tools.Exchange(
            toolbox or tools.NOTHING, lambda result: fenced("RESULT", result, fence)
        )
        messages += exchange.earlier()
        ask = partial(
            self._write_answer, question, messages, exchange, on_delta=on_delta, ends_at=ends_at
        )
        model, guardrail, used = ask(Usage(0, 0))
        if guardrail.is_foreign and not guardrail.rejection_reason:
            messages += prompting.language_request(guardrail.text, question.language)
            model, guardrail, used = ask(used)
        try:
            used = self._verified(question, guardrail, used, ends_at)
        except NotGrounded as error:
            if not guardrail.lacks_own_citation or guardrail.rejection_reason:
                raise
            # Nothing of this answer was shown, so the model may write it once more.
            messages += prompting.citation_request(guardrail.text)
            model, guardrail, used = ask(error.usage or used)
            used = self._verified(question, guardrail, used, ends_at)
        if rest := guardrail.approve():
            on_delta(rest)
        snippets = {snippet.number: snippet for snippet in question.snippets}
        citations = tuple(snippets[number].citation for number in guardrail.cited)
        return Answer(guardrail.text.strip(), citations, model, used)

    def _write_answer(
        self,
        question: Question,
        messages: list[dict[str, Any]],
        exchange: tools.Exchange,
        used: Usage,
        *,
        on_delta: Callable[[str], None],
        ends_at: float,
    ) -> tuple[str, StreamingGuardrail, Usage]:
        """Request an answer, carrying out function calls until the model writes one.

        Returns the model's name, the guardrail that holds the answer, and the usage so far. Raises
        Refused if the model finds no answer.
        """
        while True:
            results = exchange.evidence if exchange.has_results else None
            guardrail = StreamingGuardrail(question, results)
            options = exchange.options() | self._options(
                MAX_ANSWER_TOKENS, question.model, question.temperature
            )
            ask = partial(self._ask, messages, guardrail, on_delta, ends_at, options)
            with _used_before(used):
                draft = _with_retry(ask, ends_at)
            used = used.plus(draft.usage or _estimated_usage(messages, draft.text))
            calls = draft.calls.found or exchange.written_calls(draft.text)
            if not calls:
                break
            with _used_before(used):
                messages += exchange.carry_out(calls)
        if guardrail.is_refusal:
            raise Refused("The model found no answer in the snippets.", usage=used)
        return draft.model or question.model or self._model, guardrail, used

    def _verified(
        self, question: Question, guardrail: StreamingGuardrail, used: Usage, ends_at: float
    ) -> Usage:
        """Check the answer, asking the judge if necessary, and return the usage so far.

        Raises NotGrounded if the answer is unusable or the judge rejects it.
        """
        if guardrail.rejection_reason:
            raise NotGrounded(guardrail.rejection_reason, usage=used)
        is_doubted = bool(guardrail.doubts) or guardrail.lacks_citation
        if not (question.verify_answer or is_doubted):
            return used
        answer, snippets = statements(guardrail.text.strip()), question.snippets
        if not is_doubted and not guardrail.has_added_citation:
            snippets = tuple(snippet for snippet in snippets if snippet.number in guardrail.cited)
        task = text_tasks.judge(
            answer,
            lines=(*question.history, Line("customer", question.text)),
            snippets=snippets,
            results=guardrail.results or "",
            setting=question.setting,
            now=question.now,
            pictures=question.pictures,
        )
        with _used_before(used):
            options = self._options(task.max_tokens, question.model)
            verdict = self._completed(task, options, ends_at)
        used = used.plus(verdict.usage)
        if set(verdict.draft.held) != set(range(1, len(answer) + 1)):
            doubts = "".join(f" In no snippet: {doubt}." for doubt in guardrail.doubts)
            raise NotGrounded(f"The judge does not confirm the answer.{doubts}", usage=used)
        return used

    def complete(self, task: Task[Draft], *, deadline_seconds: float) -> Written[Draft]:
        """Write the text that the task asks for; tries again once if the first text is invalid."""
        options = self._options(task.max_tokens)
        return self._completed(task, options, time.monotonic() + deadline_seconds)

    def transcribe(
        self, recording: Recording, *, deadline_seconds: float
    ) -> Written[TranscriptDraft]:
        """Transcribe a recording with the server's transcription model."""
        ends_at = time.monotonic() + deadline_seconds
        file = (recording.file_name, recording.data, recording.mime_type)
        hint = {"language": recording.language} if recording.language else {}
        with (
            tracing.span("model", model=self._transcription_model),
            _failures(_Draft()),
            self._sdk(ends_at) as sdk,
        ):
            response = sdk.audio.transcriptions.create(
                file=file, model=self._transcription_model, **hint
            )
            transcription = response.model_dump()
            draft = TranscriptDraft.model_validate(transcription)
        usage = _transcription_usage(transcription.get("usage"))
        return Written(draft, usage, self._transcription_model)

    def _completed(
        self, task: Task[Draft], options: dict[str, Any], ends_at: float
    ) -> Written[Draft]:
        first = self._completion(task, options, ends_at)
        draft = task.read(first.text)
        if draft is not None:
            return Written(draft, first.usage, first.model)
        again = {"role": "user", "content": "That did not fit the JSON Schema. Answer once more."}
        with _used_before(first.usage):
            asking = [*task.messages(with_schema=True), again]
            second = self._request_with_retry(asking, options, ends_at)
        usage = first.usage.plus(second.usage)
        draft = task.read(second.text)
        if draft is None:
            raise EngineUnavailable("The model's answer does not fit what was asked.", usage=usage)
        return Written(draft, usage, second.model)

    def _completion(self, task: Task[Any], options: dict[str, Any], ends_at: float) -> Completion:
        """Request a complete text, which is not checked yet.

        The task's JSON Schema is a parameter of the request, or part of the prompt if the server
        rejects that parameter.
        """
        named = {"name": "answer", "schema": task.schema, "strict": True}
        json_schema = {"response_format": {"type": "json_schema", "json_schema": named}}
        try:
            return self._request_with_retry(task.messages(), options | json_schema, ends_at)
        except RequestRefused:
            # Many servers do not support the parameter.
            return self._request_with_retry(task.messages(with_schema=True), options, ends_at)

    def _request_with_retry(
        self, messages: list[dict[str, Any]], options: dict[str, Any], ends_at: float
    ) -> Completion:
        with tracing.span("model", model=self._model):
            draft = _with_retry(partial(self._request, messages, options, ends_at), ends_at)
        usage = draft.usage or _estimated_usage(messages, draft.text)
        return Completion(draft.text, usage, draft.model or self._model)

    def _request(
        self, messages: list[dict[str, Any]], options: dict[str, Any], ends_at: float
    ) -> "_Draft":
        draft = _Draft()
        with _failures(draft), self._sdk(ends_at) as sdk:
            body = {"messages": messages, **options}
            response = sdk.post(_PATH, cast_to=object, body=body)
            # The response is a str if the server does not declare it as JSON.
            whole = json.loads(response) if isinstance(response, str) else response
            for _ in draft.read([_as_chunk(whole)]):
                pass
            draft.check_complete()
        return draft

    def _ask(
        self,
        messages: list[dict[str, Any]],
        guardrail: StreamingGuardrail,
        on_delta: Callable[[str], None],
        ends_at: float,
        options: dict[str, Any],
    ) -> "_Draft":
        """Make one request and stream the answer through the guardrail.

        Raises _Retriable only before the first chunk.
        """
        draft = _Draft()
        with (
            tracing.span("model", model=self._model),
            _failures(draft),
            self._sdk(ends_at) as sdk,
            closing(self._open(sdk, messages, options)) as chunks,
        ):
            pieces = draft.read(chunks)
            while (piece := next(pieces, None)) is not None:
                with _wrap_callers_errors():
                    if shown := guardrail.feed(piece):
                        on_delta(shown)
                if guardrail.is_full:
                    # A function call may be incomplete, so none is carried out.
                    draft.calls = tools.Calls()
                    break
            else:
                draft.check_complete()
        if not guardrail.is_refusal and not draft.calls.found:
            is_cut = guardrail.is_full or draft.finish_reason == "length"
            if shown := guardrail.end(is_cut=is_cut):
                on_delta(shown)
        return draft

    @contextmanager
    def _sdk(self, ends_at: float) -> Iterator[Any]:
        # Imported on first use: the import takes two seconds and 40 MB, and many processes never
        # use a model.
        import openai  # noqa: PLC0415

        left = ends_at - time.monotonic()
        if left <= 0:
            raise EngineUnavailable("The model server did not answer in time.")
        with egress.client(
            timeout_seconds=left,
            max_bytes=MAX_STREAM_BYTES,
            purpose="model",
            allow={egress.host_port(self._base_url)} if self._is_operator_url else (),
        ) as client:
            yield openai.OpenAI(
                base_url=self._base_url,
                # Local servers need no key, but the package requires one.
                api_key=self._api_key or "none",
                http_client=client,
                timeout=left,
                max_retries=0,
            )

    def _open(
        self, sdk: Any, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> Generator[Any]:
        """The chunks of the response; a single chunk if the server does not stream.

        Chunks are plain JSON, since the package's own types would cost half a millisecond per word.
        """
        import openai  # noqa: PLC0415

        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        body = {"messages": messages, **streamed, **options}
        chunks = openai.Stream[object]
        with sdk.post(_PATH, cast_to=object, body=body, stream=True, stream_cls=chunks) as stream:
            if "json" in stream.response.headers.get("content-type", ""):
                stream.response.read()
                yield _as_chunk(stream.response.json())
            else:
                yield from stream

    def _options(
        self, max_tokens: int, model: str = "", temperature: float | None = None
    ) -> dict[str, Any]:
        """The request options for the model, the token limit and the temperature."""
        options: dict[str, Any] = {"model": model or self._model}
        # OpenAI has renamed `max_tokens`. Some of its models reject any temperature but their
        # default, so a temperature is sent only if one is set. Other servers know the old name and
        # accept any temperature.
        if self._base_url.startswith("https://api.openai.com/"):
            if_set = {} if temperature is None else {"temperature": temperature}
            return options | {"max_completion_tokens": max_tokens, **if_set}
        return options | {"max_tokens": max_tokens, "temperature": temperature or 0}


@contextmanager
def _used_before(used: Usage) -> Iterator[None]:
    """Add the tokens `used` earlier to the usage of an EngineUnavailable or Interrupted."""
    try:
        yield
    except (EngineUnavailable, Interrupted) as error:
        error.usage = used.plus(error.usage) if used.prompt_tokens else error.usage
        raise


class _Retriable(EngineUnavailable):
    """A failure before the first chunk of an answer; a second attempt may succeed."""


def _with_retry(ask: Callable[[], "_Draft"], ends_at: float) -> "_Draft":
    try:
        return ask()
    except _Retriable:
        time.sleep(min(_RETRY_PAUSE_SECONDS, max(ends_at - time.monotonic(), 0)))
        return ask()


class _CallersError(Exception):
    """Carries an error of the caller's `on_delta` past the handlers for the server's errors."""


@contextmanager
def _wrap_callers_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _CallersError from error


@contextmanager
def _failures(draft: "_Draft") -> Iterator[None]:
    """Turn every error of the server, the network and the package into EngineUnavailable."""
    import openai  # noqa: PLC0415

    try:
        yield
    except _CallersError as error:
        raise error.__cause__ or error from None
    except EngineUnavailable:
        raise
    except openai.APIStatusError as error:
        status = error.status_code
        if status in {400, 422}:
            raise RequestRefused(f"The model server answered {status}.") from error
        raise _unavailable(
            f"The model server answered {status}.", draft, may_retry=status >= 500
        ) from error
    except egress.Timeout as error:
        raise _unavailable("The model server did not answer in time.", draft) from error
    except egress.ConnectionFailed as error:
        raise _unavailable(f"The model server: {error}", draft, may_retry=True) from error
    except egress.EgressError as error:
        raise _unavailable(f"The model server: {error}", draft) from error
    except Exception as error:
        # The package may raise anything when it reads bad JSON, bad UTF-8 or unexpected types.
        raise _unavailable("The model server's response cannot be read.", draft) from error


def _unavailable(text: str, draft: "_Draft", *, may_retry: bool = False) -> EngineUnavailable:
    if may_retry and not draft.has_begun:
        return _Retriable(text)
    return EngineUnavailable(text)


@dataclass(slots=True)
class _Draft:
    """The text received so far, and what the server reports about it."""

    text: str = ""
    model: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    has_begun: bool = False
    calls: tools.Calls = field(default_factory=tools.Calls)
    is_thinking: bool = False
    # The end of the latest piece if it may be the beginning of a tag, else empty.
    begun_tag: str = ""

    def read(self, chunks: Iterable[Any]) -> Iterator[str]:
        """Yield the pieces of text.

        A network error after the finish reason is ignored: only the usage can be missing then.
        """
        try:
            for chunk in chunks:
                self.has_begun = True
                piece = self._without_thoughts(self._take(chunk))
                # Models put empty lines between their thoughts and the answer.
                if piece := piece if self.text else piece.lstrip():
                    self.text += piece
                    yield piece
        except egress.EgressError:
            if self.finish_reason is None:
                raise
        if self.begun_tag and not self.is_thinking:
            self.text += self.begun_tag
            yield self.begun_tag

    def _without_thoughts(self, piece: str) -> str:
        """The piece without the model's thoughts, which come before its answer.

        Raises EngineUnavailable if a thought follows the beginning of the answer.
        """
        text = self.begun_tag + piece
        begun = _PARTIAL_TAG.search(text)
        self.begun_tag = begun[0] if begun else ""
        answer, start = "", 0
        for tag in _THOUGHTS.finditer(text):
            if not self.is_thinking and not tag[1]:
                answer += text[start : tag.start()]
            elif not self.is_thinking and self.text.strip():
                raise EngineUnavailable("The model server mixes thoughts into the answer.")
            elif not self.is_thinking:
                answer = ""
            self.is_thinking, start = not tag[1], tag.end()
        rest = text[start : len(text) - len(self.begun_tag)]
        return answer if self.is_thinking else answer + rest

    def _take(self, chunk: Any) -> str:
        if isinstance(model := chunk.get("model"), str):
            self.model = model
        self.usage = _usage(chunk.get("usage")) or self.usage
        if not chunk.get("choices"):
            return ""
        choice = chunk["choices"][0]
        # Some servers end a stream with the whole message, which is ignored: we have its text.
        part = choice.get("delta") or {}
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        self.calls.add(part.get("tool_calls"))
        content = part.get("content")
        if content is not None and not isinstance(content, str):
            raise TypeError("content is not text")
        return content or ""

    def check_complete(self) -> None:
        if self.finish_reason is None:
            # This includes a response without any chunk.
            raise EngineUnavailable("The model server's answer was cut off.")
        if self.calls.found:
            if self.finish_reason not in {"tool_calls", "stop"}:
                raise EngineUnavailable("The model server's function call was cut off.")
            return
        if self.finish_reason not in {"stop", "length", "eos", "eos_token", "end_turn"}:
            raise EngineUnavailable("The model server ended the answer for a reason of its own.")
        if not self.text.strip():
            raise EngineUnavailable("The model server's answer is empty.")


def _as_chunk(whole: dict[str, Any]) -> dict[str, Any]:
    """Turn a whole response into the only chunk of a stream."""
    choices = whole.get("choices") or ()
    return whole | {"choices": [choice | {"delta": choice.get("message")} for choice in choices]}


def _usage(reported: Any) -> Usage | None:
    reported = reported if isinstance(reported, dict) else {}
    prompt, completion = reported.get("prompt_tokens"), reported.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return Usage(min(max(prompt, 0), MAX_TOKENS), min(max(completion, 0), MAX_TOKENS))


def _estimated_usage(messages: list[dict[str, Any]], text: str) -> Usage:
    # A request must be charged even if the server reports no usage, so four characters are counted
    # as one token, rounded up.
    prompt = sum(_characters(message["content"]) for message in messages)
    return Usage(-(-prompt // 4), -(-len(text) // 4))


def _characters(content: str | list[dict[str, Any]]) -> int:
    """The length of a message in characters; a picture counts as 4,000 characters."""
    if isinstance(content, str):
        return len(content)
    return sum(len(part.get("text", "")) or 4 * TOKENS_PER_MEDIA_FILE for part in content)


def _transcription_usage(reported: Any) -> Usage:
    """The tokens of a transcription.

    If the server reports none, 1,000 tokens are counted for each started minute. If it reports no
    valid length either, one minute is assumed.
    """
    reported = reported if isinstance(reported, dict) else {}
    prompt, completion = reported.get("input_tokens"), reported.get("output_tokens")
    if isinstance(prompt, int) and isinstance(completion, int):
        return Usage(min(max(prompt, 0), MAX_TOKENS), min(max(completion, 0), MAX_TOKENS))
    seconds = reported.get("seconds")
    # A server's JSON may contain NaN and Infinity.
    is_valid = (
        isinstance(seconds, (int, float)) and 0 < seconds < 60 * MAX_TOKENS / TOKENS_PER_MEDIA_FILE
    )
    minutes = -(-seconds // 60) if is_valid else 1
    return Usage(int(minutes) * TOKENS_PER_MEDIA_FILE, 0)
