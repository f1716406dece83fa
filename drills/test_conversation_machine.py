"""Two thousand random sequences of API calls on a conversation, different in each run.

They are split into parts, so that `pytest -n` can distribute them among processes.
"""

import pytest

from chats.tests import test_state_machine


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(4))
def test_every_sequence_is_legal(db: None, part: int) -> None:
    test_state_machine.run_machine(500)
