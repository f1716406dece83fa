"""Django's PostgreSQL backend with a connection check that inspects only the socket."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the server keeps the connection open. Every request calls this, so it sends no
        statement: an idle connection becomes readable only if the server has closed its end."""
        if self.errors_occurred or self.connection is None:
            return bool(super().is_usable())
        if self.connection.closed:
            return False
        socket = select.poll()
        socket.register(self.connection.fileno(), select.POLLIN)
        return not socket.poll(0)
