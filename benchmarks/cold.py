"""What a first use costs: functions compiled and processor seconds of each path, from an empty cache.

Each path runs in a process of its own, with an empty folder for compiled code. A second table has commands as
a new user types them, with nothing compiled and with everything compiled. Processor seconds depend on the
machine, so there is a yardstick in the same run: compiling a hundred copies of a small loop.

    python benchmarks/cold.py --data FOLDER [--output docs/benchmarks/cold.md]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mining import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

PATHS = {
    "mine": "itemix.mine(tx, 0.01)",
    "closed": "itemix.mine(tx, 0.01, target='closed')",
    "maximal": "itemix.mine(tx, 0.01, target='maximal')",
    "rules": "itemix.rules(itemix.mine(tx, 0.01), min_threshold=0.3)",
    "EM": "itemix.BernoulliMixture(5, max_iter=5, random_state=0).fit(tx)",
    "Gibbs": "itemix.BayesianMixture(5, inference='gibbs', max_iter=5, n_samples=2, random_state=0).fit(tx)",
    "default fit, corrected": "itemix.DirichletProcessMixture(correction='auto', random_state=0).fit(tx)",
}
SCRIPT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numba
from numba.core import event
import itemix

class Compiled(event.Listener):
    n = seconds = depth = began = 0
    def on_start(self, _):
        if not self.depth:
            self.began = time.process_time()
        self.depth += 1
        self.n += 1
    def on_end(self, _):
        self.depth -= 1
        if not self.depth:
            self.seconds += time.process_time() - self.began

compiled = Compiled()
event.register("numba:compile", compiled)
tx = itemix.read_transactions(sys.argv[1])
{path}
print(json.dumps([compiled.n, compiled.seconds]))
"""
YARDSTICK = """
import json, time
import numba
import numpy as np
def make():
    def loop(values):
        total = 0.0
        for j in range(len(values)):
            if values[j] > 0.5:
                total += values[j] * j
        return total
    return numba.njit(loop)
make()(np.ones(2))
began = time.process_time()
for _ in range(100):
    make()(np.ones(2))
print(json.dumps([100, time.process_time() - began]))
"""
COMMANDS = {
    "mine": ["mine", "{data}", "-s", "1%"],
    "mine closed": ["mine", "{data}", "-s", "1%", "--target", "closed"],
    "rules": ["rules", "{data}", "-s", "1%", "--min-threshold", "0.3"],
    "query": ["query", "{model}", "whole milk", "--given", "yogurt"],
    "an error": ["mine", "{data}", "-s", "500000"],
}


def run(script: str, *arguments: str, folder: str) -> tuple[int, float]:
    """Run a script with an empty cache; return how many functions it compiled, and in how many seconds."""
    environment = os.environ | {"NUMBA_CACHE_DIR": folder, "ITEMIX_COMPILE": "now"}
    command = [sys.executable, "-c", script, *arguments]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    n, seconds = json.loads(ran.stdout.splitlines()[-1])
    return n, seconds


def seconds_of(arguments: list[str], folder: str) -> float:
    """Return the processor seconds of a command, without those of processes that it leaves behind."""
    environment = os.environ | {"NUMBA_CACHE_DIR": folder, "ITEMIX_COMPILE": "later"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "itemix", *arguments]
    subprocess.run(command, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as a table, the first one as its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def main() -> None:
    """Measure all paths and commands, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("ITEMIX_DATA"))
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    data = str(Path(chosen.data) / "groceries/groceries.csv")
    with tempfile.TemporaryDirectory() as kept:
        _, unit = run(YARDSTICK, folder=f"{kept}/yardstick")
        paths = [("path", "functions compiled", "seconds", "in yardsticks")]
        for k, (name, path) in enumerate(PATHS.items()):
            n, seconds = run(SCRIPT.replace("{path}", path), data, folder=f"{kept}/{k}")
            paths.append((name, str(n), f"{seconds:.1f}", f"{seconds / unit:.2f}"))
            sys.stderr.write(f"{paths[-1]}\n")
        model = f"{kept}/model.itemix"
        fit = ["fit", data, "--method", "nbm", "-K", "3", "--seed", "0", "-q", "-o", model]
        seconds_of(fit, f"{kept}/4")
        commands = [("command", "nothing compiled", "everything compiled")]
        for name, words in COMMANDS.items():
            typed = [word.format(data=data, model=model) for word in words]
            cold, warm = (
                min(seconds_of(typed, f"{kept}/{folder}") for _ in range(3)) for folder in ("none", "3")
            )
            commands.append((name, f"{cold:.2f}", f"{warm:.2f}"))
            sys.stderr.write(f"{commands[-1]}\n")
    page = f"""# What a first use costs

Processor seconds on groceries (9,835 transactions). Written by `benchmarks/cold.py` on {machine()}.

## Compiling

Each path in a process of its own, with nothing compiled before, and no small job in plain Python. A yardstick
is what it takes to compile a hundred copies of a small loop in the same run: {unit:.1f} s.

{table(paths)}

## Commands

Small jobs need no compiler: these are whole commands, the start of Python included.

{table(commands)}
"""
    if chosen.output:
        chosen.output.write_text(page)
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
