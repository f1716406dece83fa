"""Valid and invalid requests that schemathesis generates from the OpenAPI document."""

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import orjson
import requests  # noqa: TID251 - it sends nothing here
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from chatplatform.api.openapi_postprocessing import resolved
from chatplatform.testing.documented import document

MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
# Generated credentials are removed; the caller of this module sends real credentials.
_CREDENTIALS = {"api-key", "authorization"}
# The codes of errors that occur because a model, a channel's provider, a payment provider or a mail
# server is missing or refuses. An operation that may return such a code names it in its description
# or in the response's description.
_MISSING = {
    "engine_not_configured", "channel_not_configured", "mail_not_configured",
    "payments_not_configured", "provider_refused", "mail_failed",
}  # fmt: skip
_CODE = re.compile(r"`(\w+)`")
_ERROR = {"$ref": "#/components/schemas/Error"}


@cache
def operations() -> dict[str, Any]:
    """The operations of the document by method and path."""
    results: Any = schemathesis.openapi.from_dict(document()).get_all_operations()
    return {item.ok().label: item.ok() for item in results}


def made_requests(
    label: str, ids: dict[str, Any], *, count: int, fixed_seed: int
) -> Iterator[requests.PreparedRequest]:
    """Yield up to `count` requests of each mode to an operation. About half of the ids in their
    paths are replaced with `ids`, which belong to existing rows."""
    operation, chance = operations()[label], random.Random(fixed_seed)
    for mode in MODES:
        for case in _cases(operation.as_strategy(generation_mode=mode), count, fixed_seed):
            for name in case.path_parameters or {}:
                if chance.random() < 0.5 and name in ids:
                    case.path_parameters[name] = str(ids[name])
            yield _prepared(case)


def _cases(strategy: Any, count: int, fixed_seed: int) -> list[Any]:
    cases: list[Any] = []

    @seed(fixed_seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(case: Any) -> None:
        cases.append(case)

    # An operation without any input has no invalid request.
    with suppress(Unsatisfiable):
        collect()
    return cases[:count]


def _prepared(case: Any) -> requests.PreparedRequest:
    options = case.as_transport_kwargs(base_url="http://testserver")
    parts = options.keys() & {"method", "url", "params", "json", "data", "files"}
    headers = {
        name: value
        for name, value in options["headers"].items()
        if name.lower() not in _CREDENTIALS
    }
    return requests.Request(**{name: options[name] for name in parts}, headers=headers).prepare()


def is_fault(label: str, status: int, body: bytes) -> bool:
    """Whether a response shows a bug: a 5xx, unless its code is documented and in `_MISSING`."""
    if status < 500:
        return False
    described = operations()[label].definition.raw
    response = resolved(described["responses"].get(str(status), {}), document())
    content = response.get("content", {})
    if content and content["application/json"]["schema"] != _ERROR:
        return False  # a normal response, such as from /health
    codes = _CODE.findall(described["description"] + response.get("description", ""))
    return orjson.loads(body).get("code") not in _MISSING.intersection(codes)
