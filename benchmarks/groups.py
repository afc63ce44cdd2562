"""Groups: how well the last invoice of each customer is predicted, with what the customer did before.

    python benchmarks/groups.py --data FOLDER [--output docs/benchmarks/groups.md]

The last invoice of each customer of online retail who has more than one is left out. Everything is learned
and chosen on the others: models, priors of groups, and the strengths of the baselines, which are chosen by
the invoices that are the last ones then.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mining import machine
from pages import page_parser, parse, publish

import itemix

if TYPE_CHECKING:
    from pathlib import Path

    from itemix import Transactions
    from itemix._typing import Codes, Floats, Ints
    from itemix.models.groups import GroupPrior

K = 10
RIDGES = (100.0, 300.0, 1000.0, 3000.0)
COLUMNS = ("what is known", "NDCG@10", "error", "log-likelihood", "parameters of groups", "learned in")


class Data(NamedTuple):
    """The invoices to learn from and those to predict, and the customer of each."""

    train: Transactions
    customers: Ints
    test: Transactions
    asked: Ints


class Found(NamedTuple):
    """What was found of a model: scores of each invoice, log-likelihoods if it has them, and how long."""

    name: str
    ndcg: Floats
    log_likelihood: Floats | None
    prior: GroupPrior | None
    seconds: float


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


def baselines(data: Data) -> list[Found]:
    """Return popularity, a customer's own past by number, and EASE with the best ridge of an earlier time."""
    popularity = data.train.item_counts() / data.train.n_transactions
    found = [Found("popularity", ndcgs(lambda _: popularity, data), None, None, 0.0)]
    own = histories(data)
    counted = ndcgs(lambda t: own[[t]].toarray()[0] + popularity / 2, data)
    found.append(Found("own past by number, then popularity", counted, None, None, 0.0))
    earlier = without_last(data.train, data.customers)
    best = max(RIDGES, key=lambda ridge: ease(earlier, ridge).mean())
    began = time.process_time()
    by_ease = ease(data, best)
    seconds = time.process_time() - began
    found.append(Found(f"EASE on own past (ridge {best:,.0f})", by_ease, None, None, seconds))
    return found


def of_model(name: str, model: Any, data: Data, began: float) -> Found:  # noqa: ANN401 - fitted
    """Return how well the groups of a model predict; without groups, how well the model does."""
    seconds = time.process_time() - began
    mixture, groups = model.mixture_, model.fitted_.groups
    if groups is None:
        scores = ndcgs(lambda _: mixture.item_probabilities, data)
        return Found(name, scores, mixture.log_likelihood(data.test), None, seconds)
    codes = np.array([groups.code(customer) for customer in data.asked])
    scores = ndcgs(lambda t: groups.item_probabilities(mixture, codes[[t]])[0], data)
    logs = [
        groups.mixture(mixture, int(c)).log_likelihood(data.test[[t]])[0] for t, c in enumerate(data.asked)
    ]
    return Found(name, scores, np.array(logs), groups.prior, seconds)


def models(data: Data) -> list[Found]:
    """Return the models: mixtures without groups, and with them."""
    few: dict[str, Any] = {"random_state": 0, "n_jobs": 2}
    learned: dict[str, Any] = {"alpha": "learn", "beta": "learn"}
    cases = {
        "independent items": itemix.BernoulliMixture(1, **few),
        "mixture by default": itemix.DirichletProcessMixture(**few),
        "mixture, prior learned": itemix.DirichletProcessMixture(**learned, **few),
    }
    found = []
    for name, model in cases.items():
        for groups in (None, data.customers):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                began = time.process_time()
                model.fit(data.train, groups=groups)
            found.append(of_model(f"{name}{'' if groups is None else ', with groups'}", model, data, began))
            print(found[-1].name, found[-1].ndcg.mean(), found[-1].prior, flush=True)
    return found


def row_of(found: Found) -> str:
    """Return a row of the table."""
    prior = found.prior
    cells = [
        found.name,
        f"{found.ndcg.mean():.3f}",
        f"{found.ndcg.std() / np.sqrt(len(found.ndcg)):.3f}",
        "" if found.log_likelihood is None else f"{found.log_likelihood.mean():.2f}",
        ""
        if prior is None
        else f"{prior.concentration:.1f}, {prior.loyalty:.2f}, {prior.half:.1f}, {prior.fading:.2f}",
        f"{found.seconds:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def page_of(data: Data, rows: list[Found]) -> str:
    """Return the page."""
    n_customers = len(np.unique(data.customers))
    return f"""# Groups

Measured by `benchmarks/groups.py` on {machine()}, with two threads.
Online retail: {len(data.train):,} invoices of {n_customers:,} customers to learn from. The last one of
each of the {len(data.test):,} customers with more than one is left out, and all of it is to be predicted.
Nothing of it was used to choose anything: the prior of groups is learned, and the ridge of EASE is the best
for the invoices that are the last ones of the others. *NDCG@10*: items are ranked by their probability in
the customer's next transaction; its standard error is beside it. *Log-likelihood* is the mean of a whole
invoice. The *parameters of groups* are concentration, loyalty, half and fading
([guide](../guides/groups.md#how-much-groups-differ)). Times are processor time, of a busy machine, and hold
the compilation of what was not compiled yet.

| {" | ".join(COLUMNS)} |
|---|{"---:|" * (len(COLUMNS) - 1)}
{chr(10).join(map(row_of, rows))}
"""


def main() -> None:
    """Measure, and write the page."""
    arguments, folder = parse(page_parser(__doc__ or ""))
    data = without_last(*read(folder))
    publish(page_of(data, [*baselines(data), *models(data)]), arguments.output)


if __name__ == "__main__":
    main()
