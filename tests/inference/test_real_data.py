"""What was measured on real data and is relied on."""

import numpy as np
import pytest

from itemix import mine, read_transactions
from itemix.estimators import BayesianMixture, BernoulliMixture, DirichletProcessMixture


@pytest.mark.data("chess/chess.dat")
def test_spread_out_starts_are_better_on_chess(data_folder):
    """Over three seeds, k-means++ reaches a higher bound than the paper's random labels."""
    data = read_transactions(data_folder / "chess" / "chess.dat")
    bounds = {
        init: np.mean(
            [BayesianMixture(50, init=init, random_state=s).fit(data).lower_bound_ for s in range(3)]
        )
        for init in ("k-means++", "random")
    }
    assert bounds["k-means++"] > bounds["random"] + 0.1


@pytest.mark.data("chess/chess.dat")
@pytest.mark.parametrize("cls", [BernoulliMixture, BayesianMixture, DirichletProcessMixture])
def test_bounds_rise_on_chess(cls, data_folder):
    """On dense data with many zeros and ones the bound never falls, and nothing is NaN."""
    data = read_transactions(data_folder / "chess" / "chess.dat")
    model = cls(30, random_state=0).fit(data)
    assert np.diff(model.lower_bounds_).min() > -1e-8
    assert np.isfinite(model.mixture_.probs).all()
    assert np.isfinite(model.score_samples(data)).all()
    assert model.converged_


@pytest.mark.data("msweb/test.dat")
def test_the_papers_true_itemsets_are_those_of_the_test_set(data_folder):
    """MS Web's test file has exactly the paper's 570 itemsets at 0.5%, by length."""
    found = mine(read_transactions(data_folder / "msweb" / "test.dat"), 0.005)
    assert np.bincount(found.lengths)[1:].tolist() == [79, 214, 181, 85, 11]
