"""A document that golden questions hold back is told wherever people look after the bot."""

import re

import pytest
from django.urls import reverse

from bots.models import Bot, Document, WebUrl
from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Do guests get their money back?"
HELD, TRIED = "On hold: a test question failed", "Running test questions"


@pytest.fixture
def wrong(ann, bot):
    """An answer that is wrong, trained, and waiting for its run."""
    trained(bot, "Guests get their money back within seven days of a cancellation.")
    Bot.objects.update(hold_back_worse=True)
    golden = {"question": QUESTION, "expected_words": ["seven days"]}
    assert ann.post(f"/ai/{bot.pk}/golden-questions", golden).status_code == 201
    pair = {"question": QUESTION, "answer": "Never, says the landlord."}
    made = ann.post(f"/ai/{bot.pk}/train/question-answer", pair).json()
    run_jobs()
    return Document.objects.get(pk=made["id"])


def link_of_run(ann, bot, words):
    (run,) = ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"]
    return f'href="{reverse("admin:bots_goldenrun_change", args=[run["id"]])}">{words}'


def try_it():
    """The run asks now; it waits ten seconds for further documents."""
    Job.objects.filter(name="bots.ask_golden").update(due_at="2026-01-01T00:00:00Z")
    run_jobs()


@pytest.mark.full
def test_the_content_the_document_and_the_list_lead_to_the_run(ann, site, bot, wrong):
    pages = [
        reverse("admin:bots_bot_content", args=[bot.pk]),
        reverse("admin:bots_document_change", args=[wrong.pk]),
        reverse("admin:bots_document_changelist"),
    ]
    for page in pages:
        assert link_of_run(ann, bot, TRIED) in site.get(page).content.decode()
    waits = site.get(pages[0]).content.decode()
    assert "Being tested" in waits
    assert 'hx-trigger="every 2s"' in waits
    try_it()
    for page in pages:
        assert link_of_run(ann, bot, HELD) in site.get(page).content.decode()
    held = site.get(pages[0]).content.decode()
    assert re.search(r">\s*On hold\s*<", held)
    assert len(re.findall(r">\s*Ready\s*<", held)) == 1, "the other one"
    assert 'hx-trigger="every 2s"' not in held
    (run,) = ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"]
    assert ann.post(f"/ai/{bot.pk}/golden-runs/{run['id']}/publish").status_code == 200
    for page in pages:
        assert HELD not in site.get(page).content.decode()
    assert len(re.findall(r">\s*Ready\s*<", site.get(pages[0]).content.decode())) == 2


def test_a_web_address_tells_of_its_pages(ann, site, bot, wrong):
    try_it()
    own = {"client": bot.client, "bot": bot, "url": "http://x.example/", "status": "trained"}
    Document.objects.filter(pk=wrong.pk).update(web_url=WebUrl.objects.create(**own))
    page = site.get(reverse("admin:bots_bot_content", args=[bot.pk])).content.decode()
    (row,) = re.findall(r"<li(?:(?!<li).)*http://x\.example/.*?</li>", page, re.DOTALL)
    assert link_of_run(ann, bot, HELD) in row


@pytest.mark.full
def test_home_failures_and_warnings_count_it(ann, cara, site, bot, wrong):
    home, failures = reverse("admin:index"), reverse("failures")
    dashboard = "/report/warning-dashboard"
    title = "1 document is on hold after a test run"

    def codes(person):
        return [row["code"] for row in person.get(dashboard).json()["warnings"]]

    assert "No failures." in site.get(failures).content.decode(), "it is tried still"
    assert "documents_held" not in codes(ann)
    try_it()
    (warning,) = [
        row for row in ann.get(dashboard).json()["warnings"] if row["code"] == "documents_held"
    ]
    assert (warning["title"], warning["count"]) == (title, 1)
    assert wrong.file_name in site.get(warning["link"]).content.decode()
    assert title in site.get(home).content.decode()
    shown = site.get(failures).content.decode()
    assert "Documents on hold" in shown
    assert link_of_run(ann, bot, "View") in shown
    assert "documents_held" not in codes(cara)
    assert ann.delete(f"/ai/{bot.pk}/train/question-answer/{wrong.pk}").status_code == 204
    assert "documents_held" not in codes(ann)
    assert "No failures." in site.get(failures).content.decode()
