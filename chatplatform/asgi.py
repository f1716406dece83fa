"""The web process: what the ASGI server loads."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
django.setup(set_prefix=False)

from chatplatform.web.application import Application  # noqa: E402

application = Application()
