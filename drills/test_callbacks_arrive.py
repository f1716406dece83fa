"""Five thousand events of customers on each channel, twice each and in disorder."""

import pytest

from channels_app.tests import crowd

# The channels' fixtures.
from channels_app.tests.conftest import localapp, oa, page, socialnet, token
from channels_app.tests.helpers import Channel
from identity.testing import Person

__all__ = ["localapp", "oa", "page", "socialnet", "token"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]
EVENTS = 5_000


@pytest.mark.parametrize(("name", "connected"), [("socialnet", "page"), ("localapp", "oa")])
def test_every_event_is_counted_and_no_answer_doubled(
    request: pytest.FixtureRequest, ben: Person, name: str, connected: str
) -> None:
    channel: Channel = request.getfixturevalue(name)
    request.getfixturevalue(connected)
    crowd.run(channel, ben, EVENTS)
