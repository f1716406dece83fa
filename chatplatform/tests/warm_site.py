"""Settings of a web process whose warm-up leaves a note."""

import os
from pathlib import Path

from chatplatform.settings import *  # noqa: F403

WEB_WARM_UP = "chatplatform.tests.warm_site.leave_note"


def leave_note() -> None:
    Path(os.environ["WARM_NOTE"]).touch()
