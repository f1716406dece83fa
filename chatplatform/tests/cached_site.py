"""Settings of the web process of browser tests: the product's, and static files stay in a browser.

So they do on a real site, where a file's name changes with it. Else each page asks for twenty.
"""

from chatplatform.settings import *  # noqa: F403

WHITENOISE_MAX_AGE = 3600
