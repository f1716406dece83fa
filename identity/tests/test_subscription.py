"""Get Subscription."""

from identity.models import CreditEntry, Subscription
from identity.services import credits
from identity.testing import make_person

PATH = "/identity/subscription"


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
