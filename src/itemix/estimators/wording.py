"""What several estimators say in the same words: parameters and attributes that they share."""

from __future__ import annotations

import inspect
from typing import TypeVar

T = TypeVar("T", bound=type)

_PARAMETERS = """\
alpha : float or "learn"
    Concentration of the weights, 1.5 in the paper; or learned from the data.
beta, gamma : float, array of float, shape (n_items,), or None
    The Beta prior of the item probabilities. By default beta is the item's frequency and gamma the rest to
    one, as in the paper; beta="learn" also learns the strength of that prior.
n_init : int
    How many starts, of which the best is kept; for sampling, how many chains, of which all are averaged.
init : {"k-means++", "random", "one"}, Mixture, array of int, shape (n_transactions,), or None
    How to start: from spread-out transactions, which is the default, from random labels (the paper's), for
    sampling also from one component (the paper's for the process), from a mixture, or from labels.
max_iter : int
    The most iterations of a start, or of the burn-in of a chain.
tol : float or None
    When it has converged: variational, if an iteration raises the mean bound by less (by default 1e-4);
    sampling, if the mean joint log-probability of a quarter of the iterations differs by less from that of
    the quarter before (by default 0.01), or by no more than it fluctuates, and the number of components does
    not drift either; 0 runs all iterations.
n_samples, thin : int
    For sampling: how many posterior samples each chain keeps, and how many iterations lie between them.
random_state : int, Generator, RandomState or None
    The seed.
warm_start : bool
    Whether another call of `fit` goes on from the fitted model.
verbose : int
    Print every so many iterations; 0 prints nothing.
n_jobs : int or None
    Threads: None is one, -1 all processors. The result does not depend on it.
correction : None, "auto" or int
    Whether to correct the mixture by the counts of short itemsets (see docs/correction.md): None leaves it as
    it is, "auto" chooses how on held-out halves of the data, a number from 2 to 5 counts itemsets of up to so
    many items at full strength."""

_ATTRIBUTES = """\
mixture_ : Mixture
    The fitted model: expectations under the posterior; for sampling the average of all samples.
posterior_ : Posterior
    The distribution of the parameters; for sampling that of the last sample.
posteriors_ : tuple of Posterior
    The posterior of each sample; one for variational inference.
prior_ : Prior
    The hyperparameters alpha, beta and gamma, and their strength, as given or learned; for sampling those of
    the last sample.
corrected_ : CorrectedMixture or None
    The corrected mixture, which then answers all questions about itemsets.
correction_choice_ : Choice
    What "auto" has tried, and what came of it.
counts_ : Counts
    The expected counts behind the posterior, or those of the last sample.
n_components_ : int
    The number of components of the mixture.
n_iter_ : int
    The number of iterations.
converged_ : bool
    Whether it converged.
lower_bound_ : float
    The evidence lower bound, or the joint log-probability of labels and data, a transaction.
lower_bounds_ : array, shape (n_iter_,)
    The same for each iteration.
chains_ : Chains
    For sampling: traces and diagnostics."""


def with_shared_words(cls: T) -> T:
    """Put the shared descriptions into a class docstring, where it says so in braces."""
    if cls.__doc__ is not None:  # python -OO leaves docstrings out
        text = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = text.replace("{parameters}", _PARAMETERS).replace("{attributes}", _ATTRIBUTES)
    return cls
