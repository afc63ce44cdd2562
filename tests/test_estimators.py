"""The estimators: what they take, what they learn, what they answer and what they refuse."""

import os
import pickle
import re
import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from inference.planted import planted_mixture, random_data
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from itemix import Transactions, load
from itemix.data.synthetic import grocery_store
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators import BayesianMixture, BernoulliMixture, ChowLiuMixture, DirichletProcessMixture
from itemix.mixture import Mixture

CLASSES = [BernoulliMixture, BayesianMixture, DirichletProcessMixture]
BAYESIAN = CLASSES[1:]
GIBBS = {"inference": "gibbs", "max_iter": 400, "n_samples": 3, "thin": 2}


@pytest.fixture(scope="module")
def data():
    """Transactions of the planted mixture."""
    return planted_mixture().sample(600, random_state=0)


@pytest.mark.parametrize("cls", CLASSES)
def test_all_kinds_of_input(cls, data):
    """Transactions, lists, arrays, sparse matrices and data frames give the same model."""
    matrix = data.to_scipy().toarray()
    frame = data.to_dataframe()
    kinds = [
        data.to_lists(),
        matrix,
        matrix.astype(bool),
        sparse.csr_matrix(matrix),
        sparse.coo_array(matrix.astype(float)),
        frame,
        frame.astype(bool),
        pl.DataFrame(matrix.astype(bool), schema=list(data.items)),
    ]
    model = cls(3, random_state=0).fit(data)
    for X in kinds:
        other = cls(3, random_state=0).fit(X)
        np.testing.assert_array_equal(other.mixture_.probs, model.mixture_.probs)
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(data))
        assert other.score(X) == pytest.approx(model.score(data))
    named = cls(3, random_state=0).fit(frame)
    assert list(named.feature_names_in_) == list(data.items)
    assert named.mixture_.items == data.items
    assert not hasattr(named.fit(data), "feature_names_in_")
    np.testing.assert_array_equal(model.predict(matrix), model.predict(data))


@pytest.mark.parametrize(
    ("cls", "parameters"), [(cls, {}) for cls in CLASSES] + [(cls, GIBBS) for cls in BAYESIAN]
)
def test_a_planted_mixture_is_found(cls, parameters, data):
    """Every method's probabilities are near the truth, and a transaction of a component is told as such."""
    truth = planted_mixture()
    model = cls(3, random_state=0, n_init=2, **parameters).fit(data)
    for itemset in (["item0"], ["item0", "item1"], ["item3", "item4", "item5"], ["item0", "item8"]):
        assert model.probability(itemset) == pytest.approx(truth.probability(itemset), abs=0.06)
    assert model.score(data) == pytest.approx(truth.log_likelihood(data).mean(), abs=0.1)
    assert model.n_iter_ >= 1
    assert len(model.lower_bounds_) >= 1
    assert model.converged_ in (True, False)
    proba = model.predict_proba(data)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(data), proba.argmax(axis=1))
    np.testing.assert_array_equal(
        cls(3, random_state=0, n_init=2, **parameters).fit_predict(data), model.predict(data)
    )


@pytest.mark.parametrize("cls", CLASSES)
def test_seeds_repeat_and_threads_do_not_matter(cls, data):
    """One seed gives one model, for any number of threads; all that scikit-learn takes is a seed."""
    model = cls(4, random_state=3).fit(data)
    assert cls(4, random_state=3, n_jobs=2).fit(data).mixture_ == model.mixture_
    assert cls(4, random_state=4).fit(data).mixture_ != model.mixture_
    for seed in (np.random.RandomState(0), np.random.default_rng(0), None):
        assert cls(2, random_state=seed).fit(data).mixture_.n_components == 2


@pytest.mark.parametrize("cls", CLASSES)
def test_warm_start_goes_on(cls, data):
    """A second fit starts where the first ended: fewer iterations, no lower bound."""
    model = cls(3, random_state=0, warm_start=True).fit(data)
    first_iterations, first_bound = model.n_iter_, model.lower_bound_
    model.fit(data)
    assert model.n_iter_ <= first_iterations
    assert model.lower_bound_ >= first_bound - 1e-3


def test_warm_start_of_a_chain(data):
    """A chain goes on from the labels of its last sample."""
    model = DirichletProcessMixture(random_state=0, warm_start=True, **GIBBS).fit(data)
    before = model.lower_bounds_[-1]
    model.fit(data)
    assert model.lower_bounds_[0] > before - 0.5


@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_a_start_of_another_number_of_components_is_refused(parameters, data):
    """A finite model goes on, and starts, only from as many components as it has."""
    model = BayesianMixture(6, random_state=0, warm_start=True, **parameters).fit(data)
    last = model.posterior_.mixture()
    message = "expected a mixture of n_components=4 to start from, got 6; make the two equal"
    with pytest.raises(InvalidInputError, match=message):
        model.set_params(n_components=4).fit(data)
    with pytest.raises(InvalidInputError, match=message):
        BayesianMixture(4, init=last, **parameters).fit(data)
    with pytest.raises(InvalidInputError, match="expected labels from 0 to 3 in init, got 5 to 5"):
        BayesianMixture(4, init=np.full(600, 5), **parameters).fit(data)


def test_a_process_starts_from_any_mixture(data):
    """The sampler of the process takes the components of a mixture, however many there are."""
    start = BernoulliMixture(6, random_state=0).fit(data).mixture_
    for n_components in (4, 20):
        model = DirichletProcessMixture(n_components, init=start, random_state=0, **GIBBS).fit(data)
        assert np.isfinite(model.score(data))


@pytest.mark.parametrize(
    "model",
    [
        BernoulliMixture("auto", criterion="bic"),
        BayesianMixture("auto", criterion="bic"),
        BayesianMixture("auto", criterion="bic", **GIBBS),
        ChowLiuMixture("auto"),
    ],
    ids=["em", "variational", "gibbs", "trees"],
)
def test_a_warm_start_begins_anew_where_another_number_is_chosen(model, data):
    """A model of one component is no start for the number that is chosen later."""
    model.set_params(random_state=0, warm_start=True)
    alike = Transactions.from_lists([["item0"], []] * 40).align_items(data.items)
    assert model.fit(alike).n_components_ < model.fit(data).n_components_


def test_variational_inference_goes_on_from_a_sampler(data):
    """A warm start after sampling starts from the last sample, which has the model's number of components."""
    model = BayesianMixture(3, random_state=0, warm_start=True, **GIBBS).fit(data)
    model.set_params(inference="variational").fit(data)
    assert model.mixture_.n_components == 3


@pytest.mark.parametrize("cls", BAYESIAN)
@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_hyperparameters_can_be_learned(cls, parameters, data):
    """Alpha and the strength of the prior may be "learn", for both inferences."""
    model = cls(3, random_state=0, alpha="learn", beta="learn", **parameters).fit(data)
    assert model.score(data) > -4.5


@pytest.mark.parametrize("cls", CLASSES)
def test_a_stream_in_batches_approaches_the_whole(cls):
    """Batches taken in one after the other give nearly the likelihood of a fit to all of them."""
    truth = planted_mixture()
    everything = truth.sample(4000, random_state=1)
    matrix = everything.to_scipy()
    stream = cls(3, random_state=0, n_init=3)
    for start in range(0, 4000, 400):
        stream.partial_fit(Transactions.from_matrix(matrix[start : start + 400], items=everything.items))
    whole = cls(3, random_state=0, n_init=3).fit(everything)
    assert stream.score(everything) == pytest.approx(whole.score(everything), abs=0.03)
    assert stream.counts_.n_transactions == pytest.approx(4000)
    assert stream.n_iter_ >= 10


def test_a_stream_leaves_the_mode_of_its_first_batch():
    """Components take in items that no transaction of the first batch has brought them, as in EM."""
    everything = grocery_store(5000, random_state=0)
    matrix = everything.to_scipy()
    streams = [cls(8, random_state=0) for cls in CLASSES]
    for first in range(0, 5000, 500):
        batch = Transactions.from_matrix(matrix[first : first + 500], items=everything.items)
        for stream in streams:
            stream.partial_fit(batch)
    em, *bayesian = (stream.score(everything) for stream in streams)
    assert bayesian == pytest.approx([em, em], abs=0.2)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_batch_counts_by_its_size(cls, data):
    """A few transactions after many change little, whatever they hold."""
    model = cls(3, random_state=0).fit(data)
    before = model.probability(["item0"])
    model.partial_fit(np.ones((1, 9), dtype=int))
    assert model.probability(["item0"]) == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize("cls", BAYESIAN)
def test_a_stream_makes_intervals_narrower(cls):
    """The posterior is that of all transactions so far."""
    truth = planted_mixture()
    model = cls(3, random_state=0)
    widths = []
    for seed in range(4):
        found = model.partial_fit(truth.sample(500, random_state=seed)).interval(["item0"])
        widths.append(found.upper - found.lower)
    assert (np.diff(widths) < 0).all()
    assert widths[-1] == pytest.approx(widths[0] / 2, rel=0.2)


@pytest.mark.parametrize("cls", CLASSES)
def test_batches_are_matched_by_the_names_of_their_items(cls, data):
    """A batch may have its items in another order, or not all of them; it may not have new ones."""
    known, half = data.split(0.5, random_state=0)
    other_order = half.align_items(list(reversed(half.items)))
    expected = cls(3, random_state=0).fit(known).partial_fit(half)
    found = cls(3, random_state=0).fit(known).partial_fit(other_order)
    assert found.mixture_ == expected.mixture_
    fewer = Transactions.from_lists([["item3", "item1"], ["item1"]])
    assert found.partial_fit(fewer).mixture_.items == data.items
    new = Transactions.from_lists([["gin", "vodka"]] * 5)
    for batch in (new, new.to_lists()):
        with pytest.raises(UnknownItemError, match="one of 9 known items, got 'gin'; give the first"):
            found.partial_fit(batch)
    knowing = cls(1, random_state=0).partial_fit(known.align_items([*known.items, "gin", "vodka"]))
    assert "vodka" in knowing.partial_fit(new).mixture_.items


@pytest.mark.parametrize("cls", BAYESIAN)
def test_a_stream_goes_on_from_a_sample(cls, data, tmp_path):
    """After sampling, batches are blended into the counts of the last sample, also from a file."""
    sampled = cls(3, random_state=0, **GIBBS).fit(data)
    sampled.save(tmp_path / "sampled.itemix")
    for model in (sampled, load(tmp_path / "sampled.itemix")):
        model.set_params(inference="variational").partial_fit(data)
        assert model.counts_.n_transactions == pytest.approx(1200)
        assert not hasattr(model, "chains_")
        assert np.isfinite(model.interval(["item0"]).upper)


def test_what_another_fit_does_not_learn_is_forgotten(data):
    """Chains, choices and batches are those of the last fit."""
    model = BayesianMixture("auto", criterion="bic", correction="auto", random_state=0).fit(data)
    assert {"selection_", "correction_choice_", "n_batches_"} <= vars(model).keys()
    model.set_params(n_components=3, correction=None, **GIBBS).fit(data)
    assert not {"selection_", "correction_choice_", "n_batches_"} & vars(model).keys()
    assert "chains_" not in vars(model.set_params(inference="variational").fit(data))


def test_samplers_take_no_batches():
    """Gibbs sampling has no partial_fit."""
    assert hasattr(BayesianMixture(), "partial_fit")
    assert not hasattr(BayesianMixture(inference="gibbs"), "partial_fit")


def test_information_criteria_prefer_the_planted_number(data):
    """BIC is lowest at three components; both follow their formulas."""
    models = [BernoulliMixture(k, random_state=0, n_init=3).fit(data) for k in (1, 2, 3, 5)]
    assert np.argmin([model.bic(data) for model in models]) == 2
    model = models[0]
    total = model.score_samples(data).sum()
    assert model.aic(data) == pytest.approx(-2 * total + 2 * 9)
    assert model.bic(data) == pytest.approx(-2 * total + 9 * np.log(600))


def test_answers_come_from_the_mixture(data):
    """Queries of the estimator are those of its mixture, with intervals from its posterior."""
    model = BayesianMixture(3, random_state=0).fit(data)
    mixture = model.mixture_
    event = {"absent": ["item4"], "given": ["item1"], "given_absent": ["item7"]}
    assert model.probability(["item0"], **event) == mixture.probability(["item0"], **event)
    assert model.probabilities([["item0"], ["item1"]]).shape == (2,)
    assert model.lift(["item0", "item1"]) > 1
    assert model.dependencies(3)[0].lift > 1
    assert [r.item for r in model.recommend(["item0", "item1"], n=1)] == ["item2"]
    codes, chances = model.recommend_many([["item0", "item1"], ["item3"]], n=2)
    assert mixture.items[int(codes[0, 0])] == "item2"
    assert chances.shape == (2, 2)
    assert model.explain(["item0", "item1", "item2"]).probability > 0.9
    low, high = model.interval(["item0"])[1:]
    assert low < model.probability(["item0"]) < high
    assert [len(column) for column in model.intervals([["item0"], ["item1"]])] == [2, 2, 2]
    assert len(model.sample(5, random_state=0)) == 5
    assert model.posterior_.mixture() == mixture


def test_verbose_tells_the_progress(data, capsys):
    """Verbose prints iterations to the error stream, and nothing by default."""
    BernoulliMixture(2, random_state=0, verbose=1).fit(data)
    assert re.search(r"start 1 of 1, iteration 1: -\d+.*2 components", capsys.readouterr().err)
    BernoulliMixture(2, random_state=0).fit(data)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_callbacks_can_stop_a_fit(parameters, data):
    """A callback hears of every iteration; True ends the fit without a warning."""
    heard = []

    def stop(report):
        heard.append(report.iteration)
        return report.iteration == 2

    model = BayesianMixture(3, random_state=0, **parameters).fit(data, callbacks=[stop])
    assert heard == [1, 2]
    assert model.n_iter_ == 2


def test_an_interrupt_keeps_the_model_and_says_so(data):
    """Ctrl-C during a fit leaves a usable model and a warning."""

    def interrupt(report):
        if report.iteration == 3:
            raise KeyboardInterrupt

    model = BayesianMixture(3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="was interrupted; the best state so far is kept"):
        model.fit(data, callbacks=[interrupt])
    assert np.isfinite(model.score(data))


class Interrupting:
    """A callback that is Ctrl-C at the first stage of some name, and hears of all stages."""

    def __init__(self, at):
        self.at = at
        self.heard = []

    def __call__(self, report):
        """Let the fit go on."""

    def stage(self, text):
        """Be Ctrl-C, once."""
        self.heard.append(text)
        if self.at is not None and text.startswith(self.at):
            self.at = None
            raise KeyboardInterrupt


def test_stages_are_told(data, capsys):
    """Callbacks that have a method for it hear what a fit does besides iterating; verbose prints it."""
    heard = Interrupting(None)
    BernoulliMixture("auto", criterion="bic", correction="auto", random_state=0, verbose=100).fit(
        data, callbacks=[heard]
    )
    assert heard.heard[:2] == [f"choosing the number of components: trying {k}" for k in (1, 2)]
    assert "choosing the correction" in heard.heard
    assert [line for line in capsys.readouterr().err.splitlines() if "start" not in line] == heard.heard


@pytest.mark.parametrize(
    ("correction", "stage"), [("auto", "choosing the correction"), (2, "correcting by the counts")]
)
def test_an_interrupted_correction_is_left_out(correction, stage, data):
    """Ctrl-C during the correction keeps the model as it was fitted, and says so."""
    model = BernoulliMixture(3, correction=correction, random_state=0)
    with pytest.warns(ConvergenceWarning, match="correction of BernoulliMixture was interrupted; the model"):
        model.fit(data, callbacks=[Interrupting(stage)])
    assert model.converged_
    assert model.corrected_ is None
    assert not hasattr(model, "correction_choice_")


def test_an_interrupted_fit_is_not_corrected(data):
    """After Ctrl-C there is no more work to wait for."""
    told = Interrupting(None)

    def interrupt(report):
        raise KeyboardInterrupt

    model = BayesianMixture(3, correction="auto", random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"is kept \(1 iteration\), without a correction"):
        model.fit(data, callbacks=[interrupt, told])
    assert model.corrected_ is None
    assert told.heard == []


@pytest.mark.parametrize("criterion", ["held-out", "bic"])
def test_an_interrupted_choice_takes_the_best_so_far(criterion, data):
    """Ctrl-C while the number of components is chosen: the best of those tried is fitted."""
    at = Interrupting("choosing the number of components: trying 3")
    model = BernoulliMixture("auto", criterion=criterion, random_state=0)
    with pytest.warns(ConvergenceWarning, match="was interrupted; 2, the best of 2 tried, is taken"):
        model.fit(data, callbacks=[at])
    assert model.n_components_ == 2
    assert model.selection_.interrupted
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, callbacks=[Interrupting("choosing the number of components: trying 1")])


@pytest.mark.skipif(os.name != "posix", reason="needs pthread_kill")
@pytest.mark.parametrize("cls", [BayesianMixture, ChowLiuMixture])
def test_ctrl_c_in_a_candidate_ends_the_choice(cls, data):
    """A candidate that is interrupted itself has no score: the first leaves nothing to keep."""
    endless = cls("auto", tol=0, max_iter=10**9, random_state=0)
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.fit(data)
    finally:
        timer.cancel()


def test_warnings_point_at_the_caller(data):
    """A warning names the line that asked for the fit, whichever way led there."""
    for parameters in ({}, GIBBS | {"max_iter": 1}):
        with pytest.warns(ConvergenceWarning) as warned:
            BayesianMixture(3, random_state=0, **{"max_iter": 1, **parameters}).fit(data)
        assert [warning.filename for warning in warned] == [__file__]


def test_too_few_iterations_warn(data):
    """A fit that did not converge warns and says what to do."""
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 iterations; raise max_iter"):
        BernoulliMixture(5, max_iter=1, random_state=0).fit(data)


def test_empty_components_are_said():
    """A component that loses its last transaction is warned about and has no weight."""
    X = np.array([[1, 0]] * 10 + [[0, 1]] * 10)
    start = Mixture([0.5, 0.4999, 0.0001], [[0.9, 0.1], [0.1, 0.9], [1e-9, 1e-9]], [0, 1])
    with pytest.warns(ConvergenceWarning, match="1 of 3 components hold no transaction; ask"):
        model = BernoulliMixture(3, init=start).fit(X)
    assert model.mixture_.weights[2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_models_survive_pickling(cls, data):
    """A pickled model answers as before."""
    model = cls(3, random_state=0).fit(data)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert copy.mixture_ == model.mixture_
    assert copy.score(data) == model.score(data)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "expected n_components as a whole number of 1 or more, got 0"),
        ({"n_components": 2.5}, "expected n_components as a whole number of 1 or more, got 2.5"),
        ({"n_components": 700}, "expected n_components of at most n_samples=600, the transactions, got 700"),
        ({"n_init": 0}, "expected n_init as a whole number of 1 or more, got 0"),
        ({"max_iter": 0}, "expected max_iter as a whole number of 1 or more, got 0"),
        ({"tol": -1}, "expected tol of zero or more, got -1"),
        ({"tol": float("nan")}, "expected tol of zero or more, got nan"),
        ({"init": "magic"}, "expected init to be one of"),
        ({"n_jobs": 0}, "expected n_jobs as a number of threads, got 0"),
        ({"random_state": "x"}, "expected random_state as a whole number of 0 or more, got 'x'"),
    ],
)
def test_bad_parameters_are_refused(cls, parameters, message, data):
    """Every parameter out of its range is an error that says what was expected."""
    with pytest.raises(InvalidInputError, match=message):
        cls(**{"n_components": 3, **parameters}).fit(data)


@pytest.mark.parametrize("cls", BAYESIAN)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inference": "guess"}, "expected inference to be one of"),
        ({"alpha": -1}, "expected alpha above 0, got -1"),
        ({"alpha": "x"}, "expected alpha as a number or 'learn', got 'x'; try 1.0"),
        ({"beta": float("nan")}, "expected beta above 0, got nan"),
        ({"gamma": -2.0}, "expected gamma above 0, got -2.0"),
        ({"inference": "gibbs", "n_samples": 0}, "expected n_samples as a whole number of 1 or more, got 0"),
        ({"inference": "gibbs", "thin": 0}, "expected thin as a whole number of 1 or more, got 0"),
    ],
)
def test_bad_bayesian_parameters_are_refused(cls, parameters, message, data):
    """Unknown methods and impossible hyperparameters are errors."""
    with pytest.raises(InvalidInputError, match=message):
        cls(3, **parameters).fit(data)


def test_bad_data_is_refused(data):
    """Non-binary values, no rows, no items, other items and questions before a fit are errors."""
    with pytest.raises(InvalidInputError, match="expected only 0 and 1"):
        BernoulliMixture(1).fit([[0, 2], [1, 1]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        BernoulliMixture(1).fit(np.empty((0, 3)))
    with pytest.raises(InvalidInputError, match="expected at least one transaction, got none"):
        BernoulliMixture(1).fit(Transactions([0], [], ["a"]))
    with pytest.raises(InvalidInputError, match="expected at least one transaction, got none"):
        BernoulliMixture(1).fit([])
    with pytest.raises(InvalidInputError, match="expected at least one item, got none"):
        BernoulliMixture(1).fit(Transactions([0, 0], [], []))
    with pytest.raises(NotFittedError):
        BernoulliMixture().probability(["a"])
    model = BernoulliMixture(2, random_state=0).fit(data)
    with pytest.raises(InvalidInputError, match="expected the model's 9 items, got others"):
        model.score(random_data(0))
    with pytest.raises(ValueError, match="X has 3 features, but BernoulliMixture is expecting 9"):
        model.predict(np.zeros((2, 3), dtype=int))
    with pytest.raises(UnknownItemError, match="did you mean 'item1'"):
        model.probability(["item11"])
    with pytest.raises(InvalidInputError, match="expected a model with a posterior"):
        model.interval(["item0"])
    with pytest.raises(ValueError, match="feature names"):
        BernoulliMixture(2).fit(data.to_dataframe()).predict(pd.DataFrame({"x": [1]}))
