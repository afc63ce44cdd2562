import gzip
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from itemix import DatasetUnavailableError, InvalidInputError, Transactions, read_transactions
from itemix.data import datasets
from itemix.data.catalogue import DataFile, DatasetInfo
from itemix.data.datasets import read_msweb, read_uci

UCI = """I,4,"www.microsoft.com","created by getlog.pl"
A,1288,1,"library","/library"
A,1000,1,"regwiz ","/regwiz"
A,1289,1,"Never, Visited","/never"
C,"10001",10001
V,1000,1
V,1288,1
C,"10002",10002
V,1288,1
"""


class Quiet(SimpleHTTPRequestHandler):
    """A server that does not talk."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder on this machine, and keep downloads in another; return the folder and its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ITEMIX_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def entry_of(url, *, fingerprint=None, n_transactions=2, n_items=3):
    """Make an entry of the catalogue for one file of transactions."""
    file = DataFile("toy/toy.dat", url, fingerprint)
    return DatasetInfo("toy", "a toy", n_transactions, n_items, None, "us", "none", "here", {"all": file})


TOY = Transactions.from_lists([[1, 2], [3]])


@pytest.mark.parametrize(
    ("name", "content"), [("toy.dat", b"1 2 \n3 \n"), ("toy.dat.gz", gzip.compress(b"2 1\r\n3", mtime=0))]
)
def test_downloads_are_kept_and_checked(server, name, content):
    """A file is downloaded once; the checksum is of what it holds, not of how it was written."""
    folder, address = server
    (folder / name).write_bytes(content)
    entry = entry_of(f"{address}/{name}", fingerprint=datasets.fingerprint(TOY))
    assert datasets._load_file(entry, "all") == TOY
    (folder / name).unlink()
    assert datasets._load_file(entry, "all") == TOY
    assert (datasets.cache_folder() / "toy" / f"{name}.sha256").exists()


def test_other_content_is_refused_and_forgotten(server):
    """A file with other transactions is not kept, so that a corrected one can be downloaded."""
    folder, address = server
    path = folder / "toy.dat"
    path.write_text("1 2\n4\n")
    entry = entry_of(f"{address}/toy.dat", fingerprint=datasets.fingerprint(TOY))
    with pytest.raises(
        DatasetUnavailableError, match=r"expected toy at .*, got a file with other transactions \(check"
    ):
        datasets._load_file(entry, "all")
    path.write_text("1 2\n3\n")
    assert datasets._load_file(entry, "all") == TOY


@pytest.mark.parametrize(
    ("size", "wrong"), [({"n_items": 4}, "3 items, not 4"), ({"n_transactions": 5}, "2 transactions, not 5")]
)
def test_the_size_is_checked_where_no_checksum_is_known(server, size, wrong):
    """Items and transactions must be as many as the catalogue says."""
    folder, address = server
    (folder / "toy.dat").write_text("1 2\n3\n")
    with pytest.raises(DatasetUnavailableError, match=f"got a file with {wrong}; try again later, or"):
        datasets._load_file(entry_of(f"{address}/toy.dat", **size), "all")


def test_the_first_download_is_trusted_and_remembered(server):
    """A file that changes in the cache no longer has its checksum, and is downloaded again."""
    folder, address = server
    (folder / "toy.dat").write_text("1 2\n3\n")
    entry = entry_of(f"{address}/toy.dat")
    datasets._load_file(entry, "all")
    cached = datasets.cache_folder() / "toy" / "toy.dat"
    cached.write_text("9\n")
    assert datasets._load_file(entry, "all") == TOY
    (folder / "toy.dat").write_text("1 2\n3 \n")
    cached.write_text("9\n")
    with pytest.raises(DatasetUnavailableError, match=r"got a file with the checksum \w+, not \w+; fetch"):
        datasets._load_file(entry, "all")


def test_a_file_saved_by_hand_is_used(server):
    """Where the message of a failed download says to put it."""
    _, address = server
    entry = entry_of(f"{address}/toy.dat")
    with pytest.raises(
        DatasetUnavailableError, match="got status 404; fetch that file by hand and save it as"
    ):
        datasets._load_file(entry, "all")
    cached = datasets.cache_folder() / "toy" / "toy.dat"
    cached.parent.mkdir(parents=True, exist_ok=True)
    cached.write_text("1 2\n3\n")
    assert datasets._load_file(entry, "all") == TOY


def test_a_local_file_comes_first(server, tmp_path, monkeypatch):
    """Plain or gzipped, without a download, but it must be the data set."""
    _, address = server
    entry = entry_of(f"{address}/toy.dat", fingerprint=datasets.fingerprint(TOY))
    local = tmp_path / "local"
    (local / "toy").mkdir(parents=True)
    (local / "toy" / "toy.dat.gz").write_bytes(gzip.compress(b"1 2\n3\n"))
    monkeypatch.setenv("ITEMIX_DATA", str(local))
    assert datasets._load_file(entry, "all") == TOY
    plain = local / "toy" / "toy.dat"
    plain.write_text("1 2\n4\n")
    message = f"expected toy in {str(plain)!r}, got a file with other transactions .*; replace it, or read it"
    with pytest.raises(DatasetUnavailableError, match=message):
        datasets._load_file(entry, "all")
    assert plain.exists()


def test_some_files_cannot_be_downloaded(server):
    """Then the message says where to put them."""
    assert server
    with pytest.raises(
        DatasetUnavailableError, match=r"expected toy at 'toy/toy.dat' in the folder that ITEMIX_DATA"
    ):
        datasets._load_file(entry_of(None), "all")


def test_the_fingerprint_is_of_the_transactions():
    """Items that do not occur do not matter; items, rows and their order do."""
    same = datasets.fingerprint(TOY)
    assert datasets.fingerprint(TOY.align_items([0, 1, 2, 3, 4])) == same
    others = [[[1, 2], [4]], [[3], [1, 2]], [[1], [2, 3]], [[1, 2], [3], []]]
    assert same not in {datasets.fingerprint(Transactions.from_lists(lists)) for lists in others}


def test_microsoft_web_data_as_uci_has_it(tmp_path):
    """Areas with their titles, then visitors with their visits."""
    path = tmp_path / "anonymous-msweb.data"
    path.write_text(UCI)
    transactions, titles = read_msweb(path)
    assert transactions.to_lists() == [[1000, 1288], [1288]]
    assert titles == {1288: "library", 1000: "regwiz", 1289: "Never, Visited"}


def test_a_download_of_microsoft_web_data_has_all_areas(server, tmp_path):
    """Its items are the titles of all areas, in the order of their codes."""
    folder, address = server
    (folder / "anonymous-msweb.data").write_text(UCI)
    known = datasets.fingerprint(Transactions.from_lists([[1000, 1288], [1288]]))
    file = DataFile("msweb/train.dat", f"{address}/anonymous-msweb.data", known)
    entry = DatasetInfo("msweb", "", 2, 3, None, "", "", "", {"train": file})
    transactions = datasets._load_file(entry, "train")
    assert transactions.to_lists() == [["regwiz", "library"], ["library"]]
    assert list(transactions.items) == ["regwiz", "library", "Never, Visited"]


@pytest.mark.parametrize("line", ["V,1000,1", "A,x,1,title,/url", "A,1000"])
def test_broken_microsoft_web_data_is_refused(tmp_path, line):
    """The line is named."""
    path = tmp_path / "anonymous-msweb.data"
    path.write_text(f"I,4\n{line}\n")
    with pytest.raises(
        InvalidInputError, match=rf"expected lines of areas, visitors and visits, got '{line}' in line 2"
    ):
        read_uci(path)


@pytest.mark.data("msweb/train.dat")
def test_plain_microsoft_web_data_has_titles_beside_it(data_folder):
    """The codes of the file, and the titles of the table."""
    transactions, titles = read_msweb(data_folder / "msweb" / "train.dat")
    assert transactions == read_transactions(data_folder / "msweb" / "train.dat")
    assert len(titles) == 294
    assert titles[1008] == "Free Downloads"


def test_a_download_that_breaks_off_leaves_nothing(server):
    """Neither a part of the file nor a note stays, and what a killed download has left goes."""
    _, address = server
    entry = entry_of(f"{address}/toy.dat")
    folder = datasets.cache_folder() / "toy"
    folder.mkdir(parents=True)
    (folder / ".toy.dat-0123abcd.tmp.dat").write_text("1 2")
    with pytest.raises(DatasetUnavailableError, match="got status 404"):
        datasets._load_file(entry, "all")
    assert list(folder.iterdir()) == []
