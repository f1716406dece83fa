"""Log lines as JSON: one object a line, with the request's id and the traceback."""

import json
import logging
import os
import subprocess
import sys

from chatplatform.api.request_context import RequestIdFilter, serving
from chatplatform.observing.json_logs import JsonFormatter


def formatted(**fields):
    record = logging.LogRecord("chats", logging.WARNING, "x.py", 1, "two\nlines %s", ("ä",), None)
    vars(record).update(fields)
    RequestIdFilter().filter(record)
    return JsonFormatter().format(record)


def test_a_line_is_one_object():
    with serving(request_id="r-1", address=""):
        line = formatted()
    assert "\n" not in line
    fields = json.loads(line)
    assert fields.pop("time").endswith("+00:00")
    assert fields.pop("process") == os.getpid()
    assert fields == {
        "level": "WARNING", "logger": "chats", "request_id": "r-1", "message": "two\nlines ä",
    }  # fmt: skip


def test_an_error_carries_its_traceback():
    try:
        raise ValueError("broken")
    except ValueError:
        fields = json.loads(formatted(exc_info=sys.exc_info()))
    assert fields["error"].startswith("Traceback")
    assert fields["error"].endswith("ValueError: broken")


def test_the_setting_chooses_the_format():
    # Logging alone: the whole of Django takes seconds to set up.
    code = (
        "import logging; from django.conf import settings as s; from django.utils import log;"
        "log.configure_logging(s.LOGGING_CONFIG, s.LOGGING); logging.getLogger('x').warning('said')"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "chatplatform.settings", "LOG_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stderr.splitlines()[-1])["message"] == "said"
