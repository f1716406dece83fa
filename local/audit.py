"""`make audit`: known vulnerabilities of the packages that an image holds.

By pip-audit, which asks PyPI, if it is installed. Without a way out: by a stored file of advisories
in the format of OSV, a JSON list (`make audit ADVISORIES=osv.json`; osv.dev offers them for PyPI).
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from local.locked_packages import OF_IMAGE, ROOT, Package, packages


def findings(advisories: list[dict[str, Any]], held: list[Package]) -> Iterator[str]:
    """A line for each advisory that concerns a package."""
    versions = {package.name: package.version for package in held}
    for advisory in advisories:
        if advisory.get("withdrawn"):
            continue
        for affected in advisory.get("affected", ()):
            package = affected.get("package", {})
            name = package.get("name", "").lower().replace("_", "-").replace(".", "-")
            if package.get("ecosystem") == "PyPI" and _concerns(affected, versions.get(name)):
                summary = advisory.get("summary", "")
                yield f"{name} {versions[name]}: {advisory['id']} {summary}".strip()
                break


def _concerns(affected: dict[str, Any], held: str | None) -> bool:
    """Whether an advisory names this version, or a range that holds it."""
    if held is None:
        return False
    if held in affected.get("versions", ()):
        return True
    ranges = [item for item in affected.get("ranges", ()) if item.get("type") == "ECOSYSTEM"]
    return any(_is_in(item.get("events", ()), Version(held)) for item in ranges)


def _is_in(events: Any, held: Version) -> bool:
    """Whether a version lies in a range, whose events are in order."""
    is_affected = False
    for event in events:
        for kind, text in event.items():
            bound = _version(text)
            if kind == "introduced" and held >= bound:
                is_affected = True
            elif (kind == "fixed" and held >= bound) or (kind == "last_affected" and held > bound):
                is_affected = False
    return is_affected


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def main(arguments: list[str]) -> int:
    if arguments:
        found = list(findings(json.loads(Path(arguments[0]).read_text()), packages()))
        for line in found or [f"{len(packages())} packages, and none has a known vulnerability."]:
            print(line)  # noqa: T201
        return 1 if found else 0
    if shutil.which("pip-audit") is None:
        advice = "Install pip-audit, or name stored advisories: make audit ADVISORIES=osv.json"
        print(advice, file=sys.stderr)  # noqa: T201
        return 2
    files = [part for name in OF_IMAGE for part in ("-r", str(ROOT / name))]
    return subprocess.run(["pip-audit", "--disable-pip", *files], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
