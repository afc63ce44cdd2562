"""What all pictures promise: axes in and out, light and dark, plain text, and errors in one line."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

import itemix
from itemix import plot
from itemix.plot.canvas import DARK, LIGHT, NAME_WIDTH

HOSTILE = ["$\\nonsense{$", "50% off_now", "a\nb", "x" * 90, "<b>", "tab\there"]


def texts_of(ax):
    """Return all that is written on and around axes."""
    return [text for text in ax.findobj(Text) if text.get_text()]


def hostile_model():
    """Return a mixture of items whose names are markup elsewhere."""
    probs = [[0.9, 0.8, 0.7, 0.1, 0.2, 0.1], [0.1, 0.1, 0.2, 0.8, 0.9, 0.7]]
    return itemix.Mixture([0.6, 0.4], probs, HOSTILE)


def test_draws_on_the_axes_that_it_is_given(picture, ax):
    """The same axes come back, drawn on, and no other figure is made."""
    assert picture(ax) is ax
    assert ax.has_data()
    assert plt.get_fignums() == [ax.figure.number]
    ax.figure.canvas.draw()


def test_makes_axes_that_fit(picture):
    """Without axes a figure is made, with a title, in which everything that is written has room."""
    ax = picture()
    ax.figure.canvas.draw()
    assert ax.get_title(loc="left")
    drawn, whole = ax.get_tightbbox(), ax.figure.bbox
    assert drawn.x0 > -3
    assert drawn.y0 > -3
    assert drawn.x1 < whole.width + 3
    assert drawn.y1 < whole.height + 3


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_is_readable_on_light_and_dark(picture, style):
    """What is written stands out from what lies behind it, unless it is written on a square or a badge."""
    with plt.style.context(style):
        ax = picture()
        palette = DARK if style == "dark_background" else LIGHT
        readable = {palette.ink, palette.muted, palette.paper, palette.positive}
        assert {to_hex(text.get_color()) for text in texts_of(ax)} <= readable
        assert palette.ink in {to_hex(text.get_color()) for text in texts_of(ax)}


def test_two_pictures_share_a_figure(scene):
    """Axes of a grid are drawn on without touching their neighbours."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    plot.support_distribution(scene.itemsets, ax=left)
    plot.rules_scatter(scene.rules, ax=right)
    figure.canvas.draw()
    assert len(figure.axes) == 2


def test_names_are_plain_text_and_short():
    """A dollar is no formula, control characters are written as escapes, and long names are cut."""
    model = hostile_model()
    itemsets = itemix.mine(model, 0.1)
    drawn = [
        plot.top_itemsets(itemsets, 40),
        plot.component_heatmap(model),
        plot.component_sizes(model),
        plot.dependency_matrix(model, items=HOSTILE),
        plot.dependency_network(model),
        plot.rules_scatter(itemix.rules(itemsets, min_threshold=0.1)),
    ]
    for ax in drawn:
        ax.figure.canvas.draw()
        written = " ".join(text.get_text() for text in texts_of(ax))
        assert "x" * (NAME_WIDTH + 1) not in written
        assert "a\nb" not in written
    names = [label.get_text() for label in drawn[3].get_yticklabels() + drawn[3].get_xticklabels()]
    assert {"$\\nonsense{$", "50% off_now", "a\\nb", "<b>", "tab\\there"} <= set(names)


def test_given_colours_behind_nothing():
    """Where nothing is painted behind the axes, the style's colour of text decides."""
    model = hostile_model()
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
        ax.set_facecolor("none")
        ax.figure.set_facecolor("none")
        plot.component_sizes(model, ax=ax)
    assert to_hex(ax.patches[0].get_facecolor()) == DARK.positive


def test_matplotlib_is_imported_only_when_it_is_used():
    """The module is there without matplotlib; the first picture asks for it."""
    code = (
        "import sys\n"
        "import itemix, itemix.plot\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "mixture = itemix.Mixture([0.5, 0.5], [[0.9], [0.1]], ['a'])\n"
        "try:\n    itemix.plot.component_sizes(mixture)\n"
        "except itemix.MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout == (
        "expected matplotlib to be installed, got no such package; try pip install itemix[plots]\n"
    )


NO_ITEMSET = "at least one itemset to draw, got none"
NO_PAIR = "at least one pair of items to draw, got none"
REFUSED = {
    "too high a support": (
        lambda s: plot.support_distribution(s.itemsets.filter(min_support=1.0)),
        NO_ITEMSET,
    ),
    "no lengths": (lambda s: plot.length_distribution(s.itemsets[:0]), NO_ITEMSET),
    "too long": (lambda s: plot.top_itemsets(s.itemsets, min_len=50), NO_ITEMSET),
    "nothing to compare": (lambda s: plot.support_agreement(s.itemsets[:0], s.data), NO_ITEMSET),
    "no rules": (lambda s: plot.rules_scatter(s.rules[:0]), "at least one rule to draw, got none"),
    "no differences": (
        lambda s: plot.differences(s.comparison[:0]),
        "with itemsets that differ, got none; try a lower",
    ),
    "no shifts": (lambda s: plot.differences(s.shifts[:0]), "with components that differ, got none"),
    "itemsets as differences": (
        lambda s: plot.differences(s.itemsets),
        r"expected Comparison to draw, got Itemsets; try itemix.compare\(a, b\)",
    ),
    "no surprises": (lambda s: plot.surprises(s.surprises[:0]), "at least one surprise to draw, got none"),
    "itemsets as surprises": (
        lambda s: plot.surprises(s.itemsets),
        r"expected Surprises to draw, got Itemsets; try itemix.surprises\(model, data\)",
    ),
    "no pairs": (lambda s: plot.dependency_network(s.model, 0), NO_PAIR),
    "independent items": (
        lambda s: plot.dependency_network(itemix.IndependentModel().fit(s.data)),
        NO_PAIR,
    ),
    "one item": (lambda s: plot.dependency_matrix(s.model, items="salsa"), NO_PAIR),
    "unknown": (lambda s: plot.dependency_matrix(s.model, items="milk!"), "known items, got 'milk!'"),
    "data": (lambda s: plot.component_sizes(s.data), "expected a fitted model, got Transactions"),
    "not sampled": (lambda s: plot.trace(s.model, "alpha"), "with a trace of 'alpha', got BayesianMixture"),
    "not fitted": (lambda s: plot.trace(s.model.mixture_), "with a trace of 'bound', got Mixture"),
    "quantity": (lambda s: plot.trace(s.model, "speed"), "one of bound, n_components, alpha, got 'speed'"),
    "supports of a model": (
        lambda s: plot.support_distribution(s.model),
        r"expected Itemsets to draw, got BayesianMixture; try itemix.mine\(data, 0.01\)",
    ),
    "lengths of data": (lambda s: plot.length_distribution(s.data), "Itemsets to draw, got Transactions"),
    "top rules": (lambda s: plot.top_itemsets(s.rules), "Itemsets to draw, got Rules"),
    "two data sets": (lambda s: plot.support_agreement(s.data, s.data), "Itemsets to draw, got Transactions"),
    "itemsets as rules": (
        lambda s: plot.rules_scatter(s.itemsets),
        r"expected Rules to draw, got Itemsets; try itemix.rules\(itemsets\)",
    ),
    "a model that was not evaluated": (
        lambda s: plot.evaluation_by_length(s.model),
        r"expected Evaluation to draw, got BayesianMixture; try itemix.evaluate\(model, test, 0.01\)",
    ),
    "criterion": (lambda s: plot.evaluation_by_length(s.evaluation, "speed"), "recall, got 'speed'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused(scene, case):
    """The message says what was expected, what was got and what to try."""
    draw, message = REFUSED[case]
    with pytest.raises(itemix.ItemixError, match=message) as caught:
        draw(scene)
    assert ";" in str(caught.value)
    assert plt.get_fignums() == []


def test_models_without_components_are_refused_only_where_these_are_drawn(scene):
    """Any model has dependencies; only a mixture has components."""
    from naive.models import OnlyProbabilities

    model = OnlyProbabilities(scene.model.mixture_)
    drawn = plot.dependency_matrix(model)
    same = plot.dependency_matrix(scene.model)
    faces = [ax.collections[0].get_facecolor() for ax in (drawn, same)]
    assert np.allclose(*faces, atol=1e-6)
    with pytest.raises(itemix.InvalidInputError, match="a model with components, got OnlyProbabilities; try"):
        plot.component_heatmap(model)


def test_estimators_that_are_not_fitted_are_refused():
    """As everywhere, by scikit-learn's error."""
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        plot.component_sizes(itemix.BayesianMixture())
