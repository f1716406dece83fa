"""Measure how fast documents are trained, on the whole platform as `make run` starts it.

    python bench/training.py [--pages 300] [--files 240] [--first-answers]

The first part is a PDF of `--pages` pages, made of this machine's manual pages and printed by
Chromium: it measures the bot's first right answer and the end of each stage, then trains the same
file again. The second part is `--files` files of one client, with a leaflet of another client
behind them. `--first-answers` ends each part at the first right answer. Prints tables for
docs/benchmarks.md.
"""

import argparse
import html
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DEBUG", "true")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")

import django  # noqa: E402

django.setup()

from drills.platform import OWNER, Platform  # noqa: E402

MANUALS = ("bash", "curl", "git-config", "gpg", "tmux", "valgrind", "wget", "git-log", "top", "jq")
LINES_PER_PAGE = 58
# The manual of curl, in the middle of the 300 pages, has the answer.
QUESTION = "Where do I pass the MD5 checksum of the remote host's public key?"
WORDS = "hostpubmd5"
LEAFLET = "PARKING\n\nGuests park behind the house for nine euros a night.\n"
LEAFLET_QUESTION, LEAFLET_WORDS = "Where do guests park?", "behind the house"


def manual(folder: Path, pages: int) -> Path:
    """A PDF of manual pages."""
    env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    lines: list[str] = []
    for name in MANUALS:
        command = ["man", "--encoding=UTF-8", name]
        shown = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        lines += shown.stdout.splitlines()
    parts = [lines[at : at + LINES_PER_PAGE] for at in range(0, len(lines), LINES_PER_PAGE)]
    style = "<style>pre{break-after:page;font-size:9pt;margin:0}</style>"
    body = "".join(f"<pre>{html.escape(chr(10).join(part))}</pre>" for part in parts[:pages])
    source, printed = folder / "manual.html", folder / "manual.pdf"
    source.write_text(f"<title>Manual</title>{style}{body}", "utf-8")
    command = ["chromium", "--headless", "--no-sandbox", f"--print-to-pdf={printed}", str(source)]
    subprocess.run(command, check=True, capture_output=True)
    print(f"a PDF of {min(pages, len(parts))} pages, {printed.stat().st_size:,} bytes")
    return printed


class Trainer:
    """A client with a bot, and the timing of its training."""

    def __init__(self, platform: Platform, person: dict[str, str]) -> None:
        self.platform, self.person = platform, person
        self.bot = platform.call("POST", "/ai/bot", person, json={"bot_name": "Bench"})["id"]

    def upload(self, *files: tuple[str, bytes]) -> list[int]:
        sent = [("files", (name, data)) for name, data in files]
        path = f"/ai/{self.bot}/train/document"
        return [row["id"] for row in self.call("POST", path, files=sent)["items"]]

    def call(self, method: str, path: str, **more: Any) -> Any:
        return self.platform.call(method, path, self.person, **more)

    def shown(self, document: int) -> dict[str, Any]:
        return dict(self.call("GET", f"/ai/{self.bot}/train/document/{document}"))

    def answers(self, question: str, words: str) -> bool:
        body = {"messages": [{"role": "user", "content": question}]}
        return words in str(self.call("POST", f"/ai/{self.bot}/generate-chat", json=body))

    def follow(self, document: int, question: str, words: str, *, ends: str) -> dict[str, float]:
        """The seconds until the first right answer and the end of each stage, up to `ends`."""
        started = time.monotonic()
        seen: dict[str, float] = {}
        while ends not in seen:
            row = self.shown(document)
            assert row["status"] != "failed", row["error"]
            seen.setdefault(row["stage"], time.monotonic() - started)
            if row["is_answering"] and "first answer" not in seen and self.answers(question, words):
                seen["first answer"] = time.monotonic() - started
            time.sleep(0.2)
        print(f"\n{row['chunk_count']} passages")
        return seen


def table(title: str, seen: dict[str, float]) -> None:
    print(f"| {title} | begins after seconds |\n| --- | --- |")
    for name, seconds in seen.items():
        print(f"| {name} | {seconds:.1f} |")


def measure_manual(trainer: Trainer, printed: Path, *, ends: str) -> None:
    data = printed.read_bytes()
    (document,) = trainer.upload(("manual.pdf", data))
    table("manual", trainer.follow(document, QUESTION, WORDS, ends=ends))
    if ends == "complete":
        trainer.call(
            "POST", f"/ai/{trainer.bot}/train/document/reupload", json={"document_ids": [document]}
        )
        table("manual again, unchanged", trainer.follow(document, QUESTION, WORDS, ends=ends))


def measure_turns(busy: Trainer, other: Trainer, files: int, *, ends: str) -> None:
    """Measure a leaflet of one client behind many files of another."""
    words = Path(ROOT / "docs" / "channels.md").read_text("utf-8").split()
    for at in range(0, files, 20):
        texts = (" ".join([f"File {n}.", *words[n : n + 900]]) for n in range(at, at + 20))
        busy.upload(*((f"{at + n}.txt", text.encode()) for n, text in enumerate(texts)))
    (document,) = other.upload(("leaflet.txt", LEAFLET.encode()))
    seen = other.follow(document, LEAFLET_QUESTION, LEAFLET_WORDS, ends=ends)
    table(f"leaflet behind {files} files of another client", seen)


def owner_of_a_new_client(platform: Platform) -> dict[str, str]:
    email, password = "other@bench.example", "correct horse battery 9"
    body = {"email": email, "password": password, "company_name": "Bench", "full_name": "Bea"}
    platform.call("POST", "/identity/register-trial", {}, json=body)
    return platform.login(email, password)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--files", type=int, default=240)
    parser.add_argument("--first-answers", action="store_true")
    options = parser.parse_args()
    ends = "first answer" if options.first_answers else "complete"
    with tempfile.TemporaryDirectory() as folder:
        printed = manual(Path(folder), options.pages)
        platform = Platform(Path(folder))
        try:
            password = (platform.data / "keys" / "demo_password").read_text()
            first = Trainer(platform, platform.login(OWNER, password))
            second = Trainer(platform, owner_of_a_new_client(platform))
            measure_manual(first, printed, ends=ends)
            measure_turns(second, first, options.files, ends=ends)
        finally:
            platform.stop()


if __name__ == "__main__":
    main()
