import io

import pytest

from itemix import InvalidInputError, read_transactions


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
