import gzip
import io
import itertools
import sys
import textwrap
from contextlib import contextmanager

import numpy as np
import pytest
from terminals import run_on_terminal

from itemix._arrays import GrowingArray
from itemix.io.source import HEAD_SIZE, Utf8Stream, line_blocks, open_source, text_lines


@pytest.mark.parametrize("size", [0, 10, HEAD_SIZE, HEAD_SIZE + 1, 3 * HEAD_SIZE])
@pytest.mark.parametrize("gzipped", [False, True])
def test_the_head_is_read_twice_and_the_rest_once(size, gzipped):
    """Looking at the beginning takes nothing away."""
    data = bytes(itertools.islice(itertools.cycle(range(1, 251)), size))
    with open_source(io.BytesIO(gzip.compress(data) if gzipped else data)) as source:
        assert source.head == data[:HEAD_SIZE]
        assert source.read(7) == data[:7]
        assert source.readall() == data[7:]
        assert source.gzipped == gzipped


def test_several_gzip_files_in_one():
    """Files that were put one after the other are read as one."""
    with open_source(io.BytesIO(gzip.compress(b"1 2\n") + gzip.compress(b"3\n"))) as source:
        assert source.readall() == b"1 2\n3\n"


def test_bytes_are_counted(tmp_path):
    """A progress bar is told of the bytes of the file, not of those that it unpacks to."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * 100_000))
    counted = []
    with open_source(path, counted.append) as source:
        source.readall()
    assert sum(counted) == path.stat().st_size


@contextmanager
def opened(text, encoding="utf-8"):
    """Open text as a source."""
    with open_source(io.BytesIO(text.encode(encoding))) as source:
        yield source


def test_lines_are_cut_at_line_ends_only():
    """Letters of several bytes may lie across blocks, and a byte order mark is left out."""
    text = "é" * 1_500_000 + "\nü\r\nlast"
    with opened("\ufeff" + text) as source:
        assert list(text_lines(source, "utf-8")) == ["é" * 1_500_000 + "\n", "ü\r\n", "last"]
    with opened(text) as source:
        assert Utf8Stream(source, "utf-8").readall() == text.encode()
    with opened(text, "utf-16") as source:
        assert Utf8Stream(source, "utf-16").readall() == text.encode()


@pytest.mark.parametrize("skip", [0, 1, 2, 3])
def test_first_lines_can_be_left_out(skip):
    """Blocks are whole lines, and the last line gets its line feed."""
    lines = ["head\n", "x" * 3_000_000 + "\n", "tail"]
    with opened("".join(lines)) as source:
        text = b"".join(line_blocks(source, "utf-8", skip=skip)).decode()
    expected = "".join(lines[skip:])
    assert text == (expected + "\n" if expected else "")


def test_arrays_grow():
    """Values come out as they went in, with what was added to them, in one array of the right size."""
    growing = GrowingArray(np.int64)
    blocks = [np.arange(n) for n in (3, 0, 5000, 1)]
    for block in blocks:
        growing.extend(block, plus=10)
    growing.reserve(10_000)
    assert len(growing) == sum(map(len, blocks))
    values = growing.finish()
    assert values.tolist() == (np.concatenate(blocks) + 10).tolist()
    assert values.base is None


def test_progress_is_drawn_on_a_terminal(tmp_path):
    """The bar names the file and how much of it has been read."""
    path = tmp_path / "baskets.dat"
    path.write_bytes(b"x" * 2000)
    script = """
        import sys
        from itemix.io.source import byte_progress
        with byte_progress(sys.argv[1]) as on_bytes:
            on_bytes(2000)
    """
    shown = run_on_terminal([sys.executable, "-c", textwrap.dedent(script), str(path)])
    assert shown.code == 0
    assert "reading baskets.dat" in shown.text
    assert "2.0/2.0 kB" in shown.text
