"""`make env`: writes `.env` from `.env.example`, with new secrets.

It imports only the standard library, since it runs before anything is installed.
"""

import base64
import os
import re
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The placeholders in the example, and the secrets that replace them.
_MADE = {
    "(password)": lambda: secrets.token_urlsafe(24),
    "(secret key)": lambda: secrets.token_urlsafe(48),
    "(field key)": lambda: base64.b64encode(secrets.token_bytes(32)).decode(),
}


def make(example: str) -> str:
    """The example with a new secret in place of each placeholder."""
    return re.sub(r"\((?:password|secret key|field key)\)", lambda m: _MADE[m[0]](), example)


def main(folder: Path) -> int:
    path = folder / ".env"
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(f"{path} is there: its secrets are in use, so it stays.", file=sys.stderr)  # noqa: T201
        return 1
    with os.fdopen(opened, "w") as file:
        file.write(make((folder / ".env.example").read_text()))
    print(f"{path} was written: set ALLOWED_HOSTS and PUBLIC_URL in it.")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT))
