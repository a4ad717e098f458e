#!/usr/bin/env python3
"""Looks at a report in headless Chromium, at the width of a desk and of a telephone.

    browser_test.py BENCH_RESULTS

Holds: nothing is loaded, the console is silent, every drawing has a text alternative, no labels of a drawing
overlap or leave it, and the page is no wider than the screen. The checks are first tried on pages with planted
faults. Exits with 77 where Chromium is missing, with 1 there if BENCH_NEED_BROWSER is set.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (360, 1280)

# Runs in a page around the report, which is in frames of the widths and stays as it is.
LOOK = """
function look(doc, view, width) {
  const found = [];
  const loaded = view.performance.getEntriesByType('resource').map(entry => entry.name);
  for (const name of loaded) found.push('loads ' + name);
  if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth)
    found.push('is ' + doc.documentElement.scrollWidth + ' wide');
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
  return {width: width, drawings: drawings.length, labels: doc.querySelectorAll('svg text').length,
          found: [...new Set(found)].slice(0, 20)};
}
window.onload = () => {
  const seen = [...document.querySelectorAll('iframe')].map(
    frame => look(frame.contentDocument, frame.contentWindow, frame.clientWidth));
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
    """What is wrong with the report."""
    page = folder / "report.html"
    page.write_text(report)
    _, console = browser(chromium, folder, page)
    found = [f"console: {line}" for line in console]
    frames = "".join(f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{html.escape(report)}"></iframe>'
                     for width in WIDTHS)
    around = folder / "around.html"
    around.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{frames}<pre id="seen"></pre>'
                      f"<script>{LOOK}</script>")
    document, _ = browser(chromium, folder, around)
    match = re.search(r'<pre id="seen">(.*?)</pre>', document, re.S)
    if match is None or not match[1]:
        return found + ["the page around the report did not finish"]
    for seen in json.loads(html.unescape(match[1])):
        print(f"  width {seen['width']}: {seen['drawings']} drawings, {seen['labels']} labels")
        if seen["drawings"] == 0 or seen["labels"] == 0:
            found.append("there are no drawings")
        found += [f"width {seen['width']}: {text}" for text in seen["found"]]
    return found


def records() -> str:
    """Runs of several systems and works, with names as long as they get, as a table."""
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


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("skipped: there is no chromium to look at the page with (package chromium)")
        return 1 if os.environ.get("BENCH_NEED_BROWSER") else 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "runs.csv").write_text(records())
        subprocess.run([sys.argv[1], "report", str(folder / "runs.csv"), "-o", str(folder / "r.html")], check=True)
        report = (folder / "r.html").read_text()
        print("as it is:")
        found = look_at(chromium, folder, report)
        for text in found:
            print("  WRONG", text)
        wrong = len(found)
        planted = {
            "overlap": report.replace("</desc>", '</desc><text x="5" y="12">over another label</text>', 1),
            "no text alternative": report.replace('<svg role="img"', "<svg", 1),
            "console": report.replace("<main>", '<main><img src="http://127.0.0.1:9/x.png">', 1),
            "wide": report.replace("<main>", '<main><div style="width:3000px">wide</div>', 1),
        }
        for what, page in planted.items():
            print(f"with a planted fault ({what}):")
            if not any(what in text for text in look_at(chromium, folder, page)):
                print("  WRONG: not seen")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
