"""A connection to the database is looked at before a request, without a statement."""

from typing import Any

import pytest
from django.db import connection, connections

from chatplatform.local.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def look_again() -> None:
    """As the begin of a request has it looked at."""
    looked_at: Any = connection
    looked_at.health_check_done = False
    looked_at.close_if_health_check_failed()


def test_a_connection_that_the_server_ended_is_replaced():
    ended = backend()
    look_again()
    assert backend() == ended, "a good connection stays"
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [ended])
    finally:
        other.close()
    assert wait_until(lambda: not connection.is_usable(), secs=10)
    look_again()
    assert backend() != ended
    assert connection.is_usable()


def test_after_an_error_the_server_is_asked():
    backend()
    connection.errors_occurred = True
    assert connection.is_usable()
    connection.errors_occurred = False
