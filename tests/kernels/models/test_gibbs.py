"""The collapsed samplers' kernels against the obvious twin, and against exact enumeration."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import gibbs as naive

from itemix import Transactions
from itemix.inference import gibbs as collapsed
from itemix.inference.priors import Prior
from itemix.kernels.models import gibbs

MODELS = pytest.mark.parametrize("n_components", [4, None], ids=["finite", "process"])


class Case:
    """A random data set with its prior, labels and tables."""

    def __init__(self, seed, n_components, *, n_rows=30, n_items=6, alpha=1.5, density=None, n_labels=4):
        rng = np.random.default_rng(seed)
        chance = rng.beta(0.5, 1.0, n_items) if density is None else np.full(n_items, density)
        self.X = (rng.random((n_rows, n_items)) < chance).astype(int)
        self.X[:, 0] = 1
        self.alpha, self.n_components = alpha, n_components
        self.beta, self.gamma = rng.gamma(1.0, 1.0, n_items) + 0.01, rng.gamma(1.0, 1.0, n_items) + 0.01
        self.model = naive.Model(alpha, self.beta, self.gamma, n_components)
        self.prior_tables = collapsed.prior_tables(Prior(alpha, self.beta, self.gamma), n_rows, n_components)
        self.rows = collapsed.expanded_rows(Transactions.from_matrix(self.X))
        self.labels = rng.integers(0, n_labels, n_rows).astype(np.int32)
        self.rng = rng
        self.can_grow = True
        self.tables = self.fresh_tables()

    def fresh_tables(self):
        """Return the tables of the present labels."""
        n_slots = self.n_components or self.labels.max() + 1
        return collapsed.make_tables(self.rows, self.labels, self.prior_tables, n_slots, 48)

    def log_joint(self):
        """Return the twin's joint log-probability of the present labels."""
        return naive.log_joint(self.X, self.labels, self.model)

    def points(self):
        """Return the rows and their labels."""
        return gibbs.Points(*self.rows, self.labels)

    def sweep(self):
        """Draw every label once; return the gain."""
        uniforms = self.rng.random(len(self.X))
        row, total = 0, 0.0
        while row < len(self.X):
            assert not (self.can_grow and self.tables.sizes.all())
            row, _, gain = gibbs.sweep(
                self.points(), uniforms, self.prior_tables, self.tables, row, self.can_grow
            )
            total += gain
        return total

    def split_merge(self, n_tries=3):
        """Try moves; return the gain."""
        sides = collapsed.no_tables(self.prior_tables)
        return gibbs.split_merge(
            self.points(), self.prior_tables, self.tables, sides, n_tries, 1, self.can_grow, self.rng
        )[2]

    def conditional(self, t):
        """Return the kernel's conditional, in the twin's form."""
        tables, own = self.tables, self.labels[t]
        C = len(tables.sizes)
        empty = gibbs.empty_slot(tables.sizes) if self.n_components is None else -1
        score = np.empty(C)
        if self.n_components is None:
            tables.base[empty] = self.prior_tables.size_term[0]
        items = self.rows.indices[self.rows.indptr[t] : self.rows.indptr[t + 1]]
        scratch = np.empty(C), np.empty(C), np.empty(C)
        slots = gibbs.Slots(np.int64(own), empty)
        stay = gibbs.score_row(self.prior_tables, tables, items, slots, score, *scratch)
        if self.n_components is None:
            tables.base[empty] = -np.inf
            alone = tables.sizes[own] == 1
            assert stay == score[empty if alone else own]
            new, score[empty] = score[empty], -np.inf
            score = np.append(score[: self.labels.max() + 1], new)
        else:
            assert np.isneginf(score[self.n_components :]).all()
            score = score[: self.n_components]
        chances = np.exp(score - score.max())
        return chances / chances.sum()

    def expected_conditional(self, t):
        """Return the twin's conditional."""
        return naive.conditional(self.X, self.labels, t, self.model)


def assert_same_tables(got, expected):
    """Check that counts are equal, and what is derived from them is equal but for rounding."""
    np.testing.assert_array_equal(got.sizes, expected.sizes)
    np.testing.assert_array_equal(got.counts, expected.counts)
    used = got.sizes > 0
    np.testing.assert_allclose(got.base[used], expected.base[used], rtol=0, atol=1e-10)
    np.testing.assert_allclose(got.base_out[used], expected.base_out[used], rtol=0, atol=1e-10)


@MODELS
@given(seed=st.integers(0, 10_000))
def test_conditionals_are_the_twins(n_components, seed):
    """The conditional of every label is that of equations finGibbs, infinGibbs and newcom, to 1e-10."""
    case = Case(seed, n_components, n_rows=12, n_labels=1 + seed % 4)
    for t in range(len(case.X)):
        np.testing.assert_allclose(case.conditional(t), case.expected_conditional(t), rtol=0, atol=1e-10)


@MODELS
@pytest.mark.parametrize("density", [0.02, 0.3, 0.97])
def test_conditionals_of_large_components_stay_the_twins(n_components, density):
    """They still are with hundreds of points in a component, where series replace sums, after many moves."""
    case = Case(7, n_components, n_rows=700, n_items=25, density=density)
    for _ in range(6):
        case.sweep()
        case.split_merge()
    assert case.tables.anchor.max() > 0
    for t in range(0, len(case.X), 23):
        np.testing.assert_allclose(case.conditional(t), case.expected_conditional(t), rtol=0, atol=1e-10)


def test_rows_longer_than_a_block_are_scored_in_parts():
    """More factors than fit a product without overflow do not change the conditional."""
    case = Case(3, 4, n_rows=20, n_items=60, density=0.8)
    short = case.prior_tables._replace(block=7)
    assert short.block < case.X.sum(axis=1).min() <= case.prior_tables.block
    whole = [case.conditional(t) for t in range(20)]
    case.prior_tables = short
    case.tables = case.fresh_tables()
    np.testing.assert_allclose([case.conditional(t) for t in range(20)], whole, rtol=0, atol=1e-12)


def test_rows_of_more_items_than_a_chunk_are_summed_in_parts():
    """Rows with hundreds of rare items keep the tables exact while they move between large components."""
    case = Case(5, 2, n_rows=300, n_items=900, density=0.4, n_labels=2)
    assert case.X.sum(axis=1).min() > gibbs.CHUNK
    for t in range(60):
        items = case.rows.indices[case.rows.indptr[t] : case.rows.indptr[t + 1]]
        own = int(case.labels[t])
        gibbs.move_point(case.prior_tables, case.tables, items, own, -1)
        gibbs.move_point(case.prior_tables, case.tables, items, 1 - own, 1)
        case.labels[t] = 1 - own
    assert case.tables.anchor[:2].min() > 0
    assert_same_tables(case.tables, case.fresh_tables())


@MODELS
@pytest.mark.parametrize("n_rows", [9, 400])
def test_tables_do_not_drift(n_components, n_rows):
    """After many sweeps and moves the tables are those of the labels, and the gains those of the joint."""
    case = Case(11, n_components, n_rows=n_rows, n_items=10, alpha=3.0)
    value = case.log_joint()
    for _ in range(30):
        value += case.sweep() + case.split_merge()
        assert case.labels.max() < 40
    assert value == pytest.approx(case.log_joint(), abs=1e-8)
    assert_same_tables(case.tables, case.fresh_tables())


@MODELS
def test_joint_of_components_is_the_twins(n_components):
    """The joint log-probability is the sum over components; that of a union is that of the merged labels."""
    case = Case(5, n_components, n_rows=200)
    got = collapsed.log_joint(case.prior_tables, case.alpha, case.tables)
    assert got == pytest.approx(case.log_joint(), abs=1e-9)
    union = gibbs.log_union(case.prior_tables, case.tables, 1, 2)
    case.labels[case.labels == 2] = 1
    merged = case.fresh_tables()
    assert union == pytest.approx(gibbs.log_component(case.prior_tables, merged, 1), abs=1e-9)


def test_a_full_process_sweep_stops_and_can_go_on():
    """Where no slot is left for a new component, the sweep says at which row; larger tables take it on."""
    case = Case(2, None, n_rows=60, alpha=1e6)
    case.tables = collapsed.make_tables(case.rows, case.labels, case.prior_tables, 4, 4)
    uniforms = case.rng.random(60)
    row, _, _ = gibbs.sweep(case.points(), uniforms, case.prior_tables, case.tables, 0, True)
    assert 0 < row < 60
    assert (case.tables.sizes > 0).all()
    case.tables = collapsed.make_tables(case.rows, case.labels, case.prior_tables, 8, 72)
    rows = [row]
    while rows[-1] < 60:
        rows.append(gibbs.sweep(case.points(), uniforms, case.prior_tables, case.tables, rows[-1], True)[0])
    assert (np.diff(rows) > 0).all()
    assert_same_tables(case.tables, collapsed.make_tables(case.rows, case.labels, case.prior_tables, 72, 72))


@pytest.mark.parametrize("n_components", [3, None], ids=["finite", "process"])
@pytest.mark.parametrize("moves", ["sweep", "split_merge"])
def test_long_run_frequencies_are_the_posterior(n_components, moves):
    """Each kind of move alone visits every partition as often as its exact posterior probability says."""
    case = Case(5, n_components, n_rows=5, n_items=3, n_labels=1)
    case.X[:] = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]]
    case.rows = collapsed.expanded_rows(Transactions.from_matrix(case.X))
    case.tables = case.fresh_tables()
    exact = naive.partition_posterior(case.X, case.model)
    n_draws = 40_000
    seen = Counter()
    for _ in range(n_draws):
        case.sweep() if moves == "sweep" else case.split_merge(2)
        seen[tuple(case.labels.tolist())] += 1
    frequency = Counter()
    for labels, count in seen.items():
        frequency[naive.canonical(labels)] += count / n_draws
    assert set(frequency) <= set(exact)
    assert sum(abs(frequency[labels] - p) for labels, p in exact.items()) / 2 < 0.025


@pytest.mark.parametrize("moves", ["sweep", "split_merge"])
def test_a_truncated_process_visits_the_partitions_that_fit(moves):
    """With no more than two slots, each kind of move visits the partitions into at most two as often."""
    case = Case(5, None, n_rows=5, n_items=3, n_labels=1)
    case.X[:] = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]]
    case.rows = collapsed.expanded_rows(Transactions.from_matrix(case.X))
    whole = case.fresh_tables()._asdict()
    by_item = {name: np.ascontiguousarray(whole[name][:, :2]) for name in ("counts", "place")}
    by_slot = {name: whole[name][:2].copy() for name in set(whole) - set(by_item) - {"scratch"}}
    case.tables = gibbs.ComponentTables(**by_item, **by_slot, scratch=whole["scratch"])
    case.can_grow = False
    fitting = {
        labels: p for labels, p in naive.partition_posterior(case.X, case.model).items() if max(labels) < 2
    }
    n_draws = 40_000
    seen = Counter()
    for _ in range(n_draws):
        case.sweep() if moves == "sweep" else case.split_merge(2)
        seen[naive.canonical(case.labels.tolist())] += 1 / n_draws
    total = sum(fitting.values())
    assert 0.1 < total < 0.9
    assert sum(abs(seen[labels] - p / total) for labels, p in fitting.items()) / 2 < 0.025


def test_finite_labels_are_exchangeable_in_the_long_run():
    """Split and merge moves use every label of the finite model equally often."""
    case = Case(1, 3, n_rows=4, n_items=2, n_labels=1)
    used = np.zeros(3)
    for _ in range(20_000):
        case.split_merge(1)
        used += np.bincount(case.labels, minlength=3)
    np.testing.assert_allclose(used / used.sum(), 1 / 3, atol=0.02)


@given(seed=st.integers(0, 1000))
def test_items_are_listed_as_near_or_far(seed):
    """Near are those that most points of a large component hold, and all of a small one; others are far."""
    case = Case(seed, None, n_rows=150, n_labels=2)
    tables = case.tables
    for k in range(2):
        gibbs.relist(case.prior_tables, tables, k)
        n, counts = tables.sizes[k], tables.counts[:, k]
        held = {i for i in range(len(counts)) if counts[i] > 0}
        near = {i for i in held if n < gibbs.SMALL or 2 * counts[i] > n}
        assert set(tables.listed[k, : tables.n_near[k]].tolist()) == near
        assert set(tables.listed[k, tables.n_near[k] : tables.n_listed[k]].tolist()) == held - near
        expected = sum(np.log((n - counts[i] + case.gamma[i]) / (n + case.gamma[i])) for i in held - near)
        assert tables.series[k, 0] == pytest.approx(expected, abs=1e-10)
