"""Short questions behind an answered one: what is found for them, and what a model is asked."""

import re

import pytest

from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.tests.test_send_message import ask, replies
from identity.models import ClientConfig

pytestmark = pytest.mark.django_db(transaction=True)

HOUSE = """\
BREAKFAST

Breakfast is served in the garden room from 7 am to 10 am, on Saturdays and Sundays until 11 am. \
It is included in the price of every room. Guests from outside pay 18 euros.

PETS

Dogs are welcome in the rooms on the ground floor and cost 15 euros a night each. We allow at most \
two dogs in a room. They must be kept on a lead inside the house. Other animals are not allowed.

INTERNET

The wireless network is called Seeblick-Guest and costs nothing. The password is on your key card. \
In the rooms on the third floor the wifi signal is weak; there is a desk with a cable.

ROOMS

A single room costs 89 euros a night, and a double room with a view of the lake 159 euros. From \
November to March all rooms are 20 percent cheaper.

CANCELLATION

You may cancel your booking without charge until 14 days before arrival. If you cancel later than \
that, we keep 50 percent of the price. Cancellations must be sent in writing to \
booking@seeblick.example.

BICYCLES

City bicycles cost 14 euros a day and electric bicycles 32 euros a day. Helmets and locks are \
included. Bicycles are given out at the reception from 8 am to 5 pm and must be back by 7 pm.

LOST PROPERTY

Things left behind are kept for six months. We send them to you if you pay the postage.
"""
ON_WIFI = "Do you have wifi?"
ON_DOGS = "Can I bring my two dogs?"
ON_BICYCLES = "How much are electric bicycles?"


@pytest.fixture
def house(bot):
    return trained(bot, HOUSE)


def say(server, chat, *texts):
    """The last reply to these messages, one after the other."""
    for text in texts:
        assert ask(server, chat, text).status_code == 202
        run_jobs()
    return replies()[-1]


# --- quoted -------------------------------------------------------------------------------------


FRENCH = """\
CHIENS

Les chiens sont les bienvenus dans les chambres du rez-de-chaussée et coûtent 15 euros par nuit.

INTERNET

Le réseau sans fil s'appelle Seeblick et le wifi ne coûte rien.
"""
SPANISH = """\
PERROS

Los perros son bienvenidos en las habitaciones de la planta baja y cuestan 15 euros por noche.

INTERNET

La red inalámbrica se llama Seeblick y el wifi no cuesta nada.
"""
ENGLISH = """\
SAUNA

The sauna in the basement is open daily from 4 pm to 9 pm, on Sundays from 10 am on.

RESTAURANT

The restaurant in the garden is open daily from noon to 10 pm, on Sundays until 3 pm only.
"""
GERMAN = """\
SAUNA

Die Sauna im Keller ist täglich von 16 bis 21 Uhr geöffnet, am Sonntag schon ab 10 Uhr.

RESTAURANT

Das Restaurant im Garten ist täglich von 12 bis 22 Uhr geöffnet, am Sonntag bis 15 Uhr.
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        (HOUSE, (ON_WIFI, "Is there a fee for dogs?"), "15 euros a night"),
        (HOUSE, (ON_WIFI, "Are there electric bikes?"), "32 euros a day"),
        (HOUSE, (ON_DOGS, "May they come to breakfast with us?"), "garden room"),
        (FRENCH, ("Avez-vous le wifi ?", "Y a-t-il des chiens admis ?"), "15 euros"),
        (SPANISH, ("¿Tienen wifi?", "¿Hay tarifa para perros?"), "15 euros"),
    ],
)
def test_a_question_of_its_own_is_answered_behind_another(server, chat, bot, text, asked, expected):
    trained(bot, text)
    reply = say(server, chat, *asked)
    assert reply.sender_type == "bot"
    assert expected in reply.text


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        (ENGLISH, ("Is there a sauna?", "And on Sundays?"), "from 10 am on"),
        (
            ENGLISH,
            ("When is the sauna open and what does it cost?", "And on Sundays?"),
            "from 10 am",
        ),
        (GERMAN, ("Gibt es eine Sauna?", "Und am Sonntag?"), "ab 10 Uhr"),
    ],
)
def test_a_question_with_such_a_word_is_a_topic(server, chat, bot, text, asked, expected):
    trained(bot, text)
    reply = say(server, chat, *asked)
    assert expected in reply.citations[0]["quote"]


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (ON_WIFI, "And the swimming pool?"),
        (ON_WIFI, "Is there a pharmacy nearby?"),
        # What is found for it alone is the passage on lost property.
        (ON_BICYCLES, "When do I have to return it?"),
    ],
)
def test_another_topic_behind_a_question_is_handed_over(server, chat, house, before, question):
    reply = say(server, chat, before, question)
    assert reply.receipt["decision"] == "below_gate"


# --- asked of a model ---------------------------------------------------------------------------


UNSURE = "How do I get online?"


def test_a_model_is_asked_where_the_search_is_not_sure(server, chat, house, stub):
    stub.play(["say:The network is called Seeblick-Guest. [1]"])
    reply = say(server, chat, UNSURE)
    assert reply.receipt["decision"] == "answered"
    assert reply.receipt["confidence"] < reply.receipt["threshold"]


@pytest.mark.parametrize("mode", ["nonsense", "ungrounded", "no_answer"])
def test_what_the_search_is_not_sure_of_is_not_quoted(server, chat, house, stub, mode):
    stub.play(mode)
    reply = say(server, chat, UNSURE)
    assert len(stub.requests) >= 1
    assert (reply.sender_type, reply.citations) == ("system", [])


def test_a_lower_threshold_of_the_client_holds_for_a_model_too(server, chat, house, stub):
    question = "Where can I leave my suitcases?"
    say(server, chat, question)
    assert stub.requests == []
    ClientConfig.objects.filter(client=chat.client_id).update(answer_threshold=0.04)
    say(server, chat, question)
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("Can I cancel my booking?", "Where do I send it?"), "booking@seeblick.example"),
        ((ON_BICYCLES, "When do I have to return it?"), "must be back by 7 pm"),
        ((ON_DOGS, "What would that be for three nights?"), "15 euros a night each"),
    ],
)
def test_a_model_reads_what_was_asked_about_before(server, chat, house, stub, asked, expected):
    say(server, chat, *asked)
    _, request = stub.requests
    told = request["messages"][-1]["content"]
    assert expected in told
    assert len(re.findall(r"^\[\d+\]", told, re.MULTILINE)) <= 13
    assert stub.follow_ups == [asked[1]]


def test_a_model_rewrites_a_follow_up_for_the_search(server, chat, house, stub):
    text, meant = "And in winter?", "How much is a room with a view of the lake in winter?"
    stub.rewrite = lambda asked: meant if asked == text else asked
    reply = say(server, chat, ON_DOGS, text)
    told = stub.requests[1]["messages"][-1]["content"]
    assert "From November to March" in told
    assert text in told
    assert stub.follow_ups == [text]
    # The answer, its judgement and the rewriting.
    assert reply.receipt["usage"]["prompt_tokens"] == 300


def test_a_question_that_stands_alone_is_not_rewritten(server, chat, house, stub):
    say(server, chat, ON_DOGS, "Can I cancel my booking after I have paid for the room?")
    assert stub.follow_ups == []


@pytest.mark.parametrize("mode", ["ok", "nonsense"])
def test_a_model_is_asked_what_is_not_quoted_behind_another_topic(server, chat, house, stub, mode):
    stub.play(f"ok,{mode}")
    reply = say(server, chat, ON_WIFI, "And is there a fee for dogs?")
    assert "15 euros a night each" in stub.requests[1]["messages"][-1]["content"]
    assert (reply.sender_type == "bot") == (mode == "ok")
