"""Groups: how well the last invoice of each customer is predicted, with what the customer did before.

    python benchmarks/groups.py --data FOLDER [--output docs/benchmarks/groups.md] [--only PART]

The last invoice of each customer of online retail who has more than one is left out. Everything is learned
and chosen on the others: models, priors of groups, and the strengths of the baselines, which are chosen by
the invoices that are the last ones then. What was measured is kept beside the page, so that one part can be
measured again without the others.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mining import machine
from pages import page_parser, parse, publish

import itemix

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions
    from itemix._typing import Codes, Floats, Ints

KEPT = Path(__file__).parent.parent / "docs" / "benchmarks" / "groups.json"
K = 10
RIDGES = (10.0, 30.0, 100.0, 300.0, 1000.0)
COLUMNS = ("what is known", "NDCG@10", "error", "log-likelihood", "parameters of groups", "learned in")


class Data(NamedTuple):
    """The invoices to learn from and those to predict, and the customer of each."""

    train: Transactions
    customers: Ints
    test: Transactions
    asked: Ints


def read(folder: Path) -> tuple[Transactions, Ints]:
    """Return the invoices of known customers in the order of time, and the customer of each."""
    import pandas as pd

    path = folder / "online_retail" / "online_retail.parquet"
    tx = itemix.read_transactions(
        path, transaction=["InvoiceNo", "CustomerID"], item="StockCode", upper=True, drop_missing=True,
        where=["Quantity > 0", "InvoiceNo not starts with C"],
    )  # fmt: skip
    ids = tx.id_columns()
    invoices, customers = ids["InvoiceNo"], ids["CustomerID"]
    assert invoices is not None and customers is not None  # noqa: S101, PT018 - as it was read
    lines = pd.read_parquet(path, columns=["InvoiceNo", "InvoiceDate"])
    dates = lines.groupby(lines["InvoiceNo"].astype(str))["InvoiceDate"].min()
    order = np.argsort(pd.to_datetime(dates.loc[invoices.astype(str)]).to_numpy(), kind="stable")
    return tx.of_rows(order), customers[order].astype(np.int64)


def without_last(tx: Transactions, customers: Ints) -> Data:
    """Leave out the last invoice of each customer who has more than one."""
    last = {customer: row for row, customer in enumerate(customers.tolist())}
    several = {
        customer for customer, n in zip(*np.unique(customers, return_counts=True), strict=True) if n > 1
    }
    test = np.array(sorted(row for customer, row in last.items() if customer in several))
    train = np.setdiff1d(np.arange(len(customers)), test)
    return Data(tx.of_rows(train), customers[train], tx.of_rows(test), customers[test])


def ndcg_of(scores: Floats, wanted: Codes) -> float:
    """Return the NDCG@10 of an invoice, all of whose items are to be found."""
    best = np.argpartition(-scores, K)[:K]
    best = best[np.argsort(-scores[best], kind="stable")]
    gains = 1 / np.log2(np.arange(K) + 2)
    return float(gains[np.isin(best, wanted)].sum() / gains[: min(K, len(wanted))].sum())


def ndcgs(scores: Any, data: Data) -> Floats:  # noqa: ANN401 - a table, or a function of the row
    """Return the NDCG@10 of each invoice of the test part."""
    rows = range(len(data.test))
    score = scores if callable(scores) else scores.__getitem__
    test = data.test
    return np.array([ndcg_of(score(t), test.indices[test.indptr[t] : test.indptr[t + 1]]) for t in rows])


def histories(data: Data) -> Any:  # noqa: ANN401 - a sparse matrix
    """Return how often each customer bought each item before, a row for each invoice of the test part."""
    from scipy import sparse

    names, codes = np.unique(data.customers, return_inverse=True)
    by_customer = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    counts = by_customer @ data.train.to_scipy().astype(np.float64)
    return counts[np.searchsorted(names, data.asked)]


def ease(data: Data, ridge: float) -> Floats:
    """Return the NDCG of EASE on what customers have bought (Steck, 2019)."""
    from scipy import linalg

    binary = histories(data)
    binary.data[:] = 1
    gram = (binary.T @ binary).toarray()
    gram[np.diag_indices_from(gram)] += ridge
    inverse = linalg.inv(gram, overwrite_a=True)
    weights = inverse / -np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return ndcgs(binary @ weights, data)


def found(name: str, ndcg: Floats, seconds: float = 0.0, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return what was found, as it is kept."""
    error = float(ndcg.std() / np.sqrt(len(ndcg)))
    return {"name": name, "ndcg": float(ndcg.mean()), "error": error, "seconds": seconds, **more}


def counting(data: Data) -> list[dict[str, Any]]:
    """Return popularity, and a customer's own past by number."""
    popularity = data.train.item_counts() / data.train.n_transactions
    own = histories(data)
    counted = ndcgs(lambda t: own[[t]].toarray()[0] + popularity / 2, data)
    return [
        found("popularity", ndcgs(lambda _: popularity, data)),
        found("own past by number, then popularity", counted),
    ]


def regression(data: Data) -> list[dict[str, Any]]:
    """Return EASE with the ridge that was best at an earlier time."""
    earlier = without_last(data.train, data.customers)
    best = max(RIDGES, key=lambda ridge: ease(earlier, ridge).mean())
    began = time.process_time()
    scores = ease(data, best)
    return [found(f"EASE on own past (ridge {best:,.0f})", scores, time.process_time() - began)]


def mixture(name: str, model: Any) -> Callable[[Data], list[dict[str, Any]]]:  # noqa: ANN401 - an estimator
    """Return the function that measures a mixture without groups, and with them."""

    def measure(data: Data) -> list[dict[str, Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.process_time()
            model.fit(data.train)
            fitted = time.process_time()
            common = model.mixture_
            model.fit_groups(data.train, data.customers)
            grouped = time.process_time()
        groups = model.fitted_.groups
        codes = np.array([groups.code(customer) for customer in data.asked])
        of_groups = ndcgs(lambda t: groups.item_probabilities(common, codes[[t]])[0], data)
        own = (groups.mixture(common, int(customer)) for customer in data.asked)
        logs = [one.log_likelihood(data.test[[t]])[0] for t, one in enumerate(own)]
        without = ndcgs(lambda _: common.item_probabilities, data)
        plain = float(common.log_likelihood(data.test).mean())
        return [
            found(name, without, fitted - began, log_likelihood=plain),
            found(
                f"{name}, with groups", of_groups, grouped - fitted,
                log_likelihood=float(np.mean(logs)), prior=list(groups.prior),
            ),
        ]  # fmt: skip

    return measure


_FEW: dict[str, Any] = {"random_state": 0, "n_jobs": 2}
_LEARNED: dict[str, Any] = {"alpha": "learn", "beta": "learn"}
PARTS = {
    "counting": counting,
    "regression": regression,
    "independent": mixture("independent items", itemix.BayesianMixture(1, **_FEW)),
    "default": mixture("mixture by default", itemix.DirichletProcessMixture(**_FEW)),
    "learned": mixture("mixture, prior learned", itemix.DirichletProcessMixture(**_LEARNED, **_FEW)),
}


def row_of(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [
        row["name"],
        f"{row['ndcg']:.3f}",
        f"{row['error']:.3f}",
        f"{row['log_likelihood']:.2f}" if "log_likelihood" in row else "",
        "{:.1f}, {:.2f}, {:.1f}, {:.2f}".format(*row["prior"]) if "prior" in row else "",
        f"{row['seconds']:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def page_of(kept: dict[str, Any]) -> str:
    """Return the page."""
    rows = [row_of(row) for part in PARTS for row in kept.get(part, [])]
    n_train, n_customers, n_test = kept["sizes"]
    return f"""# Groups

Measured by `benchmarks/groups.py` on {machine()}, with two threads.
Online retail: {n_train:,} invoices of {n_customers:,} customers to learn from. The last one of each of the
{n_test:,} customers with more than one is left out, and all of it is to be predicted. Nothing of it was used
to choose anything: the prior of groups is learned, and the ridge of EASE is the best for the invoices that
are the last ones of the others. *NDCG@10*: items are ranked by their probability in the customer's next
transaction; its standard error is beside it. *Log-likelihood* is the mean of a whole invoice. The
*parameters of groups* are concentration, loyalty, half and fading
([guide](../guides/groups.md#how-much-groups-differ)). Times are processor time, of a busy machine. Groups are
learned after the mixture, and their time comes on top.

| {" | ".join(COLUMNS)} |
|---|{"---:|" * (len(COLUMNS) - 1)}
{chr(10).join(rows)}
"""


def main() -> None:
    """Measure every part, or one of them, and write the page."""
    parser = page_parser(__doc__ or "")
    parser.add_argument("--only", choices=PARTS, help="measure this part only")
    arguments, folder = parse(parser)
    data = without_last(*read(folder))
    sizes = len(data.train), len(np.unique(data.customers)), len(data.test)
    for name in PARTS if arguments.only is None else [arguments.only]:
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        KEPT.write_text(json.dumps({**kept, "sizes": sizes, name: PARTS[name](data)}, indent=1) + "\n")
    publish(page_of(json.loads(KEPT.read_text())), arguments.output)


if __name__ == "__main__":
    main()
