"""The served OpenAPI document, built from the operations' declarations."""

import re
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import BaseModel, Field

from chatplatform.api import idempotency
from chatplatform.api.operation import Form, Operation, OperationViewSet, listed
from chatplatform.api.shapes import Shape


class ValidationError(Shape):
    """One thing wrong with a request."""

    loc: list[str | int] = Field(
        description='Where: `["body", "name"]`, `["query", "limit"]`, `["path", "bot_id"]`.'
    )
    msg: str = Field(description="What is wrong, in a sentence.")
    type: str = Field(
        description="Machine-readable kind: `missing`, `string_type`, `extra_forbidden`, …"
    )


class HTTPValidationError(Shape):
    """The request does not fit its documented shape; nothing was changed."""

    detail: list[ValidationError] = Field(description="Everything wrong, all at once.")


class Error(Shape):
    """A refusal or a fault."""

    detail: str = Field(description="A sentence that says what to do.")
    code: str = Field(description="Stable, machine-readable kind.")
    request_id: str = Field(description="Names this request in our logs; also X-Request-ID.")


class File(Shape):
    """The file, as a download."""


REASONS = {
    304: "Nothing changed since the ETag that If-None-Match names; no body.",
    401: "No credential, or one that is not valid (any more).",
    402: "The credits do not suffice.",
    403: "The caller is known, but may not do this.",
    404: "Not there, or another client's.",
    409: "The state forbids it.",
    413: "The body is too large.",
    415: "The body is of another media type.",
    422: "The request does not fit its documented shape.",
    503: "A part that this needs is not reachable.",
}


def only_operations(endpoints: list[Any], **_: Any) -> list[Any]:
    """The operations that `operation()` declares and no others, always in the same order."""
    declared = [entry for entry in endpoints if issubclass(entry[3].cls, OperationViewSet)]
    positions = {entry[0]: position for position, entry in reversed(list(enumerate(declared)))}
    # DRF keeps the methods of a path in a set.
    return sorted(declared, key=lambda entry: (positions[entry[0]], entry[2]))


class OperationSchema(AutoSchema):
    """Reads the `Operation`; drf-spectacular would guess from serializers."""

    @property
    def declared(self) -> Operation:
        method: Any = getattr(self.view, self.view.action)  # type: ignore[attr-defined]
        operation: Operation = method.operation
        return operation

    def get_operation_id(self) -> str:
        words = re.sub(r"\W+", "_", f"{self.declared.name.lower()} {self.path}")
        return f"{words}_{self.method.lower()}"

    def get_summary(self) -> str:
        return self.declared.name

    def get_description(self) -> str:  # type: ignore[override] # drf-spectacular's own form
        admitted = self.declared.access.admitted(self.method)
        callers = f"For {listed(admitted)}." if admitted else "Needs no credential."
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
        if self.method != "POST":
            return []
        return [IDEMPOTENCY_KEY if self.declared.access.security else IDEMPOTENCY_KEY_OF_ANYBODY]

    def _path_parameters(self) -> list[dict[str, Any]]:
        return [
            {
                "in": "path",
                "name": name,
                "required": True,
                "description": f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
                if name.endswith("_id")
                else f"The {name.replace('_', ' ')}.",
                "schema": PATH_SCHEMAS.get(name, {"type": "integer", "minimum": 1}),
            }
            for name in re.findall(r"\{(\w+)\}", self.path)
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
                "schema": {k: v for k, v in part.items() if k not in {"description", "title"}},
            }
            for name, part in schema["properties"].items()
        ]

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        body = self.declared.body
        if body is None:
            return None
        shape = body.shape if isinstance(body, Form) else body
        media_types = body.media_types if isinstance(body, Form) else ("application/json",)
        schema = self._ref(shape, "validation")
        return {
            "content": {media_type: {"schema": schema} for media_type in media_types},
            "required": not self.declared.body_is_optional,
        }

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        declared = self.declared
        bodies = {str(declared.status): self._success(declared.returns)}
        for status, shape in declared.also.items():
            bodies[str(status)] = (
                self._success(shape) if status < 300 else self._refusal(status, shape)
            )
        for status in self._usual_refusals():
            bodies.setdefault(str(status), self._refusal(status, None))
        return dict(sorted(bodies.items()))

    def _usual_refusals(self) -> list[int]:
        declared, access = self.declared, self.declared.access
        # A viewer may the least of people; a public key may be used on a wrong page.
        is_for_all = "viewer" in access.admitted(self.method) and access.security == ("bearer",)
        reasons: list[tuple[object, list[int]]] = [
            (access.security, [401]),
            (access.security and not is_for_all, [403]),
            ("{" in self.path, [404]),
            (declared.body, [413, 415, 422]),
            (declared.query, [422]),
            (self._header_parameters(), [409, 422]),
        ]
        return [503, *(status for applies, statuses in reasons if applies for status in statuses)]

    def _success(self, shape: type[BaseModel] | None) -> dict[str, Any]:
        if shape is None:
            return {"description": "Done; no body."}
        if shape is File:
            bytes_ = {"schema": {"type": "string", "format": "binary"}}
            return {"description": File.__doc__, "content": {"application/octet-stream": bytes_}}
        content = {"application/json": {"schema": self._ref(shape, "serialization")}}
        if self.declared.streams:
            events = "Server-sent events: `message`, `delta`, `reset`, `done`."
            content["text/event-stream"] = {"schema": {"type": "string", "description": events}}
        return {"description": (shape.__doc__ or "").strip().split("\n")[0], "content": content}

    def _refusal(self, status: int, shape: type[BaseModel] | None) -> dict[str, Any]:
        if status == 304:
            return {"description": REASONS[status]}
        shape = shape or (HTTPValidationError if status == 422 else Error)
        return {
            "description": REASONS.get(status, "Refused."),
            "content": {"application/json": {"schema": self._ref(shape, "serialization")}},
        }

    def _ref(self, shape: type[BaseModel], mode: Any) -> dict[str, Any]:
        """A reference to the shape's component, which is registered with all that it contains.

        A shape that is a request's body anywhere is described as one: that is the stricter
        description, and our replies always hold every field.
        """
        self._register(shape.__name__, self._inline(shape, mode), replace=mode == "validation")
        return {"$ref": f"#/components/schemas/{shape.__name__}"}

    def _inline(self, shape: type[BaseModel], mode: Any) -> dict[str, Any]:
        schema = shape.model_json_schema(ref_template="#/components/schemas/{model}", mode=mode)
        for name, part in schema.pop("$defs", {}).items():
            self._register(name, part, replace=mode == "validation")
        return schema

    def _register(self, name: str, schema: dict[str, Any], *, replace: bool) -> None:
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name=name, type=ResolvedComponent.SCHEMA, object=name, schema=schema
        )
        if replace and component in self.registry:
            self.registry[component].schema = schema
        self.registry.register_on_missing(component)


IDEMPOTENCY_KEY: dict[str, Any] = {
    "in": "header",
    "name": idempotency.HEADER,
    "required": False,
    "description": "Makes a repetition harmless for 24 hours: the same key with the same body gets"
    " the first answer again, with `Idempotent-Replayed: true`; with another body a 422"
    " `idempotency_key_reused`; while the first is being served a 409 `request_in_flight`.",
    "schema": {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_KEY_CHARACTERS},
    "example": "order-1234-note-1",
}
IDEMPOTENCY_KEY_OF_ANYBODY = {
    **IDEMPOTENCY_KEY,
    "description": "Makes a repetition harmless for 24 hours: the same key with the same body gets"
    " the first answer again, with `Idempotent-Replayed: true`; while the first is being served a"
    " 409 `request_in_flight`. With another body it is another request.",
}
_UUID = {"type": "string", "format": "uuid"}
PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "chat_id": _UUID,
    "conversation_id": _UUID,
    "notification_id": _UUID,
    "attachment_id": _UUID,
    "job_id": _UUID,
    "call_id": _UUID,
    "config_id": _UUID,
    "order_id": _UUID,
    "event_id": {"type": "string", "pattern": "^evt_"},
    "chat_code": {"type": "string"},
}


def finish(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """Add what drf-spectacular does not write: closing slashes, the server."""
    suffixes = {
        path: getattr(view, view.action).operation.path_suffix
        for path, _, _, view in generator._get_paths_and_endpoints()
    }
    paths = result["paths"].items()
    result["paths"] = {path + suffixes.get(path, ""): item for path, item in paths}
    result["servers"] = [{"url": "/", "description": "This server"}]
    return result
