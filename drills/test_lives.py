"""Two thousand lives of a conversation, in orders of acts that no run before this one has tried."""

import pytest

from chats.tests import test_state_machine


@pytest.mark.timeout(1800)
def test_every_life_is_legal(db: None) -> None:
    test_state_machine.play(2000)
