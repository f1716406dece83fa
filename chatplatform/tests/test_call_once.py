"""Functions that are called once, at their first use."""

import threading
import time

import pytest

from chatplatform.call_once import call_once


def test_concurrent_first_calls_run_the_function_once():
    models = []

    @call_once
    def model():
        time.sleep(0.05)
        models.append(object())
        return models[-1]

    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(model())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 1
    assert results == models * 20


def test_a_failed_call_is_repeated():
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
