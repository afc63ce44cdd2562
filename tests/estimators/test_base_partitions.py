"""Fits to transactions in parts: those of all transactions at once, to rounding."""

import numpy as np
import pytest

import itemix
from itemix import BayesianMixture, BernoulliMixture, DirichletProcessMixture, InvalidInputError
from itemix.estimators import bayesian
from itemix.models import counts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MAKERS = (BernoulliMixture, BayesianMixture, DirichletProcessMixture)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("init", ["sampled", "random", "k-means++"])
def test_fits_are_those_of_the_whole(make, init, data):
    """The bounds of all iterations agree to 1e-9, with empty and with sorted parts, kept or read anew."""
    data = data.sample(300, random_state=0)
    parts = itemix.partitions([data[:0], data[:40], data[40:41], data[41:]])
    model = make(4, init=init, max_iter=6, tol=0, random_state=3)
    whole = model.fit(data)
    bounds, weights = whole.lower_bounds_, whole.mixture_.weights
    model.fit(parts)
    np.testing.assert_allclose(model.lower_bounds_, bounds, rtol=1e-9)
    np.testing.assert_allclose(model.mixture_.weights, weights, atol=1e-9)
    assert model.mixture_.items == data.items


def test_chunks_are_fitted(tmp_path, data):
    """Chunks of a file are fitted without bringing all of them into memory."""
    itemix.write_transactions(data, tmp_path / "data.parquet")
    chunks = itemix.read_chunks(tmp_path / "data.parquet", chunk_bytes=4000)
    fits = [
        BernoulliMixture(3, max_iter=4, tol=0, random_state=0).fit(source)
        for source in (chunks, itemix.read_transactions(tmp_path / "data.parquet"))
    ]
    assert len(chunks.sizes) > 2
    np.testing.assert_allclose(*(model.lower_bounds_ for model in fits), rtol=1e-9)


def test_the_front_door_takes_parts(data, monkeypatch):
    """Few transactions are brought here: the model is that of all. Of many a part is sampled first."""
    data = data.sample(300, random_state=0)
    parts = itemix.partitions([data[:100], data[:0], data[100:]])
    of_parts, of_all = (itemix.fit(source, progress=False) for source in (parts, data))
    assert of_parts.corrected_ == of_all.corrected_
    monkeypatch.setattr(bayesian, "_FIRST_SAMPLED", 80)
    monkeypatch.setattr(bayesian, "_MOST_SAMPLED", 200)
    found = [
        itemix.fit(itemix.partitions(own), progress=False)
        for own in ([data[:1], data[1:]], [data[:150], data[150:]])
    ]
    np.testing.assert_allclose(*(model.lower_bounds_ for model in found), rtol=1e-9)
    assert found[0].fitted_.training.n_transactions == 300
    assert found[0].inference == "variational"
    assert found[0].recommend([data.items[0]])
    with pytest.raises(InvalidInputError, match="expected sample_weight=None for transactions in parts, got"):
        itemix.fit(parts, sample_weight=[1] * 300)


def test_large_rows_are_prepared_block_by_block(data, monkeypatch):
    """The fit is that of rows prepared at once, to rounding, whatever the threads, and in a part as well."""
    data = data.sample(300, random_state=0)
    model = BernoulliMixture(4, max_iter=6, tol=0, random_state=3)
    bounds = model.fit(data).lower_bounds_
    monkeypatch.setattr(counts, "_BYTES_OF_COPIES", 3000)
    assert counts.blocks_to_prepare(data) > 3
    found = [model.set_params(n_jobs=n).fit(data).lower_bounds_ for n in (1, 3)]
    np.testing.assert_allclose(found[0], bounds, rtol=1e-9)
    np.testing.assert_array_equal(*found)
    sizes = []
    prepare = counts.Rows._prepare
    monkeypatch.setattr(
        counts.Rows,
        "_prepare",
        lambda rows, own, flipped: sizes.append(own.n_rows) or prepare(rows, own, flipped),
    )
    np.testing.assert_array_equal(model.fit(itemix.partitions([data])).lower_bounds_, found[0])
    assert len(sizes) > 3  # blocks of the only part


def test_fits_that_need_all_transactions(data):
    """Sampling, the choice of the number of components and corrections say no, and what to set."""
    parts = itemix.partitions([data])
    for model, message in (
        (
            DirichletProcessMixture(inference="gibbs"),
            "expected inference='variational' for transactions in parts",
        ),
        (BernoulliMixture("auto"), "expected a number as n_components for transactions in parts"),
        (BernoulliMixture(2, correction="auto"), "expected correction=None for transactions in parts"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            model.fit(parts)
    with pytest.raises(InvalidInputError, match="expected sample_weight=None for transactions in parts"):
        BernoulliMixture(2).fit(parts, sample_weight=[1] * len(data))
