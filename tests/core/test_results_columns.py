"""Results of tables of categories are shown in the columns of these tables."""

import io

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError, Itemsets, Transactions, mine

FRAME = pd.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "f", "m"],
        "class": ["First", "First", "Third", "Third", "Third", "First"],
        "age": [10, 20, 30, 10, 20, 30],
        "survived": [True, True, False, False, True, False],
    }
)


@pytest.fixture(scope="module")
def tx():
    """Six passengers."""
    return Transactions.from_table(FRAME)


def as_names(headers, row):
    """The items in a row of cells, by the names of their columns."""
    return {f"{name}={cell}" for name, cell in zip(headers, row, strict=True) if cell}


def test_a_set_has_a_cell_in_each_of_its_columns(tx):
    """Each row says the same as the set, and columns have the order of the table."""
    found = mine(tx, 0.3)
    table = found.table(len(found))
    assert table.headers == ("support", "count", *FRAME.columns)
    names = [as_names(table.headers[2:], row[2:]) for row in table.rows]
    assert names == [set(names) for names, _, _ in found]


def test_rules_have_columns_on_both_sides(tx):
    """What follows is in columns with an arrow."""
    found = itemix.rules(mine(tx, 0.3), about="survived")
    table = found.table(len(found))
    assert table.headers[-1] == "-> survived"
    assert {row[-1] for row in table.rows} == {"True", "False"}
    first = table.headers.index("count") + 1
    sides = [as_names(table.headers[first:-1], row[first:-1]) for row in table.rows]
    assert sides == [set(names) for names in found.antecedents]


@pytest.mark.parametrize("options", [{"columns": False}, {"width": 8}])
def test_sets_stay_whole_where_that_is_asked_for_or_there_is_no_room(tx, options):
    """Then the last column holds the set."""
    table = mine(tx, 0.3).table(3, **options)
    assert table.headers == ("support", "count", "itemset")
    assert table.rows[0][-1].startswith("{")


def test_other_items_have_no_columns():
    """Items of baskets stay in sets, also where their names look like those of a table."""
    found = mine(Transactions.from_lists([["a=1", "b=2"], ["a=1"]]), 0.5)
    assert found.table().headers[-1] == "itemset"


def test_a_column_may_have_the_name_of_a_measure():
    """Then the sets stay whole, so that no two columns share a name."""
    found = mine(Transactions.from_table(pd.DataFrame({"count": ["x", "x"], "sex": ["f", "m"]})), 0.5)
    assert found.table().headers == ("support", "count", "itemset")


def test_other_results_have_columns_too(tx):
    """A result that ends in sets, such as surprises, shows them alike."""
    many = Transactions.concatenate([tx] * 20)
    compared = itemix.compare(many.holding("sex=m"), many.holding("sex=f"), min_support=0.3)
    shown = compared.table()
    assert "survived" in shown.headers
    assert "itemset" not in shown.headers


def test_components_have_the_most_probable_values(tx):
    """A cell has the value of largest probability, and that; columns that do not fit are left out."""
    model = itemix.BernoulliMixture(2, random_state=0).fit(tx).fitted_
    found = model.components_table()
    table = found.table(width=400)
    assert set(table.headers) == {"component", "share", "size", "mean basket", *FRAME.columns}
    frame = found.to_pandas()
    for _, row in frame.iterrows():
        probs = model.components.probs[row["component"]]
        values = {name: probs[tx.items.code(f"sex={name}")] for name in ("f", "m")}
        best = max(values, key=values.get)
        assert row["sex"] == f"{best} {values[best]:.0%}"
    assert len(found.table(width=30).headers) < len(table.headers)
    assert found.table(columns=False).headers[-1] == "mostly"


def test_files_have_the_columns_of_the_table(tx, tmp_path):
    """By sets="columns": empty where a set has no value, and named after the side of a rule."""
    found = mine(tx, 0.3)
    frame = pd.read_csv(io.StringIO(found.to_csv(sets="columns")), dtype=str, keep_default_na=False)
    assert list(frame.columns) == ["support", *FRAME.columns, "length", "count"]
    names = [as_names(FRAME.columns, row) for row in frame[list(FRAME.columns)].to_numpy()]
    assert names == [set(names) for names, _, _ in found]
    rules = itemix.rules(found, about="survived")
    rules.to_excel(tmp_path / "rules.xlsx", sets="columns")
    sheet = pd.read_excel(tmp_path / "rules.xlsx", dtype=str)
    sides = [f"{side} {name}" for side, name in [("antecedents", "sex"), ("consequents", "survived")]]
    assert set(sides) <= set(sheet.columns)
    values = [next(iter(names)).removeprefix("survived=") for names in rules.consequents]
    assert sheet[sides[1]].tolist() == values


def test_what_has_no_columns_is_refused(tx, tmp_path):
    """Items of baskets; and files that say what they hold are to be read back."""
    baskets = mine(Transactions.from_lists([["a", "b"], ["a"]]), 0.5)
    with pytest.raises(InvalidInputError, match="expected items of a table of categories"):
        baskets.to_csv(tmp_path / "x.csv", sets="columns")
    with pytest.raises(InvalidInputError, match="got sets='columns' with metadata"):
        mine(tx, 0.3).to_csv(sets="columns", metadata=True)
    with pytest.raises(InvalidInputError, match="expected sets to be one of names, json, columns, got 'x'"):
        mine(tx, 0.3).to_csv(sets="x")


def test_names_of_columns_are_quoted(tmp_path):
    """Columns of a table may be called anything; the file of their components opens all the same."""
    frame = pd.DataFrame({'a, "b"': ["x", "y", "x"], "c\nd": ["u", "u", "v"]})
    model = itemix.BernoulliMixture(2, random_state=0).fit(Transactions.from_table(frame)).fitted_
    model.components_table().to_csv(tmp_path / "components.csv")
    found = pd.read_csv(tmp_path / "components.csv")
    assert {'a, "b"', "c d"} <= set(found.columns)
    assert itemix.fitted.ComponentsTable.load(tmp_path / "components.csv").share.sum() == pytest.approx(1)


def test_open_files_are_written_to(tx):
    """A binary file object takes what a path would; a text one is refused."""
    found = mine(tx, 0.3)
    stream = io.BytesIO()
    found.to_csv(stream)
    assert stream.getvalue().decode() == found.to_csv()
    with pytest.raises(InvalidInputError, match="expected a path or a binary file object, got StringIO"):
        found.to_csv(io.StringIO())


def test_names_are_never_formulas(tmp_path):
    """CSV has names as they are; in a sheet of Excel they are texts, also where they begin with =."""
    names = ["=1+1", "+7", "-x", "@SUM(A1)"]
    found = mine(Transactions.from_lists([names]), 1.0, max_len=1)
    read = pd.read_csv(io.StringIO(found.to_csv()))
    assert sorted(read["itemsets"]) == sorted(names)
    assert Itemsets.load(_saved(found, tmp_path / "x.csv")).items == found.items
    sheet = openpyxl.load_workbook(_saved(found, tmp_path / "x.xlsx")).active
    cells = [row[1] for row in sheet.iter_rows(min_row=2)]
    assert sorted(cell.value for cell in cells) == sorted(names)
    assert {cell.data_type for cell in cells} == {"s"}


def _saved(result, path):
    result.save(path)
    return path


@given(st.integers(1, 200))
def test_columns_keep_to_the_width(width):
    """Whatever the width, the columns of the table take no more of it."""
    table = mine(Transactions.from_table(FRAME), 0.3).table(width=width)
    if table.headers[-1] != "itemset":
        text = table.as_text().splitlines()[1:]
        before = text[0].index("sex")
        assert max(map(len, text)) - before <= width


def test_transactions_and_bins_show_their_columns(tx):
    """In notebooks, a table of categories looks like one."""
    shown = tx._repr_html_()
    assert all(f">{name}</th>" in shown for name in FRAME.columns)
    assert ">First</td>" in shown
    assert "class=First" not in shown
    assert (
        ">&lt;18, 18-39, 40+</td>"
        in Transactions.from_table(FRAME, bins={"age": [18, 40]}).bins._repr_html_()
    )
