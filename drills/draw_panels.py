"""Draw the dashboard's panels from real figures, as a picture for the documentation."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from drills.prometheus import DEPLOY, Prometheus
from local.chromium import find_chromium

WIDTH, HEIGHT, COLUMNS = 400, 230, 3
COLOURS = ("#3274d9", "#37872d", "#e0b400", "#c4162a", "#8f3bb8", "#fa6400", "#56a64b", "#1f60c4")
STYLE = """
body { margin: 12px; width: 1236px; font: 13px sans-serif; background: #f4f5f5; color: #24292e;
  display: grid; grid-template-columns: repeat(3, 400px); gap: 12px; }
figure { margin: 0; padding: 8px 10px; background: #fff; border: 1px solid #d8d9da; }
figcaption { font-weight: 600; margin-bottom: 4px; }
svg { display: block; overflow: visible; } text { font: 10px sans-serif; fill: #6c7480; }
.legend span { display: inline-block; margin-right: 10px; font-size: 11px; }
.legend i { display: inline-block; width: 10px; height: 3px; margin: 0 4px 3px 0; }
"""


def panels() -> list[dict[str, Any]]:
    board = json.loads((DEPLOY / "grafana" / "chatplatform.json").read_text())
    return [panel for panel in board["panels"] if "targets" in panel]


def queries(panel: dict[str, Any], *, window: str) -> list[tuple[str, str]]:
    """A panel's queries, as Grafana would send them, each with the name of its line."""
    return [
        (target["expr"].replace("$__rate_interval", window), target["legendFormat"])
        for target in panel["targets"]
    ]


def draw(
    prometheus: Prometheus, titles: list[str], path: Path, *, seconds: float, window: str
) -> None:
    """Draw the panels with these titles, over the last `seconds`."""
    found = {panel["title"]: panel for panel in panels()}
    figures = [_figure(prometheus, found[title], seconds, window) for title in titles]
    page = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{''.join(figures)}"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        screen = browser.new_page(viewport={"width": 1260, "height": 600})
        screen.set_content(page)
        screen.screenshot(path=path, full_page=True)
        browser.close()


def _figure(prometheus: Prometheus, panel: dict[str, Any], seconds: float, window: str) -> str:
    lines: list[tuple[str, list[tuple[float, float]]]] = []
    for query, legend in queries(panel, window=window):
        for row in prometheus.series(query, seconds=seconds, step=max(seconds / 200, 1)):
            name = legend
            for label, value in row["metric"].items():
                name = name.replace("{{" + label + "}}", value)
            points = [(at, float(value)) for at, value in row["values"] if value != "NaN"]
            lines.append((name, points))
    lines = [line for line in lines if any(value for _, value in line[1])][: len(COLOURS)]
    every = [point for _, points in lines for point in points]
    top = max((value for _, value in every), default=1.0) * 1.1
    first, last = min(at for at, _ in every), max(at for at, _ in every)
    span = max(last - first, 1)
    drawn = [_grid(top, panel["fieldConfig"]["defaults"]["unit"], span)]
    for colour, (_, points) in zip(COLOURS, lines, strict=False):
        places = " ".join(
            f"{40 + (at - first) / span * 330:.1f},{160 - value / top * 145:.1f}"
            for at, value in points
        )
        drawn.append(f"<polyline fill=none stroke='{colour}' stroke-width=1.5 points='{places}'/>")
    legend = "".join(
        f"<span><i style='background:{colour}'></i>{name}</span>"
        for colour, (name, _) in zip(COLOURS, lines, strict=False)
    )
    chart = f"<svg width=380 height=180>{''.join(drawn)}</svg>"
    return (
        f"<figure><figcaption>{panel['title']}</figcaption>{chart}"
        f"<div class=legend>{legend}</div></figure>"
    )


def _grid(top: float, unit: str, span: float) -> str:
    rows = []
    for part in range(5):
        y, value = 160 - part * 145 / 4, top * part / 4
        shown = f"{value / 1e6:.0f} MB" if unit == "bytes" else f"{value:.3g}"
        rows.append(f"<line x1=40 x2=370 y1={y} y2={y} stroke='#e4e5e6'/>")
        rows.append(f"<text x=34 y={y + 3} text-anchor=end>{shown}</text>")
    rows.append("<text x=40 y=175>0 s</text>")
    rows.append(f"<text x=370 y=175 text-anchor=end>{span:.0f} s</text>")
    return "".join(rows)
