"""A result that is nothing but its columns has all that itemsets and rules have."""

import json
import pickle

import numpy as np
import openpyxl
import polars as pl
import pytest

from itemix import InvalidInputError
from itemix.core.items import Items
from itemix.core.results import ColumnResult
from itemix.core.sets import Sets
from itemix.core.tables import TableColumns

ITEMS = Items(["<b>milk</b>", "bread, white", "beer"])


class Finds(ColumnResult):
    """A result such as a test of itemsets gives: sets, numbers of all kinds, and a sentence."""

    __slots__ = ()
    _kind = "finds"
    _types = {  # noqa: RUF012 - as in the library
        "itemsets": "sets",
        "count": "int64",
        "share": "float64",
        "p_value": "float64",
        "is_new": "bool",
        "in_words": "object",
    }
    _percents = frozenset({"share"})

    @property
    def p_value(self):
        """The p-value of each find."""
        return self._columns.numbers("p_value")


@pytest.fixture
def finds():
    """Three finds."""
    return Finds(
        TableColumns(
            "finds",
            ITEMS,
            {
                "itemsets": Sets([0, 1, 3, 4], [0, 0, 1, 2], ITEMS),
                "count": np.array([1200, 3, 2]),
                "share": np.array([0.6, 0.0015, np.nan]),
                "p_value": np.array([1e-12, 0.02, 1.0]),
                "is_new": np.array([True, False, False]),
                "in_words": np.array(["more, by far", "", 'a "quote"\n'], dtype=object),
            },
            {},
        )
    )


def test_its_table(finds):
    """Numbers come first, each aligned, then what is in words; percentages are percentages."""
    assert str(finds.table(2, width=None)) == (
        "Finds: 3\n"
        "  count    share    p value  is new  itemsets                     in words\n"
        "  1,200  60.0%    1.000e-12     yes  {<b>milk</b>}                more, by far\n"
        "      3   0.150%  0.02000        no  {<b>milk</b>, bread, white}\n"
        "... 1 more"
    )
    shown = finds._repr_html_()
    assert "&lt;b&gt;milk&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert repr(finds) == finds.table().as_text()


def test_its_rows(finds):
    """Rows are taken by position, slice, mask and positions; each is a dictionary."""
    assert len(finds) == 3
    assert finds[1]["itemsets"] == ("<b>milk</b>", "bread, white")
    assert finds[-1]["count"] == 2
    assert [row["count"] for row in finds] == [1200, 3, 2]
    assert finds[finds.p_value < 0.05] == finds[:2] == finds.head(2) == finds.take([0, 1])
    assert pickle.loads(pickle.dumps(finds)) == finds  # noqa: S301 - our own bytes
    assert not pickle.loads(pickle.dumps(finds)).p_value.flags.writeable  # noqa: S301 - as above
    with pytest.raises(
        InvalidInputError, match="expected a position, a slice, a list of positions or a mask"
    ):
        finds["milk"]


@pytest.mark.parametrize("extension", ["parquet", "csv", "json", "jsonl", "xlsx"])
def test_its_files(finds, extension, tmp_path):
    """Every format gives the same rows back, with texts, truth values and missing numbers."""
    path = tmp_path / f"x.{extension}"
    finds.save(path)
    back = Finds.load(path)
    assert back.to_arrow().to_pylist()[:2] == finds.to_arrow().to_pylist()[:2]
    assert back._as_columns().percents == {"share"}
    assert np.isnan(back[2]["share"])
    if extension != "xlsx":
        assert back[2]["in_words"] == 'a "quote"\n'


def test_its_exports(finds, tmp_path):
    """Data frames, Arrow's protocol, JSON and Excel get all columns."""
    assert finds.to_pandas()["itemsets"][0] == frozenset({"<b>milk</b>"})
    assert pl.DataFrame(finds)["in_words"].to_list()[0] == "more, by far"
    assert json.loads(finds.to_json())[2]["share"] is None
    finds.to_excel(tmp_path / "x.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert [cell.number_format for cell in sheet[2]] == [
        "General", "#,##0", "0.00%", "General", "General", "General",
    ]  # fmt: skip
    (tmp_path / "other.csv").write_text("support,itemsets,length\n")
    with pytest.raises(InvalidInputError, match="expected finds, got itemsets"):
        Finds.load(tmp_path / "other.csv")


class Sizes(ColumnResult):
    """A result without sets."""

    __slots__ = ()
    _kind = "sizes"
    _types = {"size": "int64", "share": "float64"}  # noqa: RUF012 - as in the library


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "json", "jsonl", "parquet", "xlsx"])
def test_a_result_without_sets_is_read_back(tmp_path, ending):
    """Plain files are read by their columns, and refused if they have none of them."""
    sizes = Sizes(TableColumns("sizes", ITEMS, {"size": np.arange(3), "share": np.full(3, 0.25)}, {}))
    sizes.save(tmp_path / f"sizes.{ending}")
    assert Sizes.load(tmp_path / f"sizes.{ending}").to_pandas().equals(sizes.to_pandas())
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="expected sizes written by itemix, with the columns size"):
        Sizes.load(tmp_path / "other.csv")
