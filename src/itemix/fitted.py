"""FittedModel: what was learned, how sure it is, and how the fit went, as one value.

Estimators hold it, files store it, and the explorer, reports, pictures and the command line read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from itemix._arrays import Immutable, protected
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError
from itemix.inference.methods import METHODS
from itemix.mining import intervals as credible
from itemix.models.base import Model, as_model
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from itemix._typing import Floats
    from itemix.correction import Choice
    from itemix.inference.chains import Chains
    from itemix.inference.priors import DataTotals, Prior
    from itemix.inference.selection import Selection
    from itemix.mining.intervals import ErrorSource
    from itemix.models.counts import Counts
    from itemix.models.posterior import Posterior

__all__ = ["FittedModel", "Training"]


@dataclass(frozen=True, eq=False)
class Training(Immutable):
    """How a fit went. What a method does not have is None.

    Attributes
    ----------
    n_transactions : int
        How many transactions it was fitted to.
    n_iter : int or None
        The number of iterations.
    converged : bool or None
        Whether it converged.
    bounds : array or None, shape (n_iter,)
        The bound per transaction at each iteration.
    selection : Selection or None
        How the number of components was chosen.
    counts : Counts or None
        The expected counts behind the mixture, or those of the last sample.
    prior : Prior or None
        The hyperparameters, given or learned.
    totals : DataTotals or None
        How often each item occurred in all batches so far.
    n_batches : int or None
        How many batches of a stream were learned; 1 after a fit.
    chains : Chains or None
        The draws and traces of a sampler.
    pooling : float or None
        How much the components of a mixture of trees have in common.
    interrupted : bool
        Whether Ctrl-C ended the fit.
    stopped : bool
        Whether a callback ended the fit.
    """

    n_transactions: int
    n_iter: int | None = None
    converged: bool | None = None
    bounds: Floats | None = None
    selection: Selection | None = None
    counts: Counts | None = None
    prior: Prior | None = None
    totals: DataTotals | None = None
    n_batches: int | None = None
    chains: Chains | None = None
    pooling: float | None = None
    interrupted: bool = False
    stopped: bool = False

    def __post_init__(self) -> None:
        if self.bounds is not None:
            protected(self.bounds)

    @property
    def bound(self) -> float | None:
        """The bound at the last iteration."""
        return None if self.bounds is None else float(self.bounds[-1])


@dataclass(frozen=True, eq=False)
class FittedModel(Immutable):
    """A model, how sure it is, and how it was fitted.

    Attributes
    ----------
    value : Model
        The fitted model without its correction.
    corrected : CorrectedMixture or None
        The same mixture with its correction.
    posterior : Posterior or None
        The distribution of the parameters; None for a sampler, which has one for each sample: `posteriors`.
    method : str or None
        The short name of the method, such as gsdpm; None for a bare model.
    training : Training or None
        How the fit went; None for a bare model.
    choice : Choice or None
        How the correction was chosen.
    """

    value: Model
    corrected: CorrectedMixture | None = None
    posterior: Posterior | None = None
    method: str | None = None
    training: Training | None = None
    choice: Choice | None = None

    @classmethod
    def of(cls, source: Any) -> FittedModel:  # noqa: ANN401 - anything at all
        """Return a fitted model, or the one that an estimator holds.

        Parameters
        ----------
        source : FittedModel, Model or fitted estimator
            A bare model knows nothing about its fit.

        Raises
        ------
        InvalidInputError
            If `source` is none of these.
        NotFittedError
            If it is an estimator that is not fitted.
        """
        found = source if isinstance(source, cls) else getattr(source, "fitted_", None)
        if isinstance(found, cls):
            return found
        model = as_model(source)
        if isinstance(model, CorrectedMixture):
            return cls(model.mixture, corrected=model)
        if model is not None:
            return cls(model)
        if hasattr(source, "fit"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(source, "model_")
        raise InvalidInputError(
            f"expected a fitted model, got {type(source).__name__}; try itemix.BayesianMixture().fit(data)"
        )

    @property
    def model(self) -> Model:
        """The model that answers questions about itemsets: corrected, if there is a correction."""
        return self.value if self.corrected is None else self.corrected

    @property
    def kind(self) -> str:
        """The class of the estimator that was fitted, or of a bare model, by name."""
        return type(self.model).__name__ if self.method is None else METHODS[self.method].estimator

    @property
    def inference(self) -> str | None:
        """The inference it was fitted by, if its estimator has several."""
        return None if self.method is None else METHODS[self.method].inference

    @property
    def n_transactions(self) -> int | None:
        """How many transactions it was fitted to, if that is known."""
        return None if self.training is None else self.training.n_transactions

    @property
    def error_source(self) -> ErrorSource:
        """The source of the model's uncertainty: its correction or its posteriors; empty without both."""
        return self.posteriors if self.corrected is None else self.corrected

    @cached_property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The distribution of the parameters, one for each sample of a sampler; empty if there is none.

        Those of samples are large, and made of the counts when they are first asked for.
        """
        if self.training is not None and self.training.chains is not None:
            return tuple(draw.posterior() for draw in self.training.chains.draws)
        return () if self.posterior is None else (self.posterior,)

    @property
    def n_posteriors(self) -> int:
        """How many posteriors there are."""
        return len(self.n_components_of_samples) or int(self.posterior is not None)

    @property
    def last_posterior(self) -> Posterior | None:
        """The posterior, or that of the last sample of a sampler."""
        return self.posteriors[-1] if self.posteriors else None

    @property
    def knows_error(self) -> bool:
        """Whether the model knows how sure it is, and so has intervals."""
        return self.corrected is not None or self.n_posteriors > 0

    @cached_property
    def components(self) -> Mixture | None:
        """The components to look at, as a mixture of products; None if the model has none.

        A sampler has those of its last sample that hold transactions; the one that stands for all empty ones
        is left out. The components of trees are given by the probabilities of single items.
        """
        if self.training is not None and self.training.chains is not None:
            last = self.training.chains.draws[-1]
            return _with_transactions(last.posterior(), last.n_components)
        if isinstance(self.value, TreeMixture) and self.value.n_components > 1:
            return Mixture(self.value.weights, self.value.component_probabilities, self.value.items)
        return self.value if isinstance(self.value, Mixture) else None

    @property
    def n_components(self) -> int | None:
        """How many components hold transactions; None if the model has no components."""
        if self.n_components_of_samples:
            return self.n_components_of_samples[-1]
        return None if self.components is None else int((self.components.weights > 0).sum())

    @property
    def n_components_of_samples(self) -> tuple[int, ...]:
        """How many components hold transactions in each sample of a sampler; empty without one."""
        if self.training is None or self.training.chains is None:
            return ()
        return tuple(draw.n_components for draw in self.training.chains.draws)

    def require_error_source(self) -> ErrorSource:
        """Return the source of the model's uncertainty.

        Raises
        ------
        InvalidInputError
            If it has none.
        """
        if not self.knows_error:
            raise InvalidInputError(
                "expected a model with a posterior, got one of maximum likelihood, which has no uncertainty; "
                "fit BayesianMixture or DirichletProcessMixture"
            )
        return self.error_source

    def with_intervals(self, itemsets: Itemsets, *, level: float = 0.9) -> Itemsets:
        """Return itemsets that were mined from the model with the credible interval of each support.

        Raises
        ------
        InvalidInputError
            If these are not Itemsets, the level is not between 0 and 1, or the model has no uncertainty.
        """
        if not isinstance(itemsets, Itemsets):
            raise InvalidInputError(
                f"expected Itemsets, got {type(itemsets).__name__}; mine the model first: "
                "itemix.mine(model, 0.1)"
            )
        _, lower, upper = credible.intervals(self.require_error_source(), itemsets, level=level)
        return credible.with_intervals(itemsets, lower, upper)

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """Return R-hat and effective sample size of the traces of chains; empty without chains."""
        chains = None if self.training is None else self.training.chains
        return {} if chains is None else chains.diagnostics()


def _with_transactions(last: Posterior, n_components: int) -> Mixture:
    """Return the first components of a sample, which hold all transactions."""
    mixture = last.mixture()
    if n_components == mixture.n_components:
        return mixture
    weights = mixture.weights[:n_components]
    return Mixture(weights / weights.sum(), mixture.probs[:n_components], mixture.items)
