"""Sets up the web process and creates the application that the ASGI server loads."""

import gc
import os
import threading

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
django.setup(set_prefix=False)
# Garbage collection is off until the views are loaded below, since they are never freed.
gc.disable()

from django.conf import settings  # noqa: E402
from django.core import signals  # noqa: E402
from django.core.cache import close_caches  # noqa: E402
from django.core.handlers.base import reset_urlconf  # noqa: E402
from django.db import reset_queries  # noqa: E402
from django.urls import get_resolver  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402

from chatplatform import checks, encryption_key_check, environment  # noqa: E402
from chatplatform.observing import exporter, tracing  # noqa: E402
from chatplatform.web.asgi_application import Application  # noqa: E402

# Disconnect work that Django does around each request and that is not needed here: the cache is in
# this process, all requests use one URLconf, and queries are logged only with DEBUG.
signals.request_finished.disconnect(close_caches)
signals.request_finished.disconnect(reset_urlconf)
if not settings.DEBUG:
    signals.request_started.disconnect(reset_queries)

checks.require()
encryption_key_check.require()
for fault in checks.static_files():
    environment.end(f"{fault.msg} {fault.hint}")
exporter.start()
tracing.start()
application = Application()
# Loads every view, which would otherwise slow the first request.
_ = get_resolver().url_patterns
# Objects loaded so far are never freed. A garbage collection that visited them all would stall
# every open stream for a quarter of a second.
gc.freeze()
gc.enable()
# In a thread, so that requests need not wait for it.
warm_up = import_string(settings.WEB_WARM_UP)
threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
