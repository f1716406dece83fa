"""Settings of the test suite: real PostgreSQL and Valkey, a cheap hasher, its own folder."""

import os
import tempfile

os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="chatplatform-test-"))
os.environ.setdefault("SECRET_KEY", "only-for-the-test-suite-" + "x" * 32)

from chatplatform.settings import *  # noqa: E402, F403
from chatplatform.settings import STORAGES, env  # noqa: E402

# Argon2 at full cost would be most of the suite's time.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# One Valkey database a pytest process, so that parallel processes do not hear each other.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
REDIS_URL = (
    env.str("REDIS_URL", default="redis://127.0.0.1:6379").rstrip("/").removesuffix("/0")
    + f"/{int(_worker) + 1}"
)
CELERY_BROKER_URL = REDIS_URL
REPLY_WAIT_SECONDS = 10
