"""Little data to train: tables, targets and sentences, from results made by hand."""

import numpy as np
import pytest

import itemix
from benchmarks.paper import claims, sentences, tables
from benchmarks.paper.inputs import scarce_parts
from benchmarks.paper.measures import measure
from benchmarks.paper.scales import SCALES, Task
from benchmarks.paper.store import Store
from benchmarks.paper.summary import Summary

FULL = SCALES["full"]
BYTES = {"text": 3000, "gzip": 1000, "model": 2500, "itemsets": 5000, "n_itemsets": 70}


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return Store(tmp_path)


@pytest.fixture
def summary(store):
    """What the store holds of the full scale."""
    return Summary(store, FULL)


def answers(error, *, new=None, long=None, covers=(0.0, 0.8, 0.9)):
    """What one of the three predictions came to."""
    return {"E": error, "E_new": new, "E_long": long, "cover": 0.9, "cover_by_length": list(covers)}


def fill(store, dataset, share, ratios, *, long=None, worth=100.0):
    """Put all splits into the store: the errors of the corrected mixture as multiples of counting's."""
    for run, ratio in enumerate(ratios):
        record = {
            "counting": answers(0.2, new=0.5, long=None if long is None else 0.1),
            "plain": answers(0.3, new=0.4, long=None if long is None else 0.2, covers=(0.0, 0.5, 0.1)),
            "corrected": answers(0.2 * ratio, new=0.25, long=None if long is None else 0.1 * long),
            "lengths": [0, 10, 30],
            "n_train": 492,
            "worth": worth,
            "seconds": 1.0,
            **({"bytes": BYTES} if run == 0 else {}),
        }
        store.put(Task("scarce", dataset, "sampled", 0, run, str(share)), record)


def test_three_predictions_stand_beside_each_other(store, summary):
    """Errors are means over the splits, ratios are to counting's; what there are no sets of is left out."""
    fill(store, "groceries", 5, [0.8, 0.9, 1.0])
    rows = tables.scarce(summary, "groceries").splitlines()[2:]
    assert rows == [
        "| 5% | counting | 492 | 20.00 | 1.00 | 1.00 |  | 90.0% |  |",
        "| 5% | mixture | 492 | 30.00 | 1.50 | 0.80 |  | 90.0% |  |",
        "| 5% | corrected mixture | 492 | 18.00 | 0.90 | 0.50 |  | 90.0% | 100 / 100 / 100 |",
    ]


def test_what_was_not_run_in_full_is_not_shown(store, summary):
    """A share of which a split is missing has no row, no target and no sentence."""
    fill(store, "groceries", 5, [0.8, 0.9])
    assert summary.scarce("groceries", 5) is None
    assert len(tables.scarce(summary, "groceries").splitlines()) == 2
    assert not [target for target in claims.targets(summary) if "to train" in target.wanted]
    assert sentences.all_sentences(summary)["scarce"] == ""


def test_targets_state_what_was_measured(store, summary):
    """No worse anywhere, better where data is sparse, no worse for long sets; and what was not measured."""
    for name in ("groceries", "msweb", "online-retail"):
        fill(store, name, 5, [0.9] * 3)
    fill(store, "chess", 5, [1.03] * 3, long=1.04)
    every, sparse, long = (target for target in claims.targets(summary) if "5% to train" in target.wanted)
    assert every.measured == "groceries 0.900, MS Web 0.900, chess 1.030, online retail 0.900"
    assert not every.holds
    assert sparse.measured == "0.900 (retail not measured)"
    assert not sparse.holds
    assert long.measured == "chess 1.040"
    assert long.holds
    fill(store, "retail", 5, [1.0] * 3)
    sparse = [target for target in claims.targets(summary) if "5% to train" in target.wanted][1]
    assert (sparse.measured, sparse.holds) == ("0.925", True)


def test_sentences_say_where_correcting_is_counting(store, summary):
    """A mixture that is worth next to nothing is named, so that nobody takes an identity for a finding."""
    fill(store, "groceries", 10, [0.9] * 3)
    fill(store, "chess", 10, [1.0] * 3, worth=1.0)
    said = sentences.all_sentences(summary)["scarce"]
    assert "0.90 (groceries) to 1.00 (chess) times counting's error, 0.95 on average" in said
    assert said.endswith("Worth next to nothing, and so counting, on chess.")


def test_identities_past_the_paper_are_named(store, summary):
    """What the mixtures were worth, and where that is next to nothing."""
    base = {"F-": 0.1, "F+": 0.2, "E": 0.02, "log_likelihood": -10.0, "components": 3.0, "seconds": 1.0}
    for name, worths in (("chess", (1.0, 1.0)), ("groceries", (1e6, 100.0))):
        for run, worth in enumerate(worths):
            store.put(Task("beyond", name, "vdpm-corrected", 0, run), base | {"worth": worth, "cover": 0.7})
            store.put(Task("beyond", name, "floor", 0, run), base | {"cover": 0.8})
    said = sentences.all_sentences(summary)["identities"]
    assert said.startswith(
        "In transactions, the mixture was worth 1 on chess and 100 to 1,000,000 on groceries,"
    )
    assert "On chess that is next to nothing" in said
    assert said.endswith("as in 1 run on groceries; there intervals cover 70.0%, those of counts 80.0%.")


def test_intervals_by_length_are_pooled(store, summary):
    """Each length has the sets of all data sets and splits at a tenth of the data."""
    fill(store, "groceries", 10, [0.9] * 3)
    fill(store, "msweb", 5, [0.9] * 3)
    assert tables.cover_by_length(summary).splitlines()[2:] == [
        "| 1 | 30 | 80.0% | 50.0% | 80.0% |",
        "| 2 | 90 | 90.0% | 10.0% | 90.0% |",
    ]


def test_sizes_are_those_of_the_largest_share(store, summary):
    """Bytes of the data, of the model and of its itemsets, and what the model takes beside them."""
    fill(store, "groceries", 5, [0.9] * 3)
    fill(store, "groceries", 10, [0.9] * 3)
    assert tables.sizes(summary).splitlines()[2:] == [
        "| groceries | 492 | 3,000 | 1,000 | 2,500 | 5,000 | 70 | 2.50 | 0.50 |"
    ]


def test_signs_are_said_for_each_data_set(store, summary):
    """How many sets are more and less frequent than a mixture says."""
    store.put(Task("signs", "groceries", "sampled"), {"n": 759, "higher": 5, "lower": 1, "seconds": 1.0})
    assert sentences.all_sentences(summary)["signs"] == (
        "Beyond chance are 5 higher and 1 lower of 759 on groceries."
    )


def test_the_parts_are_a_share_and_the_rest():
    """Together they are the data, and each run has a split of its own."""
    train, test = scarce_parts("toy", 10, 0)
    assert (len(train), len(test)) == (40, 360)
    assert scarce_parts("toy", 10, 1)[0].to_lists() != train.to_lists()


def test_a_result_compares_with_counting_by_hand():
    """The error of counting is that of the supports of the training part; a correction is between the two."""
    record = measure(Task("scarce", "toy", "sampled", 0, 0, "50"))
    train, test = scarce_parts("toy", 50, 0)
    true = itemix.mine(test, 0.03)
    counted = np.array([train.support(list(itemset.items)) for itemset in true])
    errors = np.abs(counted - true.support) / true.support
    assert record["counting"]["E"] == pytest.approx(errors.mean())
    assert record["counting"]["E_new"] == pytest.approx(errors[counted < 0.03].mean())
    assert record["n_new"] == (counted < 0.03).sum()
    assert record["lengths"] == np.bincount(true.lengths).tolist()
    assert record["bytes"]["model"] > record["bytes"]["gzip"] > 0
    assert 0.5 < record["corrected"]["cover"] <= 1
