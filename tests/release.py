"""A release as a stranger gets it: the wheel alone, in a new environment, in a folder outside the source.

`make release-check` builds a source distribution and a wheel, checks their metadata, and runs this::

    python tests/release.py build/release/*.whl

What needs no extra works, and what needs one says which. Then each extra is installed, and does its work.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

BASKETS = "milk,bread\nmilk\nbread,butter\nmilk,bread,butter\n" * 25
BEGIN = "import itemix\ntx = itemix.read_transactions('baskets.csv')\nitemsets = itemix.mine(tx, 0.2)\n"
PLAIN = """
assert len(itemsets) == 7, itemsets
assert itemix.rules(itemsets, metric="confidence", min_threshold=0.6).to_pandas().shape[0]
model = itemix.BayesianMixture(2, random_state=0).fit(tx)
model.save("baskets.itemix")
assert abs(itemix.load("baskets.itemix").probability(["milk"]) - 0.75) < 0.02
"""
# What each extra is for, in a few lines. Without it, they say in one line that it is missing.
EXTRAS = {
    "plots": "itemix.plot.top_itemsets(itemsets).figure.savefig('top.png')",
    "polars": "assert itemsets.to_polars().height == 7",
    "excel": "itemsets.to_excel('itemsets.xlsx')",
    "web": """
import subprocess, sys, urllib.request
command = [sys.executable, "-m", "itemix", "serve", "baskets.itemix", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
    said = server.stdout.readline()
    address = next((word for word in said.split() if word.startswith("http")), None)
    assert address, said
    answer = urllib.request.urlopen(address + "itemsets?min_support=0.5").read()
    server.terminate()
assert b"bread" in answer
""",
    "arviz": "itemix.BayesianMixture(2, inference='gibbs', max_iter=20, random_state=0).fit(tx).to_arviz()",
    "mcp": """
import asyncio, os, subprocess, sys
command = ["-m", "itemix", "mcp", "baskets.itemix"]
try:
    from mcp import Client, StdioServerParameters, stdio_client
except ImportError:
    sys.exit(subprocess.run([sys.executable, *command], check=False).returncode)
async def tools():
    transport = stdio_client(StdioServerParameters(command=sys.executable, args=command, env={**os.environ}))
    async with Client(transport) as client:
        return {tool.name for tool in (await client.list_tools()).tools}
assert {"mine", "rules", "query"} <= asyncio.run(tools())
""",
    "dask": """
try:
    import dask.bag, distributed
except ImportError:
    itemix.from_dask(None)
with distributed.Client(n_workers=1, processes=False, dashboard_address=None):
    parts = itemix.from_dask(dask.bag.from_sequence(tx.to_lists(), npartitions=2))
    assert itemix.mine(parts, 0.2).to_pandas().equals(itemsets.to_pandas())
""",
    "spark": """
try:
    from pyspark.sql import SparkSession
except ImportError:
    itemix.from_spark(None)
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame([(basket,) for basket in tx.to_lists()], ["items"])
assert itemix.mine(itemix.from_spark(frame), 0.2).to_pandas().equals(itemsets.to_pandas())
spark.stop()
""",
}


class Stranger:
    """A new environment, and an empty folder in which things are done."""

    def __init__(self, folder):
        self.folder = Path(folder)
        venv.create(self.folder / "env", with_pip=True)
        self.bin = self.folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.work / "baskets.csv").write_text(BASKETS, encoding="utf-8")
        kept = {
            name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}
        }
        self.environment = {**kept, "PATH": f"{self.bin}{os.pathsep}{kept['PATH']}"}

    def run(self, program, *arguments):
        """Run a program of the environment, and return its exit code and all that it said."""
        command = [str(self.bin / program), *arguments]
        done = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=self.work, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def must(self, *command):
        """Run a command that has to succeed, and return what it said."""
        code, said = self.run(*command)
        if code:
            sys.exit(f"{' '.join(command)[:400]}\nended with {code}:\n{said}")
        return said

    def install(self, what):
        """Install something with what it needs."""
        self.must("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)


def main(wheel):
    """Try a wheel, and say what was tried."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        stranger = Stranger(folder)
        stranger.install(str(wheel))
        where = stranger.must(
            "python", "-c", "import itemix; print(itemix.__version__, itemix.__file__)"
        ).split()
        if wheel.name.split("-")[1] != where[0] or not Path(where[1]).is_relative_to(Path(folder).resolve()):
            sys.exit(f"expected {wheel.name} to be imported, got {' '.join(where)}")
        declared = "import importlib.metadata as m; print(*m.metadata('itemix').get_all('Provides-Extra'))"
        if set(stranger.must("python", "-c", declared).split()) != set(EXTRAS):
            sys.exit("expected the extras of the wheel to be those that are tried here; add what is missing")
        stranger.must("itemix", "demo")
        stranger.must("python", "-c", BEGIN + PLAIN)
        print("the wheel alone: demo, mining, rules, a fit, a file")  # noqa: T201 - a script
        for extra, work in EXTRAS.items():
            code, said = stranger.run("python", "-c", BEGIN + work)
            if code == 0 or f"itemix[{extra}]" not in said:
                sys.exit(f"expected a line that names itemix[{extra}] while it is missing, got:\n{said}")
        for extra, work in EXTRAS.items():
            if extra == "spark" and shutil.which("java") is None:
                print("spark: not tried, as there is no Java")  # noqa: T201 - as above
                continue
            stranger.install(f"{wheel}[{extra}]")
            stranger.must("python", "-c", BEGIN + work)
            print(f"{extra}: works, and says so when it is missing")  # noqa: T201 - as above


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
