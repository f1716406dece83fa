"""Kill the workers that write exports: each export is still completed, with one file."""

import time
from pathlib import Path

import httpx2

from drills.platform import DemoShop, demo_shop, wait_until
from reports.testing import PARSERS

EXPORTS, KILLS = 20, 3
PATH = "/report/adhoc/export"


def answers_of(shop: DemoShop, owner: dict[str, str], ids: list[str]) -> list[httpx2.Response]:
    return [shop.client.get(f"{PATH}/{export_id}", headers=owner) for export_id in ids]


def test_killed_while_twenty_exports_are_written(tmp_path: Path) -> None:
    with demo_shop(tmp_path, EXPORT_INLINE_LIMIT="1") as shop:
        owner = shop.owner()
        exports = [
            shop.call("POST", PATH, owner, json={"format": form})
            for form in ("csv", "xlsx") * (EXPORTS // 2)
        ]
        for _ in range(KILLS):
            wait_until(lambda: shop.kill("-n worker-bulk@"), what="worker-bulk runs")
            time.sleep(3)
        ids = [export["id"] for export in exports]
        wait_until(
            lambda: {reply.status_code for reply in answers_of(shop, owner, ids)} == {200},
            what="every export is written",
            seconds=240,
        )
        for reply, form in zip(answers_of(shop, owner, ids), ("csv", "xlsx") * 10, strict=True):
            assert len(PARSERS[form](reply.content)) == exports[0]["rows"] + 1
        stored = list((shop.data / "media" / "reports").iterdir())
    print(f"{EXPORTS} exports, {len(stored)} files, workers killed {KILLS} times")
    assert len(stored) == EXPORTS
