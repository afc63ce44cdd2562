"""Tables, claims and sentences of the paper's experiments, from results made by hand."""

import json

import pytest

import itemix
from benchmarks.paper import claims, sentences, tables
from benchmarks.paper.inputs import alike_halves
from benchmarks.paper.progress import Outlook
from benchmarks.paper.published import paper
from benchmarks.paper.scales import SCALES, Task, plan
from benchmarks.paper.store import Store
from benchmarks.paper.summary import Spread, Summary, by_length

FULL = SCALES["full"]


def accuracy(error, *, negative=0.1, positive=0.2, components=15.0, likelihood=-10.0):
    """A result of table 3 or 4."""
    return {
        "F-": negative,
        "F+": positive,
        "E": error,
        "D": -error,
        "n_true": 3,
        "n_predicted": 3,
        "log_likelihood": likelihood,
        "by_length": [[1, 2, error, -0.01], [2, 1, error, -0.2]],
        "components": components,
        "iterations": 10,
        "converged": True,
        "fit_seconds": 1.0,
        "seconds": 2.0,
    }


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return Store(tmp_path)


@pytest.fixture
def summary(store):
    """What the store holds of the full scale."""
    return Summary(store, FULL)


def fill(store, dataset, method, components, errors, floors, part="table4", found=15.0):
    """Put runs with these errors, and floors, into the store."""
    for run, (error, floor) in enumerate(zip(errors, floors, strict=True)):
        store.put(Task(part, dataset, method, components, run), accuracy(error, components=found))
        store.put(Task(part, dataset, "floor", 0, run), accuracy(floor, negative=0.05, positive=0.01))


def test_the_true_mixture_has_no_number_of_components_of_its_own(store, summary):
    """It was not fitted: its row has nothing in the column K."""
    fill(store, "syn15", "truth", 0, [0.01], [0.02], part="table3", found=None)
    assert tables.accuracy(summary, "syn15", "table3").splitlines()[-1].startswith("| the true mixture |  |")


def test_a_row_shows_ours_the_floor_and_the_paper(store, summary):
    """Mean and standard deviation over runs, in per cent, beside the floor and the paper's figure."""
    fill(store, "mushroom", "gsfbm", 15, [0.03, 0.05], [0.02, 0.04])
    table = tables.accuracy(summary, "mushroom", "table4").splitlines()
    assert table[0] == (
        "| method | K | F- | floor | paper | F+ | floor | paper | E | floor | paper | log-likelihood |"
    )
    assert table[2] == (
        "| GSFBM | 15 | 10.00 ± 0.00 | 5.00 | 0.77 ± 0.01 | 20.00 ± 0.00 | 1.00 | 0.74 ± 0.06 | "
        "4.00 ± 1.41 | 3.00 | 4.09 ± 0.07 | -10.000 |"
    )
    assert len(table) == 3


def test_a_method_that_finds_its_number_shows_what_it_found(store, summary):
    """The process has no K to choose: the mean of what was found stands there."""
    fill(store, "mushroom", "gsdpm", 0, [0.03, 0.05], [0.02, 0.04], found=21.5)
    assert "| GSDPM | 21.5 |" in tables.accuracy(summary, "mushroom", "table4")


def test_table_two_has_the_lengths_of_both(store, summary):
    """Lengths above ten are together, and those that are missing are zero."""
    record = {"n_transactions": 10, "n_items": 4, "n_ones": 20, "supports": [3, 1], "seconds": 1.0}
    lengths = [0, 79, 214, 181, 85, 11]
    store.put(Task("data", "msweb", "data"), record | {"lengths": lengths, "lengths_in_all": lengths})
    table = tables.lengths(summary).splitlines()
    assert table[2] == "| total | 570 | 570 | 570 |"
    assert table[4] == "| 2 | 214 | 214 | 214 |"
    assert table[-1] == "| over 10 | 0 | 0 | 0 |"
    assert sentences.all_sentences(summary)["data"] == (
        "The counts agree in every length on MS Web (570 itemsets)."
    )
    assert "| MS Web | 10 | 37,711 | 4 | 294 | 20 | 113,845 | 50.00% | 1.03% | 0.5% |" in tables.data_sets(
        summary
    )


def test_lengths_above_ten_are_added_up():
    """Total, one to ten, and the rest."""
    assert by_length([0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 6]) == [21, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11]


@pytest.mark.parametrize(("error", "holds"), [(0.0416, True), (0.0417, False)])
def test_a_row_is_within_one_standard_deviation_of_the_paper(store, summary, error, holds):
    """The paper has 4.09 ± 0.07 there."""
    fill(store, "mushroom", "gsfbm", 15, [error], [0.02])
    target = claims.targets(summary)[0]
    assert target.holds is holds
    assert target.measured == f"{int(holds)} of 1 rows"
    assert sentences.all_sentences(summary)["table4"].startswith(f"{int(holds)} of 1 Bayesian rows have an E")


@pytest.mark.parametrize(
    ("errors", "found", "holds"),
    [((0.021, 0.042), 20, True), ((0.021, 0.043), 20, False), ((0.02,) * 2, 31, False)],
)
def test_the_process_is_within_five_per_cent_of_the_floor_in_every_run(store, summary, errors, found, holds):
    """Each run is compared with the floor of its own split, and the number of components counts too."""
    fill(store, "mushroom", "gsdpm", 0, errors, [0.02, 0.04], found=found)
    target = next(target for target in claims.targets(summary) if "within 5%" in target.wanted)
    assert target.holds is holds
    assert target.measured.startswith(f"{errors[0] / 0.02:.2f}, {errors[1] / 0.04:.2f} times the floor")


def test_density_is_chosen_by_the_validation_part(store, summary):
    """The test part has no say, and what is not finite is never chosen."""
    base = {"components": 50.0, "iterations": 3, "converged": True, "seconds": 1.0}
    for K, strength, valid, test in (
        (50, 1, -6.1, -6.0),
        (100, 3, -6.05, -6.2),
        (200, 3, float("-inf"), -1.0),
    ):
        task = Task("density", "debd-nltcs", "vfbm", K, 0, f"{strength:g}")
        store.put(task, base | {"valid": valid, "test": test})
    assert "| VFBM | -6.200 |" in tables.density(summary, {})
    assert "| VFBM | 100; 3 |" in tables.density_choices(summary)
    target = next(target for target in claims.targets(summary) if "nltcs" in target.wanted)
    assert target == claims.Target(
        "nltcs: log-likelihood of a Bernoulli mixture at least -6.01", "-6.200 (VFBM)", holds=False
    )


def test_training_time_stands_beside_the_paper(store, summary):
    """Seconds, iterations and how much faster."""
    record = {
        "wall_seconds": 2.0,
        "iterations": 20,
        "components": 75.0,
        "machine": "a machine",
        "seconds": 2.0,
    }
    store.put(Task("table5", "accidents", "gsfbm", 75), record)
    assert tables.training(summary).splitlines()[2] == (
        "| GSFBM | 75 | 20.0 | 10.2 | 2.00 | 408 | 0.1000 | 40 | 400 | 204 |"
    )
    said = sentences.all_sentences(summary)
    assert "400 to 400 times faster" in said["table5"]
    assert said["machine"] == "Timings were taken on a machine."


def test_lines_cross_between_two_measured_numbers_of_rows():
    """Linear in the logarithms: twice the time for twice the rows crosses at the geometric mean."""
    times = {100: {"wall_seconds": 1.0}, 400: {"wall_seconds": 4.0}}
    assert claims.crossing(times, 2.0) == pytest.approx(200)
    assert claims.crossing(times, 0.5) == 100
    assert claims.crossing(times, 5.0) is None


def test_generation_times_show_both_sizes_and_where_they_cross(store, summary):
    """The table has the sample and the full size; the sentence where the model becomes faster."""
    timed = {"n_itemsets": 1000, "machine": "a machine", "seconds": 1.0}
    model = {"wall_seconds": 0.02, "mixture_components": 75, "components": 75.0, "iterations": 9}
    store.put(Task("table6", "accidents", "vfbm", 75), timed | model)
    for n, seconds in ((10_000, 0.01), (17_009, 0.04), (340_183, 0.4)):
        store.put(Task("table6", "accidents", "itemix", setting=str(n)), timed | {"wall_seconds": seconds})
    table = tables.generation(summary)
    assert "| accidents | model | 75 | 1,000 | 20.0 |  | 790.0 |" in table
    assert "| accidents, 340,183 rows | data, itemix |  | 1,000 | 400.0 |  |  |" in table
    assert "10,000 rows" not in table
    said = sentences.all_sentences(summary)["table6"]
    assert "- itemix: from about 13,000 rows on; at 340,183 rows the model is 20.0 times as fast." in said


def test_every_row_of_the_paper_is_planned():
    """The full scale has each method and number of components of tables 3, 4 and 5, five times."""
    tasks = set(plan(FULL))
    assert len({task.key for task in tasks}) == len(plan(FULL))
    for dataset, rows in paper()["accuracy"].items():
        part = "table3" if dataset.startswith("syn") else "table4"
        for row in rows:
            K = 0 if row["method"] == "gsdpm" else int(row["K"])
            assert all(Task(part, dataset, row["method"], K, run) in tasks for run in range(5))
    for row in paper()["training"]:
        K = 0 if row["method"] == "gsdpm" else int(row["K"])
        assert all(Task("table5", "accidents", row["method"], K, run) in tasks for run in range(5))


def test_results_come_back_from_disk(store, tmp_path):
    """New ones, packed ones, and those that replace packed ones; numbers are short, infinities are words."""
    first, second = Task("table4", "toy", "nbm", 3), Task("density", "toy", "vfbm", 3, 0, "0.3")
    store.put(first, {"E": 1 / 3, "log_likelihood": float("-inf"), "by_length": [[1, 0.1234567891]]})
    expected = {"E": 0.333333, "log_likelihood": "-inf", "by_length": [[1, 0.123457]]}
    assert Store(tmp_path).get(first) == store.get(first) == expected
    store.pack()
    store.put(first, {"E": 0.5})
    store.put(second, {"E": 0.25})
    again = Store(tmp_path)
    assert (again.get(first), again.get(second)) == ({"E": 0.5}, {"E": 0.25})
    again.pack()
    lines = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert lines == [
        {"key": "density/toy/vfbm-3/0-0.3", "E": 0.25},
        {"key": "table4/toy/nbm-3/0", "E": 0.5},
    ]
    assert again.forget([first]) == 1
    assert first not in Store(tmp_path)
    assert second in Store(tmp_path)


def test_a_file_that_was_not_finished_is_no_result(store, tmp_path):
    """A program that is killed while it writes leaves only a file of another name."""
    store.put(Task("table4", "toy", "nbm", 3), {"E": 0.5})
    (tmp_path / "new" / "table4" / "toy" / "nbm-3" / ".1.json.77").write_text('{"E": 0.')
    assert len(Store(tmp_path)) == 1


def test_time_left_comes_from_similar_tasks(store):
    """The same method on the same data counts first, then the same method, then the part."""
    done, other = Task("table4", "chess", "nbm", 15, 0), Task("table4", "chess", "gsdpm", 0, 0)
    store.put(done, {"seconds": 2.0})
    store.put(other, {"seconds": 10.0})
    left = [
        Task("table4", "chess", "nbm", 15, 1),
        Task("table4", "msweb", "gsdpm"),
        Task("table4", "msweb", "vdpm", 15),
    ]
    assert Outlook(left, store, plan(FULL)).seconds_left() == pytest.approx(2 + 10 + 6)


def test_one_value_has_no_deviation():
    """A single run is shown with a deviation of zero."""
    assert Spread.of([3.0]) == (3.0, 0.0)
    assert Spread.of([3.0, 5.0]) == (4.0, pytest.approx(2**0.5))


@pytest.mark.data("mushroom/mushroom.dat")
def test_halves_like_the_papers_have_as_many_itemsets():
    """They are random halves, ordered by how near their number of itemsets is to the paper's."""
    distances = []
    for run in range(3):
        train, test = alike_halves("mushroom", run)
        assert len(train) + len(test) == 8124
        distances.append(abs(len(itemix.mine(test, 0.2)) - paper()["totals"]["mushroom"]))
    assert distances == sorted(distances)
    assert distances[0] < 10


def test_past_the_paper_the_floor_comes_first(store, summary):
    """Errors as multiples of the floor; intervals and likelihoods where a model has them."""
    fill(store, "retail", "maxent", 0, [0.03, 0.05], [0.02, 0.04], part="beyond", found=None)
    for run, cover in enumerate((0.88, 0.94)):
        record = accuracy(0.0312, negative=0.08, positive=0.02) | {"cover": cover}
        store.put(Task("beyond", "retail", "gsdpm-corrected", 0, run), record)
        task = Task("beyond", "retail", "floor", 0, run)
        store.put(task, store.get(task) | {"cover": cover - 0.01})
    table = tables.past(summary, "retail").splitlines()
    assert table[2] == "| floor |  | 5.00 ± 0.00 | 1.00 ± 0.00 | 3.00 ± 1.41 | 1.00 | 90.0% |  |"
    assert table[3].startswith("| maximum entropy |  | 10.00 ± 0.00 | 20.00 ± 0.00 | 4.00 ± 1.41 | 1.33 |  |")
    assert table[4].endswith("| 3.12 ± 0.00 | 1.04 | 91.0% | -10.000 |")
    holds = {target.wanted: target.holds for target in claims.targets(summary) if "retail" in target.wanted}
    assert list(holds.values()) == [True, True, True]
    measured = [target.measured for target in claims.targets(summary) if "retail" in target.wanted]
    assert measured[-1] == "GSDPM 91.0% (counting 90.0%)"


def test_trees_have_figures_of_their_own_to_reach(store, summary):
    """Pooling and number of components are chosen by the validation part."""
    base = {"components": 5.0, "iterations": 3, "converged": True, "seconds": 1.0}
    for pooling, valid, test in ((5, -6.1, -6.0), (20, -6.0, -6.02)):
        store.put(
            Task("density", "debd-nltcs", "trees", 5, 0, f"{pooling}"), base | {"valid": valid, "test": test}
        )
    target = next(target for target in claims.targets(summary) if "trees" in target.wanted)
    assert target.measured == "-6.020 (mixture of Chow-Liu trees)"
    assert not target.holds


def test_what_averaging_gains_is_said(store, summary):
    """The average of the samples is compared with one of them."""
    base = {"components": 5.0, "iterations": 3, "converged": True, "seconds": 1.0, "valid": -6.0}
    for name, one in (("debd-nltcs", -6.1), ("debd-dna", -6.25)):
        task = Task("density", name, "gsdpm", 0, 0, "1")
        store.put(task, base | {"test": -6.0, "test_of_one": one})
    assert "worth 0.100 to 0.250 against the last sample" in sentences.all_sentences(summary)["density"]


def test_many_halves_are_compared_with_their_own_floors(store, summary):
    """A half without a floor does not count; errors, floors and covers are averaged over the same halves."""
    for run, (error, floor, cover) in enumerate(((0.02, 0.02, 0.8), (0.043, 0.04, 0.94))):
        store.put(Task("many", "chess", "vdpm-corrected", 0, run), accuracy(error) | {"cover": cover})
        store.put(Task("floors", "chess", "floor", 0, run), accuracy(floor) | {"cover": cover + 0.02})
    store.put(Task("many", "chess", "vdpm-corrected", 0, 2), accuracy(0.5) | {"cover": 0.0})
    line = tables.many(summary).splitlines()[2]
    assert line.startswith("| chess | 2 | 3.15 ± 1.63 | 3.00 ± 1.41 | 1.05 |")
    assert line.endswith("| 87.00% | 89.00% | 80.00% | 94.00% |")
    target = next(target for target in claims.targets(summary) if "2 halves" in target.wanted)
    assert target.measured == "1.050 times the floor, 87.0%"


def test_five_halves_say_little_about_intervals(store, summary):
    """Covers are averaged by fives, beside those of counts on the same halves."""
    for run, cover in enumerate([0.99] * 5 + [0.7] * 5):
        store.put(Task("many", "chess", "vdpm-corrected", 0, run), accuracy(0.02) | {"cover": cover})
        store.put(Task("floors", "chess", "floor", 0, run), accuracy(0.02) | {"cover": cover - 0.1})
    assert sentences.all_sentences(summary)["many"] == (
        "Taken by fives, the intervals of the halves cover 70.0% to 99.0% on chess; those of counts alone, "
        "whose variance is known, 60.0% to 89.0%."
    )


def test_the_earlier_correction_stands_beside_todays(store, summary, monkeypatch):
    """Differences and their standard errors are those of the same divisions, as multiples of the floor."""
    kept = {
        "errors": {"beyond/mushroom/vdpm-corrected": [0.11, 0.19], "many/chess/vdpm-corrected": [0.1, 0.2]},
        "further": [
            {
                "dataset": "msweb",
                "method": "vdpm-corrected",
                "floor": [0.1] * 3,
                "earlier": [0.1, 0.1, 0.1],
                "now": [0.11, 0.12, 0.13],
            }
        ],
    }
    monkeypatch.setattr("benchmarks.paper.summary.earlier", lambda: kept)
    fill(store, "mushroom", "vdpm-corrected", 0, [0.1, 0.2], [0.1, 0.2], part="beyond")
    rows = summary.compared()
    assert [(row.dataset, row.method, len(row.now)) for row in rows] == [
        ("mushroom", "vdpm-corrected", 2),
        ("msweb", "vdpm-corrected", 3),
    ]
    assert rows[0].difference == pytest.approx(0)
    assert rows[1].difference == pytest.approx(0.2)
    assert rows[1].standard_error == pytest.approx(0.1 / 3**0.5)
    table = tables.compared(summary).splitlines()
    assert table[2] == "| mushroom | VDPM, corrected | 2 | 1.0000 | 1.0000 | +0.0000 | 0.0667 |"
    target = next(one for one in claims.targets(summary) if "earlier correction" in one.wanted)
    assert not target.holds
    assert (
        target.measured
        == "at the worst +0.2000 times the floor, standard error 0.0577 (MS Web, VDPM, 3 divisions)"
    )
    said = sentences.all_sentences(summary)["compared"]
    assert said.endswith("More than two above is MS Web (VDPM, 3 divisions).")
