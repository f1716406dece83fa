"""Replies by a model: cited, recorded in the receipt, and replaced by a quotation if it fails."""

from importlib import import_module

import pytest
import time_machine

from bots.language import phrasebook
from bots.models import Prompt
from bots.testing import trained
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chats.testing import make_chat
from chats.tests.test_send_message import (
    SHOP,
    UNKNOWN,
    ask,
    assert_handed_over,
    count_events,
    replies,
)
from identity.models import Client

pytestmark = pytest.mark.django_db(transaction=True)
SAYS = {code: book.says for code, book in phrasebook.all_books().items()}


@pytest.fixture
def document(bot):
    return trained(bot, SHOP)


def test_a_models_answer_has_citations(server, chat, document, stub):
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert "[1]" in reply.content[0]["text"]
    (citation,) = reply.citations
    assert citation["document_id"] == document.pk
    assert reply.receipt["engine"] == "openai_compatible"
    assert reply.receipt["usage"]["prompt_tokens"] == 200
    assert reply.receipt["prompt_version"] is None
    assert len(stub.requests) == 1


def test_a_job_that_runs_again_behind_its_reply_asks_no_model(server, chat, document, stub):
    ask(server, chat)
    run_jobs()
    Job.objects.filter(name="chats.generate_reply").update(state=JobState.QUEUED)
    assert run_jobs() == 1
    assert len(replies()) == len(stub.requests) == 1


def test_the_receipt_names_the_version_of_the_prompt(server, chat, bot, document, stub):
    for version in (1, 2):
        Prompt.objects.create(
            client=bot.client, bot=bot, version=version, content="Be kind.", is_current=version == 2
        )
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.receipt["prompt_version"] == 2


def test_a_models_citation_names_the_page(server, chat, document, stub):
    document.chunks.update(page=7)
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.receipt["engine"] == "openai_compatible"
    assert reply.citations[0]["page"] == 7


def test_a_model_is_told_the_tone_and_the_language_of_the_prompt(ann, server, chat, document, stub):
    body = {"content": "Seien Sie kurz.", "tone": "formal", "language": "de"}
    assert ann.post(f"/ai/{chat.bot_id}/train/prompt", body).status_code == 200
    ask(server, chat)
    run_jobs()
    (request,) = stub.requests
    told = request["messages"][0]["content"]
    assert "\nSeien Sie kurz.\nThe instructions above are written in the language de;" in told
    assert "Write every reply in this tone: formal." in told


def test_a_model_is_told_for_whom_it_writes_when_and_where_a_passage_stands(
    server, chat, document, stub
):
    Client.objects.filter(pk=chat.client_id).update(timezone="Asia/Ho_Chi_Minh")
    document.chunks.update(page=7, heading="Returns\nSHOP")
    with time_machine.travel("2026-11-26 20:05:00+00:00", tick=False):
        ask(server, chat)
        run_jobs()
    (request,) = stub.requests
    told = [message["content"] for message in request["messages"]]
    assert told[0].startswith(f"You are {chat.bot.bot_name}, the assistant of Acme.\n")
    assert told[-1].startswith("It is Friday, 2026-11-27, 03:05 (Asia/Ho_Chi_Minh).\n")
    assert " > Returns SHOP, page 7\n" in told[-1]


def test_the_fences_of_a_chat_stay_and_those_of_another_differ(server, bot, chat, document, stub):
    ask(server, chat)
    run_jobs()
    ask(server, chat)
    run_jobs()
    ask(server, make_chat(bot))
    run_jobs()
    told = (request["messages"][-1]["content"] for request in stub.requests)
    first, second, other = (text.partition("<<<SNIPPETS ")[2][:8] for text in told)
    assert first == second != other


def test_the_hour_that_a_model_was_told_is_no_source_of_figures(server, chat, document, stub):
    stub.play("say:Within 2026 days [1].")
    stub.confirms = False
    ask(server, chat)
    run_jobs()
    assert [reply for reply in replies() if "2026" in reply.text] == []


@pytest.mark.full
@pytest.mark.parametrize("mode", ["slow", "cut", "500", "nonsense", "empty", "ungrounded"])
def test_a_failing_model_is_replaced_by_quotes(server, chat, document, stub, settings, mode):
    if mode == "slow":
        # Loading the package is not part of the deadline.
        import_module("openai")
        settings.LLM_DEADLINE_SECONDS = 1.5
    stub.play(mode)
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.sender_type == "bot"
    assert "thirty days" in reply.content[0]["text"]
    assert [citation["document_id"] for citation in reply.citations] == [document.pk]
    assert reply.receipt["model"] == "extractive"
    assert reply.receipt["engine_error"]
    assert Job.objects.get().attempts == 1
    assert stub.requests
    assert count_events("conversation.handed_off") == 0


@pytest.mark.parametrize(
    ("script", "by_model"),
    [
        # It never cites.
        (["say:Damaged goods may be returned within thirty days."], True),
        # It finds no answer too often.
        (["no_answer"], False),
        # It answers in another language.
        (["say:Beschädigte Waren können innerhalb von dreißig Tagen zurückgegeben werden. [1]",
          "say:Damaged goods may be returned within thirty days. [1]"], True),
        # It repeats the passages.
        (["say:[1]\nGuide > RETURNS\nYou may return damaged goods within thirty days. [1]"], False),
    ],
)  # fmt: skip
def test_with_a_weak_model_customers_get_the_best_of_it(
    server, chat, document, stub, script, by_model
):
    document.title = "Guide"
    document.save()
    stub.play(script)
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert "thirty days" in reply.content[0]["text"]
    assert [citation["document_id"] for citation in reply.citations] == [document.pk]
    assert reply.receipt["engine"] == ("openai_compatible" if by_model else "extractive")
    assert (SAYS["en"]["found"] in reply.text) == (script == ["no_answer"])


def test_without_the_fallback_a_failing_model_hands_over(server, chat, document, stub, client_a):
    client_a.config.fallback_to_extractive = False
    client_a.config.save()
    stub.play("500")
    ask(server, chat)
    run_jobs()
    assert_handed_over(chat, "engine_failed")


SOLAR = (
    "We install the panels in two days. A scaffold goes up one day before. A pitched roof needs no"
    " building permit; for a listed building ask the town hall first. The guarantee on the panels"
    " is 25 years. Rain keeps the panels clean."
)
ON_PERMITS = "Ist für ein Schrägdach eine Genehmigung nötig?"


def test_a_model_answers_from_a_document_in_another_language(server, chat, bot, stub):
    trained(bot, SOLAR)
    told = "Für ein Schrägdach brauchen Sie keine Baugenehmigung. [1]"
    stub.play([f"say:{told}"])
    ask(server, chat, ON_PERMITS)
    run_jobs()
    (reply,) = replies()
    assert reply.content[0]["text"] == told
    assert reply.receipt["confidence"] < reply.receipt["threshold"]


@pytest.mark.parametrize("mode", ["nonsense", "ungrounded"])
def test_what_the_search_is_not_sure_of_is_not_quoted(server, chat, bot, stub, mode):
    trained(bot, SOLAR)
    stub.play(mode)
    ask(server, chat, ON_PERMITS)
    run_jobs()
    assert stub.requests
    assert_handed_over(chat, "no_answer")


def test_no_model_is_asked_in_another_language_on_another_topic(server, chat, bot, stub):
    trained(bot, SOLAR)
    ask(server, chat, "Wie koche ich Spaghetti?")
    run_jobs()
    assert stub.requests == []
    assert_handed_over(chat, "no_answer")


def test_no_model_is_asked_without_a_relevant_document(server, chat, document, stub):
    ask(server, chat, UNKNOWN)
    run_jobs()
    assert_handed_over(chat, "no_answer")
    assert stub.requests == []


@pytest.mark.parametrize("confirms", [True, False])
def test_an_answer_is_sent_if_the_model_confirms_it(server, chat, document, stub, confirms):
    stub.confirms = confirms
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.sender_type == "bot"
    assert reply.receipt["engine"] == ("openai_compatible" if confirms else "extractive")
    assert reply.receipt["usage"]["prompt_tokens"] == 200
    assert reply.receipt["credits"] == 1
    assert len(stub.requests) == len(stub.confirmations) == 1
    refused = "The judge does not confirm the answer."
    assert reply.receipt.get("engine_error") == (None if confirms else refused)


def test_a_client_may_do_without_the_judge(ann, server, chat, document, stub):
    path = f"/config/{chat.client_id}/chat"
    assert ann.post(path, {"confirm_answers": False}).json()["confirm_answers"] is False
    stub.confirms = False
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.receipt["engine"] == "openai_compatible"
    assert reply.receipt["usage"]["prompt_tokens"] == 100
    assert stub.confirmations == []


def test_without_it_the_judge_is_asked_about_a_doubt_alone(server, chat, document, stub, client_a):
    client_a.config.confirm_answers = False
    client_a.config.save()
    stub.play("say:Damaged goods may be returned within 90 days. [1]")
    stub.confirms = False
    ask(server, chat)
    run_jobs()
    (reply,) = replies()
    assert reply.receipt["engine"] == "extractive"
    assert reply.receipt["engine_error"].endswith("In no snippet: 90.")
    assert len(stub.requests) == len(stub.confirmations) == 1
