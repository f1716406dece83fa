"""Top Up, List Credit Orders, Get Credit Order, Receive Payment, and the orders' admin page."""

import json
import time

import pytest
from django.conf import settings as configured
from django.test import Client as Browser
from django.urls import reverse

from chatplatform import checks
from chatplatform.signatures import TOLERANCE, new_secret, sign
from chatplatform.testing import at_once
from identity.models import AuditEvent, CreditEntry, CreditOrder, Subscription
from identity.services import credits

TOP_UP = "/identity/subscription/top-up"
ORDERS = "/identity/subscription/orders"
PAYMENTS = "/identity/subscription/payments"
WANTED = {"amount": 500, "reference": "INV-1"}


def left(client):
    return Subscription.objects.get(client=client).credits_left


def order(person, **changes):
    reply = person.post(TOP_UP, WANTED | changes)
    assert reply.status_code == 202
    return reply.json()


def state():
    """All that a payment could change."""
    return (
        list(CreditOrder.objects.order_by("pk").values_list("pk", "status")),
        list(CreditEntry.objects.order_by("pk").values_list("pk", "amount")),
        list(
            Subscription.objects.order_by("pk").values_list("credits_left", "lowest_warning_level")
        ),
        AuditEvent.objects.count(),
    )


def callback(browser, ordered, *, secret=configured.PAYMENT_WEBHOOK_SECRET, age=0, **changes):
    """A payment provider's callback for an order."""
    about = {name: ordered[name] for name in ("amount", "reference")}
    body = json.dumps({"order_id": ordered["id"], "status": "paid", **about, **changes}).encode()
    at = int(time.time()) - age
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(at),
        "webhook-signature": "v1,AAAA " + sign(secret, event_id="msg_1", timestamp=at, body=body),
    }
    return browser.post(PAYMENTS, body, content_type="application/json", headers=headers)


# --- orders ---------------------------------------------------------------------------------------


def test_an_order_adds_no_credits(ann):
    made = order(ann, amount=1_000_000)
    assert made == {
        "id": made["id"], "amount": 1_000_000, "reference": "INV-1", "status": "pending",
        "created_at": made["created_at"],
    }  # fmt: skip
    assert left(ann.client) == 1000
    assert not CreditEntry.objects.filter(kind="top_up").exists()
    event = AuditEvent.objects.get(action="credit_order.created")
    assert (event.user, event.changes) == (ann.user, WANTED | {"amount": 1_000_000})


def test_the_same_reference_is_the_same_order(ann, cara):
    first = order(ann)
    assert order(ann) == first
    reply = ann.post(TOP_UP, WANTED | {"amount": 501})
    assert (reply.status_code, reply.json()["code"]) == (409, "reference_taken")
    assert reply.json()["amount"] == 500
    assert order(cara)["id"] != first["id"], "another client may use it too"
    assert CreditOrder.objects.count() == 2
    assert AuditEvent.objects.filter(action="credit_order.created").count() == 2


def test_orders_are_listed_and_read(ann, cara):
    made = [order(ann, reference=f"INV-{number}") for number in range(3)]
    order(cara)
    first = ann.get(ORDERS, {"limit": 2}).json()
    second = ann.get(ORDERS, {"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [*first["items"], *second["items"]] == made[::-1]
    assert ann.get(f"{ORDERS}/{made[0]['id']}").json() == made[0]
    assert cara.get(f"{ORDERS}/{made[0]['id']}").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 0},
        {"amount": -5},
        {"amount": 1_000_001},
        {"amount": True},
        {"amount": 1.5},
        {"amount": "500"},
        {"amount": None},
        {"reference": ""},
        {"reference": "  "},
        {"reference": "x" * 201},
        {"reference": None},
        {"currency": "EUR"},
    ],
)
def test_wrong_body(ann, change):
    assert ann.post(TOP_UP, WANTED | change).status_code == 422
    assert not CreditOrder.objects.exists()
    assert not AuditEvent.objects.exists()


# --- a payment provider's callback ----------------------------------------------------------------


def test_a_payment_adds_the_credits_once(ann, cara, nobody):
    made = order(ann)
    order(cara)
    reply = callback(nobody.browser, made)
    assert (reply.status_code, reply.content) == (204, b"")
    assert ann.get(f"{ORDERS}/{made['id']}").json() == made | {"status": "paid"}
    entry = CreditEntry.objects.get(kind="top_up")
    assert (entry.client, entry.amount, entry.balance_after) == (ann.client, 500, 1500)
    assert (entry.reference, entry.created_by) == ("INV-1", None)
    event = AuditEvent.objects.get(action="credits.topped_up")
    assert (event.client, event.user, event.changes) == (ann.client, None, WANTED)
    assert left(cara.client) == 1000
    before = state()
    assert callback(nobody.browser, made).status_code == 204
    assert order(ann) == made | {"status": "paid"}, "and the same order is no new one"
    assert state() == before


def test_a_refused_order_stays_refused(ann, nobody):
    made = order(ann)
    for _ in range(2):
        assert callback(nobody.browser, made, status="refused").status_code == 204
    assert AuditEvent.objects.filter(action="credit_order.refused").count() == 1
    before = state()
    reply = callback(nobody.browser, made)
    assert (reply.status_code, reply.json()["code"]) == (409, "order_closed")
    assert reply.json()["order_status"] == "refused"
    assert state() == before
    assert left(ann.client) == 1000


def test_a_paid_order_is_not_refused_later(ann, nobody):
    made = order(ann)
    callback(nobody.browser, made)
    before = state()
    assert callback(nobody.browser, made, status="refused").status_code == 409
    assert state() == before


@pytest.mark.parametrize("age", [TOLERANCE + 5, -TOLERANCE - 5])
def test_an_old_signature_is_refused(ann, nobody, age):
    assert callback(nobody.browser, order(ann), age=age).status_code == 403
    assert left(ann.client) == 1000


def test_a_wrong_signature_changes_nothing(ann, nobody):
    made, body = order(ann), {"order_id": "", **WANTED, "status": "paid"}
    body["order_id"] = made["id"]
    before, at = state(), int(time.time())
    replies = [callback(nobody.browser, made, secret=new_secret())]
    signature = sign(
        configured.PAYMENT_WEBHOOK_SECRET, event_id="msg_1", timestamp=at, body=b"another"
    )
    for headers in (
        {},
        {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature},
        {"webhook-id": "msg_1", "webhook-timestamp": "now", "webhook-signature": signature},
        {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": "v1,\u00e9"},
    ):
        replies.append(nobody.post(PAYMENTS, body, **headers))
    replies.append(ann.post(PAYMENTS, body))
    for reply in replies:
        assert (reply.status_code, reply.json()["code"]) == (403, "wrong_signature")
    assert state() == before


@pytest.mark.parametrize("change", [{"amount": 501}, {"reference": "INV-2"}])
def test_a_payment_of_something_else_changes_nothing(ann, nobody, change):
    made = order(ann)
    before = state()
    reply = callback(nobody.browser, made, **change)
    assert (reply.status_code, reply.json()["code"]) == (409, "payment_differs")
    missing = callback(nobody.browser, made | {"id": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e"})
    assert missing.status_code == 404
    assert state() == before


def test_without_the_secret_no_payment_is_taken(ann, nobody, settings):
    made = order(ann)
    before, settings.PAYMENT_WEBHOOK_SECRET = state(), ""
    reply = callback(nobody.browser, made)
    assert (reply.status_code, reply.json()["code"]) == (503, "payments_not_configured")
    assert reply.json()["setting"] == "PAYMENT_WEBHOOK_SECRET"
    assert state() == before


@pytest.mark.parametrize(
    "secret",
    [
        *("abc", "whsec_", "whsec_c2hvcnQ=", "whsec_" + "?" * 44, "whsec_" + "_" * 44),
        "whsec_" + "A" * 30 + "==",
    ],
)
def test_a_secret_that_signs_nothing_is_found_at_the_start(settings, secret):
    assert checks.payment_secret() == []
    settings.PAYMENT_WEBHOOK_SECRET = secret
    assert [message.id for message in checks.payment_secret()] == ["chatplatform.E003"]
    settings.PAYMENT_WEBHOOK_SECRET = new_secret()
    assert checks.payment_secret() == []


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_payments_one_counts(ann):
    made = order(ann)
    statuses = at_once(*[lambda: callback(Browser(), made).status_code] * 4)
    assert statuses == [204] * 4
    assert left(ann.client) == 1500


def test_a_payment_arms_the_warning_again(ann, nobody):
    with credits.charge(ann.client.pk, cost=900, reference="r"):
        pass
    assert Subscription.objects.get(client=ann.client).lowest_warning_level == 20
    callback(nobody.browser, order(ann))
    assert Subscription.objects.get(client=ann.client).lowest_warning_level is None


def test_a_payment_does_not_restart_an_ended_plan(ann, nobody):
    Subscription.objects.filter(client=ann.client).update(is_active=False)
    callback(nobody.browser, order(ann))
    assert ann.get("/identity/subscription").json()["is_active"] is False
    assert left(ann.client) == 1500


def test_the_balance_can_exceed_32_bits(ann, nobody):
    Subscription.objects.filter(client=ann.client).update(credits_left=2**31)
    callback(nobody.browser, order(ann, amount=1_000_000))
    assert left(ann.client) == 2**31 + 1_000_000


# --- the admin site -------------------------------------------------------------------------------


def act(staff, action, ids, **more):
    path = reverse("admin:identity_creditorder_changelist")
    return staff.post(path, {"action": action, "_selected_action": ids, **more}, follow=True)


@pytest.mark.full
@pytest.mark.parametrize(("action", "status"), [("mark_paid", "paid"), ("refuse", "refused")])
def test_staff_end_orders_after_a_question(ann, cara, staff, action, status):
    ids = [order(ann)["id"], order(cara)["id"]]
    other = order(ann, reference="INV-2")
    before = state()
    asked = act(staff, action, ids)
    assert asked.status_code == 200
    assert b"500 credits for Acme: INV-1" in asked.content
    assert b"INV-2" not in asked.content
    assert state() == before, "it only asks"
    assert act(staff, action, ids, confirmed="yes").status_code == 200
    assert {ann.get(f"{ORDERS}/{ids[0]}").json()["status"]} == {status}
    assert {cara.get(f"{ORDERS}/{ids[1]}").json()["status"]} == {status}
    assert ann.get(f"{ORDERS}/{other['id']}").json()["status"] == "pending"
    assert left(ann.client) == left(cara.client) == (1500 if status == "paid" else 1000)
    name = "credits.topped_up" if status == "paid" else "credit_order.refused"
    events = AuditEvent.objects.filter(action=name)
    assert set(events.values_list("user__email", flat=True)) == {"staff@example.com"}
    assert {event.client_id for event in events} == {ann.client.pk, cara.client.pk}
    before = state()
    again = act(staff, action, ids, confirmed="yes")
    assert again.status_code == 200
    assert state() == before


def test_staff_cannot_pay_a_refused_order(ann, staff):
    made = order(ann)
    act(staff, "refuse", [made["id"]], confirmed="yes")
    shown = act(staff, "mark_paid", [made["id"]], confirmed="yes")
    assert b"has already been paid" in shown.content
    assert left(ann.client) == 1000


def test_the_page_of_an_order_changes_nothing(ann, staff):
    made = order(ann)
    path = reverse("admin:identity_creditorder_change", args=[made["id"]])
    assert b"INV-1" in staff.get(path).content
    staff.post(path, {"amount": 1, "status": "paid"})
    assert ann.get(f"{ORDERS}/{made['id']}").json() == made
