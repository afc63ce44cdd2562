import numpy as np
import pytest

from itemix import InvalidInputError
from itemix._arrays import frozen
from itemix.core.transactions import as_codes, as_multiplicities, as_pointers


@pytest.mark.parametrize("pointers", [[], [1, 2], [0, 1], [0, 3, 2], [[0, 2]], [0.0, 2.0], "ab"])
def test_pointers_ascend_from_zero_to_the_end(pointers):
    """Anything else is refused."""
    with pytest.raises(
        InvalidInputError, match=r"expected row pointers that ascend from 0 to .* \(2\), got others"
    ):
        as_pointers(pointers, 2)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, -1], r"expected item codes from 0 to 2, got -1; codes are positions in items"),
        ([0, 3], r"expected item codes from 0 to 2, got 3"),
        ([0.5], r"expected integer item codes, got float64; try Transactions.from_lists"),
        (["a"], r"expected integer item codes, got <U1"),
    ],
)
def test_codes_are_positions_in_items(codes, message):
    """Negative codes, too large ones and other types are refused."""
    with pytest.raises(InvalidInputError, match=message):
        as_codes(codes, 3)


@pytest.mark.parametrize("multiplicities", [[2**62, 2**62], np.array([2**63 + 5, 1], dtype=np.uint64)])
def test_multiplicities_can_be_counted(multiplicities):
    """More transactions than whole numbers that floats hold are refused rather than wrapped around."""
    message = (
        "expected at most 9,007,199,254,740,992 transactions in all, got multiplicities that add up to 9"
    )
    with pytest.raises(InvalidInputError, match=message):
        as_multiplicities(multiplicities, 2)
    assert as_multiplicities([2**53 - 1, 1], 2).sum() == 2**53


@pytest.mark.parametrize("multiplicities", [[1], [1, 0], [1, -2], [1.0, 2.0], [[1, 2]]])
def test_multiplicities_are_positive_whole_numbers(multiplicities):
    """There is one for each row."""
    with pytest.raises(InvalidInputError, match="expected a positive whole number for each of the 2 rows"):
        as_multiplicities(multiplicities, 2)


def test_frozen_arrays_are_not_the_callers():
    """Memory that the caller can write is copied, other memory is not."""
    own = np.array([0, 1, 2])
    assert frozen(own, [0, 1, 2]) is own
    theirs = np.arange(3)
    kept = frozen(theirs, theirs)
    view = frozen(theirs[:2], theirs)
    theirs[0] = 9
    assert kept.tolist() == [0, 1, 2]
    assert view.tolist() == [0, 1]
    assert theirs.flags.writeable
