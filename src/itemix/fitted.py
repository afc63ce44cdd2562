"""FittedModel: what was learned, how sure it is, and how the fit went, as one value.

Estimators hold it, files store it, and the explorer, reports, pictures and the command line read it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from itemix._arrays import Immutable, protected
from itemix._checks import as_generator, check_flag, check_number, check_whole
from itemix._runtime import progress_of, still_wanted
from itemix.core import display
from itemix.core.itemsets import Itemsets
from itemix.core.results import ColumnResult
from itemix.core.sets import Sets
from itemix.core.tables import TableColumns
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError
from itemix.inference import METHODS
from itemix.inference.affinity import learn_affinity
from itemix.inference.chains import as_arviz
from itemix.mining import counts as counting
from itemix.mining import intervals as credible
from itemix.mining import query
from itemix.mining.characteristics import characteristic_items, in_words, values_by_column
from itemix.mining.mine import mine
from itemix.mining.segments import Segments
from itemix.mining.surprise import aligned, unusual
from itemix.models.base import Model, as_model
from itemix.models.causes import CauseMixture
from itemix.models.corrected import CorrectedMixture
from itemix.models.latent import LatentTree
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.posterior import matched_labels, nearest_labels
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy.typing as npt
    import xarray as xr

    from itemix._typing import Floats, ModelLike, TransactionsLike
    from itemix.core.items import Label
    from itemix.core.transactions import Transactions
    from itemix.correction import Choice
    from itemix.inference.chains import Chains
    from itemix.inference.priors import DataTotals, Prior
    from itemix.inference.selection import Selection
    from itemix.mining.intervals import ErrorSource
    from itemix.mining.query import Recommendation
    from itemix.mining.surprise import Unusual
    from itemix.models.affinity import Affinity
    from itemix.models.base import Names
    from itemix.models.causes import AnyComponents
    from itemix.models.counts import Counts
    from itemix.models.groups import Groups, GroupsTable, SimilarGroup
    from itemix.models.mixture import Labels
    from itemix.models.posterior import Posterior

__all__ = ["Check", "FittedModel", "Training", "learn_recommender"]

# A component of variational inference that is expected to hold less than this of one transaction is not used.
USED = 0.5
_CELLS_AT_A_TIME = 1 << 22
# Chains whose R-hat is above this have not mixed (Vehtari et al. 2021).
MIXED = 1.01
_LEVEL = 0.9
# Intervals that hold less of what they should hold than this are too narrow.
_LEAST_HELD = 0.85
_CHECKED_SETS = 500
_TRACED = {
    "log_joint": "the joint log-probability",
    "n_components": "the number of components",
    "alpha": "the concentration of the weights",
}


class Check(NamedTuple):
    """One thing that can be wrong with a fitted model, and whether it is.

    Attributes
    ----------
    name : str
        What was checked: converged, mixed or calibrated.
    verdict : str
        good, poor, or unknown where nothing tells.
    sentence : str
        What was found, and what it means.
    figure : float or None
        The number behind it: the largest R-hat, or the share of supports that lie in their intervals.
    """

    name: Literal["converged", "mixed", "calibrated"]
    verdict: Literal["good", "poor", "unknown"]
    sentence: str
    figure: float | None = None


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


class ComponentsTable(ColumnResult):
    """The components of a model, the largest first: how large each is, and what sets it apart from others.

    Columns are component (as `predict` numbers them), name (where people gave some), share, size (how many
    of those that the model was fitted to are expected in it), mean_basket (the mean number of items), items
    (the typical ones, see `itemix.mining.characteristics`), and mostly (these with their probabilities).

    Where the items come from a table of categories, each of its columns follows, with its most probable value
    there. The columns that say most about the components come first, and are shown instead of `mostly`.
    """

    __slots__ = ()
    _kind = "components"
    _types: ClassVar = {
        "component": "int64",
        "name": "object",
        "share": "float64",
        "size": "int64",
        "mean_basket": "float64",
        "items": "sets",
        "mostly": "object",
    }
    _percents = frozenset({"share"})
    _in_table = ("component", "name", "share", "size", "mean_basket", "mostly")

    @classmethod
    def of(
        cls,
        components: AnyComponents,
        n_transactions: int | None,
        n_items: int,
        names: Mapping[int, str] | None = None,
    ) -> ComponentsTable:
        """Make the table of a mixture; `names` are those that people gave."""
        check_whole("n_items", n_items, 6, least=0)
        order = np.argsort(-components.weights, kind="stable")
        order = order[components.weights[order] > 0]
        share = components.weights[order]
        typical = [characteristic_items(components, int(k), n_items) for k in order]
        sets = Sets.from_names([[found.item for found in row] for row in typical], components.items)
        values: dict[str, Sets | npt.NDArray[Any]] = {"component": order.astype(np.int64), "share": share}
        if names:
            values["name"] = np.array([names.get(int(k), "") for k in order], dtype=object)
        if n_transactions is not None:
            values["size"] = np.rint(share * n_transactions).astype(np.int64)
        values["mean_basket"] = components.probs[order].sum(axis=1)
        values["items"] = sets
        values["mostly"] = np.array([in_words(components, int(k), n_items) for k in order], dtype=object)
        for column, cells in values_by_column(components, order).items():
            values[f"column {column}" if column in cls._types else column] = np.array(cells, dtype=object)
        return cls(TableColumns(cls._kind, components.items, values, {}))

    @property
    def share(self) -> Floats:
        """The share of the transactions, shape (n,)."""
        return self._columns.numbers("share")

    def _in_columns(
        self, n: int, width: int | None, cells: dict[str, list[str]]
    ) -> dict[str, list[str]] | None:
        """Return the cells with as many columns of a table as there is room for, in the place of words."""
        values = self._columns.values
        found = {name: cells[name] for name in cells if name != "mostly"}
        n_before, room = len(found), sys.maxsize if width is None else width
        for name in (name for name in values if name not in self._types):
            shown = [str(cell) for cell in self._columns.numbers(name)[:n]]
            room -= max(map(len, (name, *shown))) + 2
            if room + 2 < 0:
                break
            found[name] = shown
        return found if len(found) > n_before else None


@dataclass(frozen=True, eq=False)
class FittedModel(Immutable):
    """A model, how sure it is, and how it was fitted.

    Attributes
    ----------
    value : Model
        The fitted model without its correction.
    corrected : CorrectedMixture or None
        The same model with its correction.
    posterior : Posterior or None
        The distribution of the parameters; None for a sampler, which has one for each sample: `posteriors`.
    method : str or None
        The short name of the method, such as gsdpm; None for a bare model.
    training : Training or None
        How the fit went; None for a bare model.
    choice : Choice or None
        How the correction was chosen.
    kept_labels : array of int, shape (n_components,), or None
        The `component_labels` that a file has kept; None to work them out.
    affinity : Affinity or None
        What was learned to recommend items for complete baskets; see `itemix.learn_recommender`.
    groups : Groups or None
        What each group has of its own, if it was fitted with groups.
    names : dict of int to str
        What people call components, by their place in `components`; kept in a file beside that of the model.
    """

    value: Model
    corrected: CorrectedMixture | None = None
    posterior: Posterior | None = None
    method: str | None = None
    training: Training | None = None
    choice: Choice | None = None
    kept_labels: Labels | None = None
    affinity: Affinity | None = None
    groups: Groups | None = None
    names: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, source: object) -> FittedModel:
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
            return cls(model.whole, corrected=model)
        if model is not None:
            return cls(model)
        if hasattr(source, "fit"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(source, "model_")
        raise InvalidInputError(
            f"expected a fitted model, got {type(source).__name__}; try itemix.BayesianMixture().fit(data)"
        )

    @cached_property
    def of_itemsets(self) -> Model:
        """The same model as it is corrected: with a prior that is worth at most one transaction.

        A learned prior is stronger, because that predicts whole transactions best. But it draws the items of
        each component towards those of all, and so the supports of itemsets towards independence.
        """
        if self.training is None or self.training.prior is None or self.training.prior.is_weak:
            return self.value
        if self.training.chains is not None:
            return self.training.chains.mixture_by_weak_priors()
        if self.training.counts is None:
            return self.value
        return self.training.prior.weakened().posterior(self.training.counts, self.value.items).mixture()

    @cached_property
    def posteriors_of_itemsets(self) -> tuple[Posterior, ...]:
        """The distribution of the parameters of `of_itemsets`, one for each sample of a sampler."""
        if self.of_itemsets is self.value or self.training is None or self.training.prior is None:
            return self.posteriors
        if self.training.chains is not None:
            return tuple(draw.posterior() for draw in self.training.chains.draws_by_weak_priors())
        assert self.training.counts is not None  # noqa: S101 - or `of_itemsets` were the model as it is
        return (self.training.prior.weakened().posterior(self.training.counts, self.value.items),)

    @property
    def model(self) -> Model:
        """The model that answers questions about itemsets: corrected, if there is a correction."""
        return self.value if self.corrected is None else self.corrected

    @property
    def model_(self) -> Model:
        """The same by the name that estimators have for it: what takes these takes fitted models, too."""
        return self.model

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
    def component_labels(self) -> Labels | None:
        """The label of each component of the mixture; None if each is a component of its own.

        After sampling the mixture has the components of all samples. Each has the label of a component of the
        last sample: see `itemix.models.posterior`. In a Dirichlet process only components that hold
        transactions are labels. The others have the label of the nearest one; after sampling, each sample has
        one that stands for all of them.
        """
        if self.kept_labels is not None or self.method is None or self.training is None:
            return self.kept_labels
        is_process = METHODS[self.method].weights == "sticks"
        chains, counts = self.training.chains, self.training.counts
        if chains is not None:
            if not is_process:
                return matched_labels(self.posteriors)
            return nearest_labels(self.posteriors, np.arange(chains.draws[-1].n_components))
        if not is_process or counts is None or (counts.sizes >= USED).all():
            return None
        return nearest_labels(self.posteriors, np.flatnonzero(counts.sizes >= USED))

    @cached_property
    def components(self) -> AnyComponents | None:
        """The components to look at, as a mixture of products, or as causes; None if the model has none.

        After sampling these are averages over all samples, and of a Dirichlet process only those that hold
        transactions: see `component_labels`. The components of trees are given by the probabilities of
        single items.
        """
        if isinstance(self.value, CauseMixture):
            return self.value.causes
        if isinstance(self.value, TreeMixture) and self.value.n_components > 1:
            return Mixture(self.value.weights, self.value.component_probabilities, self.value.items)
        if not isinstance(self.value, Mixture):
            return None
        return self.value if self.component_labels is None else self.value.merge(self.component_labels)

    @cached_property
    def segments(self) -> Segments | None:
        """The components beside each other: distances, places, groups, labels. None if it has none."""
        return None if self.components is None else Segments(self.components)

    def name_of(self, component: int) -> str:
        """Return what a component is called: by people, or by the items that tell it from all others."""
        assert self.segments is not None  # noqa: S101 - asked only of a model that has some
        return self.names.get(component) or self.segments.labels[component]

    @property
    def called(self) -> str:
        """What one of its components is called: a component, or a cause."""
        return "cause" if isinstance(self.value, CauseMixture) else "component"

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

    @property
    def parts(self) -> list[str]:
        """What it is made of, in words: components, edges or itemsets, and the correction; empty for none."""
        return [self._components_in_words(), self._structure_in_words(), self._correction_in_words()]

    def _components_in_words(self) -> str:
        if not self.n_components:
            return ""
        components = display.plural(self.n_components, self.called)
        return (
            f"{components} averaged over {self.n_posteriors} samples" if self.n_posteriors > 1 else components
        )

    def _structure_in_words(self) -> str:
        if isinstance(self.value, TreeMixture):
            return display.plural(self.value.n_edges, "edge")
        if isinstance(self.value, LatentTree):
            edges, states = self.value.n_edges, self.value.n_states
            return f"{display.plural(edges, 'edge')}, {display.plural(states, 'state')}"
        return (
            display.plural(len(self.value.itemsets), "itemset") if isinstance(self.value, MaxEntropy) else ""
        )

    def _correction_in_words(self) -> str:
        if self.corrected is None:
            return ""
        n = display.plural(self.corrected.transactions.n_transactions, "transaction")
        return f"corrected by {n}, worth {self.corrected.worth:,.0f} of them"

    def summary(self) -> display.Table:
        """Say what was fitted, to what, and how it went: a table that prints, and shows in a notebook."""
        components, structure, correction = self.parts
        training, n = self.training, self.n_transactions
        told = {
            "fitted by": "" if self.inference is None else self.inference,
            "transactions": "" if n is None else f"{n:,}",
            "items": f"{self.value.n_items:,}",
            "components": components,
            "structure": structure,
            "groups": "" if self.groups is None else f"{self.groups.n_groups:,}",
        }
        if training is not None:
            told["prior"] = "" if training.prior is None else training.prior.in_words()
            told["iterations"] = "" if training.n_iter is None else f"{training.n_iter:,}{self._ended()}"
            told["fit"] = "" if training.bound is None else f"{training.bound:.4f} a transaction"
        told["correction"] = correction
        told["intervals"] = "yes" if self.knows_error else "no: it has no posterior"
        told["recommends"] = "with what was learned of pairs of items" if self.affinity is not None else ""
        rows = tuple((name, text) for name, text in told.items() if text)
        return display.Table(self.kind, ("", ""), rows, words=frozenset({""}))

    def _ended(self) -> str:
        """Say how the iterations ended."""
        training = self.training
        if training is None or training.chains is not None or training.converged is None:
            return ""
        return ", converged" if training.converged else ", not converged"

    def components_table(self, n_items: int = 6) -> ComponentsTable:
        """Return a row for each component, the largest first, which prints, shows, and is written to files.

        Parameters
        ----------
        n_items : int, default 6
            How many items tell a component apart from the others.

        Raises
        ------
        InvalidInputError
            If the model has no components.
        """
        if self.components is None:
            raise InvalidInputError(
                f"expected a model with components, got {self.kind}, which has none; try dependencies()"
            )
        return ComponentsTable.of(self.components, self.n_transactions, n_items, self.names)

    def _repr_html_(self) -> str:
        shown = self.summary().as_html()
        if self.components is None:
            return shown
        return f"{shown}<br>{self.components_table().table(width=display.HTML_WIDTH).as_html()}"

    def group(self, label: object) -> FittedModel:
        """Return the model of one group, a value like any other: it is mined, asked and evaluated as one.

        Parameters
        ----------
        label : str, int or None
            The group. None is what is common to all: this model.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        InvalidInputError
            If the model was fitted without groups.
        """
        if label is None:
            return self
        groups, common = self._with_groups()
        g = groups.code(label)
        own = groups.mixture(common, label)
        if own is common:
            return replace(self, groups=None, affinity=None)
        return FittedModel(
            own,
            posterior=groups.posterior(common, label) if self.knows_error else None,
            training=Training(int(groups.n_transactions[g])),
            kept_labels=self.component_labels,
        )

    def groups_table(self) -> GroupsTable:
        """Return a row for each group, those with most transactions first.

        Raises
        ------
        InvalidInputError
            If the model was fitted without groups.
        """
        groups, common = self._with_groups()
        return groups.table(common, self.component_labels)

    def similar_groups(self, label: object, n: int = 5) -> list[SimilarGroup]:
        """Return the groups that depart from what is common most as one does; see `Groups.similar`.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        InvalidInputError
            If the model was fitted without groups.
        """
        groups, common = self._with_groups()
        return groups.similar(common, label, n)

    def recommend_groups(
        self, n: int = 5, *, labels: Iterable[Label] | None = None, progress: bool = False
    ) -> query.ManyOffers:
        """Return the n most probable items of the next transaction of each group, whatever else is in it.

        Parameters
        ----------
        n : int
            How many items.
        labels : iterable of str or int, optional
            The groups; all by default.
        progress : bool
            Whether to show how far it is.

        Returns
        -------
        ManyOffers
            Codes and probabilities, shape (n_groups, n) each. ``to_pandas()`` has the column ``group``.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        InvalidInputError
            If the model was fitted without groups.
        """
        groups, common = self._with_groups()
        known = groups.labels
        codes = (
            np.arange(len(known)) if labels is None else np.array([groups.code(name) for name in labels], int)
        )
        n = min(check_whole("n", n, 5, least=0), common.n_items)
        found = np.empty((len(codes), n), dtype=np.int32), np.empty((len(codes), n))
        step = max(1, _CELLS_AT_A_TIME // common.n_items)
        with progress_of("recommending", shown=check_flag("progress", progress)) as shown:
            for first in range(0, len(codes), step):
                still_wanted()
                if shown is not None:
                    shown.tell(f"{first:,}/{len(codes):,} groups", first, len(codes))
                rows = slice(first, first + step)
                chances = groups.item_probabilities(common, codes[rows])
                found[0][rows] = query.best_columns(chances, n)
                found[1][rows] = np.take_along_axis(chances, found[0][rows].astype(np.int64), axis=1)
        return query.ManyOffers(*found, common.items, {"group": known.labels[codes]})

    def _with_groups(self) -> tuple[Groups, Mixture]:
        """Return the groups, and the mixture that is common to them."""
        if self.groups is None or not isinstance(self.value, Mixture):
            raise InvalidInputError(
                f"expected a model that was fitted with groups, got {self.kind} without them; fit it anew: "
                "DirichletProcessMixture().fit(data, groups=labels)"
            )
        return self.groups, self.value

    def probability(
        self, itemset: Names, *, absent: Names = (), given: Names = (), given_absent: Names = ()
    ) -> float:
        """Return the probability of an itemset; see `Model.probability`."""
        return self.model.probability(itemset, absent=absent, given=given, given_absent=given_absent)

    def interval(self, itemset: Names, **options: Any) -> credible.Interval:  # noqa: ANN401 - as there
        """Return the probability of an itemset with its credible interval; see `itemix.mining.intervals`."""
        return credible.interval(self.require_error_source(), itemset, **options)

    def explain(self, basket: Names, n: int = 5, *, partial: bool = False) -> query.Explanation:
        """Return the component that explains a basket best, and the items that speak most for it.

        Raises
        ------
        InvalidInputError
            If the model is no mixture of products.
        """
        if not isinstance(self.value, Mixture):
            raise InvalidInputError(f"expected a mixture, got {self.kind}; try probability()")
        return query.explain(self.value, basket, n, partial=partial, component_labels=self.component_labels)

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

    def recommend(
        self, basket: Names, n: int = 5, *, absent: Names = (), complete: bool = True
    ) -> list[Recommendation]:
        """Return the n most probable items that a basket does not hold yet; see `itemix.mining.query`."""
        return query.recommend(
            self.model, basket, n, absent=absent, complete=complete, affinity=self.affinity
        )

    def recommend_many(
        self,
        baskets: Transactions | Iterable[Names],
        n: int = 5,
        *,
        complete: bool = True,
        progress: bool = False,
    ) -> query.ManyOffers:
        """Return the codes and probabilities of the n best items for many baskets, shape (m, n) each.

        What is returned also has the ids of the baskets, and ``to_pandas()``.
        `progress` says whether to show how far it is.
        """
        return query.recommend_many(
            self.model, baskets, n, complete=complete, affinity=self.affinity, progress=progress
        )

    def unusual(
        self,
        data: TransactionsLike,
        *,
        level: float = 0.05,
        n_simulated: int = 10_000,
        random_state: int | np.random.Generator | None = 0,
    ) -> Unusual:
        """Return how unusual each transaction is, and which items make it so.

        The p value is the share of the model's own transactions, drawn by simulation, that are as unusual or
        more: too improbable for their length, or too long. On transactions that come from the model the p
        values are uniform.

        Parameters
        ----------
        data : transactions in any form
            The transactions. Items that the model does not know are left out.
        level : float, default 0.05
            Transactions with at most this p value also have the items that are unexpected given the rest
            (less than 5% probable), and those that are missing (more than 50% probable); three at most.
        n_simulated : int, default 10,000
            How many transactions to draw. The least p value is about one in that many.
        random_state : int, Generator or None, default 0
            The seed.

        Raises
        ------
        InvalidInputError
            If the model does not tell how probable whole transactions are, or the data has other items.
        """
        share = check_number("level", level, 0.05)
        if not 0 <= share <= 1:
            raise InvalidInputError(f"expected a level from 0 to 1, got {level!r}; try 0.05")
        options: Any = {"level": share, "n_simulated": n_simulated, "random_state": random_state}
        return unusual(self.model, data, **options)

    def was_fitted_to(self, data: Transactions) -> bool:
        """Whether data has the number of transactions that were fitted, and each item as often."""
        if self.n_transactions != data.n_transactions:
            return False
        if data.items != self.value.items:
            if not all(name in self.value.items for name in data.items):
                return False
            data = data.align_items(self.value.items)
        counts = None if self.training is None else self.training.counts
        if counts is not None:
            return np.allclose(counts.item_counts.sum(axis=0), data.item_counts(), rtol=1e-6, atol=1e-3)
        if self.corrected is None:
            return False
        return np.array_equal(self.corrected.transactions.item_counts(), data.item_counts())

    def checks(self, test: TransactionsLike | None = None) -> tuple[Check, ...]:
        """Say whether the fit can be relied on: whether it converged, its chains mixed, its intervals hold.

        What does not apply is left out: only a sampler has chains, and only a model that knows its error has
        intervals.

        Parameters
        ----------
        test : transactions in any form, optional
            Transactions that the model was not fitted to, to see whether its intervals hold.
        """
        found = (self._convergence(), self._mixing(), self._calibration(test))
        return tuple(check for check in found if check is not None)

    def _convergence(self) -> Check | None:
        training = self.training
        if training is None or training.converged is None:
            return None
        n_iter = display.plural(training.n_iter or 0, "iteration")
        if training.converged:
            return Check("converged", "good", f"The fit converged within {n_iter}.")
        ended = "was ended" if training.interrupted or training.stopped else "had not converged"
        return Check("converged", "poor", f"The fit {ended} after {n_iter}; a longer one may differ.")

    def _mixing(self) -> Check | None:
        chains = None if self.training is None else self.training.chains
        if chains is None:
            return None
        known = {name: found["r_hat"] for name, found in self.diagnostics().items()}
        known = {name: value for name, value in known.items() if not np.isnan(value)}
        if not known:
            few = "Too few samples were drawn to tell whether the chains mixed."
            return Check("mixed", "unknown", f"{few} {self._rests_on_chains()}")
        worst = max(known, key=known.__getitem__)
        value = known[worst]
        whose = "the chain has" if len(chains.chains) == 1 else "the chains have"
        told = f"R-hat is largest for {_TRACED[worst]}: {value:.3f}"
        if value <= MIXED:
            return Check("mixed", "good", f"{told}, no sign that {whose} not mixed.", value)
        meaning = f"above {MIXED:g}: {whose} not mixed well. {self._rests_on_chains()}"
        return Check("mixed", "poor", f"{told}, {meaning}", value)

    def _rests_on_chains(self) -> str:
        """Say what it means if chains have not mixed.

        The intervals of a corrected model are those of counts; chains add what the model is worth.
        """
        if self.corrected is None:
            return "Intervals may be too narrow."
        divided = "Another fit may divide the components otherwise"
        return f"{divided}; the intervals come from counts, not from the chains."

    def _calibration(self, test: TransactionsLike | None) -> Check | None:
        if not self.knows_error:
            return None
        data = None if test is None else aligned(test, self.value.items)[0]
        if data is None or data.n_transactions == 0 or self.was_fitted_to(data):
            untested = "The intervals were not tested on data that the model has not seen."
            return Check("calibrated", "unknown", untested)
        found = mine(self.model, top_k=_CHECKED_SETS)
        _, lower, upper = credible.intervals(
            self.error_source, found, level=_LEVEL, n_transactions=data.n_transactions
        )
        support = counting.count(found.sets, data) / data.n_transactions
        held = float(((support >= lower) & (support <= upper)).mean())
        told = (
            f"Of the supports of {display.plural(len(found), 'itemset')} in {data.n_transactions:,} "
            f"transactions that the model has not seen, {held:.0%} lie in its 90% intervals"
        )
        if held >= _LEAST_HELD:
            return Check("calibrated", "good", f"{told}.", held)
        return Check("calibrated", "poor", f"{told}: it is too sure, or that data is of another kind.", held)

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """Return R-hat and effective sample size of the traces of chains; empty without chains."""
        chains = None if self.training is None else self.training.chains
        return {} if chains is None else chains.diagnostics()

    def to_arviz(
        self, n_draws: int = 100, *, random_state: int | np.random.Generator | None = 0
    ) -> xr.DataTree:
        """Return draws from the posterior, and the traces of a sampler, in the data structure of ArviZ.

        Its group `posterior` has `weights` (the largest first, as components of different draws are numbered
        differently) and `item_probabilities`, by chain and draw; `sample_stats` has the traces of a sampler:
        `log_joint`, `n_components` and `alpha` after burn-in. Other fits have one chain and no traces.

        Parameters
        ----------
        n_draws : int, default 100
            How many draws to take for each chain. The samples that the chain has kept take turns.
        random_state : int, Generator or None, default 0
            The seed.

        Returns
        -------
        xarray.DataTree
            What `arviz` plots and summarises.

        Raises
        ------
        InvalidInputError
            If the model is no mixture with a posterior.
        MissingExtraError
            If ArviZ is not installed: `pip install 'itemix[arviz]'`.
        """
        check_whole("n_draws", n_draws, 100, least=1)
        if not self.posteriors:
            raise InvalidInputError(
                f"expected a mixture with a posterior, got {self.kind}; fit BayesianMixture or "
                "DirichletProcessMixture"
            )
        chains = None if self.training is None else self.training.chains
        if chains is None:
            return as_arviz([self.posteriors], {}, n_draws, random_state)
        kept = [[draw.posterior() for draw in chain.draws] for chain in chains.chains]
        return as_arviz(kept, chains.traces(), n_draws, random_state)


def learn_recommender(
    model: ModelLike,
    transactions: TransactionsLike,
    *,
    refit: Callable[[Transactions], Model] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> FittedModel:
    """Return a fitted model that has learned to recommend items for complete baskets.

    Two regressions of each item on all others are learned, and how much to trust them and the model. All
    choices are made on a part of the transactions that the regressions have not seen, and the probabilities
    are calibrated there. Data with fewer than 200 transactions of two items or more is too little: the model
    is returned as it is.

    Parameters
    ----------
    model : FittedModel, Model or fitted estimator
        What was fitted to the transactions.
    transactions : Transactions, data frame, matrix or list of lists
        The data that the model was fitted to.
    refit : function, optional
        Fits such a model to other transactions, to see how far to trust it on baskets that it does not know.
        By default a copy of an estimator is fitted. A bare mixture is refitted by a few steps of EM, and any
        other model is taken as it is; so are all of more than 200,000 transactions.
    random_state : int, Generator or None
        The seed.

    Raises
    ------
    InvalidInputError
        If there is no model, or the transactions have other items.
    """
    fitted = FittedModel.of(model)
    data = as_transactions(transactions).align_items(fitted.value.items)
    if refit is None and hasattr(model, "get_params"):
        refit = partial(_fit_copy, model)
    found = learn_affinity(fitted.value, data, as_generator(random_state), refit)
    return replace(fitted, affinity=found)


def _fit_copy(estimator: ModelLike, transactions: Transactions) -> Model:
    """Return what a copy of an estimator learns from transactions, without a correction."""
    from sklearn.base import clone

    copy = clone(estimator)
    plain = {"correction": None, "warm_start": False}
    copy.set_params(**{name: value for name, value in plain.items() if name in copy.get_params()})
    return FittedModel.of(copy.fit(transactions)).value
