"""Callbacks of the simulated providers: batches, duplicates, disorder, retries, giving up."""

import time
from collections import Counter

import pytest

from simulator.testing import simulator
from simulator.tests.calls import (
    NOW,
    NUMBER,
    OA,
    OTHER_PAGE,
    PAGE,
    PHOTO,
    WABA,
    Caller,
    Platform,
    caller,
)
from simulator.world import Json


@pytest.fixture
def at():
    with caller() as made:
        for account in (PAGE, OTHER_PAGE, PHOTO, NUMBER):
            made.sim.subscribe(account)
        made.sim.tokens("localapp")
        yield made


def texts(bodies: list[Json]) -> list[str]:
    return [
        item["message"]["text"]
        for body in bodies
        for entry in body["entry"]
        for item in entry["messaging"]
    ]


def write_many(at: Caller, count: int, *accounts: str) -> list[str]:
    written = [f"text {number}" for number in range(count)]
    for number, text in enumerate(written):
        at.written(accounts[number % len(accounts)], text=text)
    return written


@pytest.mark.full
def test_held_events_leave_as_a_crowd_in_batches_of_several_accounts(at):
    at.sim.modes(hold=True, batch=100)
    written = write_many(at, 250, PAGE, OTHER_PAGE)
    assert at.events() == []
    assert at.sim.release() == 250
    bodies = at.events()
    assert [len(texts([body])) for body in bodies] == [100, 100, 50]
    assert {entry["id"] for entry in bodies[0]["entry"]} == {PAGE, OTHER_PAGE}
    assert sorted(texts(bodies)) == sorted(written)


def test_a_batch_of_chatapp_has_a_change_for_each_event(at):
    at.sim.modes(hold=True, batch=10)
    write_many(at, 4, NUMBER)
    at.sim.release()
    (body,) = at.events()
    assert [entry["id"] for entry in body["entry"]] == [WABA]
    assert len(body["entry"][0]["changes"]) == 4


def test_localapp_has_no_batches(at):
    at.sim.modes(hold=True, batch=10)
    write_many(at, 3, OA)
    at.sim.release()
    assert len(at.events()) == 3


def test_events_are_in_order_or_shuffled_the_same_way_for_a_seed():
    in_order = [f"text {number}" for number in range(20)]
    assert texts_after(shuffle=False) == in_order
    shuffled = texts_after(shuffle=True)
    assert shuffled != in_order
    assert sorted(shuffled) == sorted(in_order)
    assert texts_after(shuffle=True) == shuffled


def texts_after(*, shuffle: bool) -> list[str]:
    with caller() as at:
        at.sim.subscribe(PAGE)
        at.sim.modes(shuffle=shuffle)
        write_many(at, 20, PAGE)
        return texts(at.events())


def test_duplicates(at):
    at.sim.modes(duplicate=2)
    written = write_many(at, 3, PAGE)
    assert Counter(texts(at.events())) == Counter(dict.fromkeys(written, 3))


def test_unknown_fields_are_everywhere(at):
    at.sim.modes(unknown_fields=True)
    for account in (PAGE, NUMBER, OA):
        at.written(account)
    messenger, chatapp, localapp = at.events()
    entry = messenger["entry"][0]
    assert "x_new" in entry
    assert "x_new" in entry["messaging"][0]
    assert "x_new" in entry["messaging"][0]["message"]
    value = chatapp["entry"][0]["changes"][0]["value"]
    assert "x_new" in value
    assert "x_new" in value["messages"][0]
    assert "x_new" in localapp


def test_optional_fields_are_missing(at):
    at.sim.modes(missing_optional=True)
    for account in (PAGE, NUMBER, OA):
        at.written(account)
    at.sim.act(PAGE, "an", "postback")
    messenger, chatapp, localapp, postback = at.events()
    assert "time" not in messenger["entry"][0]
    assert "mid" not in postback["entry"][0]["messaging"][0]["postback"]
    assert "contacts" not in chatapp["entry"][0]["changes"][0]["value"]
    assert "user_id_by_app" not in localapp


def test_strangers_travel_with_what_is_known(at):
    at.sim.modes(strangers=True)
    at.written(PAGE)
    at.written(NUMBER)
    messenger, chatapp = at.events()
    stranger, odd, known = messenger["entry"]
    assert (odd["id"], known["id"]) == (PAGE, PAGE)
    assert stranger["id"] not in {PAGE, OTHER_PAGE}
    assert "hovercraft" in odd["messaging"][0]
    assert [entry["id"] for entry in chatapp["entry"][1:]] == [WABA, WABA]


# Retries


def test_a_refused_body_is_sent_again_the_same(at):
    at.platform.statuses = [500, 403, OSError("connection refused"), 200]
    at.written(PAGE)
    at.sim.deliver(within=60)
    (delivery,) = at.sim.deliveries()
    assert delivery["state"] == "delivered"
    assert [item["status"] for item in delivery["attempts"]] == [500, 403, 0, 200]
    assert delivery["attempts"][2]["error"] == "connection refused"
    waits = [item["at"] - NOW for item in delivery["attempts"]]
    assert waits == pytest.approx([0, 1, 5, 30])
    assert len({body for _, _, _, body in at.platform.got}) == 1


@pytest.mark.parametrize("account", [PAGE, PHOTO])
def test_after_an_hour_of_failures_the_app_is_unsubscribed(at, account):
    page = at.sim.simulator.world.accounts[PAGE]
    at.platform.statuses = [500]
    at.written(account)
    at.sim.deliver(within=1801)
    assert len(page.subscriptions) == 2
    at.sim.deliver(within=1800)
    assert at.sim.deliveries()[0]["state"] == "given_up"
    assert [*page.subscriptions] == (["900000002"] if account == PAGE else ["900000001"])
    at.platform.statuses = [200]
    at.written(account)
    assert at.events() == []


def test_localapp_repeats_with_a_count_then_switches_off_until_the_next_consent(at):
    at.platform.statuses = [500]
    at.written(OA)
    at.sim.deliver(within=7200)
    counts = [headers.get("num_retry") for _, _, headers, _ in at.platform.got]
    assert counts == [None, "1", "2", "3", "4", "5"]
    waits = [delivery["at"] - NOW for delivery in at.sim.deliveries()[0]["attempts"]]
    assert waits == pytest.approx([0, 30, 330, 1230, 3030, 6630])
    at.platform.statuses = [200]
    at.written(OA)
    assert at.events() == []


def test_chatapp_repeats_for_seven_days_and_stays_subscribed(at):
    at.platform.statuses = [500]
    at.written(NUMBER)
    at.sim.deliver(within=7 * 86_400 + 3600)
    (delivery,) = at.sim.deliveries()
    assert delivery["state"] == "given_up"
    assert delivery["attempts"][-1]["at"] - NOW == pytest.approx(7 * 86_400, rel=0.01)
    at.platform.statuses = [200]
    at.written(NUMBER)
    assert len(at.events()) == 1


def test_the_waits_can_be_scaled(at):
    at.sim.modes(retry_scale=1000)
    at.platform.statuses = [500]
    at.written(PAGE)
    at.sim.deliver(within=4)
    assert at.sim.deliveries(state="given_up")


def test_a_repeated_body_does_not_hold_up_others(at):
    at.platform.statuses = [500, 200]
    at.written(PAGE, text="first")
    at.written(PAGE, text="second")
    at.written(OA, text="third")
    at.sim.deliver()
    assert texts([body for body in at.platform.bodies if "entry" in body]) == [
        "first", "second", "first",
    ]  # fmt: skip


# Threads of its own, real HTTP


def test_by_threads_callbacks_leave_by_themselves_over_http():
    """One simulator is the platform of another: it answers 404 to callbacks."""
    with (
        simulator(wire=Platform()) as receiver,
        simulator(callback_base=receiver.origin, by_threads=True) as sim,
    ):
        sim.subscribe(PAGE)
        sim.modes(retry_scale=100_000)
        sim.write_text("socialnet", PAGE, "an", "hi")
        sim.wait_until_quiet()
        (delivery,) = sim.deliveries()
        assert delivery["state"] == "given_up"
        assert {item["status"] for item in delivery["attempts"]} == {404}
        assert len(delivery["attempts"]) == 8


class Slow(Platform):
    """Answers slowly, except on the channel localapp."""

    def call(self, method, url, headers, body, *, timeout):
        answer = super().call(method, url, headers, body, timeout=timeout)
        if b"localapp" not in url.encode():
            time.sleep(0.05)
        return answer


def test_a_slow_channel_holds_up_no_other_and_keeps_its_order():
    platform = Slow()
    with simulator(wire=platform, by_threads=True) as sim:
        sim.subscribe(PAGE)
        sim.tokens("localapp")
        for number in range(4):
            sim.write_text("socialnet", PAGE, "an", f"text {number}")
        sim.write_text("localapp", OA, "an", "quick")
        sim.wait_until_quiet()
    names = [url.rpartition("/")[0].rpartition("/")[2] for _, url, _, _ in platform.got]
    assert names.index("localapp") < 4
    messenger = [body for body in platform.bodies if "entry" in body]
    assert texts(messenger) == [f"text {number}" for number in range(4)]
