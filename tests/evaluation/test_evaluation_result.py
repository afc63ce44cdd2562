"""Evaluation: the value, its table, and its way to files and frames and back."""

import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

from itemix import Evaluation, Mixture, evaluate
from itemix.evaluation import Criteria

TEST = [["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"], ["a"]]
TRAIN = [["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "b"]]


@pytest.fixture
def evaluation():
    """An evaluation with everything: two lengths, a log-likelihood and a floor."""
    return evaluate(Mixture([1.0], [[0.6, 0.5, 0.5]], "abc"), TEST, 0.4, train=TRAIN)


def test_it_prints_as_a_table_with_the_floor_beside_it(evaluation):
    """One row for all lengths, one for each, in per cent."""
    assert repr(evaluation).splitlines() == [
        "Evaluation: 4 true itemsets, support >= 40%, of 5 transactions",
        "  true  predicted   missed  floor  false  floor   error   floor     bias    floor  length",
        "     4          3   25.00%  0.00%  0.00%  0.00%  29.17%  14.58%  -16.67%  -14.58%  all",
        "     3          3    0.00%  0.00%  0.00%  0.00%  22.22%   8.33%   -5.56%   -8.33%  1",
        "     1          0  100.00%  0.00%  0.00%  0.00%  50.00%  33.33%  -50.00%  -33.33%  2",
        "log-likelihood of a transaction: -1.9782",
    ]
    assert "<td" in evaluation._repr_html_()
    assert "29.17%" in evaluation._repr_html_()


def test_without_a_floor_there_is_no_column_for_it(evaluation):
    """The floor itself prints as a table, without a log-likelihood."""
    assert repr(evaluation.floor).splitlines() == [
        "Evaluation: 4 true itemsets, support >= 40%, of 5 transactions",
        "  true  predicted  missed  false   error     bias  length",
        "     4          4   0.00%  0.00%  14.58%  -14.58%  all",
        "     3          3   0.00%  0.00%   8.33%   -8.33%  1",
        "     1          1   0.00%  0.00%  33.33%  -33.33%  2",
    ]


def test_what_is_not_known_is_a_dash():
    """A length without true itemsets has no error, and one that the floor does not predict has no floor."""
    found = evaluate(Mixture([1.0], [[0.9, 0.9]], "ab"), [["a"], ["b"]], 0.5, train=[["a"], ["b"]])
    assert repr(found).splitlines()[4].split() == [
        "0",
        "1",
        "0.00%",
        "-",
        "100.00%",
        "-",
        "-",
        "-",
        "-",
        "-",
        "2",
    ]


def test_it_comes_back_from_a_dictionary_and_from_json(evaluation):
    """Equal in every figure, the floor included."""
    assert Evaluation.from_dict(evaluation.to_dict()) == evaluation
    assert Evaluation.from_dict(json.loads(json.dumps(evaluation.to_dict()))) == evaluation
    figures = evaluation.to_dict()
    assert figures["recall"] == evaluation.recall
    assert [row["length"] for row in figures["by_length"]] == [1, 2]
    assert figures["floor"]["mean_relative_error"] == evaluation.floor.mean_relative_error
    impossible = evaluate(Mixture([1.0], [[1.0, 0.5, 0.5]], "abc"), TEST, 0.4)
    assert impossible.log_likelihood == -np.inf
    assert Evaluation.from_dict(json.loads(json.dumps(impossible.to_dict()))) == impossible


def test_it_is_a_value(evaluation):
    """It cannot be changed, is equal to its copy, and can be pickled and hashed."""
    with pytest.raises(FrozenInstanceError):
        evaluation.min_support = 0.1
    evaluation.by_length.clear()
    assert list(evaluation.by_length) == [1, 2]
    assert pickle.loads(pickle.dumps(evaluation)) == evaluation  # noqa: S301 - our own bytes
    assert hash(evaluation) == hash(Evaluation.from_dict(evaluation.to_dict()))


def test_the_frame_has_a_row_for_each_length_of_each_prediction(evaluation):
    """All lengths first, where the length is missing; then the floor in the same way."""
    frame = evaluation.to_pandas()
    assert frame["prediction"].tolist() == ["model"] * 3 + ["floor"] * 3
    assert frame["length"].isna().tolist() == [True, False, False] * 2
    assert frame["length"].dropna().tolist() == [1, 2, 1, 2]
    assert frame["false_negative_rate"].tolist() == [0.25, 0, 1, 0, 0, 0]
    assert frame["n_true"].tolist() == [4, 3, 1] * 2
    assert len(evaluation.floor.to_pandas()) == 3


def test_figures_that_are_not_defined_are_missing_in_frames():
    """The mean over no itemset is None, and missing in a data frame."""
    nothing = Criteria(0, 1, 0, None, None)
    found = Evaluation(0.5, 2, Criteria(1, 2, 1, 0.1, -0.1), ((2, nothing),))
    assert pd.isna(found.to_pandas()["mean_relative_error"].iloc[1])
    assert nothing.to_dict()["mean_relative_error"] is None
