"""A bot's procedures: what it asks, calls, confirms and says step by step, with no model or one."""

from functools import partial

import pytest
from django.urls import reverse

from bots.models import Bot, FunctionCall
from bots.testing import trained
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer
from chats.tests.test_function_calls import ask, function_call, replies, run_interrupted
from identity.models import AuditEvent, Subscription
from identity.testing import signed_in

pytestmark = pytest.mark.django_db(transaction=True)

START = "I want my money back"
STEPS = """\
ask order_id: What's your order number?
call get_order
if {get_order.age_days} > 30:
    say: We take orders back within 30 days.
    end
confirm: Refund order {order_id}?
call refund
say: Order {order_id} was refunded.
"""

ASIDE = "When is the shop open?"


def path_of(bot):
    return f"/ai/{bot.pk}/procedures"


def write(person, bot, steps=STEPS, **more):
    body = {"name": "Refund", "starts_with": [START], "steps": steps, **more}
    return person.put(path_of(bot), {"procedures": [body]})


@pytest.fixture
def procedure(ann, bot, configure, get_order, refund, tool):
    """A refund; the order is a few days old."""
    configure(get_order, refund)
    tool.reply = {"age_days": 5}
    reply = write(ann, bot)
    assert reply.status_code == 200, reply.content


def tell(server, chat, *lines):
    """The bot's replies after each of the customer's messages."""
    for line in lines:
        ask(server, chat, line)
        run_jobs()
    return [row.text for row in replies()]


def rows():
    """What the steps did, of all messages."""
    receipts = [row.receipt["procedure"] for row in replies() if "procedure" in row.receipt]
    return [(step["kind"], step["result"]) for receipt in receipts for step in receipt["steps"]]


@pytest.mark.usefixtures("procedure")
def test_it_runs_without_a_model_and_each_step_is_a_row(server, chat, tool, ann):
    said = tell(server, chat, START, "1234", "yes")
    assert said == [
        "What's your order number?", "Refund order 1234?", "Order 1234 was refunded.",
    ]  # fmt: skip
    assert [request.method for request in tool.requests] == ["GET", "POST"]
    assert rows() == [
        ("ask", "asked"), ("ask", "given"), ("call", "succeeded"), ("if", "no"),
        ("confirm", "asked"), ("confirm", "yes"), ("call", "succeeded"), ("say", "said"),
        ("end", "done"),
    ]  # fmt: skip
    middle = replies()[1]
    shown = ann.get(f"/ai/chat/{chat.pk}/messages/{middle.pk}/receipt").json()["procedure"]
    assert (shown["name"], shown["waits_for"]) == ("Refund", "confirm")
    call = FunctionCall.objects.get(function_name="get_order")
    assert shown["steps"][1]["call_id"] == str(call.pk)
    assert shown["steps"][2]["by"] == "rule"


@pytest.mark.usefixtures("procedure")
def test_a_condition_ends_it(server, chat, tool):
    tool.reply = {"age_days": 31}
    assert tell(server, chat, START, "1234")[1] == "We take orders back within 30 days."
    assert len(tool.requests) == 1
    assert tell(server, chat, "yes")[2:] != ["Order 1234 was refunded."]


@pytest.mark.usefixtures("procedure")
@pytest.mark.parametrize(("days", "answer"), [(31, "Too late."), (5, "In time.")])
def test_of_an_if_and_its_else_one_is_taken(customer, ann, bot, tool, days, answer):
    steps = "call get_order with order_id = 1\nif {get_order.age_days} > 30: say: Too late."
    write(ann, bot, f"{steps}\nelse: say: In time.")
    tool.reply = {"age_days": days}
    assert customer(START) == [answer]


@pytest.mark.usefixtures("procedure")
def test_a_no_ends_it_and_calls_nothing(server, chat, tool):
    tell(server, chat, START, "1234", "no")
    assert [request.method for request in tool.requests] == ["GET"]
    assert rows()[-1] == ("end", "declined")
    assert replies()[-1].receipt["procedure"].get("waiting") is None


@pytest.mark.usefixtures("procedure")
def test_a_question_in_between_is_answered_and_the_step_asked_again(server, chat, bot, tool):
    trained(bot, "HOURS\n\nThe shop is open from nine to five on all days.\n")
    said = tell(server, chat, START, ASIDE)
    assert "nine to five" in said[1]
    assert said[1].endswith("What's your order number?")
    assert tell(server, chat, "1234")[2] == "Refund order 1234?"


@pytest.mark.usefixtures("procedure")
def test_who_gets_no_answer_in_between_is_not_asked_again(customer, chat):
    customer(START, ASIDE)
    chat.refresh_from_db()
    assert chat.assign_type == "queue"
    assert not replies()[-1].text.endswith("What's your order number?")


@pytest.mark.usefixtures("procedure")
@pytest.mark.parametrize("before", [[], ["1234"]], ids=["ask", "confirm"])
def test_who_asks_twice_about_something_else_has_left_it(customer, bot, tool, before):
    trained(bot, "HOURS\n\nThe shop is open from nine to five on all days.\n")
    said = customer(START, *before, ASIDE, ASIDE, "yes")
    question = said[len(before)]
    assert [text.endswith(question) for text in said[-3:]] == [True, False, False]
    assert [request.method for request in tool.requests] == ["GET"] * len(before)


@pytest.mark.usefixtures("procedure")
@pytest.mark.parametrize(
    ("lines", "result", "assignee"),
    [
        (["I'd rather not say"], "declined", "bot"),
        (["zoe@", "zoe@"], "not_given", "queue"),
    ],
)
def test_who_gives_no_value_ends_it(customer, chat, ann, bot, *, lines, result, assignee):
    write(ann, bot, "ask mail (email): Your email?\nsay: Thanks.")
    assert "Thanks." not in customer(START, *lines)
    assert rows()[-1] == ("end", result)
    chat.refresh_from_db()
    assert chat.assign_type == assignee


@pytest.mark.usefixtures("procedure")
def test_what_is_known_is_not_asked(customer, chat, ann, bot):
    Customer.objects.filter(pk=chat.customer_id).update(email="zoe@example.com")
    steps = "ask email (email): Your email?\nask day (date): When?\nask day (date): And when?"
    write(ann, bot, f"{steps}\nsay: {{email}}, {{day}}")
    assert customer(START, "2026-12-24") == ["When?", "zoe@example.com, 2026-12-24"]
    assert rows()[0] == ("ask", "known")


@pytest.mark.usefixtures("procedure")
def test_who_asks_for_a_person_gets_one(server, chat, tool):
    tell(server, chat, START, "I want to talk to a person")
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "customer_asked")
    assert tool.requests == []


@pytest.mark.usefixtures("procedure")
def test_a_failed_call_hands_over_with_the_words_before_it(server, chat, ann, bot, tool):
    steps = "say: I look it up.\nask order_id: Which order?\nsay: One moment.\ncall get_order"
    write(ann, bot, steps)
    tool.mode = "500"
    said = tell(server, chat, START, "1234")
    assert said[0] == "I look it up.\n\nWhich order?"
    assert said[1].startswith("One moment.")
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "procedure")
    assert rows()[-2:] == [("call", "failed"), ("end", "failed")]


@pytest.mark.usefixtures("procedure")
def test_a_failure_may_be_foreseen(server, chat, ann, bot, tool):
    steps = "ask order_id: Which?\ncall get_order\nif get_order failed: say: I can't find it."
    write(ann, bot, steps)
    tool.mode = "404"
    assert tell(server, chat, START, "1234")[1] == "I can't find it."
    chat.refresh_from_db()
    assert chat.assign_type == "bot"


@pytest.mark.usefixtures("procedure")
def test_a_failure_that_may_have_had_an_effect_hands_over(server, chat, ann, bot, tool):
    steps = "ask order_id: Which?\ncall refund\nif refund failed: say: Try again."
    assert write(ann, bot, steps).status_code == 200
    tool.mode = "500"
    tell(server, chat, START, "1234")
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "procedure")
    assert len(tool.requests) == 1


@pytest.mark.usefixtures("procedure")
@pytest.mark.parametrize(
    ("given", "change", "result"),
    [
        ("1234", {"is_enabled": False}, "unavailable"),
        ("1" * 21, {}, "wrong_values"),
    ],
)
def test_a_call_that_cannot_be_made_hands_over(
    customer, chat, configure, get_order, *, refund, tool, given, change, result
):
    customer(START)
    configure(get_order, refund, **change)
    customer(given)
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "procedure")
    assert rows()[-2:] == [("call", result), ("end", "failed")]
    assert tool.requests == []


@pytest.mark.parametrize(
    ("asked", "required", "sent"), [("(number)", "string", "1234"), ("", "integer", 1234)]
)
def test_a_value_is_sent_as_the_function_takes_it(
    customer, ann, bot, configure, *, get_order, asked, required, sent
):
    parameters = get_order["parameters"] | {"properties": {"order_id": {"type": required}}}
    configure(get_order | {"parameters": parameters})
    write(ann, bot, f"ask order_id {asked}: Which?\ncall get_order\nsay: Found.")
    assert customer(START, "1234")[-1] == "Found."
    assert FunctionCall.objects.get().arguments == {"order_id": sent}


@pytest.fixture
def asks(configure, refund):
    """Refunds need somebody's approval."""
    return lambda approval: configure({**refund, "requires_approval": approval})


@pytest.mark.parametrize(
    ("lines", "calls", "end"),
    [
        (["yes"], 1, "done"),
        (["no", "yes"], 0, "declined"),
        ([ASIDE, "yes"], 1, "done"),
        ([ASIDE, ASIDE, "yes"], 0, None),
    ],
)
def test_the_customer_confirms_a_call(server, chat, ann, bot, *, asks, tool, lines, calls, end):
    asks("customer")
    write(ann, bot, "ask order_id: Which?\ncall refund\nsay: Refunded.")
    said = tell(server, chat, START, "1234")
    assert "refund" in said[1]
    assert "order_id" not in said[1]
    assert len(replies()[1].content[0]["options"]) == 2
    assert tool.requests == []
    assert tell(server, chat, *lines).count("Refunded.") == calls
    assert len(tool.requests) == calls
    assert [result for kind, result in rows() if kind == "end"] == ([end] if end else [])
    chat.refresh_from_db()
    assert chat.handoff_reason != "engine_failed"


@pytest.fixture
def customer(server, chat):
    return partial(tell, server, chat)


@pytest.fixture
def refund_asks(configure, get_order, refund):
    """The customer must confirm a refund, and not a lookup."""
    configure(get_order, {**refund, "requires_approval": "customer"})


@pytest.mark.usefixtures("refund_asks")
def test_a_yes_to_a_call_in_between_confirms_no_step(customer, ann, bot, tool, stub):
    write(ann, bot, "confirm: Look it up?\ncall get_order with order_id = 1\nsay: Found.")
    customer(START)
    stub.play([function_call("refund"), "say:Order 1234 was refunded."])
    customer("Can you refund order 1234 first?")
    assert tool.requests == []
    said = customer("yes")
    assert [request.method for request in tool.requests] == ["POST"]
    assert said[-1] == "Order 1234 was refunded.\n\nLook it up?"
    assert customer("yes")[-1] == "Found."
    assert [request.method for request in tool.requests] == ["POST", "GET"]


def test_a_phone_number_is_one_of_the_clients_country(customer, ann, bot, client_a):
    client_a.timezone = "Asia/Ho_Chi_Minh"
    client_a.save()
    write(ann, bot, "ask phone (phone): Your number?\nsay: Thanks.")
    assert "Thanks." not in customer(START, "901820")
    assert customer("0901 234 567")[-1] == "Thanks."


def test_an_agent_approves_a_call(customer, ann, ben, bot, asks, tool):
    asks("agent")
    write(ann, bot, "ask order_id: Which?\ncall refund\nask mail (email): Your email?\nsay: Bye.")
    customer(START, "1234")
    chat = Conversation.objects.get()
    assert (chat.handoff_reason, tool.requests) == ("approval_needed", [])
    call = FunctionCall.objects.get(status="waiting")
    ben.post(f"/function-calling/{bot.pk}/events/{call.pk}/decision", {"approve": True})
    run_jobs()
    assert len(tool.requests) == 1
    assert replies()[-1].text == "Your email?"
    assert customer("zoe@example.com")[-1] == "Bye."


def test_what_is_said_after_an_approval_is_told_before_a_person_goes_on(
    customer, ann, ben, bot, asks, tool
):
    asks("agent")
    write(ann, bot, "ask order_id: Which?\ncall refund\nsay: Refunded.\nhand over")
    customer(START, "1234")
    call = FunctionCall.objects.get(status="waiting")
    ben.post(f"/function-calling/{bot.pk}/events/{call.pk}/decision", {"approve": True})
    run_jobs()
    assert len(tool.requests) == 1
    said = [row.text for row in replies() if not row.is_note]
    assert said[-1].startswith("Refunded.")
    assert Conversation.objects.get().assign_type == "queue"


def approve(ben, bot, call):
    path = f"/function-calling/{bot.pk}/events/{call.pk}/decision"
    assert ben.post(path, {"approve": True}).status_code == 200
    run_jobs()


@pytest.mark.parametrize("said", ["", "say: Refunded.\n"])
def test_a_chat_that_was_returned_before_the_approval_is_handed_over_again(
    customer, chat, ann, ben, *, bot, asks, said
):
    asks("agent")
    write(ann, bot, f"ask order_id: Which?\ncall refund\n{said}hand over")
    customer(START, "1234")
    returned = ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "bot"})
    assert returned.json()["assign_type"] == "bot"
    approve(ben, bot, FunctionCall.objects.get())
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "procedure")
    told = [row.text for row in replies() if not row.is_note][2:]
    assert len(told) == 1
    assert told[0].startswith(said[5:-1])


def test_after_an_approval_the_next_call_is_proposed_to_the_agents(
    customer, ann, ben, bot, *, configure, get_order, refund, tool
):
    configure(*({**function, "requires_approval": "agent"} for function in (get_order, refund)))
    write(ann, bot, "ask order_id: Which?\ncall get_order\ncall refund\nsay: Refunded.")
    customer(START, "1234")
    approve(ben, bot, FunctionCall.objects.get())
    second = FunctionCall.objects.get(status="waiting")
    assert second.function_name == "refund"
    assert [row for row in replies() if row.is_note][-1].receipt["call_id"] == str(second.pk)
    approve(ben, bot, second)
    assert [request.method for request in tool.requests] == ["GET", "POST"]
    assert replies()[-1].text == "Refunded."


def test_after_an_approval_a_changed_procedure_is_left_to_the_agents(
    customer, chat, ann, ben, *, bot, asks, stub
):
    asks("agent")
    write(ann, bot, "ask order_id: Which?\ncall refund\nsay: Refunded.")
    customer(START, "1234")
    write(ann, bot, "say: Something else.")
    approve(ben, bot, FunctionCall.objects.get())
    assert FunctionCall.objects.get().status == "succeeded"
    assert Job.objects.get(name="chats.continue_after_approval").state == JobState.DONE
    assert replies()[-1].is_note
    assert stub.requests == [], "the model does not make up how it ends"
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


@pytest.mark.usefixtures("procedure")
def test_killed_in_the_middle_it_makes_each_call_once(server, chat, ann, bot, tool):
    write(ann, bot, "ask order_id: Which?\ncall refund\ncall get_order\nsay: Done.")
    tell(server, chat, START)
    ask(server, chat, "1234")
    run_interrupted()
    run_jobs()
    assert [request.method for request in tool.requests].count("POST") == 1
    Job.objects.filter(name="chats.generate_reply").update(state=JobState.QUEUED)
    run_jobs()
    assert [request.method for request in tool.requests].count("POST") == 1


@pytest.mark.usefixtures("procedure")
def test_killed_after_a_call_it_goes_on_with_the_next(server, chat, ann, bot, tool):
    write(ann, bot, "ask order_id: Which?\ncall refund\ncall get_order\nsay: Done.")
    tell(server, chat, START)
    ask(server, chat, "1234")
    run_interrupted("chats.services.reply.procedure_runner.procedures.result_of")
    assert [request.method for request in tool.requests] == ["POST"]
    run_jobs()
    assert [request.method for request in tool.requests] == ["POST", "GET"]
    assert replies()[-1].text == "Done."


@pytest.mark.usefixtures("procedure")
def test_a_procedure_that_was_changed_is_left_to_a_person(server, chat, ann, bot, tool):
    tell(server, chat, START)
    write(ann, bot, "say: Something else.")
    tell(server, chat, "1234")
    assert tool.requests == []
    chat.refresh_from_db()
    assert chat.handoff_reason == "procedure"


@pytest.mark.usefixtures("procedure")
def test_a_model_starts_it_and_judges_conditions(server, chat, ann, bot, tool, stub):
    steps = "ask order_id: Which?\ncall get_order\nif the order is late: say: Sorry!\nsay: Bye."
    write(ann, bot, steps)
    name = procedure_tool(stub, server, chat)
    stub.play([function_call(name)])
    said = tell(server, chat, "The parcel is broken, what now?")
    assert said[-1] == "Which?"
    stub.json_answer = {"is_known": True, "holds": True}
    stub.play("json")
    assert tell(server, chat, "1234")[-1] == "Sorry!\n\nBye."
    assert ("if", "yes") in rows()
    assert replies()[-1].receipt["usage"]["prompt_tokens"] > 0


@pytest.mark.usefixtures("procedure")
@pytest.mark.parametrize("lacks", ["knowledge", "health", "credits", "a model"])
def test_what_a_model_cannot_judge_a_person_does(server, chat, ann, bot, *, stub, settings, lacks):
    write(ann, bot, "ask order_id: Which?\nif the order is late: say: Sorry!\nsay: Bye.")
    stub.json_answer = {"is_known": lacks != "knowledge", "holds": True}
    stub.play("500" if lacks == "health" else "json")
    if lacks == "credits":
        Subscription.objects.update(credits_left=0)
    if lacks == "a model":
        settings.LLM_BASE_URL = ""
    tell(server, chat, START, "1234")
    chat.refresh_from_db()
    assert chat.handoff_reason == "procedure"
    assert ("if", "unknown") in rows()
    assert bool(stub.requests) == (lacks in {"knowledge", "health"})


def procedure_tool(stub, server, chat):
    """The name by which a model starts the procedure."""
    stub.play("say:Hello there, how can I help?")
    tell(server, chat, "Good day, may I ask you a thing about my parcel?")
    names = [tool["function"]["name"] for tool in stub.requests[-1]["tools"]]
    return next(name for name in names if name.startswith("start_refund"))


@pytest.mark.usefixtures("procedure")
def test_one_that_is_off_is_not_started(server, chat, ann, bot, tool):
    write(ann, bot, is_enabled=False)
    assert tell(server, chat, START)[0] != "What's your order number?"


def test_what_cannot_be_written(ann, bot, configure, get_order):
    configure(get_order)
    refused = write(ann, bot, "say: Hi\ncall no_such_function")
    assert refused.status_code == 422
    assert "Line 2" in refused.json()["detail"][0]["msg"]
    assert "get_order" in refused.json()["detail"][0]["msg"]
    assert write(ann, bot, "dance").status_code == 422
    body = {"name": "A", "starts_with": ["x"], "steps": "end"}
    twice = ann.put(path_of(bot), {"procedures": [body, body | {"name": "a"}]})
    assert twice.status_code == 422
    assert ann.get(path_of(bot)).json() == {"procedures": []}


def test_only_trainers_write_and_others_see_nothing(ann, ben, cara, bot):
    assert write(ben, bot, "end").status_code == 403
    assert write(cara, bot, "end").status_code == 404
    assert write(ann, bot, "end").status_code == 200
    assert ben.get(path_of(bot)).json()["procedures"][0]["name"] == "Refund"
    assert AuditEvent.objects.filter(action="bot.updated", subject=f"bot:{bot.pk}").exists()


def test_an_owner_writes_one_in_the_site_and_tries_it(ann, bot):
    browser = signed_in(ann.user)
    page = reverse("admin:bots_bot_behaviour", args=[bot.pk])
    form = {
        "form": "procedures", "name_0": "Greeting", "starts_0": "Greet me\nSay hi to me",
        "steps_0": "if the sun shines:\n    say: Hello\nend",
    }  # fmt: skip
    assert browser.post(page, form).status_code == 302
    stored = Bot.objects.get().procedures[0]
    assert (stored["starts_with"], stored["is_enabled"]) == (["Greet me", "Say hi to me"], True)
    shown = browser.get(page).content.decode()
    assert 'name="steps_1"' in shown
    wrong = browser.post(page, form | {"steps_0": "dance"})
    assert "Line 1" in wrong.content.decode()
    more = form | {"is_enabled_0": "on", "starts_1": "Bye", "steps_1": "end"}
    for lacking in (more, more | {"name_1": "Bye", "starts_1": ""}):
        refused = browser.post(page, lacking).content.decode()
        assert 'id="procedures-form" data-refused' in refused
    assert len(Bot.objects.get().procedures) == 1
    gone = form | {"name_0": "", "is_enabled_0": "on"}
    assert browser.post(page, gone).status_code == 302
    assert Bot.objects.get().procedures == []


def test_without_a_model_it_costs_nothing(ann, bot, server, chat):
    write(ann, bot, "say: Hello.")
    assert tell(server, chat, START) == ["Hello."]
    assert replies()[0].receipt["credits"] == 0


@pytest.fixture
def confirmed(ann, bot, configure, get_order, refund):
    """Write steps in which the customer must approve the call `refund`."""

    def store(steps):
        configure(get_order, {**refund, "requires_approval": "customer"})
        assert write(ann, bot, steps).status_code == 200

    return store


def test_who_has_just_said_yes_is_not_asked_to_approve_the_call(confirmed, server, chat, tool):
    ask_first = "ask order_id: Which order?\nconfirm: Refund order {order_id}?"
    confirmed(f"{ask_first}\ncall refund\nsay: Done.")
    said = tell(server, chat, START, "1234", "yes")
    assert said == ["Which order?", "Refund order 1234?", "Done."]
    assert [request.method for request in tool.requests] == ["POST"]


def test_one_yes_approves_one_call(confirmed, server, chat, tool):
    first = "confirm: Refund orders 1 and 2?\ncall refund with order_id = 1\n"
    confirmed(f"{first}call refund with order_id = 2\nsay: Done.")
    said = tell(server, chat, START, "yes")
    assert said[-1].startswith("I can do this for you: refund (order id: 2)")
    assert len(tool.requests) == 1


def test_a_yes_before_another_question_approves_nothing(confirmed, server, chat, tool):
    confirmed("confirm: Refund an order?\nask order_id: Which order?\ncall refund\nsay: Done.")
    said = tell(server, chat, START, "yes", "1234")
    assert said[-1].startswith("I can do this for you: refund (order id: 1234)")
    assert tool.requests == []


@pytest.mark.usefixtures("procedure")
def test_a_failed_call_is_told_in_words_before_the_handover(server, chat, tool):
    tool.mode = "409"
    said = tell(server, chat, START, "1234")
    assert said[-1].startswith("Sorry, that didn't work.\n\n")
    chat.refresh_from_db()
    assert chat.assign_type == "queue"
