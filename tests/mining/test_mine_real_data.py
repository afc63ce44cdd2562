"""`mine` on real data, against independent miners."""

import gzip

import numpy as np
import pytest

import itemix
from itemix import Transactions

# Sets by length (lengths without any left out) and the sum of their counts. They were taken from pyfim's
# `relim`, with the threshold as an absolute count, when every set and every count was the same as here.
REFERENCE = {
    ("mushroom/mushroom.dat", 0.2): {
        "all": (
            [43, 376, 1472, 3559, 6267, 8802, 10151, 9488, 7010, 4004, 1729, 546, 119, 16, 1],
            98_797_340,
        ),
        "closed": ([1, 21, 99, 169, 234, 290, 231, 97, 33, 12, 4, 4, 1, 1], 2_883_804),
        "maximal": ([6, 8, 15, 48, 51, 25, 3, 1, 1], 270_554),
    },
    ("mushroom/mushroom.dat", 0.1): {
        "all": (
            [56, 763, 4593, 16150, 38800, 69835, 98846, 111786, 100660, 71342, 39171, 16292, 4956, 1039,
             134, 8],
            578_184_444,
        ),
        "closed": ([1, 23, 140, 358, 612, 958, 1139, 908, 434, 187, 65, 20, 17, 1, 14, 8], 6_951_332),
        "maximal": ([1, 2, 7, 26, 50, 130, 180, 81, 37, 9, 3, 13, 8], 478_476),
    },
    ("chess/chess.dat", 0.5): {
        "all": (
            [37, 531, 4000, 18565, 58172, 129952, 214297, 266635, 252853, 181970, 97307, 37232, 9667,
             1574, 136, 4],
            2_285_602_435,
        ),
        "closed": (
            [26, 285, 1716, 6621, 17982, 36451, 57191, 70698, 69314, 53949, 33137, 15599, 5236, 1119, 122, 4],
            677_875_894,
        ),
        "maximal": ([4, 21, 93, 262, 652, 1220, 1753, 2150, 2041, 1729, 1078, 380, 76, 4], 18_459_568),
    },
    ("accidents/accidents_17009.dat", 0.3): {
        "all": ([32, 405, 2533, 9121, 21036, 32818, 35195, 25549, 11955, 3264, 420, 13], 886_632_187),
        "closed": ([17, 137, 756, 2946, 7846, 14300, 17953, 15345, 8550, 2762, 407, 13], 449_869_617),
        "maximal": ([2, 23, 86, 287, 544, 657, 674, 293, 13], 13_540_719),
    },
    ("retail/retail.dat.gz", 0.001): {
        "all": ([2117, 3260, 1794, 382, 36], 1_859_296),
        "closed": ([2117, 3255, 1786, 378, 36], 1_857_315),
        "maximal": ([875, 1224, 1054, 263, 36], 399_899),
    },
    ("t10i4d100k/T10I4D100K.dat.gz", 0.001): {
        "all": ([797, 8831, 7130, 5499, 3188, 1429, 503, 130, 23, 2], 6_659_711),
        "closed": ([796, 8813, 6905, 5251, 3039, 1365, 485, 127, 23, 2], 6_538_032),
        "maximal": ([22, 2888, 459, 309, 222, 85, 51, 13, 3, 2], 577_161),
    },
    ("groceries/groceries.csv", 0.01): {
        "all": ([88, 213, 32], 82_103),
        "closed": ([88, 213, 32], 82_103),
        "maximal": ([41, 170, 32], 35_999),
    },
    ("msweb/train.dat", 0.005): {
        "all": ([80, 206, 166, 79, 11], 270_498),
        "closed": ([80, 206, 166, 79, 11], 270_498),
        "maximal": ([33, 91, 70, 43, 11], 53_149),
    },
    ("msweb/test.dat", 0.005): {
        "all": ([79, 214, 181, 85, 11], 42_621),
        "closed": ([79, 212, 173, 84, 11], 42_285),
        "maximal": ([31, 77, 69, 47, 11], 7_541),
    },
    ("debd/nltcs.test.data.gz", 0.1): {
        "all": ([16, 100, 350, 754, 1021, 885, 478, 142, 19, 1], 1_550_164),
        "closed": ([16, 97, 303, 570, 696, 606, 366, 125, 18, 1], 1_191_907),
        "maximal": ([4, 1, 14, 35, 48, 56, 35, 9, 1], 66_718),
    },
    ("debd/plants.test.data.gz", 0.1): {
        "all": ([59, 625, 3077, 8654, 14070, 13963, 8515, 3097, 607, 51], 19_806_980),
        "closed": ([59, 625, 3027, 8202, 12791, 12257, 7438, 2821, 583, 51], 18_041_976),
        "maximal": ([2, 49, 193, 663, 1273, 1515, 1356, 890, 252, 51], 2_194_534),
    },
    ("debd/dna.test.data.gz", 0.1): {
        "all": ([180, 722, 172, 7], 188_791),
        "closed": ([180, 722, 172, 7], 188_791),
        "maximal": ([12, 489, 151, 7], 90_206),
    },
    ("debd/kosarek.test.data.gz", 0.02): {
        "all": ([28, 47, 34, 12, 2], 46_197),
        "closed": ([28, 47, 34, 12, 2], 46_197),
        "maximal": ([7, 9, 10, 3, 2], 5_080),
    },
}  # fmt: skip


def cases():
    """Return a test for each data set and threshold, marked with the file it needs."""
    return [
        pytest.param(name, support, sets, marks=pytest.mark.data(name), id=f"{name.split('/')[-1]} {support}")
        for (name, support), sets in REFERENCE.items()
    ]


def read(path):
    """Read transactions; density-estimation sets are rows of 0 and 1 with commas between them."""
    if not path.name.endswith(".data.gz"):
        return itemix.read_transactions(path)
    text = gzip.decompress(path.read_bytes())
    width = text.index(b"\n") + 1
    return Transactions.from_matrix(np.frombuffer(text, dtype=np.uint8).reshape(-1, width)[:, ::2] - ord("0"))


@pytest.mark.parametrize(("name", "support", "expected"), cases())
def test_reference(name, support, expected, data_folder):
    """For every target, sets by length and the sum of their counts; merging transactions changes nothing."""
    tx = read(data_folder / name)
    merged = tx.merge_identical()
    for target, (by_length, total) in expected.items():
        found = itemix.mine(tx, support, target=target)
        counts = np.bincount(found.lengths)
        assert counts[counts > 0].tolist() == by_length
        assert found.count.sum() == total
        assert itemix.mine(merged, support, target=target, n_jobs=1) == found


@pytest.mark.parametrize(
    ("name", "support"),
    [
        pytest.param("groceries/groceries.csv", 0.005, marks=pytest.mark.data("groceries/groceries.csv")),
        pytest.param("mushroom/mushroom.dat", 0.3, marks=pytest.mark.data("mushroom/mushroom.dat")),
    ],
)
def test_equal_to_mlxtend(name, support, data_folder):
    """All and maximal itemsets are mlxtend's, with its supports."""
    from mlxtend.frequent_patterns import fpgrowth, fpmax

    tx = itemix.read_transactions(data_folder / name)
    frame = tx.to_dataframe()
    frame.columns = frame.columns.astype(str)
    frame = frame.sparse.to_dense()
    for target, miner in (("all", fpgrowth), ("maximal", fpmax)):
        found = itemix.mine(tx, support, target=target)
        theirs = miner(frame, min_support=support, use_colnames=True)
        expected = dict(zip(theirs["itemsets"], theirs["support"], strict=True))
        assert {frozenset(map(str, names)): share for names, share, _ in found} == expected
