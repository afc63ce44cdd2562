"""Candidates tried one after the other."""

import pytest

from itemix.inference.selection import Scores, try_candidates

SCORES = {1: 0.0, 2: 3.0, 3: 2.0, 4: 1.0, 6: 9.0}


def test_all_are_tried_until_patience_ends():
    """Without patience all have a score; with it, the trying ends when the best stays the best."""
    assert try_candidates(SCORES.get, list(SCORES), "a number") == Scores(list(SCORES.values()))
    assert try_candidates(SCORES.get, list(SCORES), "a number", patience=2).values == [0.0, 3.0, 2.0, 1.0]


def test_ctrl_c_keeps_the_scores_so_far():
    """What has its score stays; where nothing has, there is nothing to keep."""

    def score(number):
        if number == 3:
            raise KeyboardInterrupt
        return SCORES[number]

    assert try_candidates(score, [1, 2, 3, 4], "a number") == Scores([0.0, 3.0], interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        try_candidates(score, [3, 4], "a number")
