"""Golden questions: written, taken over, asked, and the changes that they hold back."""

import html

import pytest
from django.urls import reverse

from bots.models import Bot, Document, GoldenQuestion, GoldenRun, Prompt
from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs, stub_model
from chats.models import Conversation, Message
from identity.models import AuditEvent, ClientConfig, CreditEntry, Role, Subscription, User
from identity.testing import make_key, make_person, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
REFUNDS = "Guests get their money back within seven days of a cancellation."
PARKING = "Guests park their car for free behind the house."


@pytest.fixture
def path(bot):
    return f"/ai/{bot.pk}/golden-questions"


@pytest.fixture
def runs(bot):
    return f"/ai/{bot.pk}/golden-runs"


@pytest.fixture
def golden(ann, bot, path):
    """Two questions, of which the bot can answer the first."""
    trained(bot, REFUNDS, title="Refunds")
    first = {
        "question": "Do guests get their money back?",
        "expected_source": "refunds", "expected_words": ["seven  days"],
    }  # fmt: skip
    second = {"question": "Where do guests park their car?", "expected_source": "Parking"}
    made = [ann.post(path, body) for body in (first, second)]
    assert [reply.status_code for reply in made] == [201, 201]
    return [first["question"], second["question"]]


def ran(person, runs, **body):
    """A run from its start to its end."""
    started = person.post(runs, body)
    assert started.status_code == 202, started.content
    run_jobs()
    return person.get(f"{runs}/{started.json()['id']}").json()


def test_a_run_says_what_passes_and_nobody_notices(ann, bot, golden, runs):
    refunds, parking = golden
    run = ran(ann, runs)
    assert (run["status"], run["total"], run["done"], run["passed"]) == ("done", 2, 2, 1)
    assert [(item["question"], item["fault"]) for item in run["results"]] == [
        (refunds, None), (parking, "no_answer"),
    ]  # fmt: skip
    assert run["results"][0]["sources"] == ["Refunds"]
    assert "seven days" in run["results"][0]["answer"]
    assert (run["broke"], run["better"], run["outcome"]) == ([], [], None)
    assert not Conversation.objects.exists()
    assert not CreditEntry.objects.filter(kind="reserve").exists()
    trained(bot, PARKING, title="Parking")
    Document.objects.filter(title="Refunds").delete()
    Bot.objects.get(pk=bot.pk).save()
    ann.post(f"/ai/{bot.pk}/train/prompt", {"content": "Be kind."})
    Bot.objects.filter(pk=bot.pk).update(knowledge_version=99)
    later = ran(ann, runs)
    assert (later["broke"], later["better"]) == ([refunds], [parking])
    assert [row["id"] for row in ann.get(runs).json()["items"]] == [later["id"], run["id"]]


def test_what_is_expected_decides(ann, bot, golden, path, runs):
    first = ann.get(path).json()["items"][-1]
    changed = first | {"expected_source": "Parking", "expected_words": []}
    assert ann.put(f"{path}/{first['id']}", changed).status_code == 200
    assert ran(ann, runs)["results"][0]["fault"] == "other_source"
    asked = {"question": first["question"]}
    assert ann.put(f"{path}/{first['id']}", {}).json() == changed
    kept = ann.put(f"{path}/{first['id']}", asked).json()
    assert (kept["expected_source"], kept["expected_words"]) == ("Parking", [])
    ann.put(f"{path}/{first['id']}", first | {"expected_words": ["eight days"]})
    assert ann.put(f"{path}/{first['id']}", asked).json()["expected_words"] == ["eight days"]
    assert ran(ann, runs)["results"][0]["fault"] == "words_missing"
    assert ann.delete(f"{path}/{first['id']}").status_code == 204
    assert ran(ann, runs)["total"] == 1


def test_a_threshold_is_tried_beside_the_present_one(ann, bot, golden, runs):
    run = ran(ann, runs, threshold=1)
    assert (run["threshold"], run["passed"], run["broke"]) == (1, 0, golden[:1])
    assert ClientConfig.objects.get(client=bot.client).answer_threshold < 1
    assert ran(ann, runs)["broke"] == [], "a trial is not what the next run is compared with"


def teach(ann, bot, **pair):
    """A question with its answer, trained; its document."""
    reply = ann.post(f"/ai/{bot.pk}/train/question-answer", pair)
    assert reply.status_code == 202
    run_jobs()
    return Document.objects.get(pk=reply.json()["id"])


def hold_back(ann, bot):
    change = {"bot_name": "Helper", "hold_back_worse": True}
    assert ann.put(f"/ai/bot/{bot.pk}/update-bot", change).json()["hold_back_worse"] is True


def due_at_once():
    """The run that waits for further documents begins now."""
    Job.objects.filter(name="bots.ask_golden").update(due_at="2026-01-01T00:00:00Z")
    run_jobs()


def answer_of(bot, question):
    server = make_key(bot.client, "secret", bot.pk)
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": question, "reply": "async"})
    run_jobs()
    return Message.objects.filter(conversation_id=chat).latest("seq").text


def test_a_bad_document_is_not_published(ann, ben, cara, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    assert (bad.status, bad.pending_review) == ("trained", True)
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    assert (run["document_ids"], run["outcome"]) == ([bad.pk], "held")
    assert run["broke"] == golden[:1]
    assert "seven days" in answer_of(bot, golden[0])
    publish = f"{runs}/{run['id']}/publish"
    assert ben.post(publish).status_code == 403
    assert cara.post(publish).status_code == 404
    shown = ann.get(f"/ai/{bot.pk}/train/document/{bad.pk}").json()
    assert shown["is_held"] is True
    assert ann.post(publish).json()["outcome"] == "published"
    assert "Never" in answer_of(bot, golden[0])
    assert ann.post(publish).json()["code"] == "not_held"
    assert AuditEvent.objects.filter(action="golden_run.published", user=ann.user).count() == 1


def test_what_was_deleted_meanwhile_is_not_published(ann, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    assert run["outcome"] == "held"
    assert ann.delete(f"/ai/{bot.pk}/train/question-answer/{bad.pk}").status_code == 204
    refused = ann.post(f"{runs}/{run['id']}/publish")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_held")
    assert not AuditEvent.objects.filter(action="golden_run.published").exists()
    site = signed_in(ann.user)
    page = site.get(reverse("admin:bots_goldenrun_change", args=[run["id"]])).content.decode()
    assert "1 item deleted since" in page


def outcomes_on_pages(ann, run):
    """What the page of a run and the list say became of it, if both say the same."""
    site = signed_in(ann.user)
    page = site.get(reverse("admin:bots_goldenrun_change", args=[run["id"]])).content.decode()
    listed = site.get(reverse("admin:bots_goldenrun_changelist")).content.decode()
    words = {"On hold<", "Published<", "No longer needed<"}
    cells = listed[listed.index("<tbody") : listed.rindex("</tbody")]
    (found,) = {word for word in words if word in page and word in cells}
    return found[:-1], reverse("admin:bots_goldenrun_publish_run", args=[run["id"]]) in page


@pytest.mark.full
def test_a_run_that_holds_nothing_any_more_says_so_and_offers_nothing(ann, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    assert run["outcome"] == "held"
    assert outcomes_on_pages(ann, run) == ("On hold", True)
    ann.delete(f"/ai/{bot.pk}/train/question-answer/{bad.pk}")
    assert ann.get(runs).json()["items"][0]["outcome"] == "overtaken"
    assert outcomes_on_pages(ann, run) == (
        "No longer needed", False,
    )  # fmt: skip
    site = signed_in(ann.user)
    listed = reverse("admin:bots_goldenrun_changelist")
    page = reverse("admin:bots_goldenrun_change", args=[run["id"]])
    for outcome, is_found in (("held", False), ("overtaken", True)):
        assert (page in site.get(f"{listed}?outcome={outcome}").content.decode()) is is_found


@pytest.mark.full
def test_a_run_that_a_later_one_has_overtaken_leads_to_it(ann, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    due_at_once()
    ann.post(f"/ai/{bot.pk}/train/document/reupload", {"document_ids": [bad.pk]})
    due_at_once()
    due_at_once()
    (second, first) = ann.get(runs).json()["items"]
    assert (second["outcome"], first["outcome"]) == ("held", "overtaken")
    site = signed_in(ann.user)
    page = site.get(reverse("admin:bots_goldenrun_change", args=[first["id"]])).content.decode()
    later = reverse("admin:bots_goldenrun_change", args=[second["id"]])
    assert f'href="{later}">Later changes are in another test run</a>' in page
    assert ann.post(f"{runs}/{second['id']}/publish").json()["outcome"] == "published"
    assert ann.get(f"{runs}/{first['id']}").json()["outcome"] == "overtaken"


def test_what_is_deleted_while_its_run_waits_is_not_called_published(ann, bot, golden, runs):
    hold_back(ann, bot)
    good = teach(ann, bot, question="Parking", answer=PARKING)
    assert ann.delete(f"/ai/{bot.pk}/train/question-answer/{good.pk}").status_code == 204
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    assert (run["status"], run["broke"], run["outcome"]) == ("done", [], "overtaken")
    assert outcomes_on_pages(ann, run) == (
        "No longer needed", False,
    )  # fmt: skip


@pytest.mark.full
def test_a_run_publishes_only_what_it_tried(ann, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    due_at_once()
    (first,) = ann.get(runs).json()["items"]
    pair = f"/ai/{bot.pk}/train/question-answer/{bad.pk}"
    changed = {"question": golden[0], "answer": "Never, says the cook."}
    assert ann.put(pair, changed).status_code == 200
    site = signed_in(ann.user)
    publish = reverse("admin:bots_goldenrun_publish_run", args=[first["id"]])

    def is_refused():
        refused = ann.post(f"{runs}/{first['id']}/publish")
        assert (refused.status_code, refused.json()["code"]) == (409, "not_held")
        assert "Nothing is waiting for this run anymore" in refused.json()["detail"]
        assert "Nothing is waiting for this run anymore" in site.post(publish).content.decode()
        assert Document.objects.get(pk=bad.pk).pending_review

    is_refused()  # its new text waits to be read
    due_at_once()
    is_refused()  # its new text is tried by a run of its own
    due_at_once()
    (second, _) = ann.get(runs).json()["items"]
    assert (second["document_ids"], second["outcome"]) == ([bad.pk], "held")
    is_refused()
    assert "seven days" in answer_of(bot, golden[0])
    assert ann.post(f"{runs}/{second['id']}/publish").json()["outcome"] == "published"
    assert "the cook" in answer_of(bot, golden[0])


def test_what_is_changed_while_a_run_asks_waits_for_the_next_one(ann, bot, golden, runs):
    hold_back(ann, bot)
    good = teach(ann, bot, question="Parking", answer=PARKING)
    GoldenRun.objects.update(status="running")
    pair = f"/ai/{bot.pk}/train/question-answer/{good.pk}"
    ann.put(pair, {"question": golden[0], "answer": "Never, says the cook."})
    Job.objects.filter(name="bots.train_document").update(due_at="2030-01-01T00:00:00Z")
    due_at_once()
    assert Document.objects.get(pk=good.pk).pending_review


def test_a_good_document_is_published_by_itself(ann, bot, golden, runs):
    hold_back(ann, bot)
    good = teach(ann, bot, question="Parking", answer=PARKING)
    assert "behind the house" not in answer_of(bot, golden[1])
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    assert (run["outcome"], run["broke"], run["better"]) == ("published", [], golden[1:])
    good.refresh_from_db()
    assert good.pending_review is False
    assert "behind the house" in answer_of(bot, golden[1])


def test_a_bad_prompt_is_not_published_and_its_model_is_paid(ann, bot, golden, runs, settings):
    with stub_model.running("say:Within seven days [1].") as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        prompt = f"/ai/{bot.pk}/train/prompt"
        assert ann.post(prompt, {"content": "Be kind."}).json()["is_current"] is True
        hold_back(ann, bot)
        # The tried prompt is asked first, then the current one; then the same for parking.
        model.play("say:Guests get their money back [1].,say:Within seven days [1].")
        assert ann.post(prompt, {"content": "Say nothing."}).json()["is_current"] is False
        run_jobs()
        (run,) = ann.get(runs).json()["items"]
        assert (run["prompt_version"], run["outcome"], run["broke"]) == (2, "held", golden[:1])
        assert "Say nothing." in str(model.requests[0])
        assert "Be kind." in str(model.requests[1])
        assert Prompt.objects.get(is_current=True).version == 1
        paid = CreditEntry.objects.filter(reference__startswith="golden:")
        assert -sum(paid.values_list("amount", flat=True)) == len(model.requests) == 2
        ann.post(f"{runs}/{run['id']}/publish")
        assert Prompt.objects.get(is_current=True).version == 2


@pytest.mark.parametrize("ends_before", [True, False])
def test_an_older_prompt_does_not_come_back(ann, bot, golden, runs, settings, ends_before):
    prompt = f"/ai/{bot.pk}/train/prompt"
    with stub_model.running("404" if ends_before else "say:Within seven days [1].") as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        hold_back(ann, bot)
        assert ann.post(prompt, {"content": "Be kind."}).json()["is_current"] is False
        if ends_before:
            run_jobs()
        Bot.objects.update(hold_back_worse=False)
        assert ann.post(prompt, {"content": "Be brief."}).json()["is_current"] is True
        run_jobs()
    (run,) = ann.get(runs).json()["items"]
    assert run["outcome"] == "overtaken"
    reply = ann.post(f"{runs}/{run['id']}/publish")
    assert (reply.status_code, reply.json()["code"]) == (409, "not_held")
    assert Prompt.objects.get(is_current=True).version == 2


def test_a_model_out_of_reach_holds_the_change(ann, bot, golden, runs, settings):
    hold_back(ann, bot)
    Subscription.objects.update(credits_left=0)
    with stub_model.running() as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        ann.post(f"/ai/{bot.pk}/train/prompt", {"content": "Be kind."})
        run_jobs()
        assert not model.requests
    (run,) = ann.get(runs).json()["items"]
    assert (run["status"], run["outcome"]) == ("failed", "held")
    assert not Prompt.objects.filter(is_current=True).exists()


@pytest.mark.parametrize("mode", ["404", "garbled"])
def test_a_model_that_does_not_answer_holds_the_change(ann, bot, golden, runs, settings, mode):
    prompt = f"/ai/{bot.pk}/train/prompt"
    with stub_model.running(mode) as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        assert ann.post(prompt, {"content": "Be kind."}).json()["is_current"] is True
        hold_back(ann, bot)
        assert ann.post(prompt, {"content": "Be brief."}).json()["is_current"] is False
        run_jobs()
    (run,) = ann.get(runs).json()["items"]
    assert (run["status"], run["outcome"], run["engine"]) == ("failed", "held", None)
    assert run["error"].startswith("The model didn't answer: The model server")
    ann.user.language = "de"
    ann.user.save()
    path = reverse("admin:bots_goldenrun_change", args=[run["id"]])
    page = html.unescape(signed_in(ann.user).get(path).content.decode())
    assert run["error"].partition(": ")[2] in page
    assert run["error"] not in page
    assert Prompt.objects.get(is_current=True).version == 1
    # The operator lets it through all the same.
    assert ann.post(f"{runs}/{run['id']}/publish").json()["outcome"] == "published"
    assert Prompt.objects.get(is_current=True).version == 2


def test_a_model_that_stops_answering_ends_the_run(ann, golden, path, runs, settings):
    ann.post(path, {"question": "When do guests get their money back?"})
    with stub_model.running("say:Within seven days [1].,404") as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        run = ran(ann, runs)
    assert (run["status"], run["outcome"]) == ("failed", None)
    assert run["done"] < run["total"]
    assert run["engine"] == "openai_compatible"


def test_a_run_names_who_answered(ann, golden, runs, settings):
    assert ran(ann, runs)["engine"] == "extractive"
    with stub_model.running("ungrounded") as model:
        settings.LLM_BASE_URL, settings.LLM_MODEL = model.base_url, "stub"
        run = ran(ann, runs)
    # The model has answered, but not from the documents: customers get a quotation.
    assert (run["status"], run["engine"]) == ("done", "extractive")


def test_taken_from_what_there_is(ann, bot, path):
    trained(bot, REFUNDS, title="Refunds")
    ann.put(f"/ai/bot/{bot.pk}/sample-questions", {"questions": [{"question": "Any pets?"}]})
    pair = {"question": "Open on Sunday?", "answer": "No."}
    ann.post(f"/ai/{bot.pk}/train/question-answer", pair)
    run_jobs()
    for text in ("Do guests get their money back?", "do guests get their money back"):
        answer_of(bot, text)
    answer_of(bot, "Who won the world cup in 1990?")
    taken = {}
    for source in ("samples", "answers", "asked"):
        added = ann.post(f"{path}/collect", {"source": source}).json()["added"]
        taken[source] = [(item["question"], item["expected_source"]) for item in added]
        assert {item["origin"] for item in added} == {source}
    assert taken == {
        "samples": [("Any pets?", None)],
        "answers": [("Open on Sunday?", "Open on Sunday?")],
        "asked": [("do guests get their money back", "Refunds")],
    }
    assert ann.post(f"{path}/collect", {"source": "asked"}).json() == {"added": []}


def test_refused(ann, cara, bot, golden, path, runs):
    ben = make_person(ann.client, Role.AGENT, "Ben")
    question = {"question": golden[0]}
    assert ann.post(path, question).json()["code"] == "golden_question_exists"
    assert ann.post(path, {"question": " "}).status_code == 422
    assert ben.post(path, {"question": "New?"}).status_code == 403
    assert cara.get(path).status_code == 404
    GoldenQuestion.objects.bulk_create(
        GoldenQuestion(client=bot.client, bot=bot, question=f"{n}?") for n in range(98)
    )
    assert ann.post(path, {"question": "New?"}).json()["code"] == "golden_limit"
    other = GoldenQuestion.objects.create(
        client=bot.client, bot=make_bot(bot.client), question="Other?"
    )
    assert ann.put(f"{path}/{other.pk}", question).status_code == 404
    assert ann.post(runs, {"prompt_version": 7}).status_code == 404
    assert ann.post(runs, {}).status_code == 202
    assert ann.post(runs, {}).json()["code"] == "golden_running"
    assert GoldenRun.objects.count() == 1


def test_in_the_site(ann, bot, golden):
    trainer = make_person(ann.client, Role.VIEWER, "Vic")
    trainer.browser.force_login(User.objects.get(full_name="Vic"))
    add = reverse("admin:bots_goldenquestion_add_question")
    assert trainer.browser.get(add).status_code == 403
    browser = ann.browser
    browser.force_login(User.objects.get(full_name="Ann"))
    form = {"bot": bot.pk, "question": "May dogs stay?", "expected_words": "dogs\nwelcome"}
    listed = browser.post(add, form, follow=True).content.decode()
    assert "Added “May dogs stay?” to your test questions." in listed
    assert "dogs, welcome" in listed
    take = browser.post(
        reverse("admin:bots_goldenquestion_take_over"), {"bot": bot.pk, "source": "samples"},
        follow=True,
    )  # fmt: skip
    assert "0 test questions imported." in take.content.decode()
    started = browser.post(reverse("admin:bots_goldenquestion_ask_all"), {"bot": bot.pk})
    run_jobs()
    page = browser.get(started["Location"]).content.decode()
    assert f"{GoldenRun.objects.get().passed} of 3" in page
    assert "Passed" in page
    assert "Done" in page
    assert "(&#x27;done&#x27;" not in page
    assert "The bot had no answer" in page


@pytest.mark.full
def test_a_held_run_is_published_on_its_page(ann, ben, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says <b>the landlord</b>.")
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    page = reverse("admin:bots_goldenrun_change", args=[run["id"]])
    publish = reverse("admin:bots_goldenrun_publish_run", args=[run["id"]])
    agent, site = signed_in(ben.user), signed_in(ann.user)
    tried = f'href="{reverse("admin:bots_document_change", args=[bad.pk])}">{golden[0]}</a>'
    held = f"{reverse('admin:bots_document_changelist')}?pending_review__exact=1"
    assert "On hold: a test question failed" in site.get(held).content.decode()
    seen = agent.get(page).content.decode()
    assert tried in seen
    assert publish not in seen
    assert agent.post(publish).status_code == 403
    assert publish in site.get(page).content.decode()
    asked = site.get(publish).content.decode()
    assert "Some answers got worse." in asked
    assert tried in asked
    assert Document.objects.get(pk=bad.pk).pending_review
    done = site.post(publish, follow=True).content.decode()
    assert "Published." in done
    assert publish not in done
    assert not Document.objects.get(pk=bad.pk).pending_review
    assert "On hold: a test question failed" not in site.get(held).content.decode()
    assert "Nothing is on hold" in site.post(publish).content.decode()


@pytest.mark.full
def test_content_that_a_run_holds_back_is_discarded_on_its_page(ann, ben, bot, golden, runs):
    hold_back(ann, bot)
    bad = teach(ann, bot, question=golden[0], answer="Never, says the landlord.")
    due_at_once()
    (run,) = ann.get(runs).json()["items"]
    page = reverse("admin:bots_goldenrun_change", args=[run["id"]])
    discard = reverse("admin:bots_goldenrun_discard_run", args=[run["id"]])
    agent, site = signed_in(ben.user), signed_in(ann.user)
    assert agent.post(discard).status_code == 403
    assert discard in site.get(page).content.decode()
    assert golden[0] in site.get(discard).content.decode()
    assert Document.objects.filter(pk=bad.pk).exists()
    assert site.post(discard)["Location"] == page
    assert not Document.objects.filter(pk=bad.pk).exists()
    assert discard not in site.get(page).content.decode()
    # A second click finds nothing to delete.
    before = Document.objects.count()
    site.post(discard)
    assert Document.objects.count() == before


def test_the_page_of_a_run_names_the_prompt_that_it_tries(ann, bot, golden, runs):
    ann.post(f"/ai/{bot.pk}/train/prompt", {"content": "Be kind."})
    run = ran(ann, runs, prompt_version=1)
    link = reverse("admin:bots_prompt_change", args=[Prompt.objects.get().pk])
    site = signed_in(ann.user)
    page = site.get(reverse("admin:bots_goldenrun_change", args=[run["id"]])).content.decode()
    assert f'href="{link}">Instructions, version 1</a>' in page


def test_the_page_of_a_run_shows_how_far_it_is(ann, golden, runs):
    run_id = ann.post(runs, {}).json()["id"]
    path = reverse("admin:bots_goldenrun_change", args=[run_id])
    site = signed_in(ann.user)
    assert '<progress value="0" max="2"' in site.get(path).content.decode()
    # One of two is asked: the worker stores each as it comes.
    GoldenRun.objects.update(
        status="running", results=[{"question": "?", "fault": "", "answer": ""}]
    )
    page = site.get(path)
    assert '<progress value="1" max="2" aria-label="Progress"></progress> 1 of 2' in (
        page.content.decode()
    )
    assert page["Refresh"] == "3"
    GoldenRun.objects.update(status="queued", results=[])
    run_jobs()
    page = site.get(path)
    # Once it has ended, a full bar would look like success.
    assert "<progress" not in page.content.decode()
    assert f"{GoldenRun.objects.get().passed} of 2" in page.content.decode()
    assert "Refresh" not in page


# --- several messages ---------------------------------------------------------------------------

TALK = "Do guests get their money back?"


def talk(ann, path, *turns, **more):
    body = {"question": TALK, "expected_words": ["seven days"], "turns": list(turns), **more}
    reply = ann.post(path, body)
    assert reply.status_code == 201, reply.content
    return reply.json()


def test_messages_are_asked_one_after_the_other(ann, bot, path, runs):
    trained(bot, REFUNDS, title="Refunds")
    trained(bot, PARKING, title="Parking")
    park = {"question": "Where do guests park their car?", "expected_source": "Parking"}
    stored = talk(ann, path, park)
    assert stored["turns"] == [{**park, "expected_words": [], "expected_answer": None}]
    (result,) = ran(ann, runs)["results"]
    assert (result["is_passed"], result["question"]) == (True, TALK)
    assert [turn["sources"] for turn in result["turns"]] == [["Refunds"], ["Parking"]]


def test_the_first_answer_that_fails_ends_it_and_is_its_fault(ann, bot, path, runs):
    trained(bot, REFUNDS, title="Refunds")
    talk(ann, path, {"question": "Where do guests park?"}, {"question": TALK})
    (result,) = ran(ann, runs)["results"]
    assert (result["is_passed"], result["fault"]) == (False, "no_answer")
    assert [turn["fault"] for turn in result["turns"]] == [None, "no_answer"]


def test_a_follow_up_is_asked_with_what_precedes_it(ann, bot, path, runs, stub):
    trained(bot, REFUNDS, title="Refunds")
    talk(ann, path, {"question": "And within how many days?"})
    stub.play("ok")
    ran(ann, runs)
    asked = stub.requests[-1]["messages"]
    assert [line["role"] for line in asked[1:-1]] == ["user", "assistant"]
    assert "seven days" in asked[2]["content"]


def test_a_model_judges_by_the_expected_answer(ann, bot, path, runs, stub):
    trained(bot, REFUNDS, title="Refunds")
    talk(ann, path, expected_answer="Within seven days.")
    stub.json_answer = {"is_met": True}
    stub.play("ok,json")
    assert ran(ann, runs)["passed"] == 1
    judged = str(stub.requests[-1]["messages"])
    assert "Within seven days." in judged
    assert CreditEntry.objects.filter(reference__endswith=":judged", kind="reserve").exists()
    stub.json_answer = {"is_met": False}
    stub.play("ok,json")
    run = ran(ann, runs)
    assert [result["fault"] for result in run["results"]] == ["other_answer"]
    assert run["broke"] == [TALK]


def test_without_a_model_an_expected_answer_is_not_judged(ann, bot, path, runs):
    trained(bot, REFUNDS, title="Refunds")
    talk(ann, path, expected_answer="Never.")
    assert ran(ann, runs)["passed"] == 1


def test_a_failing_follow_up_holds_a_change_back(ann, bot, path, runs):
    trained(bot, REFUNDS, title="Refunds")
    trained(bot, PARKING, title="Parking")
    park = {"question": "Where do guests park their car?", "expected_words": ["free"]}
    talk(ann, path, park)
    ran(ann, runs)
    hold_back(ann, bot)
    bad = teach(ann, bot, question=park["question"], answer="Nowhere near, sorry.")
    due_at_once()
    assert Document.objects.get(pk=bad.pk).pending_review is True
    assert GoldenRun.objects.latest("id").outcome == "held"


@pytest.mark.parametrize(
    "turns", [[{"question": ""}], [{"question": "x"}] * 10, [{"words": ["x"]}], "x"]
)
def test_messages_that_are_refused(ann, path, turns):
    assert ann.post(path, {"question": TALK, "turns": turns}).status_code == 422
    assert not GoldenQuestion.objects.exists()


def test_an_owner_writes_several_messages_in_the_site(ann, bot):
    browser = signed_in(ann.user)
    page = reverse("admin:bots_goldenquestion_add_question")
    form = {
        "bot": bot.pk, "question": TALK, "expected_words": "seven days\nback",
        "turn_0_question": "And where do I park?", "turn_0_words": "free, house",
        "turn_0_answer": "Behind the house",
    }  # fmt: skip
    assert browser.post(page, form).status_code == 302
    row = GoldenQuestion.objects.get()
    assert row.expected_words == ["seven days", "back"]
    assert row.turns == [
        {
            "question": "And where do I park?", "expected_words": ["free", "house"],
            "expected_answer": "Behind the house", "expected_source": None,
        }
    ]  # fmt: skip
    assert browser.get(page).status_code == 200


@pytest.mark.parametrize("turn", [{"turn_1_words": "free"}, {"turn_0_words": "x" * 301}])
def test_a_message_in_the_site_that_is_not_whole_is_refused(ann, bot, turn):
    browser = signed_in(ann.user)
    page = reverse("admin:bots_goldenquestion_add_question")
    refused = browser.post(page, {"bot": bot.pk, "question": TALK, **turn})
    assert "data-refused" in refused.content.decode()
    assert not GoldenQuestion.objects.exists()
