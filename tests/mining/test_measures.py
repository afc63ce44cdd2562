from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from scipy import stats

import itemix
from itemix import InvalidInputError
from itemix.mining import measures

ROOT = Path(__file__).parents[2]


@given(st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.02, 0.2, 0.5, 1.0]), max_size=12))
def test_q_values(p_values):
    """Adjusted p-values are those of the definition, and SciPy's."""
    q = measures.q_values(np.array(p_values, dtype=float))
    assert q == pytest.approx(naive.q_values(p_values))
    if p_values:
        assert q == pytest.approx(stats.false_discovery_control(p_values))


@pytest.mark.parametrize("adjust", ["bh", "by", "holm", "bonferroni", "none"])
@given(p_values=st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.02, 0.2, 0.5, 1.0]), min_size=1, max_size=9))
def test_adjusted_by_definition(adjust, p_values):
    """Each way to adjust is its definition; tests that were left out count, as if none of them passed."""
    m, order = len(p_values), sorted(p_values)
    expected = {
        "none": lambda p: p,
        "bonferroni": lambda p: m * p,
        "holm": lambda p: max((m - i) * r for i, r in enumerate(order) if r <= p),
        "bh": lambda p: min(m / (i + 1) * r for i, r in enumerate(order) if r >= p),
        "by": lambda p: (
            sum(1 / k for k in range(1, m + 1)) * min(m / (i + 1) * r for i, r in enumerate(order) if r >= p)
        ),
    }[adjust]
    q = measures.q_values(np.array(p_values), adjust)
    assert q == pytest.approx([min(1.0, expected(p)) for p in p_values])
    if adjust in ("bh", "by"):
        assert q == pytest.approx(stats.false_discovery_control(p_values, method=adjust))
    small = np.array([p for p in p_values if p < 0.1])
    kept = q[np.array(p_values) < 0.1]
    alone = measures.q_values(small, adjust, n_tests=m)
    assert alone[kept <= 0.1] == pytest.approx(kept[kept <= 0.1])


def test_unknown_p_values_are_no_tests():
    """NaN stays NaN and does not make the others less significant."""
    q = measures.q_values(np.array([np.nan, 0.01, 0.04, np.nan]))
    assert np.isnan(q[[0, 3]]).all()
    assert q[1:3].tolist() == [0.02, 0.04]


@given(st.tuples(*[st.integers(1, 60)] * 4))
def test_chi_squared_is_scipys(table):
    """The statistic and its p-value are those of the 2 x 2 table, without correction."""
    both, only_a, only_c, neither = table
    n = sum(table)
    supports = [np.array([count / n]) for count in (both, both + only_a, both + only_c)]
    expected = stats.chi2_contingency([[both, only_a], [only_c, neither]], correction=False)
    assert measures.compute("chi_squared", *supports, n)[0] == pytest.approx(expected.statistic, abs=1e-9)
    assert measures.compute("p_value", *supports, n)[0] == pytest.approx(expected.pvalue, rel=1e-6)


# What the R package arules has found and keeps in its own tests (tests/testthat/test-interestMeasures.R at
# github.com/mhahsler/arules), of rules of its data set Adult with one item on each side, at three digits. Of
# 48,842 adults 28,577 work full-time, 32,650 are male, 33,906 have a private employer, 41,762 are white,
# 43,832 come from the United States, 44,807 have no capital gain and 46,560 no capital loss.
ADULTS = 48_842
COUNTS = [  # of both sides, of the antecedent, of the consequent
    (26_550, 28_577, 44_807),
    (27_384, 28_577, 46_560),
    (29_553, 32_650, 44_807),
    (30_922, 32_650, 46_560),
    (31_326, 33_906, 44_807),
    (32_431, 33_906, 46_560),
    (38_493, 41_762, 43_832),
    (38_184, 41_762, 44_807),
    (39_742, 41_762, 46_560),
    (40_146, 43_832, 44_807),
    (41_752, 43_832, 46_560),
]
ARULES = {
    "confidence": (0.929, 0.958, 0.905, 0.947, 0.924, 0.956, 0.922, 0.914, 0.952, 0.916, 0.953),
    "lift": (1.013, 1.005, 0.987, 0.993, 1.007, 1.003, 1.027, 0.997, 0.998, 0.998, 0.999),
    "leverage": (0.007, 0.003, -0.008, -0.004, 0.005, 0.002, 0.021, -0.003, -0.001, -0.001, -0.001),
    "conviction": (1.165, 1.119, 0.871, 0.883, 1.086, 1.074, 1.31, 0.964, 0.966, 0.982, 0.985),
    "certainty": (0.141, 0.106, -0.148, -0.133, 0.079, 0.069, 0.237, -0.037, -0.035, -0.018, -0.016),
    "jaccard": (0.567, 0.573, 0.617, 0.64, 0.661, 0.675, 0.817, 0.789, 0.818, 0.828, 0.858),
    "kulczynski": (0.761, 0.773, 0.782, 0.806, 0.812, 0.827, 0.9, 0.883, 0.903, 0.906, 0.925),
    "cosine": (0.742, 0.751, 0.773, 0.793, 0.804, 0.816, 0.9, 0.883, 0.901, 0.906, 0.924),
    "odds_ratio": (1.441, 1.304, 0.587, 0.634, 1.31, 1.256, 3.84, 0.736, 0.756, 0.816, 0.843),
    "imbalance_ratio": (0.347, 0.377, 0.254, 0.288, 0.23, 0.263, 0.044, 0.063, 0.099, 0.02, 0.056),
    "phi": (0.05, 0.028, -0.063, -0.042, 0.036, 0.023, 0.195, -0.027, -0.019, -0.016, -0.01),
    "difference_of_confidence": (
        *(0.028, 0.012, -0.037, -0.019, 0.021, 0.011, 0.168, -0.021, -0.011, -0.014, -0.007),
    ),
    "chi_squared": (
        *(124.024, 38.278, 194.725, 85.079, 62.203, 25.802, 1847.852, 35.656, 17.552, 12.358, 5.138),
    ),
    "mutual_information": (0.004, 0.002, 0.007, 0.005, 0.002, 0.001, 0.046, 0.001, 0.001, 0, 0),
}


@pytest.mark.parametrize("name", ARULES)
def test_measures_are_those_of_arules(name):
    """All values that arules keeps of these measures; it divides the information by the smaller entropy."""
    both, first, second = (np.array(column) / ADULTS for column in zip(*COUNTS, strict=True))
    found = measures.compute(name, both, first, second, ADULTS)
    if name == "mutual_information":
        entropies = [stats.entropy([p, 1 - p], base=2) for p in (first, second)]
        found = found / np.min(entropies, axis=0)
    assert found.round(3).tolist() == pytest.approx(ARULES[name], abs=1e-9)


def test_fishers_test_is_that_of_arules():
    """Its values of the same rules: the chance of so many or more."""
    both, first, second = (np.array(column) for column in zip(*COUNTS, strict=True))
    found = measures.fisher(both, first, second, ADULTS)
    assert found.round(2).tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0.99]


def test_all_confidence_is_that_of_arules():
    """Omiecinski's example, and what arules finds of it (the same file of tests); of single items it is 1."""
    rows = [["A", "B"], ["A", "B", "C", "G"], ["C", "D"], ["C", "D"], ["E", "F"]]
    itemsets = itemix.mine(rows, 1)
    found = itemsets.measure("all_confidence")
    expected = [1.00, 0.67, 0.33, 0.33, 0.50, 0.33, 0.33, 0.50, 0.50, 0.33, 0.33, 1.00, 0.33]
    assert sorted(found[itemsets.lengths > 1].round(2).tolist()) == sorted(expected)


def test_unknown_measure():
    """The message lists the choices."""
    with pytest.raises(
        InvalidInputError, match=r"expected a measure, got 'confidance'; try one of ante.*q_value"
    ):
        measures.check_measure("confidance")
    with pytest.raises(InvalidInputError, match=r"expected a measure, got \['lift'\]"):
        measures.check_measure(["lift"])


@pytest.mark.parametrize("name", measures.MEASURES)
def test_measures_are_where_people_look(name):
    """Each is in the table of the guide to rules, and in the list of the explorer if it needs no counts."""
    guide = (ROOT / "docs" / "guides" / "rules.md").read_text()
    page = (ROOT / "src" / "itemix" / "web" / "static" / "js" / "views" / "rules.js").read_text()
    assert name.endswith("t support") or f"\n| {name} |" in guide or name == "support"
    assert name in measures.NEED_COUNTS or f'["{name}", "' in page
