"""Callbacks of each channel: 5,000 shuffled events, 1,000 in a body; and 20,000 mutated bodies."""

import pytest

from bots.models import Bot
from channels_app.tests import crowd, strange

# The channels' fixtures.
from channels_app.tests.conftest import (
    account,
    chatapp,
    localapp,
    number,
    oa,
    page,
    photoapp,
    photoapp_token,
    socialnet,
    telegram,
    telegram_bot,
    token,
)
from channels_app.tests.helpers import CONNECTED, Channel
from identity.testing import Person

__all__ = [
    "account", "chatapp", "localapp", "number", "oa", "page", "photoapp", "photoapp_token",
    "socialnet", "telegram", "telegram_bot", "token",
]  # fmt: skip
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]
EVENTS, BODIES = 5_000, 20_000


# It waits for the tick of each answer; telegram has none.
@pytest.mark.parametrize(
    ("name", "connected"), [pair for pair in CONNECTED.items() if pair[0] != "telegram"]
)
def test_every_event_is_counted_and_no_answer_doubled(
    request: pytest.FixtureRequest, ben: Person, name: str, connected: str
) -> None:
    channel: Channel = request.getfixturevalue(name)
    request.getfixturevalue(connected)
    crowd.run(channel, ben, EVENTS, batch=1_000)


@pytest.mark.parametrize(("name", "connected"), CONNECTED.items())
def test_no_body_is_too_strange(
    request: pytest.FixtureRequest, bot: Bot, nobody: Person, name: str, connected: str
) -> None:
    request.getfixturevalue(connected)
    Bot.objects.filter(pk=bot.pk).update(agent_reply=True)
    strange.run(nobody, name, BODIES, seed=20261123)
