"""Files of trees, maximum entropy and independent items: loaded models answer as the saved ones."""

import numpy as np
import pytest
from fits import learned_names
from naive.trees import random_trees
from sklearn.exceptions import NotFittedError

from itemix import (
    ChowLiuMixture,
    ChowLiuTree,
    IndependentModel,
    LatentTreeModel,
    MaxEntropyModel,
    MultipleCauseMixture,
    load,
)
from itemix.errors import InvalidInputError, ModelFileError
from itemix.files import container, read_fitted, save

MAKERS = {
    "causes": lambda: MultipleCauseMixture("auto", random_state=0),
    "independent": lambda: IndependentModel(smoothing=0.5),
    "chow-liu": lambda: ChowLiuTree(edge_cost=1.5, n_jobs=1),
    "latent-tree": lambda: LatentTreeModel(2, random_state=0),
    "chow-liu-mixture": lambda: ChowLiuMixture("auto", pooling="auto", random_state=0),
    "maxent": lambda: MaxEntropyModel(min_support=0.1, max_len=2),
}
VALUES = {
    "cause-mixture": "causes",
    "tree-mixture": "chow-liu-mixture",
    "max-entropy": "maxent",
    "latent-tree-alone": "latent-tree",
}


@pytest.fixture(scope="module")
def data():
    """Dependent transactions of six items."""
    return random_trees(21, 2, 6).sample(300, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    """Fit a model by every method; the values behind two of them stand alone, too."""
    models = {method: make().fit(data) for method, make in MAKERS.items()}
    return models | {name: models[method].model_ for name, method in VALUES.items()}


@pytest.mark.parametrize("method", MAKERS)
def test_a_loaded_model_answers_as_before(method, fitted, data, tmp_path):
    """Parameters, what was learned and every answer are exactly the same; the bytes, too."""
    model = fitted[method]
    model.save(tmp_path / "a")
    loaded = load(tmp_path / "a")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert learned_names(loaded) == learned_names(model)
    assert loaded.model_ == model.model_
    np.testing.assert_array_equal(loaded.score_samples(data), model.score_samples(data))
    numbers = {"n_iter_", "converged_", "pooling_", "n_components_", "n_constraints_", "n_transactions_"}
    for name in learned_names(model) & numbers:
        assert getattr(loaded, name) == getattr(model, name)
    if method in {"chow-liu-mixture", "causes"}:
        np.testing.assert_array_equal(loaded.selection_.scores, model.selection_.scores)
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", VALUES)
def test_models_alone(name, fitted, tmp_path):
    """The values are saved without an estimator, and read back equal."""
    fitted[name].save(tmp_path / "a")
    assert load(tmp_path / "a") == fitted[name]
    stored = read_fitted(tmp_path / "a")
    assert stored.model == fitted[name]
    assert (stored.method, stored.training) == (None, None)


def test_trees_to_start_from_are_kept(fitted, data, tmp_path):
    """A parameter that is a mixture of trees comes back, for another fit."""
    start = ChowLiuMixture(2, random_state=0).fit(data).trees_
    model = ChowLiuMixture(2, init=start).fit(data)
    model.save(tmp_path / "a")
    loaded = load(tmp_path / "a")
    assert loaded.init == start
    assert loaded.fit(data).trees_ == model.trees_
    other = random_trees(0, 2, 3)
    with pytest.raises(InvalidInputError, match=r"expected parameters that a file can hold, got init=TreeM"):
        model.set_params(init=other).save(tmp_path / "a")
    with pytest.raises(NotFittedError):
        ChowLiuTree().save(tmp_path / "a")


@pytest.mark.parametrize("method", [*MAKERS, *VALUES])
def test_damaged_files_are_refused(method, fitted, tmp_path):
    """Files with a changed byte or a missing end give ModelFileError and nothing else."""
    path = tmp_path / "model.itemix"
    save(fitted[method], path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(whole), 30, replace=False).tolist():
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        for content in (bytes(changed), whole[:place]):
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                load(path)


CIRCLE = {
    "n_components": 1,
    "trees.weights": np.ones(1),
    "trees.parents": np.zeros((1, 6), np.int32),
    "trees.probs": np.ones((1, 6, 2)),
}
CASES = {
    "chow-liu-mixture": [
        ({"kind": "Popen"}, "this version knows no 'Popen' by the method"),
        ({"n_components": 7}, "components, not those of its header"),
        ({"training.pooling": -1.0}, "training.pooling in its header is -1.0"),
        ({"training.n_transactions": 0}, "training.n_transactions in its header is 0"),
        (CIRCLE, "got items that are their own ancestors"),
        ({"trees.probs": np.ones((9, 6, 2))}, "trees.probs is float64 of shape"),
        ({"extra": np.zeros(1)}, "it has an array 'extra' that this version does not know"),
    ],
    "causes": [
        ({"n_causes": 7}, "components, not those of its header"),
        ({"causes.baseline": np.full(6, np.inf)}, "expected baseline as finite numbers"),
        ({"causes.effects": np.zeros((15, 6))}, "expected n_causes from 1 to 14|causes.ties is float64"),
    ],
    "latent-tree": [
        ({"n_states": 7}, "components, not those of its header"),
        ({"latent.emissions": np.full((6, 2), np.inf)}, "expected probabilities from 0 to 1 in emissions"),
        ({"latent.transitions": np.ones((6, 2, 2))}, "expected transitions that sum to one"),
        ({"latent.parents": np.arange(6, dtype=np.int32)}, "expected parents that make a tree"),
    ],
    "maxent": [
        ({"n_itemsets": 3}, "itemsets.offsets is int64 of shape"),
        ({"frequencies": np.zeros(6)}, "expected no itemset to be more probable than its subsets, got one"),
        ({"frequencies": np.full(6, np.nan)}, "expected 6 frequencies, one for each item"),
        ({"method": "chow-liu"}, "this version knows no 'MaxEntropyModel' by the method 'chow-liu'"),
    ],
    "independent": [({"feature_names": 1}, "feature_names in its header is no bool")],
}


@pytest.mark.parametrize(
    ("method", "changes", "reason"), [(method, *case) for method, cases in CASES.items() for case in cases]
)
def test_what_is_no_model_is_refused(method, changes, reason, fitted, tmp_path):
    """Fields and arrays that no fitted model has are damage, even where the checksum fits."""
    path = tmp_path / "model.itemix"
    fitted[method].save(path)
    content = container.read(path)
    header, tensors = content._header, content._tensors
    for key, value in changes.items():
        if isinstance(value, np.ndarray):
            tensors[key] = value
        else:
            *outer, last = key.split(".")
            (header[outer[0]] if outer else header)[last] = value
    container.write(path, header, tensors)
    with pytest.raises(ModelFileError, match=f"which is damaged \\(.*{reason}.*\\); copy it again, or save"):
        load(path)


@pytest.mark.parametrize("method", MAKERS)
def test_stored_models_answer_without_scikit_learn(method, fitted, tmp_path):
    """What the command line reads: the model, how it was fitted, no posteriors."""
    fitted[method].save(tmp_path / "a")
    stored = read_fitted(tmp_path / "a")
    assert stored.method == method
    assert stored.model == fitted[method].model_
    assert stored.n_transactions == 300
    assert stored.posteriors == ()
    assert stored.error_source == ()
    assert stored.corrected is None
    if stored.components is not None:
        np.testing.assert_allclose(stored.components.item_probabilities, stored.model.item_probabilities)
    assert (stored.components is None) == (
        method not in {"independent", "causes"}
    )  # one tree has none either
