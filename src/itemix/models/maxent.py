"""MaxEntropy: the distribution with the supports of some itemsets and no other structure.

TiltedMixture is the same beside a mixture: it has the supports of some itemsets, and the mixture's structure.

`KnownSets` holds these itemsets with their supports. All subsets of a known set are known too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, protected
from itemix._checks import as_generator, check_whole
from itemix._runtime import still_wanted
from itemix.core.sets import Sets, readonly
from itemix.core.transactions import Transactions, as_transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.kernels.models import maxent
from itemix.kernels.models.maxent import SupportTrie
from itemix.models.base import Model, no_sets, one_set, require_same_items

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats, Ints
    from itemix.core.items import Items
    from itemix.models import base
    from itemix.models.mixture import Mixture

MOST_ITEMS = 14
# How many states of parts are worked on before Ctrl-C is noticed.
_STATES_AT_A_TIME = 1 << 16
_ROUNDING = 1e-9
# A tilted mixture gets its probabilities right to this share of their standard deviations.
_CLOSE_ENOUGH = 1e-7
_MOST_STEPS = 2_000
_LARGEST_TILT = 50.0
_MOST_PARTS = 20_000
_NUMBERS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Itemsets of two items or more, sorted by length and then by their codes; see `checked`.

    Attributes
    ----------
    frequencies : array, shape (n_items,)
        The probability of each item.
    sets : Sets
        The itemsets.
    supports : array, shape (n_itemsets,)
        Their probabilities.
    trie : SupportTrie
        The same for kernels.
    """

    frequencies: Floats
    sets: Sets
    supports: Floats
    trie: SupportTrie

    @classmethod
    def checked(cls, frequencies: npt.ArrayLike, sets: Sets, supports: npt.ArrayLike) -> KnownSets:
        """Check and sort the sets.

        Raises
        ------
        InvalidInputError
            If a number is not a probability, a set occurs twice, or a subset of a set is missing or less
            probable than the set.
        """
        alone = _probabilities(frequencies, len(sets.items), "frequencies, one for each item")
        values = _probabilities(supports, len(sets), "supports, one for each itemset")
        order, ordered = _sorted(sets)
        values = readonly(values[order], np.float64, copy=False)
        if (ordered.find(ordered) != np.arange(len(ordered))).any():
            raise InvalidInputError("expected each itemset once, got one twice; leave out the second")
        parents = _checked_parents(ordered, values, alone)
        n_items = len(alone)
        nodes = np.arange(n_items + len(ordered) + 1)
        last = ordered.codes[ordered.offsets[1:] - 1]
        trie = SupportTrie(
            readonly(n_items + np.searchsorted(parents, nodes), np.int64, copy=False),
            readonly(np.concatenate([np.arange(n_items), last]), np.int32, copy=False),
            readonly(np.concatenate([alone, values]), np.float64, copy=False),
        )
        return cls(alone, ordered, values, trie)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownSets):
            return NotImplemented
        return (
            self.sets.items == other.sets.items
            and np.array_equal(self.sets.offsets, other.sets.offsets)
            and np.array_equal(self.sets.codes, other.sets.codes)
            and np.array_equal(self.trie.support, other.trie.support)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def part_of(self) -> Codes:
        """The number of each item's part, shape (n_items,); items of a part hang together by pairs."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        n_items = len(self.frequencies)
        one, other, _ = self.pairs()
        graph = sparse.coo_array((np.ones(len(one)), (one, other)), shape=(n_items, n_items))
        return readonly(connected_components(graph, directed=False)[1], np.int32, copy=False)

    def pairs(self) -> tuple[Codes, Codes, Floats]:
        """Return the smaller and the larger item of each pair, and its support."""
        n = int((self.sets.lengths == 2).sum())
        codes = self.sets.codes[: 2 * n].reshape(-1, 2)
        return codes[:, 0], codes[:, 1], self.supports[:n]

    @cached_property
    def parts(self) -> tuple[Ints, Codes]:
        """The items of each part, ascending, in compressed form."""
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.part_of))])
        codes = np.argsort(self.part_of, kind="stable")
        return readonly(offsets, np.int64, copy=False), readonly(codes, np.int32, copy=False)


def _probabilities(values: npt.ArrayLike, n: int, what: str) -> Floats:
    array = readonly(values, np.float64)
    if array.shape != (n,) or not ((array >= 0) & (array <= 1)).all():
        raise InvalidInputError(
            f"expected {n:,} {what}, from 0 to 1, got others of shape {array.shape}; check their number"
        )
    return array


def _sorted(sets: Sets) -> tuple[Ints, Sets]:
    """Return the order of the sets by length and codes, and the sets in that order, their codes ascending."""
    offsets, codes = csr.canonical_rows(sets.offsets, sets.codes)
    lengths = np.diff(offsets)
    if len(lengths) and lengths.min() < 2:
        raise InvalidInputError(
            f"expected itemsets of two items or more, got one of {lengths.min()}; leave it out"
        )
    orders, parts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for length in np.unique(lengths):
        own = np.flatnonzero(lengths == length)
        rows = codes[offsets[own][:, None] + np.arange(length)]
        order = np.lexsort(rows.T[::-1])
        orders.append(own[order])
        parts.append(rows[order].ravel())
    order = np.concatenate(orders)
    return order, Sets.from_lengths(lengths[order], np.concatenate(parts), sets.items)


def _checked_parents(sets: Sets, supports: Floats, frequencies: Floats) -> Ints:
    """Return the node of each set without its last item; check all its subsets of one item less."""
    lengths = sets.lengths
    parents = np.empty(len(sets), dtype=np.int64)
    for length in np.unique(lengths):
        own = np.flatnonzero(lengths == length)
        rows = sets.codes[sets.offsets[own][:, None] + np.arange(length)]
        for left_out in range(length):
            rest = np.delete(rows, left_out, axis=1)
            node = _nodes_of(sets, rest) if length > 2 else rest[:, 0].astype(np.int64)
            if (node < 0).any():
                raise _missing(sets.items, rest[int(np.argmin(node))])
            above = np.concatenate([frequencies, supports])[node]
            if (supports[own] > above + _ROUNDING).any():
                raise InvalidInputError(
                    "expected no itemset to be more probable than its subsets, got one that is; count all "
                    "of them in the same data"
                )
            if left_out == length - 1:
                parents[own] = node
    return parents


def _nodes_of(sets: Sets, rows: Codes) -> Ints:
    """Return the nodes of sets of one length, -1 for sets that are not known."""
    lengths = np.full(len(rows), rows.shape[1], dtype=np.int64)
    found = sets.find(Sets.from_lengths(lengths, np.ascontiguousarray(rows).ravel(), sets.items))
    return np.where(found < 0, -1, found + len(sets.items))


def _missing(items: Items, codes: Codes) -> InvalidInputError:
    return InvalidInputError(
        f"expected all subsets of each itemset, got no support of {items.names(codes)}; mine all frequent "
        "itemsets up to a length"
    )


class MaxEntropy(Model):
    """The distribution of highest entropy among those with given supports: an immutable value.

    Items hang together if an itemset has both, or through other items. Items that do not are independent.

    If at most 14 of all items hang together, there is one distribution over their states, and all answers
    come from it: the probabilities of itemsets and of whole transactions, conditional ones, samples. They
    agree with each other, and with the supports, to 1e-9.

    If more do, there are too many states. A question is then answered only from the itemsets inside its own
    items, of which at most 14 can hang together. Questions about different items are answered from different
    small distributions. Each agrees with the supports of all itemsets inside it, but a set can come out a
    little more probable than one of its subsets if neither is known. A conditional probability uses one
    distribution for condition and event.

    Parameters
    ----------
    frequencies : array of float, shape (n_items,)
        The probability of each item.
    itemsets : Sets
        Sets of two items or more. All subsets of a set with two items or more must be among them.
    supports : array of float, shape (n_itemsets,)
        The probability of each. Supports that contradict each other raise an error when a question needs
        them.

    Examples
    --------
    >>> from itemix.core.items import Items
    >>> from itemix.models.maxent import MaxEntropy
    >>> from itemix.core.sets import Sets
    >>> pairs = Sets.from_names([["a", "b"], ["b", "c"]], Items(["a", "b", "c"]))
    >>> model = MaxEntropy([0.5, 0.5, 0.5], pairs, [0.4, 0.4])
    >>> round(model.probability(["a", "b", "c"]), 6)
    0.32
    """

    def __init__(self, frequencies: npt.ArrayLike, itemsets: Sets, supports: npt.ArrayLike) -> None:
        self._known = KnownSets.checked(frequencies, itemsets, supports)

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._known.sets.items

    @property
    def frequencies(self) -> Floats:
        """The probability of each item, shape (n_items,), read-only."""
        return self._known.frequencies

    @property
    def itemsets(self) -> Sets:
        """The itemsets whose supports are known, the shorter first."""
        return self._known.sets

    @property
    def supports(self) -> Floats:
        """Their probabilities, shape (n_itemsets,), read-only."""
        return self._known.supports

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: one for each item and each itemset."""
        return self.n_items + len(self.itemsets)

    @property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return self.frequencies

    @property
    def has_likelihood(self) -> bool:
        """Whether at most 14 of all items hang together; only then whole transactions have a probability."""
        return self._most <= MOST_ITEMS

    @cached_property
    def _most(self) -> int:
        """The most items that hang together."""
        return int(np.diff(self._known.parts[0]).max(initial=0))

    def __eq__(self, other: object) -> bool:
        return self._known == other._known if isinstance(other, MaxEntropy) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"MaxEntropy({len(self.itemsets):,} itemsets, {self.n_items:,} items)"

    def __reduce__(self) -> tuple[Any, ...]:
        return MaxEntropy, (self.frequencies, self.itemsets, self.supports)

    def probabilities_of_codes(
        self,
        offsets: Ints,
        codes: Codes,
        absent_offsets: Ints | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,).

        Raises
        ------
        InvalidInputError
            If more than 14 items of a set hang together.
        """
        if absent_offsets is None or absent_codes is None:
            absent_offsets, absent_codes = no_sets(len(offsets) - 1)
        asked = (offsets, codes), (absent_offsets, absent_codes)
        owner, found = self._answers(*asked, codes[:0], codes[:0])
        return _products(owner, found[:, 0], len(offsets) - 1)

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible."""
        _, found = self._answers(one_set(held), one_set(missing), held[:0], held[:0])
        with np.errstate(divide="ignore"):
            return float(np.log(found[:, 0]).sum())

    def _conditional(
        self, present: base.SetArrays, against: base.SetArrays, held: Codes, missing: Codes
    ) -> Floats:
        self._log_probability_of_condition(held, missing)
        owner, found = self._answers(present, against, held, missing)
        joint, condition = found.T
        ratio = np.divide(joint, condition, out=np.zeros_like(joint), where=condition > 0)
        return _products(owner, ratio, len(present[0]) - 1)

    def _answers(
        self, present: base.SetArrays, against: base.SetArrays, held: Codes, missing: Codes
    ) -> tuple[Ints, Floats]:
        """Return the event of each part, shape (n_parts,), and the parts' probabilities, shape (n_parts, 2).

        The columns are the probabilities of event and condition, and of the condition alone. The probability
        of an event is the product over its parts.
        """
        owner, asked = self._parts(*_questions(present, against, held, missing))
        found = np.empty((len(owner), 2))
        # A single item has its frequency, which needs no states.
        joint = self._joint if np.diff(asked.offsets).max(initial=0) > 1 else self._without_states
        leader = csr.group_equal_rows(asked.offsets, asked.codes)[0]
        order = np.argsort(leader, kind="stable")
        # Equal parts follow each other; only the first of them takes work.
        is_first = np.diff(leader[order], prepend=-1) != 0
        work = np.cumsum(np.where(is_first, 1 << np.diff(asked.offsets)[order], 1))
        for some in np.split(order, np.flatnonzero(np.diff(work // _STATES_AT_A_TIME)) + 1):
            still_wanted()
            maxent.part_probabilities(self._known.trie, joint, asked, leader, some, found)
        _require_possible(found)
        return owner, found

    def _parts(self, offsets: Ints, codes: Codes, status: npt.NDArray[np.int8]) -> tuple[Ints, maxent.Asked]:
        """Split questions into parts that hang together; return the event of each part, and its question."""
        place = np.empty(len(codes), dtype=np.int64)
        maxent.join_items(self._known.trie, offsets, codes, place)
        maxent.join_parts(offsets, codes, self._small_part_of, place)
        order = np.argsort(place, kind="stable")
        begins, lengths = np.unique(place, return_counts=True)
        most = int(lengths.max(initial=0))
        if most > MOST_ITEMS:
            raise InvalidInputError(
                f"expected a question in which at most {MOST_ITEMS} items hang together by the model's "
                f"itemsets, got {most}; ask for fewer items (to mine: max_len={MOST_ITEMS}, target='all')"
            )
        owner = np.searchsorted(offsets, begins, side="right") - 1
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return owner, maxent.Asked(ends, codes[order], status[order])

    @cached_property
    def _small_part_of(self) -> Codes:
        """The part of each item, -1 if the part has too many items, shape (n_items,)."""
        n_items = np.diff(self._known.parts[0])
        is_small = n_items[self._known.part_of] <= MOST_ITEMS
        return readonly(np.where(is_small, self._known.part_of, -1), np.int32, copy=False)

    def pair_probabilities(self, codes: Codes) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items)."""
        out = self.frequencies[codes][:, None] * self.frequencies
        one, other, support = self._known.pairs()
        for a, b in ((one, other), (other, one)):
            order = np.argsort(a, kind="stable")
            low, high = np.searchsorted(a[order], codes), np.searchsorted(a[order], codes, side="right")
            for row, own in enumerate(map(slice, low, high)):
                out[row, b[order[own]]] = support[order[own]]
        part_of = self._small_part_of
        rows, others = np.nonzero((part_of[codes][:, None] == part_of) & (part_of >= 0))
        pairs = np.stack([codes[rows], others], axis=1).astype(np.int32)
        out[rows, others] = self.probabilities_of_codes(2 * np.arange(len(pairs) + 1), pairs.ravel())
        out[np.arange(len(codes)), codes] = self.frequencies[codes]
        return out

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,); -inf if impossible.

        Raises
        ------
        InvalidInputError
            If more than 14 of all items hang together.
        """
        transactions = as_transactions(transactions)
        require_same_items(self.items, transactions.items)
        self._require_likelihood()
        with np.errstate(divide="ignore"):
            logs = np.log(self._joint.states)
        values = np.empty(transactions.n_rows)
        maxent.row_log_probabilities(transactions.indptr, transactions.indices, self._joint, logs, values)
        return each_transaction(transactions, values)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model.

        Raises
        ------
        InvalidInputError
            If more than 14 of all items hang together.
        """
        n = check_whole("n", n, 100, least=0)
        rng = as_generator(random_state)
        rows, codes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
        self._require_likelihood()
        offsets, items = self._known.parts
        tables = np.split(self._joint.states, self._joint.starts[1:-1])
        for table, own in zip(tables, np.split(items, offsets[1:-1]), strict=True):
            drawn = rng.choice(len(table), size=n, p=table / table.sum())
            row, bit = np.nonzero(drawn[:, None] >> np.arange(len(own)) & 1)
            rows.append(row)
            codes.append(own[bit])
        indptr, indices = csr.rows_of_pairs(np.concatenate(rows), np.concatenate(codes), n)
        return Transactions(indptr, indices, self.items)

    def _require_likelihood(self) -> None:
        if not self.has_likelihood:
            raise InvalidInputError(
                f"expected a model in which at most {MOST_ITEMS} items hang together by its itemsets, got "
                f"{self._most}, too many for the probability of whole transactions; fit it with a higher "
                "support, or use another model"
            )

    @cached_property
    def _without_states(self) -> maxent.Joint:
        """The parts, as if all had too many items."""
        offsets, codes = self._known.parts
        place = np.arange(len(codes)) - np.repeat(offsets[:-1], np.diff(offsets))
        bit_of = np.zeros(len(codes), dtype=np.int64)
        bit_of[codes] = 1 << np.minimum(place, MOST_ITEMS)
        starts = np.zeros(len(offsets), dtype=np.int64)
        return maxent.Joint(self._known.part_of, bit_of, starts, np.empty(0))

    @cached_property
    def _joint(self) -> maxent.Joint:
        """The probabilities of the states of each part that has few enough items."""
        offsets, codes = self._known.parts
        n_items = np.diff(offsets)
        sizes = np.where(n_items <= MOST_ITEMS, 1 << np.minimum(n_items, MOST_ITEMS), 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        states = np.empty(starts[-1])
        for part in np.flatnonzero(sizes):
            own = codes[offsets[part] : offsets[part + 1]]
            states[starts[part] : starts[part + 1]] = maxent.state_probabilities(self._known.trie, own)
        _require_possible(states)
        return self._without_states._replace(starts=starts, states=states)


def _require_possible(probabilities: Floats) -> None:
    if np.isnan(probabilities).any():
        raise InvalidInputError(
            "expected supports that some distribution has, got some that contradict each other; count all of "
            "them in the same data, and do not round them"
        )


def _products(owner: Ints, values: Floats, n: int) -> Floats:
    """Return the product of the values of each of n owners, 1 for an owner without values."""
    out = np.ones(n)
    np.multiply.at(out, owner, values)
    return out


def _questions(
    present: base.SetArrays, against: base.SetArrays, held: Codes, missing: Codes
) -> tuple[Ints, Codes, npt.NDArray[np.int8]]:
    """Return the questions as compressed rows: items ascending, each once, with its status."""
    n = len(present[0]) - 1
    every = np.arange(n)
    owner = [np.repeat(every, len(held) + len(missing))]
    codes = [np.tile(np.concatenate([held, missing]), n)]
    known = np.repeat([maxent.GIVEN_PRESENT, maxent.GIVEN_ABSENT], [len(held), len(missing)])
    status = [np.tile(known, n)]
    for (offsets, own), what in ((present, maxent.PRESENT), (against, maxent.ABSENT)):
        owner.append(np.repeat(every, np.diff(offsets)))
        codes.append(own)
        status.append(np.full(len(own), what))
    all_owners, all_codes = np.concatenate(owner), np.concatenate(codes)
    # Given items come first, and of equal codes the first is kept.
    order = np.lexsort((all_codes, all_owners))
    all_owners, all_codes = all_owners[order], all_codes[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(all_owners) != 0) | (np.diff(all_codes) != 0)
    kept = order[is_new]
    ends = np.searchsorted(all_owners[is_new], np.arange(n + 1))
    return ends, all_codes[is_new].astype(np.int32), np.concatenate(status)[kept].astype(np.int8)


class TiltedMixture(Immutable):
    """A mixture that also knows the probabilities of a few itemsets: an immutable value.

    Among the distributions that give these sets their probabilities it is the one nearest to the mixture, by
    the Kullback-Leibler divergence (an I-projection; Csiszar 1975). Of a mixture with one component, which
    is independence, that is the distribution of maximum entropy. It has the form

        p(x) = q(x) exp(sum_j theta_j [S_j in x]) / Z.

    The thetas minimise log Z - sum_j theta_j p(S_j), which is convex. Sets that share items, or hang together
    by others, are a group. Within a component groups are independent, so Z is a sum over components of
    products over groups. The factor of a group is computed exactly (`_mean_tilt`).

    Parameters
    ----------
    mixture : Mixture
        The mixture.
    sets : Sets
        The itemsets. Their items should be among them as sets of their own, or become more or less probable.
    probabilities : array of float, shape (n_sets,)
        Their probabilities, above 0 and below 1.
    start : TiltedMixture, optional
        One that knows the first of these sets, from which the thetas are found more quickly.

    Attributes
    ----------
    tilts : array of float, shape (n_sets,)
        The theta of each set.
    log_total : float
        The logarithm of Z.
    """

    def __init__(
        self, mixture: Mixture, sets: Sets, probabilities: Floats, start: TiltedMixture | None = None
    ) -> None:
        self._mixture = mixture
        self._sets = [frozenset(sets.codes[i:j].tolist()) for i, j in pairwise(sets.offsets)]
        self._by_item = {i: mixture.probs[:, i] for i in frozenset().union(*self._sets)}
        self._groups = _hanging_together(self._sets)
        self.tilts = protected(self._fitted(probabilities, start))
        self._factors = [protected(self._factor(group, self.tilts)[0]) for group in self._groups]
        joint = mixture.weights * np.prod([np.ones(mixture.n_components), *self._factors], axis=0)
        self.log_total = float(np.log(joint.sum()))
        self._weights = protected(joint / joint.sum())

    def tilt_of(self) -> dict[frozenset[int], float]:
        """Return the theta of each set of item codes."""
        return dict(zip(self._sets, self.tilts.tolist(), strict=True))

    def gain(self, support: Floats) -> float:
        """Return by how much the mean log-likelihood of transactions is above that of the mixture.

        Parameters
        ----------
        support : array of float, shape (n_sets,)
            How frequent each of the sets is in them.
        """
        return float(self.tilts @ support - self.log_total)

    def probabilities_of_sets(self, sets: Sets) -> Floats:
        """Return the probabilities of itemsets, shape (n,)."""
        number: dict[frozenset[int], int] = {}
        rows = (sets.codes[i:j].tolist() for i, j in pairwise(sets.offsets))
        keys = (frozenset(self._by_item.keys() & row) for row in rows)
        pattern = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
        weights = np.array([self._weights * self._share(key) for key in number])
        probs = self._mixture.probs.T
        found = np.empty(len(sets))
        for length in np.unique(sets.lengths):
            own = np.flatnonzero(sets.lengths == length)
            for some in np.array_split(own, -(-len(own) * len(self._weights) // _NUMBERS_AT_ONCE)):
                still_wanted()
                products = weights[pattern[some]]
                for place in range(length):
                    products *= probs[sets.codes[sets.offsets[some] + place]]
                found[some] = products.sum(axis=1)
        bounded: Floats = np.minimum(found, 1.0)
        return bounded

    def _share(self, present: frozenset[int]) -> Floats:
        """Return by how much each component's probability of some items is changed, shape (K,)."""
        share = np.ones(self._mixture.n_components)
        for group, factor in zip(self._groups, self._factors, strict=True):
            if any(present & self._sets[j] for j in group):
                terms = tuple((self._sets[j] - present, float(self.tilts[j]), 0) for j in group)
                share *= _mean_tilt(terms, self._by_item, np.ones((1, len(share))), {})[0] / factor
        return share

    def _factor(self, group: list[int], tilts: Floats) -> Floats:
        """Return the mean tilt of a group in each component, and its derivatives, shape (1 + n, K)."""
        ones = np.zeros((len(group) + 1, self._mixture.n_components))
        ones[0] = 1.0
        terms = tuple((self._sets[j], float(tilts[j]), row) for row, j in enumerate(group, start=1))
        return _mean_tilt(terms, self._by_item, ones, {})

    def _fitted(self, wanted: Floats, start: TiltedMixture | None) -> Floats:
        """Return the thetas: the minimum of the convex dual, by a quasi-Newton method."""
        from scipy.optimize import minimize

        known = {} if start is None else start.tilt_of()
        first = np.array([known.get(own, 0.0) for own in self._sets])
        # Steps are of about the same size in units of each set's standard deviation.
        scale = np.sqrt(wanted * (1 - wanted))

        def dual(scaled: Floats) -> tuple[float, Floats]:
            still_wanted()
            tilts = scaled / scale
            factors = [self._factor(group, tilts) for group in self._groups]
            joint = self._mixture.weights * np.prod([ones, *(factor[0] for factor in factors)], axis=0)
            total = joint.sum()
            expected = np.empty_like(tilts)
            for group, factor in zip(self._groups, factors, strict=True):
                expected[group] = factor[1:] @ (joint / factor[0]) / total
            return float(np.log(total) - tilts @ wanted), (expected - wanted) / scale

        ones = np.ones(self._mixture.n_components)
        options: Any = {"maxiter": _MOST_STEPS, "maxcor": 30, "ftol": 0.0, "gtol": _CLOSE_ENOUGH}
        bounds = [(-_LARGEST_TILT * unit, _LARGEST_TILT * unit) for unit in scale]
        found = minimize(dual, first * scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        tilts: Floats = found.x / scale
        return tilts


_Term: TypeAlias = tuple[frozenset[int], float, int]


def _hanging_together(sets: list[frozenset[int]]) -> list[list[int]]:
    """Return the positions of sets that share items, or hang together by others."""
    groups: list[tuple[frozenset[int], list[int]]] = []
    for j, own in enumerate(sets):
        touched = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        items = own.union(*(group[0] for group in touched))
        groups.append((items, sorted([j, *(k for group in touched for k in group[1])])))
    return [members for _, members in groups]


def _mean_tilt(
    terms: tuple[_Term, ...],
    probs: dict[int, Floats],
    ones: Floats,
    known: dict[tuple[_Term, ...], Floats],
) -> Floats:
    """Return the mean over x of the product of exp(theta [S in x]) over sets, in each component.

    A term is a set, its theta, and the row of the derivative by it; row 0 is the mean itself. `ones` is what
    the mean is without terms. Items are independent, so sets without common items are separate factors.
    Otherwise the item that most sets share is present, and drops out of them, or absent, and they drop out.
    """
    if not terms:
        return ones
    if terms in known:
        return known[terms]
    if len(terms) == 1:
        items, tilt, row = terms[0]
        found = ones.copy()
        chance = np.prod([ones[0], *(probs[i] for i in items)], axis=0)
        found[0] += np.expm1(tilt) * chance
        if row:
            found[row] = np.exp(tilt) * chance
    else:
        groups = _hanging_together([items for items, _, _ in terms])
        if len(groups) > 1:
            parts = [_mean_tilt(tuple(terms[j] for j in group), probs, ones, known) for group in groups]
            found = parts[0]
            for part in parts[1:]:
                found = found * part[0] + part * found[0]
                found[0] /= 2  # both products have it
        else:
            if len(known) > _MOST_PARTS:
                raise InvalidInputError(
                    f"expected sets that can be taken apart, got {len(terms)} that share many items; "
                    "try a smaller n"
                )
            often = Counter(i for items, _, _ in terms for i in items)
            item = max(often, key=lambda i: (often[i], -i))
            there = tuple((items - {item}, tilt, row) for items, tilt, row in terms)
            away = tuple(term for term in terms if item not in term[0])
            found = probs[item] * _mean_tilt(there, probs, ones, known)
            found += (1 - probs[item]) * _mean_tilt(away, probs, ones, known)
    known[terms] = found
    return found
