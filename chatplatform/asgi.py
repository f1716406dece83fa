"""The web process: what the ASGI server loads."""

import gc
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
django.setup(set_prefix=False)

from chatplatform.web.application import Application  # noqa: E402

# What is loaded by now stays. A collection of garbage that walks it all stops every open stream for
# a quarter of a second.
gc.freeze()
application = Application()
