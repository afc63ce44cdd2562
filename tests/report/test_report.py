"""A report is one sound, self-contained page whose numbers are those of the library."""

import itertools
import re

import numpy as np
import pytest
from naive.models import OnlyProbabilities

import itemix
from itemix.fitted import FittedModel
from itemix.mining import query
from itemix.mining.characteristics import characteristic_items
from itemix.report import _rounded_up, find, render_report, write_report
from itemix.report.page import as_percent
from itemix.report.sections import _items_of, components, itemsets, method

KEYS = ["summary", "itemsets", "rules", "dependencies", "components", "method"]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE baskets; --",
    "$\\nonsense{$",
    "&amp;&lt;",
    "new\nline\x00\x1b[31m",
    "\ud800 lone",
    "\u202eright to left",
    "https://example.org/pixel.png",
    "日本語 🍞",
    "n" * 500,
    "url(#x)",
]


def hostile_data():
    """Return transactions of items whose names are made to break pages."""
    rng = np.random.default_rng(0)
    kinds = np.where(rng.random((400, 1)) < 0.5, 0.75, 0.15)
    half = len(HOSTILE) // 2
    odds = np.concatenate([np.tile(kinds, half), np.tile(0.9 - kinds, len(HOSTILE) - half)], axis=1)
    return itemix.Transactions.from_matrix(rng.random(odds.shape) < odds, HOSTILE)


def test_sections_in_order(sampled):
    """Every section has a heading and a link to it, under the title."""
    assert [node.attributes["aria-labelledby"] for node in sampled.page.all("section")] == KEYS
    assert [node.attributes["id"] for node in sampled.page.all("h2")] == KEYS
    contents, findings = sampled.page.all("nav")[0].all("a"), sampled.section("summary").all("a")
    assert [link.attributes["href"] for link in contents] == [f"#{key}" for key in KEYS]
    assert [link.attributes["href"] for link in findings] == [f"#{key}" for key in KEYS[1:-1]]
    assert len(sampled.page.all("details")) == 6
    assert [node.text for node in sampled.page.all("h1")] == ["The store"]
    assert sampled.page.all("title")[0].text == "The store"


def test_nothing_is_loaded_and_nothing_runs(sampled):
    """No script, no link to elsewhere, no file, no font, no picture from outside."""
    tags = {node.tag for node in sampled.page.walk()}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base"})
    assert not re.search(r"https?:|//[a-z]|@import|@font-face|javascript:", sampled.text)
    for node in sampled.page.walk():
        assert not any(name.startswith("on") for name in node.attributes)
        for name, value in node.attributes.items():
            if "href" in name or "url(" in (value or ""):
                assert re.fullmatch(r"#[-\w]+|[^(]*url\(#[-\w]+\)[^(]*", value)


def test_names_of_elements_are_unique_and_found(sampled):
    """Every reference inside the page leads to one element."""
    names = [node.attributes["id"] for node in sampled.page.walk() if "id" in node.attributes]
    assert len(names) == len(set(names))
    used = set(re.findall(r'(?:href="|url\()#([-\w]+)', sampled.text))
    assert used <= set(names)


def test_it_can_be_heard(sampled):
    """Pictures say what they show, tables have a caption and headers, and the language is given."""
    assert sampled.page.all("html")[0].attributes["lang"] == "en"
    for figure in sampled.page.all("figure"):
        (caption,) = figure.all("figcaption")
        wide, narrow = figure.all("svg")
        for picture in (wide, narrow):
            assert picture.attributes["role"] == "img"
            assert picture.attributes["aria-label"] == caption.text
    tables = sampled.page.all("table")
    assert len(tables) == 5
    for table in tables:
        assert table.all("caption")[0].text
        assert {head.attributes["scope"] for head in table.all("th")} == {"col", "row"}
        widths = {sum(child.tag in {"td", "th"} for child in row.children) for row in table.all("tr")}
        assert len(widths) == 1


def test_colours_follow_the_page(sampled):
    """No picture has a colour of its own: all are variables of the style, which has two sets of them."""
    for picture in sampled.page.all("svg"):
        for node in picture.walk():
            assert not re.search(
                r"#[0-9a-f]{3,8}|rgb|white|black", node.attributes.get("style", "").replace("url(#", "")
            )
    (style,) = sampled.page.all("style")
    css = "".join(style.children)
    used = set(re.findall(r"var\(--([\w]+)\)", sampled.text))
    defined = re.findall(r"--([\w]+):", css)
    assert used <= set(defined)
    assert all(defined.count(name) == 2 for name in used)


def test_it_is_small(sampled):
    """A report can be sent by mail."""
    assert len(sampled.text.encode()) < 1_500_000


def test_numbers_of_components(sampled):
    """Shares, sizes and typical items are averages over the samples, of components that hold transactions."""
    mixture = FittedModel.of(sampled.model).components
    assert mixture.n_components == len(sampled.model.counts_.sizes)
    text = re.sub(r"<[^>]*>", "", sampled.text)
    assert f"tells {mixture.n_components} kinds" in text
    numbers = [draw.n_components for draw in sampled.model.chains_.draws]
    assert min(numbers) < max(numbers)
    spread = f"{min(numbers)} to {max(numbers)} components each"
    assert f"averages over {len(numbers)} samples, which have {spread}" in text
    order = np.argsort(-mixture.weights, kind="stable")[:10]
    rows = sampled.table("components")
    assert [row[1].values[0] for row in rows] == mixture.weights[order].tolist()
    assert [row[2].values[0] for row in rows] == pytest.approx(mixture.probs[order].sum(axis=1))
    for row, k in zip(rows, order.tolist(), strict=True):
        names = [node.text for node in row[0].all("b")]
        assert names == [found.item for found in characteristic_items(mixture, k, 6)]


def test_numbers_of_itemsets(sampled):
    """Supports, exact supports and lifts are the library's, and the threshold's count is right."""
    findings = find(sampled.model, sampled.data, None)
    least = findings.itemsets.min_support
    expected = itemix.mine(sampled.model, least)
    assert findings.itemsets.sets == expected.sets
    top = expected.top(15, min_len=2)
    rows = sampled.table("itemsets")
    assert [row[1].values[0] for row in rows] == top.support.tolist()
    assert [row[3].values[0] for row in rows] == [sampled.data.support(names) for names in top.sets]
    assert [row[4].values[0] for row in rows] == [sampled.model.lift(names) for names in top.sets]
    assert [tuple(node.text for node in row[0].all("b")) for row in rows] == list(top.sets)
    _, lower, upper = sampled.model.intervals(top)
    assert [row[2].text for row in rows] == [
        f"{low:.1%} to {high:.1%}" for low, high in zip(lower, upper, strict=True)
    ]
    lead = sampled.section("itemsets").all("p")[0]
    assert lead.values[:2] == [least, len(expected)]
    assert lead.values[-1] == len(expected.filter(min_support=2 * least))


def test_numbers_against_the_data(sampled):
    """The error, the bias and what was missed are counted over all itemsets."""
    findings = find(sampled.model, sampled.data, None)
    exact = np.array([sampled.data.support(names) for names in findings.itemsets.sets])
    relative = (findings.itemsets.support - exact) / exact
    frequent = itemix.mine(sampled.data, findings.itemsets.min_support)
    known = {frozenset(names) for names in findings.itemsets.sets}
    missed = sum(frozenset(names) not in known for names in frequent.sets)
    paragraph = sampled.section("itemsets").all("p")[-1]
    assert paragraph.values == pytest.approx(
        [np.abs(relative).mean(), abs(relative.mean()), len(frequent) - missed, len(known), missed]
    )
    assert ("too low by" if relative.mean() < 0 else "too high by") in paragraph.text


def test_numbers_of_dependencies_and_rules(sampled):
    """Pairs are those of `dependencies`, rules those of `rules`, the best first."""
    for position, sign in enumerate(("positive", "negative")):
        pairs = sampled.model.dependencies(12, sign=sign)
        rows = sampled.table("dependencies", position)
        assert [row[3].values[0] for row in rows] == [pair.lift for pair in pairs]
        assert [[node.text for node in row[0].all("b")] for row in rows] == [[p.item, p.other] for p in pairs]
    findings = find(sampled.model, sampled.data, None)
    rows = sampled.table("rules")
    found = itemix.rules(findings.itemsets, min_threshold=findings.rules.min_threshold, max_consequent_len=1)
    best = found.top(1)[0]
    assert rows[0][3].values[0] == pytest.approx(best.lift, rel=5e-3)
    sides = [tuple(part.strip().split(" + ")) for part in rows[0][0].text.split("→")]
    measures = sampled.model.rule_measures(*sides)
    expected = [measures[name] for name in ("support", "confidence", "lift")]
    assert [cell.values[0] for cell in rows[0][1:]] == pytest.approx(expected)
    assert sampled.section("rules").all("p")[0].values[0] == (found.lift > 1.000001).sum()
    consequents = [row[0].all("b")[-1].text for row in rows]
    assert max(consequents.count(name) for name in consequents) <= 3


def test_numbers_of_the_fit(sampled):
    """The log-likelihood is the model's, against that of the items' frequencies."""
    sentence = sampled.section("method").all("p")[2]
    own, independent, bits = sentence.values
    alone = itemix.Mixture([1.0], [sampled.data.item_counts() / 2000], sampled.data.items)
    assert own == pytest.approx(sampled.model.score(sampled.data))
    assert independent == pytest.approx(alone.log_likelihood(sampled.data).mean())
    assert bits == pytest.approx((own - independent) / np.log(2))
    facts = dict(zip(*(
        [node.text for node in sampled.section("method").all(tag)] for tag in ("dt", "dd")
    ), strict=True))  # fmt: skip
    assert facts["iterations"] == str(sampled.model.n_iter_)
    assert facts["converged"] == ("yes" if sampled.model.converged_ else "no")


def test_hostile_names_are_only_text(parse):
    """Whatever items are called, the page has the same elements, and the names can be read in it."""
    data = hostile_data()
    model = itemix.BayesianMixture(n_components=2, random_state=0).fit(data)
    text = render_report(model, data=data, title="<i>title</i>")
    page = parse(text)
    assert {node.tag for node in page.walk()}.isdisjoint({"script", "img", "i"})
    assert page.all("h1")[0].text == "<i>title</i>"
    names = {node.text for node in page.all("b")}
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[3], HOSTILE[4], HOSTILE[8], HOSTILE[9]} <= names
    assert {"new\\nline\\x00\\x1b[31m", "\\ud800 lone", "\\u202eright to left"} <= names
    for node in page.walk():
        assert not any(name.startswith("on") for name in node.attributes)
        assert "example.org" not in " ".join(value or "" for value in node.attributes.values())
    assert text.encode("utf-8").isascii() is False


def test_no_transaction_is_in_it(sampled):
    """A basket that nobody else has is not to be found as a set in the page."""
    baskets = {frozenset(basket) for basket in sampled.data if len(basket) > 6}
    shown = [{node.text for node in row.all("b")} for row in sampled.page.all("tr")]
    assert baskets
    assert not any(basket <= names for basket, names in itertools.product(baskets, shown))


SMALL = itemix.Mixture([0.6, 0.4], [[0.9, 0.8, 0.1], [0.1, 0.3, 0.7]], ["a", "b", "c"])
DATA = [["a", "b"], ["c"], ["a"], ["a", "b", "c"], []]


@pytest.mark.parametrize("kind", ["mixture", "one component", "any model", "maximum likelihood"])
def test_models_that_have_less(parse, kind):
    """What a model does not have is left out; all else is there."""
    model = {
        "mixture": SMALL,
        "one component": itemix.Mixture([1.0], [[0.6, 0.3, 0.2]], ["a", "b", "c"]),
        "any model": OnlyProbabilities(SMALL),
        "maximum likelihood": itemix.BernoulliMixture(n_components=2, random_state=0, max_iter=1000),
    }[kind]
    if kind == "maximum likelihood":
        model.fit(DATA)
    text = render_report(model, data=None if kind == "one component" else DATA, min_support=0.1)
    page = parse(text)
    keys = [node.attributes["id"] for node in page.all("h2")]
    left_out = {"one component": {"components", "rules"}, "any model": {"components"}}.get(kind, set())
    assert keys == [key for key in KEYS if key not in left_out]
    assert "interval" not in page.text
    assert page.all("section")[keys.index("itemsets")].all("p")[0].values[:2] == [
        0.1, len(itemix.mine(model, 0.1)),
    ]  # fmt: skip
    known = kind == "maximum likelihood"
    assert ("The fit converged" if known else "The model does not come with") in page.all("section")[-1].text
    assert ("no item depends on another" in page.text) == (kind == "one component")
    if kind == "mixture":
        assert render_report(model, data=DATA, min_support=0.1) == text


def test_corrected_models():
    """Answers and intervals are the corrected ones, and the report says that there is a correction."""
    model = itemix.BernoulliMixture(n_components=2, random_state=0, max_iter=1000, correction=2).fit(
        DATA * 20
    )
    findings = find(model, None, 0.1)
    assert findings.itemsets.support == pytest.approx(model.probabilities(findings.itemsets))
    assert findings.fitted.components == model.mixture_
    assert findings.itemsets.lower is not None
    words = "".join(method(findings).as_element().itertext())
    assert (
        "100 transactions of 3 items, and corrected by the transactions themselves, beside which it is worth "
        "2 of them" in words
    )


def test_other_kinds_of_models():
    """A tree has no components, and knows how many transactions it was fitted to."""
    findings = find(itemix.ChowLiuTree().fit(DATA), None, 0.1)
    assert findings.fitted.components is None
    assert components(findings) is None
    words = "".join(method(findings).as_element().itertext())
    assert words.startswith("How it was madeA Chow-Liu tree was fitted to 5 transactions of 3 items.")


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.0, "0.0%"), (0.256, "25.6%"), (0.01, "1.0%"), (0.0047, "0.47%"), (0.004, "0.40%"), (1e-9, "<0.001%")],
)
def test_percentages(fraction, text):
    """Small ones have two digits, none has an exponent."""
    assert as_percent(fraction) == text


def test_data_in_which_too_much_is_frequent():
    """Where the data has far more frequent itemsets than can be counted, that is said."""
    model = itemix.Mixture([1.0], [np.full(22, 0.01)], [f"i{n}" for n in range(22)])
    data = itemix.Transactions.from_matrix(np.ones((4, 22)), model.items)
    findings = find(model, data, 0.005)
    assert findings.missed is None
    words = "".join(itemsets(findings).as_element().itertext())
    assert "22 of the 22 are frequent there too, and more than 200,000 others are" in words


def test_words_for_high_supports():
    """No threshold above 100% is spoken of, and one set that is missed is one."""
    data = itemix.Transactions.from_lists([["a", "b"]] * 9 + [["a"]])
    model = itemix.Mixture([1.0], [[0.95, 0.9]], ["a", "b"])
    words = "".join(itemsets(find(model, data, 0.88)).as_element().itertext())
    assert "At a support of at least 88% the model expects 2 itemsets." in words
    assert "2 of the 2 are frequent there too, and 1 other is, which the model" in words
    words = "".join(itemsets(find(model, data, 0.92)).as_element().itertext())
    assert "1 of the 1 is frequent there too, and 0 others are, which the model" in words


def test_rules_that_only_add_to_others_are_left_out():
    """Of rules that look the same the shortest is named, and none that has all its items and more."""
    data = [["a", "b", "c", "x"]] * 6 + [["a"], ["b"], ["c"], ["x"], ["y"], ["y"]] * 3
    model = itemix.Mixture.from_transactions(itemix.Transactions.from_lists(data))
    found = find(model, None, 0.05)
    sides = [(set(rule.antecedents), rule.consequents) for rule in found.best_rules]
    assert sides
    for (left, right), (other, other_right) in itertools.permutations(sides, 2):
        assert not (right == other_right and left < other)
    assert len(sides) < len(found.rules)


@pytest.mark.parametrize(
    ("support", "expected"),
    [(0.0100001, 0.011), (0.01, 0.01), (0.5, 0.5), (0.994, 1.0), (1.0, 1.0), (0.0, 0.0), (3.21e-5, 3.3e-5)],
)
def test_thresholds_are_rounded_up(support, expected):
    """To two digits, so that no itemset above the threshold is missing."""
    assert _rounded_up(support) == expected


def test_what_cannot_be_reported_is_refused(sampled):
    """No model, other data, or nothing that is frequent: one line each."""
    with pytest.raises(itemix.InvalidInputError, match="expected a fitted model, got Transactions; try"):
        render_report(sampled.data)
    with pytest.raises(
        itemix.InvalidInputError, match=r"data with items of the model, got none of its .* items"
    ):
        render_report(sampled.model, data=[["nothing", "like it"]])
    with pytest.raises(itemix.InvalidInputError, match=r"some itemset is frequent, got none .*; try a lower"):
        render_report(sampled.model, min_support=1.0)


def test_data_with_items_that_the_model_does_not_know(sampled):
    """Supports are compared as far as names are the same; the likelihood is left out."""
    findings = find(sampled.model, itemix.Transactions.from_lists([["salsa", "unheard of"], ["salsa"]]), 0.02)
    assert findings.fit is None
    assert findings.exact[findings.itemsets.find(["salsa"])] == 1


def test_surprises(tested):
    """With test data there is a section on it, whose numbers are those of the library."""
    keys = [node.attributes["aria-labelledby"] for node in tested.page.all("section")]
    assert keys == [KEYS[0], "surprises", *KEYS[1:]]
    section = tested.section("surprises")
    test = itemix.Transactions.from_lists(tested.data)
    found = itemix.surprises(tested.model, test, min_support=0.02, level=1.0)
    n_finds = int((found.q_value <= 0.05).sum())
    assert section.all("p")[0].values == [1000, n_finds, found.n_tested, n_finds, 0]
    summary = itemix.summarise(test, 12, model=tested.model, min_support=0.02)
    rows = tested.table("surprises")
    assert [row[0].text for row in rows] == [" + ".join(names) for names in summary.sets] == ["pepper + tea"]
    assert [cell.values[0] for cell in rows[0][1:]] == [
        column[0] for column in (summary.support, summary.expected, summary.ratio, summary.q_value)
    ]
    unusual = tested.model.unusual(test).p_value <= 0.01
    assert section.all("p")[1].values == [unusual.mean()]


def test_agreement_is_with_what_was_not_seen(tested):
    """With test data, supports are held against it, and so are those of the training data."""
    test, train = (
        itemix.Transactions.from_lists(data) for data in (tested.data, tested.model.sample(50).to_lists())
    )
    findings = find(tested.model, train, 0.02, test)
    exact = np.array([test.support(names) for names in findings.itemsets.sets])
    assert findings.unseen == pytest.approx(exact)
    counted = np.array([train.support(names) for names in findings.itemsets.sets])
    words = "".join(itemsets(findings).as_element().itertext())
    there = exact > 0
    for supports in (findings.itemsets.support, counted):
        assert f"are off by {as_percent(np.abs(supports[there] / exact[there] - 1).mean())}" in words


def test_a_poor_fit_is_said_first(sampled):
    """What cannot be relied on stands above the findings, and again at the intervals."""
    model = itemix.BayesianMixture(3, max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="converge"):
        model.fit(sampled.data)
    text = render_report(model)
    doubt = '<p class="doubt">The fit had not converged after 1 iteration'
    assert text.index(doubt) < text.index('<ul class="findings">')


def test_nothing_surprising_is_said_too(tested, parse):
    """Data from the model has a picture without finds, and no table."""
    new = itemix.Mixture([0.5, 0.5], [[0.8, 0.3, 0.2], [0.1, 0.3, 0.2]], ["salt", "pepper", "tea"])
    page = parse(render_report(tested.model, test=new.sample(500, random_state=3), min_support=0.02))
    section = next(node for node in page.all("section") if node.attributes["aria-labelledby"] == "surprises")
    assert " 0 of 4 itemsets contradict it" in section.text
    assert not section.all("table")


def test_what_cannot_be_tested_is_refused(tested):
    """A model without a posterior, and data that it was fitted to."""
    with pytest.raises(itemix.InvalidInputError, match="expected a model with a posterior, got"):
        render_report(tested.model.mixture_, test=tested.data)
    mixture = tested.model.mixture_
    with pytest.raises(itemix.InvalidInputError, match="expected at least 2 transactions to test, got 1"):
        render_report(tested.model, test=mixture.sample(1, random_state=0))


def test_the_old_file_stays_if_writing_fails(sampled, tmp_path):
    """A report is written beside and put in place; nothing is left behind."""
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(itemix.InvalidInputError):
        write_report(sampled.model, path, min_support=1.0)
    assert path.read_text() == "old"
    with pytest.raises(itemix.InvalidInputError, match="an existing folder to write to"):
        write_report(sampled.model, tmp_path / "nowhere" / "report.html")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_pictures_of_dependencies_are_those_of_the_library(sampled):
    """The pairs that the report looks at hold the strongest of all."""
    findings = find(sampled.model, None, 0.1)
    names = _items_of(findings.attracting + findings.avoiding)
    strongest = sampled.model.dependencies(30)
    found = sampled.model.dependencies(30, items=names)
    assert [(pair.item, pair.other) for pair in found] == [(pair.item, pair.other) for pair in strongest]
    assert [pair.lift for pair in found] == pytest.approx([pair.lift for pair in strongest])
    assert names[:2] == [strongest[0].item, strongest[0].other]


def test_many_items():
    """Of many items, pairs of the most uncertain ones are looked at."""
    rng = np.random.default_rng(0)
    n = 2100
    probs = np.full((2, n), 0.001)
    probs[:, :20] = rng.uniform(0.2, 0.8, (2, 20))
    model = itemix.Mixture([0.5, 0.5], probs, [f"i{i}" for i in range(n)])
    findings = find(model, None, 0.3)
    for found, sign in ((findings.attracting, "positive"), (findings.avoiding, "negative")):
        assert found[:10] == query.dependencies(model, 10, sign=sign)
