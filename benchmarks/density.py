"""What predicts unseen transactions best: every family on seven sets for density estimation.

    python benchmarks/density.py --data FOLDER [--output docs/benchmarks/density.md] [--only NAME]

The sets have a training, a validation and a test part. What was measured is kept beside the page, so that one
set can be measured again without the others.
"""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mining import machine
from pages import page_parser, parse, publish
from sklearn.base import clone

import itemix
from itemix.estimators.front_door import WORTH_MORE, families, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix import Transactions

KEPT = Path(__file__).parent.parent / "docs" / "benchmarks" / "density.json"
SETS = ("nltcs", "plants", "accidents", "tretail", "dna", "kosarek", "msweb")
# The best figures that others have published: see the text of the page.
PUBLISHED = {
    "nltcs": -6.00,
    "plants": -12.67,
    "accidents": -26.55,
    "tretail": -10.84,
    "dna": -79.05,
    "kosarek": -10.59,
    "msweb": -9.73,
}


def read(folder: Path, name: str, part: str) -> Transactions:
    """Read a part of a set: rows of 0,1,..."""
    with gzip.open(folder / "debd" / f"{name}.{part}.data.gz", "rt") as file:
        rows = [np.fromstring(line.strip().strip(","), dtype=np.int8, sep=",") for line in file]
    return itemix.Transactions.from_matrix(np.array(rows))


def measure(folder: Path, name: str, kept: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield what `itemix.fit(train, method="density", validation=valid)` tries, one model after the other."""
    train, valid, test = (read(folder, name, part) for part in ("train", "valid", "test"))
    before = {one["size"]: one for one in kept}
    found: list[dict[str, Any]] = []
    for family in families(train, random_state=0, n_jobs=1):
        best = -np.inf
        for size, estimator in enumerate(family.sizes):
            key = f"{family.name} {size}"
            if key not in before:
                few = clone(estimator).set_params(max_iter=2)
                judged(family.name, few, train[:100], valid[:100])  # so that all is compiled
                began = time.process_time()
                tried = judged(family.name, estimator, train, valid)
                before[key] = {
                    "family": family.name,
                    "size": key,
                    "model": tried.name,
                    "n_parameters": estimator.fitted_.value.n_parameters,
                    "validation": tried.score,
                    "seconds": time.process_time() - began,
                    "test": estimator.score(test),
                }
                print(name, before[key], flush=True)
            found.append(before[key])
            done = {one["size"] for one in found}
            yield [*found, *(one for one in before.values() if one["size"] not in done)]
            if found[-1]["validation"] < best + WORTH_MORE:
                break
            best = found[-1]["validation"]


def best_of(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the validation part prefers."""
    return max(found, key=lambda one: one["validation"])


def _score(found: list[dict[str, Any]], family: str) -> float:
    """Return the log-likelihood of the test part under the best model of a family."""
    own = [one for one in found if one["family"] == family]
    return float(best_of(own)["test"]) if own else -np.inf


def page_of(kept: dict[str, list[dict[str, Any]]]) -> str:
    """Return the page."""
    sets = [name for name in SETS if name in kept]
    names = list(dict.fromkeys(one["family"] for name in sets for one in kept[name]))
    table = []
    for family in names:
        cells = []
        for name in sets:
            own = [one for one in kept[name] if one["family"] == family]
            best = best_of(own) if own else None
            chosen = best is not None and best == best_of(kept[name])
            text = "" if best is None else f"{best['test']:.3f}"
            cells.append(f"**{text}**" if chosen else text)
        table.append(f"| {family} | {' | '.join(cells)} |")
    published = [f"{PUBLISHED[name]:.2f}" for name in sets]
    table.append(f"| best published | {' | '.join(published)} |")
    rows = [
        f"| {name} | {one['model']} | {one['n_parameters']:,} | {one['validation']:.3f} | {one['test']:.3f} "
        f"| {one['seconds']:.0f} s |"
        for name in sets
        for one in kept[name]
    ]
    close = [name for name in sets if best_of(kept[name])["test"] >= PUBLISHED[name] - 0.1]
    ahead = [
        name for name in sets if _score(kept[name], "mixture of trees") > _score(kept[name], "latent tree")
    ]
    return f"""# What predicts unseen transactions best

Measured by `benchmarks/density.py` on {machine()}.
The figures are the mean log-likelihood of a transaction of the test part. Models are fitted to the training
part; the validation part says when latent trees stop, and which size of a family is taken. The one that
`itemix.fit(train, method="density", validation=valid)` takes is in bold: the validation part prefers it.

| family | {" | ".join(sets)} |
|---|{"---:|" * len(sets)}
{chr(10).join(table)}

The best published figures that could be found are those of hidden Chow-Liu trees (Liu and Van den Broeck
2021, from their logs) and of a later table of the same family. What is taken is within 0.1 of them, or
better, on {len(close)} of {len(sets)} sets: {", ".join(close)}.
A mixture of trees is ahead of latent trees on {", ".join(ahead) or "none of them"}.
Mixtures have few sizes here, and a fixed pooling;
[the results of the paper's methods](../results.md#density-yardstick) have larger searches.

Everything that was tried, with the number of parameters and the processor time of the fit:

| data | model | parameters | validation | test | fit |
|---|---|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def main() -> None:
    """Measure every set, or one of them, and write the page."""
    parser = page_parser(__doc__ or "")
    parser.add_argument("--only", choices=SETS, help="measure this set only")
    parser.add_argument("--redraw", action="store_true", help="only write the page from what was measured")
    arguments, folder = parse(parser)
    for name in SETS:
        if arguments.only in (None, name) and not arguments.redraw:
            kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
            for found in measure(folder, name, kept.get(name, [])):
                KEPT.write_text(json.dumps({**kept, name: found}, indent=1) + "\n")
    publish(page_of(json.loads(KEPT.read_text())), arguments.output)


if __name__ == "__main__":
    main()
