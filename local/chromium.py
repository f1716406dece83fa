"""The system's Chromium, which browser tests, benchmarks and the pictures of the docs run."""

import shutil


def find_chromium() -> str | None:
    """The path of the system's Chromium; None if it is not installed."""
    # The headless shell has the same engine and takes two thirds of the CPU time.
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")
