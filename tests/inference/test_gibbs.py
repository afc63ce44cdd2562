"""The collapsed samplers as a whole: their target, their states and the mixtures they end with."""

import numpy as np
import pytest
from naive import gibbs as naive

from itemix import InvalidInputError, Transactions
from itemix.inference import gibbs as collapsed
from itemix.inference import gibbs as hyper
from itemix.inference.chains import Schedule, effective_sample_size, sample
from itemix.inference.gibbs import GibbsSampler
from itemix.inference.loop import Settings, run
from itemix.inference.priors import Prior, alike_in_frequency, make_prior
from itemix.inference.start import label_starter
from itemix.kernels.models import gibbs
from itemix.kernels.models.gibbs import Points
from itemix.models.mixture import Mixture

MODELS = pytest.mark.parametrize("n_components", [4, None], ids=["finite", "process"])


def make_sampler(transactions, n_components, init="random", **options):
    """Return a sampler with the paper's prior."""
    weights = "sticks" if n_components is None else "dirichlet"
    prior = make_prior(transactions.item_counts(), transactions.n_transactions, weights=weights)
    start = label_starter(init, transactions, n_components)
    return GibbsSampler(transactions, prior, start, n_components or 1, **options)


def planted(seed=0, n=600, n_items=20):
    """Return transactions of three well separated components, and their labels."""
    rng = np.random.default_rng(seed)
    probs = np.where(rng.random((3, n_items)) < 0.5, 0.9, 0.05)
    labels = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    return Transactions.from_matrix((rng.random((n, n_items)) < probs[labels]).astype(int)), labels


def steps(sampler, n, seed=0):
    """Return the states of a chain."""
    states = [sampler.init(np.random.default_rng(seed))]
    for _ in range(n):
        states.append(sampler.step(states[-1])[0])
    return states


class Joint:
    """The joint distribution of labels and data of a small model, simulated in two ways (Geweke 2004)."""

    def __init__(self, n_components, n_rows=8, n_items=4, alpha=1.2):
        self.n_components, self.n_rows, self.alpha = n_components, n_rows, alpha
        self.beta, self.gamma = np.linspace(0.3, 0.9, n_items), np.linspace(0.8, 0.4, n_items)
        self.model = naive.Model(alpha, self.beta, self.gamma, n_components)
        self.prior_tables = collapsed.prior_tables(Prior(alpha, self.beta, self.gamma), n_rows, n_components)

    def draw_labels(self, rng):
        """Draw labels from their prior."""
        labels = []
        for t in range(self.n_rows):
            if self.n_components is None:
                sizes = np.bincount(labels, minlength=max(labels, default=-1) + 1) if t else np.empty(0)
                weights = np.append(sizes, self.alpha)
            else:
                weights = (
                    np.bincount(labels, minlength=self.n_components) if t else np.zeros(self.n_components)
                )
                weights = weights + self.alpha / self.n_components
            labels.append(int(rng.choice(len(weights), p=weights / weights.sum())))
        return np.array(labels, dtype=np.int32)

    def draw_data(self, labels, rng):
        """Draw data given labels."""
        probs = rng.beta(self.beta, self.gamma, (labels.max() + 1, len(self.beta)))
        return (rng.random((self.n_rows, len(self.beta))) < probs[labels]).astype(int)

    def step(self, X, labels, rng):
        """Change the labels by all of the sampler's moves, given the data."""
        rows = collapsed.expanded_rows(Transactions.from_matrix(X))
        n_slots = self.n_components or labels.max() + 1
        tables = collapsed.make_tables(rows, labels, self.prior_tables, n_slots, self.n_rows + 2)
        points = Points(*rows, labels)
        uniforms, row = rng.random(self.n_rows), 0
        while row < self.n_rows:
            row, _, _ = gibbs.sweep(points, uniforms, self.prior_tables, tables, row, True)
        sides = collapsed.no_tables(self.prior_tables)
        gibbs.split_merge(points, self.prior_tables, tables, sides, 2, 1, True, rng)
        return np.unique(labels, return_inverse=True)[1].astype(np.int32) if not self.n_components else labels

    def summary(self, X, labels):
        """Return statistics of labels and data, some of which depend on how the two fit together."""
        sizes = np.bincount(labels)
        value = naive.log_joint(X, labels, self.model)
        alike = (X[:, None] == X[None]).all(axis=2) & (labels[:, None] == labels[None])
        return [np.count_nonzero(sizes), sizes.max(), (sizes**2).sum(), X.sum(), alike.sum(), value]


@MODELS
def test_geweke_joint_distribution(n_components):
    """Alternating the sampler with new data gives the labels and data that the model itself generates."""
    joint = Joint(n_components)
    rng = np.random.default_rng(3)
    direct, alternating = [], []
    for _ in range(3000):
        labels = joint.draw_labels(rng)
        direct.append(joint.summary(joint.draw_data(labels, rng), labels))
    labels = joint.draw_labels(rng)
    for _ in range(6000):
        X = joint.draw_data(labels, rng)
        labels = joint.step(X, labels, rng)
        alternating.append(joint.summary(X, labels))
    direct, alternating = np.array(direct), np.array(alternating)
    sizes = np.array([effective_sample_size(column) for column in alternating.T])
    error = np.sqrt(direct.var(axis=0) / len(direct) + alternating.var(axis=0) / sizes)
    z = (direct.mean(axis=0) - alternating.mean(axis=0)) / error
    assert np.abs(z).max() < 3.5
    assert sizes.min() > 200


@MODELS
def test_states_are_immutable_and_steps_repeatable(n_components):
    """A step changes nothing in the state that it is given, and gives the same state every time."""
    sampler = make_sampler(planted()[0], n_components)
    state = steps(sampler, 3)[-1]
    before = [np.array(array) for array in (state.labels, *state.tables)]
    first, info = sampler.step(state)
    second, _ = sampler.step(state)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert not np.array_equal(first.labels, state.labels) or first.log_joint == state.log_joint
    for array, kept in zip((state.labels, *state.tables), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    assert info.bound == state.log_joint
    assert info.n_components == state.n_components


@MODELS
def test_the_joint_log_probability_is_kept_exactly(n_components):
    """What steps add up is the joint log-probability of the last labels, by the obvious formula."""
    data, _ = planted(n=150)
    sampler = make_sampler(data, n_components)
    state = steps(sampler, 12)[-1]
    prior = sampler.prior
    X = data.to_scipy().toarray()
    expected = naive.log_joint(
        X, state.labels, naive.Model(prior.alpha, prior.beta, prior.gamma, n_components)
    )
    assert state.log_joint == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("n_components", "init"), [(3, "random"), (3, "k-means++"), (8, "one"), (8, "random"), (None, "one")]
)
def test_planted_components_are_found(n_components, init):
    """Both models find the three components that made the data."""
    data, labels = planted()
    state = steps(make_sampler(data, n_components, init), 80 if init == "random" else 25)[-1]
    table = np.zeros((labels.max() + 1, state.labels.max() + 1))
    np.add.at(table, (labels, state.labels), 1)
    assert table.max(axis=1).sum() / len(labels) > 0.97
    assert (table.max(axis=1) > 50).all()
    assert len(set(table.argmax(axis=1))) == 3


def test_the_process_grows_past_its_first_slots_and_shrinks():
    """New components are never refused, empty ones are removed, and labels stay without large gaps."""
    rng = np.random.default_rng(0)
    data = Transactions.from_matrix((rng.random((400, 12)) < 0.5).astype(int))
    prior = make_prior(data.item_counts(), 400, alpha=200.0, weights="sticks")
    states = steps(GibbsSampler(data, prior, lambda _: np.zeros(400, dtype=np.int64)), 8)
    assert states[0].n_components == 1
    assert max(state.n_components for state in states) > 60
    low = make_prior(data.item_counts(), 400, alpha=1e-3, weights="sticks")
    singles = GibbsSampler(data, low, lambda _: np.arange(400))
    states = steps(singles, 8)
    assert states[0].n_components == 400
    assert states[-1].n_components < 40
    assert len(states[-1].tables.sizes) < 100


def test_the_process_keeps_within_its_bound():
    """A truncated process has no more components than it may, however many it would open."""
    rng = np.random.default_rng(0)
    data = Transactions.from_matrix((rng.random((300, 12)) < 0.5).astype(int))
    prior = make_prior(data.item_counts(), 300, alpha=200.0, weights="sticks")
    sampler = GibbsSampler(data, prior, lambda _: np.zeros(300, dtype=np.int64), max_components=24)
    states = steps(sampler, 10)
    assert states[-1].n_components == 24 == len(states[-1].tables.sizes)
    value = naive.log_joint(
        data.to_scipy().toarray(), states[-1].labels, naive.Model(200.0, prior.beta, prior.gamma, None)
    )
    assert states[-1].log_joint == pytest.approx(value, abs=1e-6)
    most = [
        GibbsSampler(Transactions([0, 1], [0], range(n)), prior, lambda _: np.zeros(1)).max_components
        for n in (1, 20_000, 10**6)
    ]
    assert most == [500, 200, 50]


def test_moves_take_no_longer_than_a_sweep_on_large_data():
    """A step tries ten moves or more, but fewer where they would look at large components again and again."""
    small, large = (planted(n=n, n_items=6)[0] for n in (600, 500_000))
    states = [steps(make_sampler(data, None, init="one"), 6) for data in (small, large)]
    assert [chain[0].n_tries for chain in states] == [20, 2]
    assert min(state.n_tries for state in states[0]) >= 10
    assert max(state.n_tries for state in states[1]) <= 3


def test_merged_transactions_have_labels_of_their_own():
    """Identical transactions stored once are sampled as if each were stored."""
    merged = planted(n=200, n_items=5)[0].merge_identical()
    rows = list(merged)
    data = Transactions(
        np.cumsum([0] + [len(row) for row in rows]), [item for row in rows for item in row], merged.items
    )
    got, expected = steps(make_sampler(merged, 3), 3)[-1], steps(make_sampler(data, 3), 3)[-1]
    assert len(got.labels) == 200
    np.testing.assert_array_equal(got.labels, expected.labels)


@MODELS
def test_finish_is_the_predictive_of_the_labels(n_components):
    """The mixture gives each transaction the probability of equation finGibbs, or infinGibbs plus newcom."""
    data, _ = planted(n=60, n_items=6)
    sampler = make_sampler(data, n_components)
    state = steps(sampler, 5)[-1]
    fitted = sampler.finish(state)
    assert sampler.flipped.any()
    assert not sampler.flipped.all()
    X, prior = data.to_scipy().toarray(), sampler.prior
    n_labels = n_components or state.labels.max() + 1
    expected = []
    for x in X[:10]:
        total = 0.0
        for k in range(n_labels):
            members = X[state.labels == k]
            weight = len(members) if n_components is None else len(members) + prior.alpha / n_components
            total += weight * naive.predictive(members, x, prior.beta, prior.gamma)
        if n_components is None:
            total += prior.alpha * naive.predictive(X[:0], x, prior.beta, prior.gamma)
        expected.append(np.log(total / (60 + prior.alpha)))
    np.testing.assert_allclose(fitted.mixture.log_likelihood(data)[:10], expected, rtol=1e-10)
    assert (np.diff(fitted.counts.sizes) <= 0).all()
    assert fitted.counts.n_transactions == 60


def test_the_loop_can_drive_a_sampler():
    """The sampler is an algorithm like the others: init, step, finish."""
    data, _ = planted(n=100)
    sampler = make_sampler(data, 3)
    result = run(sampler, 100, Settings(n_init=2, max_iter=5, tol=None), 0)
    assert result.n_iter == 5
    assert isinstance(sampler.finish(result.state).mixture, Mixture)


@MODELS
def test_hyperparameters_are_sampled_when_asked(n_components):
    """Alpha and the strength move, the frequencies that the Beta priors are centred on stay."""
    data, _ = planted()
    sampler = make_sampler(data, n_components, learn_alpha=True, learned_strengths=(np.arange(data.n_items),))
    states = steps(sampler, 20)
    changed = [n for n in range(1, 21) if states[n].prior.alpha != states[n - 1].prior.alpha]
    assert changed == [*range(1, 11), 15, 20]  # often at first, then now and then
    first, last = states[0].prior, states[-1].prior
    np.testing.assert_allclose(last.beta / (last.beta + last.gamma), first.beta / (first.beta + first.gamma))
    assert not np.isclose(last.beta[0], first.beta[0])
    assert 1 / 30 < (last.beta + last.gamma)[0] < 30


@MODELS
def test_alpha_is_drawn_from_its_posterior(n_components):
    """The long-run mean of alpha is that of its density on a grid."""
    sizes, prior = np.array([5, 3, 2]), Prior(1.0, np.ones(1), np.ones(1))
    labels = np.repeat(np.arange(3), sizes)
    grid = np.exp(np.linspace(-7, 6, 4000))
    logs = [naive.log_prior(labels, a, n_components) - 0.1 * a + np.log(a) for a in grid]
    density = np.exp(logs - np.max(logs))
    expected = (np.log(grid) * density).sum() / density.sum()
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(5000):
        prior = hyper.draw_alpha(prior, sizes, n_components, rng)
        draws.append(np.log(prior.alpha))
    error = np.std(draws) / np.sqrt(effective_sample_size(draws))
    assert abs(np.mean(draws) - expected) < 4 * error


@pytest.mark.parametrize("strength", [0.2, 5.0])
def test_strength_is_learned(strength):
    """Components drawn from Beta priors of some strength lead back to it."""
    rng = np.random.default_rng(1)
    mean = rng.uniform(0.2, 0.8, 40)
    probs = rng.beta(strength * mean, strength * (1 - mean), (30, 40)).T
    sizes = np.full(30, 200)
    counts = rng.binomial(200, probs).astype(np.int32)
    prior = Prior(1.0, mean, 1 - mean)
    draws = []
    for _ in range(30):
        prior = hyper.draw_strength(prior, sizes, counts, rng)
        draws.append((prior.beta + prior.gamma)[0])
    assert np.mean(draws[10:]) == pytest.approx(strength, rel=0.15)


def test_each_group_of_items_has_a_strength():
    """Rare items that are the same everywhere and frequent ones that are not lead to two strengths."""
    rng = np.random.default_rng(1)
    mean = np.repeat([0.02, 0.4], 40)
    strength = np.repeat([60.0, 1.0], 40)
    probs = rng.beta(strength * mean, strength * (1 - mean), (60, 80)).T
    counts = rng.binomial(300, probs).astype(np.int32)
    groups = alike_in_frequency(counts.sum(axis=1), 60 * 300)
    prior, draws = Prior(1.0, mean, 1 - mean), []
    for _ in range(30):
        prior = hyper.draw_strengths(prior, groups, np.full(60, 300), counts, rng)
        draws.append(prior.beta + prior.gamma)
    rare, frequent = np.mean(draws[10:], axis=0).reshape(2, 40).mean(axis=1)
    assert rare == pytest.approx(60, rel=0.35)
    assert frequent == pytest.approx(1, rel=0.15)
    np.testing.assert_allclose(prior.beta / (prior.beta + prior.gamma), mean)


def test_one_group_is_one_strength():
    """All items in one group draw what all items draw, and groups do not touch what is in none of them."""
    rng = np.random.default_rng(0)
    prior = Prior(1.0, np.full(6, 0.3), np.full(6, 0.7))
    sizes, counts = np.array([20, 30]), rng.integers(0, 20, (6, 2)).astype(np.int32)
    one = hyper.draw_strength(prior, sizes, counts, np.random.default_rng(4))
    same = hyper.draw_strengths(prior, (np.arange(6),), sizes, counts, np.random.default_rng(4))
    np.testing.assert_array_equal(one.beta, same.beta)
    part = hyper.draw_strengths(prior, (np.array([1, 4]),), sizes, counts, np.random.default_rng(4))
    assert (part.beta != prior.beta).tolist() == [False, True, False, False, True, False]


@pytest.mark.parametrize(
    ("init", "n_components", "message"),
    [
        (
            "best",
            3,
            r"expected init to be one of \['random', 'k-means\+\+', 'one'\].*got 'best'; try 'random'",
        ),
        ([0, 1], 3, r"expected 30 whole numbers as labels in init, got int64 of shape \(2,\)"),
        (np.full(30, 3), 3, "expected labels from 0 to 2 in init, got 3 to 3"),
    ],
)
def test_bad_starts_are_said(init, n_components, message):
    """A start that is unknown or does not fit the data is refused."""
    data, _ = planted(n=30)
    with pytest.raises(InvalidInputError, match=message):
        label_starter(init, data, n_components)


def test_a_mixture_can_be_the_start():
    """Labels start at the most probable components of a given mixture."""
    data, _ = planted(n=80)
    fitted = make_sampler(data, 3).finish(steps(make_sampler(data, 3), 20)[-1])
    state = make_sampler(data, 3, fitted.mixture).init(np.random.default_rng(0))
    np.testing.assert_array_equal(state.labels, fitted.mixture.labels(data))


def held_out(train, test, seed):
    """Return the mean held-out log-likelihood of a short run of the Dirichlet process."""
    chains = sample(make_sampler(train, None, "one"), Schedule(max_iter=40, n_samples=2, thin=5), seed)
    return chains.finish().mixture.log_likelihood(test).mean()


@pytest.mark.data("mushroom/mushroom.dat")
def test_no_seed_sticks_on_mushroom(data_folder):
    """Runs from different seeds end within 5% of the best one's held-out log-likelihood."""
    from itemix import read_transactions

    train, test = read_transactions(data_folder / "mushroom" / "mushroom.dat").split(0.5, random_state=0)
    values = np.array([held_out(train, test, seed) for seed in range(6)])
    assert (values >= 1.05 * values.max()).all()
