"""The resolver of operations finds what Django's own finds."""

import re

import pytest
from django.urls import Resolver404, URLResolver, get_resolver

from chatplatform.api.operation import routes
from chatplatform.api.routing import OperationsResolver

UUID = "0198d2a0-0000-7000-8000-00000000002a"
VALUES = {"int": "42", "uuid": UUID, "str": "A-b", "slug": "a-b"}
[OPERATIONS] = [
    pattern for pattern in get_resolver().url_patterns if isinstance(pattern, OperationsResolver)
]
PATHS = sorted({path.removeprefix("/") for _, path, _ in routes([OPERATIONS])})


def found(path, resolver):
    match = resolver(path)
    return match.func, match.kwargs, match.route


def test_every_path_is_found_as_by_django():
    assert len(PATHS) > 100
    for path in PATHS:
        for values in (VALUES, VALUES | {"str": UUID}):
            concrete = re.sub(r"<(\w+):\w+>", r"<\1>", path)
            for name, value in values.items():
                concrete = concrete.replace(f"<{name}>", value)
            assert "<" not in concrete, "say above what such a parameter may be"
            assert found(concrete, OPERATIONS.resolve) == found(
                concrete, lambda item: URLResolver.resolve(OPERATIONS, item)
            )


@pytest.mark.parametrize("path", ["", "ai", "ai/", "ai//x", "nothing", "ai/x/y/z", f"ai/{UUID}/"])
def test_no_other_path_is_found(path):
    with pytest.raises(Resolver404):
        URLResolver.resolve(OPERATIONS, path)
    with pytest.raises(Resolver404):
        OPERATIONS.resolve(path)
