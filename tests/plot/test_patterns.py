"""Pictures of itemsets show the supports, counts and intervals that the itemsets have."""

import numpy as np
import pytest

import itemix
from itemix import plot
from itemix.core.items import Items
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets
from itemix.mining.surprise import SetsToTest
from itemix.mining.surprise import tested as surprises_of
from itemix.plot.patterns import exact_supports


def test_counts_by_threshold(scene, ax):
    """At every step a line has the number of itemsets of at least that support, and ends at all of them."""
    plot.support_distribution(scene.itemsets, ax=ax)
    lines = [line.get_data() for line in ax.get_lines()]
    lengths = np.unique(scene.itemsets.lengths)
    assert len(lines) == 1 + len(lengths)
    families = [scene.itemsets, *(scene.itemsets.filter(min_len=n, max_len=n) for n in lengths.tolist())]
    for (thresholds, counts), family in zip(lines, families, strict=True):
        expected = [(family.support >= threshold).sum() for threshold in thresholds]
        assert np.array_equal(counts, expected)
        assert counts[-1] == len(family)
    left, right = ax.get_xlim()
    assert left > right


def test_a_large_family_has_a_line_of_few_points(ax):
    """A hundred thousand supports are a few hundred steps."""
    rng = np.random.default_rng(0)
    n = 100_000
    support = rng.uniform(0.01, 0.9, n)
    itemsets = Itemsets(np.arange(n + 1), np.arange(n), support, [f"i{i}" for i in range(n)])
    plot.support_distribution(itemsets, ax=ax)
    (line,) = ax.get_lines()
    assert len(line.get_xdata()) < 500
    assert line.get_ydata()[-1] == n


def test_every_surprise_has_its_place(scene, ax):
    """Triangles are finds, upwards if they are more frequent than expected; rings are the others."""
    found = scene.surprises[:1500]
    plot.surprises(found, n_named=2, ax=ax)
    is_find = found.q_value <= 0.05
    assert 0 < is_find.sum() < len(found)
    drawn = {"rings": [], "up": [], "down": []}
    for dots in ax.collections:
        if len(dots.get_sizes()) and dots.get_sizes()[0] > 100:
            continue  # numbers
        corners = np.unique(dots.get_paths()[0].vertices, axis=0)
        kind = "rings" if len(corners) > 3 else "up" if (corners[:, 1] > 0).sum() == 1 else "down"
        drawn[kind].append(np.asarray(dots.get_offsets()))
    expected = np.column_stack([found.expected, found.support])
    for kind, chosen in {
        "rings": ~is_find,
        "up": is_find & (found.ratio > 1),
        "down": is_find & (found.ratio < 1),
    }.items():
        places = np.concatenate([np.empty((0, 2)), *drawn[kind]])
        assert np.allclose(sorted(places.tolist()), sorted(expected[chosen].tolist()))
    assert str(len(found)) in ax.get_title(loc="left").replace(",", "")


def test_of_very_many_sets_every_find_is_drawn(ax):
    """Rings are thinned out, triangles are not."""
    n = 5000
    mean = np.full(n, 0.01)
    counts = np.where(np.arange(n) < 40, 300, 100)
    sets = Sets.from_lengths(np.ones(n, np.int64), np.arange(n, dtype=np.int32), Items(range(n)))
    tests = SetsToTest(sets, counts, mean, np.full(n, 1e-6), n, np.empty(0))
    found = surprises_of(tests, 10_000, level=1.0, side="both", adjust="bh", facts={"is_divided": False})
    plot.surprises(found, ax=ax)
    sizes = [len(dots.get_offsets()) for dots in ax.collections]
    assert 40 in sizes
    assert sum(sizes) < 1200


def test_one_itemset_is_enough():
    """A single support has no range, and is drawn all the same."""
    one = itemix.mine([["a"], ["a"], []], 0.5)
    for draw in (plot.support_distribution, plot.length_distribution, plot.top_itemsets):
        draw(one).figure.canvas.draw()
    plot.support_agreement(one, [["a"], []]).figure.canvas.draw()


def test_counts_by_length(scene, ax):
    """A bar for each length, as high as there are itemsets, with its number."""
    plot.length_distribution(scene.itemsets, ax=ax)
    lengths, counts = np.unique(scene.itemsets.lengths, return_counts=True)
    assert [bar.get_height() for bar in ax.patches] == counts.tolist()
    assert [text.get_text() for text in ax.texts] == [f"{count:,}" for count in counts]
    assert ax.get_xticks().tolist() == lengths.tolist()


def test_top_itemsets_with_intervals_and_data(scene, ax):
    """Dots are supports, lines intervals, marks exact supports, from the highest down."""
    plot.top_itemsets(scene.itemsets, 7, min_len=2, data=scene.data, ax=ax)
    top = scene.itemsets.top(7, min_len=2)
    dots, marks = (line.get_data() for line in ax.get_lines())
    assert np.array_equal(dots[0], top.support)
    assert dots[1].tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert np.allclose(marks[0], [scene.data.support(names) for names in top.sets])
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    assert np.allclose(ends, np.column_stack([top.lower, top.upper]))
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "{" + ", ".join(names) + "}" for names in top.sets
    ]


def test_items_alone_have_no_braces(scene, ax):
    """Where all sets are single items, their names are enough."""
    plot.top_itemsets(scene.itemsets.filter(max_len=1), 3, ax=ax)
    names = [itemset.items[0] for itemset in scene.itemsets.top(3)]
    assert [label.get_text() for label in ax.get_yticklabels()] == names


def test_no_more_itemsets_than_can_be_read(scene, ax):
    """Forty rows are the most."""
    plot.top_itemsets(scene.itemsets, 1000, ax=ax)
    assert len(ax.get_yticks()) == 40


def test_exact_supports_are_matched_by_name(scene):
    """Data with other codes, more items and fewer items gives the supports by name."""
    data = itemix.Transactions.from_lists([["zzz", "salsa"], ["salsa", "tortillas"], ["zzz"], ["milk!"]])
    found = exact_supports(scene.itemsets, data)
    position = scene.itemsets.find(["salsa"])
    assert found[position] == pytest.approx(0.5)
    assert found[scene.itemsets.find(["whole milk"])] == 0


def test_agreement_counts_every_itemset(scene, ax):
    """Sets that share a cell give it a colour, those that are alone are dots; the line is the diagonal."""
    plot.support_agreement(scene.itemsets, scene.data, ax=ax)
    diagonal, alone = ax.get_lines()
    assert np.array_equal(*diagonal.get_data())
    assert ax.get_xlim() == ax.get_ylim()
    exact = exact_supports(scene.itemsets, scene.data)
    every = set(zip(exact.tolist(), scene.itemsets.support.tolist(), strict=True))
    assert set(zip(*(values.tolist() for values in alone.get_data()), strict=True)) <= every
    alpha = np.array(ax.collections[0].get_alpha())
    assert (alpha == 0).sum() == len(alone.get_xdata())
    assert 0.25 < alpha[alpha > 0].min() <= alpha.max() <= 1
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "1 itemset"
    assert 2 <= int(labels[-1]) <= len(scene.itemsets) - len(alone.get_xdata())
