"""The web process: what the ASGI server loads."""

import gc
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
django.setup(set_prefix=False)
# The views and pages below stay too.
gc.disable()

from django.urls import get_resolver  # noqa: E402

from chatplatform.observing import exporter, tracing  # noqa: E402
from chatplatform.web.application import Application  # noqa: E402

exporter.start()
tracing.start()
application = Application()
# With every view and page, which the first request would else load.
_ = get_resolver().url_patterns
# What is loaded by now stays. A collection of garbage that walks it all stops every open stream for
# a quarter of a second.
gc.freeze()
gc.enable()
