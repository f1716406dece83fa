"""`make sbom`: writes sbom.json (CycloneDX) and THIRD-PARTY-NOTICES.txt of the image's packages."""

import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from local.locked_packages import ROOT, Package, packages

_LICENCE = re.compile(r"(^|/)(licen[cs]e|copying|notice|authors)[^/]*$", re.IGNORECASE)


def bill(held: list[Package]) -> dict[str, Any]:
    """The bill of materials in CycloneDX 1.6."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "name": project["name"], "version": project["version"],
            }
        },
        "components": [_component(package) for package in held],
    }  # fmt: skip


def _component(package: Package) -> dict[str, Any]:
    purl = f"pkg:pypi/{package.name}@{package.version}"
    found: dict[str, Any] = {
        "type": "library", "name": package.name, "version": package.version, "purl": purl,
        "bom-ref": purl,
    }  # fmt: skip
    licence = _licence(package)
    return found | {"licenses": [{"license": {"name": licence}}]} if licence else found


def notices(held: list[Package]) -> str:
    """What the packages' licences ask to be passed on: their names and texts."""
    parts = []
    for package in held:
        heading = f"{package.name} {package.version}"
        licence = _licence(package)
        parts.append(f"{'=' * 80}\n{heading}{f' ({licence})' if licence else ''}\n{'=' * 80}\n")
        parts.extend(_texts(package))
    return "\n".join(parts)


def _licence(package: Package) -> str:
    """The licence as the package names it; empty if it is not installed here or names none."""
    try:
        about: Any = metadata.metadata(package.name)
    except metadata.PackageNotFoundError:
        return ""
    named = about.get("License-Expression") or about.get("License") or ""
    if named and "\n" not in named and len(named) < 100:
        return str(named)
    kinds = [item for item in about.get_all("Classifier") or () if item.startswith("License ::")]
    return ", ".join(item.rpartition(" :: ")[2] for item in kinds)


def _texts(package: Package) -> list[str]:
    try:
        files = metadata.files(package.name) or []
    except metadata.PackageNotFoundError:
        return []
    paths = [Path(str(file.locate())) for file in files if _LICENCE.search(str(file))]
    return [path.read_text(errors="replace") for path in paths if path.is_file()]


def main(folder: Path) -> int:
    held = packages()
    (folder / "sbom.json").write_text(json.dumps(bill(held), indent=2) + "\n")
    (folder / "THIRD-PARTY-NOTICES.txt").write_text(notices(held))
    print(f"sbom.json and THIRD-PARTY-NOTICES.txt name {len(held)} packages.")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT))
