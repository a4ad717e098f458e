#!/usr/bin/env python3
"""Checks the pages of report, compare and track in headless Chromium, in the widths of a desktop and a telephone.

    browser_test.py BENCH_RESULTS

Checks:
- The page loads nothing, and the console is silent.
- Every drawing has a text alternative. Labels neither overlap nor leave their drawing.
- The page is at most as wide as the screen, and cards do not scroll sideways.
- The report's choice is on the first screen.
- A click on a table's heading sorts the table.
- Without scripts, the page is complete.

Pages with planted faults test the checks. Without Chromium, exits with 77, or with 1 if BENCH_NEED_BROWSER is set.
"""

import datetime
import html
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (360, 1280)

# Runs in an outer page. The tested page is in frames of the given widths, and changes only by sorting.
LOOK = """
function look(doc, view, width, scripts) {
  const found = [];
  const loaded = view.performance.getEntriesByType('resource').map(entry => entry.name);
  for (const name of loaded) found.push('loads ' + name);
  if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth)
    found.push('is ' + doc.documentElement.scrollWidth + ' wide');
  for (const cards of doc.querySelectorAll('.cards'))
    if (cards.scrollWidth > cards.clientWidth) found.push('cut off: cards are ' + cards.scrollWidth + ' wide');
  for (const choice of doc.querySelectorAll('.choice'))
    if (choice.getBoundingClientRect().bottom > view.innerHeight) found.push('not on the first screen: the choice');
  const drawings = doc.querySelectorAll('svg');
  for (const svg of drawings) {
    const name = (svg.querySelector('title') || {textContent: '?'}).textContent;
    const ids = (svg.getAttribute('aria-labelledby') || '').split(' ');
    if (svg.getAttribute('role') != 'img' || ids.length != 2 ||
        ids.some(id => !doc.getElementById(id) || !doc.getElementById(id).textContent.trim()))
      found.push('no text alternative: ' + name);
    const size = svg.viewBox.baseVal;
    const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBBox()]);
    boxes.forEach(([label, box], i) => {
      if (box.x < -0.5 || box.x + box.width > size.width + 0.5 || box.y + box.height > size.height + 0.5)
        found.push('leaves the drawing: ' + label + ' in ' + name);
      for (const [other, with_] of boxes.slice(i + 1)) {
        const wide = Math.min(box.x + box.width, with_.x + with_.width) - Math.max(box.x, with_.x);
        const high = Math.min(box.y + box.height, with_.y + with_.height) - Math.max(box.y, with_.y);
        if (wide > 0.5 && high > 2) found.push('overlap: ' + label + ' and ' + other + ' in ' + name);
      }
    });
  }
  for (const table of scripts ? doc.querySelectorAll('table') : []) {
    const head = [...table.tHead.rows[0].cells].findIndex((cell, i) => i > 0 && !cell.classList.contains('left'));
    if (head < 0 || !table.tBodies[0].rows.length) continue;
    const button = table.tHead.rows[0].cells[head].querySelector('button');
    if (!button) { found.push('does not sort: ' + table.getAttribute('aria-label')); continue; }
    const values = () => [...table.tBodies[0].rows].map(
      row => parseFloat(row.cells[head].textContent.replace(/,/g, ''))).filter(value => !isNaN(value));
    const before = values();
    for (const sign of [1, -1]) {
      button.click();
      const now = values();
      if (now.length != before.length || now.some((value, i) => i && sign * (value - now[i - 1]) < 0))
        found.push('does not sort: ' + table.getAttribute('aria-label'));
    }
  }
  return {width: width, scripts: scripts, cells: doc.querySelectorAll('td, section').length, drawings: drawings.length, labels: doc.querySelectorAll('svg text').length,
          found: [...new Set(found)].slice(0, 20)};
}
window.onload = () => {
  const seen = [...document.querySelectorAll('iframe')].map(
    frame => look(frame.contentDocument, frame.contentWindow, frame.clientWidth, !frame.hasAttribute('sandbox')));
  document.getElementById('seen').textContent = JSON.stringify(seen);
};
"""


def browser(chromium: str, folder: pathlib.Path, page: pathlib.Path) -> tuple[str, list[str]]:
    """The page's document after loading, and what went to the console."""
    done = subprocess.run(
        [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--no-first-run", f"--user-data-dir={folder / 'profile'}",
         "--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=240, check=False)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def look_at(chromium: str, folder: pathlib.Path, report: str) -> list[str]:
    """What is wrong with the page."""
    page = folder / "page.html"
    page.write_text(report)
    _, console = browser(chromium, folder, page)
    found = [f"console: {line}" for line in console]
    frames = "".join(f'<iframe {sandbox} style="width:{width}px;height:900px;border:0" '
                     f'srcdoc="{html.escape(report)}"></iframe>'
                     for width in WIDTHS for sandbox in ("", 'sandbox="allow-same-origin"'))
    around = folder / "around.html"
    around.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{frames}<pre id="seen"></pre>'
                      f"<script>{LOOK}</script>")
    document, _ = browser(chromium, folder, around)
    match = re.search(r'<pre id="seen">(.*?)</pre>', document, re.S)
    if match is None or not match[1]:
        return found + ["the outer page did not finish"]
    looks = json.loads(html.unescape(match[1]))
    for seen in looks:
        name = f"width {seen['width']}{'' if seen['scripts'] else ', without scripts'}"
        if seen["scripts"]:
            print(f"  {name}: {seen['drawings']} drawings, {seen['labels']} labels")
        if seen["drawings"] == 0 or seen["labels"] == 0:
            found.append("the page has no drawings")
        for what in ("drawings", "labels", "cells"):
            if seen[what] != looks[0][what]:
                found.append(f"{name}: {seen[what]} of {looks[0][what]} {what}")
        found += [f"{name}: {text}" for text in seen["found"]]
    return found


def records() -> str:
    """Runs of several systems and workloads, with the longest names, as a table."""
    rows = ["model,mode,dtype,batch_per_device,devices,hostname,cpu,start_utc,images_per_sec,joules_per_image"]
    models = ["resnet50", "official_resnet152_v2", "mobilenet_v3_large", "<i>&\"\" odd", "x" * 60]
    systems = [("node1", "AMD EPYC 9654 96-Core Processor", 1.0), ("node2", "Intel Xeon Platinum 8592+", 1.31),
               ("a-host-with-a-rather-long-name.example", "Ampere Altra", 0.0123)]
    for model in models:
        for host, cpu, factor in systems:
            for devices in (1, 2, 4, 8):
                for run in range(6 if devices == 1 else 3):
                    speed = 1234.5 * factor * devices**0.93 * (1 + 0.013 * ((run * 7 + len(model)) % 5))
                    rows.append(f'"{model}",train,f32,64,{devices},{host},{cpu},'
                                f"2026-01-31T12:00:{10 + run}Z,{speed},{0.5 / factor}")
    return "\n".join(rows) + "\n"


def days() -> str:
    """A year of daily runs of several series with steps, some close to each other, and one short series."""
    rows = ["model,mode,dtype,batch_per_device,hostname,cpu,start_utc,git_rev,images_per_sec"]
    noise = random.Random(1)
    steps = {"resnet50": {60: 0.95, 66: 1.09, 72: 0.92, 300: 1.3}, "y" * 60: {358: 0.7}, "quiet": {}, "short": {}}
    for model, factors in steps.items():
        speed = 0.0123 if model == "quiet" else 54321.0
        for day in range(3 if model == "short" else 360):
            speed *= factors.get(day, 1)
            date = datetime.date(2025, 1, 1) + datetime.timedelta(days=day)
            rows.append(f"{model},train,f32,64,node1,AMD EPYC 9654,{date}T02:00:00Z,rev{day},"
                        f"{speed * noise.gauss(1, 0.004)}")
    return "\n".join(rows) + "\n"


def pages(program: str, folder: pathlib.Path) -> dict[str, str]:
    """The pages to check. The program creates each from the runs above."""
    def made(*words: str) -> str:
        return subprocess.run([program, *words], check=False, stdout=subprocess.PIPE, text=True).stdout

    header, *rows = records().splitlines()
    (folder / "runs.csv").write_text(records())
    for name, host in (("base", "node1"), ("new", "node2")):
        (folder / f"{name}.csv").write_text("\n".join([header] + [row for row in rows if f",{host}," in row]) + "\n")
    (folder / "days.csv").write_text(days())
    store = f"--store={folder / 'days.sqlite'}"
    made("store", str(folder / "days.csv"), store)
    odd = json.loads(made("track", "model:quiet", "--format=json", store))["series"][0]["points"][100]["runs"][0]
    made("track", f"--annotate={odd}", "--note=a new <fan>", store)
    return {"report": made("report", str(folder / "runs.csv")),
            "compare": made("compare", str(folder / "base.csv"), str(folder / "new.csv"), "--metric=images_per_sec",
                            "--metric=joules_per_image", "--by=model", "--format=html"),
            "track": made("track", "--format=html", store)}


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("skipped: Chromium is missing; install the package chromium")
        return 1 if os.environ.get("BENCH_NEED_BROWSER") else 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wrong = 0
        made = pages(sys.argv[1], folder)
        for what, page in made.items():
            print(f"{what}, unchanged:")
            for text in look_at(chromium, folder, page):
                print("  WRONG", text)
                wrong += 1
        report = made["report"]
        planted = {
            "overlap": report.replace("</desc>", '</desc><text x="5" y="12">over another label</text>', 1),
            "no text alternative": report.replace('<svg role="img"', "<svg", 1),
            "console": report.replace("<main>", '<main><img src="http://127.0.0.1:9/x.png">', 1),
            "wide": report.replace("<main>", '<main><div style="width:3000px">wide</div>', 1),
            "cut off": report.replace(".cards thead { display: none; }", ".cards td { min-width: 500px; }", 1),
            "not on the first screen": report.replace("<main>", '<main><div style="height:900px"></div>', 1),
            "does not sort": report.replace("? 'descending'", "? 'up'", 1).replace("!== 'ascending'", "=== ''", 1),
            "without scripts": re.sub("<meta http-equiv[^>]*>", "", report).replace(
                "</main>", "</main><script>document.body.append(document.querySelector('svg').cloneNode(true))</script>"),
        }
        for what, page in planted.items():
            print(f"with a planted fault ({what}):")
            if page == report or not any(what in text for text in look_at(chromium, folder, page)):
                print("  WRONG: the checks did not find the fault")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
