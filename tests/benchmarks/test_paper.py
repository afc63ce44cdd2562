"""The paper's experiments from end to end, on data that needs no download."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.paper import measures, workers
from benchmarks.paper.command import main
from benchmarks.paper.inputs import halves
from benchmarks.paper.scales import SCALES, Task, plan
from benchmarks.paper.store import Store

ROOT = Path(__file__).parents[2]
TASKS = plan(SCALES["tiny"])


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    """The number of threads that the program sets is set back."""
    for name in workers._ONE_THREAD:
        monkeypatch.setenv(name, os.environ.get(name, "1"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run of the tiny scale."""
    folder = tmp_path_factory.mktemp("paper")
    main(arguments(folder))
    return folder


def arguments(folder, *more):
    """The command line of a run into a folder."""
    return ["--scale", "tiny", "--results", f"{folder}/results", "--output", f"{folder}/page.md", *more]


def test_a_run_fills_the_store_and_the_page(finished):
    """Every task has its result, packed into one file, and every table and figure is there."""
    store = Store(finished / "results")
    assert all(task in store for task in TASKS)
    assert not list((finished / "results" / "new").rglob("*.json"))
    page = (finished / "page.md").read_text()
    for row in (
        "| toy | 400 |",
        "| GSDPM |",
        "| toy, 400 rows | data, itemix |",
        "| GSDPM, prior learned |",
        "| VDPM, corrected |",
        "| corrected mixture |",
        "| toy | EASE |",
        "| toy | VFBM | 3 | **-",
    ):
        assert row in page
    # The tiny scale has no synthetic data, no halves like the paper's, and nothing by an earlier correction.
    assert page.count("There are no results of this part") == 3
    assert "$" not in page
    assert "nan" not in page


def test_figures_are_vector_graphics_without_a_background(finished):
    """Each figure is SVG with lines in it, and its background is not painted."""
    for name in ("supports", "bias", "crossing", "reliability"):
        text = (finished / "page" / f"{name}.svg").read_text()
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - our own file
        assert text.count("<path") > 10
        background = text[text.index('id="patch_1"') :].split("/>")[0]
        assert "fill: none" in background


def test_redrawing_fits_nothing_and_gives_the_same(finished, capsys):
    """The page and its figures are made again from the results alone, byte for byte."""
    files = [finished / "page.md", *sorted((finished / "page").iterdir())]
    before = [path.read_bytes() for path in files]
    main(arguments(finished, "--redraw"))
    assert [path.read_bytes() for path in files] == before
    assert capsys.readouterr().err == ""


def test_redrawing_does_not_need_results(tmp_path):
    """Without results the page says so in every part, and has no figures."""
    main(arguments(tmp_path, "--redraw"))
    assert (tmp_path / "page.md").read_text().count("There are no results of this part") >= 10
    assert not (tmp_path / "page").exists()


def test_forgetting_a_method_makes_the_next_run_do_it_again(finished, capsys):
    """Only the forgotten results are made again, and the others stay as they are."""
    kept = {task.key: Store(finished / "results").get(task) for task in TASKS if task.method != "vdpm"}
    main(arguments(finished, "--forget", "vdpm", "--only", "table4"))
    assert capsys.readouterr().out == "2 results forgotten\n"
    assert sum(task not in Store(finished / "results") for task in TASKS) == 2
    main(arguments(finished))
    log = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[1] for line in log] == ["table4/toy/vdpm-3/0", "table4/toy/vdpm-3/1"]
    store = Store(finished / "results")
    assert {task.key: store.get(task) for task in TASKS if task.method != "vdpm"} == kept


def test_a_part_of_one_data_set_can_be_asked_for(tmp_path, capsys):
    """--only, --dataset and --method restrict what is done; a part has its name as a table too."""
    main(arguments(tmp_path, "--only", "table1,table4", "--dataset", "toy", "--method", "floor"))
    keys = [line.split("  ")[1] for line in capsys.readouterr().err.splitlines()]
    assert keys == ["table4/toy/floor/0", "table4/toy/floor/1"]


def test_unknown_parts_are_refused(capsys):
    """A part that there is not is named with those that there are."""
    with pytest.raises(SystemExit):
        main(["--only", "table9"])
    assert "expected --only with some of data, table3" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--processes", "3"])
    assert "expected --processes 1 or 2, got 3" in capsys.readouterr().err


def test_two_processes_give_the_results_of_one(finished, tmp_path):
    """What is measured does not depend on the number of processes."""
    options = ("--only", "table4", "--method", "floor,vfbm", "--processes", "2")
    main(arguments(tmp_path, *options))
    one, two = Store(finished / "results"), Store(tmp_path / "results")
    tasks = [task for task in TASKS if task.part == "table4" and task.method in ("floor", "vfbm")]
    for task in tasks:
        expected = one.get(task) | {"seconds": 0, "fit_seconds": 0}
        assert two.get(task) | {"seconds": 0, "fit_seconds": 0} == expected


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, capsys):
    """Ctrl-C keeps what was done; the next run does the rest and nothing twice."""
    command = [sys.executable, "-m", "benchmarks.paper", *arguments(tmp_path, "--only", "table4,density")]
    wanted = [task for task in TASKS if task.part in ("table4", "density")]
    running = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own
    deadline = time.monotonic() + 60
    while not list((tmp_path / "results" / "new").rglob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    done = [task.key for task in wanted if task in Store(tmp_path / "results")]
    assert 0 < len(done) < len(wanted)
    main(arguments(tmp_path, "--only", "table4,density"))
    keys = [line.split("  ")[1] for line in capsys.readouterr().err.splitlines()]
    assert sorted(keys + done) == sorted(task.key for task in wanted)


def test_a_fit_that_is_interrupted_is_no_result():
    """A chain keeps what it has on Ctrl-C, but the experiment ends there."""
    task = Task("table4", "toy", "gsdpm")
    train, _ = halves("toy", 0)
    measures.fit(task, train)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        measures.fit(task, train, n_samples=10**9)
    timer.join()
