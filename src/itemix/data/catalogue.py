"""The catalogue of named data sets: where each is, what it holds, whom to cite."""

from __future__ import annotations

from dataclasses import dataclass, field

from itemix.data import grocery


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    local : str
        Its path in the folder that ITEMIX_DATA names, there maybe with ``.gz``.
    url : str or None
        Where it is downloaded from.
    fingerprint : str or None
        The checksum of its transactions, if it is known: see `itemix.data.datasets.fingerprint`.
    """

    local: str
    url: str | None
    fingerprint: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """The facts about a data set; it prints as a short text.

    Attributes
    ----------
    name : str
        Its name.
    description : str
        What it is.
    n_transactions : int
        Its number of transactions.
    n_items : int
        Its number of items.
    n_ones : int or None
        Its number of (transaction, item) pairs, if it is known.
    citation : str
        Whom to cite.
    licence : str
        The terms of use.
    page : str
        Where it is described.
    files : dict of str to DataFile
        The file of each part; the only part of most is called "all".
    made_of : str or None
        Another data set: this one is its parts, one after the other.
    """

    name: str
    description: str
    n_transactions: int
    n_items: int
    n_ones: int | None
    citation: str
    licence: str
    page: str
    files: dict[str, DataFile] = field(default_factory=dict, repr=False)
    made_of: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that can be loaded alone, such as train and test; none for most."""
        return tuple(part for part in self.files if part != "all")

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the files are downloaded from."""
        return tuple(file.url for file in self.files.values() if file.url)

    @property
    def verified_by(self) -> str:
        """How its files are checked."""
        if not self.files:
            return "nothing to download: it is generated"
        if all(file.fingerprint for file in self.files.values()):
            return "a known checksum of the transactions"
        return "its size; the checksum of the first download is kept, and later ones must have the same"

    def __str__(self) -> str:
        ones = f", {self.n_ones:,} ones" if self.n_ones else ""
        lines = [
            f"{self.name}: {self.description}",
            f"size      {self.n_transactions:,} transactions x {self.n_items:,} items{ones}",
            f"parts     {', '.join(self.parts) or 'none'}",
            f"cite      {self.citation}",
            f"licence   {self.licence}",
            f"page      {self.page}",
            *(f"url       {url}" for url in self.urls),
            f"checked   {self.verified_by}",
        ]
        return "\n".join(lines)


_FIMI_URL = "http://fimi.uantwerpen.be/data/"
_UCI_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/anonymous/"
_GROCERIES_URL = (
    "https://raw.githubusercontent.com/stedy/Machine-Learning-with-R-datasets/master/groceries.csv"
)
_DEBD_PAGE = "https://github.com/arranger1044/DEBD"
_DEBD_URL = (
    "https://raw.githubusercontent.com/arranger1044/DEBD/80a4906dcf3b3463370f904efa42c21e8295e85c/datasets/"
)

_GENERATED = "made by a seeded generator of itemix, nothing is downloaded"
_AS_IS = "none stated; given as is for research, cite the donors"
_BAYARDO = "R. J. Bayardo: Efficiently mining long patterns from databases. SIGMOD 1998"
_QUEST = "R. Agrawal, R. Srikant: Fast algorithms for mining association rules. VLDB 1994"
_GEURTS = (
    "K. Geurts, G. Wets, T. Brijs, K. Vanhoof: Profiling high frequency accident locations using association "
    "rules. Transportation Research Board 2003"
)
_DEBD_CITATION = (
    "D. Lowd, J. Davis: Learning Markov network structure with decision trees. ICDM 2010; "
    "J. Van Haaren, J. Davis: Markov network structure learning: a randomized feature generation approach. "
    "AAAI 2012"
)


def _fimi(
    name: str,
    description: str,
    size: tuple[int, int, int | None],
    citation: str,
    *,
    file: str = "",
    fingerprint: str | None = None,
) -> DatasetInfo:
    file = file or f"{name}.dat"
    data = DataFile(f"{name}/{file.removesuffix('.gz')}", _FIMI_URL + file, fingerprint)
    return DatasetInfo(name, description, *size, citation, _AS_IS, _FIMI_URL, {"all": data})


def _debd(
    name: str, what: str, n_items: int, sizes: tuple[int, int, int], fingerprints: tuple[str, ...] = ()
) -> DatasetInfo:
    files = {}
    for k, part in enumerate(("train", "valid", "test")):
        file = f"{name}.{part}.data"
        known = fingerprints[k] if fingerprints else None
        files[part] = DataFile(f"debd/{file}", f"{_DEBD_URL}{name}/{file}", known)
    return DatasetInfo(
        name=f"debd-{name}",
        description=f"density estimation benchmark: {what}",
        n_transactions=sum(sizes),
        n_items=n_items,
        n_ones=None,
        citation=_DEBD_CITATION,
        licence="none stated; collected by A. Vergari for research",
        page=_DEBD_PAGE,
        files=files,
    )


def _paper(n_components: int) -> DatasetInfo:
    return DatasetInfo(
        name=f"syn{n_components}",
        description=f"synthetic, drawn from a mixture of {n_components} components, dense",
        n_transactions=30_000,
        n_items=100,
        n_ones=None,
        citation="R. He, J. Shapiro: Bayesian mixture models for frequent itemsets discovery; drawn anew by "
        "itemix (itemix.data.synthetic.paper_data)",
        licence="BSD-3-Clause",
        page=_GENERATED,
    )


_ENTRIES = (
    DatasetInfo(
        name="grocery_store",
        description="a synthetic grocery store with named items, buyer types and planted rules",
        n_transactions=5_000,
        n_items=len(grocery.ITEMS),
        n_ones=None,
        citation="itemix (itemix.data.synthetic.grocery_store)",
        licence="BSD-3-Clause",
        page=_GENERATED,
    ),
    _fimi(
        "chess",
        "positions of a chess end game (king and rook against king and pawn), dense",
        (3_196, 75, 118_252),
        _BAYARDO,
        fingerprint="3c502f4bcca884f86c4ce2ad3c73ceff0132920e1415d16fb9bc1ddc8fcd3d26",
    ),
    _fimi(
        "mushroom",
        "physical features of mushrooms, edible and poisonous, dense",
        (8_124, 119, 186_852),
        _BAYARDO,
        fingerprint="21aa927effe24cf13d3ee7159c2d5e3c13eba0210b6d540f28693a431515d064",
    ),
    _fimi(
        "accidents",
        "circumstances of traffic accidents in Flanders, 1991 to 2000, dense",
        (340_183, 468, 11_500_870),
        _GEURTS,
    ),
    DatasetInfo(
        name="accidents_17009",
        description="a sample of 1 in 20 of accidents, its more frequent items, numbered anew",
        n_transactions=17_009,
        n_items=111,
        n_ones=549_273,
        citation=_GEURTS,
        licence=_AS_IS,
        page=_DEBD_PAGE,
        files={
            "all": DataFile(
                "accidents/accidents_17009.dat",
                None,
                "2bbe98322354de3972d5e5c731f1165f4442e8f15e6ea70e4871b78a5ae0cfad",
            )
        },
        made_of="debd-accidents",
    ),
    DatasetInfo(
        name="msweb",
        description="areas of microsoft.com that a visitor went to in one week of 1998, with a test set",
        n_transactions=37_711,
        n_items=294,
        n_ones=113_845,
        citation="J. S. Breese, D. Heckerman, C. Kadie: Anonymous Microsoft web data. UCI 1998, "
        "doi:10.24432/C5VS3Q",
        licence="CC BY 4.0",
        page="https://archive.ics.uci.edu/dataset/4/anonymous+microsoft+web+data",
        files={
            "train": DataFile(
                "msweb/train.dat",
                f"{_UCI_URL}anonymous-msweb.data",
                "b8ae008a89063c1e50f42a5bedd0ad4024039f37681ed7e9e433e31b94128f0c",
            ),
            "test": DataFile(
                "msweb/test.dat",
                f"{_UCI_URL}anonymous-msweb.test",
                "0cb24a9d18e15aef2eca0fa30e271a056faaa21342b45267a1b2a9f0cba747b1",
            ),
        },
    ),
    DatasetInfo(
        name="groceries",
        description="one month of baskets of a grocery outlet, named items",
        n_transactions=9_835,
        n_items=169,
        n_ones=43_367,
        citation="M. Hahsler, K. Hornik, T. Reutterer: Implications of probabilistic data modeling for "
        "mining association rules. GfKl 2005",
        licence="GPL-3, as the R package arules that it comes from",
        page="https://cran.r-project.org/package=arules (Groceries); the file is a copy of it as CSV",
        files={
            "all": DataFile(
                "groceries/groceries.csv",
                _GROCERIES_URL,
                "cea0a0bfaf02b73a9622fb3425acc3ca63b2b54a1ad89438f6faa01663c20be4",
            )
        },
    ),
    _fimi(
        "retail",
        "baskets of an anonymous Belgian store, sparse",
        (88_162, 16_470, 908_576),
        "T. Brijs, G. Swinnen, K. Vanhoof, G. Wets: Using association rules for product assortment "
        "decisions. KDD 1999",
        fingerprint="e77da61b80ebe374a7e32bc5763d379f3034716108d6dc90560c03b4d1712e47",
    ),
    _fimi(
        "kosarak",
        "clicks on a Hungarian news portal, given by F. Bodon, sparse",
        (990_002, 41_270, 8_019_015),
        "F. Bodon: A fast APRIORI implementation. FIMI 2003",
        file="kosarak.dat.gz",
    ),
    _fimi(
        "t10i4d100k",
        "synthetic, from the IBM Quest generator: baskets of 10, patterns of 4",
        (100_000, 870, 1_010_228),
        _QUEST,
        file="T10I4D100K.dat",
        fingerprint="692e89789dc18007d348504ca22029b97a3331cc4dfa497301c68b8f8e64b804",
    ),
    _fimi(
        "t40i10d100k",
        "synthetic, from the IBM Quest generator: baskets of 40, patterns of 10",
        (100_000, 942, 3_960_507),
        _QUEST,
        file="T40I10D100K.dat",
    ),
    _fimi(
        "connect",
        "positions of the game Connect Four, dense",
        (67_557, 129, 2_904_951),
        _BAYARDO,
    ),
    _fimi(
        "pumsb",
        "census data of population and housing, dense",
        (49_046, 2_113, 3_629_404),
        _BAYARDO,
    ),
    _fimi(
        "pumsb_star",
        "pumsb without the items of 80% support and more",
        (49_046, 2_088, None),
        _BAYARDO,
    ),
    _fimi(
        "webdocs",
        "words of web documents, very large (1.5 GB)",
        (1_692_082, 5_267_656, None),
        "C. Lucchese, S. Orlando, R. Perego, F. Silvestri: WebDocs: a real-life huge transactional dataset. "
        "FIMI 2004",
        file="webdocs.dat.gz",
    ),
    _debd(
        "nltcs",
        "disabilities of elderly people",
        16,
        (16_181, 2_157, 3_236),
        (
            "89693bb2532c6d9765bfdeb3d84fe0ee28475ff516b24e7b9b3c4cfd3fd97cbe",
            "1a813f7622f04c1a46a258d5dd84a8d6b4c10d5c155934ae8e83ccb6ae7e5e92",
            "5ff533078c838da7e673f9393386770c2690d67ba402d33a155423e6f27236f8",
        ),
    ),
    _debd(
        "msnbc",
        "page categories visited at msnbc.com",
        17,
        (291_326, 38_843, 58_265),
    ),
    _debd(
        "kdd",
        "clicks and purchases of the KDD Cup 2000",
        64,
        (180_092, 19_907, 34_955),
    ),
    _debd(
        "plants",
        "states and provinces where a plant grows",
        69,
        (17_412, 2_321, 3_482),
        (
            "2dec24028d6fe8fc1c9e58e8831451467798e70b12a8e148c28838ad8dc95f49",
            "b36e41ae4d4e03dfcfb898317ca6eae1ef8d530a1183faff89c06d47d4aea91e",
            "9c5f26ca1a73ca3cc9a7e4fc35335014909e42d9988d6e7c88b7096a679bae56",
        ),
    ),
    _debd(
        "baudio",
        "artists that a listener likes",
        100,
        (15_000, 2_000, 3_000),
    ),
    _debd(
        "jester",
        "jokes that a reader likes",
        100,
        (9_000, 1_000, 4_116),
    ),
    _debd(
        "bnetflix",
        "films that a viewer likes",
        100,
        (15_000, 2_000, 3_000),
    ),
    _debd(
        "accidents",
        "circumstances of traffic accidents",
        111,
        (12_758, 1_700, 2_551),
        (
            "37b547f6c3e3cbc8421ba17646bc79c47db56261fc2d32aba71ec41c4acf66ed",
            "82f30f2ba4ea075c1836759ed7b64b27520ca415343cc1c88fd977825784f007",
            "72d68e708e758e78dbc6be6858254f039274d84db230ebbc643ab31d87119269",
        ),
    ),
    _debd(
        "tretail",
        "baskets of a Belgian store, frequent items",
        135,
        (22_041, 2_938, 4_408),
        (
            "8844f3cda4d6c46f9d6f10eba37c66c0b522effbf6bdf6e0bf921fef62ae1c1b",
            "019a910160a4cade203965a05e95cb70f1031b72af91cb1b0140130a2178c100",
            "22179d7795889d1b6a85f8879af7af70461acce53cc8e12701f51876a5da56c4",
        ),
    ),
    _debd(
        "pumsb_star",
        "census answers, without the most frequent",
        163,
        (12_262, 1_635, 2_452),
    ),
    _debd(
        "dna",
        "splice junctions of DNA",
        180,
        (1_600, 400, 1_186),
        (
            "6f10e0f51fa923c3844e161d9ee4d53d09ad191099a1816e538da2f35610ca05",
            "7bb1b1a17ef21e22a707984aaf0cfd42cf1078208ea7a9728f2138de5153e8f4",
            "11a6fa96efd3fd784fe1ca9e1debf99bace9b6b943be98a7652b204e55c4cdfa",
        ),
    ),
    _debd(
        "kosarek",
        "pages read at a Hungarian news portal",
        190,
        (33_375, 4_450, 6_675),
        (
            "4a8c5134738119ac96dc7f02b05017d7d3445122ba33d04ba8bc97ac27aed9d9",
            "5c6cf34551347222c380f0d19cbe20669e67ecbbe8a21e4fef75563fea9b2acf",
            "9443626e9e3fe067071c4ca0a41e95cbca0f721bb4f5a4e6f027a384dff7ef60",
        ),
    ),
    _debd(
        "msweb",
        "areas visited at microsoft.com",
        294,
        (29_441, 3_270, 5_000),
        (
            "a08e103f9461dc6687f9fb596c09a5a222f870ada5b2c0a1b2c99ce6a52b7a81",
            "39d31de80ed51604ba6961f886cb2824a4fd4345e30a228e632e7bce3043c3a6",
            "1ac2a88c2445b136bf2e8c1627261c11c8abb93fc4e1e70cfb35b8d97926e0ce",
        ),
    ),
    _debd(
        "book",
        "books that a reader rated",
        500,
        (8_700, 1_159, 1_739),
    ),
    _debd(
        "tmovie",
        "films that a viewer rated (EachMovie)",
        500,
        (4_524, 1_002, 591),
    ),
    _debd(
        "cwebkb",
        "words of web pages (WebKB)",
        839,
        (2_803, 558, 838),
    ),
    _debd(
        "cr52",
        "words of news (Reuters 52)",
        889,
        (6_532, 1_028, 1_540),
    ),
    _debd(
        "c20ng",
        "words of postings (20 Newsgroups)",
        910,
        (11_293, 3_764, 3_764),
    ),
    _debd(
        "bbc",
        "words of BBC news",
        1058,
        (1_670, 225, 330),
    ),
    _debd(
        "ad",
        "features of images in web pages",
        1556,
        (2_461, 327, 491),
    ),
    *(_paper(n_components) for n_components in (15, 25, 50, 75, 140)),
)

CATALOGUE = {entry.name: entry for entry in _ENTRIES}
"""Every data set by its name."""
