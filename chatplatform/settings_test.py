"""Settings of the test suite: real PostgreSQL and Valkey, a cheap hasher, a temporary folder."""

import atexit
import os
import shutil
import tempfile

# gw0, gw1, …: the processes of pytest-xdist.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# Parallel processes have separate PostgreSQL clusters, so that the tests of one process do not wait
# for those of another.
if f"DATABASE_URL_{_worker}" in os.environ:
    os.environ["DATABASE_URL"] = os.environ[f"DATABASE_URL_{_worker}"]
# Each process has its own folder, in a numbered variable: the first process passes its environment
# on to the others.
if f"DATA_DIR_{_worker}" not in os.environ:
    folder = tempfile.mkdtemp(prefix="chatplatform-test-")
    os.environ[f"DATA_DIR_{_worker}"] = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
os.environ["DATA_DIR"] = os.environ[f"DATA_DIR_{_worker}"]
os.environ.setdefault("DEBUG", "true")
os.environ.setdefault("RATE_LIMIT_SCALE", "1000")
os.environ.setdefault("CREDIT_PACKS", "5000=45 EUR")
os.environ.setdefault("SECRET_KEY", "only-for-the-test-suite-" + "x" * 32)

from chatplatform.environment import env  # noqa: E402
from chatplatform.settings import *  # noqa: E402, F403
from chatplatform.settings import MIDDLEWARE, STORAGES  # noqa: E402

MIDDLEWARE = ["chatplatform.testing.documented.Documented", *MIDDLEWARE]
# Argon2 at full cost would take most of the suite's time.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Each test client creates the middleware again, which would read the folders of all static files.
WHITENOISE_USE_FINDERS = False
# One Valkey database for each pytest process, so that parallel processes do not interfere.
REDIS_URL = (
    env.text("REDIS_URL", default="redis://127.0.0.1:6379").rstrip("/").removesuffix("/0")
    + f"/{_worker + 1}"
)
CELERY_BROKER_URL = REDIS_URL
PAYMENT_WEBHOOK_SECRET = "whsec_b25seS1mb3ItdGhlLXRlc3Qtc3VpdGUtMTIz"
REPLY_WAIT_SECONDS = 10
# The thread that renews leases would otherwise use the database between two tests.
JOB_LEASE_SECONDS = 3600
# Our apps at the providers. Nothing listens at these URLs, so that no test calls a real provider.
SOCIALNET_API_URL = "http://127.0.0.1:9/v26.0"
SOCIALNET_APP_ID = "900000001"
SOCIALNET_APP_SECRET = "secret-of-the-tests"
SOCIALNET_VERIFY_TOKEN = "word-of-the-tests"
PHOTOAPP_API_URL = "http://127.0.0.1:9/v26.0"
PHOTOAPP_APP_ID = "900000002"
PHOTOAPP_APP_SECRET = "secret-of-the-tests"
PHOTOAPP_DIRECT_URL = "http://127.0.0.1:9/v26.0"
PHOTOAPP_DIRECT_AUTH_URL = "http://127.0.0.1:9/oauth"
PHOTOAPP_DIRECT_APP_ID = "900000003"
PHOTOAPP_DIRECT_APP_SECRET = "secret-of-the-direct-app"
PHOTOAPP_VERIFY_TOKEN = "word-of-the-tests"
LOCALAPP_API_URL = LOCALAPP_OAUTH_URL = "http://127.0.0.1:9"
LOCALAPP_APP_ID = "2553900000000000001"
LOCALAPP_APP_SECRET = "secret-of-the-tests"
LOCALAPP_OA_SECRET_KEY = "key-of-the-tests"
CHATAPP_API_URL = "http://127.0.0.1:9/v26.0"
TELEGRAM_API_URL = "http://127.0.0.1:9"
CHATAPP_APP_ID = "900000004"
CHATAPP_APP_SECRET = "secret-of-the-tests"
CHATAPP_VERIFY_TOKEN = "word-of-the-tests"
