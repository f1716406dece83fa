"""A customer whose number or id changed stays one customer, in whatever order the items come; a
number that somebody else has afterwards leads to them alone."""

import time
from itertools import permutations

import pytest

from channels_app.models import CustomerIdentity, FormerId
from channels_app.services.sending import NUMBER_TAKEN
from channels_app.tests.chatapp import AN, message, of_chatapp
from channels_app.tests.helpers import post_signed
from channels_app.tests.test_chatapp import CHANGES, NEW, PATH, write
from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer, Message
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
# The moment of the change, by the provider's clock; the reply window is open.
THEN = int(time.time()) - 300
HIDDEN = (
    {"from": None, "from_user_id": "VN.1"},
    {"type": "user_changed_user_id", "user_id": "VN.2", "previous_user_id": "VN.1"},
    {"from_user_id": "VN.2"},
)
SAME_ID = (
    {"from": AN, "from_user_id": "VN.1"},
    {"type": "user_changed_number", "wa_id": NEW},
    {"from": NEW, "from_user_id": "VN.1"},
)
FORMS = [*CHANGES, HIDDEN, SAME_ID]
# Of a message by the old id, the change, and a message by the new id.
ORDERS = [list(order) for order in permutations(("old", "system", "new"))]


def wrote(nobody, text, ids, *, at=THEN):
    write(nobody, text, **{"from": None, **ids, "timestamp": str(at)})


def changed(nobody, before, system, *, at=THEN):
    raw = {"id": f"wamid.s{at}", "type": "system", "text": None, "timestamp": str(at)}
    body = of_chatapp(messages=[message(**raw, system=system, **before)])
    assert post_signed(nobody, PATH, body).status_code == 200
    run_jobs()


def chat_of(text):
    return Message.objects.get(text=text, sender_type="customer").conversation


def is_one_with(number):
    customer, identity = Customer.objects.get(), CustomerIdentity.objects.get()
    assert identity.customer == customer
    if number:
        assert (customer.phone, identity.address) == (f"+{number}", number)


@pytest.mark.full
@pytest.mark.parametrize(("before", "system", "after"), FORMS)
def test_what_comes_late_under_a_former_id_is_the_same_customers(
    nobody, quiet, before, system, after
):
    wrote(nobody, "before", before, at=THEN - 60)
    changed(nobody, before, system)
    wrote(nobody, "late", before, at=THEN - 2)
    wrote(nobody, "after", after, at=THEN + 3)
    is_one_with(None if before is HIDDEN[0] else NEW)
    assert len({chat_of(text).pk for text in ("before", "late", "after")}) == 1


# A drill has the other half: here each form and each order has customers of both kinds.
@pytest.mark.parametrize(
    ("form", "order", "is_known"),
    [
        pytest.param(form, order, is_known, marks=[pytest.mark.drill] * ((a + b + is_known) % 2))
        for a, form in enumerate([CHANGES[0], CHANGES[3], HIDDEN])
        for b, order in enumerate(ORDERS)
        for is_known in (True, False)
    ],
)
def test_one_second_may_come_in_any_order(nobody, quiet, form, order, is_known):
    before, system, after = form
    if is_known:
        wrote(nobody, "before", before, at=THEN - 60)
    for step in order:
        if step == "system":
            changed(nobody, before, system)
        else:
            wrote(nobody, step, before if step == "old" else after)
    is_one_with(None if before is HIDDEN[0] else NEW)
    wrote(nobody, "last", before, at=THEN - 1)
    is_one_with(None if before is HIDDEN[0] else NEW)
    assert Message.objects.filter(sender_type="customer").count() == 3 + is_known


def test_an_older_message_does_not_put_the_old_number_back(nobody, quiet):
    wrote(nobody, "first", {"from": AN, "from_user_id": "VN.1"}, at=THEN - 60)
    wrote(nobody, "new", {"from": NEW, "from_user_id": "VN.1"})
    for at in (THEN - 30, THEN):
        wrote(nobody, f"late {at}", {"from": AN, "from_user_id": "VN.1"}, at=at)
    is_one_with(NEW)


def test_an_older_change_does_not_replace_a_newer_one(nobody, quiet):
    wrote(nobody, "first", {"from": AN}, at=THEN - 60)
    third = "84900000003"
    numbers = [(NEW, third, THEN), (AN, NEW, THEN - 30)]
    for old, new, at in numbers:
        changed(nobody, {"from": old}, {"type": "user_changed_number", "wa_id": new}, at=at)
    is_one_with(third)
    wrote(nobody, "between", {"from": NEW}, at=THEN - 20)
    is_one_with(third)


@pytest.mark.full
@pytest.mark.parametrize("ids", [{"from": AN}, {"from": AN, "from_user_id": "VN.9"}])
@pytest.mark.parametrize(("before", "system", "after"), CHANGES[:4])
def test_a_former_number_that_somebody_else_has_leads_to_them(
    nobody, quiet, before, system, after, ids
):
    wrote(nobody, "before", before, at=THEN - 60)
    changed(nobody, before, system)
    wrote(nobody, "other", ids, at=THEN + 86400)
    assert Customer.objects.count() == 2
    assert chat_of("other").customer != chat_of("before").customer
    wrote(nobody, "late", before, at=THEN - 2)
    wrote(nobody, "after", after, at=THEN + 86401)
    assert chat_of("late") == chat_of("after") == chat_of("before")
    changed(nobody, ids, {"type": "user_changed_number", "wa_id": "84900000009"}, at=THEN + 90000)
    assert chat_of("other").channel_chat.identity.address == "84900000009"
    assert chat_of("before").channel_chat.identity.address == NEW


def test_a_former_owners_late_message_does_not_take_the_number_back(nobody, quiet):
    wrote(nobody, "now", {"from": AN, "from_user_id": "VN.2"})
    wrote(nobody, "before", {"from": AN, "from_user_id": "VN.1"}, at=THEN - 60)
    assert CustomerIdentity.objects.get(alternate_user_id=AN).provider_user_id == "VN.2"
    assert chat_of("before").customer != chat_of("now").customer


def test_a_change_before_anybody_wrote_is_not_that_of_a_later_owner(nobody, quiet):
    changed(nobody, {"from": AN}, {"type": "user_changed_number", "wa_id": NEW})
    wrote(nobody, "other", {"from": AN}, at=THEN + 86400)
    assert CustomerIdentity.objects.get().address == AN
    wrote(nobody, "late", {"from": AN}, at=THEN - 2)
    wrote(nobody, "after", {"from": NEW}, at=THEN + 3)
    assert chat_of("other").customer != chat_of("after").customer


@pytest.mark.full
def test_a_number_of_somebody_else_goes_to_whom_the_provider_gives_it(nobody, quiet, ben):
    wrote(nobody, "other", {"from": NEW}, at=THEN - 60)
    wrote(nobody, "before", {"from": AN}, at=THEN - 50)
    changed(nobody, {"from": AN}, {"type": "user_changed_number", "wa_id": NEW})
    wrote(nobody, "after", {"from": NEW}, at=THEN + 3)
    wrote(nobody, "late", {"from": NEW}, at=THEN - 40)
    assert chat_of("after") == chat_of("before")
    assert chat_of("late") == chat_of("other")
    assert chat_of("other").customer != chat_of("before").customer
    chat = chat_of("other")
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Private"}).status_code == 201
    run_jobs()
    sent = Message.objects.get(text="Private")
    assert (sent.status, sent.error) == ("failed", NUMBER_TAKEN)
    assert not sent.outbound_sends.exists()


@pytest.mark.full
def test_two_chats_of_one_customer_go_on_in_one(nobody, number):
    wrote(nobody, "before", {"from": AN}, at=THEN - 60)
    wrote(nobody, "new", {"from": NEW}, at=THEN + 3)
    first, second = chat_of("before"), chat_of("new")
    assert first != second
    changed(nobody, {"from": AN}, CHANGES[0][1])
    first.refresh_from_db()
    assert (first.status, first.ended_by) == ("ended", "merged")
    assert Event.objects.filter(type="conversation.ended", conversation_id=first.pk).exists()
    wrote(nobody, "late", {"from": AN}, at=THEN - 2)
    assert chat_of("late") == second
    assert Conversation.objects.exclude(status="ended").get() == second


@pytest.mark.full
def test_an_agents_chat_goes_on_rather_than_the_bots(nobody, number, ben):
    wrote(nobody, "before", {"from": AN}, at=THEN - 60)
    first = chat_of("before")
    assert ben.post(f"/ai/chat/{first.pk}/manual", {"text": "Hello"}).status_code == 201
    run_jobs()
    wrote(nobody, "new", {"from": NEW}, at=THEN + 3)
    second = chat_of("new")
    changed(nobody, {"from": AN}, CHANGES[0][1])
    second.refresh_from_db()
    assert (second.status, second.ended_by) == ("ended", "merged")
    wrote(nobody, "next", {"from": NEW}, at=THEN + 9)
    assert chat_of("next") == first


def test_a_chat_that_the_bot_has_yet_to_answer_stays_open(nobody, number, quiet):
    wrote(nobody, "before", {"from": AN}, at=THEN - 60)
    Conversation.objects.update(assign_type="bot")
    wrote(nobody, "new", {"from": NEW}, at=THEN + 3)
    changed(nobody, {"from": AN}, CHANGES[0][1])
    assert not Conversation.objects.filter(status="ended").exists()
    wrote(nobody, "next", {"from": NEW}, at=THEN + 9)
    assert chat_of("next") == chat_of("new")


@pytest.mark.full
def test_former_ids_go_along_when_two_become_one(nobody, quiet):
    wrote(nobody, "a", {"from": AN}, at=THEN - 60)
    changed(nobody, {"from": AN}, {"type": "user_changed_number", "wa_id": NEW})
    wrote(nobody, "b", {"from_user_id": "VN.1"}, at=THEN + 3)
    wrote(nobody, "c", {"from": NEW, "from_user_id": "VN.1"}, at=THEN + 4)
    wrote(nobody, "late", {"from": AN}, at=THEN - 2)
    is_one_with(NEW)
    assert FormerId.objects.get().provider_user_id == AN
