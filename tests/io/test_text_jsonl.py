import io
import json

import pytest

from itemix import InvalidInputError, read_chunks, read_transactions


def read(text, **options):
    """Read text as JSONL."""
    return read_transactions(io.BytesIO(text.encode()), **options)


def test_lists_and_objects():
    """Lists of names or of integers; the only list of an object, the usual one, or the one that is named."""
    assert read('["b", "a"]\n[]\n').to_lists() == [["a", "b"], []]
    assert read("[3, 1]\n[3]\n").to_lists() == [[1, 3], [3]]
    assert read('{"x": 1, "y": ["a"]}\n').to_lists() == [["a"]]
    assert read('{"tags": ["z"], "items": ["a"]}\n').to_lists() == [["a"]]
    assert read('{"tags": ["z"], "things": ["a"]}\n', item="things").to_lists() == [["a"]]
    assert read('["K\\u00e4se"]\n').to_lists() == [["Käse"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '["a"]\n["b"\n',
            r"expected JSON in every line, got '\[\"b\"' \(.*\) in line 2 of .*; write one list per line",
        ),
        ('["a"]\n\n5\n', r"expected a list of item names \(strings or whole numbers\), got '5' in line 3"),
        ('[["a"], ["b"]]\n', r"got '\[\[\"a\"\], \[\"b\"\]\]' in line 1"),
        ('["a", 1.5]\n', r"got '\[\"a\", 1.5\]' in line 1"),
        ('["a", true]\n', r"got '\[\"a\", true\]' in line 1"),
        (
            '{"x": 1}\n',
            r"expected one field with a list of items, got columns 'x' in line 1 of .*; name the field",
        ),
        ('{"x": ["a"]}\n{"y": ["a"]}\n', r"expected a list of item names .* in field 'x', got .* in line 2"),
        ('["' + "a" * 99 + '", null]\n', r"got '\[\"a{38}\.\.\.' in line 1"),
        (
            '["a"]\n[1]\n',
            r"expected item names that are all strings or all whole numbers, got both by line 2 of .*; put",
        ),
    ],
)
def test_other_lines_are_refused(text, message):
    """The message names the line and what it holds."""
    with pytest.raises(InvalidInputError, match=message):
        read(text)


def test_a_file_that_is_called_json_is_read_as_such(tmp_path):
    """Also where its first line is not whole JSON, which is then complained of."""
    path = tmp_path / "pretty.json"
    path.write_text('[\n  ["a"],\n  ["b"]\n]\n')
    with pytest.raises(
        InvalidInputError, match=r"expected JSON in every line, got '\[' .* in line 1 of pretty.json"
    ):
        read_transactions(path)


def write_lines(path):
    """Write carts as JSON lines."""
    path.write_text("".join(json.dumps(cart) + "\n" for cart in CARTS))


CARTS = [
    {"cart": {"id": 7, "n": 2}, "lines": [{"sku": "tea", "qty": 2}, {"sku": "milk", "qty": 1}]},
    {"cart": {"id": 9, "n": 1}, "lines": []},
    {"cart": {"id": 8, "n": 1}, "lines": [{"sku": "tea", "qty": 1}, {"sku": "tea", "qty": 3}]},
]


@pytest.mark.parametrize("item", [None, "lines", "lines.sku"])
def test_carts_with_objects_in_their_lists(tmp_path, item):
    """The field of the item is found by its name, or named; ids and counts may lie in an object, too."""
    path = tmp_path / "carts.jsonl"
    write_lines(path)
    found = read_transactions(path, item=item, transaction="cart.id", counts="cart.n")
    assert found.to_lists() == [["milk", "tea"], ["milk", "tea"], [], ["tea"]]
    assert found.ids.to_pylist() == [7, 9, 8]
    (chunk,) = read_chunks(path, item=item, transaction="cart.id")
    assert chunk.ids.to_pylist() == [7, 9, 8]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"item": "lines.name"},
            "expected a column 'name', got columns 'sku', 'qty'; name the right",
        ),
        ({"item": "rows"}, "expected a column 'rows', got columns 'cart', 'lines'"),
        ({"transaction": "cart.no"}, "expected a column 'cart.no', got columns 'cart', 'lines'"),
        ({"counts": "n"}, "expected a column 'n', got columns 'cart', 'lines'"),
        ({"item": "cart"}, "expected a list of item names"),
    ],
)
def test_fields_that_are_not_there(tmp_path, options, message):
    """The message names those that are."""
    path = tmp_path / "carts.jsonl"
    write_lines(path)
    with pytest.raises(InvalidInputError, match=message):
        read_transactions(path, **options)


def test_objects_without_a_usual_name(tmp_path):
    """Then the field must be named."""
    path = tmp_path / "carts.jsonl"
    path.write_text('{"lines": [{"a": "x", "b": "y"}]}\n')
    with pytest.raises(InvalidInputError, match=r"got objects with columns 'a', 'b' .* item='lines.a'"):
        read_transactions(path)
    assert read_transactions(path, item="lines.b").to_lists() == [["y"]]
