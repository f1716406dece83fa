"""Writes log lines as JSON, one object per line, for log collectors."""

import logging
from datetime import UTC, datetime

import orjson


class JsonFormatter(logging.Formatter):
    """Writes the fields of a plain line, the process id, and a traceback as `error`, if any."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return orjson.dumps(fields).decode()
