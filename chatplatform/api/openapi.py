"""Builds the served OpenAPI document from the operations' declarations."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin

from django.conf import settings
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from chatplatform.api import idempotency
from chatplatform.api.error_schemas import (
    Error,
    HTTPValidationError,
    codes_with_status,
    error_schema,
)
from chatplatform.api.errors import CODES
from chatplatform.api.operation import (
    Form,
    Operation,
    OperationViewSet,
    RawResponse,
    Reply,
    listed,
)
from chatplatform.api.operation_ids import operation_id
from chatplatform.api.path_parameter_descriptions import describe_parameter
from chatplatform.api.schemas import required_to_create, shown_example
from chatplatform.live.streaming import STORED_EVENT

REASONS = {
    202: "Accepted; no body.",
    302: "Redirects to the `redirect_uri`.",
    304: "Nothing changed since the ETag in If-None-Match; no body.",
    400: "Malformed request, for example an unreadable body or a wrong Host header.",
    401: "No credential, or one that is invalid or has expired.",
    402: "Not enough credits, or no active subscription.",
    403: "The credential is valid, but its holder may not do this.",
    404: "Not found, or another company's.",
    409: "Not possible in the current state.",
    408: "The body arrived too slowly.",
    413: "The body is too large.",
    415: "The body has an unsupported media type.",
    431: "The headers are too large: more than 16 KiB.",
    429: "Too many requests or attempts; wait for the seconds in `Retry-After`.",
    502: "Another server refused, or could not be reached.",
    422: "A field is missing or invalid: each item of `detail` says where (`loc`) and what is wrong"
    " (`msg`).",
    503: "Not possible now; the code says why.",
}
# For operations that take no credential and identify the caller otherwise, such as by a signature.
_WITHOUT_CALLER = {
    401: "Refused: the description says why.",
    403: "Refused: the description says why.",
}
# The meanings of codes that many operations share. A response explains a code only if the
# operation's description does not name it.
_MEANINGS = {
    "channel_not_configured": "this server is not set up for the channel",
    "client_frozen": "the company is being moved, and nothing was done: try again in a moment",
    "engine_unavailable": "the model gave no usable answer, and nothing was stored or charged: try"
    " again",
    "idempotency_key_reused": "the key came with another body; this error has a `code`",
    "insufficient_credits": "the credits that are left do not cover the call",
    "invalid_visitor_token": "the Visitor-Token is wrong or has expired",
    "provider_refused": "the messaging provider refused, or could not be reached",
    "request_in_flight": "the first request with this Idempotency-Key is not finished",
    "subscription_inactive": "the trial or the plan has ended",
    "too_many_files": f"more than {settings.MAX_UPLOAD_FILES} files; fewer, but more than the field"
    " takes, are a 422",
    "unavailable": "a part of the platform can't be reached or is full: try again later",
}


def only_operations(endpoints: list[Any], **_: Any) -> list[Any]:
    """The endpoints that `operation()` declares, always in the same order."""
    declared = [entry for entry in endpoints if issubclass(entry[3].cls, OperationViewSet)]
    positions = {entry[0]: position for position, entry in reversed(list(enumerate(declared)))}
    # DRF keeps the methods of a path in a set, whose order varies.
    return sorted(declared, key=lambda entry: (positions[entry[0]], entry[2]))


class OperationSchema(AutoSchema):
    """Describes an operation by its `Operation`; drf-spectacular would guess from serializers."""

    @property
    def declared(self) -> Operation:
        method: Any = getattr(self.view, self.view.action)  # type: ignore[attr-defined]
        operation: Operation = method.operation
        return operation

    def get_operation_id(self) -> str:
        path = self.path + self.declared.path_suffix
        return operation_id(self.method, path, self.declared.name)

    def get_summary(self) -> str:
        return self.declared.name

    def get_description(self) -> str:  # type: ignore[override] # drf-spectacular's own form
        admitted = self.declared.access.admitted(self.method)
        callers = f"For {listed(admitted)}." if admitted else "Needs no access token or API key."
        return re.sub(r"\n\s+", "\n", f"{self.declared.description}\n\n{callers}")

    def get_tags(self) -> list[str]:
        return [self.declared.tag]

    def is_deprecated(self) -> bool:
        return self.declared.deprecated is not None

    def get_auth(self) -> list[dict[str, list[str]]]:
        return [{scheme: []} for scheme in self.declared.access.security]

    def get_override_parameters(self) -> list[Any]:
        return []

    def _get_parameters(self) -> list[dict[str, Any]]:
        return [*self._path_parameters(), *self._query_parameters(), *self._header_parameters()]

    def _header_parameters(self) -> list[dict[str, Any]]:
        parameters = []
        if self.declared.access.takes_visitor:
            names_chat = "<" in self.path_regex
            parameters.append(VISITOR_TOKEN if names_chat else VISITOR_TOKEN_TO_OPEN)
        if self.method == "POST":
            is_known = self.declared.access.security
            parameters.append(IDEMPOTENCY_KEY if is_known else IDEMPOTENCY_KEY_WITHOUT_CALLER)
        if 304 in self.declared.also:
            parameters.append(IF_NONE_MATCH)
        if STORED_EVENT in self.declared.streams:
            parameters.append(LAST_EVENT_ID)
        return parameters

    def _path_parameters(self) -> list[dict[str, Any]]:
        return [
            {
                "in": "path",
                "name": name,
                "required": True,
                "description": describe_parameter(name),
                "schema": CONVERTED[converter] | PATTERNS.get(name, {}),
            }
            for converter, name in re.findall(r"<(?:(\w+):)?(\w+)>", self.path_regex)
        ]

    def _query_parameters(self) -> list[dict[str, Any]]:
        if not self.declared.query:
            return []
        schema = self._inline(self.declared.query, "validation")
        required = set(schema.get("required", ()))
        return [
            {
                "in": "query",
                "name": name,
                "required": name in required,
                "description": part.get("description", ""),
                "schema": _of_parameter(part),
            }
            for name, part in schema["properties"].items()
        ]

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        body = self.declared.body
        if body is None:
            return None
        schema_class = body.schema if isinstance(body, Form) else body
        media_types = body.media_types if isinstance(body, Form) else ("application/json",)
        content: dict[str, Any] = {"schema": self._ref(schema_class, "validation")}
        if self.method == "POST" and (needed := required_to_create(schema_class)):
            content["schema"] = {**content["schema"], "required": needed}
        if shown := shown_example(schema_class):
            content["example"] = shown
        return {
            "content": {media_type: dict(content) for media_type in media_types},
            "required": not self.declared.body_is_optional,
        }

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        declared = self.declared
        bodies = {str(declared.status): self._success(declared.returns)}
        if declared.streams:
            if declared.returns is None:
                bodies["200"]["description"] = "A stream of server-sent events."
            bodies["200"].setdefault("content", {})["text/event-stream"] = self._stream(
                declared.streams
            )
        for status, schema_class in declared.also.items():
            bodies[str(status)] = (
                self._success(schema_class) if status < 300 else self._refusal(status, schema_class)
            )
        for status in self._usual_refusals():
            bodies.setdefault(str(status), self._refusal(status, None))
        for code, body in bodies.items():
            if names := self._headers(code):
                body["headers"] = {name: {"$ref": f"{_HEADERS}{name}"} for name in names}
        return dict(sorted(bodies.items()))

    def _headers(self, status: str) -> list[str]:
        is_success, is_post = status < "300", self.method == "POST"
        is_error = self.declared.also.get(int(status)) in {None, Error}
        sent = {
            "RateLimit-Policy": self.declared.is_counted and (is_success or status == "429"),
            "RateLimit": self.declared.is_counted and (is_success or status == "429"),
            # With `request_in_flight`, `unavailable` and others.
            "Retry-After": is_error and status in {"429", "503"} | ({"409"} if is_post else set()),
            "X-Request-ID": is_success,
            "Idempotent-Replayed": is_success and is_post,
        }
        return [name for name, is_sent in sent.items() if is_sent]

    def _usual_refusals(self) -> list[int]:
        declared, access = self.declared, self.declared.access
        # An operation that viewers may call is open to all people, so it needs no 403, unless it
        # also takes keys: a key gets a 403 for a wrong origin.
        is_for_all = "viewer" in access.admitted(self.method) and access.security == ("bearer",)
        reasons: list[tuple[object, list[int]]] = [
            (True, [400, 431, 503]),
            (declared.is_counted, [429]),
            (access.security, [401]),
            (access.security and not is_for_all, [403]),
            ("{" in self.path, [404]),
            (declared.body, [408, 413, 415, 422]),
            (declared.query, [422]),
            (self.method == "POST", [409, 422]),
            (declared.errors, [error.status for error in declared.errors]),
        ]
        return [status for applies, statuses in reasons if applies for status in statuses]

    def _success(self, returns: Reply | RawResponse | None) -> dict[str, Any]:
        if returns is None:
            return {"description": REASONS.get(self.declared.status, "Done; no body.")}
        if isinstance(returns, RawResponse):
            content = {name: {"schema": _bare(name)} for name in returns.media_types}
            return {"description": returns.description, "content": content}
        schema_class = get_args(returns)[0] if get_origin(returns) is list else returns
        schema = self._ref(schema_class, "serialization")
        if schema_class is not returns:
            schema = {"type": "array", "items": schema}
        kinds = get_args(schema_class) if isinstance(schema_class, UnionType) else [schema_class]
        # The first paragraphs, which may have several lines.
        texts = [(kind.__doc__ or "").strip().partition("\n\n")[0] for kind in kinds]
        first, *others = (" ".join(text.split()) for text in texts)
        description = " Or ".join([first, *(text[:1].lower() + text[1:] for text in others)])
        return {"description": description, "content": {"application/json": {"schema": schema}}}

    def _stream(self, events: Mapping[str, Reply]) -> dict[str, Any]:
        """A stream of server-sent events; `contentSchema` describes each event."""
        schemas = [self._event(name, schema_class) for name, schema_class in events.items()]
        names = [
            f"`{name}` (`data`: {_names_of(schema_class)})"
            for name, schema_class in events.items()
            if name != STORED_EVENT
        ]
        if STORED_EVENT in events:
            names.append(
                "or the type of an event of the event log, such as `message.created` (`data`:"
                f" {_names_of(events[STORED_EVENT])})"
            )
        return {
            "schema": {
                "type": "string",
                "description": "Server-sent events. Each has its name as `event` and a JSON object"
                f" as `data`. The events: {', '.join(names)}.",
                "contentMediaType": "text/event-stream",
                "contentSchema": {"oneOf": schemas},
            }
        }

    def _event(self, name: str, schema_class: Reply) -> dict[str, Any]:
        data = self._ref(schema_class, "serialization")
        fields: dict[str, Any] = {"event": {"const": name}, "data": data}
        if name == STORED_EVENT:
            fields["event"] = {"type": "string", "pattern": r"^\w+\.\w+$"}
            fields["id"] = {"type": "string", "pattern": "^evt_"}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    def _refusal(self, status: int, schema_class: Reply | None) -> dict[str, Any]:
        if status == 304:
            return {"description": REASONS[status]}
        if isinstance(schema_class, type) and "code" not in schema_class.model_fields:
            return self._success(schema_class)  # such as a failed health check
        reason = REASONS.get(status, "Refused.")
        if not self.declared.access.security:
            reason = _WITHOUT_CALLER.get(status, reason)
        meanings = {code: _MEANINGS[code] for code in _MEANINGS.keys() - self._named_codes()}
        codes = ", ".join(
            f"`{code}` ({meanings[code]})" if code in meanings else f"`{code}`"
            for code in self._codes(status)
        )
        return {
            "description": f"{reason} {codes}." if codes else reason,
            "content": {"application/json": {"schema": self._refused(status, schema_class)}},
        }

    def _codes(self, status: int) -> list[str]:
        """The codes of a status: the usual ones, and those that the operation declares or its
        description names."""
        declared, is_post = self.declared, self.method == "POST"
        usual: list[tuple[object, int, str]] = [
            (isinstance(declared.body, Form) and declared.body.files, 400, "too_many_files"),
            (True, 408, "too_slow"),
            (True, 431, "headers_too_large"),
            (declared.access.takes_visitor, 401, "invalid_visitor_token"),
            (True, 402, "insufficient_credits"),
            (True, 402, "subscription_inactive"),
            (is_post, 409, "request_in_flight"),
            (is_post and declared.access.security, 422, "idempotency_key_reused"),
            (declared.access.security, 503, "client_frozen"),
            # Operations that cost credits and use a model, if there is one.
            ({402, 503} <= declared.also.keys(), 503, "engine_unavailable"),
        ]
        codes = [code for applies, of, code in usual if applies and of == status]
        codes += [error.code for error in declared.errors if error.status == status]
        # Without a credential to check, a 401 has the operation's own codes.
        is_own = status == 401 and not declared.access.security
        plain = [CODES[status]] if status in CODES and not is_own else []
        return sorted({*plain, *codes, *(self._named_codes() & codes_with_status(status))})

    def _named_codes(self) -> set[str]:
        return set(re.findall(r"`(\w+)`", self.declared.description))

    def _refused(self, status: int, schema_class: Reply | None) -> dict[str, Any]:
        if status == 422:
            invalid = self._ref(HTTPValidationError, "serialization")
            # The only other 422 is `idempotency_key_reused`, which is an `Error`.
            keyed = IDEMPOTENCY_KEY in self._header_parameters()
            return {"anyOf": [invalid, self._error_ref()]} if keyed else invalid
        if schema_class is None or schema_class is Error:
            return self._error_ref()
        return self._ref(schema_class, "serialization")

    def _error_ref(self) -> dict[str, Any]:
        """A reference to the schema of all errors, which is built only once since it takes long."""
        if _component(Error) not in self.registry:
            schema = self._inline(error_schema(), "validation", registered_as="serialization")
            self._register(Error, schema, "serialization")
        return {"$ref": "#/components/schemas/Error"}

    def _ref(self, schema_class: Reply, mode: Any) -> dict[str, Any]:
        """A reference to the schema's component. Registers the schema and those that it contains,
        as they are in a request (`validation`) or in a response (`serialization`)."""
        if isinstance(schema_class, UnionType):
            return {"anyOf": [self._ref(part, mode) for part in get_args(schema_class)]}
        self._register(schema_class, self._inline(schema_class, mode), mode)
        return {"$ref": f"#/components/schemas/{schema_class.__name__}"}

    def _inline(
        self, schema_class: type[BaseModel], mode: Any, *, registered_as: str = ""
    ) -> dict[str, Any]:
        schema = schema_class.model_json_schema(
            ref_template="#/components/schemas/{model}", mode=mode
        )
        parts = schema.pop("$defs", {})
        if parts:
            named = {part.__name__: part for part in _named_in(schema_class, set())}
            for name, part in parts.items():
                self._register(named[name], part, registered_as or mode)
        return schema

    def _register(self, of: Any, schema: dict[str, Any], mode: str) -> None:
        """Register a component; TypeError if another type has its name, since one would be lost."""
        component = _component(of, schema)
        known = self.registry._components.setdefault(component.key, component)
        if known.object is not of:
            raise TypeError(f"Two schemas have one name: {known.object} and {of}.")
        if mode == "validation" and getattr(of, "keeps_values", False):
            _describe_defaults(schema)
        # `openapi_postprocessing.finish` combines or separates the schemas of both modes.
        vars(known).setdefault("modes", {})[mode] = schema


def _names_of(schema_class: Reply) -> str:
    """The names of a schema, or of several of which one applies."""
    kinds = get_args(schema_class) or (schema_class,)
    return " or ".join(f"`{kind.__name__}`" for kind in kinds)


def _describe_defaults(schema: dict[str, Any]) -> None:
    """Move the defaults into the descriptions: generated clients would send them with each update,
    which would reset the fields that the caller leaves out."""
    for part in schema["properties"].values():
        if (default := part.pop("default", None)) not in (None, ""):
            part["description"] += f" Default when new: `{json.dumps(default)}`."


def _of_parameter(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a query parameter: without null, which a query string cannot express."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    merged = {**kinds[0], **schema} if len(kinds) == 1 else {**schema}
    left_out = {"description", "title", *(["anyOf"] if len(kinds) == 1 else [])}
    return {
        key: value
        for key, value in merged.items()
        if key not in left_out and (key, value) != ("default", None)
    }


def _named_in(annotation: Any, seen: set[Any]) -> Iterator[Any]:
    """Yield a schema class and all types that have a component of their own."""
    for part in get_args(annotation):
        yield from _named_in(part, seen)
    if annotation in seen or not isinstance(annotation, (type, TypeAliasType)):
        return
    seen.add(annotation)
    if isinstance(annotation, TypeAliasType):
        yield annotation
        yield from _named_in(annotation.__value__, seen)
    elif issubclass(annotation, (BaseModel, Enum)):
        yield annotation
        for field in getattr(annotation, "model_fields", {}).values():
            yield from _named_in(field.annotation, seen)


def _component(of: Any, schema: dict[str, Any] | None = None) -> Any:
    return ResolvedComponent(  # type: ignore[no-untyped-call]
        name=of.__name__, type=ResolvedComponent.SCHEMA, object=of, schema=schema
    )


def _bare(media_type: str) -> dict[str, str]:
    if media_type == "application/json":
        return {"type": "object"}
    is_text = media_type == "text/plain"
    return {"type": "string"} | ({} if is_text else {"format": "binary"})


IDEMPOTENCY_KEY: dict[str, Any] = {
    "in": "header",
    "name": idempotency.HEADER,
    "required": False,
    "description": "Makes it safe to repeat the request for 24 hours, or for one minute if the"
    " response contains a secret. The same key with the same body returns the first response again,"
    " with `Idempotent-Replayed: true`; with a different body, it is a 422"
    " `idempotency_key_reused`; while the first request is still being served, a 409"
    " `request_in_flight`.",
    # No example: tools would send it, and every request after the first would do nothing.
    "schema": {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_KEY_CHARACTERS},
}
VISITOR_TOKEN: dict[str, Any] = {
    "in": "header",
    "name": "Visitor-Token",
    "required": False,
    "description": "For public keys: who the visitor is. Send the `visitor_token` from the"
    " response that created or returned the conversation; without it, the conversation is not found"
    " (404). A wrong or expired token is a 401 `invalid_visitor_token`. Ignored with other"
    " credentials.",
    "schema": {"type": "string"},
}
VISITOR_TOKEN_TO_OPEN = {
    **VISITOR_TOKEN,
    "description": "For public keys: who the visitor is. Send the `visitor_token` from an earlier"
    " response, or leave it out for a new visitor; then an `Idempotency-Key`, if you send one, must"
    f" have at least {idempotency.MIN_SHARED_CHARACTERS} random characters, such as a UUID with"
    " hyphens or without (422 for a shorter one). A wrong or expired token is a 401"
    " `invalid_visitor_token`. Ignored with other credentials.",
}
IDEMPOTENCY_KEY_WITHOUT_CALLER = {
    **IDEMPOTENCY_KEY,
    "description": "Makes it safe to repeat the request for 24 hours, or for one minute if the"
    " response contains a secret. The same key with the same body returns the first response again,"
    " with `Idempotent-Replayed: true`; while the first request is still being served, it is a 409"
    " `request_in_flight`. Since no caller is known, the same key with a different body is not an"
    " error, but counts as another request.",
}
IF_NONE_MATCH: dict[str, Any] = {
    "in": "header",
    "name": "If-None-Match",
    "required": False,
    "description": "The header `ETag` of the response that you have: if it is still current, the"
    " response is a 304 without a body.",
    "schema": {"type": "string"},
}
LAST_EVENT_ID: dict[str, Any] = {
    "in": "header",
    "name": "Last-Event-ID",
    "required": False,
    "description": "The id of the last event that you have received, `evt_…`: the stream continues"
    " after it. Browsers send this header when they reconnect.",
    "schema": {"type": "string"},
}
_HEADERS = "#/components/headers/"
# The schemas of the values that Django's URL converters accept.
CONVERTED: dict[str, dict[str, Any]] = {
    "int": {"type": "integer", "minimum": 1},
    "uuid": {"type": "string", "format": "uuid"},
    "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    "str": {"type": "string", "minLength": 1},
}
PATTERNS = {"event_id": {"pattern": "^evt_"}}
