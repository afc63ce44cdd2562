"""Affinity: its scores by their definition, and what it refuses."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from itemix.errors import InvalidInputError
from itemix.models.affinity import Affinity
from itemix.models.calibration import Calibration


@pytest.fixture(params=[0.0, 0.5])
def own(request):
    """Random terms of some pairs of 12 items, with both flattenings that are learned."""
    rng = np.random.default_rng(0)
    is_pair = (rng.random((12, 12)) < 0.5) & ~np.eye(12, dtype=bool)
    n = int(is_pair.sum())
    return Affinity(
        offsets=np.concatenate([[0], np.cumsum(is_pair.sum(axis=1))]),
        codes=np.nonzero(is_pair)[1].astype(np.int32),
        linear=rng.normal(0, 1, n).astype(np.float32),
        logistic=rng.normal(0, 1, n).astype(np.float32),
        bias=rng.normal(0, 1, 12).astype(np.float32),
        flattening=request.param,
        scale=0.3,
        weights=(0.5, 0.25, 0.75),
        calibration=Calibration(np.array([0.0, 1.0]), np.zeros(1), np.array([[0.0, 1.0]])),
    )


def test_scores_are_sums_over_pairs(own):
    """The three scores, one item at a time."""
    offsets, codes = np.array([0, 2]), np.array([1, 4], dtype=np.int32)
    chances = np.random.default_rng(1).uniform(0.01, 0.99, (1, 12))
    found = own.scores(chances, offsets, codes)[0]
    for i in (0, 5, 9):
        sums = []
        for terms in (own.linear, own.logistic):
            inside = [
                terms[c]
                for j in codes
                for c in range(own.offsets[j], own.offsets[j + 1])
                if own.codes[c] == i
            ]
            sums.append(float(sum(inside)))
        linear = np.sign(sums[0]) * np.log1p(abs(sums[0]) / own.scale)
        logistic = own.bias[i] + sums[1] * 2**-own.flattening
        model = np.log(chances[0, i] / (1 - chances[0, i]))
        expected = own.weights[0] * linear + own.weights[1] * logistic + own.weights[2] * model
        assert found[i] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_a_value(own):
    """Read-only, also after pickling; what does not fit is refused."""
    again = pickle.loads(pickle.dumps(own))  # noqa: S301 - our own bytes
    assert repr(again) == repr(own) == f"Affinity(12 items, {own.n_terms:,} terms)"
    assert not any(a.flags.writeable for a in (again.offsets, again.codes, again.linear, again.bias))
    for change in ({"codes": own.codes + 12}, {"offsets": own.offsets[:-1]}, {"linear": own.linear[:-1]}):
        with pytest.raises(InvalidInputError, match="expected terms of pairs of 12 items"):
            replace(own, **change)
    for change in (
        {"weights": (1.0, -1.0, 0.0)},
        {"scale": 0.0},
        {"bias": np.full(12, np.nan)},
    ):
        with pytest.raises(InvalidInputError, match="expected finite terms"):
            replace(own, **change)
