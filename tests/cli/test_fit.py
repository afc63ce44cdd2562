"""`itemix fit`: options, files, the live display and Ctrl-C."""

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest
from inference.planted import planted_mixture

import itemix
from itemix.cli.fit import CRITERIA, INITS, METHODS, Fitting
from itemix.data.synthetic import grocery_store
from itemix.files import load

FEW = ["--max-iter", "20", "--seed", "0"]
SAMPLING = [*FEW, "--samples", "2", "--thin", "2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--itemset-support", "60"],
            "expected --itemset-support as a fraction or a count of at most 5, the",
        ),
        (
            ["--itemset-support", "nan"],
            "expected --itemset-support as a fraction in (0, 1] or a whole number",
        ),
        (["--itemset-support", "9" * 5000], "expected --itemset-support as a fraction (0.01), a percentage"),
        (["--itemset-len", "0"], "expected --itemset-len as a whole number of 1 or more, got 0; try 1"),
    ],
    ids=["count", "nan", "digits", "length"],
)
def test_options_of_maximum_entropy_are_named(run, baskets, tmp_path, options, message):
    """What is wrong is said of the option that was given, not of the estimator's parameter."""
    result = run("fit", baskets, "--method", "maxent", *options, "-o", tmp_path / "m.itemix", "-q")
    assert result.code == 2
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1


def test_any_method_takes_a_seed(run, baskets, tmp_path):
    """Methods without chance take a seed too, so that scripts can go through all methods alike."""
    for method in ("independent", "chow-liu", "maxent"):
        fitted = [
            run("fit", baskets, "--method", method, "-o", tmp_path / f"{method}{seed}.itemix", "-q", *options)
            for seed, options in enumerate(([], ["--seed", "7"]))
        ]
        assert [done.code for done in fitted] == [0, 0]
        models = [load(tmp_path / f"{method}{seed}.itemix").model_ for seed in range(2)]
        assert models[0].probability(["milk"]) == models[1].probability(["milk"])


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("nbm", [*FEW, "-K", "2"], itemix.BernoulliMixture(2, max_iter=20, random_state=0)),
        ("vfbm", [*FEW, "-K", "2"], itemix.BayesianMixture(2, max_iter=20, random_state=0)),
        (
            "gsfbm",
            [*SAMPLING, "-K", "2"],
            itemix.BayesianMixture(2, inference="gibbs", max_iter=20, n_samples=2, thin=2, random_state=0),
        ),
        ("vdpm", FEW, itemix.DirichletProcessMixture(max_iter=20, random_state=0)),
        (
            "gsdpm",
            SAMPLING,
            itemix.DirichletProcessMixture(
                inference="gibbs", max_iter=20, n_samples=2, thin=2, random_state=0
            ),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_is_its_estimator(run, baskets, tmp_path, method, options, expected):
    """The saved model is the one that the class fits with the same parameters and seed."""
    path = tmp_path / "m.itemix"
    result = run("fit", baskets, "--method", method, *options, "-o", path)
    assert result.code == 0
    assert result.out == ""
    assert f"\n{method}: " in result.err
    assert result.err.endswith(f"wrote {path}: itemix show {path} shows what it has found\n")
    expected.fit(itemix.read_transactions(baskets))
    loaded = load(path)
    assert type(loaded) is type(expected)
    assert loaded.mixture_ == expected.mixture_


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        (
            "chow-liu-mixture",
            [*FEW, "-K", "2", "--pooling", "auto", "--edge-cost", "0.5", "--smoothing", "2"],
            itemix.ChowLiuMixture(2, pooling="auto", edge_cost=0.5, smoothing=2, max_iter=20, random_state=0),
        ),
        (
            "causes",
            ["-K", "2", "--seed", "0", "--correction", "none"],
            itemix.MultipleCauseMixture(2, random_state=0),
        ),
        (
            "latent-tree",
            [*FEW, "-K", "2", "--smoothing", "2"],
            itemix.LatentTreeModel(2, smoothing=2, max_iter=20, random_state=0),
        ),
        ("chow-liu", ["--edge-cost", "bic"], itemix.ChowLiuTree()),
        ("independent", [], itemix.IndependentModel()),
        (
            "maxent",
            ["--itemset-support", "40%", "--itemset-len", "2"],
            itemix.MaxEntropyModel(min_support=0.4, max_len=2),
        ),
    ],
)
def test_other_models_are_their_estimators(run, baskets, tmp_path, method, options, expected):
    """Trees, maximum entropy and independent items; mined, asked, shown and evaluated like any model."""
    path = tmp_path / "m.itemix"
    result = run("fit", baskets, "--method", method, *options, "-o", path)
    assert (result.code, result.out) == (0, "")
    assert f"\n{method}: " in result.err
    expected.fit(itemix.read_transactions(baskets))
    assert load(path).model_ == expected.model_
    shown = run("show", path)
    alone = "item\tprobability"
    columns = {"chow-liu-mixture": "component\tweight\titem", "independent": alone, "causes": alone}
    assert shown.code == 0
    assert shown.out.startswith(columns.get(method, "item\tother"))
    assert f"m.itemix: {method}, " in shown.err
    names = list(expected.model_.items)
    asked = run("query", path, names[0], "--given", names[1], "-q")
    assert float(asked.out.splitlines()[1].split("\t")[0]) == pytest.approx(
        expected.probability(names[:1], given=names[1:2]), rel=1e-5
    )
    mined = run("mine", path, "--min-support", "0.3", "-q")
    assert len(mined.out.splitlines()) == 1 + len(itemix.mine(expected, 0.3))
    for command in (
        ["recommend", path, names[0]],
        ["rules", path, "--min-support", "0.3"],
        ["evaluate", path, baskets, "--min-support", "0.3"],
    ):
        assert run(*command, "-q").code == 0


def test_options_are_the_parameters():
    """Each option is the parameter of that name; words and numbers are told apart."""
    fitting = Fitting(
        method="gsdpm",
        components="7",
        alpha="learn",
        beta="2.5",
        gamma=0.5,
        init="one",
        starts=3,
        max_iter=11,
        tol=0.5,
        samples=4,
        thin=6,
        seed=8,
        threads=2,
    )
    assert fitting.estimator().get_params() == {
        **itemix.DirichletProcessMixture().get_params(),
        "inference": "gibbs",
        "n_components": 7,
        "alpha": "learn",
        "beta": 2.5,
        "gamma": 0.5,
        "init": "one",
        "n_init": 3,
        "max_iter": 11,
        "tol": 0.5,
        "n_samples": 4,
        "thin": 6,
        "random_state": 8,
        "n_jobs": 2,
        "correction": "auto",
    }
    chosen = Fitting(method="nbm", components="auto", criterion="held-out").estimator()
    assert (chosen.n_components, chosen.criterion) == ("auto", "held-out")


def test_choices_are_those_of_the_library(run, baskets, tmp_path):
    """What help offers, the library takes, and the guide describes."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")
    described = next(line for line in guide.splitlines() if line.startswith("| `--method`"))
    assert [name for name in METHODS if f"`{name}`" not in described] == []
    for options in (
        *(["--method", "nbm", "--components", "auto", "--criterion", name] for name in CRITERIA),
        *(["--method", "gsfbm", "-K", "2", "--init", name, *SAMPLING] for name in INITS[1:4]),
        *(["--method", "vfbm", "-K", "2", "--init", name] for name in INITS[:3]),
        *(["--method", "chow-liu-mixture", "-K", "2", "--init", name] for name in (*INITS[1:3], INITS[4])),
    ):
        result = run("fit", baskets, "-q", *options, "-o", tmp_path / "m.itemix")
        assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize("method", ["gsdpm", "vdpm"])
def test_a_process_chooses_itself(method):
    """With --components auto a Dirichlet process finds its own number, as it does by default."""
    assert Fitting(method, components="auto").estimator().n_components is None


def test_warnings_are_notes(run, baskets, tmp_path):
    """A fit that did not converge is saved, and says so."""
    path = tmp_path / "m.itemix"
    options = ["--method", "vfbm", "-K", "2", "--max-iter", "1", "--seed", "0"]
    result = run("fit", baskets, *options, "-o", path)
    assert result.code == 0
    assert "did not converge in --max-iter 1 iterations; raise --max-iter, or" in result.err
    assert "vfbm: 2 components, corrected by " in result.err
    assert "of them, not converged after 1 i" in result.err
    assert not load(path).converged_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected -o with a file to save the model to, got none; try -o model.itemix"),
        (["-o", "nowhere/m.itemix"], "expected an existing folder to write to, got "),
        (
            ["-o", "m", "--method", "em"],
            f"expected --method to be one of auto, density, {', '.join(METHODS)}, got 'em'",
        ),
        (
            ["-o", "m", "-K", "many"],
            "expected --components as a whole number or auto, got 'many'; try --components auto",
        ),
        (["-o", "m", "-K", "0"], "expected --components as a whole number of 1 or more, got 0"),
        (["-o", "m", "-K", "9"], "expected --components of at most n_samples=5, the transactions, got 9"),
        (
            ["-o", "m", "--beta", "learn-by-freq"],
            "expected --beta as a number or learn or learn-by-frequency, got 'learn-by-freq'; try --beta",
        ),
        (["-o", "m", "--alpha", "x"], "expected --alpha as a number or learn, got 'x'; try --alpha learn"),
        (["-o", "m", "--alpha", "-1"], "expected"),
        (
            ["-o", "m", "--method", "vdpm", "--max-components", "9"],
            "expected --max-components only with the sampling methods gsdpm and gsfbm, got it with vdpm",
        ),
        (["-o", "m", "--max-components", "0"], "expected --max-components as a whole number of 1 or more"),
        (["-o", "m", "--init", "zero"], "expected --init to be one of k-means++, random, one, got 'zero'"),
        (
            ["-o", "m", "--method", "vfbm", "--init", "one"],
            "expected --init to be one of sampled, k-means++, random, got 'one'",
        ),
        (
            ["-o", "m", "--method", "chow-liu-mixture", "--init", "one"],
            "expected --init to be one of k-means++, random, mixture, got 'one'",
        ),
        (
            ["-o", "m", "--criterion", "bic"],
            "expected options that gsdpm has, got --criterion; leave it out, or try --method gsfbm",
        ),
        (
            ["-o", "m", "--smoothing", "1"],
            "expected options that gsdpm has, got --smoothing; leave it out, or try --method chow-liu-",
        ),
        (
            ["-o", "m", "--correction", "-9"],
            "expected --correction as auto, none or a positive number, got '-9'",
        ),
        (["-o", "m", "--beta", "1.5"], "expected --beta of less than 1, got 1.5; or give --gamma 1 too"),
        (["-o", "m", "--seed", "-1"], "expected --seed as a whole number of 0 or more, got -1"),
        (
            ["-o", "m", "--method", "nbm", "--alpha", "1"],
            "expected options that nbm has, got --alpha; leave it out",
        ),
        (
            ["-o", "m", "--method", "chow-liu", "--correction", "2"],
            "expected options that chow-liu has, got --correction; leave it out",
        ),
        (
            ["-o", "m", "--method", "chow-liu", "--edge-cost", "much"],
            "expected --edge-cost as a number or bic, got 'much'; try --edge-cost bic",
        ),
        (
            ["-o", "m", "--method", "chow-liu", "--smoothing", "-1"],
            "expected --smoothing as a number of zero or more, got -1.0",
        ),
        (
            ["-o", "m", "--method", "vdpm", "--thin", "1"],
            "expected --thin only with the sampling methods gsdpm and gsfbm",
        ),
    ],
)
def test_bad_options_are_one_line(run, baskets, tmp_path, monkeypatch, options, message):
    """Every error is one line, code 2, and no file is written."""
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    result = run("fit", baskets, "-q", *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1
    assert set(tmp_path.iterdir()) == before


def test_a_model_is_no_data(run, baskets, tmp_path):
    """A model cannot be fitted to a model."""
    path = tmp_path / "m.itemix"
    run("fit", baskets, "--method", "nbm", "-K", "2", "-o", path)
    refused = run("fit", path, "-o", path)
    assert refused.code == 2
    assert "which holds a model; name the data behind it" in refused.err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_ctrl_c_keeps_the_best_so_far(start, baskets, tmp_path):
    """On a terminal the iterations are shown; Ctrl-C ends the fit, and what it has is saved."""
    path = tmp_path / "m.itemix"
    endless = ["--method", "gsfbm", "-K", "2", "--thin", "1000000000", "--seed", "0"]
    ours, theirs = pty.openpty()
    options = {"stdout": theirs, "stderr": theirs, "env": {"TERM": "xterm", "COLUMNS": "120"}}
    with start("fit", baskets, *endless, "-o", path, **options) as process:
        os.close(theirs)
        shown = read_until(ours, b"iteration ")
        assert b"a transaction" in shown
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, b"shows what it has found")
    os.close(ours)
    assert process.returncode == 0
    assert b"was interrupted; the best state so far is kept" in shown
    assert load(path).n_iter_ >= 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_ctrl_c_in_other_stages_keeps_what_there_is(start, tmp_path):
    """The terminal shows what a fit does besides iterating, and Ctrl-C there loses nothing."""
    path, data = tmp_path / "m.itemix", tmp_path / "store.csv"
    itemix.write_transactions(grocery_store(5000, random_state=0), data)
    ours, theirs = pty.openpty()
    streams = {"stdout": theirs, "stderr": theirs, "env": {"TERM": "xterm", "COLUMNS": "120"}}
    with start("fit", data, "--method", "nbm", "-K", "auto", "--seed", "0", "-o", path, **streams) as process:
        os.close(theirs)
        shown = read_until(ours, b"choosing the number of components: trying 3")
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, b"choosing the correction")
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, b"shows what it has found")
    os.close(ours)
    assert process.returncode == 0
    assert (
        b"the choice of the number of components was interrupted; 2, the best of 2 tried, is taken" in shown
    )
    assert b"the correction of BernoulliMixture was interrupted; the model is kept without one" in shown
    assert b"at most  left" not in shown
    assert load(path).n_components_ == 2


def read_until(terminal, words, seconds=60):
    """Read a terminal until some words have come."""
    text, end = b"", time.monotonic() + seconds
    while words not in text:
        assert time.monotonic() < end, text
        try:
            text += os.read(terminal, 4096)
        except OSError:  # what Linux says when the program has ended
            pytest.fail(f"it ended before it wrote {words!r}, with {text!r}")
    return text


def test_the_best_density(run, tmp_path):
    """Every family is tried, and the best is saved; it takes no options but the seed and the threads."""
    path = tmp_path / "data.jsonl"
    itemix.write_transactions(planted_mixture().sample(120, random_state=0), path)
    done = run("fit", path, "--method", "density", "--seed", "0", "-o", tmp_path / "m.itemix")
    assert done.code == 0
    found = load(tmp_path / "m.itemix")
    assert found.fitted_.n_transactions == 120
    assert f"{found.fitted_.method}: " in done.err
    refused = run("fit", path, "--method", "density", "-K", "3", "-o", tmp_path / "m.itemix")
    assert refused.code == 2
    assert "expected only --seed and --threads with --method density" in refused.err
