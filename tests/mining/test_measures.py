from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from scipy import stats

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
