"""The first hour with itemix: what a person types, from files of three shapes to answers, each one checked.

Run by itself it begins with an empty cache of compiled code, as after an installation, and says how much
processor time each job took::

    python tests/first_hour.py          # what is installed beside this Python
    make first-hour                     # a wheel in a new environment

Every output is opened again by another library, and compared with what a few lines of Python count.
"""

import csv
import itertools
import json
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

N_BASKETS = 400
TOGETHER = [["milk", "bread", "butter"], ["beer", 'crisps, "salted"'], ["flour", "sugar", "eggs"], ["soda"]]
OTHERS = ["coffee", "tea", "apples", "rice"]
LEAST = 20


def make_baskets(seed=0):
    """Draw baskets of things that go together and of others."""
    rng = random.Random(seed)  # noqa: S311 - examples, no secrets
    baskets = []
    while len(baskets) < N_BASKETS:
        basket = {name for name in rng.choice(TOGETHER) if rng.random() < 0.75}
        basket |= {name for name in OTHERS if rng.random() < 0.15}
        if basket:
            baskets.append(sorted(basket))
    return baskets


def frequent_sets(baskets, least=LEAST):
    """Count all sets of items, and keep those that are in enough baskets."""
    counts = Counter(
        frozenset(names)
        for basket in baskets
        for n in range(1, len(basket) + 1)
        for names in itertools.combinations(basket, n)
    )
    return {names: count for names, count in counts.items() if count >= least}


def write_files(folder, baskets):
    """Write the same baskets as lists and as lines of invoices, with cancellations and gaps; and a table."""
    with (folder / "baskets.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(baskets)
    rng = random.Random(1)  # noqa: S311 - as above
    with (folder / "invoices.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["InvoiceNo", "Description", "Quantity", "UnitPrice", "Country"])
        for number, basket in enumerate(baskets, start=536365):
            for name in basket:
                lines.writerow([number, name, rng.randint(1, 12), 2.55, "France"])
            if rng.random() < 0.1:
                lines.writerow([f"C{number}", rng.choice(basket), -1, 2.55, "France"])
            if rng.random() < 0.1:
                lines.writerow([number, "postage", 0, 18.0, "France"])
    passengers = []
    for number in range(300):
        sex, port = rng.choice(["male", "female"]), rng.choice(["Southampton", "Cherbourg", ""])
        survived = rng.random() < (0.75 if sex == "female" else 0.2)
        passengers.append(
            [f"passenger {number}", int(survived), sex, rng.choice(["", rng.randint(1, 80)]), port]
        )
    with (folder / "passengers.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["name", "survived", "sex", "age", "embarked"], *passengers])
    return passengers


def sets_of_cell(cell):
    """Return the set in a cell of CSV or Excel, as any reader of CSV does."""
    return frozenset(next(csv.reader([cell], skipinitialspace=True)))


class Hour:
    """Runs commands as a person types them, in a folder of their own.

    Parameters
    ----------
    folder : Path
        Where the files are.
    environment : dict
        Variables beside those of this process.
    """

    def __init__(self, folder, **environment):
        self.folder = folder
        self.environment = {**os.environ, **environment}
        self.seconds = {}

    def type(self, line):
        """Run a line of the shell; return what it has written to standard output."""
        words = shlex.split(line)
        python = [sys.executable, *(["-m", "itemix"] if words[0] == "itemix" else [])]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(  # noqa: S603 - our own program
            [*python, *words[1:]],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds[line] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"
        return ran.stdout

    def rows_of_csv(self, name):
        """Open a CSV file with the standard library."""
        with (self.folder / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def rows_of_excel(self, name):
        """Open a sheet with openpyxl."""
        import openpyxl

        head, *rows = openpyxl.load_workbook(self.folder / name).active.iter_rows(values_only=True)
        return [dict(zip(head, row, strict=True)) for row in rows]


def mine_baskets(hour, baskets):
    """Baskets: itemsets in every format are the ones that are counted here."""
    expected = frequent_sets(baskets)
    hour.type(f"itemix mine baskets.csv -s {LEAST} -o sets.csv")
    rows = hour.rows_of_csv("sets.csv")
    assert {sets_of_cell(row["itemsets"]): int(row["count"]) for row in rows} == expected
    assert all(float(row["support"]) == int(row["count"]) / N_BASKETS for row in rows)
    hour.type(f"itemix mine baskets.csv -s {100 * LEAST / N_BASKETS}% -o sets.xlsx")
    sheet = hour.rows_of_excel("sets.xlsx")
    assert {sets_of_cell(row["itemsets"]): row["count"] for row in sheet} == expected
    found = json.loads(hour.type(f"itemix mine baskets.csv -s {LEAST} --where 'length >= 2' --json"))
    assert {frozenset(row["itemsets"]): row["count"] for row in found} == {
        names: count for names, count in expected.items() if len(names) >= 2
    }
    table = hour.type("itemix mine baskets.csv -s 20,40,80").splitlines()
    assert [line.split("\t")[1] for line in table[1:]] == [
        str(len(frequent_sets(baskets, least))) for least in (20, 40, 80)
    ]


def make_rules(hour, baskets):
    """Rules, of the data and of a saved CSV file: confidence and lift are those of the counts."""
    counts = frequent_sets(baskets)
    wanted = {
        (left, whole - left)
        for whole, count in counts.items()
        for left in counts
        if left < whole and count / counts[left] >= 0.5
        if count / counts[left] * N_BASKETS / counts[whole - left] > 1.5
    }
    options = "--min-threshold 0.5 --where 'lift > 1.5'"
    for source in (f"baskets.csv -s {LEAST}", "sets.csv"):
        hour.type(f"itemix rules {source} {options} -o rules.xlsx")
        rows = hour.rows_of_excel("rules.xlsx")
        assert {
            (sets_of_cell(row["antecedents"]), sets_of_cell(row["consequents"])) for row in rows
        } == wanted
    for row in rows:
        left, right = sets_of_cell(row["antecedents"]), sets_of_cell(row["consequents"])
        assert abs(row["confidence"] - counts[left | right] / counts[left]) < 1e-12
    assert all(
        row["conviction"] > 0 for row in json.loads(hour.type(f"itemix rules sets.csv {options} --json"))
    )


def mine_invoices(hour, baskets):
    """Lines of invoices, cleaned where they are read: the same itemsets as of the baskets."""
    where = "--where 'Quantity > 0' --where 'InvoiceNo not starts with C'"
    columns = "--transaction InvoiceNo --item Description"
    found = json.loads(hour.type(f"itemix mine invoices.csv {columns} {where} -s {LEAST} --json"))
    assert {frozenset(row["itemsets"]): row["count"] for row in found} == frequent_sets(baskets)


def explain_passengers(hour, passengers):
    """A table of categories, numbers and gaps: what goes with having survived."""
    options = "--format table --drop name --about survived -s 4% --min-threshold 0.6"
    rules = json.loads(hour.type(f"itemix rules passengers.csv {options} --json"))
    by_sides = {(*row["antecedents"], "->", *row["consequents"]): row for row in rules}
    women = [row for row in passengers if row[2] == "female"]
    rule = by_sides["sex=female", "->", "survived=1"]
    assert rule["count"] == sum(row[1] for row in women)
    assert abs(rule["confidence"] - rule["count"] / len(women)) < 1e-12
    assert all(len(row["consequents"]) == 1 and row["consequents"][0][:9] == "survived=" for row in rules)
    assert any("age=" in name for row in rules for name in row["antecedents"])


def ask_a_model(hour, baskets):
    """A model is fitted once and then asked; its answers are near what is counted."""
    hour.type("itemix fit baskets.csv -o model.itemix --seed 0")
    n_milk = sum("milk" in basket for basket in baskets)
    both = sum({"milk", "bread"} <= set(basket) for basket in baskets)
    answer = json.loads(hour.type("itemix query model.itemix bread --given milk --json"))
    assert answer["lower"] <= answer["probability"] <= answer["upper"]
    assert abs(answer["probability"] - both / n_milk) < 0.1
    offers = json.loads(hour.type("itemix recommend model.itemix milk bread -n 3 --json"))
    assert offers[0]["item"] == "butter"
    hour.type("itemix mine model.itemix -s 10% -o expected.csv")
    rows = hour.rows_of_csv("expected.csv")
    expected = frequent_sets(baskets, 60)
    assert set(expected) <= {sets_of_cell(row["itemsets"]) for row in rows}
    scores = json.loads(hour.type("itemix evaluate model.itemix baskets.csv -s 10% -n 2 --json"))
    assert scores["mean_relative_error"] < 0.1
    assert [row["length"] for row in scores["by_length"]] == [1, 2]
    assert "butter" in hour.type("itemix show model.itemix")


NOTEBOOK = """
import itemix
tx = itemix.read_transactions("baskets.csv")
itemsets = itemix.mine(tx, 20)
itemsets[itemsets.support > 0.1].head(5).to_excel("head.xlsx")
itemix.rules(itemsets, min_threshold=0.5).where("lift > 1.5").to_json("rules.json")
model = itemix.load("model.itemix")
model.components_table(3).to_csv("components.csv")
print(model.summary())
print(len(model._repr_mimebundle_()["text/html"]) > 1000, "<table" in tx._repr_html_())
"""


def use_python(hour, baskets):
    """The same in Python, and what it writes."""
    (hour.folder / "notebook.py").write_text(NOTEBOOK)
    shown = hour.type("python notebook.py")
    assert f"{len(baskets)}" in shown
    assert shown.endswith("True True\n")
    assert len(hour.rows_of_excel("head.xlsx")) == 5
    assert all(row["lift"] > 1.5 for row in json.loads((hour.folder / "rules.json").read_text()))
    shares = [float(row["share"]) for row in hour.rows_of_csv("components.csv")]
    assert abs(sum(shares) - 1) < 1e-6
    assert shares == sorted(shares, reverse=True)


def small_jobs(hour):
    """Do what needs no model."""
    baskets = make_baskets()
    passengers = write_files(hour.folder, baskets)
    mine_baskets(hour, baskets)
    make_rules(hour, baskets)
    mine_invoices(hour, baskets)
    explain_passengers(hour, passengers)


def jobs_with_a_model(hour):
    """Do what needs a model."""
    baskets = make_baskets()
    write_files(hour.folder, baskets)
    ask_a_model(hour, baskets)
    use_python(hour, baskets)


def main():
    """Do all jobs with an empty cache, and say what each has taken."""
    # What is compiled in the background may still be written.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        cache = {
            variable: str(folder / "cache") for variable in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME")
        }
        hour = Hour(folder, **cache)
        small_jobs(hour)
        jobs_with_a_model(hour)
        for line, seconds in hour.seconds.items():
            print(f"{seconds:7.2f} s  {line}")  # noqa: T201 - its purpose


if __name__ == "__main__":
    main()
