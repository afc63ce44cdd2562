"""What the tests of the command line share."""

import os
import subprocess
import sys
from typing import NamedTuple

import pytest

import itemix
from itemix import _runtime
from itemix.cli import main

BASKETS = [
    ["bread", "milk"],
    ["bread", "butter", "milk"],
    ["beer", "milk"],
    ["bread", "butter"],
    ["bread", "milk, fresh", "milk"],
]


class Result(NamedTuple):
    """What a run of the program gave."""

    code: int
    out: str
    err: str

    @property
    def rows(self):
        """The lines of a table, without the headers, as cells."""
        return [line.split("\t") for line in self.out.splitlines()[1:]]


@pytest.fixture
def run(capsys):
    """Run the program in this process."""

    def call(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def start():
    """Start the program as its own process; the caller ends it."""

    def call(*arguments, **options):
        command = [sys.executable, "-m", "itemix", *map(str, arguments)]
        environment = {**os.environ, **options.pop("env", {})}
        return subprocess.Popen(command, text=True, env=environment, **options)  # noqa: S603 - our own program

    return call


@pytest.fixture
def baskets(tmp_path):
    """Write a small basket CSV."""
    path = tmp_path / "baskets.csv"
    cells = [[f'"{name}"' if "," in name else name for name in basket] for basket in BASKETS]
    path.write_text("".join(",".join(row) + "\n" for row in cells))
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Write some baskets of the synthetic store."""
    path = tmp_path_factory.mktemp("store") / "store.csv"
    baskets = itemix.datasets.load("grocery_store").sample(600, random_state=0)
    itemix.write_transactions(baskets, path)
    return path


@pytest.fixture(scope="module")
def models(store):
    """Fit a model of maximum likelihood, a variational one and a sampled one."""
    options = {
        "nbm": ["-K", "6", "--correction", "none"],
        "vdpm": ["-K", "10", "--correction", "none"],
        "corrected": ["-K", "10", "--correction", "2"],
        "gsdpm": ["--max-iter", "20", "--samples", "2", "--thin", "2"],
    }
    paths = {name: store.with_name(f"{name}.itemix") for name in options}
    for name, more in options.items():
        method = "vdpm" if name == "corrected" else name
        arguments = [
            "fit",
            str(store),
            "--method",
            method,
            *more,
            "--seed",
            "0",
            "-q",
            "-o",
            str(paths[name]),
        ]
        assert main(arguments) == 0
    return paths


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch):
    """A slow machine shall not add lines to what commands say."""
    monkeypatch.setattr(_runtime, "WAITS", (1e6,))
