"""Pictures of models show their weights, probabilities, dependencies and traces."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

import itemix
from itemix import plot
from itemix.mining import query
from itemix.plot.canvas import LIGHT
from itemix.plot.dependencies import along_a_line, around_a_circle

MIXTURE = itemix.Mixture(
    [0.3, 0.5, 0.2],
    [[0.9, 0.8, 0.1, 0.1], [0.1, 0.2, 0.95, 0.9], [0.1, 0.1, 0.1, 0.1]],
    ["bread", "milk", "beer", "crisps"],
)


def test_component_sizes(ax):
    """Bars are weights, the largest first, under the items that are typical, each with its probability."""
    plot.component_sizes(MIXTURE, ax=ax)
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.3, 0.2]
    written = [text.get_text() for text in ax.texts]
    assert written == [
        "beer 95%, crisps 90%", "50.0%", "bread 90%, milk 80%", "30.0%", "fewer items of all kinds", "20.0%",
    ]  # fmt: skip


def test_component_heatmap(ax):
    """Squares are as opaque as items are probable; those of ten per cent or more are written out."""
    plot.component_heatmap(MIXTURE, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["beer", "crisps", "bread", "milk"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1\n50%", "2\n30%", "3\n20%"]
    probs = MIXTURE.probs[[1, 0, 2]][:, [2, 3, 0, 1]].T
    assert np.allclose(ax.collections[0].get_facecolor()[:, 3], probs.ravel())
    assert [text.get_text() for text in ax.texts] == [f"{100 * p:.0f}" for p in probs.ravel()]


def test_components_that_are_alike(ax):
    """Where no item is characteristic, the most frequent ones are shown."""
    plot.component_heatmap(itemix.Mixture([0.5, 0.5], [[0.2, 0.6], [0.2, 0.6]], ["a", "b"]), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]


def test_components_of_samples(scene, ax):
    """The average of samples has the components of all of them; those that are the same are drawn as one."""
    plot.component_sizes(scene.sampled, 24, ax=ax)
    weights = scene.sampled.components_.weights
    assert len(weights) == scene.sampled.n_components < scene.sampled.mixture_.n_components
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(sorted(weights, reverse=True))


def test_dependency_matrix(ax):
    """A square is blue where a pair attracts, orange with a minus where it avoids each other."""
    plot.dependency_matrix(MIXTURE, ax=ax)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    columns = [label.get_text() for label in ax.get_xticklabels()]
    minus = {tuple(np.round(text.get_position())) for text in ax.texts}
    squares = ax.collections[0]
    for path, face in zip(squares.get_paths(), squares.get_facecolor(), strict=True):
        column, row = path.vertices[:4].mean(axis=0).round().astype(int)
        lift = query.lift(MIXTURE, [rows[row], columns[column]])
        assert to_hex(face[:3]) == (LIGHT.positive if lift > 1 else LIGHT.negative)
        assert ((column, row) in minus) == (lift < 2**-0.15)
    assert len(squares.get_paths()) == 6


def test_dependency_network(scene, ax):
    """A curve for each of the strongest pairs, the colour by its sign, the width by its strength."""
    plot.dependency_network(scene.model, 12, ax=ax)
    pairs = scene.model.dependencies(12)
    strongest = max(pair.information for pair in pairs)
    expected = sorted(
        (0.7 + 3.6 * pair.information / strongest, LIGHT.positive if pair.leverage > 0 else LIGHT.negative)
        for pair in pairs
    )
    drawn = sorted((patch.get_linewidth(), to_hex(patch.get_edgecolor())) for patch in ax.patches)
    assert [colour for _, colour in drawn] == [colour for _, colour in expected]
    assert [width for width, _ in drawn] == pytest.approx([width for width, _ in expected])
    names = {pair.item for pair in pairs} | {pair.other for pair in pairs}
    assert {text.get_text() for text in ax.texts} == names


@pytest.mark.parametrize("size", [(6.4, 5.4), (3.6, 3.9)])
@pytest.mark.parametrize("longest", range(4))
def test_names_around_a_network_are_clear_of_all_else(size, longest):
    """The longest name, wherever it stands, reaches neither the legend nor the edge; no side is empty."""
    names = ["beer", "milk", "chips", "cheese"]
    names[longest] = "whipped/sour cream"
    model = itemix.Mixture(MIXTURE.weights, MIXTURE.probs, names)
    with plt.style.context({"font.size": 9.0}):
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        plot.dependency_network(model, ax=ax)
        ax.set_title("", loc="left")
        figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    legend = ax.get_legend().get_window_extent()
    assert not any(box.overlaps(legend) for box in boxes)
    assert all(figure.bbox.contains(*corner) for box in boxes for corner in box.get_points())
    drawn = Bbox.union([*boxes, ax.collections[0].get_window_extent()])
    assert drawn.height > 0.6 * ax.get_window_extent().height


def test_neighbours_of_an_item(ax):
    """Only pairs with the item are drawn, also where it is avoided."""
    plot.dependency_network(MIXTURE, items="beer", ax=ax)
    assert len(ax.patches) == 3
    plot.dependency_network(MIXTURE, sign="negative", items="beer", ax=ax.figure.add_subplot())
    assert len(ax.figure.axes[-1].patches) == 2


def test_linked_things_sit_together():
    """Two rings of links that are mixed up come apart around the circle."""
    rng = np.random.default_rng(0)
    ring = np.column_stack([np.arange(6), (np.arange(6) + 1) % 6])
    ends = np.concatenate([ring, ring + 6])
    names = rng.permutation(12)
    seat = around_a_circle(names[ends], np.ones(12), 12)
    assert sorted(seat) == list(range(12))
    first = np.sort(seat[names[:6]])
    steps = np.diff(np.append(first, first[0] + 12))
    assert steps.max() == 7  # six neighbours, and then the others


def test_similar_things_stand_together():
    """Rows of the same block are neighbours; two or fewer stay as they are."""
    block = np.kron(np.eye(2), np.ones((3, 3)))
    order = np.array([0, 3, 1, 4, 2, 5])
    line = along_a_line(block[np.ix_(order, order)])
    assert np.ptp(np.flatnonzero(order[line] < 3)) == 2
    assert along_a_line(np.zeros((2, 2))).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["em", "variational"])
def test_trace_of_a_climb(scene, ax, method):
    """The line is the bound at every iteration; the title says which."""
    model = scene.model
    if method == "em":
        model = itemix.BernoulliMixture(n_components=2, random_state=0).fit(scene.data)
    plot.trace(model, ax=ax)
    (line,) = ax.get_lines()
    assert np.array_equal(line.get_ydata(), model.lower_bounds_)
    expected = "Log-likelihood a transaction" if method == "em" else "Evidence lower bound a transaction"
    assert ax.get_title(loc="left") == expected


@pytest.mark.parametrize("quantity", ["bound", "n_components", "alpha"])
def test_trace_of_chains(scene, ax, quantity):
    """A line for each chain, with the burn-in marked."""
    plot.trace(scene.sampled, quantity, ax=ax)
    chains = scene.sampled.chains_.chains
    for line, chain in zip(ax.get_lines(), chains, strict=True):
        expected = chain.log_joint / scene.sampled.counts_.n_transactions
        assert np.array_equal(line.get_ydata(), expected if quantity == "bound" else getattr(chain, quantity))
    n_burn = max(chain.n_burn for chain in chains)
    assert f"burn-in: {n_burn} iterations" in [text.get_text() for text in ax.texts]
