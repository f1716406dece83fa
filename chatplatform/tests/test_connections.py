"""A connection to the database is looked at before a request, without a statement."""

import os
import socket
from typing import Any
from unittest.mock import Mock

import pytest
from celery.signals import task_prerun
from django.db import connection, connections
from django.utils.module_loading import import_string

from chatplatform.celery import app
from local.os_processes import wait_until

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


def end(pid: int) -> None:
    """The server ends this connection of ours."""
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    finally:
        other.close()
    assert wait_until(lambda: not connection.is_usable(), secs=10)


def test_a_connection_that_the_server_ended_is_replaced():
    ended = backend()
    look_again()
    assert backend() == ended, "a good connection stays"
    end(ended)
    look_again()
    assert backend() != ended
    assert connection.is_usable()


def test_a_worker_keeps_its_connection_from_job_to_job():
    fixup, sender = import_string("celery.fixups.django.DjangoWorkerFixup")(app), Mock()
    sender.request.is_eager = False
    kept = backend()
    for _ in range(3):
        fixup.on_task_prerun(sender)
        task_prerun.send(sender)
        assert backend() == kept
        fixup.on_task_postrun(sender)
    end(kept)
    task_prerun.send(sender)
    assert backend() != kept


def test_after_an_error_the_server_is_asked():
    backend()
    connection.errors_occurred = True
    assert connection.is_usable()
    connection.errors_occurred = False


def idle_seconds(sock: socket.socket) -> int:
    """After how many silent seconds TCP asks the other end; 0: it never does."""
    if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE):
        return 0
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)


def test_both_ends_soon_know_of_a_host_that_is_gone():
    connection.ensure_connection()
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as ours:
        assert idle_seconds(ours) == 10
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp%%' ORDER BY name"
        )
        theirs = dict(cursor.fetchall())
    assert theirs == {
        "tcp_keepalives_count": "2", "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5",
        "tcp_user_timeout": "20000",
    }  # fmt: skip


def test_a_worker_notices_that_the_brokers_host_is_gone():
    with app.connection() as broker:
        channel: Any = broker.default_channel
        pool = channel.client.connection_pool
        line = pool.get_connection()
        assert idle_seconds(line._sock) == 10
        pool.release(line)
