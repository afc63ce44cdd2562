"""The container of model files: what is written comes back, and what is damaged or foreign is refused."""

import json
import os
import pickle
import re
import stat
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save

from itemix.errors import InvalidInputError, MissingFileError, ModelFileError
from itemix.files import container

HEADER = {"kind": "Test", "training": {"n_iter": 3, "converged": True}}
TENSORS = {
    "floats": np.array([[0.5, -np.inf], [np.nan, 1e-300]]),
    "wholes": np.arange(3),
    "small": np.arange(4, dtype=np.int32),
    "bytes": np.frombuffer(b"text", dtype=np.uint8),
    "flags": np.array([True, False]),
    "nothing": np.empty((2, 0)),
}


@pytest.fixture
def path(tmp_path):
    """Write a file with a header and arrays of every type."""
    file = tmp_path / "a.itemix"
    container.write(file, HEADER, TENSORS)
    return file


def test_what_was_written_comes_back(path):
    """Header fields and arrays are the same; the file is plain safetensors for other tools."""
    content = container.read(path)
    assert content.field(str, "kind") == "Test"
    assert content.whole("training", "n_iter") == 3
    assert content.field(bool, "training", "converged") is True
    for name, array in load_file(path).items():
        taken = content.take(name, TENSORS[name].dtype, *array.shape)
        np.testing.assert_array_equal(taken, TENSORS[name])
        assert taken.dtype == array.dtype == TENSORS[name].dtype
    content.require_nothing_left()
    assert container.is_model_file(path)


@pytest.mark.parametrize(
    ("array", "written"),
    [
        (np.array([0, 255]), np.uint8),
        (np.array([0, 256], dtype=np.int32), np.uint16),
        (np.array([65_536]), np.int32),
        (np.array([65_536], dtype=np.int32), np.int32),
        (np.array([2**31]), np.int64),
        (np.array([-1]), np.int64),
        (np.array([0.5, np.inf, np.nan], dtype=np.float32), np.float16),
        (np.array([0.1], dtype=np.float32), np.float32),
        (np.array([1e6], dtype=np.float32), np.float32),
        (np.array([0.5]), np.float64),
    ],
)
def test_many_numbers_take_as_few_bytes_as_hold_them(array, written, tmp_path):
    """They come back as wide as they were, equal to the last bit; an array of another kind is refused."""
    array = np.resize(array, 1000)
    container.write(tmp_path / "n.itemix", HEADER, {"n": array})
    assert load_file(tmp_path / "n.itemix")["n"].dtype == written
    taken = container.read(tmp_path / "n.itemix").take("n", array.dtype, len(array))
    np.testing.assert_array_equal(taken, array, strict=True)
    other = np.bool_ if array.dtype.kind == "i" else np.int64
    with pytest.raises(ModelFileError, match=r"n is .* not "):
        container.read(tmp_path / "n.itemix").take("n", other, len(array))


arrays = hnp.arrays(
    st.sampled_from([np.float64, np.int64, np.int32, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
)


@given(tensors=st.dictionaries(st.text("abc.", min_size=1), arrays, max_size=4))
def test_any_arrays_survive(tmp_path_factory, tensors):
    """All shapes and values come back, also of transposed arrays; the same arrays give the same bytes."""
    folder = tmp_path_factory.mktemp("arrays")
    for name in ("first", "again"):
        container.write(folder / name, {}, {key: array.T for key, array in tensors.items()})
    assert (folder / "first").read_bytes() == (folder / "again").read_bytes()
    content = container.read(folder / "first")
    for key, array in tensors.items():
        assert content.take(key, array.dtype, *array.T.shape).tobytes() == array.T.tobytes()


def test_pieces_are_checked_when_taken(path):
    """A missing field or array, another type or shape, and leftovers are damage."""
    content = container.read(path)
    for take, reason in [
        (lambda: content.field(str, "training", "method"), "its header has no training.method"),
        (lambda: content.field(str, "kind", "deeper"), "its header has no kind.deeper"),
        (lambda: content.field(int, "training", "converged"), "training.converged in its header is no int"),
        (lambda: content.whole("training", "n_iter", low=4), "training.n_iter in its header is 3"),
        (lambda: content.take("other", np.float64), "it has no array other"),
        (lambda: content.take("wholes", np.int64, 4), r"wholes is int64 of shape \(3,\), not int64 of"),
        (lambda: content.take("flags", np.int64, None), r"flags is bool of shape \(2,\), not int64 of"),
        (lambda: content.take("floats", np.float64, 4), r"floats is float64 of shape \(2, 2\), not"),
        (content.require_nothing_left, "it has an array 'bytes' that this version does not know"),
    ]:
        with pytest.raises(ModelFileError, match=f"which is damaged \\({reason}"):
            take()


def test_every_flipped_byte_and_every_cut_is_noticed(path):
    """A file with one changed byte, or without its end, is refused or reads the same."""
    whole = path.read_bytes()
    expected = container.read(path)
    rng = np.random.default_rng(0)
    damaged = [whole[:length] for length in range(0, len(whole), 7)] + [whole + b"more"]
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    messages = []
    for data in damaged:
        path.write_bytes(data)
        try:
            content = container.read(path)
        except ModelFileError as error:
            messages.append(str(error))
        else:
            assert content._header == expected._header
            assert {n: a.tobytes() for n, a in content._tensors.items()} == {
                n: a.tobytes() for n, a in expected._tensors.items()
            }
    assert len(messages) > 0.95 * len(damaged)
    assert all(message.isprintable() for message in messages)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected a model file, got .*, which is empty; save the model again"),
        (b"milk,bread\nbeer\n", "expected a model file, got .*, which is something else; model.save writes"),
        (b"x" * 1000, "which is something else"),
        (pickle.dumps({"kind": "Mixture"}), "which is something else"),
        (b"PK\x03\x04" + bytes(100), "which is something else"),
        (save({"layer.weight": np.zeros((2, 2))}, {"format": "pt"}), "which is something else"),
        (save({"layer.weight": np.zeros((2, 2))}), "which is something else"),
        (save({"a": np.zeros(2, dtype=np.uint32)}, {"itemix": "{}"}), "it has an array of type 'U32'"),
        (save({}, {"itemix": "{"}), "its header is no JSON"),
        (save({}, {"itemix": "[" * 100_000}), "its header is no JSON"),
        (save({}, {"itemix": '{"a":1e999}'}), "its header is no JSON"),
        (save({}, {"itemix": "[1]"}), "its header is no JSON object"),
        (save({}, {"itemix": "{}"}), "its header has no format"),
        (save({}, {"itemix": '{"format":true}'}), "format in its header is no int"),
        (save({}, {"itemix": '{"format":1}'}), "its checksum does not fit"),
        (
            save({}, {"itemix": '{"format":3,"version":"9.1"}'}),
            "expected a model file of format 2 or older, got .* of format 3, written by itemix '9.1'",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, data, message):
    """What is empty, something else, newer or cut off gives one line that says so."""
    file = tmp_path / "other.itemix"
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match=message):
        container.read(file)


def test_truncation_is_told_from_other_files(path):
    """A file of ours that is cut short is called damaged."""
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match=r"got '.*a.itemix', which is damaged \(it is cut short"):
        container.read(path)


def test_missing_files_and_folders_are_said(tmp_path):
    """There is an error for no file and for a folder; neither looks like a model file."""
    missing = tmp_path / "none.itemix"
    with pytest.raises(MissingFileError, match=f"got no such file {re.escape(repr(str(missing)))}; check"):
        container.read(missing)
    with pytest.raises(ModelFileError, match=r"got the folder '.*'; name a file in it"):
        container.read(tmp_path)
    assert not container.is_model_file(missing)
    assert not container.is_model_file(tmp_path)


def test_a_file_that_cannot_be_opened_is_said(path):
    """The reason of the system is in the message."""
    with pytest.raises(
        ModelFileError, match=r"got '.*inside': Not a directory; check its name and permissions"
    ):
        container.read(path / "inside")


def test_a_pipe_stays_a_pipe(tmp_path, path):
    """What is no plain file is written to, never replaced."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    container.write(pipe, HEADER, TENSORS)
    reader.join()
    assert got == [path.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_needs_a_folder(tmp_path):
    """A folder that is not there is an error, and nothing is left behind."""
    with pytest.raises(InvalidInputError, match="expected an existing folder to write to"):
        container.write(tmp_path / "none" / "a.itemix", HEADER, TENSORS)
    assert list(tmp_path.iterdir()) == []


def test_the_header_says_who_wrote_it(path):
    """Format and version of the library are in the header, and no date."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["itemix"])
    assert header.keys() == {*HEADER, "format", "version", "checksum"}
    assert header["format"] == container.FORMAT == 2
