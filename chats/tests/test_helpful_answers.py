"""What a customer reads in answer to a question, as it is typed: whole, understood, and no more."""

import pytest

from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)

HOTEL = """BOOKINGS

Can I cancel my booking?

The flexible rate can be cancelled free of charge until noon of the day before your arrival. \
The money returns to your card within three days. \
A booking at the saver rate cannot be cancelled, and its price is not paid back.

What does parking cost?

Parking in the garage costs 18 euros a night. Electric cars are charged for 9 euros more.

Where do I have breakfast?

Breakfast is served on the terrace from seven to ten, and in the saloon when it rains.
"""
CAFE = """GIAO HÀNG

Quán giao đồ uống trong bán kính năm kilômét với phí mười lăm nghìn đồng mỗi đơn.

THÚ CƯNG

Thú cưng được ngồi ở sân vườn nhưng phải có dây dắt và không được vào khu máy lạnh.
"""


def ask(caller, bot, *texts):
    """The status and the text of the reply to the last of the messages."""
    opened = caller.post(
        f"/ai/{bot.pk}/generate-chat", {"messages": [{"role": "user", "content": texts[0]}]}
    )
    assert opened.status_code == 200
    run_jobs()
    chat = Conversation.objects.latest("created_at")
    for text in texts[1:]:
        body = {"messages": [{"role": "user", "content": text}]}
        assert caller.post(f"/ai/chat/{chat.pk}/generate", body).status_code == 200
        run_jobs()
    reply = caller.post(f"/ai/chat/{chat.pk}/generate").json()
    return reply["status"], reply["message"]["content"][0]["text"]


def test_a_quote_goes_on_to_the_exception_and_is_of_one_topic(ann, bot):
    trained(bot, HOTEL)
    status, text = ask(ann, bot, "Can a saver rate booking be cancelled?")
    assert status == "answered"
    assert "saver rate cannot be cancelled" in text
    assert text.startswith("The flexible rate")
    assert "?" not in text, "a question answers nothing"
    assert "Parking" not in text
    assert "Breakfast" not in text


def test_typing_errors_do_not_matter(ann, bot):
    trained(bot, HOTEL)
    status, text = ask(ann, bot, "waht does prking in the gaarge cost?")
    assert (status, "18 euros" in text) == ("answered", True)
    status, text = ask(ann, bot, "Who won the footbal chmpionship?")
    assert status != "answered", "an unknown word is not bent until it fits"


def test_a_real_word_is_no_typing_error(ann, bot):
    trained(bot, "ENTRY\n\nA ticket for the garden costs 12 euros at the counter.")
    status, text = ask(ann, bot, "What does a tikcet for the garden cost?")
    assert (status, "12 euros" in text) == ("answered", True)
    status, text = ask(ann, bot, "What does a thicket cost?")
    assert status != "answered", text
    assert "12 euros" not in text


def test_vietnamese_without_marks_is_understood(ann, bot):
    trained(bot, CAFE)
    status, text = ask(ann, bot, "thu cung co duoc ngoi o san vuon khong")
    assert status == "answered"
    assert "dây dắt" in text


def test_each_question_of_a_message_is_answered_or_said_to_be_unknown(ann, bot):
    trained(bot, HOTEL)
    status, text = ask(ann, bot, "What does parking cost? And where do I have breakfast?")
    assert status == "answered"
    assert "18 euros" in text
    assert "on the terrace" in text
    status, text = ask(ann, bot, "What does parking cost? Who won the football championship?")
    assert status == "answered"
    assert "18 euros" in text
    assert "couldn't find anything about this: “Who won the football championship?”" in text


def test_a_short_question_goes_on_from_the_last_answer(ann, bot):
    trained(bot, HOTEL)
    status, text = ask(ann, bot, "What does parking cost?", "and for electric cars?")
    assert (status, "9 euros more" in text) == ("answered", True)
    status, text = ask(ann, bot, "What does parking cost?", "and the football championship?")
    assert status != "answered", "another topic is none of the last one's"
