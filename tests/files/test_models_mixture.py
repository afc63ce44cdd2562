"""Mixtures in files: equal when read back, whatever the items are called, and refused when not valid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix.errors import ModelFileError
from itemix.files import container, load, save
from itemix.models.mixture import Mixture

any_text = st.text(st.characters(), max_size=6)  # lone surrogates, commas, quotes and the empty name included
item_names = st.one_of(
    st.lists(any_text, unique=True, max_size=8),
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=8),
    st.just(["", ",", "a,b", 'say "hi"', "naïve", "牛乳", "\x00", "\n", "\ud800", " "]),
)


@given(items=item_names, n_components=st.integers(1, 5), seed=st.integers(0, 2**32))
def test_any_mixture_survives(tmp_path_factory, items, n_components, seed):
    """Reading back gives an equal mixture, and writing that one the same bytes."""
    folder = tmp_path_factory.mktemp("mixtures")
    rng = np.random.default_rng(seed)
    probs = rng.random((n_components, len(items))).round(rng.integers(0, 17))
    mixture = Mixture(rng.dirichlet(np.full(n_components, 0.3)), probs, items)
    mixture.save(folder / "a.itemix")
    loaded = load(folder / "a.itemix")
    assert loaded == mixture
    assert list(loaded.items) == items
    save(loaded, folder / "b.itemix")
    assert (folder / "a.itemix").read_bytes() == (folder / "b.itemix").read_bytes()


HEADER = {"kind": "Mixture", "n_components": 2, "n_items": 3}
TENSORS = {
    "items.offsets": np.array([0, 1, 2, 4]),
    "items.text": np.frombuffer("abé".encode(), dtype=np.uint8),
    "mixture.weights": np.array([0.25, 0.75]),
    "mixture.probs": np.array([[0.0, 0.5, 1.0], [0.1, 0.2, 0.3]]),
}


def test_the_layout_is_as_documented(tmp_path):
    """A file made by hand from the documented arrays is read."""
    path = tmp_path / "a.itemix"
    container.write(path, HEADER, TENSORS)
    mixture = Mixture(TENSORS["mixture.weights"], TENSORS["mixture.probs"], ["a", "b", "é"])
    assert load(path) == mixture
    mixture.save(tmp_path / "b.itemix")
    assert (tmp_path / "b.itemix").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mixture.weights": np.array([0.5, 0.6])}, "expected weights of zero or more that sum to 1, got"),
        ({"mixture.weights": np.array([1.5, -0.5])}, "expected weights of zero or more that sum to 1"),
        ({"mixture.weights": np.array([np.nan, 1.0])}, "expected weights of zero or more that sum to 1"),
        ({"mixture.weights": np.array([1.0])}, r"mixture.probs is float64 of shape \(2, 3\), not float64 of"),
        ({"mixture.weights": np.empty(0), "mixture.probs": np.empty((0, 3))}, "expected weights of shape"),
        ({"mixture.weights": np.array([[0.25, 0.75]])}, r"mixture.weights is float64 of shape \(1, 2\), not"),
        ({"mixture.weights": np.array([0, 1])}, r"mixture.weights is int64 of shape \(2,\), not float64"),
        ({"mixture.probs": np.full((2, 3), 1.1)}, "expected probabilities from 0 to 1, got others"),
        ({"mixture.probs": np.full((2, 3), -0.1)}, "expected probabilities from 0 to 1, got others"),
        ({"mixture.probs": np.full((2, 3), np.nan)}, "expected probabilities from 0 to 1, got others"),
        ({"mixture.probs": np.zeros((2, 4))}, r"mixture.probs is float64 of shape \(2, 4\), not"),
        ({"mixture.probs": None}, "it has no array mixture.probs"),
        ({"items.offsets": np.array([0, 1, 4])}, r"items.offsets is int64 of shape \(3,\), not"),
        ({"items.offsets": np.array([0, 2, 1, 4])}, "the offsets of its item names do not fit their text"),
        ({"items.offsets": np.array([1, 1, 2, 4])}, "the offsets of its item names do not fit their text"),
        ({"items.offsets": np.array([0, 1, 2, 5])}, "the offsets of its item names do not fit their text"),
        ({"items.offsets": np.array([0, 1, 3, 4])}, "an item name is no UTF-8"),
        ({"items.text": np.frombuffer(b"aacd", np.uint8)}, "expected distinct item names, got 'a' more than"),
        ({"items.integers": np.array([1, 2])}, r"items.integers is int64 of shape \(2,\), not"),
        ({"items.integers": np.array([1, 2, 3])}, "it has an array 'items.offsets' that this version"),
        ({"n_items": 4}, r"items.offsets is int64 of shape \(4,\), not int64 of \(5,\)"),
        ({"n_items": -1}, "n_items in its header is -1"),
        ({"n_components": 3}, "it has 2 components, not those of its header"),
        ({"kind": "os.system"}, "its header has no method"),
        ({"kind": ["Mixture"]}, "kind in its header is no str"),
        ({"secret": np.zeros(1)}, "it has an array 'secret' that this version does not know"),
    ],
)
def test_what_is_no_mixture_is_refused(tmp_path, changes, reason):
    """Values and shapes that no mixture has are damage, even where the checksum fits."""
    fields = {name: value for name, value in changes.items() if not isinstance(value, np.ndarray | None)}
    arrays = {name: value for name, value in changes.items() if name not in fields}
    tensors = {name: array for name, array in (TENSORS | arrays).items() if array is not None}
    path = tmp_path / "a.itemix"
    container.write(path, HEADER | fields, tensors)
    with pytest.raises(ModelFileError, match=rf"which is damaged \({reason}.*\); copy it again, or save"):
        load(path)


def test_weights_stay_as_they_are():
    """A mixture made of a mixture's own weights is equal to it, to the last bit."""
    rng = np.random.default_rng(0)
    for n in (1, 3, 50, 1000):
        mixture = Mixture(rng.dirichlet(np.ones(n)) * (1 + 1e-9), np.zeros((n, 1)), ["a"])
        np.testing.assert_array_equal(Mixture(mixture.weights, mixture.probs, ["a"]).weights, mixture.weights)
        assert mixture.weights.sum() == pytest.approx(1, abs=1e-14)
