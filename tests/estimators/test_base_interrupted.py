"""What a fit tells while it goes on, and what it leaves where it is stopped or interrupted."""

import os
import re
import signal
import threading

import numpy as np
import pytest
from fits import GIBBS
from sklearn.exceptions import ConvergenceWarning

from itemix.estimators import BayesianMixture, BernoulliMixture, ChowLiuMixture
from itemix.inference.em import Variational


def test_verbose_tells_the_progress(data, capsys):
    """Verbose prints iterations to the error stream, and nothing by default."""
    BernoulliMixture(2, random_state=0, verbose=1).fit(data)
    assert re.search(r"start 1 of 1, iteration 1: -\d+.*2 components", capsys.readouterr().err)
    BernoulliMixture(2, random_state=0).fit(data)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_callbacks_can_stop_a_fit(parameters, data):
    """A callback hears of every iteration; True ends the fit without a warning."""
    heard = []

    def stop(report):
        heard.append(report.iteration)
        return report.iteration == 2

    model = BayesianMixture(3, random_state=0, **parameters).fit(data, callbacks=[stop])
    assert heard == [1, 2]
    assert model.n_iter_ == 2


def test_an_interrupt_keeps_the_model_and_says_so(data):
    """Ctrl-C during a fit leaves a usable model and a warning."""

    def interrupt(report):
        if report.iteration == 3:
            raise KeyboardInterrupt

    model = BayesianMixture(3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="was interrupted; the best state so far is kept"):
        model.fit(data, callbacks=[interrupt])
    assert np.isfinite(model.score(data))


def test_an_interrupt_of_the_last_step_keeps_the_model(data, monkeypatch):
    """The model is there, only not how sure its counts are; it is not corrected, and says why."""
    expected = BayesianMixture(3, random_state=0).fit(data).mixture_

    def measured(algorithm, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Variational, "measured", measured)
    model = BayesianMixture(3, correction="auto", random_state=0)
    with pytest.warns(ConvergenceWarning, match="was interrupted; the best state so far is kept"):
        model.fit(data)
    assert model.mixture_ == expected
    assert model.corrected_ is None
    assert model.posterior_.known is None


class Interrupting:
    """A callback that is Ctrl-C at the first stage of some name, and hears of all stages."""

    def __init__(self, at):
        self.at = at
        self.heard = []

    def __call__(self, report):
        """Let the fit go on."""

    def stage(self, text):
        """Be Ctrl-C, once."""
        self.heard.append(text)
        if self.at is not None and text.startswith(self.at):
            self.at = None
            raise KeyboardInterrupt


def test_stages_are_told(data, capsys):
    """Callbacks that have a method for it hear what a fit does besides iterating; verbose prints it."""
    heard = Interrupting(None)
    BernoulliMixture("auto", criterion="bic", correction="auto", random_state=0, verbose=100).fit(
        data, callbacks=[heard]
    )
    assert heard.heard[:2] == [f"choosing the number of components: trying {k}" for k in (1, 2)]
    assert "choosing the correction" in heard.heard
    assert [line for line in capsys.readouterr().err.splitlines() if "start" not in line] == heard.heard


def test_an_interrupted_correction_is_left_out(data):
    """Ctrl-C during the correction keeps the model as it was fitted, and says so."""
    model = BernoulliMixture(3, correction="auto", random_state=0)
    with pytest.warns(ConvergenceWarning, match="correction of BernoulliMixture was interrupted; the model"):
        model.fit(data, callbacks=[Interrupting("choosing the correction")])
    assert model.converged_
    assert model.corrected_ is None
    assert not hasattr(model, "correction_choice_")


def test_an_interrupted_fit_is_not_corrected(data):
    """After Ctrl-C there is no more work to wait for."""
    told = Interrupting(None)

    def interrupt(report):
        raise KeyboardInterrupt

    model = BayesianMixture(3, correction="auto", random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"is kept \(1 iteration\), without a correction"):
        model.fit(data, callbacks=[interrupt, told])
    assert model.corrected_ is None
    assert told.heard == []


@pytest.mark.parametrize("criterion", ["held-out", "bic"])
def test_an_interrupted_choice_takes_the_best_so_far(criterion, data):
    """Ctrl-C while the number of components is chosen: the best of those tried is fitted."""
    at = Interrupting("choosing the number of components: trying 3")
    model = BernoulliMixture("auto", criterion=criterion, random_state=0)
    with pytest.warns(ConvergenceWarning, match="was interrupted; 2, the best of 2 tried, is taken"):
        model.fit(data, callbacks=[at])
    assert model.n_components_ == 2
    assert model.selection_.interrupted
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, callbacks=[Interrupting("choosing the number of components: trying 1")])


@pytest.mark.skipif(os.name != "posix", reason="needs pthread_kill")
@pytest.mark.parametrize("cls", [BayesianMixture, ChowLiuMixture])
def test_ctrl_c_in_a_candidate_ends_the_choice(cls, data):
    """A candidate that is interrupted itself has no score: the first leaves nothing to keep."""
    endless = cls("auto", tol=0, max_iter=10**9, random_state=0)
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.fit(data)
    finally:
        timer.cancel()
