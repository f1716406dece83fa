"""A customer writes on a page: the bot answers there, a person goes on, ticks come back."""

import pytest

from bots.language import phrasebook
from bots.testing import trained
from channels_app.models import InboundItem, OutboundSend, Outcome
from channels_app.tests.helpers import PAGE, event, post_signed
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_question_is_answered_on_the_channel_once(socialnet, page, bot):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    socialnet.write("When do parcels arrive?")
    socialnet.settle()
    chat = Conversation.objects.get()
    assert (chat.channel, chat.bot_id, chat.customer.name) == ("socialnet", bot.pk, "An Tran")
    question, answer = Message.objects.filter(conversation=chat).order_by("seq")
    assert (question.text, question.sender_type) == ("When do parcels arrive?", "customer")
    assert question.provider_message_id
    assert "three days" in answer.text
    assert socialnet.replies() == [answer.text]
    answer.refresh_from_db()
    assert answer.provider_message_id == socialnet.sim.replies(PAGE, "an")[0]["id"]
    assert (answer.status, answer.delivered_at is not None) == ("read", True)
    events = list(Event.objects.filter(conversation_id=chat.pk).order_by("sequence"))
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    kinds = [event.type for event in events]
    assert kinds.count("message.delivered") == kinds.count("message.read") == 1


def test_the_bot_is_silent_while_another_app_has_the_thread(socialnet, page, bot, nobody):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    socialnet.write("When do parcels arrive?")
    socialnet.settle()
    user = Conversation.objects.get().provider_user_id
    taken = event({"take_thread_control": {"previous_owner_app_id": "900000001"}}, user=user)
    post_signed(nobody, "/socialnet/webhook", taken)
    socialnet.settle()
    socialnet.write("In how many days?")
    socialnet.settle()
    assert len(socialnet.replies()) == 1
    given_back = event({"pass_thread_control": {}}, user=user)
    post_signed(nobody, "/socialnet/webhook", given_back)
    socialnet.settle()
    socialnet.write("Where is your shop?")
    socialnet.settle()
    assert "Hanoi" in socialnet.replies()[-1]
    assert len(socialnet.replies()) == 2


def test_what_was_unsent_before_the_bot_answered_is_not_answered(socialnet, page, bot):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    socialnet.write("When do parcels arrive?")
    socialnet.act("unsend")
    socialnet.settle()
    chat = Conversation.objects.get()
    assert Message.objects.get().deleted_at
    assert (chat.assign_type, socialnet.replies()) == ("bot", [])


def test_no_welcome_is_sent_and_nobody_is_refused_for_missing_fields(socialnet, page, bot):
    fields = [{"name": "city", "label": {"en": "City"}, "type": "text", "required": True}]
    type(bot).objects.filter(pk=bot.pk).update(
        welcome_message={"en": "Welcome!"}, customer_info_fields=fields
    )
    socialnet.write("Hello there")
    socialnet.settle()
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert len(socialnet.replies()) <= 1


@pytest.mark.full
def test_a_customer_of_the_channel_is_asked_in_the_chat(socialnet, page, bot):
    fields = [
        {"name": name, "label": {"en": label}, "type": kind, "required": True, "options": [],
         "ask_before_chat": True}
        for name, label, kind in (
            ("name", "Name", "text"), ("email", "E-mail", "email"), ("city", "City", "text"),
        )
    ]  # fmt: skip
    type(bot).objects.filter(pk=bot.pk).update(customer_info_fields=fields)
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    for text in (
        "When do parcels arrive?", "an@example", "it's an@example.com", "I live in Hue, thanks"
    ):  # fmt: skip
        socialnet.write(text)
        socialnet.settle()
    answer, again, city, noted = socialnet.replies()
    says = phrasebook.all_books()["en"].says
    question = says["ask_info"].replace("{label}", "E-mail")
    # The channel has told the name.
    assert answer.endswith(f"\n\n{question}")
    assert again == f"{says['not_email']}\n\n{question}"
    assert city.endswith(says["ask_info"].replace("{label}", "City"))
    assert noted == says["info_noted"]
    customer = Conversation.objects.get().customer
    assert (customer.name, customer.email) == ("An Tran", "an@example.com")
    assert customer.attributes["city"] == "Hue"


def test_an_agents_message_goes_out_and_its_ticks_come_back(socialnet, agents_chat, ben):
    sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Yes, I am."})
    assert (sent.status_code, sent.json()["status"]) == (201, "pending")
    socialnet.settle()
    assert socialnet.replies() == ["Yes, I am."]
    message = Message.objects.get(pk=sent.json()["id"])
    assert (message.status, message.error) == ("read", None)
    assert OutboundSend.objects.get(message=message).state == "sent"
    assert not InboundItem.objects.exclude(outcome=Outcome.PROCESSED).exists()


def test_a_note_never_goes_out(socialnet, agents_chat, ben):
    body = {"text": "He sounds angry.", "is_note": True}
    assert ben.post(f"/ai/chat/{agents_chat.pk}/manual", body).status_code == 201
    socialnet.settle()
    assert socialnet.replies() == []


def test_the_customer_sees_that_the_bot_reads_and_types(socialnet, page):
    socialnet.write("Hello")
    run_jobs()
    calls = [str(call) for call in socialnet.sim.calls(channel="socialnet")]
    assert [call for call in calls if "mark_seen" in call]
    assert [call for call in calls if "typing_on" in call]
