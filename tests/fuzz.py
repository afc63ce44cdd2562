"""Fuzz what is read: ``python tests/fuzz.py --minutes 60`` for so many minutes of processor time.

Each target has a law of its own: whatever is given, the library answers rightly or refuses in one line. The
targets take turns in child processes, so that a crash of the process is a find as well. The file named by
--log gets a line of JSON for each turn.
"""

import argparse
import io
import itertools
import json
import multiprocessing
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from pyarrow import feather
from starlette.testclient import TestClient

import itemix
from itemix import ItemixError, Itemsets, Rules, Transactions, load, read_chunks, read_transactions
from itemix.files import container, read_fitted
from itemix.io.chunks import NotInChunksError
from itemix.io.read import FORMATS
from itemix.io.write import ENDINGS, write_transactions
from itemix.mining.query import recommend
from itemix.web.app import VIEWS, make_app
from itemix.web.served import Limits, Served

GOLDEN = sorted((Path(__file__).parent / "golden").glob("format-*/*.itemix"))
TURN = 400


def answer(call):
    """Return what a call returns, None if it is refused as it should be."""
    try:
        return call()
    except NotInChunksError:
        raise
    except ItemixError as error:
        message = str(error)
        assert message.strip()
        assert "\n" not in message
        assert len(message) < 1000
        return None


# Text. Pieces of all formats in any order; and right files, some bytes of which are changed.

WORDS = [
    *[
        "1",
        "2",
        "10",
        "0",
        "-1",
        "01",
        "milk",
        "a",
        "null",
        "true",
        "yes",
        "no",
        "NaN",
        "1.0",
        "1e3",
        "order_id",
        "product",
        "items",
        "#",
        "0,1,0",
        "1;0",
    ],
    *("\xe9", "\u0661", "\xb2"),
]
MARKS = [*" \t,;|\n\r\"'\\[]{}:\x00\x0b\x0c\x1c\x1a", "\r\n", '""', "\n\n"]
ODD = ["9" * 18, "9" * 19, "1" * 5000, "[" * 3000, '["milk"]', '{"items": ["a"]}', "\x85", "\u2028", "\ufeff"]
PIECES = st.one_of(st.sampled_from([*WORDS, *MARKS, *ODD]), st.text(max_size=3))
CONTENTS = st.one_of(
    st.lists(PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")),
    st.binary(max_size=200),
)
ENCODINGS = [
    "utf-8",
    "latin-1",
    "utf-16",
    "utf-32",
    "ascii",
    "utf-7",
    "cp037",
    "utf-8-sig",
    "idna",
    "rot13",
    "",
]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "format": st.sampled_from(list(FORMATS)),
        "encoding": st.sampled_from(ENCODINGS),
        "delimiter": st.sampled_from([",", "\t", " ", "a", '"', "\n", "1", "é", "", "\x00", ";", "ab"]),
        "header": st.booleans(),
        "transaction": st.sampled_from(["a", "order_id", "", "0"]),
        "item": st.sampled_from(["a", "items", "", "1"]),
    },
)
NAMES = st.sampled_from(["x.dat", "x.csv", "x.tsv", "x.jsonl", "x", "x.csv.gz", "x.parquet", "x.arrow"])
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 100_000),
        st.one_of(
            st.binary(min_size=1, max_size=4),
            st.sampled_from([0, -1, 7, 2**31 - 1, -(2**31)]).map(lambda n: struct.pack("<i", n)),
            st.sampled_from([-1, 2**62, -(2**63)]).map(lambda n: struct.pack("<q", n)),
        ),
    ),
    max_size=4,
)


def damaged(content, changes, keep=1.0):
    """Return bytes with some others in their place, counted from the end, and cut."""
    content = bytearray(content[: int(len(content) * keep)])
    for place, new in changes:
        if content:
            at = len(content) - 1 - place % len(content)
            content[at : at + len(new)] = new
    return bytes(content)


def read_both_ways(path, **options):
    """Read a file whole and in chunks, and compare; long tables are read whole only."""
    whole = answer(lambda: read_transactions(path, **options))
    try:
        chunks = answer(lambda: list(read_chunks(path, **options)))
    except NotInChunksError:
        return
    if whole is None:  # a missing id is refused; chunks have no ids
        assert chunks is None or "transaction" in options
    elif "long" not in whole.source:
        rows = [sorted(map(str, row)) for chunk in chunks for row in chunk.to_lists()]
        assert rows == [sorted(map(str, row)) for row in whole.to_lists()]


BASKETS = st.lists(
    st.lists(st.sampled_from([*WORDS, "a b", "x,y", 'q"q', "l\nl", " p ", "\u2028"]), max_size=4)
)
NUMBERED = st.lists(st.lists(st.integers(-5, 10**12), max_size=4), max_size=8)


def text(folder):
    """Read any text by any options."""

    def law(content, name, options):
        (folder / name).write_bytes(content)
        read_both_ways(folder / name, **options)

    return law, (CONTENTS, NAMES, OPTIONS)


def written(folder):
    """What was written is read back, or it was refused; and damaged afterwards it is read or refused."""

    def law(rows, ending, kind, changes):
        data = answer(lambda: Transactions.from_lists(rows))
        if data is None:
            return
        path = folder / f"x{ending}"
        path.unlink(missing_ok=True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            answer(lambda: write_transactions(data, path, format=kind))
        if not path.exists():
            return
        again = answer(lambda: read_transactions(path, **({"format": kind} if said and kind else {})))
        if not said:
            assert again is not None
            kept = [
                row
                for row in data.to_lists()
                if row or (kind or ENDINGS[ending.removesuffix(".gz")]) != "basket"
            ]
            if kind is None and (ENDINGS[ending.removesuffix(".gz")]) in ("jsonl", "parquet", "arrow"):
                assert [sorted(map(str, row)) for row in again.to_lists()] == [
                    sorted(map(str, row)) for row in kept
                ]
        path.write_bytes(damaged(path.read_bytes(), changes))
        read_both_ways(path)

    endings = st.sampled_from([*ENDINGS, *(ending + ".gz" for ending in ENDINGS)])
    kinds = st.sampled_from([None, None, None, "fimi", "basket", "long", "onehot", "jsonl"])
    return law, (st.one_of(BASKETS, NUMBERED), endings, kinds, CHANGES)


# Tables: Parquet and Arrow files with other bytes, or with columns of any types.

COLUMNS = {
    pa.string(): ["a", "", None],
    pa.large_string(): ["a", "b", None],
    pa.int64(): [0, 1, 2],
    pa.int8(): [0, 1, None],
    pa.uint64(): [0, 2**64 - 1, None],
    pa.bool_(): [True, False, None],
    pa.float64(): [0.0, 1.0, float("nan")],
    pa.float16(): [0.0, 1.0, None],
    pa.null(): [None, None, None],
    pa.binary(): [b"\xff", b"", None],
    pa.date32(): [0, 1, None],
    pa.timestamp("ns"): [0, 1, None],
    pa.decimal128(5, 2): [0, 1, None],
    pa.dictionary(pa.int8(), pa.string()): ["a", "b", None],
    pa.list_(pa.string()): [["a", "b"], [], None],
    pa.list_(pa.string(), 2): [["a", "b"], None, ["b", None]],
    pa.large_list(pa.int64()): [[1, 2], [], None],
    pa.list_(pa.int64()): [[1, 1], [None], [2]],
    pa.list_(pa.list_(pa.string())): [[["a"]], [[]], None],
    pa.list_(pa.bool_()): [[True], [], None],
    pa.list_(pa.dictionary(pa.int8(), pa.string())): [["a"], ["a", None], []],
    pa.struct([("a", pa.int64())]): [{"a": 1}, None, {"a": None}],
    pa.map_(pa.string(), pa.int64()): [[("a", 1)], [], None],
}


@cache
def tables():
    """Return small files of transactions, as bytes, by the name of a file for them."""
    data = Transactions.from_lists([["milk", "bread"], ["milk"], [], ["bread", "beer", "é"]] * 3)
    lists = pa.table({"items": data.to_lists()})
    pairs = pa.table({"order_id": [1, 1, 2], "product": ["milk", "bread", "milk"]})
    flags = pa.table({"bread": [True, False], "milk": [1, 1]})
    files = {}
    for number, table in enumerate((lists, pairs, flags)):
        for codec in ("none", "snappy", "zstd", "gzip"):
            stream = io.BytesIO()
            pq.write_table(table, stream, compression=codec, row_group_size=2)
            files[f"{number}{codec}.parquet"] = stream.getvalue()
        for codec in ("uncompressed", "lz4", "zstd"):
            stream = io.BytesIO()
            feather.write_feather(table, stream, compression=codec)
            files[f"{number}{codec}.arrow"] = stream.getvalue()
        stream = io.BytesIO()
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        files[f"{number}stream.arrow"] = stream.getvalue()
    return files


def binary(folder):
    """Read Parquet and Arrow files with some other bytes, or cut short."""

    def law(name, changes, keep):
        (folder / name).write_bytes(damaged(tables()[name], changes, keep))
        read_both_ways(folder / name)

    return law, (st.sampled_from(sorted(tables())), CHANGES, st.sampled_from([1.0, 1.0, 0.9, 0.5]))


def columns(folder):
    """Read tables of columns of any types, with any names, some of them twice."""

    def law(drawn, n_rows, options, ending):
        arrays = [pa.array(COLUMNS[kind][:n_rows], kind) for _, kind in drawn]
        table = pa.Table.from_arrays(arrays, names=[name for name, _ in drawn])
        path = folder / f"x.{ending}"
        try:
            if ending == "arrow":
                feather.write_feather(table, path, compression="uncompressed")
            else:
                pq.write_table(table, path)
        except (pa.ArrowException, ValueError):
            return  # Arrow does not write this
        read_both_ways(path, **options)
        answer(lambda: Transactions.from_dataframe(table))

    names = st.sampled_from(["order_id", "product", "items", "a", "", "x\ny", "é"])
    drawn = st.lists(st.tuples(names, st.sampled_from(list(COLUMNS))), max_size=4)
    options = st.sampled_from(
        [{}, {}, {"format": "long"}, {"format": "onehot"}, {"item": "a"}, {"transaction": "order_id"}]
    )
    return law, (drawn, st.integers(0, 3), options, st.sampled_from(["arrow", "parquet"]))


@cache
def results():
    """Return files of itemsets and of rules, as bytes, by the name of a file for them."""
    data = Transactions.from_lists([["milk", "bread"], ["milk"], [], ["bread", "beer", "é"]] * 3)
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, result in (
            ("itemsets", itemix.mine(data, 0.1)),
            ("rules", itemix.rules(itemix.mine(data, 0.1), min_threshold=0.1)),
        ):
            for ending in ("csv", "parquet", "jsonl", "arrow"):
                path = Path(folder) / f"{kind}.{ending}"
                if answer(lambda path=path, result=result: result.save(path) or True):
                    files[path.name] = path.read_bytes()
    return files


def loaded_results(folder):
    """Load files of itemsets and rules with some other bytes; what is loaded can be shown and saved."""

    def law(name, changes, keep):
        path = folder / name
        path.write_bytes(damaged(results()[name], changes, keep))
        kind = Itemsets if name.startswith("itemsets") else Rules
        found = answer(lambda: kind.load(path))
        if found is not None:
            repr(found)
            answer(lambda: found.save(folder / "again.parquet"))

    return law, (st.sampled_from(sorted(results())), CHANGES, st.sampled_from([1.0, 1.0, 1.0, 0.7]))


# Model files: with other bytes, or with other values and a checksum that fits.


@cache
def golden():
    """Return the bytes of model files."""
    return [path.read_bytes() for path in GOLDEN]


def models(folder):
    """Load model files with some other bytes, or cut short."""

    def law(number, changes, keep):
        path = folder / "model.itemix"
        path.write_bytes(damaged(golden()[number], changes, keep))
        loaded = answer(lambda: load(path))
        fitted = answer(lambda: read_fitted(path))
        assert (loaded is None) == (fitted is None)

    return law, (st.integers(0, len(GOLDEN) - 1), CHANGES, st.sampled_from([1.0, 1.0, 0.99, 0.5]))


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
    st.sampled_from(
        [[], {}, "Mixture", "gsdpm", "nbm", "chow-liu", {"array": "x"}, {"number": "inf"}, 2**31]
    ),
)
ENTRIES = st.sampled_from(
    [0, 1, -1, 2, 3, 0.5, -0.5, float("nan"), float("inf"), 1e308, 2**31 - 1, 2**62, -(2**63)]
)


def changed_fields(header, fields):
    """Change fields of a header, or take them away."""
    for place, value in fields:
        at, keys = header, sorted(header)
        key = keys[place % len(keys)]
        if isinstance(at[key], dict) and at[key] and place % 3:
            at = at[key]
            key = sorted(at)[place % len(at)]
        if value == {}:
            del at[key]
        else:
            at[key] = value


def changed_array(array, place, how, value):
    """Return an array with another value, length, type or order."""
    array = np.array(array)
    if how == 0 and array.size:
        array.flat[place % array.size] = np.asarray(value).astype(array.dtype)
    elif how == 1:
        array = array[: len(array) // 2]
    elif how == 2:
        array = array.astype([np.float64, np.int64, np.int32, np.bool_, np.uint8][place % 5])
    elif how == 3:
        array = np.concatenate([array, array[:1]])
    else:
        array = array[::-1]
    return array


def signed(folder):
    """Load model files with other values and a checksum that fits; what is loaded answers or refuses."""

    def law(number, fields, arrays):
        path = folder / "model.itemix"
        path.write_bytes(golden()[number])
        content = container.read(path)
        header, tensors = content._header, dict(content._tensors)
        changed_fields(header, fields)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for place, how, value in arrays:
                name = sorted(tensors)[place % len(tensors)]
                tensors[name] = changed_array(tensors[name], place, how, value)
        try:
            container.write(path, header, tensors)
        except (ValueError, OverflowError):
            return  # JSON does not hold this
        model = answer(lambda: load(path))
        if model is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = list(getattr(model, "model_", model).items)[:2]
            p = answer(lambda: model.probability(names))
            assert p is None or 0 <= p <= 1
            answer(lambda: itemix.mine(model, 0.3, max_itemsets=1000))
            answer(lambda: recommend(getattr(model, "model_", model), names[:1], 2))

    fields = st.lists(st.tuples(st.integers(0, 1000), VALUES), max_size=2)
    arrays = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 4), ENTRIES), max_size=2)
    return law, (st.integers(0, len(GOLDEN) - 1), fields, arrays)


# The explorer: bodies and addresses.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
PARAMETERS = sorted({name for view in VIEWS for name in view.question.model_fields})
KNOWN = st.sampled_from(
    ["milk", "bread", "beer", 0, 1, 0.5, "0.5", 0.05, "1e-9", -1, 10**30, "support", "all", "é", ""]
)


@cache
def client():
    """Return what asks a served model; failures of the server are raised."""
    data = Transactions.from_lists([["milk", "bread"], ["milk"], ["bread", "beer", "é"]] * 20)
    model = itemix.BayesianMixture(n_components=3, random_state=0, n_jobs=1).fit(data)
    served = Served("model", model, data=data, limits=Limits(max_itemsets=1000, max_rules=1000, seconds=5.0))
    return TestClient(make_app([served]), base_url="http://127.0.0.1").__enter__()


def check_answer(response):
    """Check that it is an answer or a refusal, both of them JSON without NaN, or a file."""
    assert response.status_code < 500 or response.json()["error"]["code"] == "too_slow"
    if response.status_code >= 400:
        message = response.json()["error"]["message"]
        assert "\n" not in message
        assert 5 < len(message) < 1000
    elif response.headers["content-type"].startswith("application/json"):
        json.loads(response.text, parse_constant=refuse_constant)


def refuse_constant(name):
    """Say that an answer is no JSON."""
    raise AssertionError(name)


def bodies(folder):
    """Post any JSON, and what is none."""

    def law(view, body, raw):
        path = view.path.replace("{number:int}", "1")
        content = raw or json.dumps(body).encode("utf-8", "surrogatepass")
        check_answer(client().post(path, content=content))

    fields = st.dictionaries(
        st.sampled_from(PARAMETERS), st.one_of(KNOWN, st.lists(KNOWN, max_size=3), JSON), max_size=5
    )
    return law, (
        st.sampled_from(VIEWS),
        fields | JSON,
        st.one_of(st.just(b""), st.just(b""), st.binary(max_size=20)),
    )


def addresses(folder):
    """Ask at any address with any parameters."""

    def law(path, fields, method, odd):
        query = "&".join(f"{name}={quote(str(value), safe=odd)}" for name, value in fields)
        check_answer(client().request(method, f"{path}?{query}"))

    paths = st.one_of(
        st.sampled_from([view.path.replace("{number:int}", "1") for view in VIEWS]),
        st.sampled_from(
            ["/", "/health", "/models", "/itemsets.csv", "/rules.parquet", "/components/0", "/components/x"]
        ),
        st.text(max_size=10).map(lambda text: "/" + quote(text.encode("utf-8", "surrogatepass"), safe="")),
        st.text("./%2e\\", max_size=12).map(lambda text: "/static/" + text),
    )
    values = st.one_of(KNOWN, st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
    fields = st.lists(st.tuples(st.sampled_from(PARAMETERS), values), max_size=5)
    return law, (
        paths,
        fields,
        st.sampled_from(["GET", "GET", "GET", "POST", "DELETE"]),
        st.sampled_from(["", "&=%+;#"]),
    )


TARGETS = (text, written, binary, columns, loaded_results, models, signed, bodies, addresses)


def turn(target, seed, n_examples, sending):
    """Try one target for a number of examples; send how many inputs there were, and what was found."""
    began = time.process_time()
    n_tried = 0
    found = None
    with tempfile.TemporaryDirectory() as folder:
        law, strategies = target(Path(folder))

        def counted(drawn):
            nonlocal n_tried
            n_tried += 1
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=UserWarning)
                law(*drawn)

        run = seeded(seed)(
            settings(
                max_examples=n_examples,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate, Phase.shrink],
                print_blob=False,
            )(given(st.tuples(*strategies))(counted))
        )
        try:
            run()
        except BaseException as error:
            found = "".join(traceback.format_exception(error))[-6000:] + "\n".join(
                getattr(error, "__notes__", [])
            )
    sending.send((n_tried, time.process_time() - began, found))


def main():
    """Take turns until the processor time is over; return whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="Processor time in all.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=[target.__name__ for target in TARGETS])
    parser.add_argument("--log", type=Path, default=Path("fuzz.jsonl"))
    asked = parser.parse_args()
    targets = [target for target in TARGETS if asked.target in (None, target.__name__)]
    context = multiprocessing.get_context("fork")
    n_found = 0
    spent = 0.0
    for number, target in enumerate(itertools.cycle(targets)):
        seed = asked.seed * 1_000_003 + number
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=turn, args=(target, seed, TURN, sending))
        child.start()
        sending.close()
        try:
            n_tried, seconds, found = receiving.recv()
        except EOFError:
            n_tried, seconds, found = 0, 0.0, "the process ended"
        child.join()
        line = {"target": target.__name__, "seed": seed, "inputs": n_tried, "seconds": round(seconds, 2)}
        if found or child.exitcode:
            line |= {"found": found, "exit": child.exitcode}
            n_found += 1
        with asked.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = used.ru_utime + used.ru_stime
        if spent > 60 * asked.minutes:
            break
    sys.stdout.write(
        f"{spent / 60:.1f} minutes of processor time, {n_found} turns with finds: see {asked.log}\n"
    )
    return n_found > 0


if __name__ == "__main__":
    sys.exit(main())
