"""Progress: a bar on a terminal, a line in a notebook, lines elsewhere, and a clock that always runs."""

import re
import sys
import textwrap
import time
import types

import pytest
from terminals import run_on_terminal

import itemix
from itemix import _runtime
from itemix._runtime import in_words, progress_of
from itemix.inference.loop import Report, shown_progress

LISTS = [["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"]] * 5


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.9, "59 s"), (200, "3 min 20 s"), (3900, "1 h 5 min")]
)
def test_seconds_in_words(seconds, text):
    """Times are written as people say them."""
    assert in_words(seconds) == text


def test_short_work_says_nothing_in_a_pipe(capsys):
    """A line comes after ten seconds only."""
    assert _runtime.WAITS[0] == 10
    with progress_of("mining") as line:
        line.tell("1/2 items", 1, 2)
    with progress_of("mining", shown=False) as line:
        assert line is None
    itemix.mine(LISTS, 1, progress=True)
    model = itemix.BernoulliMixture(2, random_state=0).fit(LISTS, progress=True)
    itemix.rules(itemix.mine(LISTS, 1), significance="fisher", progress=True)
    itemix.evaluate(model, LISTS, 1, train=LISTS, progress=True)
    model.recommend_many(LISTS, progress=True)
    assert capsys.readouterr().err == ""


def test_long_work_writes_lines_in_a_pipe(capsys, monkeypatch):
    """The lines say what is done, how much of it, and for how long; none comes after the end."""
    monkeypatch.setattr(_runtime, "WAITS", (0.01,))
    with progress_of("fit") as line:
        line.tell("iteration 3", 3, 12)
        time.sleep(0.1)
    assert capsys.readouterr().err == "fit: iteration 3 (25%), 0 s\n"
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_what_long_work_tells(monkeypatch):
    """Rules, evaluations and recommendations say what they do, and are the same as without."""
    told = []
    monkeypatch.setattr(_runtime.Progress, "tell", lambda self, *words: told.append((self.name, *words)))
    model = itemix.Mixture([1.0], [[0.6, 0.5, 0.5]], ["a", "b", "c"])
    found = itemix.mine(LISTS, 1, max_len=2).filter(min_len=2)
    made = itemix.rules(found, data=LISTS, significance="fisher", progress=True)
    assert list(made) == list(itemix.rules(found, data=LISTS, significance="fisher"))
    assert told[0] == ("rules", "0/3 itemsets", 0, 3)
    assert ("rules", "counting 3 sets") in told
    assert told[-1][1].startswith("testing ")
    told.clear()
    evaluation = itemix.evaluate(model, LISTS, 1, train=LISTS, progress=True)
    assert evaluation == itemix.evaluate(model, LISTS, 1, train=LISTS)
    assert [words for _, words in told] == [
        "mining the test set",
        "mining the model",
        "the supports of 7 itemsets",
        "mining the training set",
        "the likelihood of 20 transactions",
    ]
    told.clear()
    fitted = itemix.IndependentModel().fit(LISTS)
    offers = fitted.recommend_many(LISTS, 2, progress=True)
    assert [a.tolist() for a in offers] == [a.tolist() for a in fitted.recommend_many(LISTS, 2)]
    assert told == [("recommending", "0/20 baskets", 0, 20)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda wrong: itemix.rules(itemix.mine(LISTS, 1), progress=wrong),
        lambda wrong: itemix.evaluate(itemix.mine(LISTS, 1), LISTS, 1, progress=wrong),
        lambda wrong: itemix.IndependentModel().fit(LISTS).recommend_many(LISTS, progress=wrong),
    ],
)
def test_progress_is_true_or_false(ask):
    """Anything else is refused by name."""
    with pytest.raises(itemix.errors.InvalidInputError, match="progress"):
        ask("yes")


class Shown:
    """Stands for IPython: keeps what was displayed, and what it was replaced by."""

    def __init__(self, monkeypatch):
        self.seen = []
        kernel = types.SimpleNamespace(kernel=object())
        ours = types.SimpleNamespace(
            get_ipython=lambda: kernel,
            display=types.SimpleNamespace(HTML=str, display=self.display),
        )
        monkeypatch.setitem(sys.modules, "ipykernel", ours)
        monkeypatch.setitem(sys.modules, "IPython", ours)
        monkeypatch.setitem(sys.modules, "IPython.display", ours.display)

    def display(self, text, display_id):
        """Show a text, and return what replaces it."""
        self.seen.append(text)
        return types.SimpleNamespace(update=self.seen.append)


def test_a_notebook_shows_a_line_that_is_empty_in_the_end(monkeypatch, capsys):
    """It is HTML without widgets, escaped; work that ends at once leaves nothing."""
    shown = Shown(monkeypatch)
    with progress_of("fit"):
        pass
    assert shown.seen == []
    monkeypatch.setattr(_runtime, "_LEAST_SECONDS_BETWEEN", 0)
    with progress_of("fit") as line:
        line.tell("<b>", 1, 4)
        line.tell("choosing the correction")
    assert '<progress value="1" max="4"' in shown.seen[0]
    assert "&lt;b&gt;" in shown.seen[0]
    assert "<progress  style" in shown.seen[1]
    assert shown.seen[-1] == ""
    assert capsys.readouterr() == ("", "")


def test_a_notebook_follows_a_fit(monkeypatch):
    """`fit(progress=True)` shows its iterations."""
    shown = Shown(monkeypatch)
    monkeypatch.setattr(_runtime, "_LEAST_SECONDS_BETWEEN", 0)
    itemix.BernoulliMixture(2, random_state=0, tol=1.0).fit(LISTS, progress=True)
    assert any("iteration 2" in text for text in shown.seen)


def test_the_clock_runs_after_the_last_iteration():
    """What a fit does after its iterations takes its time, and the terminal shows that it goes on."""
    script = """
        import time
        from itemix.inference.loop import Report, shown_progress
        with shown_progress("fit", 10, quiet=False) as (callback,):
            callback(Report(0, 1, 5, 5, -10.0, 2, 0.1))
            callback.stage("choosing the correction")
            time.sleep(2.5)
    """
    shown = run_on_terminal([sys.executable, "-c", textwrap.dedent(script)], columns=120)
    assert shown.code == 0
    clocks = re.findall(
        r"choosing the correction[^0-9:]*(\d:\d\d:\d\d)", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.text)
    )
    assert {"0:00:01", "0:00:02"} <= set(clocks)


def test_reports_of_several_starts_add_up(monkeypatch):
    """The share that is done counts the iterations of all starts."""
    told = []
    monkeypatch.setattr(
        _runtime.Progress, "_draw", lambda line: told.append((line.text, line.done, line.total))
    )
    with shown_progress("fit", 10, quiet=False) as (callback,):
        callback(Report(0, 2, 5, 5, -10.0, 2, 0.1))
        callback(Report(1, 2, 1, 5, -20.0, 1, 0.1))
    assert told[1:] == [
        ("start 1 of 2, iteration 5, -1.0000 a transaction, 2 components", 5, 10),
        ("start 2 of 2, iteration 1, -2.0000 a transaction, 1 component", 6, 10),
    ]
    assert told[0] == ("starting", 0, None)
