"""Sets found before: which of them cover a level, with more of them than one word, and with room made."""

import numpy as np
import pytest
from naive import maximal as naive

from itemix.kernels.mining import maximal as kernels

N_ITEMS = 12


class Both:
    """The kernels and their twin, doing the same."""

    def __init__(self, n_items=N_ITEMS):
        self.known, self.twin = kernels.nothing_known(n_items), naive.Known()
        self.rng = np.random.default_rng(0)

    def random_members(self, most=6):
        """Return a few items."""
        n = self.rng.integers(1, most + 1)
        return self.rng.permutation(N_ITEMS)[:n].astype(np.int32)

    def note(self, members, last_level):
        """Add a set, with room made for it."""
        if len(self.twin.sets) == 64 * self.known.holders.shape[1]:
            self.make_room()
        kernels.note(self.known, len(self.twin.sets), members, len(members), last_level)
        self.twin.note(members.tolist(), last_level)

    def narrow(self, level, to_level, members):
        """Let fewer sets cover a level."""
        kernels.narrow(self.known, level, to_level, members, 0, len(members))
        self.twin.narrow(level, to_level, members.tolist())

    def make_room(self):
        """Make room for more sets, and return how many are forgotten."""
        self.known, n_forgotten = kernels.with_more_sets(self.known)
        self.twin.forget(n_forgotten)
        return n_forgotten

    def cover_all(self):
        """Let all sets cover level 0."""
        kernels.cover_all(self.known, len(self.twin.sets))
        self.twin.cover_all()

    def covers(self, level):
        """Return the sets that cover a level, as the kernels have it."""
        known, numbers = self.known, []
        for k in range(known.sizes[level]):
            word, first = int(known.covers[level, k]), 64 * int(known.places[level, k])
            numbers += [first + bit for bit in range(64) if word >> bit & 1]
        return {self.twin.sets[number] for number in numbers if number < len(self.twin.sets)}


def walk(both, n_steps, last_level):
    """Note random sets and narrow random levels, and compare all of them after each step.

    A level lists only words with any bit.
    """
    both.cover_all()
    for _ in range(n_steps):
        level = int(both.rng.integers(last_level))
        members = both.random_members(2)
        both.narrow(level, level + 1, members)
        both.note(np.union1d(members, both.random_members()).astype(np.int32), level)
        for depth in range(last_level + 1):
            assert both.covers(depth) == both.twin.covers.get(depth, set())
            assert both.known.covers[depth, : both.known.sizes[depth]].all()


def test_sets_cover_levels():
    """Levels are covered by the sets that hold their members, over many words, and after room was made."""
    both = Both()
    walk(both, 700, 4)
    assert both.known.holders.shape[1] == 16


def test_old_sets_are_forgotten():
    """Where all sets would take too much room, the older half is forgotten, at all levels."""
    both = Both(n_items=20_000)
    walk(both, 700, 4)
    assert both.known.holders.shape[1] == 8
    assert len(both.twin.sets) == 700 - 256
    assert both.make_room() == 256


@pytest.mark.parametrize("n_sets", [0, 1, 64, 65])
def test_all_sets_cover_the_first_level(n_sets):
    """Each set covers a level without members."""
    both = Both()
    for _ in range(n_sets):
        both.note(both.random_members(), -1)
    both.cover_all()
    assert both.covers(0) == set(both.twin.sets)
    assert both.known.sizes[0] == -(-n_sets // 64)


def test_more_levels():
    """What covers the levels there are stays, and there are twice as many."""
    both = Both()
    walk(both, 100, 7)
    n_levels = len(both.known.sizes)
    both.known = kernels.with_more_levels(both.known)
    assert [len(array) for array in both.known[1:4]] == [2 * n_levels] * 3
    walk(both, 100, 2 * n_levels - 1)
