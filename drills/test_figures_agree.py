"""A thousand random report queries: files, search and overview have the same counts."""

import pytest
from hypothesis import HealthCheck, given, settings

from reports.testing import CLOCK_CHANGES, check_figures, fill, questions

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3600)]


@settings(
    max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), derandomize=False
)
@given(question=questions())
def test_every_way_to_ask_counts_the_same(ann, bot, question):
    if not bot.conversations.exists():
        for began in CLOCK_CHANGES:
            fill(bot, began, chats=150)
    check_figures(ann, question)
