import pytest

import itemix
from itemix import DatasetUnavailableError, InvalidInputError, datasets, read_transactions
from itemix.data import datasets as fetch
from itemix.data.catalogue import CATALOGUE
from itemix.data.synthetic import paper_data

SIZES = {
    "chess": ("chess/chess.dat", 3_196, 75, 118_252),
    "mushroom": ("mushroom/mushroom.dat", 8_124, 119, 186_852),
    "accidents_17009": ("accidents/accidents_17009.dat", 17_009, 111, 549_273),
    "msweb": ("msweb/train.dat", 37_711, 294, 113_845),
    "groceries": ("groceries/groceries.csv", 9_835, 169, 43_367),
    "retail": ("retail/retail.dat.gz", 88_162, 16_470, 908_576),
    "t10i4d100k": ("t10i4d100k/T10I4D100K.dat.gz", 100_000, 870, 1_010_228),
}
DEBD = ["nltcs", "plants", "accidents", "tretail", "dna", "kosarek", "msweb"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.data(SIZES[name][0])) for name in SIZES]
)
def test_real_data_has_its_size(name):
    """Transactions, items and ones of every set are those of its description, and of the catalogue."""
    transactions = datasets.load(name)
    entry = datasets.info(name)
    found = (transactions.n_transactions, transactions.n_items, transactions.n_ones)
    assert found == SIZES[name][1:] == (entry.n_transactions, entry.n_items, entry.n_ones)
    assert transactions.source == name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.data(f"debd/{name}.train.data.gz")) for name in DEBD]
)
def test_density_estimation_benchmarks_have_their_size(name):
    """Three parts over the same items, which are as many as the catalogue says."""
    entry = datasets.info(f"debd-{name}")
    parts = [datasets.load(entry.name, part=part) for part in entry.parts]
    assert entry.parts == ("train", "valid", "test")
    assert sum(map(len, parts)) == entry.n_transactions
    assert all(part.items == parts[0].items for part in parts)
    assert parts[0].n_items == entry.n_items
    whole = datasets.load(entry.name)
    assert whole.to_lists() == [row for part in parts for row in part]


@pytest.mark.data("msweb/train.dat", "msweb/test.dat", "msweb/items.csv")
def test_the_parts_of_msweb():
    """Both have all 294 areas, by their titles, also those that nobody visited."""
    train, test = datasets.load("msweb", part="train"), datasets.load("msweb", part="test")
    assert (len(train), train.n_ones, len(test), test.n_ones) == (32_711, 98_654, 5_000, 15_191)
    assert train.items == test.items
    assert train.n_items == 294
    assert "Free Downloads" in train.items
    assert sum("MS Project" in str(name) for name in train.items) >= 2
    assert train.source == "msweb, train"


@pytest.mark.data("debd/accidents.train.data.gz", "accidents/accidents_17009.dat")
def test_the_sample_of_accidents_can_be_made_of_its_parts(data_folder, tmp_path, monkeypatch):
    """Without its own file, the sample is put together from the parts of the benchmark: the same data."""
    sample = read_transactions(data_folder / "accidents" / "accidents_17009.dat")
    (tmp_path / "debd").symlink_to(data_folder / "debd")
    monkeypatch.setenv("ITEMIX_DATA", str(tmp_path))
    assert datasets.load("accidents_17009") == sample


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.data(SIZES[name][0])) for name in SIZES if name != "msweb"]
)
def test_fingerprints_are_those_of_the_catalogue(name, data_folder):
    """What a download is checked against is what the real file has."""
    file = CATALOGUE[name].files["all"]
    assert fetch.fingerprint(read_transactions(fetch.find_local(file))) == file.fingerprint
    assert fetch.find_local(file).resolve().is_relative_to(data_folder)


@pytest.mark.data("msweb/train.dat", "msweb/test.dat", "debd/nltcs.train.data.gz")
@pytest.mark.parametrize("name", ["msweb", *(f"debd-{name}" for name in DEBD)])
def test_fingerprints_of_parts(name):
    """The same for the sets that come in parts."""
    for file in CATALOGUE[name].files.values():
        assert fetch.fingerprint(read_transactions(fetch.find_local(file))) == file.fingerprint


def test_the_store_needs_no_download():
    """It is made on the spot."""
    assert itemix.datasets.load("grocery_store").n_transactions == 5000


@pytest.mark.parametrize("name", ["syn15", "syn25", "syn50", "syn75", "syn140"])
def test_the_papers_synthetic_sets_need_no_download(name):
    """They are drawn on the spot, and have the size of the catalogue."""
    entry, transactions = datasets.info(name), datasets.load(name)
    assert transactions == paper_data(name)
    assert (entry.n_transactions, entry.n_items) == (transactions.n_transactions, transactions.n_items)
    assert entry.verified_by == "nothing to download: it is generated"


def test_everything_is_described():
    """Each set says whom to cite, its licence, its page, its size, and how a download is checked."""
    assert datasets.available() == list(CATALOGUE)
    for name in datasets.available():
        text = str(datasets.info(name))
        for word in (name, "transactions x", "cite", "licence", "page", "checked"):
            assert word in text
    for name in ("chess", "kosarak", "connect", "pumsb", "pumsb_star", "webdocs", "t40i10d100k", "accidents"):
        assert datasets.info(name).urls[0].startswith("http://fimi.uantwerpen.be/data/")
    assert "known checksum" in datasets.info("chess").verified_by
    assert "first download is kept" in datasets.info("kosarak").verified_by


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        (
            "mushrom",
            None,
            r"expected the name of one of \d+ data sets, got 'mushrom'; did you mean 'mushroom'\?",
        ),
        ("zzzzz", None, r"got 'zzzzz'; datasets.available\(\) lists them"),
        (
            "msweb",
            "valid",
            r"expected one of train, test for msweb, got part='valid'; leave it out to load all",
        ),
        ("chess", "train", r"expected no part \(there are none\) for chess, got part='train'"),
    ],
)
def test_unknown_sets_and_parts_are_refused(name, part, message):
    """The nearest names and the parts that there are are offered."""
    with pytest.raises(InvalidInputError, match=message):
        datasets.load(name, part=part)


def test_itemix_data_must_name_a_folder(tmp_path, monkeypatch):
    """A wrong folder is not passed over in silence."""
    monkeypatch.setenv("ITEMIX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        InvalidInputError, match=r"expected ITEMIX_DATA to name a folder, got '.*nowhere'; correct it"
    ):
        datasets.load("chess")


def test_offline_is_one_clear_line(tmp_path, monkeypatch):
    """The line names the address, the place to save the file, and the folder to set."""
    monkeypatch.setenv("ITEMIX_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    message = (
        r"expected to download chess from http://fimi.uantwerpen.be/data/chess.dat, got no connection; "
        r"fetch that file by hand and save it as '.*chess/chess.dat', or set ITEMIX_DATA to a folder"
    )
    with pytest.raises(DatasetUnavailableError, match=message) as caught:
        datasets.load("chess")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, OSError)
