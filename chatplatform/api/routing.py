"""Finds an operation by the first segments of its path: Django alone tries one pattern after the
other, and there are hundreds."""

from functools import cached_property
from importlib import import_module

from django.urls import Resolver404, ResolverMatch, URLResolver
from django.urls.resolvers import RoutePattern

_PARAMETER = "<>"


class OperationsResolver(URLResolver):
    """Django's resolver, which tries only the patterns that begin like the path."""

    def resolve(self, path: str) -> ResolverMatch:
        first, second = [*path.split("/", 2), ""][:2]
        group = self._groups.get((first, second)) or self._groups.get((first, _PARAMETER))
        if group is None:
            raise Resolver404({"path": path})
        return group.resolve(path)

    @cached_property
    def _groups(self) -> dict[tuple[str, str], URLResolver]:
        """By the first two segments, the patterns that fit them, in their order."""
        starts = [(pattern, _start(str(pattern.pattern))) for pattern in self.url_patterns]
        return {
            (first, second): URLResolver(
                RoutePattern("", is_endpoint=False),
                [
                    pattern
                    for pattern, start in starts
                    if start in {(first, second), (first, _PARAMETER)}
                ],
            )
            for first, second in {start for _, start in starts}
        }


def _start(route: str) -> tuple[str, str]:
    first, second = [*route.split("/", 2), ""][:2]
    assert "<" not in first, f"{route} begins with a parameter"
    return first, _PARAMETER if "<" in second else second


def operations(*apps: str) -> OperationsResolver:
    """The paths of all operations of these apps."""
    patterns = [each for app in apps for each in import_module(f"{app}.urls").urlpatterns]
    return OperationsResolver(RoutePattern("", is_endpoint=False), patterns)
