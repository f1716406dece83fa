"""Get Subscription and Top Up."""

import pytest

from identity.models import AuditEvent, CreditEntry, Subscription
from identity.services import credits
from identity.testing import make_person

PATH = "/identity/subscription"
TOP_UP = f"{PATH}/top-up"
BOUGHT = {"amount": 500, "reference": "INV-1"}


def left(client):
    return Subscription.objects.get(client=client).credits_left


def test_credits_left_and_used(ann, ben):
    with credits.charge(ann.client.pk, cost=30, reference="r"):
        pass
    for person in (ann, ben, make_person(ann.client, "viewer", "Vic")):
        reply = person.get(PATH)
        assert reply.status_code == 200
        assert reply.json() == {
            "plan": "trial",
            "credits_included": 1000,
            "credits_left": 970,
            "credits_used": 30,
            "period_start": reply.json()["period_start"],
            "period_end": None,
            "is_active": True,
        }


def test_a_top_up_adds_an_entry(ann, cara):
    reply = ann.post(TOP_UP, BOUGHT)
    assert reply.status_code == 200
    assert (reply.json()["credits_left"], reply.json()["credits_used"]) == (1500, 0)
    entry = CreditEntry.objects.get(kind="top_up")
    assert (entry.client, entry.amount, entry.balance_after) == (ann.client, 500, 1500)
    assert entry.created_by == ann.user
    event = AuditEvent.objects.get(action="credits.topped_up")
    assert (event.client, event.user) == (ann.client, ann.user)
    assert event.changes == BOUGHT
    assert left(cara.client) == 1000


def test_the_same_top_up_again_adds_nothing(ann):
    first = ann.post(TOP_UP, BOUGHT)
    again = ann.post(TOP_UP, BOUGHT)
    assert (again.status_code, again.json()) == (200, first.json())
    assert CreditEntry.objects.filter(kind="top_up").count() == 1
    assert AuditEvent.objects.filter(action="credits.topped_up").count() == 1


def test_a_reference_with_another_amount_is_refused(ann):
    ann.post(TOP_UP, BOUGHT)
    reply = ann.post(TOP_UP, BOUGHT | {"amount": 501})
    assert (reply.status_code, reply.json()["code"]) == (409, "reference_taken")
    assert reply.json()["amount"] == 500
    assert left(ann.client) == 1500


def test_two_clients_may_use_the_same_reference(ann, cara):
    ann.post(TOP_UP, BOUGHT)
    assert cara.post(TOP_UP, BOUGHT).json()["credits_left"] == 1500


def test_the_balance_can_exceed_32_bits(ann):
    Subscription.objects.filter(client=ann.client).update(credits_left=2**31)
    reply = ann.post(TOP_UP, {"amount": 1_000_000, "reference": "big"})
    assert reply.json()["credits_left"] == 2**31 + 1_000_000


def test_a_top_up_does_not_restart_an_ended_plan(ann):
    Subscription.objects.filter(client=ann.client).update(is_active=False)
    assert ann.post(TOP_UP, BOUGHT).json()["is_active"] is False
    assert left(ann.client) == 1500


@pytest.mark.parametrize("role", ["agent", "viewer"])
def test_only_an_admin_tops_up(ann, role):
    reply = make_person(ann.client, role, "Ben").post(TOP_UP, BOUGHT)
    assert reply.status_code == 403
    assert left(ann.client) == 1000


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 0},
        {"amount": -5},
        {"amount": 1_000_001},
        {"amount": True},
        {"amount": 1.5},
        {"amount": "500"},
        {"reference": ""},
        {"reference": "  "},
        {"reference": "x" * 201},
        {"reference": None},
        {"currency": "EUR"},
    ],
)
def test_wrong_body(ann, change):
    assert ann.post(TOP_UP, BOUGHT | change).status_code == 422
    assert left(ann.client) == 1000
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("missing", ["amount", "reference"])
def test_amount_and_reference_are_required(ann, missing):
    body = {name: value for name, value in BOUGHT.items() if name != missing}
    assert ann.post(TOP_UP, body).status_code == 422


def test_a_registered_company_has_its_first_grant(db, nobody):
    nobody.post(
        "/identity/register-trial",
        {"company_name": "Delta", "full_name": "Dora", "email": "dora@delta.example",
         "password": "correct-horse-battery"},
    )  # fmt: skip
    (entry,) = CreditEntry.objects.all()
    assert (entry.kind, entry.amount, entry.balance_after) == ("grant", 1000, 1000)
    account = Subscription.objects.get()
    assert (account.credits_left, account.credits_used) == (1000, 0)
    assert account.period_end
    assert (account.period_end - account.period_start).days in {29, 30}
