"""Slow, obvious twin of what kernels/mining/maximal.py keeps: a list of sets, each with when it was found."""


class Known:
    """Sets found before, and which of them hold all members of each level."""

    def __init__(self):
        self.n_found = 0
        self.sets = []
        self.covers = {}

    def cover_all(self):
        """Let all sets cover level 0."""
        self.covers[0] = set(self.sets)

    def narrow(self, level, to_level, members):
        """Let those sets cover a level that cover another and hold the members."""
        self.covers[to_level] = {
            (when, found) for when, found in self.covers.get(level, ()) if found >= set(members)
        }

    def note(self, members, last_level):
        """Add a set that covers all levels up to one."""
        self.sets.append((self.n_found, frozenset(members)))
        self.n_found += 1
        for level in range(last_level + 1):
            self.covers.setdefault(level, set()).add(self.sets[-1])

    def forget(self, n_sets):
        """Leave out the sets that were found first."""
        forgotten, self.sets = set(self.sets[:n_sets]), self.sets[n_sets:]
        self.covers = {level: found - forgotten for level, found in self.covers.items()}
