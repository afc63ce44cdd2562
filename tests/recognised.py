"""Two baskets in every format that is recognised."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from itemix import read_transactions

BASKETS = [["bread", "milk"], ["milk"]]


def read(content, **options):
    """Read bytes or text through a file object."""
    data = content.encode() if isinstance(content, str) else content
    return read_transactions(io.BytesIO(data), **options)


def as_file(table, write):
    """Write an Arrow table to bytes."""
    buffer = io.BytesIO()
    write(table, buffer)
    return buffer.getvalue()


LISTS = pa.table({"items": BASKETS})
PAIRS = pa.table({"order_id": [1, 1, 2], "product": ["milk", "bread", "milk"]})
ONEHOT = pa.table({"bread": [1, 0], "milk": [1, 1]})


def as_stream(table, buffer):
    """Write an Arrow stream, which has no footer."""
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)


RECOGNISED = {
    "basket": "bread,milk\nmilk\n",
    "basket quoted": '"bread",milk\n"milk"\n',
    "basket semicolon": "bread;milk\nmilk\n",
    "basket tab": "bread\tmilk\nmilk\n",
    "basket bar": "bread|milk\nmilk\n",
    "basket BOM": "\ufeffbread,milk\nmilk\n",
    "basket CRLF": "bread,milk\r\nmilk\r\n",
    "basket no last line feed": "bread,milk\nmilk",
    "basket padded": " bread , milk ,,\n milk,\n",
    "basket repeated": "milk,bread,milk\nmilk\n",
    "long": "order_id,product\n1,milk\n1,bread\n2,milk\n",
    "long semicolon": "Order ID;Qty;Product\n1;2;milk\n1;1;bread\n2;1;milk\n",
    "long BOM CRLF": "\ufeffInvoiceNo,Description\r\n1,milk\r\n1,bread\r\n2,milk\r\n",
    "long shuffled": "item,transaction\nmilk,1\nmilk,2\nbread,1\nbread,1\n",
    "onehot": "bread,milk\n1,1\n0,1\n",
    "onehot words": "bread;milk\nTrue;true\nFALSE;yes\n",
    "onehot index": ",bread,milk\n0,1,1\n1,0,1\n",
    "jsonl": '["milk", "bread"]\n["milk"]\n',
    "jsonl objects": '{"id": 1, "items": ["milk", "bread"]}\n\n{"id": 2, "items": ["milk"]}\n',
    "parquet lists": as_file(LISTS, pq.write_table),
    "parquet long": as_file(PAIRS, pq.write_table),
    "parquet onehot": as_file(ONEHOT, pq.write_table),
    "arrow lists": as_file(LISTS, feather.write_feather),
    "arrow long": as_file(PAIRS, feather.write_feather),
    "arrow onehot": as_file(ONEHOT, feather.write_feather),
    "arrow stream lists": as_file(LISTS, as_stream),
}
