"""Chat Summary Calculate."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot
from chatplatform.api.schemas import iso
from chatplatform.models import Job, JobState
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Summary, SummaryJob
from chats.services.insight import chat_analysis

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/ai/chat/summary/calculate"


@pytest.fixture
def chats(server, add_message):
    """Three chats with a message, and one without."""
    created = []
    for n in range(4):
        chat_id = server.post("/ai/client/chat", {}).json()["id"]
        created.append(Conversation.objects.get(pk=chat_id))
        if n < 3:
            add_message(created[-1], "customer", f"Where is parcel {n}?")
    return created


def start(ann, **body):
    reply = ann.post(PATH, body)
    assert reply.status_code == 202, reply.content
    return reply.json()


def progress(ann, run):
    state = ann.get(f"{PATH}/{run['id']}").json()
    return state["status"], state["total"], state["done"], state["failed"]


def test_each_chat_without_a_current_summary_gets_one(ann, chats, credits_spent):
    ann.post(f"/ai/chat/{chats[0].pk}/summarize")
    run = start(ann)
    assert (run["status"], run["total"], run["finished_at"]) == ("queued", 2, None)
    run_jobs()
    assert progress(ann, run) == ("done", 2, 2, 0)
    assert ann.get(f"{PATH}/{run['id']}").json()["finished_at"].endswith("Z")
    assert Summary.objects.count() == 3
    assert credits_spent(ann.client) == 3
    assert progress(ann, start(ann))[1] == 0


def test_an_empty_body_is_enough(ann, chats):
    assert ann.post(PATH).status_code == 202


def test_force_includes_chats_with_a_current_summary(ann, chats):
    ann.post(f"/ai/chat/{chats[0].pk}/summarize")
    run = start(ann, force=True)
    run_jobs()
    assert progress(ann, run) == ("done", 3, 3, 0)
    assert Summary.objects.count() == 4


def test_a_run_is_filtered_by_bot_and_date(ann, chats):
    other = make_bot(ann.client)
    Conversation.objects.filter(pk=chats[0].pk).update(bot=other)
    Conversation.objects.filter(pk=chats[1].pk).update(
        created_at=timezone.now() - timedelta(days=9)
    )
    run = start(ann, bot_id=other.pk)
    run_jobs()
    assert progress(ann, run) == ("done", 1, 1, 0)
    week_ago = iso(timezone.now() - timedelta(days=7))
    assert start(ann, created_to=week_ago)["total"] == 1
    run_jobs()
    assert start(ann, created_from=week_ago)["total"] == 1


def test_many_chats_are_done_in_several_jobs(ann, chats, monkeypatch):
    monkeypatch.setattr("chats.services.insight.summary_runs.CHATS_PER_JOB", 2)
    run = start(ann)
    assert run_jobs() == 2
    assert progress(ann, run) == ("done", 3, 3, 0)


def test_an_interrupted_run_continues(ann, chats, credits_spent, monkeypatch):
    run = start(ann, force=True)
    real, summaries = chat_analysis.summarize, []

    def lose_lease_after_second(*args, **more):
        summaries.append(real(*args, **more))
        if len(summaries) == 2:
            # This worker loses its lease; another one will take the job.
            Job.objects.filter(name="chats.summarise_all").update(lease_token=uuid.uuid4())
        return summaries[-1]

    monkeypatch.setattr(chat_analysis, "summarize", lose_lease_after_second)
    run_jobs()
    assert progress(ann, run) == ("running", 3, 1, 0)
    Job.objects.update(state=JobState.QUEUED, lease_token=None, lease_until=None)
    run_jobs()
    assert progress(ann, run) == ("done", 3, 3, 0)
    # The second chat was summarized but not counted: its summary is not made again.
    assert Summary.objects.count() == 3
    assert credits_spent(ann.client) == 3


def test_one_run_at_a_time(ann, ben, cara, chats):
    run = start(ann)
    reply = ben.post(PATH, {})
    assert (reply.status_code, reply.json()["code"]) == (409, "summary_running")
    assert reply.json()["job_id"] == run["id"]
    assert cara.post(PATH, {}).status_code == 202
    run_jobs()
    start(ben)


@pytest.mark.full
def test_an_engine_that_is_down_ends_the_run(ann, chats, broken_model, credits_spent):
    run = start(ann)
    run_jobs()
    assert progress(ann, run) == ("failed", 3, 0, 3)
    assert (Summary.objects.count(), credits_spent(ann.client)) == (0, 0)


def test_an_invalid_answer_fails_one_chat(ann, chats, model):
    model.json_answer = {
        "summary": "Where is the parcel?", "key_points": [], "customer_intent": "", "resolution": ""
    }  # fmt: skip
    model.play("404,json")
    run = start(ann)
    run_jobs()
    assert progress(ann, run) == ("done", 3, 2, 1)


def test_used_up_credits_end_the_run(ann, chats):
    ann.client.subscription.credits_left = 2
    ann.client.subscription.save()
    run = start(ann)
    run_jobs()
    assert progress(ann, run) == ("failed", 3, 2, 0)
    assert Summary.objects.count() == 2


def test_a_summary_is_outdated_by_messages_that_come_meanwhile(ann, chats, add_message):
    run = start(ann)
    with run_before(
        "bots.engine.rule_based_summary.of_conversation",
        lambda: add_message(chats[0], "customer", "Hello?"),
    ):
        run_jobs()
    assert progress(ann, run)[0] == "done"
    assert start(ann)["total"] == 1


@pytest.mark.parametrize("force", [True, False])
def test_chats_opened_meanwhile_are_left_for_the_next_run(ann, server, chats, force):
    run = start(ann, force=force)
    for _ in range(2):
        server.post("/ai/client/chat", {"message": "Hello?"})
    run_jobs()
    assert progress(ann, run) == ("done", 3, 3, 0)
    assert start(ann)["total"] == 2


def test_an_old_chat_with_a_new_message_is_included(ann, chats, add_message):
    run = start(ann)
    add_message(chats[3], "customer", "Hello?")
    run_jobs()
    assert progress(ann, run) == ("done", 4, 4, 0)


@pytest.mark.parametrize(
    "body", [{"bot_id": 0}, {"created_from": "now"}, {"force": "perhaps"}, {"all": True}]
)
def test_a_wrong_body_is_refused(ann, body):
    assert ann.post(PATH, body).status_code == 422
    assert SummaryJob.objects.count() == 0


def test_another_clients_bot_is_not_found(cara, chats):
    assert cara.post(PATH, {"bot_id": chats[0].bot_id}).status_code == 404
    assert SummaryJob.objects.count() == 0
