"""The functions of the library read streams once, to their end."""

import os
import subprocess
import sys
import threading

import pytest

import itemix
from itemix import InvalidInputError, Transactions
from itemix._files import is_regular, is_stream

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

N_ROWS = 20_000


@pytest.fixture
def fifo(tmp_path):
    """Return a function that writes a file into a FIFO, and gives the path of the FIFO."""

    def fed(path):
        pipe = tmp_path / f"fifo-{path.name}"
        os.mkfifo(pipe)
        threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True).start()
        return pipe

    return fed


@pytest.fixture
def data(tmp_path):
    """Write data that is longer than any buffer."""
    path = tmp_path / "data.dat"
    path.write_text("".join(f"{t % 7} {7 + t % 5}\n" for t in range(N_ROWS)))
    return path


def test_transactions_come_through_a_fifo(data, fifo):
    """No row is lost, and standard input is as good by its name."""
    assert itemix.read_transactions(fifo(data)) == itemix.read_transactions(data)
    program = "import itemix; print(len(itemix.read_transactions('/dev/stdin')))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=data.read_bytes(), capture_output=True, check=True)  # noqa: S603
    assert int(done.stdout) == N_ROWS


def test_models_and_itemsets_come_through_a_fifo(data, fifo, tmp_path):
    """`load` reads what was saved from a stream too; damage is found there as in a file."""
    transactions = itemix.read_transactions(data)
    mixture = itemix.Mixture.from_transactions(transactions.merge_identical())
    mixture.save(tmp_path / "m.itemix")
    assert itemix.load(fifo(tmp_path / "m.itemix")).probs.tolist() == mixture.probs.tolist()
    found = itemix.mine(transactions, 0.1)
    found.save(tmp_path / "found.jsonl.gz")
    assert itemix.Itemsets.load(fifo(tmp_path / "found.jsonl.gz")) == found
    damaged = tmp_path / "damaged.itemix"
    damaged.write_bytes((tmp_path / "m.itemix").read_bytes()[:-1])
    with pytest.raises(itemix.ModelFileError, match="is damaged"):
        itemix.load(fifo(damaged))
    with pytest.raises(itemix.ModelFileError, match="which is something else"):
        itemix.load(fifo(data))


def test_chunks_are_not_read_from_a_stream(tmp_path):
    """What is read several times must be a file: it is said before anything is read."""
    pipe = tmp_path / "fifo"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/stdin", "-"):
        with pytest.raises(
            InvalidInputError, match=r"can be read again and again, got .*; save it as a file"
        ):
            itemix.read_chunks(path)


def test_a_stream_is_not_both_data_and_names():
    """The names would be looked for where the data has ended."""
    with pytest.raises(InvalidInputError, match="got standard input a second time"):
        itemix.read_transactions("-", names="/dev/stdin")


def test_a_pipe_that_does_not_wait_is_waited_for():
    """A pipe that has nothing yet has not ended."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def write():
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for _ in range(5):
                threading.Event().wait(0.02)
                pipe.write(b"1 2\n" * 100)

    threading.Thread(target=write, daemon=True).start()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        assert len(itemix.read_transactions(pipe)) == 500


def test_what_is_a_stream(data, tmp_path):
    """Regular files may be looked at; standard input, pipes and open handles may not."""
    pipe = tmp_path / "fifo"
    os.mkfifo(pipe)
    assert is_regular(data)
    assert not is_stream(data)
    assert is_stream(pipe)
    assert is_stream("-")
    assert is_stream("/dev/stdin")
    assert not is_stream(tmp_path)
    assert not is_stream(tmp_path / "nothing")


def test_writing_to_a_pipe_does_not_read_it(tmp_path):
    """What was written is looked at again only in a regular file."""
    pipe = tmp_path / "fifo.csv"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    itemix.write_transactions(Transactions.from_lists([["a", "b"]]), pipe)
    reader.join(20)
    assert got == [b"a,b\n"]
