import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import rules as naive

from itemix.kernels.mining import rules
from itemix.mining.measures import MEASURES

CODES = list(enumerate(MEASURES[:-1]))
BOUNDED = [
    *["confidence", "lift", "leverage", "conviction", "jaccard", "certainty", "kulczynski"],
    *["cosine", "phi", "difference_of_confidence"],
]


@st.composite
def tables(draw):
    """Draw a table of counts; give the supports of both sides and of each, and the total."""
    both, only_a, only_c, neither = draw(st.tuples(*[st.integers(0, 50)] * 4).filter(lambda t: t[0] > 0))
    n = both + only_a + only_c + neither
    return both / n, (both + only_a) / n, (both + only_c) / n, n


@pytest.mark.parametrize(("code", "name"), CODES)
@given(table=tables())
def test_measures_follow_their_definitions(code, name, table):
    """Every measure is what the textbook says, on every table with at least one transaction in common."""
    both, a, c, n = table
    computed = rules.measure_all(code, *(np.array([x]) for x in (both, a, c)), float(n))[0]
    assert computed == pytest.approx(naive.measure(name, both, a, c, n), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("code", "name"), CODES)
@given(table=tables(), threshold=st.floats(-2, 5))
def test_no_rule_lies_under_the_bound_of_its_confidence(code, name, table, threshold):
    """The search may stop under the bound: no rule that reaches the threshold has a lower confidence."""
    both, a, c, n = table
    reached = rules.measure_all(code, *(np.array([x]) for x in (both, a, c)), float(n))[0] >= threshold
    assert not reached or both / a >= rules.least_confidence(code, threshold, both), name


@pytest.mark.parametrize("name", BOUNDED)
@settings(max_examples=40)
@given(both=st.floats(0.05, 0.95), threshold=st.floats(-0.5, 1) | st.floats(1, 6))
def test_the_bound_of_the_confidence_is_the_least_one(name, both, threshold):
    """Of the measures that bound it, some rule comes as near to the bound as tried supports allow."""
    bound = rules.least_confidence(MEASURES.index(name), threshold, both)
    least = naive.least_confidence(name, threshold, both)
    # The next support of A that was not tried lies a step of 1 / 30 of all that is left above it.
    step = (1 - both) / 30
    if least is None:
        assert bound > both / (both + step)
    else:
        assert bound <= least
        assert max(bound, both) >= both / (both / least + step) * (1 - 1e-6)


@pytest.mark.parametrize(("code", "name"), CODES)
def test_what_is_not_known_stays_unknown(code, name):
    """Without the supports of the sides there is only the support; without n there is no significance."""
    one = np.array([0.5])
    nan = np.array([np.nan])
    without_sides = rules.measure_all(code, one, nan, nan, 10.0)[0]
    assert math.isnan(without_sides) == (name != "support")
    without_n = rules.measure_all(code, one, one, one, np.nan)[0]
    assert math.isnan(without_n) == (name in ("chi_squared", "p_value"))


@given(table=tables(), name=st.sampled_from(["phi", "mutual_information", "odds_ratio"]))
def test_measures_of_other_libraries(table, name):
    """Phi is Matthews' coefficient, mutual information scikit-learn's in bits, the odds ratio SciPy's."""
    both, a, c, n = table
    counts = [round(n * x) for x in (both, a - both, c - both, 1 - a - c + both)]
    of_a, of_c, weight = [1, 1, 0, 0], [1, 0, 1, 0], counts
    computed = rules.measure_all(MEASURES.index(name), *(np.array([x]) for x in (both, a, c)), float(n))[0]
    if name == "phi":
        expected = sklearn.metrics.matthews_corrcoef(of_a, of_c, sample_weight=weight)
    elif name == "odds_ratio":
        assume(min(a, c) > 0 and max(a, c) < 1)
        expected = scipy.stats.fisher_exact([counts[:2], counts[2:]]).statistic
    else:
        contingency = np.reshape(counts, (2, 2))
        expected = sklearn.metrics.mutual_info_score(None, None, contingency=contingency) / math.log(2)
    assert computed == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.tuples(*[st.integers(0, 40)] * 4).filter(any))
def test_fisher_is_scipys(table):
    """The tail is that of the definition, and SciPy's one-sided p-value."""
    both, only_a, only_c, neither = table
    counts = both, both + only_a, both + only_c, sum(table)
    tail = rules.upper_tails(*(np.array([count]) for count in counts))[0]
    assert tail == pytest.approx(naive.fisher(*counts), rel=1e-9, abs=1e-300)
    expected = scipy.stats.fisher_exact([[both, only_a], [only_c, neither]], alternative="greater").pvalue
    assert tail == pytest.approx(expected, rel=1e-7)


def test_fisher_of_large_counts():
    """Far tails and large counts keep their precision."""
    counts = [
        np.array(x) for x in zip((900, 1000, 50_000, 10**6), (60_000, 10**6, 10**8, 2 * 10**9), strict=True)
    ]
    expected = [scipy.stats.hypergeom.sf(k - 1, t, h, d) for k, d, h, t in zip(*counts, strict=True)]
    assert rules.upper_tails(*counts) == pytest.approx(expected, rel=1e-5)
