"""Callbacks of each channel: five thousand events in disorder, twenty thousand mutated bodies."""

import pytest

from channels_app.models import InboundCallback
from channels_app.tests import crowd, test_localapp_callback, test_mutated_callbacks

# The channels' fixtures.
from channels_app.tests.conftest import chatapp, localapp, number, oa, page, socialnet, token
from channels_app.tests.helpers import Channel, post_signed
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.testing import Person

__all__ = ["chatapp", "localapp", "number", "oa", "page", "socialnet", "token"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]
EVENTS, BODIES = 5_000, 20_000


@pytest.mark.parametrize(("name", "connected"), [
    ("socialnet", "page"), ("chatapp", "number"), ("localapp", "oa"),
])  # fmt: skip
def test_every_event_is_counted_and_no_answer_doubled(
    request: pytest.FixtureRequest, ben: Person, name: str, connected: str
) -> None:
    channel: Channel = request.getfixturevalue(name)
    request.getfixturevalue(connected)
    crowd.run(channel, ben, EVENTS)


def test_no_body_of_localapp_is_too_strange(nobody: Person, oa: object) -> None:
    for body in test_localapp_callback.bodies(20261123, BODIES):
        assert test_localapp_callback.post(nobody, body).status_code == 200, body
    check_jobs()


def test_no_body_of_socialnet_is_too_strange(nobody: Person, page: object) -> None:
    for raw in test_mutated_callbacks.bodies(20261123, BODIES):
        assert post_signed(nobody, "/socialnet/webhook", raw).status_code == 200, raw
    check_jobs()


def check_jobs() -> None:
    """Every body is stored, and no job over it fails."""
    while run_jobs():
        pass
    assert InboundCallback.objects.count() == BODIES
    failed = Job.objects.filter(name="channels_app.process_callback").exclude(state="done")
    assert [job.last_error for job in failed] == []
