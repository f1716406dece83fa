"""Things that are made at their first use."""

import threading
import time

import pytest

from chatplatform.call_once import call_once


def test_threads_that_come_first_together_make_it_once():
    made = []

    @call_once
    def model():
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(model())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert got == made * 20


def test_what_failed_is_tried_again():
    tries = []

    @call_once
    def flaky():
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return "there"

    with pytest.raises(OSError, match="not yet"):
        flaky()
    assert [flaky(), flaky()] == ["there", "there"]
    assert len(tries) == 2
