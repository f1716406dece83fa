"""Finds an operation by the segments of its path; Django would try hundreds of patterns in turn."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass
class _Node:
    """A node in the tree of paths: the segments that may follow, and the patterns that end here."""

    literals: dict[str, "_Node"] = field(default_factory=dict)
    parameters: dict[str, tuple["re.Pattern[str]", "_Node"]] = field(default_factory=dict)
    patterns: list[tuple[int, URLPattern]] = field(default_factory=list)

    def add(self, segments: Sequence[str], number: int, pattern: URLPattern) -> None:
        if not segments:
            self.patterns.append((number, pattern))
            return
        parameter = _PARAMETER.fullmatch(segments[0])
        if parameter:
            regex = re.compile(pattern.pattern.converters[parameter[1]].regex)
            node = self.parameters.setdefault(regex.pattern, (regex, _Node()))[1]
        else:
            assert "<" not in segments[0], f"{pattern.pattern}: a parameter must be a whole segment"
            node = self.literals.setdefault(segments[0], _Node())
        node.add(segments[1:], number, pattern)

    def find(
        self, segments: Sequence[str], values: tuple[str, ...], *, allow_malformed: bool = False
    ) -> Iterator[tuple[int, URLPattern, tuple[str, ...]]]:
        """Yield the patterns that fit these segments, with their number and parameter values.

        `allow_malformed`: also those whose parameters do not match, such as letters for a number.
        """
        if not segments:
            yield from ((*found, values) for found in self.patterns)
            return
        first, others = segments[0], segments[1:]
        if first in self.literals:
            yield from self.literals[first].find(others, values, allow_malformed=allow_malformed)
        for regex, node in self.parameters.values():
            if allow_malformed or regex.fullmatch(first):
                values_so_far = (*values, first)
                yield from node.find(others, values_so_far, allow_malformed=allow_malformed)


class OperationsResolver(URLResolver):
    """A URL resolver that looks only at the patterns that fit the path."""

    def resolve(self, path: str) -> ResolverMatch:
        match = self.find(path)
        if match is None:
            raise Resolver404({"path": path})
        return match

    def find(self, path: str) -> ResolverMatch | None:
        """The match with the first pattern that fits, as in Django; None if none fits."""
        found = list(self._root.find(path.split("/"), ()))
        for _, pattern, texts in sorted(found, key=lambda item: item[0]) if found[1:] else found:
            converters = pattern.pattern.converters
            try:
                values = {
                    name: converter.to_python(text)
                    for (name, converter), text in zip(converters.items(), texts, strict=True)
                }
            except ValueError:
                continue
            return ResolverMatch(
                pattern.callback,
                (),
                values,
                pattern.name,
                route=str(pattern.pattern),
                captured_kwargs=values,
                extra_kwargs={},
            )
        return None

    def malformed(self, path: str) -> str | None:
        """The name of the malformed parameter in an operation's path; None if there is none."""
        for _, pattern, texts in self._root.find(path.split("/"), (), allow_malformed=True):
            for (name, converter), text in zip(
                pattern.pattern.converters.items(), texts, strict=True
            ):
                if text and not re.fullmatch(converter.regex, text):
                    return name
        return None

    @cached_property
    def _root(self) -> _Node:
        root = _Node()
        for number, pattern in enumerate(self.url_patterns):
            assert isinstance(pattern, URLPattern), "nested URL patterns are not supported"
            root.add(str(pattern.pattern).split("/"), number, pattern)
        return root


def operations(*apps: str, also: Sequence[URLPattern] = ()) -> OperationsResolver:
    """The resolver of all operations of these apps, and of the patterns in `also`."""
    patterns: list[Any] = [
        urlpattern for app in apps for urlpattern in import_module(f"{app}.urls").urlpatterns
    ]
    return OperationsResolver(RoutePattern("", is_endpoint=False), [*also, *patterns])


def find_operation(path: str) -> ResolverMatch | None:
    """The operation at a request's path; None if the path is unknown or belongs to another view."""
    resolver = _operations_of(get_resolver())
    match = resolver.find(path.removeprefix("/")) if resolver else None
    return match if match and hasattr(match.func, "actions") else None


def malformed_parameter(path: str) -> str | None:
    """The name of the malformed parameter in an operation's path; None if there is none."""
    resolver = _operations_of(get_resolver())
    return resolver.malformed(path.strip("/")) if resolver else None


@cache
def _operations_of(root: URLResolver) -> OperationsResolver | None:
    return next(
        (pattern for pattern in root.url_patterns if isinstance(pattern, OperationsResolver)), None
    )
