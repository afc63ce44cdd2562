"""Fitted models in files: a loaded model answers, goes on and is written as the one that was saved."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import learned_names
from golden.write_golden import answers_of
from inference.planted import planted_mixture
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from itemix import BayesianMixture, BernoulliMixture, DirichletProcessMixture, Mixture, Transactions, files
from itemix.errors import InvalidInputError, ModelFileError
from itemix.files import container, load, save
from itemix.inference import METHODS

GOLDEN = Path(__file__).parents[1] / "golden"
GIBBS = {"inference": "gibbs", "max_iter": 20, "n_samples": 2, "thin": 2}
MAKERS = {
    "nbm": lambda **more: BernoulliMixture(3, random_state=0, **more),
    "vfbm": lambda **more: BayesianMixture(3, random_state=0, **more),
    "gsfbm": lambda **more: BayesianMixture(3, random_state=0, n_init=2, **GIBBS, **more),
    "vdpm": lambda **more: DirichletProcessMixture(5, random_state=0, **more),
    "gsdpm": lambda **more: DirichletProcessMixture(random_state=0, n_init=2, **GIBBS, **more),
}
SAMPLED = ["gsfbm", "gsdpm"]
BATCH = ["nbm", "vfbm", "vdpm"]
BAYESIAN = ["vfbm", "vdpm", *SAMPLED]


@pytest.fixture(scope="module")
def data():
    """Draw transactions from the planted mixture."""
    return planted_mixture().sample(200, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    """Fit a model by every method."""
    return {name: fit(make(), data) for name, make in MAKERS.items()}


def fit(model, data):
    """Fit a model that need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data)


def through_file(model, folder, name="model.itemix"):
    """Save and load a model."""
    model.save(folder / name)
    return load(folder / name)


@pytest.mark.parametrize("method", MAKERS)
def test_a_loaded_model_answers_as_before(method, fitted, data, tmp_path):
    """Every question has exactly the same answer; parameters and learned attributes are the same."""
    model = fitted[method]
    loaded = through_file(model, tmp_path)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert learned_names(loaded) == learned_names(model)
    assert loaded.mixture_ == model.mixture_
    assert loaded.counts_ == model.counts_
    assert loaded.posteriors_ == model.posteriors_
    for name in ("n_components_", "n_iter_", "converged_", "lower_bound_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(model, name)
        assert type(getattr(loaded, name)) is type(getattr(model, name))
    np.testing.assert_array_equal(loaded.lower_bounds_, model.lower_bounds_)
    event = {"absent": ["item4"], "given": ["item1"], "given_absent": ["item7"]}
    assert loaded.probability(["item0"], **event) == model.probability(["item0"], **event)
    assert loaded.recommend(["item0"]) == model.recommend(["item0"])
    assert repr(loaded.explain(["item0"])) == repr(model.explain(["item0"]))
    np.testing.assert_array_equal(loaded.predict_proba(data), model.predict_proba(data))
    np.testing.assert_array_equal(loaded.score_samples(data), model.score_samples(data))
    assert loaded.sample(9, random_state=1) == model.sample(9, random_state=1)
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize("method", [*SAMPLED, "vdpm"])
def test_labels_of_components_are_kept(method, fitted, data, tmp_path):
    """They come from the file, whatever this version would find, or are worked out if it has none."""
    path, labels = tmp_path / "model.itemix", fitted[method].fitted_.component_labels
    fitted[method].save(path)
    content = container.read(path)
    content._tensors["component_labels"] = labels.max() - labels
    container.write(path, content._header, content._tensors)
    np.testing.assert_array_equal(load(path).predict(data), labels.max() - fitted[method].predict(data))
    del content._tensors["component_labels"]
    container.write(path, content._header, content._tensors)
    np.testing.assert_array_equal(load(path).predict(data), fitted[method].predict(data))


@pytest.mark.parametrize("method", BAYESIAN)
def test_intervals_survive(method, fitted, tmp_path):
    """Credible intervals come from the same posteriors."""
    model = fitted[method]
    loaded = through_file(model, tmp_path)
    assert loaded.interval(["item0", "item1"]) == model.interval(["item0", "item1"])
    assert loaded.posterior_ == model.posterior_


@pytest.mark.parametrize("method", MAKERS)
def test_the_same_model_gives_the_same_bytes(method, fitted, data, tmp_path):
    """Saving again, saving what was loaded and saving a second fit give the same file."""
    model = fitted[method]
    save(model, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    save(fit(MAKERS[method](), data), tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("method", MAKERS)
def test_a_warm_start_goes_on(method, data, tmp_path):
    """A loaded model that goes on from itself ends where the saved one would have."""
    model = fit(MAKERS[method](warm_start=True), data)
    loaded = through_file(model, tmp_path)
    assert fit(loaded, data).mixture_ == fit(model, data).mixture_


@pytest.mark.parametrize("method", BATCH)
def test_a_stream_goes_on(method, data, tmp_path):
    """A loaded model takes in further batches as the saved one would have."""
    model = MAKERS[method]().partial_fit(data).partial_fit(data)
    loaded = through_file(model, tmp_path)
    more = planted_mixture().sample(100, random_state=1)
    assert loaded.partial_fit(more).mixture_ == model.partial_fit(more).mixture_
    assert loaded.counts_ == model.counts_
    assert loaded.n_batches_ == 3


@pytest.mark.parametrize("method", SAMPLED)
def test_chains_survive_without_their_labels(method, fitted, tmp_path):
    """Draws, traces and diagnostics are kept; the last state, which needs the data, is not."""
    chains = fitted[method].chains_
    loaded = through_file(fitted[method], tmp_path).chains_
    assert loaded.diagnostics() == chains.diagnostics()
    assert (loaded.n_iter, loaded.converged) == (chains.n_iter, chains.converged)
    assert len(loaded.chains) == 2
    for ours, theirs in zip(loaded.chains, chains.chains, strict=True):
        assert ours.state is None
        assert ours.n_burn == theirs.n_burn
        assert len(ours.draws) == len(theirs.draws)
        for name in ("log_joint", "n_components", "alpha"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype
    assert loaded.finish().mixture == chains.finish().mixture


@pytest.mark.parametrize("method", [*SAMPLED, "vfbm", "vdpm"])
def test_learned_hyperparameters_survive(method, data, tmp_path):
    """A model keeps its prior, and of a sampler every draw its own."""
    model = fit(MAKERS[method](alpha="learn", beta="learn"), data)
    loaded = through_file(model, tmp_path)
    assert loaded.posteriors_ == model.posteriors_
    assert (loaded.prior_.alpha, loaded.prior_.strength) == (model.prior_.alpha, model.prior_.strength)
    assert (loaded.prior_.alpha, loaded.prior_.strength) != (1.5, 1.0)
    if method in SAMPLED:
        assert len({draw.prior.alpha for draw in loaded.chains_.draws}) > 1


def test_parameters_survive(data, tmp_path):
    """Arrays, mixtures, labels, NumPy scalars and infinities come back, for another fit."""
    start = planted_mixture()
    beta = np.linspace(0.1, 0.9, 9)
    model = BayesianMixture(np.int64(3), init=start, beta=beta, gamma=2, tol=np.inf, alpha=np.float64(0.1))
    loaded = through_file(model.fit(data), tmp_path)
    assert loaded.init == start
    np.testing.assert_array_equal(loaded.beta, beta)
    assert [loaded.n_components, loaded.gamma, loaded.tol, loaded.alpha] == [3, 2, np.inf, 0.1]
    assert clone(loaded).fit(data).mixture_ == clone(model).fit(data).mixture_
    labels = (np.arange(200) % 3).tolist()
    loaded = through_file(BernoulliMixture(3, init=labels).fit(data), tmp_path)
    assert loaded.init.tolist() == labels
    assert loaded.init.dtype == np.int64


@pytest.mark.parametrize("seed", [np.random.default_rng(0), np.random.RandomState(0), None])
def test_generators_are_not_kept(seed, data, tmp_path):
    """A generator, which the fit has used up, is None in the loaded model."""
    assert through_file(BernoulliMixture(2, random_state=seed).fit(data), tmp_path).random_state is None


def test_features_of_data_frames_survive(data, tmp_path):
    """A model of a data frame still checks the names of columns."""
    frame = data.to_dataframe()
    model = BernoulliMixture(2, random_state=0).fit(frame)
    loaded = through_file(model, tmp_path)
    assert list(loaded.feature_names_in_) == list(data.items)
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(pd.DataFrame({"x": [1]}))


def test_a_selection_survives(data, tmp_path):
    """How the number of components was chosen is kept."""
    model = BernoulliMixture("auto", random_state=0).fit(data)
    loaded = through_file(model, tmp_path)
    assert loaded.n_components == "auto"
    assert loaded.selection_.best == model.selection_.best == loaded.n_components_
    assert loaded.selection_.criterion == "held-out"
    np.testing.assert_array_equal(loaded.selection_.scores, model.selection_.scores)


def test_the_choice_of_a_correction_survives(data, tmp_path):
    """What was tried for the correction is kept."""
    model = BernoulliMixture(3, random_state=0, correction="auto").fit(data)
    found, kept = model.correction_choice_, through_file(model, tmp_path).correction_choice_
    assert (kept.n_errors, kept.best) == (found.n_errors, found.best)
    for name in ("worths", "errors", "standard_errors"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(found, name))


def test_what_cannot_be_saved_is_said(data, tmp_path):
    """Strange parameters, other classes, unfitted models and changed methods; no file is touched."""
    path = tmp_path / "a.itemix"
    path.write_text("old")
    model = BayesianMixture(2, random_state=0).fit(data)
    for init in (object(), planted_mixture().marginal(["item0"]), [["a"]]):
        with pytest.raises(InvalidInputError, match=r"expected parameters that a file can hold, got init="):
            clone(model).set_params(init=None).fit(data).set_params(init=init).save(path)
    with pytest.raises(InvalidInputError, match="got inference='gibbs', which was set later; fit it again"):
        model.set_params(inference="gibbs").save(path)
    with pytest.raises(NotFittedError):
        BernoulliMixture().save(path)
    with pytest.raises(InvalidInputError, match=r"expected a Mixture or one of BayesianMixture, .*, got Own"):
        type("Own", (BernoulliMixture,), {})().fit(data).save(path)
    with pytest.raises(InvalidInputError, match=r"expected a Mixture or one of .*, got dict; save its"):
        save({}, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


CHOICE = ("choice.errors", "choice.standard_errors")
COMMON = [
    ({"kind": "Popen"}, "this version knows no 'Popen' by the method"),
    ({"method": "magic"}, "by the method 'magic'"),
    ({"method": None}, "method in its header is no str"),
    ({"feature_names": 1}, "feature_names in its header is no bool"),
    ({"parameters": []}, "parameters in its header is no dict"),
    ({"parameters.color": 1}, "this version knows no parameter 'color'"),
    ({"parameters.tol": {"number": "zero"}}, "its parameter 'tol' is of no known form"),
    ({"parameters.tol": {"array": "mixture.weights"}}, "its parameter 'tol' is of no known form"),
    ({"parameters.tol": {"array": "parameters.tol"}}, "it has no array parameters.tol"),
    ({"parameters.tol": [1]}, "its parameter 'tol' is of no known form"),
    ({"training.n_iter": 0}, "training.n_iter in its header is 0"),
    ({"training.n_iter": 1.5}, "training.n_iter in its header is no int"),
    ({"training.converged": "yes"}, "training.converged in its header is no bool"),
    ({"lower_bounds": np.empty(0)}, "its lower_bounds are empty"),
    ({"mixture.weights": np.array([2.0, -1.0])}, "mixture.probs is float64 of shape"),
    ({"extra": np.zeros(1)}, "it has an array 'extra' that this version does not know"),
    ({"selection.candidates": np.empty(0, int)}, "its selection.candidates are empty"),
    ({"choice.worths": np.ones(2)}, "it has no array choice.errors"),
    (
        {"choice.worths": np.ones(1), **dict.fromkeys(CHOICE, np.full(1, np.nan))},
        "its choice of a correction is no such choice",
    ),
]
OF_BATCH = [
    ({"training.n_batches": 0}, "training.n_batches in its header is 0"),
    ({"training.n_transactions": 3}, "its item_totals do not fit its number of transactions"),
    ({"item_totals": np.full(9, -1)}, "its item_totals do not fit its number of transactions"),
    ({"item_totals": np.zeros(8, int)}, r"item_totals is int64 of shape \(8,\), not int64 of \(9,\)"),
    ({"counts.sizes": np.full(3, np.nan)}, "expected finite counts, got NaN or infinity"),
    ({"counts.sizes": -np.ones(3)}, "expected counts of zero or more, got a negative one"),
    ({"counts.sizes": np.ones(4)}, r"counts.sizes is float64 of shape \(4,\), not float64 of \(3,\)"),
]
POSTERIOR = {
    "posterior.rho": np.ones(3),
    "posterior.rest": np.array([1.0, 1.0, 0.0]),
    "posterior.eta": np.ones((3, 9)),
    "posterior.nu": np.ones((3, 9)),
}
OF_VARIATIONAL = [
    ({"parameters.inference": "gibbs"}, "its parameters are not those of the method 'vfbm'"),
    ({"method": "vdpm"}, "this version knows no 'BayesianMixture' by the method 'vdpm'"),
    (
        POSTERIOR | {"posterior.eta": np.zeros((3, 9))},
        "expected positive, finite parameters and a last rest of 0",
    ),
    (
        {**POSTERIOR, "posterior.rest": np.ones(3)},
        "expected positive, finite parameters and a last rest of 0",
    ),
    (
        POSTERIOR | {"posterior.nu": np.ones((9, 3))},
        r"posterior.nu is float64 of shape \(9, 3\), not float64 of \(3, 9\)",
    ),
    ({"posterior.rho": np.ones(3)}, "it has no array posterior.rest"),
    ({"prior.beta": None}, "it has no array posterior.rho"),
    ({"prior.beta": np.zeros(9)}, "its hyperparameters are not all above 0"),
    ({"training.alpha": -1.0}, "its hyperparameters are not all above 0"),
]
OF_SAMPLED = [
    ({"training.n_transactions": 201}, "its draws do not fit its number of transactions"),
    ({"draws.n_components": np.array([3, 3, 3, 0])}, "its draws.n_components are not all 1 or more"),
    ({"draws.n_components": np.empty(0, int)}, "its draws.n_components are not all 1 or more"),
    (
        {"draws.n_components": np.array([2**62, 2**62, 2**62, 2**62 + 12])},
        r"draws.sizes is int64 of shape \(12,\), not",
    ),
    ({"draws.n_components": np.array([6, 6])}, r"draws.alpha is float64 of shape \(4,\), not"),
    ({"draws.sizes": np.zeros(12, int)}, "holds an item more often than transactions"),
    ({"draws.item_counts": np.full((12, 9), -1, np.int32)}, "holds an item less often than never"),
    ({"draws.alpha": np.array([1, 1, 0, 1.0])}, "the hyperparameters of its draws are not all above 0"),
    ({"draws.gamma": np.full((4, 9), np.inf)}, "the hyperparameters of its draws are not all above 0"),
    ({"component_labels": np.ones(12, int)}, "its component_labels are not 0, 1, 2 and so on"),
    ({"component_labels": np.zeros(3, int)}, r"component_labels is int64 of shape \(3,\), not"),
    ({"chains.n_draws": np.array([2, 1])}, "its chains do not fit their draws and iterations"),
    ({"chains.n_draws": np.array([4, 0])}, "its chains.n_draws are not all 1 or more"),
    ({"chains.n_burn": np.array([-1, 0])}, "its chains do not fit their draws and iterations"),
    ({"chains.n_burn": np.array([0, 10**6])}, "its chains do not fit their draws and iterations"),
    ({"chains.n_iter": np.array([900, 900])}, r"chains.log_joint is float64 of shape \(.*,\), not"),
    ({"chains.converged": np.array([1, 0])}, r"chains.converged is int64 of shape \(2,\), not bool"),
    (
        {"mixture.weights": np.ones(1), "mixture.probs": np.ones((1, 9)), "n_components": 1},
        "its mixture is not that of its draws",
    ),
]


@pytest.mark.parametrize(
    ("method", "changes", "reason"),
    [
        (method, *case)
        for method, cases in {
            "nbm": COMMON + OF_BATCH,
            "vfbm": COMMON + OF_BATCH + OF_VARIATIONAL,
            "gsfbm": COMMON + OF_SAMPLED,
        }.items()
        for case in cases
    ],
)
def test_what_is_no_model_is_refused(method, changes, reason, fitted, tmp_path):
    """Fields and arrays that no fitted model has are damage, even where the checksum fits."""
    path = tmp_path / "model.itemix"
    fitted[method].save(path)
    content = container.read(path)
    header, tensors = content._header, content._tensors
    for key, value in changes.items():
        if value is None and key in tensors:
            del tensors[key]
        elif isinstance(value, np.ndarray):
            tensors[key] = value
        else:
            *outer, last = key.split(".")
            (header[outer[0]] if outer else header)[last] = value
    container.write(path, header, tensors)
    with pytest.raises(ModelFileError, match=f"which is damaged \\(.*{reason}.*\\); copy it again, or save"):
        load(path)


@pytest.fixture(scope="module")
def wide():
    """Fit a sampler to many items, of which each transaction holds a few."""
    rng = np.random.default_rng(0)
    rows = [rng.choice(20, 4, replace=False) + 20 * (row % 16) for row in range(800)]
    data = Transactions.from_lists([row.tolist() for row in rows])
    return fit(DirichletProcessMixture(16, random_state=0, **GIBBS), data)


def test_files_of_wide_models_are_small(wide, tmp_path):
    """Counts that are mostly 0 are kept by rows, and what follows from them is not kept; nothing is lost."""
    loaded = through_file(wide, tmp_path)
    in_memory = wide.mixture_.probs.nbytes + sum(draw.item_counts.nbytes for draw in wide.chains_.draws)
    assert 4 * (tmp_path / "model.itemix").stat().st_size < in_memory
    assert loaded.mixture_ == wide.mixture_
    assert loaded.posteriors_ == wide.posteriors_
    for ours, theirs in zip(loaded.chains_.draws, wide.chains_.draws, strict=True):
        np.testing.assert_array_equal(ours.item_counts, theirs.item_counts)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model.itemix").read_bytes()


def test_what_does_not_follow_is_kept(fitted, data, tmp_path):
    """A mixture that is not that of its draws, or of its posterior, is written in full."""
    for method in ("gsfbm", "vdpm"):
        model = fit(MAKERS[method](), data)
        value = model.fitted_.value
        model.fitted_ = replace(model.fitted_, value=Mixture(value.weights, value.probs**2, value.items))
        assert through_file(model, tmp_path).mixture_ == model.mixture_ != fitted[method].mixture_


def changed(array, place, value):
    """Return a copy with one value changed."""
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("first", lambda a: changed(a, 1, 10**9), "the rows of its counts do not fit them"),
        ("first", lambda a: changed(a, 0, 1), "the rows of its counts do not fit them"),
        ("first", lambda a: changed(a, -1, a[-1] + 1), "the rows of its counts do not fit them"),
        ("first", lambda a: a[:-1], r"draws.item_counts.first is int64 of shape"),
        ("item", lambda a: changed(a, 0, -1), "the items of its counts are not in order"),
        ("item", lambda a: changed(a, -1, 320), "the items of its counts are not in order"),
        ("item", lambda a: changed(a, 1, a[0]), "the items of its counts are not in order"),
        ("item", lambda a: a[:-1], r"draws.item_counts.count is int32 of shape"),
        ("count", lambda a: changed(a, 0, -1), "holds an item less often than never"),
        ("count", lambda a: changed(a, 0, 2**31 - 1), "holds an item more often than transactions"),
    ],
)
def test_compressed_counts_are_checked(name, change, reason, wide, tmp_path):
    """Rows of counts that are no such rows are damage, even where the checksum fits."""
    path = tmp_path / "model.itemix"
    wide.save(path)
    content = container.read(path)
    key = f"draws.item_counts.{name}"
    container.write(path, content._header, {**content._tensors, key: change(content._tensors[key])})
    with pytest.raises(ModelFileError, match=f"which is damaged \\(.*{reason}"):
        load(path)


def test_a_small_file_does_not_ask_for_much_memory(wide, tmp_path):
    """Rows of counts are not spread over a table beyond all bounds; such a table is written in full."""
    path = tmp_path / "model.itemix"
    wide.save(path)
    content = container.read(path)
    n = 200_000
    content._header |= {"n_items": n}
    tensors = {**content._tensors, "items.integers": np.arange(n)}
    tensors |= {f"draws.{name}": np.ones((4, n)) for name in ("beta", "gamma")}
    container.write(path, content._header, tensors)
    with pytest.raises(ModelFileError, match=r"it has too few counts for \d+ x 200,000 of them"):
        load(path)
    spread = np.zeros((30, 3000), dtype=np.int32)
    spread[0, 0] = 1
    assert files._of_table(spread).keys() == {"draws.item_counts"}


@pytest.mark.parametrize("method", [*MAKERS, "wide"])
def test_damaged_files_are_refused(method, fitted, wide, tmp_path):
    """Files with a changed byte or a missing end give ModelFileError and nothing else."""
    path = tmp_path / "model.itemix"
    fitted = {**fitted, "wide": wide}
    fitted[method].save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(whole), 60, replace=False).tolist():
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        for data in (bytes(changed), whole[:place]):
            path.write_bytes(data)
            try:
                loaded = load(path)
            except ModelFileError:
                continue
            assert loaded.mixture_ == fitted[method].mixture_
            assert loaded.get_params() == fitted[method].get_params()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("format-*/*.itemix")), ids=lambda path: path.stem)
def test_golden_files_answer_as_when_they_were_written(path):
    """Files of every format so far are read by this version, and the models answer as they did."""
    expected = json.loads((path.parent / "answers.json").read_text())[path.stem]
    found = answers_of(load(path))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        is_number = np.asarray(value).dtype.kind == "f"
        assert found[name] == (pytest.approx(value, rel=1e-9) if is_number else value)


def test_golden_files_cover_every_kind():
    """There is a file of every method, and of every kind of model alone, in the present format.

    Another is of a variational method that says how sure its counts are, which files were without at first,
    and one of a sampler whose counts are compressed rows.
    Two have groups, with numbers and with names.
    """
    folder = GOLDEN / f"format-{container.FORMAT}"
    headers = [container.read(path)._header for path in folder.glob("*.itemix")]
    assert {header["method"] for header in headers if "method" in header} == METHODS.keys()
    alone = {header["kind"] for header in headers if "method" not in header}
    assert alone == {"CorrectedMixture", *(method.model for method in METHODS.values())}
    assert (folder / "vdpm-unsure.itemix").exists()
    assert (folder / "gsdpm-wide.itemix").exists()
    assert (folder / "vdpm-groups.itemix").exists()
    assert (folder / "vdpm-named-groups.itemix").exists()


def test_every_array_and_field_is_documented():
    """The guide names everything that a file holds."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "model-files.md").read_text()
    for path in sorted(GOLDEN.glob("*/*.itemix")):
        content = container.read(path)
        for name in {name for name in content._tensors if not name.startswith("parameters.")}:
            first, _, last = name.partition(".")
            assert f"`{name}`" in guide or any(
                f"`{first}." in line and f"`.{last}`" in line for line in guide.splitlines()
            )
        assert all(f"`{field}`" in guide for field in content._header)
