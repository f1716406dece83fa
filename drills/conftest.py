"""The time limits of drills: the drill's own limit plus the time that a platform needs to start."""

from pathlib import Path

import pytest

from drills.platform import START_SECONDS

FOLDER = Path(__file__).parent
DRILL_SECONDS = 600  # of a drill without a limit of its own


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the time of a platform's start to each drill's own limit, which does not include it."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            mark = item.get_closest_marker("timeout")
            own = mark.args[0] if mark else DRILL_SECONDS
            item.add_marker(pytest.mark.timeout(own + START_SECONDS), append=False)
