"""The number of components: criteria find the planted one."""

import numpy as np
import pytest
from inference.planted import planted_mixture

from itemix import Transactions
from itemix.errors import InvalidInputError
from itemix.estimators import BayesianMixture, BernoulliMixture
from itemix.inference.selection import CRITERIA, select_components
from itemix.models.mixture import Mixture


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("cls", [BernoulliMixture, BayesianMixture])
def test_the_planted_number_is_found(cls, criterion):
    """Three components are chosen where three made the data; likelihood alone may take a few more."""
    data = planted_mixture().sample(800, random_state=0)
    model = cls("auto", criterion=criterion, random_state=0, n_init=2).fit(data)
    assert model.selection_.criterion == criterion
    assert model.n_components_ == model.selection_.best
    assert 3 <= model.n_components_ <= (3 if criterion == "bic" else 8)
    assert np.isfinite(model.selection_.scores).all()


def test_scores_follow_their_definitions():
    """BIC and AIC are those of the formulas, halved and negated a transaction."""
    data = planted_mixture().sample(50, random_state=0)

    def fit(_, n_components):
        return Mixture(np.full(n_components, 1 / n_components), np.full((n_components, 9), 0.4), data.items)

    log_likelihood = fit(data, 1).log_likelihood(data).sum()
    bic = select_components(fit, data, criterion="bic", candidates=[1, 2])
    aic = select_components(fit, data, criterion="aic", candidates=[1, 2])
    held_out = select_components(fit, data, criterion="held-out", candidates=[1, 2], random_state=0)
    for k in (0, 1):
        n_parameters = (k + 1) * 10 - 1
        assert bic.scores[k] == pytest.approx((log_likelihood - n_parameters * np.log(50) / 2) / 50)
        assert aic.scores[k] == pytest.approx((log_likelihood - n_parameters) / 50)
        assert held_out.scores[k] == pytest.approx(log_likelihood / 50)
    assert bic.best == aic.best == 1


def test_folds_share_out_all_transactions():
    """Every transaction is left out once, repeated rows included."""
    data = Transactions([0, 1, 2], [0, 1], ["a", "b"], [7, 4])
    seen = []

    def fit(train, _):
        seen.append(train.n_transactions)
        return Mixture([1.0], [[0.5, 0.5]], ["a", "b"])

    found = select_components(fit, data, criterion="held-out", candidates=[1], n_folds=3, random_state=0)
    assert sum(11 - n for n in seen) == 11
    assert found.scores[0] == pytest.approx(2 * np.log(0.5))


def test_bad_questions_are_refused():
    """Unknown criteria and more folds than transactions are errors."""
    data = planted_mixture().sample(3, random_state=0)
    with pytest.raises(InvalidInputError, match="expected criterion to be one of"):
        BernoulliMixture("auto", criterion="best").fit(data)
    with pytest.raises(InvalidInputError, match="expected 2 to 3 folds"):
        BernoulliMixture("auto", criterion="held-out").fit(data)


def test_items_that_a_part_of_the_data_lacks_do_not_spoil_the_choice():
    """Unseen items do not make every score -inf: by default EM finds the planted number of components."""
    matrix = planted_mixture().sample(300, random_state=1).to_scipy().toarray()
    rare = np.zeros((300, 40), dtype=matrix.dtype)
    rare[np.arange(40) * 7, np.arange(40)] = 1
    data = Transactions.from_matrix(np.hstack([matrix, rare]))
    model = BernoulliMixture("auto", random_state=0, n_init=2).fit(data)
    assert model.selection_.criterion == "held-out"
    assert np.isfinite(model.selection_.scores).all()
    assert model.n_components_ >= 2
