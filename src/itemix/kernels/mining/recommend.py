"""Apply rules to baskets.

Baskets are compressed rows (see `csr`), the sides of the rules are sets (see `lattice`), best rule first: r
is better than r + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import kernel


class RankedRules(NamedTuple):
    """Rules, the best first.

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
def best_rules(indptr: np.ndarray, indices: np.ndarray, rules: RankedRules, n: int) -> np.ndarray:
    """Find the n best rules with distinct consequents for each basket: (n_baskets, n) int64, filled with -1.

    A rule applies if the basket holds all its antecedents and none of its consequents. The list of an item is
    left as soon as its rules are no better than the n found.

    Equivalent to going through all rules for each basket, best first.
    """
    antecedent_offsets, antecedents, consequent_offsets, consequents, consequent_id, starts, by_item = rules
    n_baskets = len(indptr) - 1
    best = np.full((n_baskets, n), -1, dtype=np.int64)
    basket_of = np.full(len(starts) - 1, -1, dtype=np.int64)
    for b in range(n_baskets):
        for j in range(indptr[b], indptr[b + 1]):
            basket_of[indices[j]] = b
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
                    if basket_of[consequents[c]] == b:
                        applies = False
                        break
                if not applies:
                    continue
                # The place of an equal consequent, or the end of the list, is what the better rules push out.
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
