"""A few requests that were made from the document; `make drill` sends thirty thousand."""

import pytest

from chatplatform.testing.fuzzing import is_fault, made_requests, operations
from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.served import ALL

pytestmark = pytest.mark.full

# Every so many; the drill takes all of them.
EVERY = 25


def test_the_tools_operations_are_the_served_ones():
    assert {label.rstrip("/") for label in operations()} == {str(served) for served in ALL}


@pytest.mark.parametrize("label", sorted(map(str, ALL))[::EVERY])
def test_made_requests_are_answered_as_documented(label, ann, ann_key, ours):
    path_as_documented = next(
        operation for operation in operations() if operation.rstrip("/") == label
    )
    statuses = []
    for made in made_requests(path_as_documented, ours, count=3, fixed_seed=7):
        for caller in (ann, ann_key):
            reply = caller.browser.generic(
                str(made.method), made.path_url, made.body or b"",
                content_type=str(made.headers.get("Content-Type", "")), headers=caller.headers,
            )  # fmt: skip
            body = b"" if reply.streaming else reply.content
            fault = is_fault(path_as_documented, reply.status_code, body)
            assert not fault, (made.path_url, made.body, body)
            statuses.append(reply.status_code)
    # What they are answered is compared with the document, as in every test.
    assert len(statuses) >= 2
