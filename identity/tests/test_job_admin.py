"""Jobs in the site: tried again or cancelled, never deleted."""

import re

import pytest
from django.urls import reverse

from chatplatform import jobs
from chatplatform.jobs import leases, registry
from chatplatform.models import Job
from identity.models import AuditEvent


@pytest.fixture
def told(monkeypatch):
    """The numbers of jobs whose waiters were told that they will not be done."""
    numbers = []
    declaration = registry.Declaration(
        lambda number: None, jobs.Queue.REPLY, 3, None, lambda number: numbers.append(number)
    )
    monkeypatch.setitem(registry.declared, "test.cancelled", declaration)
    return numbers


def make_job(client, **columns):
    client_id = client.pk if client else None
    return Job.objects.create(
        name="test.cancelled", client_id=client_id, args={"number": 7}, **columns
    )


def cancel(browser, row, **more):
    form = {"action": "cancel", "_selected_action": [row.pk], **more}
    reply = browser.post(reverse("admin:chatplatform_job_changelist"), form, follow=True)
    row.refresh_from_db()
    return reply


def counts(response):
    """The numbers of canceled and of skipped jobs that the page names."""
    (message,) = response.context["messages"]
    return [int(number) for number in re.findall(r"\d+", str(message))]


def test_a_waiting_job_is_cancelled_after_a_question(staff, client_a, told):
    row = make_job(client_a)
    assert "Cancel these jobs?" in cancel(staff, row).content.decode()
    assert (row.state, told) == ("queued", [])
    assert not AuditEvent.objects.filter(action="job.cancelled").exists()
    assert counts(cancel(staff, row, confirmed="yes")) == [1, 0]
    assert (row.state, told) == ("cancelled", [7])
    assert leases.claim(row.pk) is None
    entry = AuditEvent.objects.get(action="job.cancelled")
    assert (entry.client_id, entry.subject) == (client_a.pk, f"job:{row.pk}")
    assert entry.changes == {"name": "test.cancelled"}
    assert str(entry.user) == "staff@example.com"


def test_of_a_dead_job_everybody_has_been_told(staff, client_a, told):
    row = make_job(client_a, state="dead")
    cancel(staff, row, confirmed="yes")
    assert (row.state, told) == ("cancelled", [])
    assert leases.requeue_dead(row) is False


@pytest.mark.parametrize("state", ["running", "done", "cancelled"])
def test_a_job_that_runs_or_has_ended_stays(staff, client_a, told, state):
    row = make_job(client_a, state=state)
    assert counts(cancel(staff, row, confirmed="yes")) == [0, 1]
    assert (row.state, told) == (state, [])
    assert not AuditEvent.objects.filter(action="job.cancelled").exists()


def test_the_platforms_own_job_stays(staff, told):
    row = make_job(None)
    assert counts(cancel(staff, row, confirmed="yes")) == [0, 1]
    assert (row.state, told) == ("queued", [])


def test_an_owner_cancels_nothing(client, ann, told):
    row = make_job(ann.client)
    client.force_login(ann.user)
    assert cancel(client, row, confirmed="yes").status_code == 403
    assert row.state == "queued"
