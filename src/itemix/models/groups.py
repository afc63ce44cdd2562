"""Groups: what each customer, store or month has of its own, besides the mixture that all share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from itemix._arrays import Immutable, owned, protected
from itemix._checks import check_whole, did_you_mean, nearest
from itemix.core import display
from itemix.core.results import ColumnResult
from itemix.core.tables import TableColumns
from itemix.errors import InvalidInputError, UnknownGroupError
from itemix.models.mixture import Mixture
from itemix.models.posterior import Posterior

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy import sparse

    from itemix._typing import Codes, Floats, Ints
    from itemix.core.items import Items
    from itemix.core.sets import Sets
    from itemix.models.mixture import Labels

ValuedRows: TypeAlias = "tuple[Ints, Codes, Floats]"
"""Compressed rows: offsets, codes and values."""

_GROUPS_AT_A_TIME = 1 << 14
_SMALLEST = 1e-12
# Less than this tells a posterior nothing.
_LEAST_LOYALTY = 1e-6
_FIRST_NAMES = 3


class GroupPrior(NamedTuple):
    """How much groups differ from each other, as learned from all of them.

    Attributes
    ----------
    concentration : float
        How many transactions the common weights are worth beside a group's own (the alpha of its process).
    loyalty : float
        The probability that an item of a group with a long past is taken from memory, from 0 to 1. Each item
        has a loyalty of its own, drawn around this one: see `Groups`.
    half : float
        The number of transactions after which this probability has reached half of that.
    fading : float
        How much each transaction counts in the memory for what the next one counts, above 0 and up to 1.
    """

    concentration: float = 10.0
    loyalty: float = 0.4
    half: float = 2.5
    fading: float = 0.9

    def progress(self, n: Ints) -> Floats:
        """Return how near the chance of memory is to the loyalty after n transactions, from 0 to 1."""
        share: Floats = np.asarray(n / (n + self.half))
        return share

    def weight(self, n: Ints) -> Floats:
        """Return what n transactions count in the memory, the last of them 1."""
        if self.fading == 1:
            return np.asarray(n, dtype=np.float64)
        faded: Floats = (1 - self.fading ** np.asarray(n, dtype=np.float64)) / (1 - self.fading)
        return faded


class GroupsTable(ColumnResult):
    """The groups of a model: how long the past of each is, and how far it differs from the others.

    Columns are group, transactions (how many it was fitted to), items (how many different ones they hold),
    memory (the probability that an item of its next transaction is taken from memory), component (the largest
    of its own) and share (of its transactions, expected, in that component).
    """

    __slots__ = ()
    _kind = "groups"
    _types: ClassVar = {
        "group": "object",
        "transactions": "int64",
        "items": "int64",
        "memory": "float64",
        "component": "int64",
        "share": "float64",
    }
    _percents = frozenset({"memory", "share"})


class SimilarGroup(NamedTuple):
    """A group that is like another one.

    Attributes
    ----------
    group : str or int
        Its label.
    similarity : float
        How alike the two depart from what is common, from -1 to 1: the cosine between their item
        probabilities, less the common ones.
    """

    group: str | int
    similarity: float


class Groups(Immutable):
    """What each group has of its own: an immutable value, sparse throughout.

    A group has weights of its own, and a memory of its items. With the common mixture (weights pi, item
    probabilities phi) it makes a mixture like any other: see `mixture`, and docs/equations.md.

    Parameters
    ----------
    labels : Items
        The name of each group.
    prior : GroupPrior
        How much groups differ.
    loyalty : array, shape (n_items,)
        The loyalty of each item: see `GroupPrior`.
    n_transactions : array of int, shape (G,)
        How many transactions each group has had; of large groups the last 10,000 count.
    sizes, memory : triple of arrays
        Compressed rows (offsets, codes, values), one for each group: how many of its transactions each
        component holds, and how often it remembers each item.
    """

    def __init__(
        self,
        labels: Items,
        prior: GroupPrior,
        loyalty: npt.ArrayLike,
        *,
        n_transactions: npt.ArrayLike,
        sizes: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
        memory: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    ) -> None:
        self._labels = labels
        self._prior = _checked_prior(prior)
        self._loyalty: Floats = owned(loyalty, np.float64)
        if self._loyalty.ndim != 1 or not ((self._loyalty >= 0) & (self._loyalty <= 1)).all():
            raise InvalidInputError("expected the loyalty of each item, from 0 to 1, got others; try zeros")
        self._n_transactions: Ints = owned(n_transactions, np.int64)
        if self._n_transactions.shape != (len(labels),) or self._n_transactions.min(initial=0) < 0:
            raise InvalidInputError(
                f"expected a number of transactions for each of {len(labels):,} groups, got others; give "
                "whole numbers of 0 or more"
            )
        self._sizes = _checked_rows("sizes", sizes, len(labels))
        self._memory = _checked_rows("memory", memory, len(labels))

    @property
    def labels(self) -> Items:
        """The name of each group."""
        return self._labels

    @property
    def prior(self) -> GroupPrior:
        """How much groups differ from each other."""
        return self._prior

    @property
    def loyalty(self) -> Floats:
        """The loyalty of each item, shape (n_items,), read-only."""
        return self._loyalty

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self._labels)

    @property
    def n_transactions(self) -> Ints:
        """How many transactions each group has had, shape (G,), read-only."""
        return self._n_transactions

    @property
    def sizes(self) -> ValuedRows:
        """How many transactions of each group each component holds: offsets, components and numbers."""
        return self._sizes

    @property
    def memory(self) -> ValuedRows:
        """How often each group remembers each item: offsets, items and faded counts."""
        return self._memory

    def __len__(self) -> int:
        return self.n_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        return (
            self._labels == other._labels
            and self._prior == other._prior
            and np.array_equal(self._loyalty, other._loyalty)
            and np.array_equal(self._n_transactions, other._n_transactions)
            and _are_equal(self._sizes, other._sizes)
            and _are_equal(self._memory, other._memory)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Groups({display.plural(self.n_groups, 'group')}, "
            f"{display.plural(int(self._n_transactions.sum()), 'transaction')})"
        )

    def code(self, label: object) -> int:
        """Return the position of a group.

        Raises
        ------
        UnknownGroupError
            If there is no such group; the message offers the nearest names.
        """
        found = self._labels.find(label)
        if found is None:
            first = [str(name) for name in self._labels.labels[:_FIRST_NAMES].tolist()]
            hint = did_you_mean(nearest(label, self._labels), f"the first are {', '.join(map(repr, first))}.")
            raise UnknownGroupError(
                f"expected one of {display.plural(self.n_groups, 'known group')}, got {label!r}; {hint} "
                "Or leave the group out for what is common to all"
            )
        return found

    def mixture(self, common: Mixture, label: object) -> Mixture:
        """Return the mixture of a group: the components that all share, with its own weights and memory.

        Parameters
        ----------
        common : Mixture
            The mixture that the groups were learned with.
        label : str or int
            The group.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        """
        g = self.code(label)
        n, (items, counts) = self._n_transactions[g], _row(self._memory, g)
        if len(items) == len(_row(self._sizes, g)[0]) == 0:  # it has nothing of its own
            return common
        own = self._loyalty * self._prior.progress(n)
        probs = (1 - own) * common.probs
        probs[:, items] += own[items] * counts / self._prior.weight(n)
        rho = self._rho(common, g)
        return Mixture(rho / rho.sum(), np.clip(probs, 0.0, 1.0), common.items)

    def posterior(self, common: Mixture, label: object) -> Posterior:
        """Return the distribution of the parameters of a group's mixture; parameters as in `mixture`.

        What the group remembers counts as observed. The component counts just as much beside it as makes
        the expectations those of `mixture`.
        """
        g = self.code(label)
        items, counts = _row(self._memory, g)
        n, prior = self._n_transactions[g], self._prior
        loyalty = np.maximum(self._loyalty, _LEAST_LOYALTY)
        own, seen = loyalty * prior.progress(n), float(prior.weight(n))
        worth = seen * (1 - own) / own if n > 0 else prior.half / loyalty
        eta = worth * np.maximum(common.probs, _SMALLEST)
        nu = worth * np.maximum(1 - common.probs, _SMALLEST) + seen
        eta[:, items] += counts
        nu[:, items] -= counts
        rho = np.maximum(self._rho(common, g), _SMALLEST)
        return Posterior.dirichlet(rho, eta, np.maximum(nu, _SMALLEST), common.items)

    def _rho(self, common: Mixture, g: int) -> Floats:
        """Return what the weights of a group are proportional to, shape (K,)."""
        rho: Floats = self._prior.concentration * common.weights
        components, sizes = _row(self._sizes, g)
        rho[components] += sizes
        return rho

    def item_probabilities(self, common: Mixture, codes: Ints) -> Floats:
        """Return the probability of each item in the next transaction of some groups, (len(codes), n_items).

        Parameters
        ----------
        common : Mixture
            The mixture that the groups were learned with.
        codes : array of int
            The positions of the groups.
        """
        weights, memory = self._expected(common, codes)
        found: Floats = weights @ self._basis(common)
        groups = np.repeat(np.arange(len(codes)), np.diff(memory.indptr))
        found[groups, memory.indices] += memory.data
        return np.clip(found, 0.0, 1.0, out=found)

    def _expected(self, common: Mixture, codes: Ints) -> tuple[Floats, sparse.csr_array]:
        """Return dense weights of `_basis` and sparse memories: item probabilities are the sum of both."""
        n = self._n_transactions[codes]
        near = self._prior.progress(n)
        weights = _matrix(self._sizes, codes, common.n_components).toarray()
        weights += self._prior.concentration * common.weights
        weights /= weights.sum(axis=1)[:, None]
        memory = _matrix(self._memory, codes, common.n_items)
        seen = np.maximum(self._prior.weight(n), 1.0)
        memory.data *= np.repeat(near / seen, np.diff(memory.indptr)) * self._loyalty[memory.indices]
        return np.hstack([weights, -near[:, None] * weights]), memory

    def _basis(self, common: Mixture) -> Floats:
        """Return the item probabilities of components, and what memory takes of them at most, (2K, D)."""
        return np.vstack([common.probs, common.probs * self._loyalty])

    def similar(self, common: Mixture, label: object, n: int = 5) -> list[SimilarGroup]:
        """Return the groups that depart most alike from what is common, the most similar first.

        Parameters
        ----------
        common : Mixture
            The mixture that the groups were learned with.
        label : str or int
            The group.
        n : int
            How many groups.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        """
        n = check_whole("n", n, 5, least=1)
        g = self.code(label)
        similarity = self._cosines(common, self.mixture(common, label).item_probabilities, g)
        similarity[g] = -np.inf
        best = np.argsort(-similarity, kind="stable")[: min(n, self.n_groups - 1)]
        return [SimilarGroup(self._labels[int(h)], float(similarity[h])) for h in best]

    def _cosines(self, common: Mixture, of_group: Floats, g: int) -> Floats:
        """Return the cosine of each group's departure with one of them, without a groups x items table.

        The departure of h is a row of weights times the basis, plus its memory, less what is common.
        """
        p = common.item_probabilities
        d = of_group - p
        products, norms = np.empty(self.n_groups), np.empty(self.n_groups)
        basis = self._basis(common)
        gram, phi_p, phi_d = basis @ basis.T, basis @ p, basis @ d
        for first in range(0, self.n_groups, _GROUPS_AT_A_TIME):
            rows = np.arange(first, min(first + _GROUPS_AT_A_TIME, self.n_groups))
            weights, memory = self._expected(common, rows)
            products[rows] = weights @ phi_d + memory @ d - p @ d
            squares = ((weights @ gram) * weights).sum(axis=1)
            squares += 2 * ((memory @ basis.T) * weights).sum(axis=1) + memory.power(2).sum(axis=1)
            norms[rows] = squares - 2 * (weights @ phi_p + memory @ p) + p @ p
        scale = np.sqrt(np.maximum(norms, 0) * max(norms[g], 0))
        cosines: Floats = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
        return cosines

    def table(self, common: Mixture, component_labels: Labels | None = None) -> GroupsTable:
        """Return a row for each group, those with most transactions first.

        Parameters
        ----------
        common : Mixture
            The mixture that the groups were learned with.
        component_labels : array of int, shape (n_components,), optional
            A label for each component, to be named in its place: components with the same label are one.
        """
        from scipy import sparse

        n = self._n_transactions
        component, share = np.full(self.n_groups, -1), np.zeros(self.n_groups)
        matrix = _matrix(self._sizes, np.arange(self.n_groups), common.n_components).tocoo()
        labels = np.arange(common.n_components) if component_labels is None else component_labels
        merged = (matrix.data, (matrix.row, labels[matrix.col]))
        own = sparse.csr_array(merged, (self.n_groups, int(labels.max()) + 1))
        own.sum_duplicates()
        offsets, components, sizes = own.indptr, own.indices, own.data
        groups = np.repeat(np.arange(self.n_groups), np.diff(offsets))
        order = np.lexsort((components, -sizes, groups))
        largest = order[offsets[:-1][np.diff(offsets) > 0]]
        component[groups[largest]] = components[largest]
        share[groups[largest]] = sizes[largest] / np.maximum(n[groups[largest]], 1)
        first = np.argsort(-n, kind="stable")
        names: npt.NDArray[Any] = np.array(self._labels.labels.tolist(), dtype=object)
        columns: dict[str, Sets | npt.NDArray[Any]] = {
            "group": names[first],
            "transactions": n[first],
            "items": np.diff(self._memory[0])[first],
            "memory": (self._prior.loyalty * self._prior.progress(n))[first],
            "component": component[first],
            "share": np.minimum(share, 1.0)[first],
        }
        return GroupsTable(TableColumns("groups", common.items, columns, {}))


def _are_equal(one: ValuedRows, other: ValuedRows) -> bool:
    return all(np.array_equal(one[part], other[part]) for part in range(3))


def _row(rows: ValuedRows, g: int) -> tuple[Codes, Floats]:
    """Return the codes and values of one compressed row."""
    offsets, codes, values = rows
    return codes[offsets[g] : offsets[g + 1]], values[offsets[g] : offsets[g + 1]]


def _matrix(rows: ValuedRows, chosen: Ints, n_columns: int) -> sparse.csr_array:
    """Return some compressed rows as a matrix with values of its own."""
    from scipy import sparse

    offsets, codes, values = rows
    lengths = np.diff(offsets)[chosen]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(ends[-1]) + np.repeat(offsets[chosen] - ends[:-1], lengths)
    return sparse.csr_array((values[places], codes[places], ends), (len(chosen), n_columns))


def _checked_prior(prior: GroupPrior) -> GroupPrior:
    in_range = (
        0 < prior.concentration < np.inf
        and 0 <= prior.loyalty <= 1
        and 0 < prior.half < np.inf
        and 0 < prior.fading <= 1
    )
    if not in_range:
        raise InvalidInputError(
            "expected a positive concentration and half, loyalty from 0 to 1 and fading above 0 and up to "
            f"1, got {prior}; try GroupPrior()"
        )
    return GroupPrior(*map(float, prior))


def _checked_rows(
    name: str, rows: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], n_groups: int
) -> ValuedRows:
    offsets, codes, values = (
        owned(array, kind) for array, kind in zip(rows, (np.int64, np.int32, np.float64), strict=True)
    )
    ascend = offsets.shape == (n_groups + 1,) and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
    if not ascend or not len(codes) == len(values) == offsets[-1] or not (values >= 0).all():
        raise InvalidInputError(
            f"expected {name} as compressed rows of {n_groups:,} groups with values of 0 or more, got "
            "others; give offsets, codes and values"
        )
    return protected(offsets), protected(codes), protected(values)
