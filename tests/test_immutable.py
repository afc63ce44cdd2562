"""Values keep what they were made of: nobody else can change their arrays, also of pickles and copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from naive.models import OnlyProbabilities

from itemix import Transactions
from itemix._arrays import Immutable
from itemix.core.items import Items
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets
from itemix.estimators import DirichletProcessMixture
from itemix.mining.mine import mine
from itemix.mining.rules import rules
from itemix.models.counts import Counts
from itemix.models.mixture import Mixture
from itemix.models.posterior import Posterior
from itemix.models.trees import TreeMixture

LISTS = [["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"]] * 5


def arrays_in(value):
    """Find all arrays that a value holds, by what its parts hold."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return [array for part in value.values() for array in arrays_in(part)]
    if isinstance(value, tuple | list):
        return [array for part in value for array in arrays_in(part)]
    if not type(value).__module__.startswith("itemix"):
        return []
    slots = {name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())}
    names = (slots | set(getattr(value, "__dict__", {}))) - {"_index"}  # a hash table that nobody sees
    return [array for name in names for array in arrays_in(getattr(value, name, None))]


def values():
    """Return one value of each kind, by name."""
    model = DirichletProcessMixture(3, random_state=0, correction=2).fit(LISTS)
    found = mine(Transactions.from_lists(LISTS), 0.1)
    found_rules = rules(found, metric="confidence", min_threshold=0.1)
    return {
        "Transactions": Transactions.from_lists(LISTS),
        "Items": found.items,
        "Itemsets": found,
        "Itemsets with intervals": model.with_intervals(mine(model, 0.1)),
        "Rules": found_rules,
        "Recommendations": found_rules.recommend(LISTS),
        "Counts": Counts([2.0, 1.0], [[1.0], [0.5]]),
        "Mixture": model.mixture_,
        "Posterior": model.posterior_,
        "CorrectedMixture": model.corrected_,
    }


@pytest.mark.parametrize("name", list(values()))
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301 - our own bytes
def test_copies_are_as_immutable_as_the_value(name, way):
    """A pickled or copied value is equal, and each array in it refuses to be written to."""
    value = values()[name]
    again = way(value)
    assert again == value or name == "Recommendations"
    assert arrays_in(again)
    assert not any(array.flags.writeable for array in arrays_in(again))


class Pair(Immutable):
    """A value with what values have: arrays in a tuple and in a dictionary, and in a slot of its own."""

    __slots__ = ("parts", "whole")


def test_arrays_inside_tuples_and_dictionaries():
    """They are protected, wherever they are."""
    value = Pair()
    value.parts = {"one": np.arange(2), "more": (np.arange(3), None)}
    value.whole = np.arange(4)
    again = copy.deepcopy(value)
    arrays = [again.whole, again.parts["one"], again.parts["more"][0]]
    assert [array.flags.writeable for array in arrays] == [False, False, False]


def lent(kind, numbers):
    """Return an array that can be written to, and the same memory as someone may hand it in."""
    own = np.array(numbers)
    shown = own.view()
    shown.setflags(write=False)
    ways = {"itself": own, "a read-only view": shown, "a part": own[: len(own)], "a buffer": memoryview(own)}
    return own, ways[kind]


@pytest.mark.parametrize("kind", ["itself", "a read-only view", "a part", "a buffer"])
def test_values_do_not_follow_what_they_were_made_of(kind):
    """The caller's later changes stay the caller's."""
    probs, given = lent(kind, [[0.5, 0.25]])
    mixture = Mixture([1.0], given, ["a", "b"])
    counts = Counts([1.0], given)
    posterior = Posterior([1.0], [0.0], given, given, ["a", "b"])
    codes, given_codes = lent(kind, np.array([0, 1], dtype=np.int32))
    support, given_support = lent(kind, [0.5])
    offsets, given_offsets = lent(kind, [0, 2])
    sets = Sets(given_offsets, given_codes, Items(["a", "b"]))
    itemsets = Itemsets(given_offsets, given_codes, given_support, ["a", "b"])
    transactions = Transactions(given_offsets, given_codes, ["a", "b"])
    probs[:], codes[:], support[:], offsets[:] = 0.125, 0, 0.25, 0
    assert mixture.probs.tolist() == counts.item_counts.tolist() == posterior.eta.tolist() == [[0.5, 0.25]]
    assert sets.codes.tolist() == itemsets.codes.tolist() == transactions.indices.tolist() == [0, 1]
    assert sets.offsets.tolist() == transactions.indptr.tolist() == [0, 2]
    assert itemsets.support.tolist() == [0.5]


def test_series_and_matrices_are_copied():
    """Also where NumPy hands out the memory of another kind of array."""
    numbers = np.array([1.0, 2.0])
    counts = Counts(pd.Series(numbers, copy=False), [[1.0], [2.0]])
    table = np.array([[0.5, 0.25]])
    mixture = Mixture([1.0], table.view(np.matrix), ["a", "b"])
    numbers[:], table[:] = 9.0, 0.0
    assert counts.sizes.tolist() == [1.0, 2.0]
    assert mixture.probs.tolist() == [[0.5, 0.25]]
    assert type(mixture.probs) is np.ndarray


def test_read_only_arrays_are_shared():
    """What nobody can write to is not copied: parts of values can be parts of others."""
    mixture = Mixture([1.0], [[0.5, 0.25]], ["a", "b"])
    assert Mixture(mixture.weights, mixture.probs, mixture.items).probs is mixture.probs


def test_answers_are_not_the_models_own_arrays():
    """What a model remembers cannot be changed by those who asked for it."""
    mixture = Mixture([1.0], [[0.5, 0.25]], ["a", "b"])
    tree = TreeMixture([1.0], [[-1, 0]], [[[0.5, 0.5], [0.1, 0.8]]], ["a", "b"])
    for model in (mixture, tree, OnlyProbabilities(mixture), values()["CorrectedMixture"]):
        with pytest.raises(ValueError, match="read-only"):
            model.item_probabilities[0] = 0.9
