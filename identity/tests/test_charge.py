"""Credits held for a block of work."""

import pytest

from identity.models import CreditEntry, EntryKind, Subscription
from identity.services import credits


def kinds():
    return list(CreditEntry.objects.order_by("id").values_list("kind", "amount"))


def left(client):
    return Subscription.objects.get(client=client).credits_left


def test_what_was_not_used_comes_back(client_a):
    with credits.charge(client_a.pk, cost=5, reference="a") as held:
        assert left(client_a) == 995
        held.used = 2
    assert kinds() == [(EntryKind.RESERVE, -5), (EntryKind.SETTLE, 3)]
    assert left(client_a) == 998


def test_without_a_count_all_is_used(client_a):
    with credits.charge(client_a.pk, cost=5, reference="a"):
        pass
    assert left(client_a) == 995


def test_more_than_was_held_is_not_charged(client_a):
    with credits.charge(client_a.pk, cost=5, reference="a") as held:
        held.used = 50
    assert left(client_a) == 995


def test_work_that_fails_is_free(client_a):
    with pytest.raises(LookupError), credits.charge(client_a.pk, cost=5, reference="a"):
        raise LookupError
    assert kinds() == [(EntryKind.RESERVE, -5), (EntryKind.RELEASE, 5)]
    assert left(client_a) == 1000


def test_without_enough_the_work_does_not_begin(client_a):
    begun = []
    with (
        pytest.raises(credits.InsufficientCredits),
        credits.charge(client_a.pk, cost=1001, reference="a"),
    ):
        begun.append(True)
    assert (begun, kinds(), left(client_a)) == ([], [], 1000)


@pytest.mark.parametrize(("tokens", "cost"), [(0, 1), (1, 1), (1000, 1), (1001, 2), (2500, 3)])
def test_a_credit_for_each_started_thousand(tokens, cost):
    assert credits.of_tokens(tokens) == cost
