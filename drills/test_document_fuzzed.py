"""Thirty thousand requests generated from the OpenAPI document: every answer conforms to it.

`FUZZ_COUNT=80 make drill` makes more requests, `FUZZ_SEED` repeats those of a run.
"""

import os
import random
from collections import Counter

import httpx2
import pytest

from chatplatform.testing.fuzzing import is_fault, made_requests, operations
from chatplatform.testing.web_process import web
from chatplatform.tests.served import rows_of
from identity.models import Role
from identity.testing import Person, make_client, make_key, make_person

# Requests per operation and mode; three callers send each one: at most 212 * 2 * 22 * 3.
COUNT = int(os.environ.get("FUZZ_COUNT", "22"))
SEED = int(os.environ.get("FUZZ_SEED", random.randrange(10**6)))


def send(site: httpx2.Client, made, caller: Person) -> httpx2.Response:
    headers = {"Content-Type": made.headers.get("Content-Type", "")} | caller.headers
    if not made.body:
        del headers["Content-Type"]
    with site.stream(made.method, made.path_url, content=made.body, headers=headers) as reply:
        # The live feed has no end.
        if reply.headers.get("Content-Type", "").startswith("text/event-stream"):
            return reply
        reply.read()
        return reply


@pytest.mark.timeout(4 * 3600)
@pytest.mark.django_db(transaction=True)
def test_made_requests_are_answered_as_documented():
    statuses: Counter[int] = Counter()
    faults = {}
    # At its end `web` fails if an answer was not as documented.
    with (
        web(REPLY_WAIT_SECONDS="1") as port,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as site,
    ):
        for label in operations():
            client = make_client()
            owner, key = make_person(client, Role.OWNER), make_key(client)
            ids = rows_of(owner, key)
            callers = (owner, key, make_key(client, "public", ids["bot_id"]))
            for made in made_requests(label, ids, count=COUNT, fixed_seed=SEED):
                for caller in callers:
                    reply = send(site, made, caller)
                    statuses[reply.status_code] += 1
                    body = reply.content if reply.is_stream_consumed else b""
                    if is_fault(label, reply.status_code, body):
                        faults[label, reply.status_code] = made.path_url, made.body, body[:500]
        print(f"seed {SEED}: {statuses.total()} requests, {dict(sorted(statuses.items()))}")
    assert not faults, "\n".join(map(str, faults.items()))
    assert statuses.total() >= 900 * COUNT
    assert {200, 401, 403, 404, 422} <= statuses.keys()
