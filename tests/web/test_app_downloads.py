"""A file holds what the table shows, all of it."""

import pytest

import itemix
from itemix.mining.surprise import Surprises

ASKED = {"min_support": 0.05, "min_len": 2, "sort": "lift", "search": "milk"}


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_itemsets_are_those_of_the_table(client, tmp_path, extension):
    """The rows of the file are the rows of all pages, in their order, and the library reads them back."""
    response = client.get(f"/itemsets.{extension}", params=ASKED)
    assert response.status_code == 200
    assert response.headers["content-disposition"] == f'attachment; filename="shop-itemsets.{extension}"'
    path = tmp_path / f"found.{extension}"
    path.write_bytes(response.content)
    rows = client.get("/itemsets", params={**ASKED, "limit": 1000}).json()["itemsets"]
    loaded = itemix.Itemsets.load(path)
    assert [list(names) for names in loaded.sets] == [row["items"] for row in rows]
    assert loaded.support.tolist() == [row["support"] for row in rows]
    assert loaded.lower.tolist() == pytest.approx([row["lower"] for row in rows])
    assert loaded.min_support == (0.05 if extension == "parquet" else None)  # CSV is plain


def test_the_support_in_the_data_is_a_column(client):
    """What stands beside the support in the table stands beside it in the file."""
    header = client.get("/itemsets.csv", params=ASKED).text.splitlines()[0]
    expected = ["support", "itemsets", "length", "lift", "lower", "upper", "exact", "tested"]
    assert header.split(",") == expected


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_rules_are_those_of_the_table(client, tmp_path, extension):
    """Rules too are written as they are shown."""
    asked = {"min_support": 0.03, "sort": "leverage", "right": ["whole milk"]}
    path = tmp_path / f"found.{extension}"
    path.write_bytes(client.get(f"/rules.{extension}", params=asked).content)
    rows = client.get("/rules", params={**asked, "limit": 1000}).json()["rules"]
    loaded = itemix.Rules.load(path)
    assert [list(names) for names in loaded.antecedents] == [row["antecedents"] for row in rows]
    assert loaded.lift.tolist() == pytest.approx([row["lift"] for row in rows])


def test_surprises_are_those_of_the_table(client, tmp_path):
    """Surprises are a table of the library, in the order asked for."""
    asked = {"min_support": 0.03, "sort": "ratio"}
    path = tmp_path / "found.parquet"
    path.write_bytes(client.get("/surprises.parquet", params=asked).content)
    rows = client.get("/surprises", params={**asked, "limit": 1000}).json()["surprises"]
    loaded = Surprises.load(path)
    assert [list(names) for names in loaded.sets] == [row["items"] for row in rows]
    assert loaded.sentences() == [row["sentence"] for row in rows]


def test_an_empty_result_is_a_file_too(client, tmp_path):
    """Nothing found is a file without rows."""
    path = tmp_path / "found.parquet"
    path.write_bytes(client.get("/itemsets.parquet?min_support=0.9").content)
    assert len(itemix.Itemsets.load(path)) == 0


def test_bad_questions_are_refused_before_a_file_is_written(client):
    """A file that cannot be made is a refusal of the usual shape."""
    response = client.get("/itemsets.csv?min_support=0.05&include=nothing")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unknown_item"
