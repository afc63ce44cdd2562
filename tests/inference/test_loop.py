"""The loop: restarts, convergence, callbacks, seeds and Ctrl-C, with an algorithm that climbs a hill."""

import re
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from rich.console import Console

from itemix._runtime import make_bar
from itemix.inference.loop import Info, Settings, run, spawn_generators


@dataclass
class Hill:
    """Climbs towards a random height, halving the distance at every step; may be interrupted at one."""

    interrupt_at: int = 10**9
    heights: list = field(default_factory=list)
    n_steps: int = 0

    def init(self, rng):
        """Start at zero, below a random height."""
        self.heights.append(rng.random())
        return 0.0

    def step(self, state):
        """Go half of the way that is left."""
        self.n_steps += 1
        if self.n_steps == self.interrupt_at:
            raise KeyboardInterrupt
        return (state + self.heights[-1]) / 2, Info(state, 1)


def test_the_best_restart_is_kept():
    """Of several restarts the one with the highest bound is returned."""
    hill = Hill()
    result = run(hill, 1, Settings(n_init=5, max_iter=100, tol=1e-9), 0)
    assert len(hill.heights) == 5
    assert result.state == pytest.approx(max(hill.heights), abs=1e-6)
    assert result.restart == int(np.argmax(hill.heights))
    assert result.converged
    assert result.n_iter < 100


def test_restarts_have_their_own_random_streams():
    """Restart r is the same whatever n_init is; one seed repeats a run."""
    first, more = Hill(), Hill()
    run(first, 1, Settings(n_init=2, max_iter=2), 7)
    run(more, 1, Settings(n_init=4, max_iter=2), 7)
    assert more.heights[:2] == first.heights
    assert len(set(more.heights)) == 4
    again = [g.random() for g in spawn_generators(np.random.SeedSequence(7), 2)]
    assert again == first.heights
    assert len(spawn_generators(np.random.default_rng(0), 3)) == 3


def test_tol_is_an_average_over_transactions():
    """A run converges earlier where the same gain is shared by more transactions, and never without tol."""
    few = run(Hill(), 1, Settings(max_iter=40, tol=1e-6), 0)
    many = run(Hill(), 1000, Settings(max_iter=40, tol=1e-6), 0)
    assert many.n_iter < few.n_iter
    endless = run(Hill(), 1, Settings(max_iter=40, tol=None), 0)
    assert endless.n_iter == 40
    assert not endless.converged


def test_callbacks_are_told_and_can_stop():
    """Every callback hears of every iteration; one that returns True ends the run."""
    heard = []

    def stop_at_three(report):
        heard.append(report)
        return report.iteration == 3

    result = run(Hill(), 1, Settings(n_init=4, max_iter=9, tol=None), 0, callbacks=[stop_at_three])
    assert [report.iteration for report in heard] == [1, 2, 3]
    assert result.stopped
    assert result.n_iter == 3
    assert heard[-1].max_iter == 9
    assert heard[-1].n_restarts == 4
    assert heard[-1].seconds >= 0


def test_a_run_goes_on_from_a_state():
    """A given start replaces the restarts."""
    hill = Hill(heights=[1.0])
    result = run(hill, 1, Settings(n_init=5, max_iter=1), 0, start=0.5)
    assert result.state == 0.75
    assert hill.heights == [1.0]


def test_an_interrupt_keeps_the_best_state_so_far():
    """Ctrl-C in the third iteration returns the state of the second; in a later restart, the better one."""
    result = run(Hill(interrupt_at=3), 1, Settings(n_init=5, max_iter=9, tol=None), 0)
    assert result.interrupted
    assert result.n_iter == 2
    later = run(Hill(interrupt_at=10), 1, Settings(n_init=5, max_iter=9, tol=None), 0)
    assert later.interrupted
    assert later.restart == 0
    assert later.n_iter == 9


def test_an_interrupt_before_the_first_iteration_is_passed_on():
    """With nothing to keep, Ctrl-C stays Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        run(Hill(interrupt_at=1), 1, Settings(), 0)


@pytest.mark.parametrize("width", [80, 120])
def test_progress_stays_on_one_line(width, monkeypatch):
    """Where the terminal is narrow words are cut, but neither the method nor the times."""
    monkeypatch.setenv("COLUMNS", str(width))
    bar = make_bar(Console(stderr=True), "gsdpm", at_most=True)
    task = bar.add_task("iteration 22, -66.9056 a transaction, 248 components", total=100)
    bar.advance(task, 10)
    time.sleep(0.01)
    bar.advance(task, 10)
    (line,) = bar.console.render_lines(bar.make_tasks_table(bar.tasks))
    shown = "".join(segment.text for segment in line).rstrip()
    assert re.fullmatch(r"gsdpm .+ iteration 22, -66\.9056 a .* 0:00:00 at most \d:\d\d:\d\d left", shown)
    assert ("248 components" in shown) == (width == 120)
