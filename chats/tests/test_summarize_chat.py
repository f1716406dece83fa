"""Summarize Chat By Id."""

import json

import pytest

from chats.models import Summary
from webhooks.models import Event

ANSWER = {
    "summary": "The customer wants to return <b>shoes</b>.\x00",
    "key_points": ["Shoes too small", "", "Order 48213"],
    "customer_intent": "Return shoes.",
    "resolution": "",
}


def path_of(chat):
    return f"/ai/chat/{getattr(chat, 'pk', chat)}/summarize"


def announced():
    return Event.objects.filter(type="summary.created")


@pytest.fixture
def written_chat(chat, add_message):
    add_message(chat, "customer", "Hello!")
    add_message(chat, "customer", "My shoes are too small. I want to send them back.")
    add_message(chat, "bot", "You can return goods within 30 days.")
    add_message(chat, "customer", "Do I have to pay the postage? And where is the form?")
    add_message(chat, "agent", "Rude one, be careful", is_note=True)
    return chat


def test_without_a_model_the_summary_quotes_the_chat(ann, written_chat, credits_spent):
    reply = ann.post(path_of(written_chat))
    assert reply.status_code == 200
    summary = reply.json()
    assert summary["chat_id"] == str(written_chat.pk)
    assert summary["engine"] == "extractive"
    assert summary["customer_intent"] == "My shoes are too small. I want to send them back."
    assert summary["key_points"] == [
        "Open question: Do I have to pay the postage?", "Open question: And where is the form?",
    ]  # fmt: skip
    assert summary["summary"].startswith("Messages: 4\nFirst request: My shoes are too small.")
    assert "be careful" not in reply.content.decode()
    assert summary["message_count"] == 5
    written_chat.refresh_from_db()
    assert written_chat.summary == summary["summary"]
    event = announced().get()
    assert event.data["summary"] == summary
    assert event.sequence == written_chat.last_event_seq
    assert credits_spent(ann.client) == 1


def test_a_models_summary_is_cleaned(ann, written_chat, model, credits_spent):
    model.json_answer = ANSWER
    summary = ann.post(path_of(written_chat)).json()
    assert summary["engine"] == "openai_compatible"
    assert summary["summary"] == "The customer wants to return shoes."
    assert summary["key_points"] == ["Shoes too small", "Order 48213"]
    (sent,) = model.requests
    assert sent["response_format"]["type"] == "json_schema"
    assert "be careful" not in json.dumps(sent)
    assert credits_spent(ann.client) == 1


@pytest.mark.parametrize(
    ("last", "resolutions"),
    [
        (("agent", "We sent you a new pair today."), ("A new pair was sent.",) * 2),
        (("agent", "We sent you a new pair today."), ("The customer got 50 euros back.", "")),
        (("agent", "Which size do you need?"), ("A new pair was sent.", "")),
        (("customer", "Nobody has answered me."), ("The customer was satisfied.", "")),
    ],
)
def test_a_summary_tells_no_resolution_that_the_chat_does_not(
    ann, written_chat, add_message, model, last, resolutions
):
    add_message(written_chat, *last)
    written, kept = resolutions
    model.json_answer = ANSWER | {"resolution": written}
    assert ann.post(path_of(written_chat)).json()["resolution"] == kept


@pytest.mark.parametrize(
    ("said", "resolution"),
    [
        (["I have refunded the 40 euros; you'll see it by Friday."],) * 2,
        (["Hi Zoe, your booking has been moved to 3 pm. Anything else?", "Have a nice day!"],
         ["Hi Zoe, your booking has been moved to 3 pm."]),
        (["As agreed, the technician comes on Tuesday."],) * 2,
        (["Dạ shop đã hoàn tiền cho chị rồi ạ."],) * 2,
        (["Das tut mir leid. Ich habe Ihnen heute ein neues Paar geschickt."],
         ["Ich habe Ihnen heute ein neues Paar geschickt."]),
        (["Nous vous avons envoyé une nouvelle paire."],) * 2,
        (["Le hemos reembolsado los 40 euros."],) * 2,
        (["40ユーロを返金いたしました。"],) * 2,
        (["I am sorry to hear that."], []),
        (["One moment please"], []),
        (["Have we sent you the form?"], []),
        (["You can return goods within 30 days."], []),
        (["I have forwarded this to a colleague."], []),
        (["We have not refunded anything yet."], []),
        (["If I have cancelled it, you will get a mail."], []),
        (["I see you ordered two pairs."], []),
        (["Dạ chị chờ em một chút ạ."], []),
        (["Shop chưa hoàn tiền được ạ."], []),
        (["Ich habe das Geld leider noch nicht erstattet."], []),
        (["Un instant, s'il vous plaît."], []),
        (["Lo siento mucho."], []),
        (["少々お待ちください。"], []),
    ],
)  # fmt: skip
def test_the_quoted_resolution_is_what_an_agent_says_was_done(
    ann, written_chat, add_message, said, resolution
):
    for text in said:
        add_message(written_chat, "agent", text)
    add_message(written_chat, "customer", "Thank you!")
    assert ann.post(path_of(written_chat)).json()["resolution"] == "".join(resolution)


def test_a_resolution_that_the_customer_contradicts_or_a_bot_quotes_is_none(
    ann, written_chat, add_message
):
    add_message(written_chat, "agent", "I have refunded the 40 euros.")
    add_message(written_chat, "customer", "No, nothing has arrived.")
    assert ann.post(path_of(written_chat)).json()["resolution"] == ""
    receipt = {"engine": "extractive"}
    add_message(written_chat, "bot", "Your refund is processed within 30 days.", receipt=receipt)
    assert ann.post(path_of(written_chat)).json()["resolution"] == ""


@pytest.mark.parametrize(
    "said_and_written",
    [
        ("I have refunded the 40 euros; you'll see it by Friday.", "The 40 euros were refunded."),
        ("Your booking has been moved to 3 pm. Anything else?", "The booking was moved to 3 pm."),
        ("Dạ shop đã hoàn tiền cho chị rồi ạ.", "Shop đã hoàn tiền cho chị."),
        ("Wir haben Ihnen heute ein neues Paar geschickt.", "Ein neues Paar wurde geschickt."),
        ("Yes, dogs are welcome on the terrace.", "Dogs are welcome on the terrace."),
    ],
)
def test_a_models_resolution_that_the_replies_tell_is_kept(
    ann, written_chat, add_message, model, credits_spent, said_and_written
):
    said, written = said_and_written
    add_message(written_chat, "agent", said)
    add_message(written_chat, "customer", "Thank you!")
    model.json_answer = ANSWER | {"resolution": written}
    assert ann.post(path_of(written_chat)).json()["resolution"] == written
    judged = json.dumps(model.confirmations[0], ensure_ascii=False)
    assert said in judged
    assert "too small" not in judged  # the customer's words support nothing
    assert credits_spent(ann.client) == 1


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I am sorry to hear that.", "The agent refunded the money."),
        ("You can return goods within 30 days.", "The agent sent the customer a new pair."),
        ("One moment please", "The issue was resolved."),
        ("Our shop opens at nine.", "The customer's shoes were replaced for free."),
        ("I have refunded the 40 euros.", "The agent refunded 50 euros."),
        ("Please use the form on our page.", "My shoes are too small. I want to send them back."),
        ("Dạ chị chờ em một chút ạ.", "Nhân viên đã hoàn tiền cho khách."),
        ("Einen Moment bitte.", "Das Geld wurde erstattet."),
    ],
)
def test_a_models_invented_resolution_is_dropped(
    ann, written_chat, add_message, model, said, written
):
    add_message(written_chat, "agent", said)
    model.json_answer = ANSWER | {"resolution": written}
    summary = ann.post(path_of(written_chat)).json()
    assert (summary["resolution"], summary["customer_intent"]) == ("", "Return shoes.")


@pytest.mark.parametrize("confirms", [False, None])
def test_a_resolution_that_the_judge_does_not_confirm_is_dropped(
    ann, written_chat, add_message, model, confirms
):
    add_message(written_chat, "agent", "We have not refunded the money.")
    model.json_answer, model.confirms = ANSWER | {"resolution": "We refunded the money."}, confirms
    reply = ann.post(path_of(written_chat))
    assert (reply.status_code, reply.json()["resolution"]) == (200, "")
    assert reply.json()["key_points"] == ["Shoes too small", "Order 48213"]


def test_prose_that_the_judge_does_not_confirm_is_dropped(ann, written_chat, model):
    told, invented = "The customer wants to return shoes.", "The agent refunded the money."
    model.json_answer = ANSWER | {"summary": f"{told} {invented}", "held": [1]}
    model.confirms = None
    assert ann.post(path_of(written_chat)).json()["summary"] == told
    judged = model.requests[-1]["messages"][1]["content"]
    assert f"Statement 2: {invented}" in judged
    assert "customer: My shoes are too small." in judged
    assert "assistant: You can return goods within 30 days." in judged


@pytest.mark.parametrize("confirms", [False, None])
def test_without_confirmed_prose_the_summary_quotes_the_chat(ann, written_chat, model, confirms):
    model.json_answer, model.confirms = ANSWER, confirms
    summary = ann.post(path_of(written_chat)).json()
    assert summary["summary"].startswith("Messages: 4\nFirst request: My shoes are too small.")
    assert (summary["customer_intent"], summary["engine"]) == ("Return shoes.", "openai_compatible")


def test_a_current_summary_is_not_made_again(ann, written_chat, add_message, model, credits_spent):
    model.json_answer = ANSWER
    first = ann.post(path_of(written_chat)).json()
    assert ann.post(path_of(written_chat)).json() == first
    assert (len(model.requests), announced().count(), credits_spent(ann.client)) == (1, 1, 1)
    add_message(written_chat, "customer", "Hello?")
    assert ann.post(path_of(written_chat)).json()["message_count"] == 6
    assert (len(model.requests), Summary.objects.count()) == (2, 2)


def test_a_model_that_is_down_stores_and_costs_nothing(
    ann, written_chat, broken_model, credits_spent
):
    reply = ann.post(path_of(written_chat))
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert int(reply["Retry-After"]) > 0
    assert (Summary.objects.count(), announced().count(), credits_spent(ann.client)) == (0, 0, 0)
    written_chat.refresh_from_db()
    assert written_chat.summary is None


def test_an_invalid_answer_is_requested_once_more(ann, written_chat, model):
    model.json_answer = ANSWER
    model.play("ok,json")
    assert ann.post(path_of(written_chat)).status_code == 200
    assert len(model.requests) == 2


@pytest.mark.parametrize("answer", [{"summary": 7}, {"summary": ""}, [], "yes"])
def test_two_invalid_answers_make_no_summary(ann, written_chat, model, credits_spent, answer):
    model.json_answer = answer
    assert ann.post(path_of(written_chat)).json()["code"] == "engine_unavailable"
    assert (len(model.requests), Summary.objects.count(), credits_spent(ann.client)) == (2, 0, 0)


def test_personal_data_is_masked_if_the_client_says_so(ann, chat, add_message, model):
    config = ann.client.config
    config.mask_personal_data = True
    config.save()
    add_message(chat, "customer", "I am zoe@mail.example, call +84 90 123 4567.")
    model.json_answer = ANSWER | {"summary": "Call [phone2] or write to [email1]."}
    summary = ann.post(path_of(chat)).json()
    assert summary["summary"] == "Call +84 90 123 4567 or write to zoe@mail.example."
    sent = json.dumps(model.requests)
    assert "[email1]" in sent
    assert "zoe@mail" not in sent
    assert "123 4567" not in sent


def test_without_credits(ann, written_chat, credits_spent):
    subscription = ann.client.subscription
    subscription.credits_left = 0
    subscription.save()
    reply = ann.post(path_of(written_chat))
    assert (reply.status_code, reply.json()["code"]) == (402, "insufficient_credits")
    assert (reply.json()["balance"], reply.json()["required"]) == (0, 1)
    assert Summary.objects.count() == 0


def test_an_empty_chat_costs_nothing(ann, chat, model, credits_spent):
    summary = ann.post(path_of(chat)).json()
    assert (summary["message_count"], summary["customer_intent"]) == (0, "")
    assert (model.requests, credits_spent(ann.client)) == ([], 0)
