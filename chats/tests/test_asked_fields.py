"""The bot asks in the chat for what the client wants to know of its customers."""

import time
from typing import Any

import pytest

from bots.language import phrasebook
from bots.testing import trained
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message
from identity.models import ClientConfig
from identity.testing import make_key
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SAYS = {code: book.says for code, book in phrasebook.all_books().items()}
EMAIL: dict[str, Any] = {
    "name": "email", "label": {"en": "E-mail", "de": "E-Mail"}, "type": "email", "required": True,
}  # fmt: skip
NAME = {
    **EMAIL, "name": "name", "type": "text", "label": {"en": "Name", "de": "Name"},
    "question": {"en": "What may I call you?"},
}  # fmt: skip
SIZE = {
    "name": "size", "label": {"en": "Size"}, "type": "select", "required": True,
    "options": [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}],
}  # fmt: skip
CITY = {"name": "city", "label": {"en": "City"}, "type": "text"}
ORDER = {"name": "order", "label": {"en": "Order number"}, "type": "number"}
DAY = {"name": "day", "label": {"en": "Delivery day"}, "type": "date"}
PHONE = {**EMAIL, "name": "phone", "label": {"en": "Phone"}, "type": "phone"}
QUESTION, ANSWER = "When do parcels arrive?", "Parcels arrive within three days."
NOTED = SAYS["en"]["info_noted"]


@pytest.fixture
def wants(ann, bot):
    """`wants(EMAIL, NAME)`: the bot asks for these fields; it knows when parcels arrive."""
    trained(bot, f"Delivery\n\n{ANSWER}\n\nShops\n\nOur shop is in Hanoi, beside the lake.")

    def store(*fields):
        path = f"/ai/{bot.pk}/customer-info-field"
        reply = ann.put(path, {"fields": list(fields)})
        assert reply.status_code == 200, reply.content

    return store


class Talk:
    """A customer's chat: `say` returns the words of the bot's reply."""

    def __init__(self, key, **customer):
        self.key = key
        opened = key.post("/ai/client/chat", {"customer": customer})
        assert opened.status_code == 201, opened.content
        self.id = opened.json()["id"]

    def send(self, text):
        body = {"text": text, "reply": "async"}
        sent = self.key.post(f"/ai/client/chat/{self.id}", body)
        assert sent.status_code in {200, 202}, sent.content

    def say(self, text):
        self.send(text)
        run_jobs()
        self.last = self.key.get(f"/ai/client/chat/history/{self.id}").json()["items"][-1]
        return self.last["content"][0]["text"]

    @property
    def row(self):
        return Conversation.objects.get(pk=self.id)

    @property
    def customer(self):
        return self.row.customer


def updates():
    return list(Event.objects.filter(type="customer.updated").order_by("pk"))


def question_for(label, language="en"):
    return SAYS[language]["ask_info"].replace("{label}", label)


@pytest.fixture
def asked(wants, server):
    """`asked(EMAIL, NAME)`: a chat in which the bot has just asked for the first of the fields."""

    def begin(*fields, question=QUESTION, **customer):
        wants(*fields)
        talk = Talk(server, **customer)
        assert "\n\n" in talk.say(question)
        return talk

    return begin


def test_three_fields_are_asked_one_at_a_time_and_filled_in(wants, server):
    wants(EMAIL, NAME, SIZE)
    talk = Talk(server)
    assert talk.say("Hello") == SAYS["en"]["greeting"]
    answer = talk.say(QUESTION)
    assert answer.startswith(ANSWER)
    assert answer.endswith("\n\n" + question_for("E-mail"))
    assert talk.last["citations"]
    assert talk.say("my mail is bob@example.com") == f"{NOTED}\n\nWhat may I call you?"
    size = question_for("Size (Small, Large)")
    assert talk.say("My name is Bob Lee, thanks") == f"{NOTED}\n\n{size}"
    assert talk.say("the large one please") == NOTED
    customer = talk.customer
    assert (customer.email, customer.name, customer.attributes) == (
        "bob@example.com", "Bob Lee", {"size": "l"},
    )  # fmt: skip
    shown = [event.data["customer"] for event in updates()]
    assert [item["attributes"] for item in shown] == [{}, {}, {"size": "l"}]
    assert [item["name"] for item in shown] == [None, "Bob Lee", "Bob Lee"]
    assert talk.say(QUESTION) == answer.partition("\n\n")[0]


def test_the_receipt_names_what_is_asked_for_and_what_was_filled(asked, ann):
    talk = asked(EMAIL, NAME)
    talk.say("bob@example.com")
    path = f"/ai/chat/{talk.id}/messages/{talk.last['id']}/receipt"
    receipt = ann.get(path).json()
    assert (receipt["decision"], receipt["asks_for"], receipt["filled"]) == (
        "info_given", "name", ["email"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "told", "stored"),
    [
        (EMAIL, "Sure, bob.lee@mail.example.com!", "bob.lee@mail.example.com"),
        (PHONE, "call me at +84 90 123 4567", "+84 90 123 4567"),
        (PHONE, "020/1234567, after 5 pm", "020/1234567"),
        (PHONE, "My number: 090 123 45 67", "090 123 45 67"),
        (NAME, "I am Bob", "Bob"),
        (ORDER, "It is order 4,711", 4711),
        (DAY, "the 3rd of December 2026", "2026-12-03"),
        (DAY, "2026-12-03", "2026-12-03"),
        (SIZE, "small", "s"),
    ],
)
def test_a_value_is_read_in_words(asked, field, told, stored):
    talk = asked(field)
    assert talk.say(told) == NOTED
    customer = talk.customer
    known = {"email": customer.email, "phone": customer.phone, "name": customer.name}
    assert (known | customer.attributes)[field["name"]] == stored


@pytest.mark.parametrize(
    ("field", "name", "wrong"),
    [
        (EMAIL, "not_email", "bob@example"), (PHONE, "not_phone", "my number is 12"),
        (ORDER, "not_number", "the blue one"), (DAY, "not_date", "03/04/2026"),
        (SIZE, "not_option", "medium"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_asked_once_more_with_the_reason(asked, field, name, wrong):
    talk = asked(field)
    question = talk.last["content"][0]["text"].partition("\n\n")[2]
    assert talk.say(wrong) == f"{SAYS['en'][name]}\n\n{question}"
    assert talk.say(wrong) == SAYS["en"]["info_declined"]
    assert question not in talk.say(QUESTION)
    assert not updates()
    assert talk.row.assign_type == "bot"


def test_who_declines_is_not_asked_again_in_any_chat(asked, server):
    talk = asked(EMAIL, external_id="c-1")
    assert talk.say("I'd rather not") == SAYS["en"]["info_declined"]
    assert talk.say(QUESTION) == ANSWER
    again = Talk(server, external_id="c-1")
    assert again.say(QUESTION) == ANSWER
    assert question_for("E-mail") in Talk(server, external_id="c-2").say(QUESTION)
    assert not updates()


def test_a_question_instead_of_the_answer_is_answered(asked):
    talk = asked(EMAIL, NAME)
    assert talk.say("Where is your shop?").startswith("Our shop is in Hanoi")
    assert "\n\n" not in talk.last["content"][0]["text"]
    assert talk.say(QUESTION) == f"{ANSWER}\n\nWhat may I call you?"


@pytest.mark.parametrize(
    "text", ["my parcel is late", "I ordered it two weeks ago", "it never arrived"]
)
def test_words_about_something_else_are_no_text_and_it_is_asked_for_once_more(asked, text):
    talk = asked(CITY)
    talk.say(text)
    assert talk.customer.attributes == {}
    assert not updates()


def test_a_text_that_was_passed_over_is_asked_for_again_later_and_once(asked):
    talk = asked(CITY, EMAIL)
    assert talk.say("your shop is still where beside the lake").startswith("Our shop is in Hanoi")
    assert "\n\n" not in talk.last["content"][0]["text"], "not at once"
    assert talk.say(QUESTION) == f"{ANSWER}\n\n{question_for('City')}"
    assert talk.say(QUESTION) == ANSWER
    assert talk.say(QUESTION) == f"{ANSWER}\n\n{question_for('E-mail')}", "not a third time"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Hanoi", "Hanoi"), ("I live in Ho Chi Minh City", "Ho Chi Minh City"),
        ("My Tho", "My Tho"), ("my home city is The Hague", "The Hague"),
        ("Frankfurt am Main, thanks", "Frankfurt am Main"),
    ],
)  # fmt: skip
def test_a_place_is_a_text(asked, text, stored):
    talk = asked(CITY)
    assert talk.say(text) == NOTED
    assert talk.customer.attributes == {"city": stored}


def test_a_value_beside_a_question_is_filled_in_and_the_question_answered(asked):
    talk = asked(EMAIL)
    assert talk.say(f"bob@example.com. {QUESTION}") == ANSWER
    assert talk.customer.email == "bob@example.com"


def test_what_a_second_message_says_beside_a_value_is_answered(asked):
    talk = asked(EMAIL)
    talk.send("bob@example.com")
    assert talk.say("your shop beside the lake").startswith("Our shop is in Hanoi")
    assert talk.customer.email == "bob@example.com"


def test_a_request_for_a_person_goes_first(asked):
    talk = asked(EMAIL, NAME)
    reply = talk.say("I want to talk to a human. My mail is bob@example.com")
    assert reply == f"{SAYS['en']['handover']}\n\nWhat may I call you?"
    assert (talk.row.assign_type, talk.customer.email) == ("queue", "bob@example.com")


def test_who_waits_for_a_person_is_asked_meanwhile(wants, server):
    wants(NAME, PHONE)
    talk = Talk(server)
    reply = talk.say("xyzzy")
    assert reply == f"{SAYS['en']['handover_no_answer']}\n\nWhat may I call you?"
    since = talk.row.waiting_since
    assert talk.say("Bob") == f"{NOTED}\n\n{question_for('Phone')}"
    assert talk.say("my number is 12").startswith(SAYS["en"]["not_phone"])
    assert talk.say("+84 90 123 4567") == NOTED
    talk.say("thanks!")
    assert talk.last["sender"]["type"] == "customer"
    assert (talk.customer.name, talk.customer.phone) == ("Bob", "+84 90 123 4567")
    assert (talk.row.assign_type, talk.row.waiting_since) == ("queue", since)


def test_who_waits_is_asked_nothing_where_the_bot_is_silent_meanwhile(wants, server):
    wants(NAME)
    ClientConfig.objects.update(answer_while_waiting=False)
    talk = Talk(server)
    assert talk.say("xyzzy") == SAYS["en"]["handover_no_answer"]


def test_an_agent_who_comes_meanwhile_asks_for_themselves(wants, server, ben):
    wants(NAME)
    talk = Talk(server)
    talk.say("I want to talk to a human")
    ben.post(f"/ai/chat/{talk.id}/assign", {"assign_type": "agent"})
    talk.send("Bob")
    assert talk.customer.name == ""


def test_a_person_who_has_the_chat_asks_for_themselves(asked, ben):
    talk = asked(EMAIL)
    ben.post(f"/ai/chat/{talk.id}/assign", {"assign_type": "agent"})
    talk.say("bob@example.com")
    assert talk.customer.email == ""
    assert talk.last["sender"]["type"] == "customer"


def test_an_address_that_is_said_unasked_is_filled_in(wants, server):
    wants(NAME, PHONE, EMAIL)
    talk = Talk(server)
    answer = talk.say(f"You can reach me at +84 90 123 4567. {QUESTION}")
    assert answer == f"{ANSWER}\n\nWhat may I call you?"
    assert talk.customer.phone == "+84 90 123 4567"


@pytest.mark.parametrize(
    "text",
    ["I wrote to support@shop.example a week ago", "Is info@shop.example your address?",
     "Mine is a@b.example, no, c@d.example", "My order is 0901234567"],
)  # fmt: skip
def test_an_address_that_may_be_anothers_is_not(wants, server, text):
    wants(EMAIL, PHONE)
    talk = Talk(server)
    talk.say(text)
    assert (talk.customer.email, talk.customer.phone) == ("", "")


@pytest.mark.parametrize("text", ["㏂" * 8000, "a." * 4000, f"first.{'b' * 60}@example.com"])
def test_a_long_text_is_no_address_and_soon_read(asked, text):
    talk = asked(EMAIL)
    began = time.process_time()
    talk.say(text)
    assert time.process_time() - began < 2
    assert talk.customer.email == ""


def test_what_somebody_else_wrote_stays(asked, server):
    talk = asked(EMAIL)
    path = f"/ai/client/chat/customer/{talk.id}"
    write = lambda: server.post(path, {"email": "real@example.com"})  # noqa: E731
    with run_before("chats.services.core.customers.fill_in", write):
        assert talk.say("bob@example.com") == NOTED
    assert talk.customer.email == "real@example.com"
    assert [event.data["customer"]["email"] for event in updates()] == ["real@example.com"]


def test_what_the_form_asked_for_is_not_asked_in_the_chat(wants, server):
    wants({**EMAIL, "required": False, "ask_before_chat": True})
    assert Talk(server).say(QUESTION) == ANSWER


def test_the_other_systems_chats_had_no_form(wants, client_a, bot):
    wants({**EMAIL, "ask_before_chat": True})
    key = make_key(client_a, "secret", bot.pk)
    opened = key.post("/mesaging/conversations", {"requester": {"external_id": "c-9"}}).json()
    path = f"/mesaging/conversations/{opened['id']}/messages"
    body = {"sender": {"type": "customer"}, "text": QUESTION, "generate_reply": True}
    assert key.post(path, body).status_code == 201
    run_jobs()
    last = Message.objects.filter(conversation=opened["id"]).latest("seq")
    assert last.text == f"{ANSWER}\n\n{question_for('E-mail')}"


@pytest.mark.full
def test_the_customer_is_asked_in_their_language(wants, bot, server):
    bot.languages = ["en", "de"]
    bot.save()
    wants(EMAIL)
    trained(bot, "Die Lieferung innerhalb Deutschlands dauert drei bis fünf Werktage.")
    talk = Talk(server)
    answer = talk.say("Wie lange dauert die Lieferung innerhalb Deutschlands?")
    assert answer.endswith(question_for("E-Mail", "de"))
    assert talk.say("bob@example") == f"{SAYS['de']['not_email']}\n\n{question_for('E-Mail', 'de')}"
    assert talk.say("Das möchte ich nicht sagen") == SAYS["de"]["info_declined"]


def test_a_contact_field_that_has_no_label_in_the_customers_language_has_ours(wants, bot, server):
    wants({**NAME, "label": {"en": "Name, please"}, "question": {"en": "What may I call you?"}})
    trained(bot, "Die Lieferung innerhalb Deutschlands dauert drei bis fünf Werktage.")
    talk = Talk(server)
    answer = talk.say("Wie lange dauert die Lieferung innerhalb Deutschlands?")
    assert answer.endswith(question_for("Name", "de"))
    talk.say("Name: Bo Lee")
    assert talk.customer.name == "Bo Lee"


def test_only_answers_of_the_engine_cost_credits(asked, client_a, credits_spent):
    talk = asked(EMAIL, NAME)
    spent = credits_spent(client_a)
    assert spent
    for text in ("bob@example", "bob@example.com", "I'd rather not"):
        talk.say(text)
        assert credits_spent(client_a) == spent


def test_a_model_is_told_what_is_still_wanted_and_our_reading_decides(asked, stub):
    talk = asked(EMAIL, NAME)
    (request,) = stub.requests
    assert "Still missing from the customer: email, name." in request["messages"][0]["content"]
    assert talk.last["content"][0]["text"].endswith(question_for("E-mail"))
    assert talk.say("it's bob@example.com").startswith(NOTED)
    assert talk.customer.email == "bob@example.com"
    assert len(stub.requests) == 1


def test_a_preview_asks_and_stores_nothing_of_the_staff(wants, ben, bot):
    wants(SIZE)
    for _ in range(2):
        lines = [{"role": "user", "content": QUESTION}]
        first = ben.post(f"/ai/{bot.pk}/generate-chat", {"messages": lines})
        assert first.status_code == 200, first.content
        run_jobs()
        chat = Conversation.objects.latest("id")
        asking = Message.objects.filter(conversation=chat).latest("seq")
        assert asking.text.endswith(question_for("Size (Small, Large)"))
        more = {"messages": [{"role": "user", "content": "large"}]}
        ben.post(f"/ai/chat/{chat.pk}/generate", more)
        run_jobs()
        noted = Message.objects.filter(conversation=chat).latest("seq")
        assert (noted.text, chat.customer.attributes) == (NOTED, {})
    assert not updates()
