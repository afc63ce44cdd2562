"""`itemix.fit`, the front door: the recommended model, or the family that predicts best of all."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from sklearn.base import clone

from itemix._checks import check_choice, check_flag
from itemix._runtime import interruptible, still_wanted
from itemix.core.display import plural
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.estimators import base
from itemix.estimators.answers import counted
from itemix.estimators.bayesian import DirichletProcessMixture, fit_recommended
from itemix.estimators.causes import MultipleCauseMixture
from itemix.estimators.chow_liu import ChowLiuMixture
from itemix.estimators.latent import LatentTreeModel
from itemix.inference.loop import shown_progress, tell_stage
from itemix.io.chunks import Chunks
from itemix.io.partitions import Partitions, partitions

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from itemix._typing import TransactionsLike
    from itemix.inference.groups import GroupsLike
    from itemix.inference.loop import Callback, Seed

Density = DirichletProcessMixture | MultipleCauseMixture | ChowLiuMixture | LatentTreeModel

# The share that judges, and the most transactions that do: more say nothing new.
_SHARE = 0.1
_MOST_JUDGES = 10_000
_FEWEST = 50
# A larger model of a family is tried if the one before it was better by so much for each transaction.
WORTH_MORE = 0.01
# So many states of causes and rows are quick enough to be tried.
_MOST_CAUSE_CELLS = 3e7
_N_CAUSES = 8


class DensityFamily(NamedTuple):
    """A family of models: what it is called, and estimators of growing size, the first of which is tried."""

    name: str
    sizes: tuple[Density, ...]


class Tried(NamedTuple):
    """A model that was tried: what it is, and the mean log-likelihood of the transactions that judge."""

    name: str
    estimator: Density
    score: float


@overload
def fit(
    data: TransactionsLike | str | os.PathLike[str],
    *,
    method: Literal["recommended"] = ...,
    validation: TransactionsLike | None = ...,
    random_state: Seed | np.random.RandomState = ...,
    n_jobs: int | None = ...,
    progress: bool = ...,
    sample_weight: npt.ArrayLike | None = ...,
    groups: GroupsLike | None = ...,
) -> DirichletProcessMixture: ...
@overload
def fit(
    data: TransactionsLike | str | os.PathLike[str],
    *,
    method: Literal["density"],
    validation: TransactionsLike | None = ...,
    random_state: Seed | np.random.RandomState = ...,
    n_jobs: int | None = ...,
    progress: bool = ...,
    sample_weight: npt.ArrayLike | None = ...,
    groups: GroupsLike | None = ...,
) -> Density: ...
def fit(
    data: TransactionsLike | str | os.PathLike[str],
    *,
    method: Literal["recommended", "density"] = "recommended",
    validation: TransactionsLike | None = None,
    random_state: Seed | np.random.RandomState = 0,
    n_jobs: int | None = -1,
    progress: bool = True,
    sample_weight: npt.ArrayLike | None = None,
    groups: GroupsLike | None = None,
) -> Density:
    """Fit the recommended model, with everything chosen well: the front door.

    A Dirichlet process mixture finds the number of its components and learns its prior, by Gibbs sampling. It
    is corrected by the transactions as far as held-out data says that they know better, and learns to
    recommend. If the data is large, a part of it is sampled first, and all of it goes on from there. `itemix
    fit` does the same on the command line. The classes have the models and priors of the paper by default.

    With ``method="density"`` it is the model under which unseen transactions are most probable: latent trees,
    mixtures of trees and of products, and several causes are fitted, larger ones as long as they are worth
    it, and held-out transactions decide. Such a model has no intervals, and often no components.

    Parameters
    ----------
    data : Transactions, list of lists of str, array, sparse matrix, data frame, path, Chunks or Partitions
        The transactions, or the file to read them from. Those in parts (`read_chunks`, `itemix.partitions`)
        are brought here if they are few. Of many, a part is sampled, and variational inference goes on from
        there where they lie; there is no correction then, which would keep all of them.
    method : {"recommended", "density"}
        What is wanted: a model that knows how sure it is, explains and recommends; or the best density.
    validation : transactions in any form, optional
        For densities: what decides, instead of a tenth of the data.
    random_state : int, Generator or None, default 0
        The seed: the same one gives the same model.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.
    progress : bool, default True
        Whether to show what is chosen and why, and how far the fit is: a bar on a terminal or in a notebook,
        lines elsewhere if it takes long.
    sample_weight : array of int, optional
        How many transactions each one stands for: whole numbers; fractions are refused. Those of 0 are left
        out.
    groups : array of labels, or str, optional
        The customer, store or month of each transaction, or the column of ids that says so: see
        `DirichletProcessMixture.fit`. Such a model has no correction, and is of no other family.

    Returns
    -------
    DirichletProcessMixture
        Fitted; with ``method="density"`` an estimator of the family that was best. It is asked, mined, shown
        and saved like any other.

    Raises
    ------
    InvalidInputError
        If this is no data, or there are no transactions.

    Examples
    --------
    >>> import itemix
    >>> store = itemix.datasets.load("grocery_store")
    >>> model = itemix.fit(store, progress=False)
    >>> [entry.item for entry in model.recommend(["salsa"], n=1)]
    ['tortillas']
    """
    from itemix.io.read import transactions_of

    check_choice("method", method, ("recommended", "density"))
    quiet = not check_flag("progress", progress)
    if method == "density" and groups is not None:
        raise InvalidInputError(
            "expected groups=None with method='density', whose families have none, got groups; leave one out"
        )
    if method == "recommended" and validation is not None:
        raise InvalidInputError(
            "expected validation only with method='density', got it without; leave it out"
        )
    source: Transactions | Partitions
    if isinstance(data, Chunks | Partitions):
        if groups is not None:
            raise InvalidInputError(
                "expected transactions in memory for a fit with groups, got some in parts; leave groups out"
            )
        if sample_weight is not None:
            raise InvalidInputError(
                "expected sample_weight=None for transactions in parts, got weights; give the parts counts"
            )
        source = partitions(data)
    else:
        if groups is not None and sample_weight is not None:
            raise InvalidInputError(
                "expected sample_weight=None for a fit with groups, got weights; leave one out"
            )
        source = counted(transactions_of(data), sample_weight)
    if method == "recommended":
        return fit_recommended(source, random_state=random_state, n_jobs=n_jobs, groups=groups, quiet=quiet)
    if isinstance(source, Partitions):
        source = Transactions.concatenate(list(source))
    judges = None if validation is None else transactions_of(validation).align_items(source.items)
    return fit_density(source, judges, random_state=random_state, n_jobs=n_jobs, quiet=quiet)


def fit_density(
    transactions: Transactions,
    validation: Transactions | None = None,
    *,
    random_state: Seed | np.random.RandomState,
    n_jobs: int | None,
    quiet: bool,
) -> Density:
    """Fit the model under which unseen transactions are most probable, and show the progress; see `fit`."""
    with interruptible(), shown_progress("fit", transactions.n_transactions, quiet=quiet) as callbacks:
        return choose_density(
            transactions,
            validation,
            random_state=random_state,
            n_jobs=n_jobs,
            callbacks=callbacks,
            tell=_silent if quiet else _said,
        )


def _silent(text: str) -> None:
    """Say nothing."""


def _said(text: str) -> None:
    sys.stderr.write(f"itemix.fit: {text}\n")


def families(transactions: Transactions, **common: Any) -> list[DensityFamily]:  # noqa: ANN401 - parameters
    """Return the families that are tried on some transactions, the quickest first."""
    n, few = transactions.n_transactions, {**common, "max_iter": 100}
    found = [
        DensityFamily(
            "latent tree",
            tuple(LatentTreeModel(n_states, **common) for n_states in (16, 32)),
        ),
        DensityFamily(
            "mixture of trees",
            tuple(ChowLiuMixture(K, pooling=50.0, **few) for K in (10, 20) if n >= 4 * K),
        ),
        DensityFamily(
            "mixture",
            (DirichletProcessMixture(min(100, n), inference="variational", beta="learn", **few),),
        ),
    ]
    if transactions.n_rows * 2.0**_N_CAUSES <= _MOST_CAUSE_CELLS:
        found.append(DensityFamily("causes", (MultipleCauseMixture(_N_CAUSES, **common),)))
    return found


def choose_density(
    transactions: Transactions,
    validation: Transactions | None,
    *,
    random_state: Seed | np.random.RandomState,
    n_jobs: int | None,
    callbacks: Sequence[Callback] = (),
    tell: Callable[[str], object],
) -> Density:
    """Fit the model under which unseen transactions are most probable, of all families; see `itemix.fit`.

    Parameters
    ----------
    transactions : Transactions
        The data.
    validation : Transactions or None
        What judges; by default a tenth of the data, after which the best model is fitted to all of it.
    random_state, n_jobs
        As in `itemix.fit`.
    callbacks : sequence of callables
        As in the fits.
    tell : callable
        Is told in words how each model did.

    Raises
    ------
    InvalidInputError
        If there are too few transactions to judge by.
    """
    seed = int(np.random.default_rng(base.as_seed(random_state)).integers(2**31))
    learned, judges = transactions, validation
    if judges is None:
        if transactions.n_transactions < _FEWEST:
            raise InvalidInputError(
                f"expected at least {_FEWEST} transactions to choose a family by some of them, got "
                f"{transactions.n_transactions}; try itemix.fit without method, or itemix.LatentTreeModel"
            )
        share = min(_SHARE, _MOST_JUDGES / transactions.n_transactions)
        learned, judges = transactions.split(1 - share, random_state=seed)
    tried: list[Tried] = []
    for family in families(learned, random_state=seed, n_jobs=n_jobs):
        for found in grown(family, learned, judges, callbacks):
            tried.append(found)
            tell(f"{found.name}: {found.score:.3f} for each held-out transaction")
    best = max(tried, key=lambda found: found.score)
    tell(f"the best is the {best.name}")
    if validation is not None:
        return best.estimator
    tell_stage(callbacks, f"fitting the {best.name} to all transactions")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(best.estimator).fit(transactions, callbacks=callbacks)  # type: ignore[no-any-return]


def grown(
    family: DensityFamily, learned: Transactions, judges: Transactions, callbacks: Sequence[Callback]
) -> Iterator[Tried]:
    """Fit the models of a family from the smallest on, as long as the larger ones are worth it."""
    before = -np.inf
    for estimator in family.sizes:
        found = judged(family.name, estimator, learned, judges, callbacks)
        yield found
        if found.score < before + WORTH_MORE:
            return
        before = found.score


def judged(
    name: str,
    estimator: Density,
    learned: Transactions,
    judges: Transactions,
    callbacks: Sequence[Callback] = (),
) -> Tried:
    """Fit one model of a family, and return how probable the transactions that judge are.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the fit.
    """
    still_wanted()
    name = _named(name, estimator)
    tell_stage(callbacks, f"trying a {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(estimator, LatentTreeModel):
            estimator.fit(learned, validation=judges, callbacks=callbacks)
        else:
            estimator.fit(learned, callbacks=callbacks)
    training = estimator.fitted_.training
    if training is not None and training.interrupted:
        raise KeyboardInterrupt
    return Tried(name, estimator, float(estimator.fitted_.value.log_likelihood(judges).mean()))


def _named(family: str, estimator: Density) -> str:
    if isinstance(estimator, LatentTreeModel):
        return f"{family} of {plural(estimator.n_states, 'state')}"
    if isinstance(estimator, MultipleCauseMixture):
        return f"model of {plural(int(estimator.n_causes), 'cause')}"
    n = int(estimator.n_components or 0)
    return f"mixture of {plural(n, 'tree' if isinstance(estimator, ChowLiuMixture) else 'component')}"
