"""CorrectedMixture: a mixture, and what data says of short itemsets beyond it (see docs/correction.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._runtime import still_wanted
from itemix.errors import InvalidInputError
from itemix.immutable import Immutable, owned
from itemix.kernels import csr, sorting
from itemix.kernels.models import corrected, least
from itemix.models.base import NEAR_THE_LEAST, Model
from itemix.models.lowering import lower_to_subsets
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    import os

    from itemix.core.items import Items
    from itemix.core.transactions import Transactions
    from itemix.models.events import Sets
    from itemix.models.residuals import Residuals

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

# From this many sets on it pays to look for subsets among them, if there are items alone to start from.
_A_FAMILY = 512
_WORK_AT_A_TIME = 1 << 15
_MOST_ABSENT = 10


@dataclass(frozen=True, eq=False)
class Correction(Immutable):
    """What corrects a mixture: shifts of the log-odds of items, and those of itemsets beyond them.

    Parameters
    ----------
    item_shift : array of float, shape (n_items,)
        By how much the log-odds of each item are shifted, so that its probability is its frequency.
    residuals : Residuals
        The shifts of longer itemsets, by the items' ranks in the mixture that `item_shift` makes.
    n_transactions : int
        How many transactions were counted.
    excess_variance : float
        By how much of itself the variance of an estimate is larger than that of a counted frequency.
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
    correction knows its rarest items; it is never larger than that of a subset. Of whole transactions it says
    what the mixture says.

    Parameters
    ----------
    mixture : Mixture
        What is corrected.
    correction : Correction
        By what.
    """

    def __init__(self, mixture: Mixture, correction: Correction) -> None:
        n_items = int(correction.residuals.trie.first[1]) - 1
        if not n_items == len(correction.item_shift) == mixture.n_items:
            raise InvalidInputError(
                f"expected a correction of the mixture's {mixture.n_items} items, got that of {n_items}; "
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
        """What it is corrected by."""
        return self._correction

    @cached_property
    def tilted(self) -> Mixture:
        """The mixture with the log-odds of its items shifted: residuals are what it leaves over."""
        return self._correction.tilted(self._mixture)

    @property
    def prefers_families(self) -> bool:
        """Whether many sets are answered much quicker with all their subsets: they are lowered to these."""
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
        """How many of the rarest items of a set say how the others are shifted."""
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
        return least.further_shifts(self._residuals.shift_trie)

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture and its correction to a file; `itemix.load` reads it back."""
        from itemix.files import save

        save(self, path)

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction under the mixture, shape (n_transactions,)."""
        return self._mixture.log_likelihood(transactions)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the mixture."""
        return self._mixture.sample(n, random_state=random_state)

    def probabilities_of_codes(
        self,
        offsets: Offsets,
        codes: Codes,
        absent_offsets: Offsets | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,).

        With absent items it is the sum, with signs, over the sets of absent items that are present instead.
        """
        if absent_offsets is None or absent_codes is None or len(absent_codes) == 0:
            return self._of_present(*self._as_ranks(offsets, codes))
        return self._with_absent((offsets, codes), (absent_offsets, absent_codes))

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible.

        Near the least number it is the mixture's: nothing was counted that would say more.
        """
        found = super().log_probability_of_codes(held, missing)
        return found if found > NEAR_THE_LEAST else self._mixture.log_probability_of_codes(held, missing)

    def _with_absent(self, present: Sets, absent: Sets) -> Floats:
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

    def _as_ranks(self, offsets: Offsets, codes: Codes) -> Sets:
        """Return sets of codes as sets of ranks, ascending, each once."""
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ranks = self.ranks[codes]
        by_set = np.lexsort((ranks, owner))
        ranks = ranks[by_set]
        kept = np.ones(len(ranks), dtype=bool)
        kept[1:] = (ranks[1:] != ranks[:-1]) | (owner[1:] != owner[:-1])
        lengths = np.bincount(owner[kept], minlength=len(offsets) - 1)
        return np.concatenate([[0], np.cumsum(lengths)]), ranks[kept]

    def _of_present(self, offsets: Offsets, ranks: Codes) -> Floats:
        if self.n_pivots == 0:
            return self._of_paths(offsets, ranks)
        lengths = np.diff(offsets)
        if len(offsets) <= _A_FAMILY or lengths.min() != 1:
            return self._lowered_alone(offsets, ranks)
        order = sorting.colex_order(offsets[1:], ranks, self.n_items)
        everything = np.arange(self.n_items, dtype=np.int32)
        sorted_offsets, sorted_ranks = sorting.gather_sets(offsets[1:], ranks, order, everything)
        estimates = self._of_paths(sorted_offsets, sorted_ranks)
        out = np.empty(len(order))
        out[order] = lower_to_subsets(sorted_offsets, sorted_ranks, everything, estimates, self.n_pivots)
        alone = np.flatnonzero(out < 0)
        out[alone] = self._lowered_alone(*csr.gather_rows(offsets, ranks, alone))
        return out

    def _of_paths(self, offsets: Offsets, ranks: Codes) -> Floats:
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

    def _lowered_alone(self, offsets: Offsets, ranks: Codes) -> Floats:
        """Return the least of the estimates of each set and of its subsets, found one by one."""
        n = len(offsets) - 1
        out = np.empty(n)
        # Ctrl-C waits for a kernel to return: the longer the sets, the fewer at a time.
        step = max(1, _WORK_AT_A_TIME // max(1, int(np.diff(offsets).max(initial=0))) ** 2)
        for first in range(0, n, step):
            still_wanted()
            ends = offsets[first : first + step + 1]
            least.least_probabilities(
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
