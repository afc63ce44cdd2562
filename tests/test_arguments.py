"""Arguments of a wrong kind: every public method answers with one line that says what was expected."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import itemix
from itemix import InvalidInputError, Items, Mixture, Transactions, UnknownItemError

BASKETS = [["milk", "bread"], ["milk", "tea"], ["bread"], ["milk", "bread", "tea"]] * 5
ESTIMATORS = {
    "mixture": lambda: itemix.BayesianMixture(n_components=2, random_state=0),
    "tree": itemix.ChowLiuTree,
    "independent": itemix.IndependentModel,
}


@pytest.fixture(scope="module")
def fitted():
    """A mixture with a posterior."""
    return itemix.BayesianMixture(n_components=2, random_state=0).fit(BASKETS)


@pytest.fixture(scope="module")
def itemsets():
    """All itemsets of the baskets."""
    return itemix.mine(BASKETS, 1)


@pytest.fixture(scope="module")
def rules(itemsets):
    """All rules of the itemsets."""
    return itemix.rules(itemsets, min_threshold=0.1)


def refused(call, message):
    """Check that a call is refused with one line."""
    with pytest.raises(InvalidInputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            np.array([[0, 1], [np.nan, 1]]),
            r"only 0 and 1 .*, got a missing value \(NaN\) or inf; .* or Transactions.from_table",
        ),
        (np.array([[0, 1], [np.inf, 1]]), r"got a missing value \(NaN\) or inf"),
        (sparse.csr_array(np.array([[0, np.nan]])), r"got a missing value \(NaN\) or inf"),
        (pd.DataFrame({"milk": [1, None]}), "only 0 and 1 .*, got a missing value in column 'milk'; try 0"),
        (np.array([[0, 2]]), r"only 0 and 1 .*, got 2; try Transactions.from_table"),
        (
            np.array([[0j, 1]]),
            r"only 0 and 1 .*, got complex numbers .*; try X.real, or Transactions.from_table",
        ),
        (
            np.array([["milk", "bread"]], dtype=object),
            "only 0 and 1 .*, got 'milk'; .* Transactions.from_table .*, from_lists",
        ),
        (np.array([["milk", "bread"]]), "only 0 and 1 .*, got 'milk'; try Transactions.from_table"),
        (np.zeros((0, 3)), r"at least one transaction, got 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"at least one item, got 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pd.DataFrame({"milk": []}), "at least one transaction, got none"),
        (pd.DataFrame(index=[0, 1]), "at least one item, got none"),
        ([], "expected at least one transaction, got none"),
        ([[], []], r"at least one item, got 0 feature\(s\)"),
        (np.array([0, 1]), r"a row for each transaction, got 1 dimension\(s\). Reshape your data"),
        ([[0, 1], [1]], "rows have the same length, got rows of different lengths; for lists of names use"),
        ([["milk"], 3], r"every transaction to be a list of item names, got 3 \(int\) at position 1"),
        (None, "expected transactions, a data frame, a matrix or a list of lists, got NoneType"),
        ("groceries.csv", "expected a file to read, got no such file 'groceries.csv'; check the name"),
        (3.5, "expected transactions, a data frame, a matrix or a list of lists, got float"),
    ],
)
def test_data_of_estimators(name, X, message):
    """One line for data of a wrong kind, to fit and to score."""
    refused(lambda: ESTIMATORS[name]().fit(X), message)
    model = ESTIMATORS[name]().fit(BASKETS)
    refused(lambda: model.score(X), rf"{message}|X has \d features, but")


def test_data_that_does_not_fit_a_model(fitted):
    """Another number of columns, and items that the model does not know."""
    refused(lambda: fitted.score(np.eye(2)), "X has 2 features, but BayesianMixture is expecting 3 features")
    with pytest.raises(UnknownItemError, match="expected one of 3 known items, got 'milc'; did you mean"):
        fitted.score([["milc"]])


def test_columns_are_matched_by_name(fitted):
    """A model of named items takes data frames with their columns in any order."""
    frame = Transactions.from_lists(BASKETS).to_dataframe()
    expected = fitted.score_samples(BASKETS)
    assert fitted.score_samples(frame[["tea", "milk", "bread"]]) == pytest.approx(expected)
    assert fitted.score_samples(frame[["tea"]])[0] == pytest.approx(fitted.score_samples([[], *BASKETS])[0])
    with pytest.raises(UnknownItemError, match="expected one of 3 known items, got 'milc'; did you mean"):
        fitted.score(frame.rename(columns={"milk": "milc"}))


@pytest.mark.parametrize("n", ["a", None, 1.5, [3], True, 10**30, np.zeros((0, 3))])
def test_how_many(fitted, itemsets, rules, n):
    """A number of answers that is no whole number."""
    message = "expected n as a whole number( of . or more)?, got .*; try "
    for call in (
        lambda: fitted.dependencies(n),
        lambda: fitted.recommend(["milk"], n),
        lambda: fitted.recommend_many([["milk"]], n),
        lambda: fitted.explain(["milk"], n),
        lambda: fitted.sample(n),
        lambda: itemix.ChowLiuTree().fit(BASKETS).sample(n),
        lambda: itemix.IndependentModel().fit(BASKETS).sample(n),
        lambda: Transactions.from_lists(BASKETS).sample(n),
        lambda: itemsets.top(n),
        lambda: itemsets.table(n),
        lambda: rules.top(n),
        lambda: rules.table(n),
        lambda: rules.recommend(["milk"], n),
    ):
        refused(call, message)


@pytest.mark.parametrize("word", ["up", ["both"], 3, None, np.zeros((0, 3))])
def test_words(fitted, rules, word):
    """A word that is none of the choices, or no word."""
    refused(lambda: fitted.dependencies(sign=word), "expected sign to be one of 'both', .*; try 'both'")
    for call in (lambda: rules.measure(word), lambda: rules.sort_by(word), lambda: rules.top(by=word)):
        refused(call, "expected a measure, got .*; try one of antecedent support")


def test_itemsets_that_are_none(fitted, itemsets):
    """No lists of names, nested lists, and fewer absent items than itemsets, which no kernel may see."""
    for call in (fitted.probabilities, fitted.intervals, fitted.recommend_many):
        for bad in ("milk", 3, None):
            refused(
                lambda call=call, bad=bad: call(bad), r"expected a list of itemsets, got .*; try \[\['milk'"
            )
        refused(lambda call=call: call([[["milk"]]]), r"expected item names .*, got \['milk'\]; flatten")
    for call in (fitted.probabilities, fitted.intervals):
        refused(
            lambda call=call: call([["milk"], ["tea"]], absent=[["bread"]]),
            r"expected absent items for each of the 2 itemsets, got 1; use \[\]",
        )
    refused(lambda: fitted.with_intervals([["milk"]]), "expected Itemsets, got list; mine the model first")
    refused(lambda: fitted.with_intervals(itemsets.sets), "expected Itemsets, got Sets; mine the model first")
    refused(
        lambda: itemsets.take([1.5]), r"expected a list of positions, or True or False for each of \d+, got"
    )
    refused(lambda: itemsets.take([[0], 1]), "expected a list of positions")
    refused(lambda: itemsets.positions(None, [1]), "expected an array of int64, got None")


def test_levels_and_seeds(fitted):
    """A level that is no number, a number of transactions that is none, and a seed that is none."""
    refused(lambda: fitted.interval(["milk"], level="a"), "expected level as a number, got 'a'; try 0.9")
    refused(
        lambda: fitted.interval(["milk"], n_transactions="a"), "n_transactions as a whole number of 1 or more"
    )
    models = fitted.mixture_, itemix.ChowLiuTree().fit(BASKETS).model_, itemix.MaxEntropyModel().fit(BASKETS)
    for model in models:
        refused(
            lambda model=model: model.sample(3, random_state="a"), "expected random_state as a whole number"
        )


def test_names_that_are_none():
    """Items made of something else than names, and codes that are none."""
    transactions = Transactions.from_lists(BASKETS)
    for call in (transactions.rename_items, transactions.align_items, Items):
        refused(
            lambda call=call: call(3.5), r"expected a list of item names, got 3.5; try \['milk', 'bread'\]"
        )
    for bad in (None, [1.5], [-1], [7], [["a"], 3]):
        refused(
            lambda bad=bad: transactions.items.names(bad), "expected a list of item codes from 0 to 2, got"
        )


def test_values_of_models(fitted):
    """The values behind the estimators check too."""
    mixture, tree = fitted.mixture_, itemix.ChowLiuTree().fit(BASKETS).model_
    for call in (mixture.log_likelihood, mixture.labels, tree.log_likelihood, Mixture.from_transactions):
        refused(lambda call=call: call(None), "expected transactions, a data frame, .*, got NoneType")
    refused(
        lambda: Mixture.stack("x"), "expected at least one mixture to stack, got 'x'; pass a list of them"
    )
    refused(lambda: mixture.take(["a"]), "expected a list of positions")
    refused(lambda: tree.edges("a"), "expected component as a whole number, got 'a'; try 0")
    refused(lambda: tree.edges(1), "expected a component from 0 to 0, got 1; try 0")
    refused(
        lambda: itemix.BernoulliMixture(correction=[2]).fit(BASKETS), "expected correction as None, 'auto'"
    )


def test_files_and_formats(tmp_path):
    """Names of files, formats, delimiters and data sets that are none."""
    path = tmp_path / "baskets.csv"
    itemix.write_transactions(BASKETS, path)
    for bad in (None, 3, ["a"]):
        refused(
            lambda bad=bad: itemix.write_transactions(BASKETS, bad),
            "expected the name of a file, got .*; try",
        )
        refused(lambda bad=bad: itemix.load(bad), "expected the name of a file, got")
    for bad in (3, ["csv"], ""):
        refused(
            lambda bad=bad: itemix.write_transactions(BASKETS, path, format=bad), "expected a format, one of"
        )
        refused(lambda bad=bad: itemix.read_transactions(path, format=bad), "expected a format")
    for bad in (3, [","], "ab"):
        refused(
            lambda bad=bad: itemix.read_transactions(path, delimiter=bad), "expected one ASCII character as"
        )
    refused(lambda: itemix.datasets.load(["mushroom"]), "expected the name of one of 40 data sets, got ")


def test_options_of_searches(itemsets):
    """Words that are none, and numbers that are too large to mean anything: these set no limit."""
    refused(lambda: itemix.mine(BASKETS, 1, target=["all"]), "expected target to be one of 'all', 'closed'")
    refused(lambda: itemix.mine(BASKETS, 1, n_jobs=[1]), "expected n_jobs as a number of threads, got")
    large = 10**30
    for options in ({"top_k": large}, {"max_itemsets": large}, {"max_len": large}, {"n_jobs": large}):
        assert len(itemix.mine(BASKETS, 1, **options)) == len(itemsets)
    found = itemix.rules(itemsets, min_threshold=0.1, max_antecedent_len=large, max_rules=large)
    assert len(found) == len(itemix.rules(itemsets, min_threshold=0.1))


def test_parameters_of_estimators():
    """Priors and other parameters that are no numbers."""
    for bad in ("a", [["a"], 3], object()):
        model = itemix.BayesianMixture(n_components=2, gamma=bad)
        refused(
            lambda model=model: model.fit(BASKETS), "expected gamma as one number or one for each item, got"
        )
    refused(
        lambda: itemix.BernoulliMixture(2, verbose="a").fit(BASKETS), "expected verbose as a whole number"
    )
