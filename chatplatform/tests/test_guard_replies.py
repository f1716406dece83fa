"""A guard: every operation by which somebody causes a reply of the bot says that it costs credits.

The limits of a page's visitors count what says so (`costs_credits`). Whether a reply may follow is
read from the code: from the method of an operation along everything that it names, to whatever
makes a job that replies.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from django.conf import settings

from chatplatform.api.operation import Operation, OperationViewSet
from chatplatform.tests.test_guard_operations import views
from chats.services.core import fast_sql
from chats.services.reply import incoming

JOB, STORED_FUNCTION = "chats.generate_reply", "chats_receive_message("


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def names_in(function: Any) -> set[str]:
    return {name for code in codes_of(function.__code__) for name in code.co_names}


def is_ours(function: Any) -> bool:
    return isinstance(function, FunctionType) and Path(
        function.__code__.co_filename
    ).is_relative_to(settings.BASE_DIR)


def named_by(function: FunctionType, owner: type | None) -> Iterator[tuple[Any, type | None]]:
    """The functions that a function may call, each with the class that has it: by its own name,
    and as one of a module, of a class, or of its own class.
    """
    names = names_in(function)
    mentioned = [function.__globals__[name] for name in names if name in function.__globals__]
    homes = [item for item in mentioned if isinstance(item, ModuleType | type)]
    found: list[tuple[Any, type | None]] = []
    found += [(item, None) for item in mentioned if not isinstance(item, ModuleType | type)]
    for home in [*homes, *([owner] if owner else [])]:
        of = home if isinstance(home, type) else None
        found += [(getattr(home, name, None), of) for name in names]
    for item, of in found:
        unwrapped = inspect.unwrap(item) if callable(item) else item
        if is_ours(unwrapped):
            yield unwrapped, of


def makes_a_reply(function: Any) -> bool:
    """Whether it makes the job itself, or calls the database's function that does."""
    names = names_in(function)
    constants = {const for code in codes_of(function.__code__) for const in code.co_consts}
    texts = [function.__globals__.get(name) for name in names]
    return (JOB in constants and "enqueue" in names) or any(
        isinstance(text, str) and STORED_FUNCTION in text for text in texts
    )


def may_reply(method: FunctionType, view: type) -> bool:
    waiting: list[tuple[Any, type | None]] = [(method, view)]
    seen = set[Any]()
    while waiting:
        function, owner = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        if makes_a_reply(function):
            return True
        waiting += named_by(function, owner)
    return False


def methods(view: type[OperationViewSet]) -> Iterator[tuple[str, Operation, FunctionType]]:
    for name, method in vars(view).items():
        declared = getattr(method, "operation", None)
        if isinstance(declared, Operation):
            yield f"{view.__name__}.{name}", declared, inspect.unwrap(method)


def test_what_makes_a_reply_is_known():
    assert makes_a_reply(incoming._enqueue_reply)
    assert makes_a_reply(fast_sql.receive_message)


@pytest.mark.full
def test_an_operation_that_a_reply_may_follow_says_so():
    served = [(view, *item) for view in views() for item in methods(view)]
    assert len(served) > 100
    replying = {name for view, name, _, method in served if may_reply(method, view)}
    declared = {name for _, name, operation, _ in served if operation.costs_credits}
    assert declared - replying == set(), "says `costs_credits`, and no reply is found behind it"
    assert replying - declared == set(), "add `costs_credits=True`: a reply of the bot may follow"
