"""The samples of docs/webhooks.md, run as they are on the page."""

import json
import re
import shutil
import subprocess
import time
from typing import Any

import pytest
from django.conf import settings

from chatplatform.signatures import new_secret, sign

BODY = '{"text":"Grüße 👋 \\/"}'.encode()


def sample(language):
    page = (settings.BASE_DIR / "docs" / "webhooks.md").read_text()
    (sample,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return sample


def cases():
    """Rows of (description, secret, headers, body, whether it verifies)."""
    secret, other = new_secret(), new_secret()

    def signed(at=0, secrets=(secret,)):
        moment = int(time.time()) + at
        signatures = [
            sign(secret, event_id="evt_1", timestamp=moment, body=BODY) for secret in secrets
        ]
        return {
            "webhook-id": "evt_1",
            "webhook-timestamp": str(moment),
            "webhook-signature": " ".join(signatures),
        }

    return [
        ("good", secret, signed(), BODY, True),
        ("two signatures, ours second", secret, signed(secrets=(other, secret)), BODY, True),
        ("other secret", other, signed(), BODY, False),
        ("changed byte", secret, signed(), BODY.replace(b"t", b"T"), False),
        ("other id", secret, {**signed(), "webhook-id": "evt_2"}, BODY, False),
        ("almost too old", secret, signed(-297), BODY, True),
        ("too old", secret, signed(-302), BODY, False),
        ("almost too new", secret, signed(297), BODY, True),
        ("too new", secret, signed(303), BODY, False),
        ("no version", secret, {**signed(), "webhook-signature": "abc"}, BODY, False),
    ]


def test_python():
    names: dict[str, Any] = {}
    exec(sample("python"), names)  # noqa: S102 - our own page
    for what, secret, headers, body, is_good in cases():
        assert names["verify"](secret, headers, body) is is_good, what


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_typescript(tmp_path):
    (tmp_path / "verify.mjs").write_text(sample("typescript"))
    (tmp_path / "run.mjs").write_text(
        'import { verify } from "./verify.mjs";\n'
        'import { readFileSync } from "node:fs";\n'
        'const cases = JSON.parse(readFileSync(0, "utf8"));\n'
        "const results = cases.map(([s, h, b]) => verify(s, h, Buffer.from(b)));\n"
        "console.log(JSON.stringify(results));\n"
    )
    examples = cases()
    arguments = json.dumps(
        [[secret, headers, body.decode()] for _, secret, headers, body, _ in examples]
    )
    completed = subprocess.run(
        ["node", "run.mjs"],
        cwd=tmp_path,
        input=arguments,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    expected = [is_good for *_, is_good in examples]
    assert json.loads(completed.stdout) == expected, [what for what, *_ in examples]
