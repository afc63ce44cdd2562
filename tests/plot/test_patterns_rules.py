"""Pictures of rules and evaluations show their measures."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

import itemix
from itemix import plot
from itemix.plot.canvas import LIGHT, _round_shares, apart, short_sets


def dots_of(ax):
    """Return the groups of dots that a scatter has, without the numbered badges."""
    return [dots for dots in ax.collections if not dots.get_label().startswith("_")]


def test_rules_by_support_confidence_and_lift(scene, ax):
    """Every rule is a dot at its support and confidence, and a darker one has a higher lift."""
    plot.rules_scatter(scene.rules, ax=ax)
    groups = dots_of(ax)
    places = np.concatenate([group.get_offsets() for group in groups])
    expected = np.column_stack([scene.rules.support, scene.rules.confidence])
    assert sorted(places.tolist()) == sorted(expected.tolist())
    lift_of = {tuple(place): lift for place, lift in zip(expected.tolist(), scene.rules.lift, strict=True)}
    ranges = [
        (min(lifts), max(lifts))
        for group in groups
        if (lifts := [lift_of[tuple(place)] for place in group.get_offsets().tolist()])
    ]
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    shades = [to_hex(group.get_facecolor()[0]) for group in groups]
    assert [LIGHT.steps.index(shade) for shade in shades] == sorted(
        LIGHT.steps.index(shade) for shade in shades
    )


def test_the_best_rules_are_named(scene, ax):
    """The first is the one of the highest lift, and all named ones lie apart."""
    plot.rules_scatter(scene.rules, n_named=3, ax=ax)
    best = scene.rules.top(1)[0]
    key = ax.texts[-1].get_text().split("\n")
    assert len(key) == 3
    assert key[0] == f"1  {{{', '.join(best.antecedents)}}} → {{{', '.join(best.consequents)}}}"
    badges = [dots for dots in ax.collections if dots.get_label().startswith("_")]
    assert badges[0].get_offsets().tolist() == [[best.support, best.confidence]]


def test_many_rules_are_thinned_and_it_is_said(ax):
    """Of more than two thousand rules, those of the highest lift are drawn, and the title says so."""
    rng = np.random.default_rng(0)
    found = itemix.rules(itemix.mine(rng.random((60, 11)) < 0.8, 0.3), min_threshold=0.0)
    assert len(found) > 2000
    plot.rules_scatter(found, ax=ax)
    assert sum(len(group.get_offsets()) for group in dots_of(ax)) == 2000
    assert ax.get_title(loc="left") == f"The 2,000 rules of highest lift, of {len(found):,}"


def test_rules_of_one_lift(ax):
    """One rule has no range of lift or support."""
    found = itemix.rules(itemix.mine([["a", "b"], ["a", "b"], ["a"]], 0.5), min_threshold=0.9)
    plot.rules_scatter(found, ax=ax)
    ax.figure.canvas.draw()
    assert [group.get_label() for group in dots_of(ax)] == ["any lift"]


@pytest.mark.parametrize("criterion", ["mean_relative_error", "mean_relative_bias", "recall"])
def test_evaluation_by_length(scene, ax, criterion):
    """The model's line and the floor's have the figures of each length."""
    plot.evaluation_by_length(scene.evaluation, criterion, ax=ax)
    floor, model = (line.get_data() for line in ax.get_lines()[:2])
    for (lengths, values), source in ((floor, scene.evaluation.floor), (model, scene.evaluation)):
        known = {
            n: getattr(own, criterion) for n, own in source.lengths if getattr(own, criterion) is not None
        }
        assert dict(zip(lengths.tolist(), values.tolist(), strict=True)) == known


def test_evaluation_without_a_floor(scene, ax):
    """Only the model's line is drawn."""
    import dataclasses

    plot.evaluation_by_length(dataclasses.replace(scene.evaluation, floor=None), ax=ax)
    assert len(ax.get_lines()) == 1
    assert [text.get_text().split()[0] for text in ax.texts] == ["model"]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.005, 0.3), [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]),
        ((0.37, 1.0), [0.4, 0.6, 0.8, 1.0]),
        ((0.91, 0.95), [0.91, 0.92, 0.93, 0.94, 0.95]),
        ((0.31, 0.31), [0.31]),
    ],
)
def test_round_percentages(ends, expected):
    """Whatever the range, a few round numbers lie in it."""
    assert _round_shares(*ends) == pytest.approx(expected)


def test_places_move_apart():
    """Labels that would overlap are moved up, in their order."""
    assert apart([1.0, 1.1, 5.0], 0.5, 0.0) == [1.0, 1.5, 5.0]
    assert apart([2.0, 1.0], 0.5, 1.2) == [2.0, 1.2]


def test_sets_keep_all_items_as_long_as_they_can():
    """Long names are cut before any is left out."""
    assert short_sets([["whole milk", "other vegetables"]], 40) == ["{whole milk, other vegetables}"]
    (cut,) = short_sets([["whole milk", "other vegetables"]], 24)
    assert cut.startswith("{whole milk, oth")
    assert len(cut) <= 24
    assert short_sets([[f"a long name {n}" for n in range(9)]], 30)[0].endswith("+7}")
