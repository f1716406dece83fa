"""Hooks through which an app calls a higher app, which it may not import."""

from typing import Generic, TypeVar

Interface = TypeVar("Interface")


class Hook(Generic[Interface]):
    """A slot for the implementation of an interface; the higher app fills it when the apps are
    loaded."""

    _installed: Interface | None = None

    def install(self, implementation: Interface) -> None:
        self._installed = implementation

    def __call__(self) -> Interface:
        assert self._installed, "an app's config installs it"
        return self._installed
