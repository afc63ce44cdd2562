"""From a public call to the kernel that does the arithmetic it is a few frames, so that it can be read down.

Functions of the library are counted, both ends included. Where a thread runs the kernel, those of the thread
are added to those up to where its work was submitted. Comprehensions are no functions of their own.
"""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys, threading, warnings
from concurrent.futures import ThreadPoolExecutor

import itemix
from itemix.mining import partitioned
from itemix.mining.verification import verify
from itemix.web.served import Served
from itemix.web.views.patterns import ItemsetsQuestion, itemsets

warnings.simplefilter("ignore")
rows = [["a", "b", "c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a"], ["a", "b", "c"]] * 3
dense = itemix.Transactions.from_lists(rows)
sparse = itemix.Transactions.from_lists([[f"{i}", f"{i + 1}", f"{i + 2}"] for i in range(60)] * 2)
submitting = threading.local()

def frames(frame):
    stack = []
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\\\", "/")
        is_ours = "/src/itemix/" in file or "/site-packages/itemix/" in file
        if is_ours and not frame.f_code.co_name.endswith(("comp>", "<genexpr>")):
            stack.append(file.rsplit("itemix/", 1)[1] + ":" + frame.f_code.co_name)
        frame = frame.f_back
    return [*getattr(submitting, "stack", []), *reversed(stack)]

submit = ThreadPoolExecutor.submit

def followed(pool, function, /, *arguments, **named):
    before = frames(sys._getframe(1))
    def run():
        submitting.stack = before
        return function(*arguments, **named)
    return submit(pool, run)

ThreadPoolExecutor.submit = followed

def longest(call, kernels):
    found = []
    def watch(frame, event, argument):
        if event == "call" and frame.f_code.co_name in kernels and "/kernels/" in frame.f_code.co_filename:
            found.append(frames(frame))
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return max(found, key=len, default=[])

def fitted(**options):
    return itemix.BernoulliMixture(2, random_state=0, n_jobs=1, max_iter=3, n_init=1, **options)

model, corrected = fitted().fit(dense), fitted(correction=2).fit(dense)
served = Served("a", model, data=dense), Served("b", corrected, data=dense)
asked = ItemsetsQuestion(min_support=0.2)
partitioned._TOGETHER_BYTES = 0
parts = itemix.partitions([dense, itemix.Transactions.from_lists([["a"], ["c", "b"]] * 9)])
SEARCHES = {"search"}
VIEWED = SEARCHES | {"itemset_probabilities", "count_sets", "count_events"}
print(json.dumps({
    "mine dense": longest(lambda: itemix.mine(dense, 0.2, n_jobs=2), SEARCHES),
    "mine sparse": longest(lambda: itemix.mine(sparse, 0.01, n_jobs=2), SEARCHES),
    "mine closed": longest(lambda: itemix.mine(sparse, 0.01, target="closed"), SEARCHES),
    "mine a mixture": longest(lambda: itemix.mine(model, 0.2, n_jobs=2), SEARCHES),
    "mine a corrected mixture": longest(lambda: itemix.mine(corrected, 0.2), SEARCHES),
    "fit": longest(lambda: fitted().fit(dense), {"expected_counts"}),
    "probability": longest(lambda: model.probability(["a", "b"]), {"itemset_probabilities"}),
    "probability corrected": longest(lambda: corrected.probability(["a", "b"]), {"itemset_probabilities"}),
    "recommend": longest(lambda: corrected.recommend(["a"]), {"row_responsibilities"}),
    "mine parts": longest(lambda: itemix.mine(parts, 0.4, n_jobs=2), SEARCHES | {"count_sets"}),
    "verify": longest(lambda: itemix.mine(model, 0.2, verify=dense), SEARCHES),
    "verify corrected": longest(lambda: verify(corrected, dense, 0.2), SEARCHES),
    "GET /itemsets": longest(lambda: itemsets(served[0], asked), VIEWED),
    "GET /itemsets corrected": longest(lambda: itemsets(served[1], asked), VIEWED),
}))
"""

LIMITS = {
    "mine dense": 6,
    "mine sparse": 6,
    "mine closed": 6,
    "mine a mixture": 6,
    "mine a corrected mixture": 8,  # a search in the data, within a search
    "fit": 7,
    "probability": 4,
    "probability corrected": 5,  # the base of the corrected mixture is asked
    "recommend": 6,
    "mine parts": 10,
    "verify": 6,
    "verify corrected": 10,
    "GET /itemsets": 10,
    "GET /itemsets corrected": 12,
}


@pytest.fixture(scope="module")
def stacks():
    """Return the frames of each call, from the outermost one to its kernel."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(("call", "most"), LIMITS.items())
def test_few_frames_to_the_kernel(stacks, call, most):
    """No call takes more frames than its limit, and each reaches its kernel."""
    assert stacks[call]
    assert len(stacks[call]) <= most, "\n".join(stacks[call])
