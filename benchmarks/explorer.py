"""How quickly the explorer's page follows its slider, in Chromium.

    python benchmarks/explorer.py --data FOLDER [--output docs/benchmarks/explorer.md]

The models are those of `itemix fit` with its defaults.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from mining import machine
from playwright.sync_api import sync_playwright
from serving import running

N_MOVES = 40
PAGES = {"mushroom": (0.1, 0.5), "groceries": (0.0005, 0.05)}

# The field beside the slider takes the exact threshold, and does what the slider does.
MOVE = """([threshold]) => new Promise((done) => {
  const field = document.querySelector(".slider .value input");
  const count = document.querySelector(".count");
  const before = count.textContent;
  const began = performance.now();
  const watch = new MutationObserver(() => {
    if (count.textContent !== before && document.querySelector("tbody tr")) {
      watch.disconnect();
      requestAnimationFrame(() => done(performance.now() - began));
    }
  });
  watch.observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
  field.value = String(100 * threshold);
  field.dispatchEvent(new Event("change"));
})"""


def measure_page(name: str, low: float, high: float) -> list[float]:
    """Return how many milliseconds pass from a move of the slider to the new count and table."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = str(Path(folder) / f"{name}.itemix")
        fit = ["fit", f"dataset:{name}", "--seed", "0", "--quiet", "-o", path]
        subprocess.run([sys.executable, "-m", "itemix", *fit], check=True)
        with running("explore", path, "--data", f"dataset:{name}", "--no-browser") as (address, _):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page()
            page.goto(f"{address}?view=itemsets&min_support={high}")
            page.wait_for_selector("tbody tr")
            page.wait_for_timeout(5000)  # the search reads ahead
            thresholds = np.exp(np.random.default_rng(0).uniform(math.log(low), math.log(high), N_MOVES))
            times = [page.evaluate(MOVE, [threshold]) for threshold in thresholds.round(6).tolist()]
            browser.close()
    return times


def as_markdown(pages: dict[str, list[float]]) -> str:
    """Write the table."""
    lines = [
        "# The explorer: from the slider to the screen",
        "",
        f"Measured by `benchmarks/explorer.py` on {machine()}:",
        "from a move of the slider to the new count and the first page of itemsets on the screen, in",
        f"Chromium, over {N_MOVES} thresholds in random order, with the supports in the data beside those of",
        "the model.",
        "",
        "| model | thresholds | median | slowest |",
        "|---|---|---:|---:|",
    ]
    for name, moves in pages.items():
        bounds = " to ".join(f"{100 * bound:g}%" for bound in PAGES[name])
        lines.append(f"| {name} | {bounds} | {statistics.median(moves):.0f} ms | {max(moves):.0f} ms |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("ITEMIX_DATA"), help="the folder of the data sets")
    parser.add_argument("--output", help="where to write the table")
    arguments = parser.parse_args()
    os.environ["ITEMIX_DATA"] = str(arguments.data)
    written = as_markdown({name: measure_page(name, *bounds) for name, bounds in PAGES.items()})
    print(written)
    if arguments.output:
        Path(arguments.output).write_text(written)


if __name__ == "__main__":
    main()
