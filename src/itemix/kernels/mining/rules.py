"""Association rules: their measures, the split of itemsets into rules, and the best rules for baskets.

Measures of a rule A -> C are computed from the supports of A and C, of A, and of C (float64 each). The
formulas and their order of operations are those of mlxtend's columns, so that values are equal to the last
bit. `n` is the number of transactions, NaN if it is not known. A measure is NaN if it needs something that is
not known.

Every set S is split into an antecedent A and a consequent C (the rest of S) by a depth-first search that
grows C item by item. Each step updates the hashes of A and C by one exclusive or, so that their supports are
found by one look into the hash table of the known sets (see `lattice`). Confidence only falls as C grows, so
a branch ends as soon as it is too low for the threshold. The search can be left at any split and taken up
again: it stops when `RuleBuffer` is full or its budget of splits is spent, and keeps its position in `place`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel, linear
from itemix.kernels.lattice import lookup

NAMES = (
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
    "cosine",
    "odds_ratio",
    "imbalance_ratio",
    "phi",
    "mutual_information",
    "difference_of_confidence",
    "chi_squared",
    "p_value",
)
"""The names of the measures; kernels know them by their places."""

(
    ANTECEDENT_SUPPORT,
    CONSEQUENT_SUPPORT,
    SUPPORT,
    CONFIDENCE,
    LIFT,
    REPRESENTATIVITY,
    LEVERAGE,
    CONVICTION,
    ZHANG,
    JACCARD,
    CERTAINTY,
    KULCZYNSKI,
    COSINE,
    ODDS_RATIO,
    IMBALANCE_RATIO,
    PHI,
    MUTUAL_INFORMATION,
    DIFFERENCE_OF_CONFIDENCE,
    CHI_SQUARED,
    P_VALUE,
) = range(len(NAMES))

# A share of the transactions below this is zero: it is what rounding leaves of a subtraction.
_NONE = 1e-12


@inlined
def chi_squared(both: float, a: float, c: float, n: float) -> float:
    """Return Pearson's statistic of the 2 x 2 table of A and C; 0 if A or C holds always or never."""
    spread = a * (1.0 - a) * c * (1.0 - c)
    if spread <= 0.0:
        return 0.0 * n
    return n * (both - a * c) ** 2 / spread


@inlined
def odds_ratio(both: float, a: float, c: float) -> float:
    """Return the odds of C where A is, divided by those where A is not; 1 if A or C holds always."""
    if a >= 1.0 or c >= 1.0:
        return 1.0
    neither = 1.0 - a - c + both
    agreeing = both * neither if neither > _NONE else 0.0 * neither
    differing = (a - both) * (c - both)
    if differing > 0.0:
        return agreeing / differing
    return np.inf if agreeing > 0.0 else agreeing


@inlined
def _bits(cell: float, row: float, column: float) -> float:
    return cell * math.log2(cell / (row * column)) if cell > _NONE else 0.0 * cell


@inlined
def mutual_information(both: float, a: float, c: float) -> float:
    """Return how many bits knowing about A tells about C, on average over all transactions."""
    known = _bits(both, a, c) + _bits(a - both, a, 1.0 - c) + _bits(c - both, 1.0 - a, c)
    known += _bits(1.0 - a - c + both, 1.0 - a, 1.0 - c)
    return known if known > 0.0 else 0.0 * known


@inlined
def measure(code: int, both: float, a: float, c: float, n: float) -> float:
    """Compute one measure of one rule."""
    if code == SUPPORT:
        return both
    if code == ANTECEDENT_SUPPORT:
        return a
    if code == CONSEQUENT_SUPPORT:
        return c
    if code == REPRESENTATIVITY:
        return 1.0 if a == a else a  # noqa: PLR0124 - NaN
    if code == LEVERAGE:
        return both - a * c
    if code == ZHANG:
        positive = both * (1.0 - a)
        negative = a * (c - both)
        larger = positive if positive > negative else negative
        return 0.0 if larger == 0.0 else (both - a * c) / larger
    if code == JACCARD:
        return both / (a + c - both)
    if code == COSINE:
        return both / math.sqrt(a * c)
    if code == ODDS_RATIO:
        return odds_ratio(both, a, c)
    if code == IMBALANCE_RATIO:
        return abs(a - c) / (a + c - both)
    if code == PHI:
        spread = a * (1.0 - a) * c * (1.0 - c)
        return 0.0 if spread <= 0.0 else (both - a * c) / math.sqrt(spread)
    if code == MUTUAL_INFORMATION:
        return mutual_information(both, a, c)
    if code == DIFFERENCE_OF_CONFIDENCE:
        return 0.0 if a >= 1.0 else both / a - (c - both) / (1.0 - a)
    if code == CHI_SQUARED:
        return chi_squared(both, a, c, n)
    if code == P_VALUE:
        return math.erfc(math.sqrt(chi_squared(both, a, c, n) / 2.0))
    confidence = both / a
    if code == LIFT:
        return confidence / c
    if code == CONVICTION:
        return np.inf if confidence >= 1.0 else (1.0 - c) / (1.0 - confidence)
    if code == CERTAINTY:
        return 0.0 if c == 1.0 else (confidence - c) / (1.0 - c)
    if code == KULCZYNSKI:
        return (confidence + both / c) / 2.0
    return confidence


@inlined
def least_confidence(code: int, threshold: float, both: float) -> float:
    """Bound from below the confidence of every rule of one itemset whose measure reaches the threshold.

    Confidence falls as the consequent grows, so a split below the bound ends a branch of the search. The
    bounds follow from support(A and C) <= support(C) <= 1. It is 0 if there is no bound.
    """
    bound = 0.0
    if code == CONFIDENCE:
        bound = threshold
    elif code == LIFT:
        bound = threshold * both
    elif code == CONVICTION and threshold > 0.0:
        bound = 1.0 - (1.0 - both) / threshold
    elif code == CERTAINTY and threshold > 0.0:
        bound = threshold + (1.0 - threshold) * both
    elif code == JACCARD:
        bound = threshold
    elif code == KULCZYNSKI:
        bound = 2.0 * threshold - 1.0
    elif code == LEVERAGE:
        bound = both * both / (both - threshold) if threshold < both else np.inf
    elif code == COSINE and threshold > 0.0:
        bound = threshold * threshold
    elif code == PHI and threshold > 0.0:
        bound = both + threshold * threshold * (1.0 - both)
    elif code == DIFFERENCE_OF_CONFIDENCE:
        bound = threshold
    return bound * (1.0 - 1e-9)


@linear
def measure_all(code: int, both: np.ndarray, a: np.ndarray, c: np.ndarray, n: float) -> np.ndarray:
    """Compute one measure of many rules.

    Equivalent to [measure(code, *supports, n) for supports in zip(both, a, c)].
    """
    values = np.empty(len(both), dtype=np.float64)
    for r in range(len(both)):
        values[r] = measure(code, both[r], a[r], c[r], n)
    return values


@inlined
def upper_tail(least: int, draws: int, hits: int, total: int) -> float:
    """Return the probability that `least` or more of `draws` are hits, where `hits` of `total` are.

    The hypergeometric distribution is summed from `least` on, away from its mean, as long as terms matter.
    """
    most = min(draws, hits)
    if least <= max(0, draws + hits - total):
        return 1.0
    if least > most:
        return 0.0
    is_upper = least * total > draws * hits
    j = least if is_upper else least - 1
    term = math.exp(
        math.lgamma(draws + 1.0)
        - math.lgamma(j + 1.0)
        - math.lgamma(draws - j + 1.0)
        + math.lgamma(total - draws + 1.0)
        - math.lgamma(hits - j + 1.0)
        - math.lgamma(total - draws - hits + j + 1.0)
        - math.lgamma(total + 1.0)
        + math.lgamma(hits + 1.0)
        + math.lgamma(total - hits + 1.0)
    )
    tail = 0.0
    while term > 1e-17 * tail:
        tail += term
        if is_upper:
            term *= (draws - j) * (hits - j) / ((j + 1.0) * (total - draws - hits + j + 1.0))
            j += 1
        else:
            term *= j * (total - draws - hits + j) / ((draws - j + 1.0) * (hits - j + 1.0))
            j -= 1
    return min(1.0, tail) if is_upper else max(0.0, 1.0 - tail)


@kernel
def upper_tails(least: np.ndarray, draws: np.ndarray, hits: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return Fisher's exact p-values, one-sided; all are (n,) int64.

    Equivalent to scipy.stats.hypergeom.sf(least - 1, total, hits, draws).
    """
    tails = np.empty(len(least), dtype=np.float64)
    for t in range(len(least)):
        tails[t] = upper_tail(least[t], draws[t], hits[t], total[t])
    return tails


ANTECEDENT = 1
CONSEQUENT = 2

# The position of a search: the set, how many items were moved to the consequent, one more than the item to
# try next (0 if the set has not been started), and which of the items that are free to move were moved.
PLACE_SET = 0
PLACE_DEPTH = 1
PLACE_NEXT = 2
PLACE_STACK = 3


class KnownSupports(NamedTuple):
    """The sets whose support is known, with their hash table; `support` (n,) float64."""

    table: np.ndarray
    offsets: np.ndarray
    codes: np.ndarray
    keys: np.ndarray
    support: np.ndarray


class Wanted(NamedTuple):
    """Which rules are wanted.

    `sides` (n_items,) int8 says where an item may stand: ANTECEDENT, CONSEQUENT, their sum, or 0 for nowhere.
    """

    sides: np.ndarray
    min_antecedent: int
    max_antecedent: int
    min_consequent: int
    max_consequent: int
    measure: int
    threshold: float
    n_transactions: float
    support_only: bool
    redundant: bool


class Places(NamedTuple):
    """Where the items of the set that is split stand; both are (n_items,) int8 and 0 for all others.

    `side` is ANTECEDENT or CONSEQUENT; `held` is 1, but 0 while the set is looked at without an item.
    `members` has room for the items of an antecedent.
    """

    side: np.ndarray
    held: np.ndarray
    members: np.ndarray


class SplitSet(NamedTuple):
    """The set that is split: codes[start:end] of all sets.

    number: its position among them; support: its own; least: the confidence that its rules need.
    """

    number: int
    start: int
    end: int
    support: float
    least: float


class Split(NamedTuple):
    """A split of a set: the hashes of both sides, and the lengths of the consequent and the antecedent."""

    hash_a: np.uint64
    hash_c: np.uint64
    n_c: int
    n_a: int


class RuleBuffer(NamedTuple):
    """Room for rules: their sets one after the other, the length of each, and the position of the itemset.

    `missing` has room for sets whose support is not known, `missing_lengths` for their lengths; `sizes` (6,)
    int64 says how many rules, antecedent codes, consequent codes, missing sets and missing codes there are,
    and how many rules reached the threshold, redundant ones too.
    """

    itemset: np.ndarray
    antecedent_lengths: np.ndarray
    antecedents: np.ndarray
    consequent_lengths: np.ndarray
    consequents: np.ndarray
    antecedent_support: np.ndarray
    consequent_support: np.ndarray
    missing_lengths: np.ndarray
    missing: np.ndarray
    sizes: np.ndarray


def room_for(n_rules: int, longest: int) -> RuleBuffer:
    """Make room for at least n_rules rules, or missing sets, from sets of at most `longest` items."""
    n_codes = n_rules * max(longest, 1)
    lengths = [np.empty(n_rules, dtype=np.int64) for _ in range(4)]
    codes = [np.empty(n_codes, dtype=np.int32) for _ in range(3)]
    supports = [np.empty(n_rules, dtype=np.float64) for _ in range(2)]
    return RuleBuffer(
        itemset=lengths[0],
        antecedent_lengths=lengths[1],
        antecedents=codes[0],
        consequent_lengths=lengths[2],
        consequents=codes[1],
        antecedent_support=supports[0],
        consequent_support=supports[1],
        missing_lengths=lengths[3],
        missing=codes[2],
        sizes=np.zeros(6, dtype=np.int64),
    )


@inlined
def _append_side(
    codes: np.ndarray, start: int, end: int, side: np.ndarray, wanted: int, out: np.ndarray, position: int
) -> int:
    for j in range(start, end):
        if side[codes[j]] == wanted:
            out[position] = codes[j]
            position += 1
    return position


@inlined
def _note_missing(
    codes: np.ndarray, start: int, end: int, side: np.ndarray, wanted: int, found: RuleBuffer
) -> None:
    sizes = found.sizes
    before = sizes[4]
    sizes[4] = _append_side(codes, start, end, side, wanted, found.missing, before)
    found.missing_lengths[sizes[3]] = sizes[4] - before
    sizes[3] += 1


@inlined
def _confidence_of(
    known: KnownSupports,
    found: RuleBuffer,
    codes: np.ndarray,
    marks: Places,
    whole: SplitSet,
    split: Split,
) -> float:
    """Return the confidence of a rule whose sides are marked, NaN if a support is missing, which is noted."""
    table, offsets, known_codes, _, support = known
    _, start, end, _, _ = whole
    hash_a, hash_c, n_c, n_a = split.hash_a, split.hash_c, split.n_c, split.n_a
    at_a = lookup(table, offsets, known_codes, hash_a, n_a, marks.side, ANTECEDENT)
    at_both = lookup(table, offsets, known_codes, hash_a ^ hash_c, n_a + n_c, marks.held, 1)
    if at_a < 0 and found.sizes[3] < len(found.missing_lengths):
        _note_missing(codes, start, end, marks.side, ANTECEDENT, found)
    if at_both < 0 and found.sizes[3] < len(found.missing_lengths):
        _note_missing(codes, start, end, marks.held, 1, found)
    return support[at_both] / support[at_a] if at_a >= 0 and at_both >= 0 else np.nan


@inlined
def _turn(marks: Places, item: int) -> None:
    """Take an item out of the antecedent, or put it back."""
    marks.side[item] ^= ANTECEDENT
    marks.held[item] ^= 1


@inlined
def _is_better(
    known: KnownSupports,
    found: RuleBuffer,
    codes: np.ndarray,
    marks: Places,
    whole: SplitSet,
    split: Split,
    supports: tuple[float, float],
) -> bool:
    """Whether a rule has a higher confidence than all rules with a part of its antecedent; False if unknown.

    Parts without one item come first: mostly one of them rules it out. All others follow in the order of a
    Gray code, each with one item more or less than the one before.
    """
    side, _, members = marks
    keys = known.keys
    hash_a, hash_c, n_c, n_a = split.hash_a, split.hash_c, split.n_c, split.n_a
    a, c = supports
    needed = whole.support / a * (1.0 - _NONE)
    if c >= needed:
        return False
    if n_a == 1:
        return True
    m = 0
    for j in range(whole.start, whole.end):
        if side[codes[j]] == ANTECEDENT:
            members[m] = codes[j]
            m += 1
    is_better = True
    is_known = True
    for m in range(n_a):
        if is_better:
            i = members[m]
            _turn(marks, i)
            part = Split(hash_a ^ keys[i], hash_c, n_c, n_a - 1)
            confidence = _confidence_of(known, found, codes, marks, whole, part)
            _turn(marks, i)
            is_known &= confidence == confidence  # noqa: PLR0124 - NaN
            is_better = not confidence >= needed
    if is_better and n_a > 2:
        left = n_a
        for step in range(1, 1 << min(n_a, 62)):
            m = 0
            while not (step >> m) & 1:
                m += 1
            i = members[m]
            left += -1 if side[i] == ANTECEDENT else 1
            _turn(marks, i)
            hash_a ^= keys[i]
            if 0 < left < n_a - 1:
                part = Split(hash_a, hash_c, n_c, left)
                confidence = _confidence_of(known, found, codes, marks, whole, part)
                is_known &= confidence == confidence  # noqa: PLR0124 - NaN
                is_better = not confidence >= needed
                if not is_better or found.sizes[3] == len(found.missing_lengths):
                    break
        for m in range(n_a):
            if side[members[m]] != ANTECEDENT:
                _turn(marks, members[m])
    return is_better and is_known


@inlined
def _visit(
    known: KnownSupports,
    wanted: Wanted,
    found: RuleBuffer,
    codes: np.ndarray,
    marks: Places,
    whole: SplitSet,
    split: Split,
) -> bool:
    """Add the rule of one split if it is wanted; return whether larger consequents can still give one."""
    s, start, end, both, least = whole
    side = marks.side
    hash_a, hash_c, n_c, n_a = split
    a = np.nan
    c = np.nan
    if not wanted.support_only:
        at = lookup(known.table, known.offsets, known.codes, hash_a, n_a, side, ANTECEDENT)
        if at < 0:
            _note_missing(codes, start, end, side, ANTECEDENT, found)
            return False
        a = known.support[at]
        if both / a < least:
            return False
    if n_c < wanted.min_consequent or n_a > wanted.max_antecedent or n_a < wanted.min_antecedent:
        return True
    if not wanted.support_only:
        at = lookup(known.table, known.offsets, known.codes, hash_c, n_c, side, CONSEQUENT)
        if at < 0:
            _note_missing(codes, start, end, side, CONSEQUENT, found)
            return True
        c = known.support[at]
    if measure(wanted.measure, both, a, c, wanted.n_transactions) >= wanted.threshold:
        sizes = found.sizes
        sizes[5] += 1
        if not wanted.redundant and not _is_better(known, found, codes, marks, whole, split, (a, c)):
            return True
        r = sizes[0]
        found.itemset[r] = s
        sizes[1] = _append_side(codes, start, end, side, ANTECEDENT, found.antecedents, sizes[1])
        sizes[2] = _append_side(codes, start, end, side, CONSEQUENT, found.consequents, sizes[2])
        found.antecedent_lengths[r] = n_a
        found.consequent_lengths[r] = n_c
        found.antecedent_support[r] = a
        found.consequent_support[r] = c
        sizes[0] += 1
    return True


@linear
def split_sets(
    known: KnownSupports,
    wanted: Wanted,
    found: RuleBuffer,
    offsets: np.ndarray,
    codes: np.ndarray,
    support: np.ndarray,
    place: np.ndarray,
    budget: int,
) -> bool:
    """Append the wanted rules of the sets from `place` on to `found`; return whether all sets are done.

    If a support is not known, its set is appended to the missing ones and the branch is left.
    `place` (longest + 3,) int64 starts as zeros. Rules come in the order of the sets; within a set, the
    consequents come in lexicographic order of the positions of their items.

    Equivalent to looking at all 2^length - 2 splits of every set.
    """
    side = np.zeros(len(known.keys), dtype=np.int8)
    free = np.empty(len(place), dtype=np.int32)
    held = np.zeros(len(known.keys), dtype=np.int8)
    marks = Places(side, held, np.empty(len(place), dtype=np.int32))
    room = len(found.itemset)
    for s in range(place[PLACE_SET], len(offsets) - 1):
        start = offsets[s]
        end = offsets[s + 1]
        place[PLACE_SET] = s
        hash_a = np.uint64(0)
        hash_c = np.uint64(0)
        n_free = 0
        n_c = 0
        possible = end - start >= wanted.min_antecedent + wanted.min_consequent
        for j in range(start, end):
            i = codes[j]
            may_stand = wanted.sides[i]
            held[i] = 1
            possible &= may_stand != 0
            if may_stand == CONSEQUENT:
                side[i] = CONSEQUENT
                hash_c ^= known.keys[i]
                n_c += 1
            else:
                side[i] = ANTECEDENT
                hash_a ^= known.keys[i]
                if may_stand != ANTECEDENT:
                    free[n_free] = i
                    n_free += 1
        most_c = min(wanted.max_consequent, end - start - wanted.min_antecedent)
        depth = place[PLACE_DEPTH]
        following = max(place[PLACE_NEXT] - 1, 0)
        least = least_confidence(wanted.measure, wanted.threshold, support[s])
        whole = SplitSet(s, start, end, support[s], least)
        if possible and n_c <= most_c:
            if place[PLACE_NEXT] > 0:
                for d in range(depth):
                    i = free[place[PLACE_STACK + d]]
                    side[i] = CONSEQUENT
                    hash_a ^= known.keys[i]
                    hash_c ^= known.keys[i]
                    n_c += 1
            elif n_c > 0:
                if max(found.sizes[0], found.sizes[3]) >= room:
                    return False
                possible = _visit(
                    known, wanted, found, codes, marks, whole, Split(hash_a, hash_c, n_c, end - start - n_c)
                )
            while possible:
                if following < n_free and n_c < most_c:
                    budget -= 1
                    if budget < 0 or max(found.sizes[0], found.sizes[3]) >= room:
                        place[PLACE_DEPTH] = depth
                        place[PLACE_NEXT] = following + 1
                        return False
                    i = free[following]
                    side[i] = CONSEQUENT
                    hash_a ^= known.keys[i]
                    hash_c ^= known.keys[i]
                    n_c += 1
                    place[PLACE_STACK + depth] = following
                    depth += 1
                    following += 1
                    if _visit(
                        known,
                        wanted,
                        found,
                        codes,
                        marks,
                        whole,
                        Split(hash_a, hash_c, n_c, end - start - n_c),
                    ):
                        continue
                elif depth == 0:
                    break
                depth -= 1
                following = place[PLACE_STACK + depth] + 1
                i = free[place[PLACE_STACK + depth]]
                side[i] = ANTECEDENT
                hash_a ^= known.keys[i]
                hash_c ^= known.keys[i]
                n_c -= 1
        for j in range(start, end):
            side[codes[j]] = 0
            held[codes[j]] = 0
        place[PLACE_DEPTH] = 0
        place[PLACE_NEXT] = 0
    place[PLACE_SET] = len(offsets) - 1
    return True


class RankedRules(NamedTuple):
    """Rules, the best first: rule r is better than r + 1.

    Attributes
    ----------
    antecedent_offsets, antecedents, consequent_offsets, consequents : arrays
        The two sides: offsets (n_rules + 1,) int64 and codes int32.
    consequent_id : array of int64, shape (n_rules,)
        The same number for rules with the same consequents.
    starts, by_item : arrays of int64, shapes (n_items + 1,) and (n_rules,)
        The rules under the rarest item of their antecedents, see `rules_by_item`.
    """

    antecedent_offsets: np.ndarray
    antecedents: np.ndarray
    consequent_offsets: np.ndarray
    consequents: np.ndarray
    consequent_id: np.ndarray
    starts: np.ndarray
    by_item: np.ndarray


@kernel
def rules_by_item(
    offsets: np.ndarray, codes: np.ndarray, frequency: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """List every rule under the rarest item of its antecedents; `frequency` (n_items,) int64.

    Returns where each item's list starts (n_items + 1,), and the rules (n_rules,), ascending in each list.
    """
    n_rules = len(offsets) - 1
    rarest = np.empty(n_rules, dtype=np.int64)
    starts = np.zeros(len(frequency) + 1, dtype=np.int64)
    for r in range(n_rules):
        best = codes[offsets[r]]
        for j in range(offsets[r] + 1, offsets[r + 1]):
            if frequency[codes[j]] < frequency[best]:
                best = codes[j]
        rarest[r] = best
        starts[best + 1] += 1
    for i in range(len(frequency)):
        starts[i + 1] += starts[i]
    fill = starts[:-1].copy()
    rules = np.empty(n_rules, dtype=np.int64)
    for r in range(n_rules):
        rules[fill[rarest[r]]] = r
        fill[rarest[r]] += 1
    return starts, rules


@kernel
def best_rules(
    indptr: np.ndarray,
    indices: np.ndarray,
    taken_indptr: np.ndarray,
    taken: np.ndarray,
    rules: RankedRules,
    n: int,
) -> np.ndarray:
    """Find the n best rules with distinct consequents for each basket: (n_baskets, n) int64, filled with -1.

    Baskets are compressed rows (see `csr`), and so are the items that each one cannot take any more: its own,
    and other values of their columns. A rule applies if the basket holds all its antecedents and can take all
    of its consequents. The list of an item is left as soon as its rules are no better than the n found.

    Equivalent to going through all rules for each basket, best first.
    """
    antecedent_offsets, antecedents, consequent_offsets, consequents, consequent_id, starts, by_item = rules
    n_baskets = len(indptr) - 1
    best = np.full((n_baskets, n), -1, dtype=np.int64)
    basket_of = np.full(len(starts) - 1, -1, dtype=np.int64)
    taken_by = np.full(len(starts) - 1, -1, dtype=np.int64)
    for b in range(n_baskets):
        for j in range(indptr[b], indptr[b + 1]):
            basket_of[indices[j]] = b
        for j in range(taken_indptr[b], taken_indptr[b + 1]):
            taken_by[taken[j]] = b
        n_found = 0
        for j in range(indptr[b], indptr[b + 1]):
            i = indices[j]
            for k in range(starts[i], starts[i + 1]):
                r = by_item[k]
                if n_found == n and r > best[b, n - 1]:
                    break
                applies = True
                for a in range(antecedent_offsets[r], antecedent_offsets[r + 1]):
                    if basket_of[antecedents[a]] != b:
                        applies = False
                        break
                if not applies:
                    continue
                for c in range(consequent_offsets[r], consequent_offsets[r + 1]):
                    if taken_by[consequents[c]] == b:
                        applies = False
                        break
                if not applies:
                    continue
                # The rule replaces one with the same consequent if it is better, else the last of the list.
                last = 0
                while last < n_found and consequent_id[best[b, last]] != consequent_id[r]:
                    last += 1
                if last < n_found and best[b, last] < r:
                    continue
                if last == n_found:
                    if n_found < n:
                        n_found += 1
                    else:
                        last = n - 1
                while last > 0 and best[b, last - 1] > r:
                    best[b, last] = best[b, last - 1]
                    last -= 1
                best[b, last] = r
    return best
