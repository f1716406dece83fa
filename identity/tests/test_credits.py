"""Credits: the ledger, its consistency, and repeated operations."""

import functools
from datetime import timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from chatplatform.models import Job, JobState
from chatplatform.testing import at_once
from identity.models import AuditEvent, CreditEntry, Plan, Subscription
from identity.services import credits
from identity.tasks import clean_up_credits
from identity.testing import make_client


def account(client):
    return Subscription.objects.get(client=client)


def set_up(client, left, **fields):
    """An account with `left` credits and a matching ledger."""
    CreditEntry.objects.filter(client=client).delete()
    Subscription.objects.filter(client=client).update(
        credits_left=0, lowest_warning_level=None, **fields
    )
    credits.top_up(client.pk, amount=left, reference="start", by=None)


def kinds(client):
    return list(
        CreditEntry.objects.filter(client=client).order_by("pk").values_list("kind", "amount")
    )[1:]


def assert_ledger_is_consistent(client):
    entries = CreditEntry.objects.filter(client=client).order_by("pk")
    left = account(client).credits_left
    assert entries.aggregate(all=Sum("amount"))["all"] == left
    assert entries.latest("pk").balance_after == left
    assert left >= 0


def test_a_call_is_reserved_and_charged_by_its_use(client_a):
    credits.reserve(client_a.pk, cost=8, reference="r")
    assert account(client_a).credits_left == 992
    assert credits.settle(client_a.pk, used=3, reference="r") == 3
    assert (account(client_a).credits_left, account(client_a).credits_used) == (997, 3)
    assert kinds(client_a) == [("reserve", -8), ("settle", 5)]
    assert_ledger_is_consistent(client_a)


def test_a_failed_call_costs_nothing(client_a):
    credits.reserve(client_a.pk, cost=8, reference="r")
    credits.release(client_a.pk, reference="r")
    assert (account(client_a).credits_left, account(client_a).credits_used) == (1000, 0)
    assert kinds(client_a) == [("reserve", -8), ("release", 8)]


def test_repeated_steps_charge_once(client_a):
    for _ in range(2):
        credits.reserve(client_a.pk, cost=8, reference="r")
    assert credits.settle(client_a.pk, used=3, reference="r") == 3
    assert credits.settle(client_a.pk, used=3, reference="r") == 0
    credits.release(client_a.pk, reference="r")
    # The job is repeated after its charge was recorded.
    credits.reserve(client_a.pk, cost=8, reference="r")
    assert credits.settle(client_a.pk, used=8, reference="r") == 0
    assert account(client_a).credits_left == 997
    assert_ledger_is_consistent(client_a)


def test_released_credits_can_be_reserved_again(client_a):
    for _ in range(3):
        credits.reserve(client_a.pk, cost=8, reference="r")
        credits.release(client_a.pk, reference="r")
    credits.reserve(client_a.pk, cost=8, reference="r")
    credits.settle(client_a.pk, used=8, reference="r")
    assert account(client_a).credits_left == 992
    assert_ledger_is_consistent(client_a)


def test_an_attempt_that_costs_more_replaces_what_an_earlier_one_reserved(client_a):
    for cost in (1, 10, 4):
        credits.reserve(client_a.pk, cost=cost, reference="r")
    assert kinds(client_a) == [("reserve", -1), ("release", 1), ("reserve", -10)]
    assert credits.settle(client_a.pk, used=7, reference="r") == 7
    assert account(client_a).credits_left == 993
    assert_ledger_is_consistent(client_a)


@pytest.mark.parametrize("plan", [{}, {"is_active": False}])
def test_an_attempt_that_is_refused_leaves_what_an_earlier_one_reserved(client_a, plan):
    set_up(client_a, 5)
    credits.reserve(client_a.pk, cost=2, reference="r")
    Subscription.objects.update(**plan)
    with pytest.raises(credits.InsufficientCredits):
        credits.reserve(client_a.pk, cost=10, reference="r")
    assert kinds(client_a) == [("reserve", -2)]
    assert credits.settle(client_a.pk, used=9, reference="r") == 2
    assert account(client_a).credits_left == 3
    assert_ledger_is_consistent(client_a)


@pytest.mark.parametrize(("used", "charged"), [(99, 8), (-5, 0), (0, 0)])
def test_a_charge_is_between_nothing_and_the_reservation(client_a, used, charged):
    credits.reserve(client_a.pk, cost=8, reference="r")
    assert credits.settle(client_a.pk, used=used, reference="r") == charged
    assert account(client_a).credits_left == 1000 - charged


def test_without_a_reservation_nothing_is_charged_or_released(client_a):
    assert credits.settle(client_a.pk, used=3, reference="r") == 0
    credits.release(client_a.pk, reference="r")
    assert kinds(client_a) == []


def test_a_low_balance_is_refused_with_balance_and_price(client_a):
    set_up(client_a, 4)
    with pytest.raises(credits.InsufficientCredits) as refused:
        credits.reserve(client_a.pk, cost=5, reference="r")
    assert refused.value.response().status_code == 402
    assert refused.value.fields == {"balance": 4, "required": 5}
    assert kinds(client_a) == []


def test_an_ended_plan_is_refused_and_keeps_what_is_left(client_a):
    Subscription.objects.update(is_active=False)
    with pytest.raises(credits.InsufficientCredits) as refused:
        credits.reserve(client_a.pk, cost=1, reference="r")
    assert (refused.value.status, refused.value.code) == (402, "subscription_inactive")
    assert account(client_a).credits_left == 1000
    assert not Job.objects.exists()


def test_an_unlimited_plan_is_counted_and_never_refused(client_a):
    set_up(client_a, 3, plan=Plan.UNLIMITED)
    for n in range(4):
        with credits.charge(client_a.pk, cost=10, reference=f"r{n}") as reservation:
            reservation.used = 7
    assert account(client_a).credits_used == 28
    assert_ledger_is_consistent(client_a)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("tokens", "price"), [(0, 1), (1, 1), (1000, 1), (1001, 2), (2000, 2), (90_001, 91)]
)
def test_the_price_of_tokens(tokens, price):
    assert credits.price_of_tokens(tokens) == price


# --- charge() -----------------------------------------------------------------------------------


def test_charge_takes_the_whole_reservation_unless_used_is_set(client_a):
    with credits.charge(client_a.pk, cost=5, reference="r1"):
        assert account(client_a).credits_left == 995
    with credits.charge(client_a.pk, cost=5, reference="r2") as reservation:
        reservation.used = 2
    assert account(client_a).credits_left == 993


@pytest.mark.parametrize("failure", [ValueError, SystemExit])
def test_charge_releases_if_the_call_raises(client_a, failure):
    def call():
        with credits.charge(client_a.pk, cost=5, reference="r"):
            raise failure

    with pytest.raises(failure):
        call()
    assert account(client_a).credits_left == 1000
    assert_ledger_is_consistent(client_a)


@pytest.mark.django_db(transaction=True)
def test_100_concurrent_calls_on_a_balance_for_10(client_a):
    set_up(client_a, 10)
    outcomes = []

    def calls(thread):
        for n in range(5):
            try:
                with credits.charge(client_a.pk, cost=1, reference=f"r{thread}-{n}"):
                    outcomes.append(200)
            except credits.InsufficientCredits as refused:
                outcomes.append(refused.response().status_code)

    at_once(*[functools.partial(calls, thread) for thread in range(20)])
    assert (outcomes.count(200), outcomes.count(402), len(outcomes)) == (10, 90, 100)
    assert account(client_a).credits_left == 0
    assert_ledger_is_consistent(client_a)


@pytest.mark.django_db(transaction=True)
def test_one_reference_in_many_threads_is_charged_once(client_a):

    def call():
        credits.reserve(client_a.pk, cost=8, reference="r")
        credits.settle(client_a.pk, used=3, reference="r")
        credits.top_up(client_a.pk, amount=100, reference="t", by=None)

    at_once(*[call] * 8)
    assert account(client_a).credits_left == 1000 - 3 + 100
    assert_ledger_is_consistent(client_a)


# --- after a killed worker ----------------------------------------------------------------------


def reserved_by(client, state, age=timedelta(hours=2)):
    job = Job.objects.create(client_id=client.pk, name="chats.generate_reply", state=state)
    credits.reserve(client.pk, cost=8, reference=f"r{job.pk}")
    CreditEntry.objects.filter(reference=f"r{job.pk}").update(
        job_id=job.pk, created_at=timezone.now() - age
    )


def test_a_reservation_of_a_dead_job_is_released(client_a):
    reserved_by(client_a, JobState.DEAD)
    reserved_by(client_a, JobState.DONE)
    clean_up_credits()
    clean_up_credits()
    assert account(client_a).credits_left == 1000
    assert [kind for kind, _ in kinds(client_a)].count("release") == 2
    assert_ledger_is_consistent(client_a)


def test_a_reservation_without_a_job_is_released(client_a):
    credits.reserve(client_a.pk, cost=8, reference="r")
    clean_up_credits()
    assert account(client_a).credits_left == 992, "an open request may still run"
    CreditEntry.objects.update(created_at=timezone.now() - timedelta(hours=2))
    clean_up_credits()
    assert account(client_a).credits_left == 1000


def test_an_unfinished_job_keeps_its_reservation(client_a):
    reserved_by(client_a, JobState.QUEUED)
    reserved_by(client_a, JobState.RUNNING)
    reserved_by(client_a, JobState.DONE, age=timedelta(minutes=5))
    clean_up_credits()
    assert account(client_a).credits_left == 1000 - 3 * 8


# --- periods ------------------------------------------------------------------------------------


def over(client, plan, ended=timedelta(days=1), length=timedelta(days=30), **fields):
    end = timezone.now() - ended
    Subscription.objects.filter(client=client).update(
        plan=plan, period_start=end - length, period_end=end, **fields
    )
    return end


def test_a_standard_plan_renews_with_a_grant(client_a):
    with credits.charge(client_a.pk, cost=10, reference="r"):
        pass
    end = over(client_a, Plan.STANDARD, lowest_warning_level=0)
    clean_up_credits()
    clean_up_credits()
    now = account(client_a)
    assert (now.period_start, now.period_end) == (end, end + timedelta(days=30))
    assert (now.credits_left, now.credits_used, now.lowest_warning_level) == (1990, 0, None)
    assert kinds(client_a)[-1] == ("grant", 1000)
    assert_ledger_is_consistent(client_a)


@pytest.mark.django_db(transaction=True)
def test_concurrent_schedulers_start_one_period(client_a):
    over(client_a, Plan.STANDARD)

    def renew():
        credits.renew_due()

    at_once(*[renew] * 4)
    assert account(client_a).credits_left == 2000
    assert_ledger_is_consistent(client_a)


def test_skipped_periods_bring_one_grant(client_a):
    end = over(client_a, Plan.STANDARD, ended=timedelta(days=65))
    clean_up_credits()
    assert account(client_a).period_start == end + timedelta(days=60)
    assert account(client_a).credits_left == 2000


def test_a_trial_ends(client_a):
    over(client_a, Plan.TRIAL)
    clean_up_credits()
    assert account(client_a).is_active is False
    assert account(client_a).credits_left == 1000
    assert AuditEvent.objects.get().action == "subscription.ended"


def test_an_unlimited_plan_resets_its_usage(client_a):
    over(client_a, Plan.UNLIMITED, credits_used=77)
    clean_up_credits()
    assert (account(client_a).credits_used, account(client_a).credits_left) == (0, 1000)


@pytest.mark.parametrize(
    "fields",
    [{"is_active": False}, {"period_end": None}],
)
def test_plans_without_end_or_already_ended_are_not_renewed(client_a, fields):
    over(client_a, Plan.STANDARD)
    Subscription.objects.update(**fields)
    clean_up_credits()
    assert kinds(client_a) == []


def test_a_reservation_of_the_last_period_may_end_in_this_one(client_a):
    credits.reserve(client_a.pk, cost=8, reference="r")
    over(client_a, Plan.STANDARD)
    clean_up_credits()
    credits.settle(client_a.pk, used=3, reference="r")
    assert (account(client_a).credits_left, account(client_a).credits_used) == (1997, 0)
    assert_ledger_is_consistent(client_a)


# --- credits.low --------------------------------------------------------------------------------


def warnings():
    return list(Job.objects.order_by("pk").values_list("args__threshold", flat=True))


def use(client, amount, reference):
    with credits.charge(client.pk, cost=amount, reference=reference):
        pass


def test_low_and_used_up_credits_are_each_warned_of_once(client_a):
    set_up(client_a, 202)
    for n in range(4):
        use(client_a, 1, f"r{n}")
    assert warnings() == [20], "200 of 1000 is not below a fifth, 199 is"
    use(client_a, 198, "rest")
    for n in range(3):
        with pytest.raises(credits.InsufficientCredits):
            use(client_a, 1, f"none{n}")
    assert warnings() == [20, 0]


def test_a_reservation_alone_causes_no_warning(client_a):
    set_up(client_a, 202)
    credits.reserve(client_a.pk, cost=202, reference="r")
    credits.release(client_a.pk, reference="r")
    assert warnings() == []


def test_a_refusal_warns_even_if_credits_are_left(client_a):
    set_up(client_a, 5)
    with pytest.raises(credits.InsufficientCredits):
        use(client_a, 10, "r")
    assert warnings() == [0]


def test_after_a_top_up_the_warning_is_repeated(client_a):
    set_up(client_a, 1)
    use(client_a, 1, "r1")
    credits.top_up(client_a.pk, amount=1, reference="t", by=None)
    use(client_a, 1, "r2")
    assert warnings() == [0, 0]


# --- against a plain model ----------------------------------------------------------------------

REFERENCES = st.sampled_from(["a", "b", "c"])
AMOUNTS = st.integers(0, 9)


class Ledger(RuleBasedStateMachine):
    """The service and a model of three dictionaries must always agree."""

    def __init__(self):
        super().__init__()
        self.client = make_client()
        set_up(self.client, 20)
        self.left, self.used = 20, 0
        self.reserved, self.paid, self.added = {}, set(), {}

    @rule(reference=REFERENCES, cost=AMOUNTS)
    def reserve(self, reference, cost):
        is_covered = reference in self.paid or self.reserved.get(reference, -1) >= cost
        available = self.left + self.reserved.get(reference, 0)
        try:
            credits.reserve(self.client.pk, cost=cost, reference=reference)
        except credits.InsufficientCredits:
            assert not is_covered
            assert cost > available
            return
        if not is_covered:
            assert cost <= available
            self.give_back(self.reserved.pop(reference, 0))
            self.reserved[reference] = cost
            self.left -= cost
            self.used += cost

    @rule(reference=REFERENCES, used=AMOUNTS)
    def settle(self, reference, used):
        reserved = self.reserved.pop(reference, None)
        charged = credits.settle(self.client.pk, used=used, reference=reference)
        assert charged == min(used, reserved or 0)
        if reserved is not None:
            self.paid.add(reference)
            self.give_back(reserved - charged)

    @rule(reference=REFERENCES)
    def release(self, reference):
        credits.release(self.client.pk, reference=reference)
        self.give_back(self.reserved.pop(reference, 0))

    @rule(reference=REFERENCES, amount=st.integers(1, 5))
    def top_up(self, reference, amount):
        try:
            credits.top_up(self.client.pk, amount=amount, reference=reference, by=None)
        except credits.ReferenceTaken:
            assert self.added[reference] != amount
            return
        if reference not in self.added:
            self.added[reference] = amount
            self.left += amount

    def give_back(self, amount):
        self.left += amount
        self.used -= amount

    @invariant()
    def agree(self):
        now = account(self.client)
        assert (now.credits_left, now.credits_used) == (self.left, self.used)
        assert_ledger_is_consistent(self.client)
        still_open = CreditEntry.objects.filter(client=self.client, is_open=True)
        assert set(still_open.values_list("reference", flat=True)) == set(self.reserved)


def run_ledger(runs):
    """Run so many random sequences of twenty steps."""
    run_state_machine_as_test(
        Ledger,
        settings=settings(
            max_examples=runs,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.full
def test_the_ledger_agrees_with_a_plain_model(db):
    run_ledger(8)  # `make drill` runs five hundred
