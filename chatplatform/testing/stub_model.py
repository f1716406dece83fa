"""A scripted model server for tests and drills; standard library only.

Modes: ok, slow (slow:2 for two seconds), held (returns `json_answer` after `release.set()`), cut,
500, 503, 429, nonsense, garbled, empty, drip, no_answer, ungrounded, plain (returns JSON to a
request for a stream), flood (never ends), json (returns `json_answer`), no_schema (the same, but
400 to a request with a schema), huge (ten million characters), say:TEXT (returns TEXT). A mode that
is a list of [name, arguments] calls these functions; the arguments are an object or raw text. If
there are several modes, separated by commas, each serves one request, and the last one all later
requests.

Requests to judge an answer use no mode: `confirms` decides whether the judge confirms the
statements, except the invented number of `ungrounded`, which it never confirms. Such requests are
recorded in `confirmations`. Requests to rewrite a follow-up question use `rewrite` instead of a
mode, and every recording is transcribed as `heard`.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chatplatform.testing.servers import serving

SLOW_SECONDS = 30.0
DRIP_SECONDS = 0.2
INVENTED = "987654"
UNGROUNDED = f"It costs {INVENTED} euros, see https://invented.example/offer [1]."
_MODEL = "stub"
# How to respond to a request: the name of a mode, or function calls.
Mode = str | list[Any]
_SNIPPET = re.compile(
    r"<<<SNIPPETS [^>]*>>>\n\[1\][^\n]*\n[^\n]*\n(.*?)(?:\n\n\[2\]|\n<<<END)", re.DOTALL
)
_LAST_LINE = re.compile(r"^customer: (.*)\n<<<END CONVERSATION", re.MULTILINE)
# The numbered statements of an answer to be judged, one per line.
_ANSWER = re.compile(r"<<<ANSWER[^>]*>>>\n(.*?)\n<<<END ANSWER", re.DOTALL)


class StubModel(ThreadingHTTPServer):
    """The server and its script; `requests` holds the body of each requested completion."""

    daemon_threads = True

    def __init__(self, port: int = 0, script: str = "ok", address: str = "127.0.0.1") -> None:
        super().__init__((address, port), _Handler)
        self._lock = threading.Condition()
        self.release = threading.Event()
        self._modes: list[Mode] = []
        self.requests: list[dict[str, Any]] = []
        self.json_answer: Any = {}
        self.confirmations: list[dict[str, Any]] = []
        # Whether it confirms the statements of an answer; None: the script serves such requests.
        self.confirms: bool | None = True
        # The follow-up questions that it had to rewrite, and the function that rewrites one.
        self.follow_ups: list[str] = []
        self.rewrite: Callable[[str], str] = str
        # The bodies of requests to transcribe, and the response to all of them; None: a 500.
        self.recordings: list[bytes] = []
        self.heard: dict[str, Any] | None = {"text": ""}
        # Whether it streams on request, whether a stream ends with a repetition of the whole
        # message, and the media type of its JSON.
        self.streams, self.repeats, self.json_type = True, False, "application/json"
        # The number of prompt tokens that it reports for a streamed answer.
        self.prompt_tokens = 100
        # The reason with which a streamed answer or function call ends; "": the usual one.
        self.finish_reason = ""
        # Cuts an answer into the pieces of a stream.
        self.cut: Callable[[str], list[str]] = re.compile(r"\S+\s*").findall
        self.play(script)

    @property
    def base_url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}/v1"

    def play(self, script: str | list[Mode]) -> None:
        """Replace the script: a list of modes, or a text with modes separated by commas."""
        with self._lock:
            self._modes = (
                [mode.strip() for mode in script.split(",")]
                if isinstance(script, str)
                else list(script)
            )

    def record(self, body: dict[str, Any]) -> Mode:
        """Record a request and return the mode that serves it."""
        with self._lock:
            self.requests.append(body)
            self._lock.notify_all()
            return self._modes.pop(0) if len(self._modes) > 1 else self._modes[0]

    def wait_for_requests(self, count: int) -> None:
        """Wait until this many completions have been requested."""
        with self._lock:
            assert self._lock.wait_for(lambda: len(self.requests) >= count, 60)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Tests close connections on purpose; show any other error.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def running(
    script: str = "ok", port: int = 0, address: str = "127.0.0.1"
) -> AbstractContextManager[StubModel]:
    """A stub on a free port of the loopback, or of another address."""
    return serving(StubModel(port, script, address))


class _Handler(BaseHTTPRequestHandler):
    server: StubModel
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._json({"object": "list", "data": [{"id": _MODEL, "object": "model"}]})
        else:
            self._json({"error": {"message": "not found"}}, 404)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/audio/transcriptions"):
            self._transcribe(raw)
            return
        body = json.loads(raw or b"{}")
        answer = _ANSWER.search(_prompt(body))
        if answer and self.server.confirms is not None:
            self.server.confirmations.append(body)
            statements = answer[1].splitlines() if self.server.confirms else []
            held = [n for n, line in enumerate(statements, start=1) if INVENTED not in line]
            self._json(_whole(json.dumps({"held": held})))
        elif (follow_up := _follow_up(body)) is not None:
            self.server.follow_ups.append(follow_up)
            self._json(_whole(json.dumps({"question": self.server.rewrite(follow_up)})))
        elif self.path.endswith("/chat/completions"):
            self._complete(self.server.record(body), body)
        else:
            self._json({"error": {"message": "not found"}}, 404)

    def _transcribe(self, recording: bytes) -> None:
        self.server.recordings.append(recording)
        if self.server.heard is None:
            self._json({"error": {"message": "scripted 500"}}, 500)
        else:
            self._json(self.server.heard)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, to keep the tests' output readable."""

    def _complete(self, mode: Mode, body: dict[str, Any]) -> None:
        if isinstance(mode, list):
            self._call_functions(mode, body)
        elif mode == "no_schema" and "response_format" in body:
            self._json({"error": {"message": "unknown parameter response_format"}}, 400)
        elif mode in {"json", "no_schema"}:
            self._json(_whole(json.dumps(self.server.json_answer)))
        elif mode == "huge":
            self._json(_whole("x" * 10_000_000))
        elif mode.isdigit():
            self._json({"error": {"message": f"scripted {mode}"}}, int(mode))
        elif mode == "held":
            self.server.release.wait()
            self._json(_whole(json.dumps(self.server.json_answer)))
        elif mode.startswith("slow"):
            time.sleep(float(mode.partition(":")[2] or SLOW_SECONDS))
            self._json(_whole(_quote(body)))
        elif mode == "plain" or not self._is_to_stream(body):
            self._json(_whole(_text(mode, body)))
        else:
            self._stream(mode, body)

    def _call_functions(self, calls: list[Any], body: dict[str, Any]) -> None:
        """Respond with function calls; in a stream, they arrive in pieces, as from real servers."""
        if not self._is_to_stream(body):
            self._json(_whole("", _calls(calls)))
            return
        self._start_stream()
        for index, call in enumerate(_calls(calls)):
            arguments, function = call["function"]["arguments"], call["function"]["name"]
            first = {**call, "index": index, "function": {"name": function, "arguments": ""}}
            self._event(_delta(None, tool_calls=[first]))
            for start in range(0, len(arguments), 7):
                piece = {"arguments": arguments[start : start + 7]}
                self._event(_delta(None, tool_calls=[{"index": index, "function": piece}]))
        self._event(_delta(None, self.server.finish_reason or "tool_calls"))
        self._write(b"data: [DONE]\n\n")

    def _is_to_stream(self, body: dict[str, Any]) -> bool:
        return self.server.streams and bool(body.get("stream"))

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def _stream(self, mode: str, body: dict[str, Any]) -> None:
        self._start_stream()
        if mode == "nonsense":
            self._write(b"data: {this is no json\n\ndata: 7\n\n")
        elif mode == "garbled":
            self._write(b'data: {"choices": [{"delta": {"content": "\xff\xfe\xc3"}}]}\n\n')
        elif mode in {"drip", "flood"}:
            self._stream_endlessly(DRIP_SECONDS if mode == "drip" else 0)
        else:
            self._stream_words(_text(mode, body), is_cut=mode == "cut")

    def _stream_words(self, text: str, *, is_cut: bool) -> None:
        words = self.server.cut(text)
        for word in words[: len(words) // 2] if is_cut else words:
            self._event(_delta(word))
        if is_cut:
            return
        ending = _delta("", self.server.finish_reason or "stop")
        self._event(_whole(text) if self.server.repeats else ending)
        usage = {
            "prompt_tokens": self.server.prompt_tokens, "completion_tokens": len(words),
            "total_tokens": 0,
        }  # fmt: skip
        self._event({**_delta(""), "choices": [], "usage": usage})
        self._write(b"data: [DONE]\n\n")

    def _stream_endlessly(self, pause_seconds: float) -> None:
        # Longer than any caller waits, but bounded, so that a forgotten stub ends.
        for _ in range(100_000):
            self._event(_delta("word. "))
            time.sleep(pause_seconds)

    def _event(self, chunk: dict[str, Any]) -> None:
        self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def _json(self, body: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", self.server.json_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self._write(data)


def _text(mode: str, body: dict[str, Any]) -> str:
    if mode.startswith("say:"):
        return mode.removeprefix("say:")
    fixed = {"empty": "", "no_answer": "NO_ANSWER", "ungrounded": UNGROUNDED}
    return fixed[mode] if mode in fixed else _quote(body)


def _follow_up(body: dict[str, Any]) -> str | None:
    """The customer's last message, if the request is to rewrite it."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    last = _LAST_LINE.search(_prompt(body)) if "question" in schema.get("properties", {}) else None
    return last[1] if last else None


def _prompt(body: dict[str, Any]) -> str:
    return "\n".join(text_of(message.get("content")) for message in body.get("messages", []))


def text_of(content: Any) -> str:
    """The text of a message's content, which may contain pictures too."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return str(content or "")


def _quote(body: dict[str, Any]) -> str:
    """Quote the first sentence of snippet 1 with its citation, as a grounded model does."""
    snippet = _SNIPPET.search(_prompt(body))
    if snippet is None:
        return "Hello."
    sentence = re.split(r"(?<=[.!?。])\s", snippet[1].strip(), maxsplit=1)[0]
    return f"{sentence} [1]"


def _calls(calls: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for n, (name, arguments) in enumerate(calls)
    ]


def _delta(content: str | None, finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content, **fields}, "finish_reason": finish_reason}
    head = {"id": "stub-1", "object": "chat.completion.chunk", "created": 0, "model": _MODEL}
    return {**head, "choices": [choice]}


def _whole(content: str, calls: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop",
    }  # fmt: skip
    usage = {"prompt_tokens": 100, "completion_tokens": len(content.split()), "total_tokens": 0}
    head = {"id": "stub-1", "object": "chat.completion", "created": 0, "model": _MODEL}
    return {**head, "choices": [choice], "usage": usage}
