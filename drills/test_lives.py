"""Two thousand lives of a conversation, in orders of acts that no run before this one has tried.

Nearly all of the time goes into the requests themselves, so they come in parts: `pytest -n` shares
them among processes.
"""

import pytest

from chats.tests import test_state_machine


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(4))
def test_every_life_is_legal(db: None, part: int) -> None:
    test_state_machine.play(500)
