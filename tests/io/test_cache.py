"""`read_chunks(cache=...)`: rows on disk, used again, and made anew when the file changes."""

import errno
import gc
import os
from functools import partial

import numpy as np
import pytest

import itemix
from itemix import InvalidInputError, OutputError, read_chunks
from itemix import _files as files
from itemix.io import cache as module
from itemix.io import chunks as chunks_module
from itemix.io import partitions as partitions_module
from itemix.models import counts


@pytest.fixture
def path(tmp_path):
    """A file of 2,000 baskets, written as text."""
    store = itemix.datasets.load("grocery_store").sample(2000, random_state=0)
    itemix.write_transactions(store, tmp_path / "store.csv")
    return tmp_path / "store.csv"


@pytest.fixture
def opened(monkeypatch):
    """The files that were opened to be decoded."""
    names = []
    recognise = chunks_module.recognise

    def counted(source, *arguments):
        names.append(source.label)
        return recognise(source, *arguments)

    monkeypatch.setattr(chunks_module, "recognise", counted)
    return names


def same(chunks, others):
    """Whether chunks have the same transactions, cut in the same places."""
    return chunks.sizes == others.sizes and all(a == b for a, b in zip(chunks, others, strict=True))


def test_the_file_is_decoded_once(path, opened):
    """All later passes read the rows, which are those of the file; nothing is left of them."""
    plain = read_chunks(path, chunk_bytes=20_000)
    del opened[:]
    cached = read_chunks(path, chunk_bytes=20_000, cache=True)
    assert opened == ["store.csv"]
    twice = [same(cached, plain) for _ in range(2)]
    assert twice == [True, True]
    assert opened == ["store.csv"] * 3
    assert (cached.items, cached.n_transactions, cached.source) == (
        plain.items,
        plain.n_transactions,
        plain.source,
    )
    assert len(cached.sizes) > 3
    assert itemix.mine(cached, 0.05) == itemix.mine(plain, 0.05)
    for array in (next(iter(cached)).indptr, next(iter(cached)).indices):
        assert not array.flags.writeable


def test_a_cache_that_is_kept(path, tmp_path, opened):
    """It is used again as long as the file stays as it was and is read in the same way, under any names."""
    folder = tmp_path / "kept"
    folder.mkdir()
    first = read_chunks(path, chunk_bytes=20_000, cache=folder)
    (kept,) = folder.iterdir()
    again = read_chunks(path, chunk_bytes=20_000, cache=str(folder))
    assert opened == ["store.csv"]
    assert same(first, again)
    names = {label: f"my {label}" for label in first.items}
    renamed = read_chunks(path, chunk_bytes=20_000, cache=folder, names=names)
    assert opened == ["store.csv"]
    assert list(renamed.items) == [f"my {label}" for label in first.items]
    read_chunks(path, chunk_bytes=30_000, cache=folder)
    assert opened == ["store.csv"] * 2
    assert len(list(folder.iterdir())) == 2
    path.write_text(path.read_text() + "whole milk\n")
    new = read_chunks(path, chunk_bytes=20_000, cache=folder)
    assert new.n_transactions == first.n_transactions + 1
    assert opened == ["store.csv"] * 3
    assert kept in folder.iterdir()
    assert len(list(folder.iterdir())) == 2
    assert sum(chunk.n_transactions for chunk in first) == first.n_transactions  # its file is still open


@pytest.mark.parametrize("place", [0, 100, -30, -200, "cut", "empty"])
def test_a_damaged_cache_is_made_anew(path, tmp_path, opened, place):
    """Whatever happens to it, the rows are those of the file."""
    plain = list(read_chunks(path, chunk_bytes=20_000))
    read_chunks(path, chunk_bytes=20_000, cache=tmp_path)
    (kept,) = tmp_path.glob("*.rows")
    content = bytearray(kept.read_bytes())
    if isinstance(place, int):
        content[place] ^= 0xFF
    kept.write_bytes(content[: {"cut": 1000, "empty": 0}.get(place, len(content))])
    del opened[:]
    assert list(read_chunks(path, chunk_bytes=20_000, cache=tmp_path)) == plain
    assert opened == ["store.csv"]


def test_rows_that_are_no_rows_are_not_trusted(path, tmp_path):
    """A file whose checksums are right may still hold codes that no item has: kernels would trust them."""
    read_chunks(path, cache=tmp_path)
    (kept,) = tmp_path.glob("*.rows")
    key = module.SourceKey.of(path, "any")
    facts = {"key": [1, *key], "labels": ["a", "b"], "n_transactions": 1, "source": ""}
    for indptr, codes, is_sound in (
        ([0, 2], [0, 1], True),
        ([0, 2], [0, 2], False),
        ([0, 2], [1, 0], False),
        ([1, 2], [0, 1], False),
    ):
        module.RowsFile.kept(kept, [(np.array(indptr), np.array(codes, np.int32))], facts)
        assert (module.RowsFile.opened(kept, key) is not None) == is_sound


def test_a_file_that_changes_while_it_is_read(path, monkeypatch):
    """It is noticed at the end of the first reading, before anything is kept."""
    passed = module.Spool.passed

    def touched(spool, pieces):
        yield from passed(spool, pieces)
        os.utime(path, (1, 1))

    monkeypatch.setattr(module.Spool, "passed", touched)
    with pytest.raises(InvalidInputError, match=r"while it is read, got store.csv which has changed; wait"):
        read_chunks(path, cache=True)


def test_a_disk_that_is_full(path, tmp_path, monkeypatch):
    """The error names the folder, and what to do; nothing is left of what was written."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_write", full)
    with pytest.raises(OutputError, match=r"expected room for temporary files in .* TMPDIR"):
        read_chunks(path, cache=True)
    with pytest.raises(OutputError, match="got No space left on device; nothing was changed"):
        read_chunks(path, cache=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["store.csv"]


def test_scratch_files_are_closed_with_the_chunks(path, monkeypatch):
    """When the last chunk is gone, so is the room that it took."""
    made = []
    new = files.new_scratch

    def noted():
        made.append(new())
        return made[-1]

    monkeypatch.setattr(files, "new_scratch", noted)
    monkeypatch.setattr(module, "new_scratch", noted)
    chunks = read_chunks(path, cache=True)
    assert [file.closed for file in made] == [True, False]
    del chunks
    gc.collect()
    assert made[1].closed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_prepares_its_rows_once(path, monkeypatch):
    """What is made of parts that are on disk is kept there too; the fit is that of all transactions."""
    made = []
    prepare = counts.Rows._prepare
    monkeypatch.setattr(counts.Rows, "_prepare", lambda *arguments: (made.append(1), prepare(*arguments))[1])
    model = itemix.BernoulliMixture(3, init="random", max_iter=4, tol=0, random_state=0)
    bounds = {}
    for cache in (False, True):
        chunks = read_chunks(path, chunk_bytes=20_000, cache=cache)
        del made[:]
        bounds[cache] = model.fit(chunks).lower_bounds_
        assert (len(made) == len(chunks.sizes)) == cache
    np.testing.assert_array_equal(bounds[False], bounds[True])
    whole = itemix.read_transactions(path)
    np.testing.assert_allclose(bounds[True], model.fit(whole).lower_bounds_, rtol=1e-9)


def test_files_that_are_parts_are_decoded_until_they_are_on_disk(path, tmp_path, monkeypatch):
    """Once to learn their items, and once more; with the options of reading."""
    read = []
    monkeypatch.setattr(partitions_module, "_read", partial(noted_read, read, partitions_module._read))
    itemix.write_transactions(itemix.read_transactions(path)[:500], tmp_path / "more.csv")
    parts = itemix.partitions([path, tmp_path / "more.csv"], cache=True)
    assert len(read) == 4
    whole = itemix.Transactions.concatenate(list(parts))
    assert itemix.mine(parts, 0.05) == itemix.mine(whole, 0.05)
    assert not any(array.flags.writeable for part in parts for array in (part.indptr, part.indices))
    assert len(read) == 4
    with pytest.raises(InvalidInputError, match="expected cache as True or False, got 'kept'"):
        itemix.partitions([path], cache="kept")


def noted_read(read, function, path, reading):
    """Read a file, and note it."""
    read.append(path)
    return function(path, reading)


def test_what_cache_may_be(path, tmp_path):
    """True, False, or a folder that is there."""
    assert read_chunks(path, cache=False)._rows is None
    with pytest.raises(InvalidInputError, match="expected cache as True, False or a folder, got 1; try"):
        read_chunks(path, cache=1)
    with pytest.raises(InvalidInputError, match=r"expected an existing folder to write to, got .*none"):
        read_chunks(path, cache=tmp_path / "none")
