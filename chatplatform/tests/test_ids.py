import os
import threading
import time
import uuid

from chatplatform import ids


def test_a_uuid7_carries_its_version_and_the_time(monkeypatch):
    # A test on a moved clock may have left the process's own ahead of the time.
    monkeypatch.setattr(ids, "_clock", ids._Clock())
    before = time.time_ns() // 1_000_000
    new_id = ids.uuid7()
    after = time.time_ns() // 1_000_000
    assert new_id.version == 7
    assert new_id.variant == "specified in RFC 4122"
    assert before <= new_id.int >> 80 <= after + 1


def test_uuid7s_of_one_millisecond_keep_their_order(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    new_ids = [ids.uuid7() for _ in range(5_000)]
    assert new_ids == sorted(new_ids)
    assert len(set(new_ids)) == 5_000


def test_ids_keep_growing_if_the_clock_is_set_back(monkeypatch):
    first = ids.uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000_000_000_000)
    assert ids.uuid7() > first


def test_a_full_counter_borrows_the_next_millisecond(monkeypatch):
    first = ids.uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    monkeypatch.setattr(ids._clock, "counter", ids._COUNTER_END - 1)
    later = ids.uuid7()
    assert later > first
    assert later.version == 7


def test_threads_share_one_order():
    lists: list[list[uuid.UUID]] = [[] for _ in range(4)]

    def run(ids_of_thread: list[uuid.UUID]) -> None:
        ids_of_thread.extend(ids.uuid7() for _ in range(2_000))

    threads = [threading.Thread(target=run, args=(ids_of_thread,)) for ids_of_thread in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids_of_thread == sorted(ids_of_thread) for ids_of_thread in lists)
    assert len({new_id for ids_of_thread in lists for new_id in ids_of_thread}) == 8_000


def test_a_fork_starts_its_own_counter():
    counter = ids._clock.counter
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, str(ids._clock.counter).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 64) == b"0"
    assert ids._clock.counter == counter
    os.close(read)
    os.close(write)


def test_a_short_code_is_long_enough_and_readable():
    codes = {ids.short_code() for _ in range(2_000)}
    assert len(codes) == 2_000
    assert all(len(code) == 10 for code in codes)
    assert not set("".join(codes)) & set("01OILU")
    assert len(ids.short_code(24)) == 24
