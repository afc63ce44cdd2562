"""CorrectedMixture: a mixture corrected by the counts of short itemsets (see docs/correction.md).

`Residuals` are shifts of log-odds in a trie of itemsets. `Correction` is these and the shifts of single
items. No itemset may be more probable than a subset of it: `Tree` lowers the estimates of a family of sets
so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, owned, protected
from itemix._runtime import still_wanted
from itemix.errors import InvalidInputError
from itemix.kernels import csr, lattice
from itemix.kernels.models import corrected
from itemix.kernels.models.corrected import ShiftTrie
from itemix.models.base import NEAR_THE_LEAST, Model
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats, Ints
    from itemix.core.items import Items
    from itemix.core.transactions import Transactions
    from itemix.models.base import SetArrays

# From this many sets on it pays to look for subsets among them, if there are single items to start from.
_FEWEST_IN_A_FAMILY = 512
_WORK_AT_A_TIME = 1 << 15
_MOST_ABSENT = 10


class ResidualTrie(NamedTuple):
    """Itemsets as paths of ranks from the rarest item to the most probable one, as kernels read them.

    Node 0 is the empty set, node 1 + r the item of rank r. The children of node v are the nodes first[v] to
    first[v + 1]; they add the ranks `item`, ascending.
    """

    first: npt.NDArray[np.int64]
    item: npt.NDArray[np.int32]

    @property
    def n_nodes(self) -> int:
        """The number of nodes, including the empty set."""
        return len(self.item)


class Residuals(Immutable):
    """Shifts of log-odds for the itemsets of a trie: an immutable value.

    Parameters
    ----------
    trie : ResidualTrie
        The itemsets, by rank.
    shift : array of float, shape (n_nodes,)
        The shift of the log-odds of the last item of each path, given the items before it.
    """

    def __init__(self, trie: ResidualTrie, shift: npt.ArrayLike) -> None:
        self.trie = ResidualTrie(owned(trie.first, np.int64), owned(trie.item, np.int32))
        self.shift = owned(shift, np.float64)
        n = self.trie.n_nodes
        if len(self.trie.first) != n + 1 or self.shift.shape != (n,) or n == 0:
            raise InvalidInputError(
                f"expected a trie of {n} nodes with a shift each, got {len(self.trie.first) - 1} and "
                f"{self.shift.shape}; give each node its first child and its shift"
            )
        if not np.isfinite(self.shift).all():
            raise InvalidInputError("expected finite shifts of log-odds, got infinity or NaN; leave them out")

    @classmethod
    def of_nothing(cls, n_items: int) -> Residuals:
        """Return residuals that shift nothing."""
        first = np.full(n_items + 2, n_items + 1)
        first[0] = 1
        return cls(ResidualTrie(first, np.arange(-1, n_items, dtype=np.int32)), np.zeros(n_items + 1))

    @property
    def shift_trie(self) -> ShiftTrie:
        """The trie with its shifts, as kernels read them."""
        return ShiftTrie(*self.trie, self.shift)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each node's set, shape (n_nodes,)."""
        lengths = np.zeros(self.trie.n_nodes, dtype=np.int64)
        first, start, stop, length = self.trie.first, 0, 1, 0
        while start < stop:
            lengths[start:stop] = length
            start, stop, length = int(first[start]), int(first[stop]), length + 1
        return protected(lengths)

    @cached_property
    def order(self) -> int:
        """The number of items of the longest set that has a shift."""
        return int(self.lengths[self.shift != 0].max(initial=1))

    @property
    def size(self) -> int:
        """The number of itemsets that have a shift."""
        return int(np.count_nonzero(self.shift))

    def pruned(self) -> Residuals:
        """Return the same residuals without the nodes that have no shift and nothing below them."""
        first, item = self.trie
        parent = np.repeat(np.arange(len(item)), np.diff(first))
        kept = (self.shift != 0) | (self.lengths <= 1)
        for node in range(len(item) - 1, 0, -1):
            if kept[node]:
                kept[parent[node - 1]] = True
        counts = np.bincount(parent[kept[1:]], minlength=len(item))[kept]
        starts = 1 + np.concatenate([[0], np.cumsum(counts)])
        return Residuals(ResidualTrie(starts, item[kept]), self.shift[kept])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Residuals):
            return NotImplemented
        return (
            np.array_equal(self.shift, other.shift)
            and np.array_equal(self.trie.first, other.trie.first)
            and np.array_equal(self.trie.item, other.trie.item)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Residuals({self.size:,} itemsets of up to {self.order} items)"


@dataclass(frozen=True)
class Tree:
    """Parents and children in a family of sets, which is sorted by length and then colexicographically.

    Attributes
    ----------
    tail : array of int32, shape (n_sets,)
        The lowest rank of each set, which its parent lacks.
    first : array of int32, shape (n_sets + 1,)
        The first child of each set. Its children stop where those of the next set start.
    length_start : array of int64, shape (longest + 2,)
        The first set of each length; the last entry is the number of sets.
    """

    tail: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    length_start: npt.NDArray[np.int64]

    @classmethod
    def unlinked(cls, length_start: npt.NDArray[np.int64]) -> Self:
        """Return a tree that is still to be filled."""
        n = int(length_start[-1])
        return cls(np.empty(n, dtype=np.int32), np.full(n + 1, n, dtype=np.int32), length_start)

    def lower(self, low: npt.NDArray[np.float64], n_pivots: int) -> None:
        """Lower estimates in place to those of the parents and of the sets without one of their pivots.

        Pivots are the items of the `n_pivots` highest ranks of a set. Equivalent to low[I] = min(low[I],
        low[I - {p}] for each pivot p of I), the shorter sets first. That is enough, because leaving out
        another item cannot lower an estimate. A set gets -1 if such a subset, or its parent, is not in the
        family.
        """
        n_single = int(self.length_start[min(2, len(self.length_start) - 1)])
        corrected.lower(self.tail, self.first, n_single, len(self.length_start) - 2, n_pivots, low)


def lower_to_subsets(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    rank_of: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    n_pivots: int,
) -> npt.NDArray[np.float64]:
    """Return the estimates of sets, lowered as `Tree.lower` does.

    The sets are sorted by length, then colexicographically by `rank_of` their codes.
    """
    lengths = np.diff(offsets)
    longest = int(lengths[-1]) if len(lengths) else 0
    tree = Tree.unlinked(np.searchsorted(lengths, np.arange(longest + 2)))
    low = values.copy()
    corrected.link(offsets, codes, rank_of, tree.tail, tree.first, low)
    tree.lower(low, n_pivots)
    return low


@dataclass(frozen=True, eq=False)
class Correction(Immutable):
    """The shifts of log-odds that correct a mixture: those of items, and those of longer itemsets.

    Parameters
    ----------
    item_shift : array of float, shape (n_items,)
        The shift of the log-odds of each item that makes its probability its frequency.
    residuals : Residuals
        The shifts of longer itemsets, by the items' ranks in the mixture that `item_shift` makes.
    n_transactions : int
        How many transactions were counted.
    excess_variance : float
        How much larger the variance of an estimate is than that of a counted frequency, as a part of the
        latter.
    """

    item_shift: Floats
    residuals: Residuals
    n_transactions: int
    excess_variance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "item_shift", owned(self.item_shift, np.float64))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Correction):
            return NotImplemented
        return (
            np.array_equal(self.item_shift, other.item_shift)
            and self.residuals == other.residuals
            and (self.n_transactions, self.excess_variance) == (other.n_transactions, other.excess_variance)
        )

    __hash__ = None  # type: ignore[assignment]

    def tilted(self, mixture: Mixture) -> Mixture:
        """Return a mixture with the log-odds of its items shifted."""
        probs = mixture.probs.copy()
        odds = np.exp(self.item_shift)
        shifted = self.item_shift != 0
        own = probs[:, shifted]
        product = own * odds[shifted]
        probs[:, shifted] = product / (1 - own + product)
        return Mixture(mixture.weights, np.clip(probs, 0.0, 1.0), mixture.items)


class CorrectedMixture(Model):
    """A mixture whose itemset probabilities are corrected: an immutable value.

    The probability of an itemset is that of the mixture with the log-odds of its items shifted, as far as the
    correction knows its rarest items. It is never larger than that of a subset. Whole transactions have the
    probability that the mixture gives them.

    Parameters
    ----------
    mixture : Mixture
        The mixture to correct.
    correction : Correction
        The shifts.
    """

    def __init__(self, mixture: Mixture, correction: Correction) -> None:
        n_items = int(correction.residuals.trie.first[1]) - 1
        if not n_items == len(correction.item_shift) == mixture.n_items:
            raise InvalidInputError(
                f"expected a correction of the mixture's {mixture.n_items} items, got one of {n_items}; "
                "correct the mixture again"
            )
        self._mixture = mixture
        self._correction = correction
        self._residuals = correction.residuals

    @property
    def mixture(self) -> Mixture:
        """The mixture that is corrected."""
        return self._mixture

    @property
    def correction(self) -> Correction:
        """The shifts that correct it."""
        return self._correction

    @cached_property
    def tilted(self) -> Mixture:
        """The mixture with the log-odds of its items shifted, without the residuals."""
        return self._correction.tilted(self._mixture)

    @property
    def prefers_families(self) -> bool:
        """Whether many sets are answered much faster with all their subsets, to which they are lowered."""
        return True

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._mixture.items

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: the mixture's, and one for each shift."""
        n_shifts = int(np.count_nonzero(self._correction.item_shift)) + self._residuals.size
        return self._mixture.n_parameters + n_shifts

    @property
    def n_pivots(self) -> int:
        """How many of the rarest items of a set determine how the others are shifted."""
        return self._residuals.order - 1

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return self.tilted.item_probabilities

    @cached_property
    def ranks(self) -> npt.NDArray[np.int32]:
        """The rank of each item code: 0 is the most probable item."""
        return self.tilted.ranks

    @cached_property
    def _table(self) -> Floats:
        by_rank = np.empty((self.n_items, self._mixture.n_components))
        by_rank[self.ranks] = self.tilted.probs.T
        return by_rank

    @cached_property
    def _further_shifts(self) -> Floats:
        return corrected.further_shifts(self._residuals.shift_trie)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CorrectedMixture):
            return NotImplemented
        return self._mixture == other._mixture and self._correction == other._correction

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        size, order = self._residuals.size, self._residuals.order
        return f"CorrectedMixture({self._mixture!r}, {size:,} residuals of up to {order} items)"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cached tables out of pickles."""
        return {name: self.__dict__[name] for name in ("_mixture", "_correction", "_residuals")}

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction under the mixture, shape (n_transactions,)."""
        return self._mixture.log_likelihood(transactions)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the mixture."""
        return self._mixture.sample(n, random_state=random_state)

    def probabilities_of_codes(
        self,
        offsets: Ints,
        codes: Codes,
        absent_offsets: Ints | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,).

        With absent items it is the inclusion-exclusion sum over the subsets of the absent items.
        """
        if absent_offsets is None or absent_codes is None or len(absent_codes) == 0:
            return self._of_present(*self._as_ranks(offsets, codes))
        return self._with_absent((offsets, codes), (absent_offsets, absent_codes))

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible.

        Near underflow it is that of the mixture: nothing so rare was counted.
        """
        found = super().log_probability_of_codes(held, missing)
        return found if found > NEAR_THE_LEAST else self._mixture.log_probability_of_codes(held, missing)

    def _with_absent(self, present: SetArrays, absent: SetArrays) -> Floats:
        out = np.empty(len(present[0]) - 1)
        for s in range(len(out)):
            held = np.unique(present[1][present[0][s] : present[0][s + 1]])
            missing = np.unique(absent[1][absent[0][s] : absent[0][s + 1]])
            if len(missing) > _MOST_ABSENT:
                raise InvalidInputError(
                    f"expected at most {_MOST_ABSENT} absent items of a corrected mixture, got "
                    f"{len(missing)}; name fewer, or ask a model that was fitted without correction"
                )
            chosen = [
                held[:0],
                *(np.array(c) for n in range(len(missing)) for c in combinations(missing, n + 1)),
            ]
            offsets = np.concatenate([[0], np.cumsum([len(held) + len(c) for c in chosen])])
            codes = np.concatenate([part for c in chosen for part in (held, c)]).astype(np.int32)
            signs = np.array([(-1.0) ** len(c) for c in chosen])
            out[s] = signs @ self._of_present(*self._as_ranks(offsets, codes))
        return np.clip(out, 0.0, 1.0)

    def _as_ranks(self, offsets: Ints, codes: Codes) -> SetArrays:
        """Return sets of codes as sets of ranks, ascending, each once."""
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ranks = self.ranks[codes]
        by_set = np.lexsort((ranks, owner))
        ranks = ranks[by_set]
        kept = np.ones(len(ranks), dtype=bool)
        kept[1:] = (ranks[1:] != ranks[:-1]) | (owner[1:] != owner[:-1])
        lengths = np.bincount(owner[kept], minlength=len(offsets) - 1)
        return np.concatenate([[0], np.cumsum(lengths)]), ranks[kept]

    def _of_present(self, offsets: Ints, ranks: Codes) -> Floats:
        if self.n_pivots == 0:
            return self._of_paths(offsets, ranks)
        lengths = np.diff(offsets)
        if len(offsets) <= _FEWEST_IN_A_FAMILY or lengths.min() != 1:
            return self._lowered_alone(offsets, ranks)
        order = lattice.colex_order(offsets[1:], ranks, self.n_items)
        everything = np.arange(self.n_items, dtype=np.int32)
        sorted_offsets, sorted_ranks = lattice.gather_sets(offsets[1:], ranks, order, everything)
        estimates = self._of_paths(sorted_offsets, sorted_ranks)
        out = np.empty(len(order))
        out[order] = lower_to_subsets(sorted_offsets, sorted_ranks, everything, estimates, self.n_pivots)
        alone = np.flatnonzero(out < 0)
        out[alone] = self._lowered_alone(*csr.gather_rows(offsets, ranks, alone))
        return out

    def _of_paths(self, offsets: Ints, ranks: Codes) -> Floats:
        out = np.empty(len(offsets) - 1)
        corrected.path_probabilities(
            offsets,
            ranks,
            self._mixture.weights,
            self._table,
            self._residuals.shift_trie,
            self.n_pivots,
            out,
        )
        return out

    def _lowered_alone(self, offsets: Ints, ranks: Codes) -> Floats:
        """Return the least estimate of each set and its subsets, found by a search for each set."""
        n = len(offsets) - 1
        out = np.empty(n)
        # Ctrl-C waits for a kernel to return, so long sets are given to it in small batches.
        step = max(1, _WORK_AT_A_TIME // max(1, int(np.diff(offsets).max(initial=0))) ** 2)
        for first in range(0, n, step):
            still_wanted()
            ends = offsets[first : first + step + 1]
            corrected.least_probabilities(
                ends,
                ranks,
                self._mixture.weights,
                self._table,
                self._residuals.shift_trie,
                self._further_shifts,
                self.n_pivots,
                out[first : first + step],
            )
        return out
