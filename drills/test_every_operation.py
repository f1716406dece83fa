"""A new company uses every operation of the API on a running platform.

The chapters in `drills/story/` form one story. Each checks the effects of its calls in another
operation, an event, a webhook, a mail, a file or the credits. The last test compares the calls
with `docs/openapi.json`, and fails for an operation that no chapter calls.
"""

from collections.abc import Iterator
from types import ModuleType

import pytest

from drills.story import (
    bots,
    channels,
    chats,
    customers,
    desk,
    functions,
    insights,
    messaging,
    people,
    reports,
    training,
    webhooks,
)
from drills.story.world import World, beginning, table, undriven

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with beginning(tmp_path_factory.mktemp("story")) as world:
        yield world


@pytest.mark.parametrize(
    "chapter",
    [
        people, bots, training, chats, desk, customers, messaging, insights, functions, webhooks,
        channels, reports,
    ],
    ids=lambda chapter: chapter.__name__.rpartition(".")[2],
)  # fmt: skip
def test_a_chapter_of_the_story(world: World, chapter: ModuleType) -> None:
    chapter.tell(world)


def test_a_key_deletes_all_content_at_the_end(world: World) -> None:
    training.delete_all_content(world)


def test_every_operation_was_driven(world: World) -> None:
    print(table(world))
    missing = undriven(world)
    assert not missing, "\n".join(missing)
