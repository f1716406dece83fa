"""Five hundred random sequences of reserving, paying and topping up, different in each run."""

import pytest

from identity.tests import test_credits


@pytest.mark.timeout(1800)
def test_the_ledger_agrees_with_a_plain_model(db: None) -> None:
    test_credits.run_ledger(500)
