"""Decide Function Call: approvals by an agent or by the customer."""

import uuid
from unittest import mock

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import expect

from bots.language import intents
from bots.models import Bot, Function, FunctionCall
from bots.services import function_call_approvals
from bots.tasks import expire_function_calls
from bots.testing import trained
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once, run_before, run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation, Message
from chats.services.reply import after_approval
from chats.testing import put_message
from chats.tests import test_function_calls
from chats.tests.test_desk import say, write_in
from chats.tests.test_function_calls import ask, function_call, get_call, run_interrupted
from identity.models import AuditEvent, User
from identity.testing import enter_site
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "Please refund order 1234"
DONE = "say:Order 1234 was refunded and arrives on 24 November."


def decision(bot, row):
    return f"/function-calling/{bot.pk}/events/{row.pk}/decision"


def replies():
    """All replies, without the note that asks the agents for their approval."""
    rows = test_function_calls.replies()
    return [reply for reply in rows if not reply.text.startswith("Waiting for your approval")]


def texts():
    return [reply.content[0]["text"] for reply in replies()]


@pytest.fixture
def waiting(server, chat, configure, refund, stub):
    """A refund that waits for an agent."""
    configure({**refund, "requires_approval": "agent"})
    stub.play([function_call("refund"), DONE])
    ask(server, chat, QUESTION)
    run_jobs()
    return get_call("waiting")


# --- by an agent --------------------------------------------------------------------------------


def test_a_waiting_call_is_handed_over_to_the_agents(waiting, chat, tool):
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "approval_needed")
    (reply,) = replies()
    assert "needs to approve" in reply.content[0]["text"]
    assert reply.receipt["call_id"] == str(waiting.pk)
    assert tool.requests == []
    assert Event.objects.get(type="conversation.handed_off").data["reason"] == "approval_needed"
    note = Message.objects.get(is_note=True)
    assert "refund (order id: 1234)" in note.text
    assert str(waiting.pk) not in note.text


def test_an_agent_decides_in_the_inbox_beside_the_chat(screen, waiting, chat, ben, tool):
    users = User.objects.filter(pk=ben.user.pk)
    users.update(role="viewer")
    enter_site(screen, ben.user)
    screen.goto(f"/admin/desk/#{chat.pk}")
    asked = screen.locator(f"[data-call='{waiting.pk}']")
    expect(asked.get_by_role("heading")).to_contain_text("Refund")
    expect(asked.locator("dl")).to_have_text("Order id1234")
    expect(asked.get_by_role("button")).to_have_count(0)
    users.update(role="agent")
    screen.reload()
    asked.get_by_role("button", name="Approve").wait_for()
    assert violations(screen) == []
    asked.get_by_role("button", name="Approve").click()
    expect(asked).to_have_count(0)
    expect(screen.locator("#composer")).to_be_focused()
    assert tool.requests == []
    run_jobs()
    expect(screen.get_by_role("log")).to_contain_text(DONE.removeprefix("say:"))
    assert len(tool.requests) == 1
    assert get_call("succeeded").decided_by == ben.user


def test_a_call_that_a_colleague_decides_leaves_the_inbox(screen, waiting, chat, ben, ann, bot):
    enter_site(screen, ben.user)
    screen.goto(f"/admin/desk/#{chat.pk}")
    asked = screen.locator(f"[data-call='{waiting.pk}']")
    asked.get_by_role("button", name="Reject").wait_for()
    assert ann.post(decision(bot, waiting), {"approve": False}).status_code == 200
    run_jobs()
    expect(asked).to_have_count(0)


def test_the_inbox_asks_for_calls_only_beside_a_note(screen, shop, ben):
    chat_id = write_in(shop, "Zoe")
    put_message(
        Conversation.objects.get(pk=chat_id),
        "system",
        content=[{"type": "text", "text": "We are closed."}],
    )
    asked = []
    screen.on("request", lambda request: asked.append(request.url))
    enter_site(screen, ben.user)
    screen.goto(f"/admin/desk/#{chat_id}")
    expect(screen.get_by_role("log")).to_contain_text("We are closed.")
    say(shop, chat_id, "Until when?")
    expect(screen.get_by_role("log")).to_contain_text("Until when?")
    assert not [url for url in asked if "/function-calling/" in url]


def test_an_approved_call_is_made_and_answered(waiting, chat, ben, bot, tool):
    reply = ben.post(decision(bot, waiting), {"approve": True})
    assert reply.status_code == 200
    call = reply.json()
    assert (call["status"], call["decided_by"]) == ("waiting", ben.user.pk)
    assert tool.requests == []
    run_jobs()
    (request,) = tool.requests
    assert request.json()["order"] == "1234"
    assert get_call("succeeded").pk == waiting.pk
    assert texts()[1:] == [DONE.removeprefix("say:")]
    answer = replies()[1]
    assert (answer.sender_type, answer.is_note) == ("bot", False)
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason, chat.waiting_since) == ("bot", None, None)
    assert Event.objects.filter(type="conversation.unassigned").count() == 1
    event = AuditEvent.objects.get(action="function_call.approved")
    assert (event.user, event.subject) == (ben.user, f"function_call:{waiting.pk}")


def test_a_rejected_call_is_never_made(waiting, chat, ben, bot, tool):
    call = ben.post(decision(bot, waiting), {"approve": False}).json()
    assert call["status"] == "rejected"
    run_jobs()
    assert tool.requests == []
    assert "didn't approve" in texts()[1]
    chat.refresh_from_db()
    assert chat.assign_type == "queue"
    assert AuditEvent.objects.filter(action="function_call.rejected").count() == 1


def charged(person):
    """What the receipts of all replies to the customer say that they cost."""
    told = [row for row in replies() if not row.is_note]
    paths = (f"/ai/chat/{row.conversation_id}/messages/{row.pk}/receipt" for row in told)
    return [person.get(path).json()["usage"]["credits"] for path in paths]


@pytest.mark.parametrize(("approve", "costs"), [(True, [1, 1]), (False, [1, 0])])
def test_receipts_around_a_decision_say_what_the_ledger_charged(
    waiting, ben, bot, credits_spent, approve, costs
):
    assert ben.post(decision(bot, waiting), {"approve": approve}).status_code == 200
    run_jobs()
    assert charged(ben) == costs
    assert credits_spent(bot.client) == sum(costs)


def test_one_of_two_concurrent_decisions_succeeds(waiting, ben, ann, bot, tool):
    approved, rejected = at_once(
        lambda: ben.post(decision(bot, waiting), {"approve": True}),
        lambda: ann.post(decision(bot, waiting), {"approve": False}),
    )
    is_approved = approved.status_code == 200
    assert sorted(reply.status_code for reply in (approved, rejected)) == [200, 409]
    second = (rejected if is_approved else approved).json()
    assert second["code"] == "already_decided"
    run_jobs()
    assert len(tool.requests) == (1 if is_approved else 0)
    assert Job.objects.filter(name="chats.continue_after_approval").count() == 1
    assert AuditEvent.objects.filter(action__startswith="function_call.").count() == 1


@pytest.mark.parametrize("first", [True, False])
def test_a_second_decision_is_refused(waiting, ben, ann, bot, tool, first):
    assert ben.post(decision(bot, waiting), {"approve": first}).status_code == 200
    assert ann.post(decision(bot, waiting), {"approve": not first}).status_code == 409
    run_jobs()
    assert len(tool.requests) == first


def test_an_agent_who_took_the_chat_gets_a_note(waiting, chat, ben, bot, tool):
    Conversation.objects.update(assign_type="agent", assignee=ben.user, version=F("version") + 1)
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    assert len(tool.requests) == 1
    note = replies()[1]
    assert (note.is_note, note.sender_type) == (True, "system")
    assert "refund was carried out" in note.content[0]["text"]
    assert "24 November" in note.content[0]["text"]
    chat.refresh_from_db()
    assert chat.assign_type == "agent"


def test_a_repeated_job_answers_once(waiting, ben, bot, tool):
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    Job.objects.filter(name="chats.continue_after_approval").update(state=JobState.QUEUED)
    run_jobs()
    assert (len(tool.requests), len(replies())) == (1, 2)


@pytest.mark.full
def test_a_crash_after_the_call_does_not_repeat_it(waiting, ben, bot, tool):
    ben.post(decision(bot, waiting), {"approve": True})
    run_interrupted()
    run_jobs()
    assert len(tool.requests) == 1
    assert "uncertain" in get_call("failed").error


def test_a_failed_call_leaves_a_note_to_the_agents(waiting, chat, ben, bot, tool, stub):
    tool.mode = "500"
    stub.play("no_answer")
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    note = replies()[1]
    assert note.is_note
    assert "failed" in note.content[0]["text"]
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


def test_a_call_whose_job_has_no_attempt_left_is_left_to_the_agents(waiting, chat, ben, bot, tool):
    ben.post(decision(bot, waiting), {"approve": True})
    Job.objects.filter(name="chats.continue_after_approval").update(max_attempts=1)
    broken = RuntimeError("broken")
    with mock.patch("bots.services.function_runner.run_approved", side_effect=broken):
        run_jobs()
    assert Job.objects.get(name="chats.continue_after_approval").state == "dead"
    assert get_call("failed").error == "It could not be made."
    assert tool.requests == []
    note = replies()[-1]
    assert (note.is_note, note.sender_type) == (True, "system")
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


def test_a_call_that_two_processes_continue_is_told_once(waiting, ben, bot, tool):
    ben.post(decision(bot, waiting), {"approve": True})
    told_before = len(replies())
    with run_before(
        "chats.services.reply.publishing.publish_result",
        lambda: after_approval.continue_reply(str(waiting.pk)),
    ):
        run_jobs()
    assert len(tool.requests) == 1
    assert len(replies()) == told_before + 1


def test_the_customer_reads_that_it_is_done_if_the_model_fails(waiting, ben, bot, tool, stub):
    stub.play("500")
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    assert len(tool.requests) == 1
    assert "it's done" in texts()[1]
    assert replies()[2].is_note


def test_without_a_model_no_quotation_takes_the_place_of_a_result(
    waiting, chat, ben, bot, tool, settings
):
    trained(bot, "REFUNDS\n\nPlease ask for the refund of an order within thirty days.\n")
    settings.LLM_BASE_URL = ""
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    assert len(tool.requests) == 1
    assert "it's done" in texts()[1]
    assert replies()[1].receipt["decision"] == "engine_failed"
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


@pytest.fixture(
    params=["deleted", "switched off", "other arguments", "another path", "another body",
            "another header", "other secrets"],
)  # fmt: skip
def changed_function(request, waiting, configure, refund):
    """The function of the waiting call, changed since the call was asked for."""
    if request.param == "deleted":
        Function.objects.all().delete()
    else:
        http, change = refund["http"], {}
        if request.param == "another path":
            change = {"http": {**http, "url": f"{http['url']}/all"}}
        elif request.param == "another body":
            change = {"http": {**http, "body_template": '{"order": {{order_id}}, "twice": true}'}}
        elif request.param == "another header":
            change = {"http": {**http, "headers": {"X-Shop": "other"}}}
        elif request.param == "other secrets":
            change = {"secret_headers": {"Authorization": "Bearer of-somebody-else"}}
        elif request.param == "other arguments":
            schema = {"type": "object", "properties": {"order_id": {"type": "integer"}}}
            change = {"parameters": schema}
        configure({**refund, **change}, is_enabled=request.param != "switched off")


@pytest.mark.usefixtures("changed_function")
def test_a_function_that_changed_meanwhile_is_not_called(waiting, ben, bot, tool, stub):
    stub.play("no_answer")
    ben.post(decision(bot, waiting), {"approve": True})
    run_jobs()
    assert tool.requests == []
    assert FunctionCall.objects.get(pk=waiting.pk).status == "refused"


def test_an_expired_call_cannot_be_decided(waiting, ben, bot, tool):
    FunctionCall.objects.update(created_at="2020-01-01T00:00:00Z")
    assert ben.post(decision(bot, waiting), {"approve": True}).status_code == 409
    expire_function_calls()
    row = get_call("rejected")
    assert row.error == "expired"
    assert ben.post(decision(bot, waiting), {"approve": True}).status_code == 409
    run_jobs()
    assert tool.requests == []


def test_new_and_decided_calls_do_not_expire(waiting, ben, bot):
    assert function_call_approvals.expire() == 0
    ben.post(decision(bot, waiting), {"approve": True})
    FunctionCall.objects.update(created_at="2020-01-01T00:00:00Z")
    assert function_call_approvals.expire() == 0


def test_a_missing_call_and_a_wrong_body(waiting, bot, ben):
    missing = f"/function-calling/{bot.pk}/events/{uuid.uuid4()}/decision"
    assert ben.post(missing, {"approve": True}).status_code == 404
    for body in ({}, {"approve": None}, {"approve": "perhaps"}, {"approve": True, "x": 1}):
        assert ben.post(decision(bot, waiting), body).status_code == 422


# --- by the customer ----------------------------------------------------------------------------


@pytest.fixture
def waiting_for_customer(server, chat, configure, refund, stub):
    """A refund that the customer was asked about."""
    configure({**refund, "requires_approval": "customer"})
    stub.play([function_call("refund"), DONE])
    ask(server, chat, QUESTION)
    run_jobs()
    return get_call("waiting")


def test_the_question_shows_the_arguments(waiting_for_customer, chat, tool):
    (question,) = replies()
    assert question.sender_type == "bot"
    assert "refund (order id: 1234)" in question.content[0]["text"]
    assert "yes or no" in question.content[0]["text"]
    chat.refresh_from_db()
    assert chat.assign_type == "bot"
    assert tool.requests == []


def test_yes_makes_the_call(waiting_for_customer, server, chat, tool, stub):
    ask(server, chat, "Yes, please!")
    run_jobs()
    assert len(tool.requests) == 1
    assert texts()[1:] == [DONE.removeprefix("say:")]
    row = get_call("succeeded")
    assert row.decided_at is not None
    assert row.decided_by is None
    messages = stub.requests[-1]["messages"]
    assert messages[-1]["role"] == "tool"
    assert any(QUESTION in str(message["content"]) for message in messages)


def test_receipts_around_a_yes_say_what_the_ledger_charged(
    waiting_for_customer, server, chat, ben, credits_spent
):
    ask(server, chat, "Yes, please!")
    run_jobs()
    assert charged(ben) == [1, 1]
    assert credits_spent(chat.client) == 2


def test_of_several_messages_the_last_one_confirms(
    waiting_for_customer, server, chat, client_a, tool, stub
):
    client_a.config.burst_wait_ms = 60_000
    client_a.config.save()
    for text in ("Let me see.", "Yes, please!"):
        ask(server, chat, text)
    Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())
    run_jobs()
    assert len(tool.requests) == 1
    asked = [row["content"] for row in stub.requests[-1]["messages"] if row["role"] == "user"]
    assert "Yes, please!" in asked[-1]


def test_a_yes_after_the_model_was_unset_is_an_engines_failure(
    waiting_for_customer, server, chat, tool, settings
):
    settings.LLM_BASE_URL = ""
    ask(server, chat, "yes")
    run_jobs()
    assert len(tool.requests) == 1
    receipt = replies()[1].receipt
    assert (receipt["decision"], receipt["handoff_reason"]) == ("engine_failed", "engine_failed")
    chat.refresh_from_db()
    assert chat.handoff_reason == "engine_failed"


def test_the_reply_after_a_call_knows_what_changed_during_it(
    waiting_for_customer, server, chat, tool
):
    def change():
        Conversation.objects.filter(pk=chat.pk).update(version=F("version") + 1)

    ask(server, chat, "yes")
    with run_before("bots.services.function_runner.run_approved", change):
        run_jobs()
    assert len(tool.requests) == 1
    assert [reply.sender_type for reply in replies()] == ["bot", "bot"]


def test_an_agent_who_takes_the_chat_during_a_call_has_it(
    waiting_for_customer, server, chat, ben, tool
):
    def take():
        rows = Conversation.objects.filter(pk=chat.pk)
        rows.update(assign_type="agent", assignee=ben.user, version=F("version") + 1)

    ask(server, chat, "yes")
    with run_before("bots.services.function_runner.run_approved", take):
        run_jobs()
    assert len(tool.requests) == 1
    assert len(replies()) == 1, "only the question"


@pytest.mark.parametrize("change", ["the bot is off", "an agent has the chat", "it is answered"])
def test_a_yes_that_the_bot_may_not_answer_makes_no_call(
    waiting_for_customer, server, chat, ben, tool, change
):
    ask(server, chat, "yes")
    if change == "the bot is off":
        Bot.objects.update(is_disabled=True)
    elif change == "an agent has the chat":
        Conversation.objects.update(assign_type="agent", assignee=ben.user)
    else:
        chat.refresh_from_db()
        put_message(chat, "bot", in_reply_to=Message.objects.latest("seq"))
    run_jobs()
    assert tool.requests == []
    assert get_call("waiting").decided_at is None


def test_no_rejects_the_call(waiting_for_customer, server, chat, tool):
    ask(server, chat, "No thanks")
    run_jobs()
    assert tool.requests == []
    assert get_call("rejected").pk == waiting_for_customer.pk
    assert "haven't done it" in texts()[1]


def test_the_question_is_repeated_once(waiting_for_customer, server, chat, tool, stub):
    ask(server, chat, "How long does that take?")
    run_jobs()
    assert "refund (order id: 1234)" in texts()[1]
    stub.play("no_answer")
    ask(server, chat, "And what does it cost?")
    run_jobs()
    assert get_call("rejected").error == "not confirmed"
    assert replies()[2].sender_type == "system"
    assert tool.requests == []


def test_a_request_for_a_person_rejects_the_call(waiting_for_customer, server, chat, tool):
    ask(server, chat, "I want to talk to a human agent")
    run_jobs()
    chat.refresh_from_db()
    assert chat.handoff_reason == "customer_asked"
    assert get_call("rejected")
    assert tool.requests == []


def test_a_late_yes_makes_no_call(waiting_for_customer, server, chat, tool, stub):
    FunctionCall.objects.update(created_at="2020-01-01T00:00:00Z")
    stub.play("no_answer")
    ask(server, chat, "yes")
    run_jobs()
    assert tool.requests == []


def test_a_repeated_reply_to_a_yes_calls_once(waiting_for_customer, server, chat, tool):
    ask(server, chat, "yes")
    run_interrupted(where="chats.services.reply.publishing.publish_reply")
    run_jobs()
    assert len(tool.requests) == 1
    assert len(replies()) == 2


@pytest.fixture
def refund_that_the_customer_confirms(configure, refund, stub):
    configure({**refund, "requires_approval": "customer"})
    stub.play([function_call("refund")])


def test_a_yes_does_not_confirm_what_was_not_asked_yet(
    refund_that_the_customer_confirms, server, chat, add_message, tool
):
    """The first attempt died after the model asked for the call, before the customer was asked."""
    add_message(chat, "bot", "Shall I look at your order?")
    ask(server, chat, "OK")
    run_interrupted(where="chats.services.reply.publishing.publish_reply")
    run_jobs()
    assert tool.requests == []
    assert "yes or no" in texts()[-1]
    assert get_call("waiting")


def test_an_agent_cannot_decide_for_the_customer(waiting_for_customer, bot, ben):
    assert ben.post(decision(bot, waiting_for_customer), {"approve": True}).status_code == 404


def test_the_question_and_the_answer_in_vietnamese(server, chat, configure, refund, stub, tool):
    configure({**refund, "requires_approval": "customer"})
    stub.play([function_call("refund"), "say:Xong."])
    path = f"/ai/client/chat/{chat.pk}"
    for text in ("Tôi muốn hoàn tiền đơn hàng 1234", "Dạ đồng ý ạ"):
        server.post(path, {"text": text, "reply": "async", "language": "vi"})
        run_jobs()
    assert "Bạn có đồng ý không?" in texts()[0]
    assert len(tool.requests) == 1
    assert Message.objects.filter(sender_type="system").count() == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", True), ("Yes please.", True), ("OK 👍", True), ("go ahead!", True), ("Có", True),
        ("vâng ạ", True), ("dạ", True), ("Đồng ý nhé", True), ("no", False),
        ("No, thank you", False), ("don't", False), ("không", False), ("Dạ không ạ", False),
        ("Thôi", False),
        ("yes but only half", None), ("not sure", None), ("maybe", None), ("", None), ("👍", None),
        ("no yes", None), ("yes " * 50, None), ("please", None),
    ],
)  # fmt: skip
def test_yes_and_no_are_recognized(text, expected):
    assert intents.yes_or_no(text, language="vi") is expected
