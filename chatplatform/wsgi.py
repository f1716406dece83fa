"""WSGI entry, for a deployment that serves the stream paths by a process of their own."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
application = get_wsgi_application()
