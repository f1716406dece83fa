"""The packages of the locked requirements that an image holds."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# As the Dockerfile installs them, with all that its arguments add.
OF_IMAGE = (
    "requirements.txt", "requirements-s3.txt", "requirements-traces.txt", "requirements-ocr.txt",
)  # fmt: skip
_LINE = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", re.MULTILINE)


class Package(NamedTuple):
    """A package by its normalized name."""

    name: str
    version: str


def packages() -> list[Package]:
    """All packages of the image, once each, by name."""
    return sorted(set(_read()))


def _read() -> Iterator[Package]:
    for name in OF_IMAGE:
        for package, version in _LINE.findall((ROOT / name).read_text()):
            yield Package(re.sub(r"[-_.]+", "-", package).lower(), version)
