"""`operation()` declares an operation of the API once, above the method that serves it.

It joins DRF's viewsets (routing, dispatch), drf-spectacular (the document) and pydantic (bodies
and queries). The document, the access check, the validation of body and query, and the guard tests
all read this one `Operation`.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from types import UnionType
from typing import Any, Protocol, TypeVar, get_args, get_origin

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import http_date
from pydantic import BaseModel, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from chatplatform.api import idempotency, outgoing_call_limits, rate_limits
from chatplatform.api.errors import (
    ApiError,
    Forbidden,
    Invalid,
    NotAuthenticated,
    TooLarge,
    UnsupportedMediaType,
    json_response,
    render,
)
from chatplatform.api.pagination import Page
from chatplatform.api.rate_limits import Quota
from chatplatform.api.request_context import current_address
from chatplatform.api.schemas import REQUEST, describe_error, path_mismatches, strict_validator
from chatplatform.live.streaming import WaitingResponse

Method = TypeVar("Method", bound=Callable[..., Any])
Act = Callable[[], HttpResponseBase]
# The environ has this key if the server can finish a response in another thread.
CAN_WAIT = "chatplatform.can_wait"
# The environ key for the request's `RateLimitResult`.
RATE_LIMIT_RESULT = "chatplatform.rate_limit_result"
# The environ key for the credential's holders: the person, if any, and the client.
HOLDERS = "chatplatform.holders"
NO_PATH: Mapping[str, Any] = {}
# Every response to a counted request has the first two headers, including errors.
LIMIT_HEADERS: dict[str, dict[str, Any]] = {
    "RateLimit-Policy": {
        "description": "The limits that this request counts towards, such as"
        ' `"page";q=300;w=60, "key";q=6000;w=60`: `q` requests per `w` seconds.',
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": "What is left of the limits in `RateLimit-Policy`, such as"
        ' `"page";r=299;t=60, "key";r=5800;t=12`: `r` requests remain; more in `t` seconds.',
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds to wait before you repeat the request.",
        "schema": {"type": "integer", "minimum": 1},
    },
}
# Headers that do not depend on the limits.
OTHER_HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-ID": {
        "description": "The request's id in the platform's logs: yours, if you sent the header with"
        " 1 to 128 letters, digits and `._:/+=-`. Every response has it.",
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "`true` if an earlier request with this Idempotency-Key was carried out, and"
        " this is its result; otherwise the header is missing.",
        "schema": {"const": "true"},
    },
}
# The schema of a response, or a union of schemas if it depends on the caller.
Reply = type[BaseModel] | UnionType


class Caller(Protocol):
    """What an operation knows about its caller (see identity.auth); `str()` identifies it."""

    @property
    def client_id(self) -> int: ...

    @property
    def rights(self) -> tuple[str, ...]:
        """First the kind of caller, such as `agent` or `secret key`, then any further rights."""

    @property
    def is_public_key(self) -> bool:
        """Whether the credential is a public key, which anyone can read in a web page."""

    @property
    def is_anonymous_visitor(self) -> bool:
        """Whether the caller may be any of many people: a public key without a Visitor-Token."""

    def quotas(self, address: str, *, costs_credits: bool) -> tuple[Quota, ...]:
        """The quotas that a request counts against."""


@dataclass(frozen=True)
class Access:
    """Who may call an operation, and how the caller is found.

    A caller needs one of the `rights`. For GET and HEAD, one of `reading` suffices too.
    """

    security: tuple[str, ...]
    authenticate: Callable[[HttpRequest], Caller | None]
    rights: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    refusal: type[NotAuthenticated] = NotAuthenticated
    # Whether web pages of an origin may call it (CORS); if None, no page of another origin may.
    admits_origin: Callable[[str], bool] | None = None
    # Whether a `Visitor-Token` identifies the visitor who uses a public key.
    takes_visitor: bool = False

    def admitted(self, http_method: str | None) -> tuple[str, ...]:
        """The rights that admit a caller; one of them suffices."""
        return self.rights + (self.reading if http_method in {"GET", "HEAD"} else ())

    def find_caller(self, request: HttpRequest) -> Caller:
        """The caller; raises 401 if it is unknown and 403 if it lacks the right."""
        caller = self.authenticate(request)
        if caller is None:
            raise self.refusal
        admitted = self.admitted(request.method)
        if not set(admitted) & set(caller.rights):
            you_are = listed(caller.rights[:1])
            raise Forbidden(f"Only {listed(admitted)} can do this. You are {you_are}.")
        return caller


def listed(rights: Sequence[str]) -> str:
    """Rights in words: `an owner, an admin or a secret key`."""
    words = [
        "anyone with `can_train`"
        if right == "trainer"
        else f"{'an' if right[0] in 'aeo' else 'a'} {right}"
        for right in rights
    ]
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


PUBLIC = Access((), lambda request: None)


@dataclass(frozen=True)
class Form:
    """A body that is not JSON, in one of `media_types`; the fields in `files` hold files."""

    schema: type[BaseModel]
    media_types: tuple[str, ...] = ("multipart/form-data",)
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class RawResponse:
    """A response without a schema, such as a file, in one of `media_types`."""

    media_types: tuple[str, ...]
    description: str = "The file, as a download."


@dataclass(frozen=True)
class Deprecated:
    """Marks an operation as deprecated since `since`; it is served at least until `sunset`."""

    since: datetime
    sunset: datetime
    successor: str

    def mark(self, response: HttpResponseBase) -> None:
        """Set the headers `Deprecation`, `Sunset` and `Link` (RFC 9745, RFC 8594, RFC 5829)."""
        response["Deprecation"] = f"@{int(self.since.timestamp())}"
        response["Sunset"] = http_date(self.sunset.timestamp())
        response["Link"] = f'<{self.successor}>; rel="successor-version"'


@dataclass(frozen=True)
class Operation:
    """The declaration of an operation, written `@operation(...)` above the method that serves it.

    The method gets the path's parameters, and `request`, `body` and `query` if it has parameters
    of these names. It returns a schema, a dict, a Django response, or None for a response without a
    body. The schemas of `body`, `query` and `returns` are its annotations unless they are given
    here. A method without the parameter `body` reads the raw bytes itself, for example to check
    their signature; `body` then only documents them.

    - `also`: other documented statuses, with the schemas of their responses.
    - `errors`: errors whose codes the description does not name.
    - `more`: what follows the method's docstring, if operations share it.
    - `streams`: the events by name, if a 200 may be a stream.
    - `path_suffix`: what the document shows after the path, such as a slash.
    - `waits`: the method waits for another server, such as a model or a name server. It runs in the
      pool of waiting threads, which serves only a few requests of one client at once.
    - `costs_credits`: the bot may reply, so a visitor may send only a few such requests a minute.
    - `is_atomic`: although the method waits for seconds, its changes and the response stored for an
      `Idempotency-Key` are one transaction: otherwise a retry could make the change twice.
    - `gives_credentials`: the response holds a secret, so what is stored for an `Idempotency-Key`
      is kept for one minute only.
    - `is_counted`: the rate limits apply. False if servers must be able to call it without limit.
    """

    tag: str
    name: str
    _: KW_ONLY
    access: Access
    body: type[BaseModel] | Form | None = None
    query: type[BaseModel] | None = None
    returns: Reply | RawResponse | None = None
    status: int = 200
    also: Mapping[int, Reply | None] = field(default_factory=dict)
    errors: tuple[type[ApiError], ...] = ()
    more: str = ""
    description: str = ""
    streams: Mapping[str, Reply] = field(default_factory=dict)
    body_is_optional: bool = False
    path_suffix: str = ""
    waits: bool = False
    is_atomic: bool = False
    costs_credits: bool = False
    gives_credentials: bool = False
    is_counted: bool = True
    deprecated: Deprecated | None = None

    def __call__(self, method: Method) -> Method:
        signature = inspect.signature(method)
        annotations = {name: value.annotation for name, value in signature.parameters.items()}
        declared = replace(
            self,
            body=self.body or annotations.get("body"),
            query=self.query or annotations.get("query"),
            returns=self.returns or _schema(signature.return_annotation),
            description=f"{method.__doc__ or ''}\n\n{self.more}".strip(),
        )

        @functools.wraps(method)
        def serve(view: "OperationViewSet", request: HttpRequest, **path: Any) -> HttpResponseBase:
            view.admit(declared, request)
            if declared.query:
                path["query"] = parse_query(declared.query, request)
            if declared.body and "body" in annotations:
                path["body"] = parse_body(declared, request, path)
            if "request" in annotations:
                path["request"] = request

            def act() -> HttpResponseBase:
                return answer(method(view, **path), declared.status)

            if declared.waits and CAN_WAIT in request.META:
                return WaitingResponse(
                    lambda: _rendered(lambda: _within_bulkhead(view, request, declared, act))
                )
            return _once(view, request, declared, act)

        serve.operation = declared  # type: ignore[attr-defined]
        return serve  # type: ignore[return-value]


operation = Operation


def _schema(annotation: Any) -> Any:
    """A method's return annotation if it is a schema, a list of a schema, or a union; else None."""
    is_list = get_origin(annotation) is list
    schema = next(iter(get_args(annotation)), None) if is_list else annotation
    is_schema = isinstance(schema, type) and issubclass(schema, BaseModel)
    return annotation if is_schema or isinstance(schema, UnionType) else None


def _once(
    view: "OperationViewSet", http: HttpRequest, declared: Operation, act: Act
) -> HttpResponseBase:
    """`act`'s response, or the stored response to an earlier request with this Idempotency-Key."""
    if http.method != "POST" or idempotency.HEADER not in http.headers:
        return act()
    client_id = view.caller.client_id if view.caller else None
    caller = str(view.caller)
    if view.caller and view.caller.is_anonymous_visitor:
        idempotency.ensure_hard_to_guess(http)
    return idempotency.run_once(
        http,
        client_id=client_id,
        caller=caller,
        run=act,
        waits=declared.waits and not declared.is_atomic,
        gives_credentials=declared.gives_credentials,
    )


def _within_bulkhead(
    view: "OperationViewSet", http: HttpRequest, declared: Operation, act: Act
) -> HttpResponseBase:
    """The response of `_once`; 429 if too many requests of the caller's client are waiting or, for
    operations without a caller, too many requests for the operation."""
    if view.caller:
        caps = outgoing_call_limits.caps_of_client(view.caller.client_id)
    else:
        caps = {declared.name: outgoing_call_limits.CLIENT_THREADS}
    with outgoing_call_limits.OUTGOING_CALLS.admit(caps):
        return _once(view, http, declared, act)


def _rendered(act: Act) -> HttpResponseBase:
    """The response of `act`, or of the exception that it raises. The view's `dispatch`, which
    renders the exceptions of other operations, has returned before `act` runs."""
    try:
        return act()
    except Exception as exc:
        return render(exc)


def answer(result: Any, status: int) -> HttpResponseBase:
    """A method's result as a response."""
    if isinstance(result, HttpResponseBase):
        return result
    if result is None:
        empty = HttpResponse(status=status)
        del empty["Content-Type"]  # there is no body
        return empty
    return json_response(result, status)


def parse_query(schema: type[BaseModel], request: HttpRequest) -> BaseModel:
    """The query string as `schema`; 422 for an unknown or invalid parameter, or for a repeated one
    that takes a single value."""
    fields = {
        key: values[-1] if len(values) == 1 else values for key, values in request.GET.lists()
    }
    query = _validated(schema, fields, "query")
    if isinstance(query, Page):
        query._path = request.path_info
    return query


def parse_body(declared: Operation, request: HttpRequest, path: Mapping[str, Any]) -> BaseModel:
    """The body as its schema.

    413 if it is too large, 415 if it has another media type, and 422 if it is invalid or an id in
    it differs from the id in the path.
    """
    if isinstance(declared.body, Form):
        if declared.body_is_optional and _is_left_out(request):
            return declared.body.schema()
        return _parse_form(declared.body, request)
    assert declared.body
    if int(request.headers.get("Content-Length") or 0) > settings.MAX_JSON_BYTES:
        raise TooLarge
    raw = request.body
    if not raw and declared.body_is_optional:
        return _validated(declared.body, {}, "body")
    # Any web page can send a body without a type, and the browser then sends no preflight. Other
    # programs send no Origin, so they need no type.
    needs_type = bool(request.content_type) or "Origin" in request.headers
    if needs_type and request.content_type != "application/json":
        raise UnsupportedMediaType
    return _validated(declared.body, parse_json(raw), "body", path, is_json=True)


def _is_left_out(request: HttpRequest) -> bool:
    """Whether a form is missing; programs often send `Content-Type: application/json` with an
    empty body."""
    if request.content_type == "application/json":
        return request.body.strip() in {b"", b"{}", b"null"}
    return int(request.headers.get("Content-Length") or 0) == 0


def parse_json(raw: bytes) -> Any:
    """The parsed JSON; 422 `json_invalid` with the offset of the error."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        msg = f"JSON decode error: {exc.msg}"
        raise Invalid.field("body", exc.pos, msg=msg, type="json_invalid") from exc
    except RecursionError as exc:  # pragma: no cover - orjson refuses depth by JSONDecodeError
        raise Invalid.field("body", msg="nested too deeply", type="json_invalid") from exc


def _parse_form(form: Form, request: HttpRequest) -> BaseModel:
    if request.content_type not in form.media_types:
        raise UnsupportedMediaType(f"Send this body as {' or '.join(form.media_types)}.")
    fields: dict[str, Any] = {key: values[-1] for key, values in request.POST.lists()}
    for name in request.FILES:
        files = request.FILES.getlist(name)
        declared = form.schema.model_fields.get(name)
        is_list = declared is not None and get_origin(declared.annotation) is list
        fields[name] = files if is_list else files[-1]
    return _validated(form.schema, fields, "body")


def _validated(
    schema: type[BaseModel],
    value: Any,
    where: str,
    path: Mapping[str, Any] = NO_PATH,
    *,
    is_json: bool = False,
) -> BaseModel:
    if isinstance(value, dict) and (others := path_mismatches(schema, value, path)):
        error_fields = {"msg": "Differs from the id in the path.", "type": "value_error"}
        raise Invalid([{"loc": [where, name]} | error_fields for name in others])
    try:
        if is_json:
            parsed: BaseModel = strict_validator(schema).validate_python(value, context=REQUEST)
            return parsed
        return schema.model_validate(value, context=REQUEST)
    except ValidationError as exc:
        errors = [
            {"loc": [where, *error["loc"]]} | describe_error(error)
            for error in exc.errors(include_url=False)
        ]
        raise Invalid(errors) from exc


class OperationViewSet(ViewSet):
    """The base of every viewset; `identity.auth.TenantViewSet` adds the types of callers."""

    # DRF needs no metadata for OPTIONS: the middleware has answered CORS preflights before.
    metadata_class = None
    # The `Caller`; None in a public operation. Subclasses narrow the type.
    caller: Any = None
    rate_limit_result: rate_limits.RateLimitResult | None = None

    def admit(self, declared: Operation, request: HttpRequest) -> None:
        """Find the caller and count the request; raises 401, 403 or 429."""
        address = current_address()
        if declared.access is not PUBLIC:
            try:
                self.caller = declared.access.find_caller(request)
            except (NotAuthenticated, Forbidden):
                self._count(declared, rate_limits.of_address(address))
                raise
            quotas = self.caller.quotas(address, costs_credits=declared.costs_credits)
        else:
            quotas = rate_limits.of_address(address)
        self._count(declared, quotas)

    def _count(self, declared: Operation, quotas: Sequence[Quota]) -> None:
        if not declared.is_counted:
            return
        self.rate_limit_result = rate_limits.count(quotas)
        if self.rate_limit_result.refusal:
            raise self.rate_limit_result.refusal

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Serve an operation; DRF responds to HTTP methods that the path does not support.

        DRF's steps around a method (request, negotiation, permissions, throttles) are skipped:
        `operation()` does what the declaration requires.
        """
        action = self.action_map.get((request.method or "").lower())
        if action is None:
            drf_response = super().dispatch(request, *args, **kwargs)
            return drf_response.render() if isinstance(drf_response, Response) else drf_response
        serve = getattr(self, action)
        response: HttpResponseBase
        try:
            response = serve(request, **kwargs)
        except Exception as exc:
            response = render(exc)
        # Error responses have these headers too.
        if serve.operation.deprecated:
            serve.operation.deprecated.mark(response)
        if self.rate_limit_result:
            self.rate_limit_result.write_to(response)
            request.META[RATE_LIMIT_RESULT] = self.rate_limit_result
        if self.caller:
            person = (name for name in [str(self.caller)] if name.startswith("user:"))
            request.META[HOLDERS] = (*person, f"client:{self.caller.client_id}")
        response["Allow"] = ", ".join(self.allowed_methods)
        return response

    @property
    def allowed_methods(self) -> list[str]:
        return [name.upper() for name in self.http_method_names if name in self.action_map]

    def perform_content_negotiation(
        self,
        request: Request,
        force: bool = False,  # noqa: FBT001 - DRF's signature
    ) -> tuple[Any, str]:
        """Always JSON; an operation that streams reads Accept itself."""
        return self.get_renderers()[0], "application/json"


def operations_of(viewset: Any, actions: dict[str, str]) -> dict[str, Operation]:
    """The operation of each HTTP method (lower case) of one registered path."""
    operations = {}
    for http_method, action in actions.items():
        declared = getattr(getattr(viewset, action, None), "operation", None)
        # DRF adds HEAD to every GET; it is not a separate operation.
        if isinstance(declared, Operation) and http_method != "head":
            operations[http_method] = declared
    return operations


def routes(patterns: Sequence[Any] | None = None) -> list[tuple[str, str, Operation]]:
    """Every served operation: (HTTP method, path template, operation)."""
    if patterns is None:
        from django.urls import get_resolver  # noqa: PLC0415 - the resolver imports the views

        patterns = get_resolver().url_patterns
    operations: list[tuple[str, str, Operation]] = []
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            operations += routes(pattern.url_patterns)
            continue
        view = getattr(pattern.callback, "cls", None)
        actions = getattr(pattern.callback, "actions", None)
        if view and actions and issubclass(view, OperationViewSet):
            path = "/" + str(pattern.pattern)
            operations += [
                (method.upper(), path, declared)
                for method, declared in operations_of(view, actions).items()
            ]
    return operations
