"""Django's PostgreSQL backend, which asks the socket and not the server whether it is there."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the server still holds the connection. Asked by every request, so without a
        statement: a server that has gone closed its end, and an idle connection is told nothing
        else.
        """
        if self.errors_occurred or self.connection is None:
            return bool(super().is_usable())
        if self.connection.closed:
            return False
        socket = select.poll()
        socket.register(self.connection.fileno(), select.POLLIN)
        return not socket.poll(0)
